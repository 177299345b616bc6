"""Builds and keeps the blob of the standard library and capsdk that a worker imports from; the host's half."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import marshal
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from host.sandbox.memimport import HEADER, MAGIC, BlobError, Library

KEPT_BLOBS = 3
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
STDLIB = Path(os.__file__).parent

# Parts of the standard library a worker cannot use, and folders that are none of it.
LEFT_OUT = frozenset(
    {
        "__phello__",  # a toy
        "__pycache__",
        "_pyrepl",  # a terminal; 3.13 and later
        "antigravity.py",  # opens a browser
        "curses",  # a terminal
        "dbm",  # files
        "dist-packages",  # third party, Debian's name
        "distutils",  # building
        "ensurepip",  # installing
        "idlelib",  # a terminal
        "lib-dynload",  # machine code; loaded before the lock
        "lib2to3",  # files
        "multiprocessing",  # processes
        "pip",
        "pydoc.py",
        "pydoc_data",
        "site-packages",  # third party
        "site.py",  # finds third party
        "sqlite3",  # files
        "ssl.py",  # network, and OpenSSL is the largest thing there is to attack
        "test",
        "tests",
        "tkinter",  # a display
        "turtle.py",
        "turtledemo",
        "venv",  # files
        "wsgiref",  # network
    }
)


def open_library(cache_dir: Path, packages: Sequence[Path]) -> int:
    """A descriptor of the blob with the standard library and the package folders `packages`; the caller closes it.

    Kept in `cache_dir` (0700), one file per Python version and content; a damaged or foreign file is built anew.
    Takes about a second when it has to build. A folder that cannot be used means a blob in memory, not an error.
    """
    key = _key(tuple(packages))
    path = cache_dir / f"modules-{sys.implementation.cache_tag}-{key}.blob"
    if _usable(cache_dir):
        with contextlib.suppress(OSError, BlobError, ValueError, EOFError, TypeError):
            return _open_sound(path)
        blob = build(packages)
        with contextlib.suppress(OSError, BlobError):
            _write(path, blob)
            _prune(cache_dir)
            return _open_sound(path)
    else:
        blob = build(packages)
    return _in_memory(blob)


def build(packages: Sequence[Path], stdlib: Path = STDLIB) -> bytes:
    """The blob's bytes. A file that does not compile (there are some on purpose) is left out."""
    index: dict[str, tuple[bool, int, int]] = {}
    codes: list[bytes] = []
    offset = 0
    for root, folder in ((stdlib, stdlib), *((package.parent, package) for package in packages)):
        for file in _sources(folder):
            relative = file.relative_to(root)
            with contextlib.suppress(SyntaxError, ValueError):
                code = marshal.dumps(compile(file.read_bytes(), f"<memory>/{relative}", "exec", dont_inherit=True))
                index[_module_name(relative)] = (file.name == "__init__.py", offset, len(code))
                codes.append(code)
                offset += len(code)
    body = marshal.dumps(index)
    payload = b"".join((body, *codes))
    return HEADER.pack(MAGIC, MAGIC_NUMBER, len(body), zlib.crc32(payload)) + payload


def _sources(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in LEFT_OUT and not f.startswith("config-"))
        yield from (Path(place, f) for f in sorted(files) if f.endswith(".py") and f not in LEFT_OUT)


def _module_name(relative: Path) -> str:
    parts = relative.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@lru_cache(maxsize=8)  # a host's own code does not change while it runs
def _key(packages: tuple[Path, ...]) -> str:
    digest = hashlib.sha256(repr((sys.version, MAGIC_NUMBER, str(STDLIB), sorted(LEFT_OUT))).encode())
    for package in packages:
        for file in _sources(package):
            content = file.read_bytes()
            digest.update(repr((package.name, str(file.relative_to(package)), len(content))).encode())
            digest.update(content)
    return digest.hexdigest()[:24]


def _usable(cache_dir: Path) -> bool:
    try:
        cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = cache_dir.lstat()
    except OSError:
        return False
    # Whoever else can write there could hand us another library.
    return stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid() and not state.st_mode & 0o022


def _open_sound(path: Path) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise BlobError(f"{path.name} is not this user's own file")
        identity = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
        if identity not in _SOUND:
            Library(fd, check=True)
            _SOUND.add(identity)
    except BaseException:
        os.close(fd)
        raise
    return fd


_SOUND: set[tuple[int, int, int, int]] = set()  # files this process has already read through once


def _write(path: Path, blob: bytes) -> None:
    fd, temporary = tempfile.mkstemp(prefix=".modules-", dir=path.parent)  # 0600
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(blob)
            file.flush()
            os.fsync(fd)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _prune(cache_dir: Path) -> None:
    newest_first = sorted(cache_dir.glob("modules-*.blob"), key=lambda p: p.lstat().st_mtime_ns, reverse=True)
    for old in newest_first[KEPT_BLOBS:]:
        old.unlink(missing_ok=True)  # a worker that has it open keeps it


def _in_memory(blob: bytes) -> int:
    fd = os.memfd_create("capsdk-modules", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(os.dup(fd), "wb") as file:
            file.write(blob)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    except BaseException:
        os.close(fd)
        raise
    return fd
