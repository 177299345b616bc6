"""The worker process: `python -I -S -B worker.py FD`. Is told how, locks itself, says so, and then serves a script."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

BWRAP = "bwrap"  # bubblewrap's namespaces around the lock
NOOPEN = "noopen"  # the lock alone: no path reaches anything
NONE = "none"  # nothing is locked, by the owner's own word
REFUSED_EXIT = 70
SOCKET_FD = 3  # the only descriptor a script has besides 0 to 2, which are /dev/null
MAX_REASON_CHARACTERS = 2000
MAX_SETTINGS_BYTES = 4096
MAX_FD = 1 << 20  # the kernel's own ceiling (fs.nr_open); one close_range call from Linux 5.9 on

# Machine code cannot be loaded once nothing can be opened. What a build lacks is passed over. Left out on purpose:
# _hashlib and _ssl (OpenSSL), _sqlite3, _curses, _tkinter, _multiprocessing, _posixshmem, readline, _test*.
EXTENSIONS = (
    "_asyncio",
    "_bisect",
    "_blake2",
    "_bz2",
    "_codecs_cn",
    "_codecs_hk",
    "_codecs_iso2022",
    "_codecs_jp",
    "_codecs_kr",
    "_codecs_tw",
    "_contextvars",
    "_csv",
    "_datetime",
    "_decimal",
    "_elementtree",
    "_heapq",
    "_json",
    "_lzma",
    "_md5",
    "_multibytecodec",
    "_opcode",
    "_pickle",
    "_posixsubprocess",
    "_queue",
    "_random",
    "_sha1",
    "_sha2",
    "_sha256",
    "_sha3",
    "_sha512",
    "_socket",
    "_statistics",
    "_struct",
    "_typing",
    "_uuid",
    "_zoneinfo",
    "array",
    "binascii",
    "cmath",
    "fcntl",
    "grp",
    "math",
    "mmap",
    "pyexpat",
    "resource",
    "select",
    "termios",
    "unicodedata",
    "zlib",
)
PRELOADED = ("asyncio", "json", "re", "traceback")  # every script needs them


def main() -> NoReturn:
    """Lock, test, tell the host, serve, end. Whatever goes wrong before `ready` is told as `refused`, exit 70."""
    fd = int(sys.argv[1])
    try:
        config = _told(fd)
        _close_all_but(fd, config["blob_fd"])
        if config["tier"] == BWRAP:
            _check_namespaces()
        lock, self_test, serve = _load(config["blob_fd"], config["runtime"])
        fd = _forget_the_outside(fd)
        if config["tier"] == NONE:
            lock.become(config["uid"])
            abi, checks = 0, {}
        else:
            limits = lock.Limits(**config["limits"])
            abi = lock.lock(uid=config["uid"], limits=limits, parent_pid=config["parent_pid"])
            checks = self_test(config["uid"])
        layers = {"tier": config["tier"], "landlock": abi, "uid": os.geteuid(), "checks": checks}
        _send(fd, "ready", layers)
    except BaseException as error:
        _send(fd, "refused", {"why": f"{type(error).__name__}: {error}"[:MAX_REASON_CHARACTERS]})
        os._exit(REFUSED_EXIT)
    serve(fd, layers)
    os._exit(0)


def _told(fd: int) -> dict[str, Any]:
    """The host's first line: the settings. Not as an argument, which a script could read."""
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(fd, MAX_SETTINGS_BYTES)
        if not chunk:
            os._exit(REFUSED_EXIT)  # the host is gone
        line += chunk
    settings: dict[str, Any] = json.loads(line)
    return settings


def _check_namespaces() -> None:
    """Whatever was started as bubblewrap has to have wrapped us. Raises RuntimeError."""
    seen = [place for place in ("/proc", "/etc", "/home", "/sys") if os.path.exists(place)]
    if (os.getppid(), os.getpid()) != (1, 2) or seen:
        what = f"sees {seen[0]}" if seen else f"is process {os.getpid()}, not 2"
        raise RuntimeError(f"the worker was started without namespaces of its own: it {what}")


def _close_all_but(*kept: int) -> None:
    first = 3
    for fd in (*sorted(kept), MAX_FD):
        os.closerange(first, fd)
        first = fd + 1


def _load(blob_fd: int, runtime: str) -> tuple[Any, Callable[[int | None], dict[str, str]], Callable[..., None]]:
    """All code that will ever come from a path. The blob comes early: few files of the standard library are read."""
    machine_code = [path for path in sys.path if path.endswith("lib-dynload")]
    own_code = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.append(own_code)  # last: it may be a site-packages
    from host.sandbox import memimport

    memimport.install(blob_fd)
    from host.sandbox import lock
    from host.sandbox.selftest import self_test

    sys.path[:] = machine_code
    for name in list(sys.modules):
        if name == "host" or name.startswith("host."):
            del sys.modules[name]  # `import host` fails for a script
    for name in (*PRELOADED, *EXTENSIONS):
        _preload(name)
    serve = __import__(runtime, fromlist=["serve"]).serve
    sys.path[:] = []
    sys.path_importer_cache.clear()
    return lock, self_test, serve


def _preload(name: str) -> None:
    try:
        __import__(name)
    except ImportError:
        if name in PRELOADED:
            raise


def _forget_the_outside(fd: int) -> int:
    os.environ.clear()  # the C locale's coercion puts LC_CTYPE there
    sys.argv[:] = sys.orig_argv[:] = [""]
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 2)  # until here it is the host's record of why a worker did not start
    os.dup2(fd, SOCKET_FD)  # a host with many descriptors hands out high numbers
    _close_all_but(SOCKET_FD)  # also the blob's, and the second one that its memory map keeps
    return SOCKET_FD


def _send(fd: int, notice: str, data: dict[str, Any]) -> None:
    line = json.dumps({"notice": notice, "data": data}).encode() + b"\n"
    while line:
        line = line[os.write(fd, line) :]


if __name__ == "__main__":
    main()
