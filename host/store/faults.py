"""What went wrong with the store's files, as one `STORE_UNAVAILABLE` that ends with what to do next."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from capsdk.errors import UnavailableError

_REPLACE = "move it away, or put a backup in its place, and start again"

# SQLite's primary result codes (https://sqlite.org/rescode.html): reason, what it means, what to do
_BY_CODE: dict[int, tuple[str, str, str]] = {
    sqlite3.SQLITE_PERM: ("no_access", "cannot be used", "see that it is there and that this user may use it"),
    sqlite3.SQLITE_BUSY: ("busy", "is locked by another process", "end the process that holds it and try again"),
    sqlite3.SQLITE_LOCKED: ("busy", "is locked", "try again"),
    sqlite3.SQLITE_READONLY: ("read_only", "cannot be written", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_IOERR: ("io_error", "could not be read or written", "check the disk, then start again"),
    sqlite3.SQLITE_CORRUPT: ("corrupt", "is damaged", _REPLACE),
    sqlite3.SQLITE_FULL: ("disk_full", "does not fit on the disk", "free some space and start again"),
    sqlite3.SQLITE_CANTOPEN: ("cannot_open", "cannot be opened", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_NOTADB: ("corrupt", "is not a database", _REPLACE),
}
_BY_ERRNO: dict[int | None, int] = {
    errno.EROFS: sqlite3.SQLITE_READONLY,
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
    errno.EIO: sqlite3.SQLITE_IOERR,
}
_OTHER = ("sqlite", "cannot be used", "run `capsdk doctor` and look into the host's log")


def reason_of(error: BaseException) -> tuple[str, str, str]:
    """(reason, what it means, what to do) of an error that SQLite or the system raised."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        return _BY_CODE.get(code & 0xFF, _OTHER) if isinstance(code, int) else _OTHER
    if isinstance(error, OSError):
        return _BY_CODE[_BY_ERRNO.get(error.errno, sqlite3.SQLITE_PERM)]
    return _OTHER


def unavailable(path: Path, error: BaseException, *, called: str | None = None) -> UnavailableError:
    """The error for a file of the store. Its hint names the folder, so it is for the owner's eyes, not a script's."""
    reason, meaning, remedy = reason_of(error)
    return refused(path, reason, f"{meaning}; {remedy}", error, called=called)


def refused(
    path: Path, reason: str, what: str, error: BaseException | None = None, *, called: str | None = None
) -> UnavailableError:
    """`what` continues "the store's state.db …" (or what it is `called`) and ends with what to do next."""
    hint = f"It is {path}" + (f"; the system said: {error}" if error is not None else "") + "."
    return UnavailableError("STORE_UNAVAILABLE", f"the store's {called or path.name} {what}", hint=hint, reason=reason)
