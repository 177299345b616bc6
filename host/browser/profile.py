"""The folder Chromium keeps its state in: one host at a time, its preferences set, stale locks taken away."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import os
import secrets
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capsdk.errors import UnavailableError

LOCK_NAME = "capsdk.lock"
SINGLETONS = ("SingletonLock", "SingletonSocket", "SingletonCookie")
DOWNLOADS = "Downloads"  # in its HOME, as Chromium has it by default
DRAFT = ".org.chromium."
TAKEOVER_S = 3.0  # a dead host's Chromium is gone within 2 s

# What a page may not have of this machine, by Chromium's names of its content settings (components/content_settings).
# Headless Chromium shows nobody the question: some of these it would leave unanswered for ever.
BLOCKED = (
    "bluetooth_guard",
    "bluetooth_scanning",
    "camera_pan_tilt_zoom",
    "captured_surface_control",
    "clipboard",  # only reading it unasked; a page's "copy" button works
    "durable_storage",
    "file_system_read_guard",  # a site keeps handles to the files that the owner once picked for it
    "file_system_write_guard",
    "geolocation",
    "hid_guard",
    "idle_detection",
    "local_fonts",
    "media_stream_camera",
    "media_stream_mic",
    "midi_sysex",
    "nfc_devices",
    "notifications",
    "payment_handler",
    "sensors",
    "serial_guard",
    "usb_guard",
    "window_placement",
)
BLOCK = 2  # CONTENT_SETTING_BLOCK
# No scheme of HTTP authentication: nobody sees the question for a password, and a page would wait for ever. Such a
# password lives as long as one Chromium, so that the owner's window has no use for it either.
LOCAL_STATE: dict[str, Any] = {"auth": {"schemes": ""}}
NO_SITES: list[str] = []
# facts: PDFs open in a privileged extension page, and WebRTC goes around a proxy, unless these are set before the
# start; getDisplayMedia waits for an invisible picker. An empty object or list takes away what a profile has there.
PREFERENCES: dict[str, Any] = {
    "custom_handlers": {"enabled": False},
    "hardware": {
        "audio_capture_allowed_urls": NO_SITES,
        "same_origin_tab_capture_allowed_by_origins": NO_SITES,
        "screen_capture_allowed_by_origins": NO_SITES,
        "screen_capture_enabled": False,
        "tab_capture_allowed_by_origins": NO_SITES,
        "video_capture_allowed_urls": NO_SITES,
        "window_capture_allowed_by_origins": NO_SITES,
    },
    # 2 is "never": a page that was fetched ahead is shown without a request that could still be judged.
    "net": {"network_prediction_options": 2},
    "plugins": {"always_open_pdf_externally": True},
    "profile": {
        "content_settings": {"exceptions": {name: {} for name in BLOCKED}},
        "default_content_setting_values": dict.fromkeys(BLOCKED, BLOCK),
    },
    "webrtc": {
        "ip_handling_policy": "disable_non_proxied_udp",
        "ip_handling_url": NO_SITES,
        "local_ips_allowed_urls": NO_SITES,
    },
}


class Profile:
    """A profile folder held by this process until `release`. `lock_fd` is None for a temporary one."""

    def __init__(self, path: Path, uid: int | None, lock_fd: int | None) -> None:
        self.path = path
        self.uid = uid
        self.lock_fd = lock_fd

    @property
    def temporary(self) -> bool:
        """Is the folder thrown away with the host?"""
        return self.lock_fd is None

    def prepare(self) -> None:
        """Set the preferences and take away locks of a dead Chromium, before each start.

        The folder was a browser's, which may have been taken over: no link in it is followed, as the host may be root.
        A temporary one is made here, when whoever removes it after a host that died is there already. Raises OSError.
        """
        if self.temporary:
            self.path.mkdir(mode=0o700, exist_ok=True)
        with _folder(self.path, None) as root:
            for name in SINGLETONS:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=root)
            with contextlib.suppress(FileExistsError):
                os.mkdir("Default", 0o700, dir_fd=root)
            self._prefer("Local State", LOCAL_STATE, root)
            with _folder("Default", root) as default:
                self._prefer("Preferences", PREFERENCES, default)
                self._give(default)
            self._keep_drafts_in(DOWNLOADS, root)
            self._give(root)

    def _keep_drafts_in(self, name: str, root: int) -> None:
        """Have downloads begin here instead of in the folder for temporary files, and remove what is left of them.

        Observed with Chromium 156: it writes to a draft for some milliseconds before it hears that there is to be no
        download, and one that is killed meanwhile leaves it.
        """
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=root)
        with contextlib.suppress(NotADirectoryError), _folder(name, root) as folder:  # a link is the owner's affair
            for found in os.listdir(folder):
                if found.startswith(DRAFT):
                    with contextlib.suppress(OSError):
                        os.unlink(found, dir_fd=folder)
            self._give(folder)

    def _prefer(self, name: str, wanted: dict[str, Any], folder: int) -> None:
        self._write(name, json.dumps(_merged(_read(name, folder), wanted)).encode(), folder)

    def _write(self, name: str, data: bytes, folder: int) -> None:
        draft = f"{name}.capsdk"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
        with open(fd, "wb") as file:
            file.write(data)
            self._give(fd)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)

    def _give(self, fd: int) -> None:
        if self.uid is not None:
            os.fchown(fd, self.uid, self.uid)

    def closing(self) -> None:
        """Tell who waits for the lock that it will be free soon."""
        if self.lock_fd is not None and self.lock_fd >= 0:
            _write_owner(self.lock_fd, closing=True)

    def release(self) -> None:
        """Give the folder back; a temporary one is removed. Releasing twice is fine."""
        if self.temporary:
            shutil.rmtree(self.path, ignore_errors=True)
        elif self.lock_fd is not None and self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1


def temporary_profile(uid: int | None) -> Profile:
    """A fresh profile in a folder of its own, not made yet; whoever holds it removes it."""
    return Profile(Path(tempfile.gettempdir(), f"capsdk-profile-{secrets.token_hex(16)}"), uid, None)


async def owner_profile(path: Path, uid: int | None) -> Profile:
    """The owner's profile, locked for this host.

    A lock of a dead host is taken over, as soon as its Chromium is gone. Raises UnavailableError PROFILE_LOCKED
    naming the living owner, or BROWSER_LAUNCH_FAILED when the folder cannot be used.
    """
    try:
        path.parent.mkdir(mode=0o711 if uid is not None else 0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)  # noqa: ASYNC240 - a local folder, before anything runs
        low = os.open(path.parent / f"{path.name}.{LOCK_NAME}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 100)  # clear of the numbers that the keeper uses
        os.close(low)
    except OSError as problem:
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED",
            f"the profile folder {path} cannot be used: {problem.strerror}; choose another with CAPSDK_PROFILE_DIR",
        ) from None
    try:
        await _lock(fd, path)
        _refuse_living_chromium(path)
        _write_owner(fd, closing=False)
    except BaseException:
        os.close(fd)
        raise
    return Profile(path, uid, fd)


async def _lock(fd: int, path: Path) -> None:
    deadline = asyncio.get_running_loop().time() + TAKEOVER_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as problem:
            if problem.errno not in (errno.EAGAIN, errno.EACCES):
                raise UnavailableError(
                    "PROFILE_LOCKED", f"the lock of {path} cannot be taken: {problem.strerror}; use a local folder"
                ) from None
        owner, closing = _owner(fd)
        if owner is None or (_alive(owner) and not closing) or asyncio.get_running_loop().time() > deadline:
            raise _locked(path, f"another host (pid {owner or 'unknown'})", owner)
        await asyncio.sleep(0.05)  # the dead host's Chromium is still going


def _write_owner(fd: int, *, closing: bool) -> None:
    os.ftruncate(fd, 0)
    os.pwrite(fd, json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "closing": closing}).encode(), 0)


def _owner(fd: int) -> tuple[int | None, bool]:
    """Whose lock it is, and whether it will be free soon."""
    try:
        said = json.loads(os.pread(fd, 4096, 0))
        return int(said["pid"]), said.get("closing") is True
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, False


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _refuse_living_chromium(path: Path) -> None:
    """Refuse when a Chromium of this machine, started by somebody else, has the folder; any other lock is stale."""
    try:
        host, _, number = os.readlink(path / SINGLETONS[0]).rpartition("-")
    except OSError:
        return
    if host != socket.gethostname() or not number.isdigit():
        return
    try:
        words = Path(f"/proc/{int(number)}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return
    if f"--user-data-dir={path}".encode() in words:
        raise _locked(path, f"a running Chromium (pid {number})", int(number))


def _locked(path: Path, who: str, pid: int | None) -> UnavailableError:
    return UnavailableError(
        "PROFILE_LOCKED",
        f"the browser profile {path} is in use by {who}; end it, or use --ephemeral for a profile of its own",
        hint="Only one host at a time can use a profile.",
        profile=str(path),
        pid=pid,
    )


@contextlib.contextmanager
def _folder(path: Path | str, parent: int | None) -> Iterator[int]:
    """A descriptor of a folder that is no link."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        yield fd
    finally:
        os.close(fd)


def _read(name: str, folder: int) -> dict[str, Any]:
    """A JSON object in a plain file; empty when it is none."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(fd, "rb") as file:
            status = os.fstat(fd)
            plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
            found = json.loads(file.read()) if plain else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    made = dict(base)
    for key, value in over.items():
        below = made.get(key)
        made[key] = _merged(below, value) if isinstance(value, dict) and value and isinstance(below, dict) else value
    return made
