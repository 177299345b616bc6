"""Dialogs of real pages: told at once, answered by the caller or by default, and never in the way of others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.processes import wait_until
from tests.support.site import Site
from tests.support.stdio import LOADED, Stdio, error, result, seconds, value

ANSWER_S = 2.0


@pytest.fixture(scope="module")
def limits() -> dict[str, str]:
    return {"CAPSDK_LIMIT_DIALOG_ANSWER_S": str(ANSWER_S)}


@pytest.fixture
def records(host: Stdio, site: Site) -> Iterator[str]:
    session = host.open(f"{site.url}/dialog-on-click.html")
    yield session
    host.close(session)


def facts(reply: dict[str, Any]) -> dict[str, Any]:
    """What a refused call says of the dialog."""
    problem = error(reply)
    assert problem["code"] == "DIALOG_OPEN"
    details: dict[str, Any] = problem["details"]
    return details


def answer(host: Stdio, session: str, **params: Any) -> None:
    """Answer the dialog."""
    assert host.cdp(session, "Page.handleJavaScriptDialog", params) == {}


def outcome(host: Stdio, session: str, wanted: str) -> None:
    """Wait until the page shows this."""
    wait_until(lambda: host.js(session, "result.textContent") == wanted, 3.0, wanted)


DIALOGS = (  # what the page does, facts, how it is answered, what the page then holds
    pytest.param("alert('hi')", {"type": "alert", "message": "hi"}, {"accept": True}, None, id="alert"),
    pytest.param("confirm('sure?')", {"type": "confirm", "message": "sure?"}, {"accept": True}, True, id="confirm-yes"),
    pytest.param(
        "confirm('sure?')", {"type": "confirm", "message": "sure?"}, {"accept": False}, False, id="confirm-no"
    ),
    pytest.param(
        "prompt('who?', 'me')",
        {"type": "prompt", "message": "who?"},
        {"accept": True, "promptText": "Plum"},
        "Plum",
        id="prompt",
    ),
    pytest.param(
        "prompt('who?')", {"type": "prompt", "message": "who?"}, {"accept": False}, None, id="prompt-cancelled"
    ),
    pytest.param(
        r"alert('\ud800')", {"type": "alert", "message": "\ufffd"}, {"accept": True}, None, id="half-surrogate"
    ),
    pytest.param(
        "alert('w'.repeat(5000))", {"type": "alert", "message": "w" * 1000}, {"accept": True}, None, id="long-text"
    ),
)


@pytest.mark.parametrize(("act", "told", "answered", "left"), DIALOGS)
def test_a_call_that_opens_a_dialog_fails_at_once_with_its_facts_and_the_answer_reaches_the_page(
    host: Stdio, records: str, act: str, told: dict[str, Any], answered: dict[str, Any], left: object
) -> None:
    start = time.monotonic()
    opening = host.post_js(records, f"window.left = {act}")
    assert facts(host.reply(opening)) == {**told, "dialogOpened": True}
    assert seconds(start) < 2.0
    assert facts(host.call("browser.cdp", sessionId=records, method="DOM.enable")) == {**told, "dialogOpened": False}
    answer(host, records, **answered)
    assert host.js(records, "window.left") == left


def test_a_click_that_opens_a_dialog_says_so_and_later_calls_do_not_queue(
    host: Stdio, records: str, blank: str
) -> None:
    start = time.monotonic()
    assert facts(host.reply(host.click(records, "del"))) == {
        "type": "confirm",
        "message": "Delete record 12?",
        "dialogOpened": True,
    }
    assert host.cdp_error(records, "Runtime.evaluate", {"expression": "1"})["code"] == "DIALOG_OPEN"
    assert host.cdp_error(records, "Accessibility.getFullAXTree")["code"] == "DIALOG_OPEN"
    assert host.js(blank, "'beside'") == "beside"
    assert seconds(start) < 1.5
    answer(host, records, accept=False)
    outcome(host, records, "kept")


def test_two_dialogs_in_a_row_are_answered_one_after_the_other(host: Stdio, records: str) -> None:
    assert facts(host.reply(host.click(records, "two")))["message"] == "First"
    answer(host, records, accept=True)
    wait_until(
        lambda: (
            host.call("browser.cdp", sessionId=records, method="DOM.enable")
            .get("error", {})
            .get("details", {})
            .get("message")
            == "Second"
        ),
        1.5,
        "the second dialog",
    )
    answer(host, records, accept=True)
    outcome(host, records, "both seen")


def test_a_storm_of_alerts_is_answered_one_by_one_and_ends_with_the_session(
    host: Stdio, site: Site, blank: str
) -> None:
    session = host.open(f"{site.url}/dialog-on-click.html")
    storm = {"expression": "for (let i = 0; i < 10_000; i++) alert(i)"}
    assert facts(host.call("browser.cdp", sessionId=session, method="Runtime.evaluate", params=storm))["message"] == "0"
    for number in range(1, 20):
        answer(host, session, accept=True)
        wait_until(lambda: standing(host, session) == str(number), 3.0, f"alert {number}")  # noqa: B023
    assert host.js(blank, "1 + 1") == 2
    start = time.monotonic()
    host.close(session)
    assert seconds(start) < 3.0
    assert host.js(blank, "1 + 1") == 2


def standing(host: Stdio, session: str) -> str:
    """The message of the dialog that stands now, "" while none does."""
    reply = host.call("browser.cdp", sessionId=session, method="DOM.enable")
    return "" if reply["ok"] else str(facts(reply)["message"])


def test_a_dialog_that_the_page_opens_later_is_met_by_the_call_that_waits(host: Stdio, records: str) -> None:
    result(host.reply(host.click(records, "later")))
    waiting = host.post_js(records, "new Promise(() => 0)")
    assert facts(host.reply(waiting)) == {"type": "confirm", "message": "Still there?", "dialogOpened": True}
    answer(host, records, accept=True)
    outcome(host, records, "yes")


def test_an_unanswered_dialog_is_dismissed_and_leaves_no_trace(host: Stdio, records: str) -> None:
    start = time.monotonic()
    facts(host.reply(host.click(records, "del")))
    wait_until(
        lambda: host.call("browser.cdp", sessionId=records, method="DOM.enable")["ok"], 5.0, "the default answer"
    )
    assert ANSWER_S - 0.1 < seconds(start) < ANSWER_S + 1.5
    outcome(host, records, "kept")


def test_a_dialog_answered_before_anyone_was_told_refuses_nothing(host: Stdio, records: str) -> None:
    opening = host.post_js(records, "confirm('quick?')")
    handled = host.post_cdp(records, "Page.handleJavaScriptDialog", {"accept": True})
    if host.reply(handled)["ok"]:
        assert value(host.reply(opening)) is True
    else:  # it came before the dialog did
        assert facts(host.reply(opening))["message"] == "quick?"
        answer(host, records, accept=True)
    assert host.js(records, "5") == 5


def test_answering_a_dialog_that_is_not_there_is_chromiums_error(host: Stdio, records: str) -> None:
    problem = host.cdp_error(records, "Page.handleJavaScriptDialog", {"accept": True})
    assert problem["code"] == "CDP_ERROR"


def test_a_navigation_passes_an_open_dialog(host: Stdio, records: str, site: Site) -> None:
    facts(host.reply(host.post_js(records, "alert('in the way')")))
    host.cdp(records, "Page.navigate", {"url": f"{site.url}/next.html"})
    host.js(records, LOADED)
    assert host.js(records, "document.title") == "Next page"


def test_the_callers_own_page_disable_does_not_blind_the_host(host: Stdio, records: str) -> None:
    host.cdp(records, "Page.disable")
    assert facts(host.reply(host.post_js(records, "alert('still seen')")))["message"] == "still seen"
    wait_until(
        lambda: host.call("browser.cdp", sessionId=records, method="DOM.enable")["ok"], 5.0, "the default answer"
    )


@pytest.fixture
def draft(host: Stdio, site: Site) -> Iterator[str]:
    """A page with unsaved text."""
    session = host.open(f"{site.url}/beforeunload-guard.html")
    host.reply(host.click(session, "note"))
    host.cdp(session, "Input.insertText", {"text": "half a note"})
    yield session
    start = time.monotonic()
    host.close(session)
    assert seconds(start) < 3.5


def leave(host: Stdio, session: str, site: Site) -> dict[str, Any]:
    """Try to leave the page: what the navigation is told."""
    return facts(host.reply(host.post_cdp(session, "Page.navigate", {"url": f"{site.url}/next.html"})))


def test_leaving_unsaved_text_is_told_and_stay_keeps_it(host: Stdio, draft: str, site: Site) -> None:
    start = time.monotonic()
    assert leave(host, draft, site) == {"type": "beforeunload", "message": "", "dialogOpened": True}
    assert seconds(start) < 2.0
    assert facts(host.call("browser.cdp", sessionId=draft, method="DOM.enable"))["type"] == "beforeunload"
    answer(host, draft, accept=False)
    assert host.js(draft, "[document.title, note.value]") == ["Draft", "half a note"]


def test_leaving_unsaved_text_goes_on_when_the_caller_says_so(host: Stdio, draft: str, site: Site) -> None:
    before = host.newest(draft)
    leave(host, draft, site)
    answer(host, draft, accept=True)
    methods = ["Page.frameNavigated"]
    page = host.ok("browser.events", sessionId=draft, after=before, methods=methods, waitMs=3000)
    assert [event["params"]["frame"]["url"] for event in page["events"]] == [f"{site.url}/next.html"]


def test_leaving_unsaved_text_is_answered_stay_when_nobody_answers(host: Stdio, draft: str, site: Site) -> None:
    leave(host, draft, site)
    wait_until(lambda: host.call("browser.cdp", sessionId=draft, method="DOM.enable")["ok"], 5.0, "the default answer")
    assert host.js(draft, "[document.title, note.value]") == ["Draft", "half a note"]


def test_a_session_with_unsaved_text_closes_without_a_question(host: Stdio, draft: str) -> None:
    assert host.js(draft, "note.value") == "half a note"  # the fixture closes it, in time


def test_a_session_with_an_open_dialog_closes_at_once(host: Stdio, site: Site) -> None:
    session = host.open(f"{site.url}/dialog-on-click.html")
    facts(host.reply(host.click(session, "del")))
    start = time.monotonic()
    host.close(session)
    assert seconds(start) < 3.5
