"""Starting and ending Chromium: the binary, its flags, its uid, and a keeper that ends it with the host."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsdk.errors import CapError, UnavailableError
from host.browser.profile import Profile
from host.cdp.connection import CdpFailure, ConnectionGone
from host.cdp.pipe import PipeTransport

KEEPER = Path(__file__).with_name("keeper.py")
STDERR_LINES = 40
# The real binaries: Debian's /usr/bin/chromium is a wrapper that adds extension flags.
BINARIES = (
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/chromium.org/chromium/chromium",
)
# facts/cdp.md 4: flag by flag what was measured there.
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--site-per-process",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-extensions",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-breakpad",
    "--no-pings",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--enable-features=StrictOriginIsolation",  # origins of one site are kept apart, too: host/browser/fence.py
    "--disable-features="
    + ",".join(
        (
            "DialMediaRouteProvider",
            "MediaRouter",
            "OptimizationHints",
            "Translate",
            # Each window would load the address bar's list as two pages of a process of its own: observed with Chromium
            # 156, they take two thirds of the CPU time of a start with one tab, and 70 MB.
            "WebUIOmniboxAimPopup",
            "WebUIOmniboxPopup",
        )
    ),
)
# facts/cdp.md 3: all goes to the host's own proxy, what is for this machine too, and no name is resolved elsewhere.
PROXY_FLAGS = (
    "--proxy-server=http://127.0.0.1:{port}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
EMPTY_PATH = "/nonexistent"  # an external protocol must find no program to start
PROFILE_IN_USE = 21  # Chromium's exit status for it


@dataclass(frozen=True, slots=True)
class ChromiumConfig:
    """Which Chromium and as whom. `uid` None keeps the host's own."""

    binary: str | None = None
    uid: int | None = None
    sandbox: bool = True
    launch_timeout_s: float = 20.0
    result_bytes: int = 1024 * 1024


def find_binary(configured: str | None) -> str:
    """The Chromium to start. Raises UnavailableError BROWSER_UNAVAILABLE."""
    for candidate in (configured,) if configured else BINARIES:
        if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
            return candidate
    wanted = configured or "Chromium"
    raise UnavailableError(
        "BROWSER_UNAVAILABLE",
        f"{wanted} is not there to start; install it with: apt-get install -y chromium",
        hint="Another binary can be named with CAPSDK_BROWSER.",
    )


def common_flags(profile: Path, *, sandbox: bool, proxy_port: int) -> list[str]:
    """What every Chromium is started with, hidden or in a window: there is none that goes past the proxy."""
    proxy = [flag.format(port=proxy_port) for flag in PROXY_FLAGS]
    return [*proxy, *([] if sandbox else ["--no-sandbox"]), f"--user-data-dir={profile}"]


def arguments(binary: str, profile: Path, *, sandbox: bool, proxy_port: int) -> list[str]:
    """Chromium's command line. All that it asks for goes to the proxy on this port of 127.0.0.1."""
    return [binary, *FLAGS, *common_flags(profile, sandbox=sandbox, proxy_port=proxy_port)]


def environment(profile: Path, ours: Mapping[str, str]) -> dict[str, str]:
    """Chromium's environment: its own home, an empty PATH, and the owner's language and time zone."""
    kept = {name: ours[name] for name in ("LANG", "LC_ALL", "LANGUAGE", "TZ") if name in ours}
    return {**kept, "HOME": str(profile), "PATH": EMPTY_PATH}


class Chromium:
    """One running Chromium and the connection to it."""

    def __init__(self, keeper: subprocess.Popen[bytes], pipe: PipeTransport, death_fd: int, errors: Tail) -> None:
        self.connection = pipe.connection
        self.version: dict[str, Any] = {}
        self._keeper = keeper
        self._pipe = pipe
        self.death_fd = death_fd
        self._errors = errors

    @property
    def stderr_tail(self) -> str:
        """The last lines that Chromium wrote."""
        return self._errors.text()

    async def ready(self, timeout_s: float) -> None:
        """Wait for the first answer. Raises UnavailableError BROWSER_LAUNCH_FAILED or PROFILE_LOCKED."""
        try:
            self.version = await self.connection.call("Browser.getVersion", timeout_s=timeout_s)
        except (ConnectionGone, CdpFailure):
            status = await self._ended(2.0)
            await asyncio.sleep(0.05)  # its last words may still be in the pipe
            raise launch_failure(status, self.stderr_tail) from None
        except TimeoutError:
            raise launch_failure(None, self.stderr_tail, waited_s=timeout_s) from None

    async def close(self, *, grace_s: float) -> None:
        """Ask Chromium to end, then make it; afterwards none of its processes is left. Closing twice is fine."""
        if grace_s > 0 and not self.connection.closed:
            with contextlib.suppress(CdpFailure, ConnectionGone, TimeoutError):
                await self.connection.call("Browser.close", timeout_s=grace_s)
            await self._ended(grace_s)
        self._pipe.close()
        if self.death_fd >= 0:
            with contextlib.suppress(OSError):
                os.write(self.death_fd, b"-")  # else the keeper takes a temporary profile away, which is still needed
            os.close(self.death_fd)
            self.death_fd = -1
        await self._ended(3.0)
        self._errors.close()

    async def _ended(self, timeout_s: float) -> int | None:
        deadline = asyncio.get_running_loop().time() + timeout_s
        while (status := self._keeper.poll()) is None and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - a child's end is no event
            await asyncio.sleep(0.01)
        return status


def launch_failure(status: int | None, stderr: str, *, waited_s: float = 0.0) -> CapError:
    """Why Chromium did not start, with its last words and what mends it."""
    if status == PROFILE_IN_USE:
        return UnavailableError(
            "PROFILE_LOCKED",
            "Chromium says that its profile is in use; end the other one, or use --ephemeral",
            stderr=stderr,
        )
    what = f"did not answer within {waited_s:g} s" if status is None else f"ended with status {status}"
    hint = "Run `capsdk doctor` to see what is missing."
    if "No usable sandbox" in stderr or "Failed to move to new namespace" in stderr:
        hint = (
            "Chromium's own sandbox cannot start here (as in some containers). Allow unprivileged user namespaces, "
            "or, knowing the risk, set CAPSDK_BROWSER_SANDBOX=off."
        )
    return UnavailableError(
        "BROWSER_LAUNCH_FAILED", f"Chromium {what}; see details.stderr", hint=hint, status=status, stderr=stderr
    )


def begin(profile: Profile, death_fd: int) -> None:
    """Make the profile ready and have the keeper start Chromium on it. Raises BROWSER_LAUNCH_FAILED.

    In this order: the keeper is there first, so that a host that dies in between leaves no temporary profile.
    """
    try:
        profile.prepare()
        os.write(death_fd, b"+")
    except OSError as problem:
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED",
            f"the profile {profile.path} cannot be written: {problem.strerror}; free or mend it, or use --ephemeral",
        ) from None


async def launch(config: ChromiumConfig, profile: Profile, proxy_port: int) -> Chromium:
    """Start Chromium on a profile, behind the proxy on this port, and wait until it answers.

    Raises UnavailableError BROWSER_UNAVAILABLE, BROWSER_LAUNCH_FAILED or PROFILE_LOCKED; nothing is left running then.
    """
    chromium = await _spawn(find_binary(config.binary), config, profile, proxy_port)
    try:
        begin(profile, chromium.death_fd)
        await chromium.ready(config.launch_timeout_s)
    except BaseException:
        await asyncio.shield(chromium.close(grace_s=0.0))
        raise
    return chromium


async def _spawn(binary: str, config: ChromiumConfig, profile: Profile, proxy_port: int) -> Chromium:
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    death_read, death_write = os.pipe()
    error_read, error_write = os.pipe()
    settings = {
        "argv": arguments(binary, profile.path, sandbox=config.sandbox, proxy_port=proxy_port),
        "env": environment(profile.path, os.environ),
        "uid": config.uid,
        "profile": str(profile.path),
        "remove": profile.temporary,
    }
    keep = [profile.lock_fd] if profile.lock_fd is not None else []
    try:
        keeper = start_keeper(settings, (theirs_in, theirs_out, death_read), error_write, keep)
    except OSError as problem:
        for fd in (ours_in, ours_out, death_write, error_read):
            os.close(fd)
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED", f"no process can be started: {problem.strerror}; free some"
        ) from None
    finally:
        for fd in (theirs_in, theirs_out, death_read, error_write):
            os.close(fd)
    errors = Tail(error_read)
    try:
        pipe = await PipeTransport.open(ours_in, ours_out, limit_bytes=config.result_bytes)
    except BaseException:  # the host is closed meanwhile; the keeper ends with its death pipe
        for fd in (ours_in, death_write):
            os.close(fd)
        errors.close()
        raise
    return Chromium(keeper, pipe, death_write, errors)


def start_keeper(
    settings: dict[str, Any], ends: tuple[int, int, int], stderr: int, keep: list[int]
) -> subprocess.Popen[bytes]:
    """Start the parent of a Chromium; `ends` become its descriptors 3, 4 and 5. Raises OSError."""
    # Popen passes descriptors under their own numbers, so they are first put where nothing of ours is, then moved by
    # a line of shell-free Python in the keeper's own start: here they go to 3, 4 and 5 by way of high numbers.
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 200 + index) for index, fd in enumerate(ends)]
    code = (
        "import os,sys,runpy;"
        f"[os.dup2(fd, 3 + i) for i, fd in enumerate({high!r})];"
        f"[os.close(fd) for fd in {high!r}];"
        "sys.argv = sys.argv[1:];"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", code, str(KEEPER), json.dumps(settings)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=(*high, *keep),
            start_new_session=True,
            env={},
            cwd="/",
        )
    finally:
        for fd in high:
            os.close(fd)


class Tail:
    """The last lines of a pipe, read as they come."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lines: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._open_line = b""
        os.set_blocking(fd, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._fd)
            return
        *lines, rest = (self._open_line + data).split(b"\n")
        self._lines.extend(line[:500] for line in lines)
        self._open_line = rest[-500:]

    def text(self) -> str:
        """What was kept, as text."""
        return b"\n".join([*self._lines, self._open_line]).decode(errors="replace").strip()

    def close(self) -> None:
        """Stop reading; closing twice is fine."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
