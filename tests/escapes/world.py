"""What a setting's host has that must not be reached: files, ports, a victim, a terminal; and what has become of it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from host.sandbox.launcher import default_python
from tests.support.processes import pids, read, stat_fields

SECRET_NAME = "CAPSDK_ESCAPES_SECRET"
SECRET = "the owner's"
SETTLES_S = 0.05
TAKES_A_MOMENT = frozenset({"daemon", "udp", "victim"})
NAME_TO_HANDLE_AT = 303
SET_DEATH_SIGNAL = 1


class World:
    """Belongs to one process, the host of a setting; `folder` is its own."""

    def __init__(self, folder: Path) -> None:
        self._stack = contextlib.ExitStack()
        self.name = f"capsdk-escapes-{os.getpid()}-{time.monotonic_ns() % 10**9}"
        self.marker = self.name[-15:]  # a process may be called this
        self.home = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
        self.home.chmod(0o755)
        self._build()
        self._unix = str(self.home.parent / f"{self.name[-20:]}.sock")
        self._listeners = dict(self._listen())
        self._main, self.terminal = os.openpty()
        os.set_blocking(self.terminal, False)
        self.leaks = (os.open(self.home / "secret", os.O_RDONLY), os.open("/", os.O_RDONLY | os.O_DIRECTORY))
        self._namespace = os.open("/proc/self/ns/uts", os.O_RDONLY)
        self._handle = handle_of("/etc/passwd")
        self._victim = self._new_victim()
        self._victim_fd = os.pidfd_open(self._victim.pid)
        self._kept_files = self._files()

    def given(self) -> dict[str, Any]:
        """The names that an attempt finds."""
        home, port = str(self.home), {name: sock.getsockname() for name, sock in self._listeners.items()}
        return {
            "abstract": port["abstract"].decode(),
            "app": f"{home}/app",
            "dgram": port["dgram"].decode(),
            "handle": self._handle.hex(),
            "home": home,
            "host": os.getpid(),
            "link": f"{home}/app/link",
            "marker": self.marker,
            "mnt": f"{home}/mnt",
            "namespace_fd": self._namespace,
            "outside": f"{home}/secret",
            "python": str(default_python()),
            "secret_name": SECRET_NAME,
            "tcp6": port["tcp6"][1] if "tcp6" in port else 0,
            "unix": self._unix,
            "victim": self._victim.pid,
            "victim_fd": self._victim_fd,
            **{name: port[name][1] for name in ("tcp", "udp")},
            **{name: str(place) for name, place in self._elsewhere().items()},
        }

    def damage(self, expected: str | None) -> list[str]:
        """What has happened since the last time; mended. Waits a moment for what was `expected` and takes one."""
        deadline = time.monotonic() + (SETTLES_S if expected in TAKES_A_MOMENT else 0.0)
        found = set(self._look(expected))
        while expected not in found and time.monotonic() < deadline:
            time.sleep(SETTLES_S / 4)
            found |= set(self._look(expected))
        return sorted(found)

    def close(self) -> None:
        """End the victim, close the ports."""
        self._victim.kill()
        self._victim.wait()
        for sock in self._listeners.values():
            sock.close()

    def _look(self, expected: str | None) -> Iterator[str]:
        yield from (name for name, sock in self._listeners.items() if arrived(sock))
        if self._victim.poll() is not None or stat_fields(self._victim.pid)[0] == "T":
            yield "victim"
            self._replace_victim()
        if self._files() != self._kept_files:
            yield "files"
            self._rebuild()
        for name, place in self._elsewhere().items():
            yield from (name for one in place.parent.glob(place.name + "*") if removed(one))
        for pid in self._daemons() if expected == "daemon" else ():
            yield "daemon"
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(BlockingIOError):
            if os.read(self.terminal, 100):
                yield "terminal"

    def _elsewhere(self) -> dict[str, Path]:
        """Files that an attempt would make outside of the home."""
        return {
            "shm": Path("/dev/shm", self.name),
            "stdlib": Path(os.__file__).parent / "pydoc_data" / f"{self.marker}.py",
            "tmp": Path("/tmp", self.name),
        }

    def _listen(self) -> Iterator[tuple[str, socket.socket]]:
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        yield "tcp", listening(socket.AF_INET, stream, ("127.0.0.1", 0))
        yield "udp", listening(socket.AF_INET, datagram, ("127.0.0.1", 0))
        yield "abstract", listening(socket.AF_UNIX, stream, f"\0{self.name}")
        yield "dgram", listening(socket.AF_UNIX, datagram, f"\0{self.name}-d")
        yield "unix", listening(socket.AF_UNIX, stream, self._unix)
        with contextlib.suppress(OSError):  # a machine without IPv6
            yield "tcp6", listening(socket.AF_INET6, stream, ("::1", 0))

    def _build(self) -> None:
        for name in ("app", "mnt"):
            (self.home / name).mkdir()
        (self.home / "secret").write_text(SECRET)
        (self.home / "app" / "main.py").write_text("async def main(input, ctx): ...\n")
        (self.home / "app" / "link").symlink_to(self.home / "secret")

    def _rebuild(self) -> None:
        subprocess.run(["rm", "-rf", "--", *map(str, self.home.iterdir())], check=True)
        self._build()
        self._kept_files = self._files()

    def _files(self) -> dict[str, tuple[int, int, int, int]]:
        """All there is in the home: kind and mode, size, links, time of change."""
        states = {str(path): path.lstat() for path in self.home.rglob("*")}
        return {name: (s.st_mode, s.st_size, s.st_nlink, s.st_mtime_ns) for name, s in states.items()}

    def _daemons(self) -> list[int]:
        return [pid for pid in pids() if read(pid, "comm").strip().decode() == self.marker]

    def _new_victim(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)

    def _replace_victim(self) -> None:
        self._victim.kill()
        self._victim.wait()
        self._victim = self._new_victim()
        kept, new = self._victim_fd, os.pidfd_open(self._victim.pid)
        os.dup2(new, kept)
        os.close(new)


def end_with_parent() -> None:
    """A victim does not outlive a host that is killed."""
    ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def listening(family: int, kind: int, address: Any) -> socket.socket:
    """A port of the host's."""
    sock = socket.socket(family, kind)
    sock.bind(address)
    sock.setblocking(False)
    if kind == socket.SOCK_STREAM:
        sock.listen(50)
    return sock


def arrived(sock: socket.socket) -> bool:
    """Has anything come in? It is taken."""
    with contextlib.suppress(BlockingIOError):
        if sock.type == socket.SOCK_DGRAM:
            sock.recv(10)
        else:
            sock.accept()[0].close()
        return True
    return False


def removed(path: Path) -> bool:
    """A file is gone now; it was there."""
    path.unlink()
    return True


def handle_of(path: str) -> bytes:
    """The file's handle for open_by_handle_at(2) with AT_FDCWD; zeros where this file system gives none."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    done = ctypes.CDLL(None).syscall(NAME_TO_HANDLE_AT, -100, path.encode(), handle, ctypes.byref(ctypes.c_int()), 0)
    return handle.raw if done == 0 else bytes(136)
