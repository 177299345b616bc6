"""One host a profile: find the one that runs, or start it, and connect to its owner's socket."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import select
import subprocess
import sys
import time
import warnings
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from capsdk.errors import UnavailableError, from_wire
from host.app import Places
from host.frontends.owner_client import Link, host_gone

START_TIMEOUT_S = 15.0
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where the commands of one profile and store meet."""

    socket: Path
    lock: Path


def meeting_of(places: Places) -> Meeting:
    """The socket for these places. Raises UnavailableError BROWSER_LAUNCH_FAILED when its folder is not only ours."""
    with warnings.catch_warnings(action="ignore"):  # it warns where no XDG_RUNTIME_DIR is set; a folder of ours will do
        folder = platformdirs.user_runtime_path("capsdk")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat(follow_symlinks=False)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED", f"{folder} is open to others; make it yours alone (chmod 700), or remove it"
        )
    key = hashlib.sha256(f"{places.profile}\0{places.state}".encode()).hexdigest()[:16]
    return Meeting(folder / f"{key}.sock", folder / f"{key}.lock")


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
    for _ in range(ATTEMPTS):  # a host that is just ending may take one connection with it
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
    """A connection to a running host, None when there is none."""
    loop = asyncio.get_running_loop()
    try:
        _, link = await loop.create_unix_connection(Link, str(meeting.socket))
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    return link


@contextlib.asynccontextmanager
async def _locked(path: Path) -> AsyncIterator[None]:
    """Only one command at a time starts a host."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + START_TIMEOUT_S
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as problem:
                if problem.errno != errno.EAGAIN or time.monotonic() > deadline:
                    raise UnavailableError(
                        "BROWSER_LAUNCH_FAILED", "another command is starting the host for too long; try again"
                    ) from None
            await asyncio.sleep(0.02)
        yield
    finally:
        os.close(fd)


async def _start_host() -> None:
    """Start a host in a process of its own, which ends with its last client, and wait until it listens."""
    told, tells = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - it only forks, and the answer is awaited
            [sys.executable, "-m", "host.daemon", str(tells)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(tells,),
            start_new_session=True,
        )
    finally:
        os.close(tells)
    try:
        answer = await asyncio.get_running_loop().run_in_executor(None, _read_all, told)
    finally:
        os.close(told)
    if answer == b"ready":
        return
    process.poll()
    try:
        raise from_wire(json.loads(answer))
    except ValueError:
        raise UnavailableError("BROWSER_LAUNCH_FAILED", "the host did not start; see its log, or try again") from None


def _read_all(fd: int) -> bytes:
    """What the starting host says; it closes its end within its own deadline, or dies."""
    answer = b""
    deadline = time.monotonic() + START_TIMEOUT_S
    while select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
        piece = os.read(fd, 65536)
        if not piece:
            break
        answer += piece
    return answer
