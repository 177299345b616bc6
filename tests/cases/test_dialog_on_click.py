"""A click that opens a dialog returns and says so, what comes after does not queue, and an answer leaves nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.case_site import CaseSite
from tests.support.processes import wait_until
from tests.support.stdio import Stdio, error, result, seconds

SOON_S = 2.0


@pytest.fixture
def records(host: Stdio, cases: CaseSite) -> Iterator[str]:
    session = host.open(f"{cases.main}/dialog-on-click/")
    yield session
    host.close(session)


def click(host: Stdio, session: str, button: str) -> dict[str, Any]:
    """Click what opens a dialog: what the click says of it, in time."""
    start = time.monotonic()
    details = facts(host.reply(host.click(session, f"document.getElementById('{button}')")))
    assert details["dialogOpened"] is True
    assert seconds(start) < 2 * SOON_S  # the click, and to find where to click
    return details


def facts(reply: dict[str, Any]) -> dict[str, Any]:
    problem = error(reply)
    assert problem["code"] == "DIALOG_OPEN"
    details: dict[str, Any] = problem["details"]
    return details


def answer(host: Stdio, session: str, **params: Any) -> None:
    assert host.cdp(session, "Page.handleJavaScriptDialog", params) == {}


def outcome(host: Stdio, session: str, wanted: str) -> None:
    wait_until(lambda: host.js(session, "result.textContent") == wanted, 3.0, wanted)


def test_a_click_says_which_dialog_is_open_and_nothing_waits_behind_it(
    host: Stdio, cases: CaseSite, records: str
) -> None:
    beside = host.open(f"{cases.main}/dialog-on-click/")
    told = click(host, records, "del")
    assert (told["type"], told["message"]) == ("confirm", "Delete record 12?")
    start = time.monotonic()
    for method, params in (
        ("Accessibility.getFullAXTree", {}),
        ("DOMSnapshot.captureSnapshot", {"computedStyles": []}),
        ("Runtime.evaluate", {"expression": "1"}),
        ("DOM.getDocument", {}),
    ):
        met = facts(host.reply(host.post_cdp(records, method, params)))
        assert (met["message"], met["dialogOpened"]) == ("Delete record 12?", False)
    met = facts(host.call("browser.screenshot", sessionId=records))
    assert (met["message"], met["dialogOpened"]) == ("Delete record 12?", False)
    assert host.js(beside, "result.textContent") == "idle"
    assert seconds(start) < SOON_S
    answer(host, records, accept=False)
    outcome(host, records, "kept")
    host.close(beside)


def test_each_dialog_has_the_answer_that_it_was_given(host: Stdio, records: str) -> None:
    told = click(host, records, "name")
    assert (told["type"], told["message"]) == ("prompt", "New name?")
    answer(host, records, accept=True, promptText="Plum")
    outcome(host, records, "named Plum")
    assert click(host, records, "two")["message"] == "First"
    answer(host, records, accept=True)
    wait_until(lambda: shown(host, records) == "Second", 3.0, "the second notice")
    answer(host, records, accept=True)
    outcome(host, records, "both seen")
    for accept, wanted in ((True, "yes"), (False, "no")):
        result(host.reply(host.click(records, "later")))
        assert facts(host.reply(host.post_js(records, "new Promise(() => 0)")))["message"] == "Still there?"
        answer(host, records, accept=accept)
        outcome(host, records, wanted)
    assert host.cdp_error(records, "Page.handleJavaScriptDialog", {"accept": True})["code"] == "CDP_ERROR"
    assert host.js(records, "6 * 7") == 42


@pytest.mark.parametrize("delay_ms", [0, 15, 30, 60])
def test_a_picture_does_not_wait_behind_a_dialog_that_opens_meanwhile(host: Stdio, records: str, delay_ms: int) -> None:
    assert host.ok("browser.screenshot", sessionId=records)["mimeType"] == "image/jpeg"  # the redactor is there
    host.js(records, f"document.body.style.background = 'tan'; setTimeout(() => confirm('Now?'), {delay_ms}); 1")
    start = time.monotonic()
    reply = host.call("browser.screenshot", sessionId=records)
    assert seconds(start) < SOON_S
    assert reply["ok"] or facts(reply)["message"] == "Now?"
    wait_until(lambda: shown(host, records) == "Now?", 3.0, "the dialog")
    answer(host, records, accept=False)
    assert host.ok("browser.screenshot", sessionId=records)


def shown(host: Stdio, session: str) -> str:
    """The message of the dialog that is open, "" when none is."""
    reply = host.call("browser.cdp", sessionId=session, method="DOM.enable")
    return "" if reply["ok"] else str(reply["error"]["details"].get("message"))
