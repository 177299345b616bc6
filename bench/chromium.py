"""A Chromium for the direct clients: started as the host starts its own, by the same keeper, flags and uid."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from host.app import browser_uid, load_settings
from host.browser.process import FLAGS, KEEPER, begin, environment, find_binary
from host.browser.profile import temporary_profile

START_S = 15.0
END_S = 5.0
FIRST_FD = 200  # clear of 3, 4 and 5, where the keeper wants its ends
MOVE_ENDS = (
    "import os, runpy, sys\n"
    "for place in range(3): os.dup2({first} + place, 3 + place); os.close({first} + place)\n"
    "sys.argv = sys.argv[1:]\n"
    "runpy.run_path(sys.argv[0], run_name='__main__')\n"
)


@dataclass(frozen=True, slots=True)
class Peer:
    """A running Chromium: our ends of its CDP pipe, its WebSocket address when a port was asked for, its parent."""

    read_fd: int
    write_fd: int
    address: str
    keeper: int


@contextlib.contextmanager
def chromium(*, port: bool, flags: Sequence[str] = ()) -> Iterator[Peer]:
    """Start one on a profile of its own, end it and remove the profile afterwards. The pipe's ends are the caller's.

    `flags` are added to the host's own.

    Raises UnavailableError BROWSER_UNAVAILABLE when there is none, TimeoutError when its port does not open.
    """
    settings = load_settings()
    profile = temporary_profile(browser_uid())
    # The host's own flags, less the proxy: a direct client's Chromium asks the network itself.
    argv = [find_binary(settings.browser), *FLAGS, *flags, f"--user-data-dir={profile.path}"]
    argv += [] if settings.browser_sandbox else ["--no-sandbox"]
    config = {
        "argv": [*argv, *(["--remote-debugging-port=0"] if port else [])],
        "env": environment(profile.path, os.environ),
        "uid": profile.uid,
        "profile": str(profile.path),
        "remove": True,
    }
    try:
        theirs_in, write_fd = os.pipe()
        read_fd, theirs_out = os.pipe()
        death_read, death_fd = os.pipe()
        keeper = _start(config, (theirs_in, theirs_out, death_read))
        try:
            begin(profile, death_fd)
            yield Peer(read_fd, write_fd, _address(profile.path) if port else "", keeper.pid)
        finally:
            os.close(death_fd)  # the keeper ends Chromium's whole group and removes the profile
            keeper.wait(END_S)
    finally:
        profile.release()


def _start(config: Mapping[str, object], ends: tuple[int, int, int]) -> subprocess.Popen[bytes]:
    high = []
    for place, fd in enumerate(ends):
        high.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FD + place))
        os.close(fd)
    code = MOVE_ENDS.format(first=FIRST_FD)
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", code, str(KEEPER), json.dumps(dict(config))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=high,
            start_new_session=True,
            env={},
            cwd="/",
        )
    finally:
        for fd in high:
            os.close(fd)


def _address(profile: Path) -> str:
    """Chromium writes the port and the path of its WebSocket into its profile, in two lines."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            port, path = (profile / "DevToolsActivePort").read_text(encoding="utf-8").split("\n")[:2]
            return f"ws://127.0.0.1:{int(port)}{path}"
        time.sleep(0.01)
    raise TimeoutError(f"Chromium did not open its port within {START_S:g} s; look at `capsdk doctor`")
