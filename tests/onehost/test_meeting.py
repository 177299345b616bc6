"""Where commands and host meet, and who may; a host without Chromium."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capsdk.errors import UnavailableError
from host.core.limits import Limits
from host.daemon import closed_to_others, listen
from host.frontends.owner_door import OWNER, OwnerServer
from host.frontends.wire_connection import WireConnection
from host.joining import Meeting, sole_host, try_connect
from tests.onehost.support import hosts
from tests.support.processes import wait_until
from tests.support.stdio import capsdk, environment


def test_a_folder_that_is_not_the_owners_alone_is_refused(place: Path) -> None:
    for folder in (place / "run", place / "run" / "capsdk"):
        folder.mkdir(mode=0o700)
    folder.chmod(0o755)
    assert_refused(place, place / "run")


def test_a_runtime_folder_with_too_long_a_name_for_a_socket_is_one_clear_line(place: Path) -> None:
    folder = place / ("x" * 90)
    folder.mkdir(mode=0o700)
    assert_refused(place, folder)


def assert_refused(place: Path, runtime_dir: Path) -> None:
    done = capsdk(place, "call", "host.info", env={"XDG_RUNTIME_DIR": str(runtime_dir)})
    assert (done.returncode, done.stdout, b"Traceback" in done.stderr) == (69, b"", False)
    assert b"BROWSER_LAUNCH_FAILED" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_host_package_in_the_working_folder_is_not_started(place: Path) -> None:
    (place / "host").mkdir()
    (place / "host" / "__init__.py").touch()
    (place / "host" / "daemon.py").write_text("open('started', 'w').close()", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "host.main", "call", "host.info"]
    done = subprocess.run(command, cwd=place, env=environment(place), capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not (place / "started").exists()
    wait_until(lambda: not hosts(place), 6.0, "the host's end")


@pytest.fixture
def meeting() -> Iterator[Meeting]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own names may be too long for a socket
        yield Meeting(Path(folder) / "x.sock", Path(folder) / "x.lock", Path(folder) / "x.host")


async def no_job(args: dict[str, Any], tell: object) -> dict[str, Any]:
    return {}


def server() -> OwnerServer:
    """A socket's server of which nobody asks anything."""
    return OwnerServer(None, Limits(), lambda args: OWNER, {"host.run": no_job})  # type: ignore[arg-type]


async def test_who_joins_a_host_in_its_last_moment_is_served_and_others_find_it_too(meeting: Meeting) -> None:
    served = server()
    listening = await listen(meeting, served)
    try:
        link = await try_connect(meeting)
        assert link is not None
        assert not await closed_to_others(served, meeting)
        assert meeting.socket.is_socket()
        assert await link.ask("host.run", {}) == {}
        await link.ended.wait()
        await served.changed.wait()
        assert await closed_to_others(served, meeting)
        assert await try_connect(meeting) is None
    finally:
        listening.close()


async def test_there_is_one_host_a_meeting_and_the_next_one_waits_for_its_end(meeting: Meeting) -> None:
    async with sole_host(meeting) as first:
        assert first
        served = server()
        listening = await listen(meeting, served)
        async with sole_host(meeting) as second:
            assert not second
        async with asyncio.timeout(5):
            await served.changed.wait()  # who looked has left again
        meeting.socket.unlink()
        listening.close()
        waiting = asyncio.ensure_future(anext_host(meeting))
        await asyncio.sleep(0.1)
        assert not waiting.done()
    assert await waiting


async def anext_host(meeting: Meeting) -> bool:
    """Is this the host now?"""
    async with sole_host(meeting) as mine:
        return mine


async def test_a_host_that_neither_answers_nor_ends_is_named(meeting: Meeting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.joining.TURN_S", 0.1)
    async with sole_host(meeting):
        with pytest.raises(UnavailableError) as problem:
            await anext_host(meeting)
    assert problem.value.code == "PROFILE_LOCKED"
    assert problem.value.details["pid"] > 0


class SlowRelease:
    """A dispatcher that takes its time to release what a caller held."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.released = False

    def hear(self, caller: object, ear: object) -> None:
        """Nothing is told here."""

    def stop_hearing(self, caller: object, ear: object) -> None:
        """Nor forgotten."""

    async def caller_ended(self, caller: object) -> None:
        await self.may_end.wait()
        self.released = True


async def test_what_a_caller_held_is_released_even_when_nobody_waits_for_that_any_more() -> None:
    dispatcher = SlowRelease()
    connection = WireConnection(dispatcher, OWNER, lambda line: None, Limits())  # type: ignore[arg-type]
    ending = asyncio.ensure_future(connection.end())
    await asyncio.sleep(0)
    ending.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await ending
    assert not dispatcher.released
    dispatcher.may_end.set()
    await connection.end()
    assert dispatcher.released
