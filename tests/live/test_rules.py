"""The conditional rules on real Chromium: what they let pass works, and what they refuse would have."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.framesite import FrameSites, pause
from tests.support.processes import wait_until
from tests.support.site import Site
from tests.support.stdio import GRANT, Stdio, error, opened, result, seconds, value

POLICY = "BROWSER_POLICY_DENIED"


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@pytest.fixture(scope="module")
def host(folder: Path, sites: FrameSites, site: Site) -> Iterator[Stdio]:
    with Stdio(folder, *GRANT, *opened((*sites.places, *site.places))) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""
        assert made.twice == []


@pytest.fixture
def shop(host: Stdio, sites: FrameSites) -> Iterator[str]:
    """A session on a plain page of site `a`."""
    session = host.open(sites.page("a", "<title>shop</title><textarea id=t></textarea><p id=p>secret</p>"))
    yield session
    host.close(session)


# --- pages


def test_bring_to_front_takes_no_other_tab_its_place(host: Stdio, shop: str, blank: str) -> None:
    shown = "document.visibilityState + document.hasFocus()"
    assert host.cdp(shop, "Page.bringToFront") == {}
    pause()
    assert host.js(blank, shown) == "visibletrue"
    assert host.js(shop, shown) == "visibletrue"


def test_page_close_gives_the_session_back_and_no_other(host: Stdio, blank: str) -> None:
    session = host.open("about:blank")
    assert host.cdp(session, "Page.close") == {}
    assert host.cdp_error(session, "DOM.enable")["code"] == "SESSION_CLOSED"
    host.close(session)
    assert host.js(blank, "1") == 1


def test_a_navigation_is_judged_in_a_frame_too_and_leaves_the_page_where_it_is(host: Stdio, sites: FrameSites) -> None:
    url = sites.page("a", f"<iframe src='{sites.page('a', 'inner')}'></iframe>")
    session = host.open(url)
    frame = host.cdp(session, "Page.getFrameTree")["frameTree"]["childFrames"][0]["frame"]["id"]
    for target in ("file:///etc/passwd", "mailto:a@b", "chrome://settings"):
        assert host.cdp_error(session, "Page.navigate", {"url": target, "frameId": frame})["code"] == POLICY
    assert "errorText" not in host.cdp(session, "Page.navigate", {"url": url, "transitionType": "typed"})
    assert host.js(session, "location.href") == url
    host.close(session)


def test_an_evaluation_that_asks_for_endless_time_still_ends(host: Stdio, shop: str) -> None:
    start = time.monotonic()
    problem = host.cdp_error(shop, "Runtime.evaluate", {"expression": "while (true);", "timeout": 0})
    assert problem["code"] == "CDP_ERROR"
    assert seconds(start) < 3.0
    assert host.js(shop, "1") == 1


METRICS = {"width": 500, "height": 400, "deviceScaleFactor": 1, "mobile": False}


@pytest.mark.parametrize("method", ["Emulation.setDeviceMetricsOverride", "Page.setDeviceMetricsOverride"])
def test_a_small_screen_is_emulated_and_a_huge_one_is_not(host: Stdio, shop: str, method: str) -> None:
    assert host.cdp(shop, method, METRICS) == {}
    wait_until(lambda: host.js(shop, "innerWidth") == 500, 2.0, "the emulated width")
    assert host.cdp_error(shop, method, {**METRICS, "width": 9999, "deviceScaleFactor": 10})["code"] == POLICY
    assert host.js(shop, "innerWidth") == 500


PASSES = (  # method, parameters that reach Chromium, parameters that do not
    pytest.param("Emulation.setVisibleSize", {"width": 300, "height": 200}, {"width": 9999, "height": 1}, id="size"),
    pytest.param("Network.enable", {"maxPostDataSize": 10**9}, {"reportDirectSocketTraffic": True}, id="network"),
    pytest.param(
        "Network.configureDurableMessages", {"maxTotalBufferSize": 10**12}, {"maxTotalBufferSize": "1"}, id="durable"
    ),
    pytest.param("Network.configureDurableMessages", {}, {"maxResourceBufferSize": None}, id="durable-off"),
    pytest.param(
        "Network.emulateNetworkConditionsByRule",
        {"matchedNetworkConditions": []},
        {"matchedNetworkConditions": [], "emulateOfflineServiceWorker": True},
        id="conditions",
    ),
    pytest.param("Runtime.setMaxCallStackSizeToCapture", {"size": 1000}, {"size": 1001}, id="stack"),
    pytest.param(
        "Overlay.setInspectMode",
        {"mode": "none", "highlightConfig": {}},
        {"mode": "captureAreaScreenshot", "highlightConfig": {}},
        id="inspect",
    ),
)


@pytest.mark.parametrize(("method", "passes", "refused"), PASSES)
def test_chromium_takes_what_a_rule_lets_pass(
    host: Stdio, shop: str, method: str, passes: dict[str, Any], refused: dict[str, Any]
) -> None:
    if method.startswith("Overlay"):
        host.cdp(shop, "Overlay.enable")
    assert isinstance(host.cdp(shop, method, passes), dict)
    assert host.cdp_error(shop, method, refused)["code"] == POLICY


def test_of_an_encoded_response_only_sizes_are_asked(host: Stdio, shop: str) -> None:
    params = {"requestId": "none", "encoding": "png"}
    assert host.cdp_error(shop, "Audits.getEncodedResponse", params)["code"] == POLICY
    assert host.cdp_error(shop, "Audits.getEncodedResponse", {**params, "sizeOnly": True})["code"] == "CDP_ERROR"


# --- input


def press(host: Stdio, session: str, **fields: Any) -> dict[str, Any]:
    """One key pressed: the whole reply."""
    return host.reply(host.post_cdp(session, "Input.dispatchKeyEvent", {"type": "keyDown", **fields}))


PASTES = (
    pytest.param({"key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": 2}, id="ctrl-v"),
    pytest.param({"key": "V", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": 10}, id="ctrl-shift-v"),
    pytest.param({"key": "Insert", "windowsVirtualKeyCode": 45, "modifiers": 8}, id="shift-insert"),
    pytest.param({"key": "Paste"}, id="paste-key"),
    pytest.param({"key": "a", "commands": ["paste"]}, id="command"),
    pytest.param({"key": "a", "commands": ["Paste"]}, id="command-in-capitals"),
)


@pytest.fixture
def copied(host: Stdio, shop: str) -> str:
    """Another tab has copied a text: the clipboard is one for all."""
    host.js(shop, "getSelection().selectAllChildren(p)")
    assert press(host, shop, key="c", code="KeyC", windowsVirtualKeyCode=67, modifiers=2, commands=[])["ok"]
    return "secret"


@pytest.mark.parametrize("fields", PASTES)
def test_what_another_tab_copied_is_not_pasted_here(
    host: Stdio, sites: FrameSites, copied: str, fields: dict[str, Any]
) -> None:
    session = host.open(sites.page("b", "<textarea id=t autofocus></textarea>"))
    host.js(session, "t.focus()")
    assert error(press(host, session, **fields))["code"] == POLICY
    # Ctrl held by an event of its own counts for nothing: each event says which modifiers it has.
    assert press(host, session, key="Control", code="ControlLeft", windowsVirtualKeyCode=17, modifiers=2)["ok"]
    assert press(host, session, key="v", code="KeyV", windowsVirtualKeyCode=86, text="v")["ok"]
    assert press(host, session, type="rawKeyDown", code="KeyV", key="v", windowsVirtualKeyCode=86)["ok"]
    assert press(host, session, key="w", code="KeyW", windowsVirtualKeyCode=87, text="w")["ok"]
    assert host.js(session, "t.value") == "vw"
    assert press(host, session, key="a", type="rawKeyDown", commands=["selectAll"])["ok"]
    assert host.js(session, "t.selectionEnd - t.selectionStart") == 2
    host.close(session)


def test_a_drag_carries_text_and_no_file_of_this_machine(host: Stdio, sites: FrameSites) -> None:
    session = host.open(
        sites.page(
            "a",
            "<body style='height:300px' ondragover='event.preventDefault()' ondrop='event.preventDefault();"
            'document.title = event.dataTransfer.getData("text/plain") + event.dataTransfer.files.length\'>',
        )
    )
    items = [{"mimeType": "text/plain", "data": "dragged"}]
    data: dict[str, Any] = {"items": items, "files": [], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        with_file = {"type": kind, "x": 50, "y": 50, "data": {**data, "files": ["/etc/passwd"]}}
        assert host.cdp_error(session, "Input.dispatchDragEvent", with_file)["code"] == POLICY
        assert host.cdp(session, "Input.dispatchDragEvent", {"type": kind, "x": 50, "y": 50, "data": data}) == {}
    wait_until(lambda: host.js(session, "document.title") == "dragged0", 2.0, "the drop")
    host.close(session)


# --- requests


def test_extra_headers_reach_the_site_and_those_of_the_connection_do_not(
    host: Stdio, shop: str, sites: FrameSites
) -> None:
    for name in ("Host", "hOST", "Proxy-Authorization", "Connection"):
        params = {"headers": {"X-Extra": "no", name: "evil.example"}}
        assert host.cdp_error(shop, "Network.setExtraHTTPHeaders", params)["code"] == POLICY
    assert host.cdp(shop, "Network.setExtraHTTPHeaders", {"headers": {"X-Extra": "yes"}}) == {}
    path = sites.put("x")
    assert host.js(shop, f"fetch('{path}').then(reply => reply.status)") == 200
    assert sites.headers[path]["X-Extra"] == "yes"
    assert sites.headers[path]["Host"] == sites.places[0]
    smuggled = {"headers": {"X-Extra": "a\r\nHost: evil.example"}}
    assert host.cdp_error(shop, "Network.setExtraHTTPHeaders", smuggled)["code"] == "CDP_ERROR"


class Paused:
    """A fetch of the page that waits for an answer of Fetch."""

    def __init__(self, host: Stdio, session: str, path: str, stage: str = "Request") -> None:
        self.host, self.session = host, session
        patterns = [{"urlPattern": f"*{path}*", "requestStage": stage}]
        assert host.cdp(session, "Fetch.enable", {"patterns": patterns, "handleAuthRequests": True}) == {}
        after = host.newest(session)
        self.page = host.post_js(session, f"fetch('{path}').then(r => r.url + ' ' + r.status, e => String(e))")
        poll = {"after": after, "methods": ["Fetch.requestPaused"], "waitMs": 5000}
        (event,) = host.ok("browser.events", sessionId=session, **poll)["events"]
        self.id = event["params"]["requestId"]

    def refused(self, method: str, **params: Any) -> str:
        """A command about it that has to fail: the code."""
        return str(self.host.cdp_error(self.session, method, {"requestId": self.id, **params})["code"])

    def done(self, method: str, **params: Any) -> str:
        """A command about it that has to succeed: what the page then sees."""
        assert self.host.cdp(self.session, method, {"requestId": self.id, **params}) == {}
        return str(value(self.host.reply(self.page)))


def to(location: str) -> list[dict[str, str]]:
    """Response headers that send on."""
    return [{"name": "Location", "value": location}]


def in_binary(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_a_response_made_up_sends_on_within_the_site_and_to_no_program(
    host: Stdio, shop: str, sites: FrameSites
) -> None:
    landing = sites.put("landed")
    paused = Paused(host, shop, "/made-up")
    for where in ("mailto:a@b", "file:///etc/passwd", "ma\tilto:a@b", "//127.0.0.1:1/"):
        assert paused.refused("Fetch.fulfillRequest", responseCode=302, responseHeaders=to(where)) == POLICY
    for text in ("Location: mailto:a@b", "A: b\0location:mailto:a@b", "Location: ma\nilto:a@b"):
        assert paused.refused("Fetch.fulfillRequest", responseCode=302, binaryResponseHeaders=in_binary(text)) == POLICY
    smuggled = [{"name": "A", "value": f"b\r\nLocation: {landing}"}]
    assert paused.refused("Fetch.fulfillRequest", responseCode=302, responseHeaders=smuggled) == "CDP_ERROR"
    seen = paused.done("Fetch.fulfillRequest", responseCode=302, responseHeaders=to(landing))
    assert seen == f"{sites.origins['a']}{landing} 200"


def test_a_location_in_binary_is_followed_when_it_is_relative(host: Stdio, shop: str, sites: FrameSites) -> None:
    landing = sites.put("landed")
    paused = Paused(host, shop, "/made-up-in-binary")
    headers = in_binary(f"A: b\0Location: {landing}")
    seen = paused.done("Fetch.fulfillRequest", responseCode=302, binaryResponseHeaders=headers)
    assert seen == f"{sites.origins['a']}{landing} 200"


def test_a_request_goes_on_elsewhere_only_by_the_url_rule_and_under_its_own_host(
    host: Stdio, shop: str, sites: FrameSites
) -> None:
    path, other = sites.put("first"), sites.put("other")
    paused = Paused(host, shop, path)
    for url in ("file:///etc/passwd", "mailto:a@b", "http://127.0.0.1:1/", "about:blank"):
        assert paused.refused("Fetch.continueRequest", url=url) == POLICY
    assert paused.refused("Fetch.continueRequest", headers=[{"name": "Host", "value": "evil"}]) == POLICY
    header = {"name": "X-Made", "value": "yes"}
    seen = paused.done("Fetch.continueRequest", url=sites.origins["a"] + other, headers=[header])
    assert seen == f"{sites.origins['a']}{path} 200"  # the page does not see where it went
    assert (sites.hits[path], sites.hits[other]) == (0, 1)
    assert sites.headers[other]["X-Made"] == "yes"


def test_a_real_response_is_not_turned_into_a_call_of_a_program(host: Stdio, shop: str, sites: FrameSites) -> None:
    path, landing = sites.put("first"), sites.put("landed")
    paused = Paused(host, shop, path, "Response")
    assert paused.refused("Fetch.continueResponse", responseCode=302, responseHeaders=to("mailto:a@b")) == POLICY
    seen = paused.done("Fetch.continueResponse", responseCode=302, responseHeaders=to(landing))
    assert seen == f"{sites.origins['a']}{path} 302"  # at this stage Chromium follows no redirect


def test_posted_data_is_told_up_to_sixteen_kilobytes(host: Stdio, shop: str, sites: FrameSites) -> None:
    host.cdp(shop, "Network.enable", {"maxPostDataSize": 10**9})
    after = host.newest(shop)
    for size in (16_000, 40_000):
        host.js(shop, f"fetch('/save', {{method: 'POST', body: 'x'.repeat({size})}}).then(r => r.status)")
    found = [event["params"] for event in host.events(shop, after=after, methods=["Network.requestWillBeSent"])]
    small, large = (event for event in found if event["request"]["url"].endswith("/save"))
    assert len(small["request"]["postData"]) == 16_000
    assert "postData" not in large["request"]
    params = {"requestId": large["requestId"]}
    assert len(host.cdp(shop, "Network.getRequestPostData", params)["postData"]) == 40_000


# --- cookies


def jar(host: Stdio, session: str, **params: Any) -> dict[str, str]:
    """Names and values that Network.getCookies gives."""
    return {one["name"]: one["value"] for one in host.cdp(session, "Network.getCookies", params)["cookies"]}


@pytest.fixture
def strange(host: Stdio, sites: FrameSites) -> Iterator[str]:
    """A session on another site that has a cookie."""
    session = host.open(sites.page("b", "<script>document.cookie = 'theirs=1; path=/'</script>"))
    yield session
    host.cdp(session, "Network.deleteCookies", {"name": "theirs", "domain": "127.0.0.2"})
    host.close(session)


def test_cookies_are_written_and_deleted_for_the_own_host_only(
    host: Stdio, shop: str, strange: str, sites: FrameSites
) -> None:
    theirs, own = (
        {"name": "c", "value": "1", "url": sites.origins["b"]},
        {"name": "c", "value": "1", "domain": "127.0.0.1"},
    )
    for method in ("Network.setCookie", "Network.deleteCookies"):
        assert host.cdp_error(shop, method, theirs)["code"] == POLICY
    assert host.cdp_error(shop, "Network.setCookie", {"name": "c", "value": "1", "domain": "co.uk"})["code"] == POLICY
    assert host.cdp_error(shop, "Network.setCookies", {"cookies": [own, theirs]})["code"] == POLICY
    assert jar(host, shop) == {}
    assert jar(host, strange) == {"theirs": "1"}
    assert host.cdp(shop, "Network.setCookie", own)["success"] is True
    assert host.cdp(shop, "Network.setCookies", {"cookies": [{**own, "name": "d", "url": sites.origins["a"]}]}) == {}
    assert host.js(shop, "document.cookie.split('; ').sort().join()") == "c=1,d=1"
    for name in ("c", "d"):
        assert host.cdp(shop, "Network.deleteCookies", {"name": name, "domain": "127.0.0.1"}) == {}
    assert jar(host, shop) == {}
    problem = host.cdp_error(shop, "Page.deleteCookie", {"cookieName": "c", "url": sites.origins["a"]})
    assert problem["code"] == "CDP_ERROR"  # this Chromium has it no more


def test_cookies_are_read_of_the_frames_that_are_shown_now(host: Stdio, strange: str, sites: FrameSites) -> None:
    theirs = {"urls": [sites.origins["b"]]}
    near = {"urls": [sites.origins["near"]]}
    inner, outer = sites.page("near", "inner"), sites.page("b", "theirs")
    framed = sites.page("a", f"<iframe id=f src='{inner}'></iframe><iframe id=g src='{outer}'></iframe>")
    session = host.open(sites.page("a", "plain"))
    assert [host.cdp_error(session, "Network.getCookies", one)["code"] for one in (theirs, near)] == [POLICY] * 2

    def shown() -> bool:
        return all(
            host.call("browser.cdp", sessionId=session, method="Network.getCookies", params=one)["ok"]
            for one in (theirs, near)
        )

    host.cdp(session, "Page.navigate", {"url": framed})
    wait_until(shown, 3.0, "both frames")
    assert jar(host, session, **theirs) == {"theirs": "1"}
    assert host.cdp_error(session, "Network.getCookies", {"urls": [sites.origins["c"]]})["code"] == POLICY
    plain = sites.page("c", "<title>plain</title>")
    host.cdp(session, "Page.navigate", {"url": plain})
    wait_until(lambda: host.js(session, "document.title") == "plain", 3.0, "the next page")
    assert [host.cdp_error(session, "Network.getCookies", one)["code"] for one in (theirs, near)] == [POLICY] * 2
    host.js(session, "history.back()")  # it comes back from the cache with its frames, and of them nothing is told
    wait_until(shown, 3.0, "both frames again")
    host.js(session, "f.remove(), g.remove()")
    assert [host.cdp_error(session, "Network.getCookies", one)["code"] for one in (theirs, near)] == [POLICY] * 2
    host.close(session)


def test_an_error_page_has_no_cookies_of_the_site_that_did_not_answer(
    host: Stdio, shop: str, site: Site, sites: FrameSites
) -> None:
    assert host.cdp(shop, "Network.setCookie", {"name": "c", "value": "1", "domain": "127.0.0.1"})["success"] is True
    assert "errorText" in host.cdp(shop, "Page.navigate", {"url": f"http://{site.refused}/"})
    wait_until(lambda: host.js(shop, "location.protocol") == "chrome-error:", 3.0, "the error page")
    write = {"name": "c", "value": "2", "domain": "127.0.0.1"}
    assert host.cdp_error(shop, "Network.setCookie", write)["code"] == POLICY
    assert host.cdp_error(shop, "Network.getCookies", {"urls": [f"http://{site.refused}/"]})["code"] == POLICY
    host.cdp(shop, "Page.navigate", {"url": sites.page("a", "<title>back</title>")})
    wait_until(lambda: host.js(shop, "document.title") == "back", 3.0, "the next page")
    assert host.cdp(shop, "Network.deleteCookies", {"name": "c", "domain": "127.0.0.1"}) == {}


def test_the_rules_hold_for_a_child_frame_too(host: Stdio, sites: FrameSites) -> None:
    session = host.open(sites.page("a", f"<iframe src='{sites.page('b', 'inner')}'></iframe>"))
    (event,) = host.ok("browser.events", sessionId=session, methods=["Target.attachedToTarget"], waitMs=5000)["events"]
    handle = event["params"]["sessionId"]
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Page.navigate", {"url": "file:///etc/passwd"}),
        ("Network.setCookie", {"name": "c", "value": "1", "url": sites.origins["c"]}),
        ("Network.getCookies", {"urls": [sites.origins["c"]]}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "key": "v", "modifiers": 2}),
        ("Page.captureScreenshot", {}),
        ("Target.getTargets", {}),
    )
    for method, params in refused:
        assert host.cdp_error(session, method, params, targetSessionId=handle)["code"] == POLICY
    assert result(host.reply(host.post_js(session, "1", targetSessionId=handle)))["result"]["result"]["value"] == 1
    host.close(session)
