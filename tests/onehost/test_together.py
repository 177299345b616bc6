"""Commands at once on one profile: they share one host, and none of them another's sessions."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.onehost.support import HOLDS, IS_DEAF, RECEIPTS, TRIES, WAITS, Command, app, call, hosts
from tests.support.processes import wait_until
from tests.support.stdio import GRANT, Stdio, capsdk, seconds

pytestmark = pytest.mark.chromium


def test_two_runs_a_stdio_and_a_call_that_begin_at_once_share_one_host_that_ends_with_them(place: Path) -> None:
    words = ("run", RECEIPTS, "--fixture", "--json", *GRANT)
    with Command(place, *words) as one, Command(place, *words) as two, call(place, "host.info") as info:
        with Stdio(place, *GRANT, ephemeral=False) as stdio:
            session = stdio.open("about:blank")
            envelopes = [one.result(), two.result()]
            assert info.result()["protocol"]
            assert stdio.js(session, "40 + 2") == 42
            assert len(hosts(place)) == 1
            assert stdio.finish() == 0
        assert [json.loads(envelope["result"]["rowsJson"])[0]["item"] for envelope in envelopes] == ["A-100", "A-100"]
        assert envelopes[0]["run"]["id"] != envelopes[1]["run"]["id"]
    wait_until(lambda: not hosts(place), 6.0, "the host's end with its last client")


def closed(client: Stdio, session: str) -> bool:
    """Is the session of somebody else gone?"""
    return str(client.cdp_error(session, "DOM.enable")["code"]) == "SESSION_CLOSED"


def test_a_runs_session_is_refused_to_a_stdio_to_the_owner_and_to_another_run(shared: Path, client: Stdio) -> None:
    tries = app(shared, "tries", TRIES)
    with Command(shared, "run", app(shared, "holds", HOLDS), *GRANT) as run:
        session = run.held()
        given = json.dumps({"session": session})
        with (
            Command(shared, "run", tries, "--json", "--input", given, *GRANT) as other,
            call(shared, "browser.cdp", sessionId=session, method="DOM.enable") as owner,
        ):
            assert client.cdp_error(session, "DOM.enable")["code"] == "SESSION_NOT_OWNED"
            assert json.loads(other.result()["result"]["rowsJson"]) == [{"code": "SESSION_NOT_OWNED"}]
            status, _, errors = owner.end()
            assert (status, b"SESSION_NOT_OWNED" in errors) == (77, True)
        os.kill(run.pid, signal.SIGKILL)
        wait_until(lambda: closed(client, session), 2.0, "the sessions of a run whose command was killed")


def test_a_stdio_that_is_killed_in_a_call_gives_its_sessions_back(shared: Path, client: Stdio) -> None:
    with Stdio(shared, *GRANT, ephemeral=False) as killed:
        session = killed.open("about:blank")
        assert not closed(client, session)
        killed.post_js(session, "new Promise(() => 0)")
        killed.ok("run.progress", done=1)
        os.kill(killed.process.pid, signal.SIGKILL)
        wait_until(lambda: closed(client, session), 2.0, "the sessions of a caller that was killed")


@pytest.mark.parametrize(
    ("source", "hears"), [pytest.param(HOLDS, True, id="listens"), pytest.param(IS_DEAF, False, id="is-deaf")]
)
def test_ctrl_c_of_a_joined_run_is_heard_by_its_script_and_ends_the_command(
    shared: Path, client: Stdio, source: str, hears: bool
) -> None:
    with Command(shared, "run", app(shared, "interrupted", source), *GRANT) as run:
        session = run.held()
        assert not closed(client, session)
        os.kill(run.pid, signal.SIGINT)
        start = time.monotonic()
        status, out, errors = run.end()
        assert seconds(start) < 3.0
        assert (status, out) == (130, b"")
        assert (b"heard of it" in errors) == hears
        assert b"Traceback" not in errors
        wait_until(lambda: closed(client, session), 2.0, "the sessions of an interrupted run")


def test_revoking_the_grant_ends_the_calls_of_a_joined_run(shared: Path, client: Stdio) -> None:
    folder = app(shared, "waits", WAITS)
    assert capsdk(shared, "grants", "set", f"path:{folder}", "browser.debug", "allow").returncode == 0
    with Command(shared, "run", folder) as run:
        session = run.held()
        assert not closed(client, session)
        assert capsdk(shared, "grants", "revoke", f"path:{folder}", "browser.debug").returncode == 0
        status, _, errors = run.end(5.0)
        assert (status, b"GRANT_OFF" in errors) == (77, True)
        wait_until(lambda: closed(client, session), 2.0, "the sessions of a run without its grant")


def test_a_call_of_the_owner_outlasts_another_one_that_ends(shared: Path, client: Stdio) -> None:
    with call(shared, "browser.openSession", url="about:blank") as opening:
        session = opening.result()["sessionId"]
    words = {"sessionId": session, "method": "Runtime.evaluate"}
    slow = {"expression": "new Promise(done => setTimeout(() => done(7), 2500))", "awaitPromise": True}
    with call(shared, "browser.cdp", **words, params=slow) as long:
        with call(shared, "browser.sessions") as short:
            assert [one["sessionId"] for one in short.result()["sessions"]] == [session]
        assert long.result()["result"]["result"]["value"] == 7
    with call(shared, "browser.closeSession", sessionId=session) as closing:
        assert closing.result() == {}
