"""One host a profile: find the one that runs, or start it, and connect to its owner's socket."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from capsdk.errors import UnavailableError, from_wire
from host.app import Places
from host.frontends.owner_client import Link, host_gone

START_TIMEOUT_S = 15.0
TURN_S = 10.0  # a host that ends has given its place up by then; below START_TIMEOUT_S, so that the reason arrives
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where the commands of one profile and store meet.

    `lock` is held by the one command that starts a host, `host_lock` by the host for as long as it lives.
    """

    socket: Path
    lock: Path
    host_lock: Path


def meeting_of(places: Places) -> Meeting:
    """The socket for these places. Raises UnavailableError BROWSER_LAUNCH_FAILED when its folder is not only ours."""
    folder = runtime_folder()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.stat(follow_symlinks=False)
    except OSError as problem:
        raise no_meeting(folder, f"cannot be made: {problem.strerror}") from None
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED", f"{folder} is open to others; make it yours alone (chmod 700), or remove it"
        )
    key = hashlib.sha256(f"{places.profile}\0{places.state}".encode()).hexdigest()[:16]
    if len(os.fsencode(folder / f"{key}.sock")) > 107:  # unix(7)
        raise no_meeting(folder, "has too long a name for a socket")
    return Meeting(folder / f"{key}.sock", folder / f"{key}.lock", folder / f"{key}.host")


def runtime_folder() -> Path:
    """XDG_RUNTIME_DIR where there is one, else a folder of one's own in /tmp: not TMPDIR, which terminals differ in.

    Not platformdirs' choice, which changes as soon as a folder is made that was missing.
    """
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    if named and os.path.isdir(named):
        return Path(named, "capsdk")
    return Path("/tmp", f"capsdk-{os.geteuid()}")


def no_meeting(folder: Path, why: str) -> UnavailableError:
    """There is no place for the owner's socket."""
    return UnavailableError(
        "BROWSER_LAUNCH_FAILED",
        f"the folder of the owner's socket, {folder}, {why}; set XDG_RUNTIME_DIR to one of yours",
    )


@contextlib.asynccontextmanager
async def joined(places: Places) -> AsyncIterator[Link]:
    """A connection to the host of these places, which is started when there is none; closed afterwards.

    Raises UnavailableError with the host's own reason when it does not start.
    """
    meeting = meeting_of(places)
    link = await _connect(meeting)
    try:
        yield link
    finally:
        link.close()


async def _connect(meeting: Meeting) -> Link:
    for _ in range(ATTEMPTS):  # the host that was started may have been ended since
        link = await try_connect(meeting)
        if link is not None:
            return link
        async with _locked(meeting.lock):
            link = await try_connect(meeting)
            if link is not None:
                return link
            await _start_host()
    raise host_gone()


async def try_connect(meeting: Meeting) -> Link | None:
    """A connection to a running host, None when there is none. Raises UnavailableError when it is not ours."""
    loop = asyncio.get_running_loop()
    try:
        _, link = await loop.create_unix_connection(Link, str(meeting.socket))
    except (FileNotFoundError, ConnectionError):
        return None
    except OSError as problem:
        raise no_meeting(meeting.socket.parent, f"cannot be used: {problem.strerror}") from None
    if link.peer_uid != os.geteuid():
        link.close()
        raise no_meeting(meeting.socket.parent, "holds the socket of somebody else")
    return link


@contextlib.asynccontextmanager
async def _locked(path: Path) -> AsyncIterator[None]:
    """Only one command at a time starts a host."""
    fd = _open_lock(path)
    deadline = time.monotonic() + START_TIMEOUT_S
    try:
        while not _try_lock(fd):
            if time.monotonic() > deadline:
                raise UnavailableError(
                    "BROWSER_LAUNCH_FAILED", "another command is starting the host for too long; try again"
                )
            await asyncio.sleep(0.02)
        yield
    finally:
        os.close(fd)


@contextlib.asynccontextmanager
async def sole_host(meeting: Meeting) -> AsyncIterator[bool]:
    """Be the one host of a meeting for the time of a `with`: True, or False when another one answers there.

    One that is just ending is waited for. Raises UnavailableError PROFILE_LOCKED after `TURN_S`.
    """
    fd = _open_lock(meeting.host_lock)
    deadline = time.monotonic() + TURN_S
    try:
        mine = _try_lock(fd)
        while not mine:
            link = await try_connect(meeting)
            if link is not None:
                link.close()
                break
            if time.monotonic() > deadline:
                raise another_host(meeting, "is starting or ending for too long; end it, or try again")
            await asyncio.sleep(0.05)
            mine = _try_lock(fd)
        if mine:
            os.ftruncate(fd, 0)
            os.pwrite(fd, str(os.getpid()).encode(), 0)
        yield mine
    finally:
        os.close(fd)


def another_host(meeting: Meeting, what: str) -> UnavailableError:
    """The place is taken; the host that has it is named."""
    try:
        pid = int(meeting.host_lock.read_text(encoding="ascii"))
    except (OSError, ValueError):
        pid = None
    return UnavailableError("PROFILE_LOCKED", f"another host of this profile (pid {pid or 'unknown'}) {what}", pid=pid)


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise no_meeting(path.parent, f"cannot be written: {problem.strerror}") from None


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EAGAIN, errno.EINTR):
            raise UnavailableError(
                "BROWSER_LAUNCH_FAILED",
                f"no lock can be had: {problem.strerror}; set XDG_RUNTIME_DIR to a local folder",
            ) from None
        return False
    return True


async def _start_host() -> None:
    """Start a host in a process of its own, which ends with its last client, and wait until it listens."""
    told, tells = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - it only forks, and the answer is awaited
            # -P: the working folder may be an app's, and a `host` package of its own is not ours
            [sys.executable, "-P", "-m", "host.daemon", str(tells)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(tells,),
            start_new_session=True,
        )
    except OSError as problem:
        os.close(told)
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED", f"no process can be started: {problem.strerror}; free some"
        ) from None
    finally:
        os.close(tells)
    answer = await _read_all(told)
    if answer == b"ready":
        return
    process.poll()
    try:
        raise from_wire(json.loads(answer))
    except ValueError:
        raise UnavailableError("BROWSER_LAUNCH_FAILED", "the host did not start; see its log, or try again") from None


async def _read_all(fd: int) -> bytes:
    """What the starting host says, until it closes its end; nothing when that takes too long."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0))
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            return await reader.read()
    except TimeoutError:
        return b""
    finally:
        transport.close()
