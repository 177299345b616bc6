"""A page that has redefined the language: raw commands and trusted input go around what it forges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.case_site import CaseSite
from tests.support.processes import wait_until
from tests.support.stdio import Stdio, value


@pytest.fixture(scope="module")
def forged(host: Stdio, cases: CaseSite) -> Iterator[str]:
    session = host.open(f"{cases.main}/hostile-globals/")
    host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired"], waitMs=5000)
    assert host.js(session, "JSON.stringify([1])") == '{"forged":true}'  # the control: it really does forge
    yield session
    host.close(session)


def in_own_world(host: Stdio, session: str, expression: str) -> Any:
    """What `tab.evaluate` asks."""
    frame = host.cdp(session, "Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = host.cdp(session, "Page.createIsolatedWorld", {"frameId": frame, "worldName": "capsdk"})
    params = {"expression": expression, "contextId": world["executionContextId"], "returnByValue": True}
    return value(host.reply(host.post_cdp(session, "Runtime.evaluate", params)))


def node_at(host: Stdio, session: str, selector: str) -> int:
    root = host.cdp(session, "DOM.getDocument")["root"]["nodeId"]
    return int(host.cdp(session, "DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"])


def click(host: Stdio, session: str, selector: str) -> None:
    """A click as the user's, in the middle of the box that Chromium itself knows."""
    quad = host.cdp(session, "DOM.getBoxModel", {"nodeId": node_at(host, session, selector)})["model"]["content"]
    at = {"x": (quad[0] + quad[4]) / 2, "y": (quad[1] + quad[5]) / 2, "button": "left", "clickCount": 1}
    for kind in ("mousePressed", "mouseReleased"):
        host.cdp(session, "Input.dispatchMouseEvent", {"type": kind, **at})


def test_values_by_value_are_right(host: Stdio, forged: str) -> None:
    assert host.js(forged, "[1, {a: 2}]") == [1, {"a": 2}]


def test_a_world_of_its_own_sees_the_page_and_none_of_its_globals(host: Stdio, forged: str) -> None:
    expression = "JSON.stringify([document.title, document.querySelectorAll('button').length, Array.from('ab')])"
    assert in_own_world(host, forged, expression) == '["Page that redefines the language",1,["a","b"]]'


def test_the_accessibility_tree_has_the_true_roles_and_names(host: Stdio, forged: str) -> None:
    nodes = host.cdp(forged, "Accessibility.getFullAXTree")["nodes"]
    seen = {(n["role"]["value"], n.get("name", {}).get("value")) for n in nodes if not n["ignored"]}
    assert {("textbox", "Quantity"), ("button", "Add to basket"), ("link", "Delivery terms")} <= seen
    assert ("RootWebArea", "Page that redefines the language") in seen
    assert "forged" not in str(nodes)


def test_trusted_input_fills_and_clicks(host: Stdio, forged: str) -> None:
    host.cdp(forged, "DOM.focus", {"nodeId": node_at(host, forged, "#qty")})
    in_own_world(host, forged, "document.querySelector('#qty').select()")
    host.cdp(forged, "Input.insertText", {"text": "3"})
    click(host, forged, "#add")
    result = {"nodeId": node_at(host, forged, "#result")}
    wait_until(
        lambda: host.cdp(forged, "DOM.getOuterHTML", result)["outerHTML"] == '<p id="result">added 3</p>',
        3.0,
        "added 3",
    )


def test_the_content_is_there_and_nothing_of_it_is_forged(host: Stdio, forged: str) -> None:
    text = in_own_world(host, forged, "document.body.innerText")
    assert "Catalogue" in text
    assert "Delivery terms" in text
    assert "forged" not in text
