"""A visible Chromium on the owner's profile, for signing in: nobody debugs it, and it ends with the host."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsdk.errors import CapError, UnavailableError
from host.browser.process import (
    FLAGS,
    ChromiumConfig,
    Tail,
    begin,
    common_flags,
    environment,
    find_binary,
    launch_failure,
    start_keeper,
)
from host.browser.profile import Profile

LOOK_S = 0.05
GENTLE_S = 5.0  # to end by itself, its cookies written down; it takes about 0.5 s
END_S = GENTLE_S + 3.0
START_S = 10.0  # what ends in this time with an error has shown no window to anybody
HIDDEN_FLAGS = frozenset(("--headless=new", "--remote-debugging-pipe", "--no-startup-window", "--mute-audio"))
ASKED_TO_END = frozenset((0, 128 + 1, 128 + 2, 128 + 15))  # closed, or told to by SIGHUP, SIGINT or SIGTERM


@dataclass(frozen=True, slots=True)
class Display:
    """Where a window is shown, as environment variables say it. X11 is taken when there are both."""

    x11: str = ""
    wayland: str = ""
    xauthority: str = ""
    runtime_dir: str = ""


def display_of(environment: Mapping[str, str]) -> Display:
    """The display of an environment. Raises UnavailableError BROWSER_UNAVAILABLE when it has none.

    X clients look for their authority in `~/.Xauthority` when XAUTHORITY is not set (Xsecurity(7)).
    """
    found = Display(
        environment.get("DISPLAY", ""),
        environment.get("WAYLAND_DISPLAY", ""),
        environment.get("XAUTHORITY") or f"{environment.get('HOME', '')}/.Xauthority",
        environment.get("XDG_RUNTIME_DIR", ""),
    )
    if not found.x11 and not found.wayland:
        raise UnavailableError(
            "BROWSER_UNAVAILABLE",
            "there is no display for a window; run this on a desktop, or over `ssh -X`, so that DISPLAY is set",
            reason="display",
        )
    return found


def window_arguments(
    binary: str, profile: Path, url: str, display: Display, *, sandbox: bool, proxy_port: int
) -> list[str]:
    """Chromium's command line: the flags of the hidden one, without the debugger's pipe."""
    flags = [flag for flag in FLAGS if flag not in HIDDEN_FLAGS]
    flags += ["--hide-crash-restore-bubble", f"--ozone-platform={'x11' if display.x11 else 'wayland'}"]
    return [binary, *flags, *common_flags(profile, sandbox=sandbox, proxy_port=proxy_port), url]


def window_environment(profile: Path, ours: Mapping[str, str], display: Display, authority: str) -> dict[str, str]:
    """Chromium's environment: as for the hidden one, and the display."""
    if display.x11:
        shown = {"DISPLAY": display.x11, "XAUTHORITY": authority}
    else:
        shown = {"WAYLAND_DISPLAY": display.wayland, "XDG_RUNTIME_DIR": display.runtime_dir}
    return {**environment(profile, ours), **{name: value for name, value in shown.items() if value}}


class Window:
    """One running window. `wait` for its end; leaving `open_window` ends it."""

    def __init__(self, keeper: Any, death_fd: int, errors: Tail, uid: int | None) -> None:
        self._keeper = keeper
        self._death_fd = death_fd
        self._errors = errors
        self._uid = uid
        self._started = time.monotonic()

    async def wait(self) -> None:
        """Return when the owner has closed it. Raises BROWSER_LAUNCH_FAILED, PROFILE_LOCKED or BROWSER_GONE."""
        while (status := self._keeper.poll()) is None:  # noqa: ASYNC110 - a child's end is no event
            await asyncio.sleep(LOOK_S)
        await asyncio.sleep(LOOK_S)  # its last words may still be in the pipe
        if status not in ASKED_TO_END:
            raise window_failure(status, self._errors.text(), time.monotonic() - self._started, self._uid)

    async def close(self) -> None:
        """End it, gently first. Closing twice is fine."""
        if self._death_fd < 0:
            return
        with contextlib.suppress(OSError):
            os.write(self._death_fd, b"-")  # we are not dying: there is time
        os.close(self._death_fd)
        self._death_fd = -1
        deadline = time.monotonic() + END_S
        while self._keeper.poll() is None and time.monotonic() < deadline:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        self._errors.close()


@contextlib.asynccontextmanager
async def open_window(
    config: ChromiumConfig, profile: Profile, url: str, display: Display, proxy_port: int
) -> AsyncIterator[Window]:
    """A window on a profile that no other Chromium has, for the time of a `with`; all it asks for goes to the proxy.

    Raises UnavailableError BROWSER_UNAVAILABLE or BROWSER_LAUNCH_FAILED.
    """
    if config.uid is not None and not display.x11:
        raise UnavailableError(
            "BROWSER_UNAVAILABLE",
            f"a Wayland display cannot be lent to the browser's own user (uid {config.uid}); run capsdk as yourself "
            "instead of root, or set DISPLAY to an X display",
            reason="display",
        )
    authority = copied_authority(display, config.uid)
    try:
        window = _start(config, profile, url, display, authority, proxy_port)
        try:
            yield window
        finally:
            # As long as it is there nobody else can have the profile, whoever is in a hurry; `END_S` bounds it.
            closing = asyncio.ensure_future(window.close())
            while not closing.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(closing)
    finally:
        forget(authority)


def _start(
    config: ChromiumConfig, profile: Profile, url: str, display: Display, authority: str, proxy_port: int
) -> Window:
    binary = find_binary(config.binary)
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    death_read, death_write = os.pipe()
    error_read, error_write = os.pipe()
    settings = {
        "argv": window_arguments(binary, profile.path, url, display, sandbox=config.sandbox, proxy_port=proxy_port),
        "env": window_environment(profile.path, os.environ, display, authority or display.xauthority),
        "uid": config.uid,
        "profile": str(profile.path),
        "remove": False,
        "gentle_s": GENTLE_S,
        "files": [authority] if authority else [],
    }
    keep = [profile.lock_fd] if profile.lock_fd is not None else []
    try:
        keeper = start_keeper(settings, (nothing, nothing, death_read), error_write, keep)
    except OSError as problem:
        os.close(death_write)
        os.close(error_read)
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED", f"no process can be started: {problem.strerror}; free some"
        ) from None
    finally:
        for fd in (nothing, death_read, error_write):
            os.close(fd)
    try:
        begin(profile, death_write)
    except CapError:
        os.close(death_write)
        os.close(error_read)
        raise
    return Window(keeper, death_write, Tail(error_read), config.uid)


def copied_authority(display: Display, uid: int | None) -> str:
    """A copy of the key to the X display that the browser's own user can read; "" when none is needed or there."""
    if uid is None:
        return ""
    try:
        key = Path(display.xauthority).read_bytes()
    except OSError:
        return ""  # the display may be open to local users without one
    fd, path = tempfile.mkstemp(prefix="capsdk-xauthority-")
    with open(fd, "wb") as file:
        os.fchown(fd, uid, uid)
        file.write(key)
    return path


def forget(copy: str) -> None:
    """Take a copied key away; the keeper may have done so."""
    if copy:
        Path(copy).unlink(missing_ok=True)


def window_failure(status: int, stderr: str, ran_s: float, uid: int | None) -> CapError:
    """Why the window ended without anybody closing it, and what mends it."""
    if ran_s > START_S:
        return UnavailableError(
            "BROWSER_GONE",
            f"the window ended with status {status}; look whether you are signed in, and repeat the command if not",
            status=status,
            stderr=stderr,
        )
    failure = launch_failure(status, stderr)
    if any(words in stderr for words in ("Missing X server", "platform failed to initialize", "uthorization required")):
        name = "" if uid is None else f" The browser runs as uid {uid}: let it in with xhost +si:localuser:#{uid}"
        failure.hint = f"The display cannot be used: is it there, and is it yours?{name}"
    return failure
