"""When a host begins, whom it waits for, how it ends, and what comes after one that died."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.onehost.support import HOLDS, Command, app, call, hosts, the_socket
from tests.support.processes import started_for, wait_until
from tests.support.stdio import GRANT, Stdio, capsdk

pytestmark = pytest.mark.chromium


def test_the_owners_sessions_last_from_call_to_call_and_the_host_until_they_expire(place: Path) -> None:
    env = {"CAPSDK_LIMIT_IDLE_EXPIRY_S": "6"}
    with call(place, "browser.openSession", env, url="about:blank") as opening:
        session = opening.result()["sessionId"]
    (host,) = hosts(place)
    with call(place, "browser.cdp", env, sessionId=session, method="DOM.enable") as using:
        assert using.result() == {"result": {}}
    assert hosts(place) == [host]
    wait_until(lambda: not hosts(place), 15.0, "the host's end after its last session")


def test_commands_that_come_while_a_host_ends_all_succeed(place: Path) -> None:
    for _ in range(2):
        commands = [call(place, "host.info") for _ in range(2)]
        for command in commands:
            with command:
                assert command.result()["protocol"]
        assert len(hosts(place)) <= 1


def test_a_killed_host_ends_its_clients_with_a_reason_and_the_next_command_starts_another(place: Path) -> None:
    with (
        Command(place, "run", app(place, "holds", HOLDS), *GRANT) as run,
        Stdio(place, *GRANT, ephemeral=False) as stdio,
    ):
        run.held()
        stdio.ok("run.progress", done=1)
        (host,) = hosts(place)
        left = the_socket(place)
        os.kill(host, signal.SIGKILL)
        status, _, errors = run.end(5.0)
        assert (status, b"BROWSER_GONE" in errors, b"Traceback" in errors) == (69, True, False)
        assert stdio.wait(5.0) == 69
        assert b"BROWSER_GONE" in stdio.errors
        assert b"Traceback" not in stdio.errors
        wait_until(lambda: not started_for(place), 2.0, "Chromium was left behind")
        assert stat.S_ISSOCK(left.lstat().st_mode)  # nobody was there to take it away
    with Stdio(place, *GRANT, ephemeral=False) as stdio:
        assert stdio.js(stdio.open("about:blank"), "6 * 7") == 42
        assert stdio.finish() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_serve_says_where_refuses_a_second_one_and_ends_when_told(place: Path, number: signal.Signals) -> None:
    with Command(place, "serve") as serving:
        said = serving.line()
        assert str(the_socket(place)) in said
        second = capsdk(place, "serve")
        assert second.returncode == 69
        assert b"PROFILE_LOCKED" in second.stderr
        assert f"pid {serving.pid}".encode() in second.stderr
        with Stdio(place, *GRANT, ephemeral=False) as stdio:
            stdio.open("about:blank")
            assert hosts(place) == []
            os.kill(serving.pid, number)
            assert stdio.wait(8.0) == 69
            assert stdio.errors.count(b"\n") == 1
        status, out, errors = serving.end()
        assert (status, out, b"Traceback" in errors) == (0, b"", False)
        assert list((place / "run" / "capsdk").glob("*.sock")) == []


def test_the_socket_is_the_owners_alone_and_closed_at_once_for_another_uid(place: Path) -> None:
    with Stdio(place, ephemeral=False) as stdio:
        stdio.ok("run.progress", done=1)
        path = the_socket(place)
        assert [stat.S_IMODE(one.lstat().st_mode) for one in (path, path.parent)] == [0o600, 0o700]
        if os.geteuid() == 0:
            for one in (path.parent, path.parent.parent):
                one.chmod(0o711)
            path.chmod(0o666)  # whatever its mode was: the peer is asked for
            assert said_to_another_uid(path) == b"b''"
            path.parent.chmod(0o700)
        with socket.socket(socket.AF_UNIX) as own:
            own.connect(str(path))
            own.sendall(b'{"id": 1, "method": "host.info"}\n')
            assert b'"ok":true' in own.recv(65536)
        assert stdio.finish() == 0


def said_to_another_uid(path: Path) -> bytes:
    """What the host sends to somebody else who asks."""
    code = (
        "import os, socket, sys; os.setgroups([]); os.setresgid(*[65534] * 3); os.setresuid(*[65534] * 3)\n"
        "s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1])\n"
        'try: s.sendall(b\'{"id": 1, "method": "host.info"}\\n\'); print(s.recv(100), end=\'\')\n'
        "except (BrokenPipeError, ConnectionResetError): print(b'', end='')"
    )
    words = [sys.executable, "-I", "-S", "-c", code, str(path)]
    return subprocess.run(words, capture_output=True, timeout=20, check=True).stdout
