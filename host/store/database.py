"""Opening one SQLite file of the store: pragmas, numbered migrations, a first write. Knows no table."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path

from host.store.faults import refused, unavailable
from host.store.places import prepare_file

BUSY_TIMEOUT_S = 5.0
SYNCHRONOUS = {
    "state": "FULL",  # the owner's answer survives a power cut once it was acknowledged
    "ledger": "NORMAL",  # a power cut may cost its last moments, never its order; a killed process costs none
}
WAL_LIMIT_BYTES = 16 * 1024 * 1024


def connect(path: Path) -> sqlite3.Connection:
    """A connection without implicit transactions; one thread at a time may use it."""
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction; it takes the write lock first, so that what is read inside is still true at its end."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back when the disk is full
            connection.execute("ROLLBACK")
        raise


def open_database(path: Path, kind: str) -> sqlite3.Connection:
    """Open, migrate and try to write the file; `kind`, `state` or `ledger`, names its migrations.

    Raises `STORE_UNAVAILABLE` for a file that is damaged, newer than this program, or cannot be written.
    """
    prepare_file(path)
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        connection = connect(path)
        try:
            _set_up(connection, path, migrations(kind), SYNCHRONOUS[kind])
            return connection
        except BaseException as error:
            connection.close()
            if not isinstance(error, sqlite3.Error):
                raise
            # Switching to WAL and recovering a log answer BUSY without waiting for the busy timeout.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise unavailable(path, error) from error
        time.sleep(0.02)


def migrations(kind: str) -> tuple[str, ...]:
    """The numbered scripts of `kind`, oldest first; the file's `user_version` counts those it has seen."""
    folder = resources.files("host.store") / "migrations" / kind
    found = sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)
    return tuple(item.read_text("utf-8") for item in found)


def _set_up(connection: sqlite3.Connection, path: Path, scripts: Sequence[str], synchronous: str) -> None:
    check_version(connection, path, len(scripts))  # before anything is written to it
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise refused(path, "no_wal", "is on a file system without shared memory; choose a folder on a local disk")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
    migrate(connection, path, scripts)
    # Writing the number it already has is a real write: a full or read-only disk is told now, not at the first call.
    with transaction(connection):
        connection.execute(f"PRAGMA user_version = {check_version(connection, path, len(scripts))}")


def check_version(connection: sqlite3.Connection, path: Path, known: int) -> int:
    """The file's schema version; raises `STORE_UNAVAILABLE` when it is newer, or the file another program's."""
    version = _version(connection)
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        version = _version(connection)  # tables and number come in one transaction, which may just have ended
        if version == 0:
            raise refused(path, "foreign_file", "is another program's database; choose another folder")
    if not 0 <= version <= known:
        raise refused(path, "newer_schema", f"has schema {version}, this program knows {known}; use the newer program")
    return version


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, path: Path, scripts: Sequence[str]) -> None:
    """Bring the file up to the last script, one transaction each; a file with content is copied aside first."""
    while check_version(connection, path, len(scripts)) < len(scripts):
        with transaction(connection):  # two processes may start at once: look again under the lock
            version = check_version(connection, path, len(scripts))
            if version < len(scripts):
                if version > 0:
                    _back_up(path, version)
                for statement in _statements(scripts[version]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")


def _back_up(path: Path, version: int) -> None:
    """Copy the committed state to `NAME.vN.bak` (0600); the caller holds the write lock, so it cannot move on."""
    target = path.with_name(f"{path.name}.v{version}.bak")
    target.unlink(missing_ok=True)
    prepare_file(target)
    with closing(connect(path)) as source, closing(connect(target)) as copy:
        source.backup(copy)


def _statements(script: str) -> Iterator[str]:
    """The script's statements; `executescript` would commit our transaction first."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if ";" in line and sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending
