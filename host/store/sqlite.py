"""The store on SQLite: state.db and ledger.db in a private folder. SQL and thread are in the modules beside it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, TypeVar

from capsdk.errors import UnavailableError
from host.store import ledger_sql, state_sql
from host.store.database import connect, open_database
from host.store.faults import refused, unavailable
from host.store.places import prepare_folder
from host.store.port import ApprovalRow, GrantKey, GrantRow, LedgerRow
from host.store.writer import Job, OpenFile, Writer

T = TypeVar("T")

CLOSE_S = 2.0
ANSWER_S = 15.0
"""Longer than both files' busy timeouts together."""


class SqliteStore:
    """The port `Store` on two SQLite files that several processes of one machine may have open at once.

    The snapshot and `append` are memory only; one thread writes. Once writing has failed it stays failed: what could
    not be recorded is not done until the host starts again.
    """

    def __init__(self, state: OpenFile, ledger: OpenFile, *, id_source: Callable[[], str], segment_rows: int) -> None:
        self.on_grants_changed: Callable[[], None] | None = None
        self._id_source = id_source
        self._paths = {"state": state.path, "ledger": ledger.path}
        self._loop = _running_loop()
        self._grants: Mapping[GrantKey, GrantRow] = MappingProxyType(state_sql.read_grants(state.connection))
        self._stopped = threading.Event()
        self._writer = Writer(state, ledger, self._reload, segment_rows)
        self._add = self._writer.add

    @classmethod
    def open(cls, folder: Path, *, id_source: Callable[[], str], segment_rows: int = ledger_sql.SEGMENT_ROWS) -> Self:
        """Open the store in `folder`, making and migrating what is missing; needs no event loop.

        Raises `STORE_UNAVAILABLE` with a hint and `details.reason` when it cannot be read or written.
        """
        folder = prepare_folder(folder)
        files: list[OpenFile] = []
        try:
            for kind in ("state", "ledger"):
                path = folder / f"{kind}.db"
                files.append(OpenFile(path, open_database(path, kind)))
            state, ledger = files
            _check_pages(state)
            return cls(state, ledger, id_source=id_source, segment_rows=segment_rows)
        except BaseException as error:
            for file in files:
                file.connection.close()
            if isinstance(error, sqlite3.Error):
                raise unavailable(folder / "state.db", error) from error
            raise

    @property
    def healthy(self) -> bool:
        """Whether what is appended now will be written."""
        return self._writer.healthy

    @property
    def failure(self) -> str | None:
        """Why not, for the owner."""
        return self._writer.failure

    @property
    def queued_rows(self) -> int:
        """How many appended rows are not written yet."""
        return self._writer.queued_rows

    def grants(self) -> Mapping[GrantKey, GrantRow]:
        """The present snapshot, from memory."""
        return self._grants

    async def set_grant(self, row: GrantRow) -> None:
        """Store the owner's answer; synced to disk when this returns."""
        await self._write("state", partial(state_sql.set_grant, row=row))

    async def revoke_grant(self, subject: str, capability: str, resource: str) -> bool:
        """Forget the owner's answer; False when there was none."""
        return await self._write("state", partial(state_sql.revoke_grant, key=(subject, capability, resource)))

    async def ask(self, row: ApprovalRow) -> ApprovalRow:
        """Store a pending question, or return the live one about the same thing; synced to disk when this returns."""
        named = row if row.id else replace(row, id=self._id_source())
        return await self._write("state", partial(state_sql.ask, row=named))

    async def approvals(self, state: str | None = None) -> list[ApprovalRow]:
        """The stored questions, oldest first."""
        return await self._read("state", partial(state_sql.read_approvals, state=state))

    def append(
        self,
        at_ms: int,
        kind: str,
        call: int,
        app: str,
        revision: str,
        caller_kind: str,
        run: str,
        entry: str,
        method: str,
        origin: str,
        session: str,
        verdict: str,
        reason: str,
        bytes_: int,
        duration_us: int,
    ) -> None:
        """Queue one ledger row; raises `STORE_UNAVAILABLE` when it could not be written."""
        self._add((
            at_ms, kind, call, app, revision, caller_kind, run, entry, method, origin, session, verdict, reason, bytes_,
            duration_us,
        ))  # fmt: skip

    async def flush(self) -> None:
        """Return when everything appended so far is written."""
        await self._write("ledger", lambda connection: None)

    async def ledger(self, after: int = 0, limit: int = 100) -> list[LedgerRow]:
        """Rows above `after`, oldest first, at most 10,000 at once."""
        return await self._read("ledger", partial(ledger_sql.read_after, after=after, limit=limit))

    async def tail(self, count: int) -> list[LedgerRow]:
        """The newest `count` rows, oldest first, at most 10,000 at once."""
        return await self._read("ledger", partial(ledger_sql.read_tail, count=count))

    async def verify(self) -> int:
        """How many rows the hash chain covers; the error names the first broken one in `details.seq`."""
        cancelled = threading.Event()
        try:
            return await self._read("ledger", partial(self._verify, cancelled))
        finally:
            cancelled.set()  # nobody waits for the thread any more

    async def prune(self, keep_segments: int) -> int:
        """Remove the rows of all but the newest segments; how many went. One a transaction, so that rows pass."""
        count = 0
        while await self._write("ledger", partial(ledger_sql.prune_oldest, keep_segments=keep_segments)):
            count += 1
        return count

    def close(self) -> None:
        """Write what is queued, within 2 s, and let go; what was not written is told by `failure`."""
        self._stopped.set()
        self._writer.close(CLOSE_S)

    def _verify(self, cancelled: threading.Event, connection: sqlite3.Connection) -> int:
        # A row that is no longer UTF-8 has to be named like any other that was changed.
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        return ledger_sql.verify(connection, lambda: cancelled.is_set() or self._stopped.is_set())

    async def _write(self, file: Literal["state", "ledger"], work: Callable[[sqlite3.Connection], T]) -> T:
        self._loop = asyncio.get_running_loop()  # a plain program may use one loop after another
        done = self._writer.submit(Job(file, work))
        try:
            async with asyncio.timeout(ANSWER_S):
                answer: T = await asyncio.wrap_future(done)
                return answer
        except TimeoutError as error:
            raise UnavailableError(
                "STORE_UNAVAILABLE", f"the store did not answer in {ANSWER_S:g} s; try again later", reason="slow"
            ) from error

    async def _read(self, file: Literal["state", "ledger"], query: Callable[[sqlite3.Connection], T]) -> T:
        """On a connection and thread of its own: a long read holds up neither the loop nor the writer."""
        if self._stopped.is_set():
            raise UnavailableError("STORE_UNAVAILABLE", "the store is closed; open it again", reason="closed")
        return await asyncio.to_thread(_query, self._paths[file], query)

    def _reload(self, connection: sqlite3.Connection) -> None:
        """On the writer's thread, after a commit of ours or another process's: take the new snapshot and tell."""
        found = state_sql.read_grants(connection)
        if found == self._grants:
            return
        self._grants = MappingProxyType(found)
        if self._loop is None:
            self._tell()
        else:
            with suppress(RuntimeError):  # the loop is closed: nobody is left to tell
                self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if self.on_grants_changed is not None:
            self.on_grants_changed()


def _query(path: Path, query: Callable[[sqlite3.Connection], T]) -> T:
    try:
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA query_only = ON")
            return query(connection)
    except sqlite3.Error as error:
        raise unavailable(path, error) from error


def _check_pages(file: OpenFile) -> None:
    """A damaged state.db is found now and not in the middle of a call; it is small enough to read whole."""
    problems: list[Any] = file.connection.execute("PRAGMA quick_check(1)").fetchall()
    if problems != [("ok",)]:
        raise refused(file.path, "corrupt", f"is damaged ({problems[0][0]}); put a backup in its place and start again")


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
