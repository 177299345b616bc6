"""The owner's word on the wire: what is not granted is refused, and what is taken back ends in running hosts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from capsdk.errors import from_wire
from tests.support.processes import wait_until
from tests.support.stdio import Stdio, capsdk, error, result, seconds


def grants(place: Path, *words: str) -> str:
    """`capsdk grants …`, which has to succeed: what it prints."""
    done = capsdk(place, "grants", *words)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def refusal(place: Path, *flags: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    """What an open is told under these flags and settings."""
    with Stdio(place, *flags, env=env) as host:
        problem = host.error("browser.openSession", url="about:blank")
        assert host.finish() == 0
    return problem


def test_what_was_never_set_is_asked_for_and_nobody_is_there_to_answer(place: Path) -> None:
    with Stdio(place) as host:
        first = host.error("browser.openSession", url="about:blank")
        again = host.error("browser.openSession", url="about:blank")
        assert host.ok("run.progress", done=1) == {}  # needs no grant
        assert host.finish() == 0
    assert first["code"] == "APPROVAL_PENDING"
    assert from_wire(first).exit_code == 77
    assert first["details"]["approvalId"] == again["details"]["approvalId"] != ""


LEVELS = (  # flags, settings, code
    pytest.param(("--grant", "browser.debug=off"), {}, "GRANT_OFF", id="off"),
    pytest.param(("--grant", "browser.debug=ask"), {}, "APPROVAL_PENDING", id="ask"),
    pytest.param(("--grant", "browser.view=allow"), {}, "APPROVAL_PENDING", id="another-capability"),
    pytest.param(
        ("--grant", "browser.debug=allow"), {"CAPSDK_CEILING": "browser.debug=off"}, "GRANT_OFF", id="ceiling-off"
    ),
    pytest.param(
        ("--grant", "browser.debug=allow"),
        {"CAPSDK_CEILING": "browser.debug=ask"},
        "APPROVAL_PENDING",
        id="ceiling-ask",
    ),
)


@pytest.mark.parametrize(("flags", "env", "code"), LEVELS)
def test_a_grant_of_the_connection_is_what_it_says_and_never_above_the_ceiling(
    place: Path, flags: tuple[str, ...], env: dict[str, str], code: str
) -> None:
    assert refusal(place, *flags, env=env)["code"] == code


BAD_WORDS = (
    pytest.param(("stdio", "--ephemeral", "--grant", "browser.debug"), 2, id="no-level"),
    pytest.param(("stdio", "--ephemeral", "--grant", "browser.everything=allow"), 2, id="no-such-capability"),
    pytest.param(("stdio", "--ephemeral", "--grant", "browser.debug=maybe"), 2, id="no-such-level"),
    pytest.param(("stdio", "--ephemeral", "--allow-loopback", "127.0.0.1"), 2, id="no-port"),
    pytest.param(("stdio", "--ephemeral", "--allow-loopback", "10.0.0.7:80"), 2, id="not-this-machine"),
    pytest.param(("stdio", "--ephemeral", "--allow-host", "shop.example"), 2, id="host-without-port"),
    pytest.param(("stdio", "--ephemeral", "--allow-host", "localhost:80"), 2, id="this-machine-as-host"),
    pytest.param(("stdio", "--allow-host", "127.1:80"), 2, id="this-machine-as-host-joined"),
    pytest.param(("stdio", "--ephemeral", "--kind", "king"), 2, id="no-such-kind"),
    pytest.param(("grants", "set", "x", "browser.debug", "allow"), 2, id="no-subject"),
    pytest.param(("grants", "set", "app:x", "browser.debug", "often"), 2, id="no-level-to-set"),
    pytest.param(("grants", "revoke", "app:x", "nothing"), 2, id="nothing-to-revoke"),
)


@pytest.mark.parametrize(("words", "status"), BAD_WORDS)
def test_words_that_cannot_be_meant_end_the_command_with_one_clear_line(
    place: Path, words: tuple[str, ...], status: int
) -> None:
    done = capsdk(place, *words)
    assert done.returncode == status
    assert b"Traceback" not in done.stderr
    assert done.stderr != b""
    assert done.stdout == b""


def test_settings_that_cannot_be_used_end_with_their_own_status(place: Path) -> None:
    done = capsdk(place, "stdio", "--ephemeral", env={"CAPSDK_LIMIT_RESULT_BYTES": "much"})
    assert done.returncode == 78
    assert b"Traceback" not in done.stderr


def test_grants_are_stored_listed_and_revoked(place: Path) -> None:
    assert json.loads(grants(place, "list", "--json")) == []
    grants(place, "set", "app:x", "browser.debug", "allow")
    grants(place, "set", f"path:{place}/../{place.name}/app", "browser.debug", "ask")
    grants(place, "set", "chat:c", "browser.view", "off")
    rows = json.loads(grants(place, "list", "--json"))
    assert [(row["subject"], row["capability"], row["level"]) for row in rows] == [
        ("app:x", "browser.debug", "allow"),
        ("chat:c", "browser.view", "off"),
        (f"path:{place}/app", "browser.debug", "ask"),
    ]
    grants(place, "revoke", "app:x", "browser.debug")
    assert "app:x" not in grants(place, "list")


def test_a_grant_set_by_another_process_holds_in_a_running_host_and_taken_back_ends_its_sessions(place: Path) -> None:
    with Stdio(place, ephemeral=False) as host:
        assert host.error("browser.openSession", url="about:blank")["code"] == "APPROVAL_PENDING"
        grants(place, "set", "app:x", "browser.debug", "allow")
        wait_until(lambda: host.call("browser.openSession", url="about:blank")["ok"], 2.0, "the grant")
        session = host.open("about:blank")
        waiting = host.post_js(session, "new Promise(() => 0)")
        poll = host.post(
            "browser.events", sessionId=session, after=host.newest(session), methods=["A.b"], waitMs=15_000
        )
        assert host.js(session, "1") == 1
        start = time.monotonic()
        grants(place, "revoke", "app:x", "browser.debug")
        assert error(host.reply(waiting))["code"] == "GRANT_OFF"
        assert error(host.reply(poll))["code"] in ("GRANT_OFF", "SESSION_CLOSED")
        assert seconds(start) < 2.0 + 1.5  # the command itself takes its time to start
        assert host.cdp_error(session, "DOM.enable")["code"] == "APPROVAL_PENDING"  # never set means ask
        assert host.ok("browser.closeSession", sessionId=session) == {}
        grants(place, "set", "app:x", "browser.debug", "off")
        wait_until(
            lambda: error(host.call("browser.openSession", url="about:blank"))["code"] == "GRANT_OFF", 2.0, "the no"
        )
        assert host.finish() == 0
        assert host.errors == b""


def test_a_grant_of_an_app_is_none_of_a_chat_of_the_same_name(place: Path) -> None:
    grants(place, "set", "app:x", "browser.debug", "allow")
    with Stdio(place, kind="chat", ephemeral=False) as host:
        assert host.error("browser.openSession", url="about:blank")["code"] == "APPROVAL_PENDING"
        assert host.finish() == 0
    with Stdio(place, ephemeral=False) as host:
        assert result(host.call("browser.openSession", url="about:blank"))["navigation"] == {"url": "about:blank"}
        assert host.finish() == 0
