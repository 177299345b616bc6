"""Unsaved text: leaving is asked and told, closing is not asked, and neither hangs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.support.case_site import CaseSite
from tests.support.processes import wait_until
from tests.support.stdio import GRANT, Stdio, opened, seconds

FEW_S = 4.0
TEXT = "half a note"


def draft(host: Stdio, cases: CaseSite) -> str:
    """A page whose text a user has typed and not saved."""
    session = host.open(f"{cases.main}/beforeunload-guard/")
    host.reply(host.click(session, "note"))
    host.cdp(session, "Input.insertText", {"text": TEXT})
    assert host.js(session, "note.value") == TEXT
    return session


def leave(host: Stdio, cases: CaseSite, session: str) -> None:
    """Try to leave: the question is told, in time."""
    start = time.monotonic()
    problem = host.cdp_error(session, "Page.navigate", {"url": f"{cases.main}/beforeunload-guard/next.html"})
    assert (problem["code"], problem["details"]["type"]) == ("DIALOG_OPEN", "beforeunload")
    assert seconds(start) < FEW_S


def told(host: Stdio, session: str, after: int, method: str) -> list[Any]:
    """The parameters of the events of one method, once there is one."""
    page = host.ok("browser.events", sessionId=session, after=after, methods=[method], waitMs=3000)
    return [event["params"] for event in page["events"]]


def test_leaving_is_asked_and_both_answers_are_heeded(host: Stdio, cases: CaseSite) -> None:
    session = draft(host, cases)
    before = host.newest(session)
    leave(host, cases, session)
    assert host.cdp(session, "Page.handleJavaScriptDialog", {"accept": False}) == {}
    assert [one["result"] for one in told(host, session, before, "Page.javascriptDialogClosed")] == [False]
    assert host.js(session, "[document.title, note.value]") == ["Draft", TEXT]
    assert host.events(session, after=before, methods=["Page.frameNavigated"]) == []
    leave(host, cases, session)
    assert host.cdp(session, "Page.handleJavaScriptDialog", {"accept": True}) == {}
    (navigated,) = told(host, session, before, "Page.frameNavigated")
    assert navigated["frame"]["url"] == f"{cases.main}/beforeunload-guard/next.html"
    wait_until(lambda: host.js(session, "document.readyState") == "complete", 3.0, "the next page")
    assert host.js(session, "result.textContent") == "Next page"
    host.close(session)


def test_a_session_with_unsaved_text_is_closed_without_a_question(host: Stdio, cases: CaseSite) -> None:
    session = draft(host, cases)
    start = time.monotonic()
    host.close(session)
    assert seconds(start) < FEW_S
    assert session not in {one["sessionId"] for one in host.ok("browser.sessions")["sessions"]}
    assert host.cdp_error(session, "DOM.enable")["code"] == "SESSION_CLOSED"


def test_a_host_with_unsaved_text_ends(folder: Path, cases: CaseSite) -> None:
    with Stdio(folder, *GRANT, *opened(cases.places)) as host:
        draft(host, cases)
        assert host.finish() == 0
        assert host.errors == b""
