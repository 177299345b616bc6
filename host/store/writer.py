"""The one thread that writes both files: ledger rows in groups, jobs at once. It decides nothing about them."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Literal

from capsdk.errors import InvalidArgumentError, UnavailableError
from host.store import ledger_sql
from host.store.chain import Fields
from host.store.database import transaction
from host.store.faults import reason_of

GROUP_S = 0.025
"""How long the first row after a quiet time waits for company."""
POLL_S = 0.2
"""How often another process's changes, and files that were replaced, are looked for."""
MAX_QUEUED_ROWS = 100_000
MAX_TRANSACTION_ROWS = 4_096


@dataclass(slots=True)
class OpenFile:
    """One of the store's files, with what shows whether the path still leads to it."""

    path: Path
    connection: sqlite3.Connection
    identity: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.identity = self._look()

    def check(self) -> None:
        """Raise OSError when the file was removed or replaced: what we write would reach nobody."""
        if self._look() != self.identity:
            raise OSError(f"{self.path} was replaced while in use")

    def _look(self) -> tuple[int, int]:
        status = self.path.stat()
        return (status.st_dev, status.st_ino)


@dataclass(slots=True)
class Job:
    """Work inside one write transaction of `file`; `done` is set when it is committed."""

    file: Literal["state", "ledger"]
    work: Callable[[sqlite3.Connection], Any]
    done: Future[Any] = field(default_factory=Future)


class Writer:
    """The writer thread. `add` and `submit` may be called from any thread; the callback runs on the writer's."""

    def __init__(
        self,
        state: OpenFile,
        ledger: OpenFile,
        on_state_changed: Callable[[sqlite3.Connection], None],
        segment_rows: int,
    ) -> None:
        self.failure: str | None = None
        self._files = {"state": state, "ledger": ledger}
        self._state, self._ledger = state, ledger
        self._on_state_changed = on_state_changed
        self._segment_rows = segment_rows
        self._rows: deque[Fields] = deque()
        self._refusal: str | None = None  # why `add` refuses: it has failed, or it is closed
        self._signalled = False
        self._closing = False
        self._ended = False
        self._inbox: SimpleQueue[Job | None] = SimpleQueue()  # None: there are rows, or it is to end
        self._data_version = -1  # the first poll reads the grants again: they may have changed since they were read
        self._next_poll = time.monotonic() + POLL_S
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    @property
    def healthy(self) -> bool:
        """Whether rows are accepted."""
        return self._refusal is None

    @property
    def queued_rows(self) -> int:
        """How many rows wait to be written."""
        return len(self._rows)

    def add(self, row: Fields) -> None:
        """Queue a ledger row; raises `STORE_UNAVAILABLE` when it could not be written."""
        if self._refusal is not None or len(self._rows) >= MAX_QUEUED_ROWS:
            raise self._refused()
        self._rows.append(row)
        if not self._signalled:  # cleared before the rows are taken, so a row is never left without a signal
            self._signalled = True
            self._inbox.put(None)

    def submit(self, job: Job) -> Future[Any]:
        """Queue a job behind the rows added so far."""
        if not self.healthy:
            raise self._refused()
        self._inbox.put(job)
        if self._ended:
            self._reject_jobs([])  # it ended between the lines above and will not look again
        return job.done

    def close(self, timeout_s: float) -> None:
        """Write what is queued, end the thread; what could not be written in time is said in `failure`."""
        self._refusal = self._refusal or "closed"
        self._closing = True
        self._inbox.put(None)
        self._thread.join(timeout_s)
        if self._thread.is_alive() and self.failure is None:
            self.failure = f"ledger rows were not all written within {timeout_s:g} s of closing"

    def _refused(self) -> UnavailableError:
        reason = self._refusal or "queue_full"
        return UnavailableError(
            "STORE_UNAVAILABLE",
            "the host cannot record this call, so it was not done; have its owner run `capsdk doctor`",
            reason=reason,
        )

    def _run(self) -> None:
        jobs: list[Job] = []
        try:
            closing = False
            while not closing:
                closing = self._closing  # read before the rows are taken: nothing is accepted after it was set
                jobs = [] if closing else self._wait()
                jobs += self._waiting_jobs() if closing else []
                self._turn(jobs)
        except Exception as error:  # whatever it is, nothing may be accepted any more
            self._fail(error)
        finally:
            self._ended = True  # before the last look into the inbox: `submit` looks after putting
            self._reject_jobs(jobs)
            for file in self._files.values():
                file.connection.close()

    def _wait(self) -> list[Job]:
        """Sleep until there is a job, or rows have had time to gather, or it is time to poll."""
        try:
            job = self._inbox.get(timeout=max(0.0, self._next_poll - time.monotonic()))
            if job is None and not self._closing:
                job = self._inbox.get(timeout=GROUP_S)
        except Empty:
            return []
        return ([] if job is None else [job]) + self._waiting_jobs()

    def _waiting_jobs(self) -> list[Job]:
        jobs: list[Job] = []
        while True:
            try:
                job = self._inbox.get_nowait()
            except Empty:
                return jobs
            if job is not None:
                jobs.append(job)

    def _turn(self, jobs: Sequence[Job]) -> None:
        self._signalled = False
        self._write_rows()
        self._do([job for job in jobs if job.file == "state"], self._state)
        self._do([job for job in jobs if job.file == "ledger"], self._ledger)
        if time.monotonic() >= self._next_poll:
            self._poll()

    def _write_rows(self) -> None:
        pending = len(self._rows)
        while pending > 0:
            batch = [self._rows.popleft() for _ in range(min(pending, MAX_TRANSACTION_ROWS))]
            pending -= len(batch)
            try:
                with transaction(self._ledger.connection):
                    ledger_sql.append_rows(self._ledger.connection, batch, self._segment_rows)
            except BaseException:
                self._rows.extendleft(reversed(batch))  # so that they are counted as lost
                raise

    def _do(self, jobs: Sequence[Job], file: OpenFile) -> None:
        """All jobs in one transaction; one whose values the database refuses fails alone."""
        running = [job for job in jobs if job.done.set_running_or_notify_cancel()]
        if not running:
            return
        answers: list[tuple[Job, Any]] = []
        with transaction(file.connection):
            for job in running:
                file.connection.execute("SAVEPOINT job")
                try:
                    answers.append((job, job.work(file.connection)))
                except Exception as error:
                    if _is_fatal(error):
                        raise
                    file.connection.execute("ROLLBACK TO job")
                    job.done.set_exception(_refused_values(error))
                file.connection.execute("RELEASE job")
        if file is self._state:
            self._on_state_changed(file.connection)
        for job, answer in answers:
            job.done.set_result(answer)

    def _poll(self) -> None:
        self._next_poll = time.monotonic() + POLL_S
        for file in self._files.values():
            file.check()
        version = self._read_data_version()
        if version != self._data_version:
            self._data_version = version
            self._on_state_changed(self._state.connection)

    def _read_data_version(self) -> int:
        """Changes when another connection committed (https://sqlite.org/pragma.html#pragma_data_version)."""
        return int(self._state.connection.execute("PRAGMA data_version").fetchone()[0])

    def _fail(self, error: Exception) -> None:
        reason, _, remedy = reason_of(error)
        self._refusal = reason
        self.failure = f"{reason}: {error}; {len(self._rows)} ledger rows were not written; {remedy}"

    def _reject_jobs(self, jobs: Sequence[Job]) -> None:
        for job in (*jobs, *self._waiting_jobs()):
            if not job.done.done():
                job.done.set_exception(self._refused())


def _is_fatal(error: Exception) -> bool:
    """Whether the file is to blame, and not the values of one job."""
    values = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError)
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, values)


def _refused_values(error: Exception) -> InvalidArgumentError:
    return InvalidArgumentError("BAD_ARGUMENTS", f"the store refused a value ({error}); correct it and try again")
