"""The SQL of ledger.db: appending to the chain, reading, checking and pruning it. On the caller's connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NoReturn

from capsdk.errors import UnavailableError
from host.store.chain import COLUMNS, GENESIS, Fields, chained, link
from host.store.port import LedgerRow

# Rows hashed and bound in one go: the interpreter's lock is let go after each chunk, so the event loop waits for
# one chunk at most (about 0.1 ms) and not for the batch.
CHUNK_ROWS = 16
SEGMENT_ROWS = 10_000
MAX_READ_ROWS = 10_000

_LEDGER = ", ".join(field.name for field in fields(LedgerRow))
_SEGMENT = "segment, first_seq, last_seq, anchor, head, pruned"
_KEEP_SEGMENT = f"""
    INSERT INTO segments ({_SEGMENT}) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (segment) DO UPDATE SET last_seq = excluded.last_seq, head = excluded.head
"""


@dataclass(slots=True)
class Segment:
    """A stretch of the chain: `anchor` is the hash before it, `head` its last row's."""

    number: int
    first_seq: int
    last_seq: int
    anchor: str
    head: str
    pruned: int = 0

    def follows(self, before: Segment) -> bool:
        """Whether this one begins exactly where `before` ends."""
        expected = before.next()
        begins = (self.number, self.first_seq, self.anchor)
        return begins == (expected.number, expected.first_seq, expected.anchor) and self.last_seq >= self.first_seq

    def next(self) -> Segment:
        """The empty segment that follows."""
        return Segment(self.number + 1, self.last_seq + 1, self.last_seq, self.head, self.head)


def append_rows(connection: sqlite3.Connection, rows: Sequence[Fields], segment_rows: int) -> None:
    """Append rows to the chain; inside a write transaction, since another process may have moved the head."""
    segment = _last_segment(connection)
    start = 0
    while start < len(rows):
        room = segment_rows - (segment.last_seq - segment.first_seq + 1)
        if room <= 0:
            _keep_segment(connection, segment)
            segment, room = segment.next(), segment_rows
        chunk = rows[start : start + min(CHUNK_ROWS, room)]
        flat, segment.head = chained(segment.head, segment.last_seq + 1, segment.number, chunk)
        connection.execute(_insert(len(chunk)), flat)
        segment.last_seq += len(chunk)
        start += len(chunk)
    _keep_segment(connection, segment)


def read_after(connection: sqlite3.Connection, after: int, limit: int) -> list[LedgerRow]:
    """At most `limit` rows above `after`, oldest first."""
    found = connection.execute(
        f"SELECT {_LEDGER} FROM ledger WHERE seq > ? ORDER BY seq LIMIT ?", (after, max(0, min(limit, MAX_READ_ROWS)))
    )
    return [LedgerRow(*row) for row in found]


def read_tail(connection: sqlite3.Connection, count: int) -> list[LedgerRow]:
    """The newest `count` rows, oldest first."""
    found = connection.execute(
        f"SELECT {_LEDGER} FROM ledger ORDER BY seq DESC LIMIT ?", (max(0, min(count, MAX_READ_ROWS)),)
    )
    return [LedgerRow(*row) for row in found][::-1]


def verify(connection: sqlite3.Connection, stopped: Callable[[], bool]) -> int:
    """Walk the chain from its first segment; how many rows were checked, or `STORE_UNAVAILABLE` with `seq`."""
    connection.execute("BEGIN")  # one snapshot, while others go on appending
    rows = iter(connection.execute(f"SELECT {_LEDGER} FROM ledger ORDER BY seq"))
    before = Segment(0, 1, 0, GENESIS, GENESIS)
    checked = 0
    for segment in _segments(connection):
        if not segment.follows(before):
            _broken(before.last_seq + 1, "its segment does not follow the one before")
        if not segment.pruned:
            _verify_segment(segment, rows, stopped)
            checked += segment.last_seq - segment.first_seq + 1
        before = segment
    extra = next(rows, None)
    if extra is not None:
        _broken(extra[0], "no segment covers this row")
    return checked


def prune_oldest(connection: sqlite3.Connection, keep_segments: int) -> bool:
    """Remove the rows of the oldest segment, keeping its heads; False when only `keep_segments` are left."""
    live = connection.execute("SELECT segment, first_seq, last_seq FROM segments WHERE pruned = 0 ORDER BY segment")
    segments = live.fetchall()
    if len(segments) <= max(1, keep_segments):
        return False
    number, first_seq, last_seq = segments[0]
    connection.execute("DELETE FROM ledger WHERE seq BETWEEN ? AND ?", (first_seq, last_seq))
    connection.execute("UPDATE segments SET pruned = 1 WHERE segment = ?", (number,))
    return True


def _verify_segment(segment: Segment, rows: Iterator[tuple[Any, ...]], stopped: Callable[[], bool]) -> None:
    head = segment.anchor
    for seq in range(segment.first_seq, segment.last_seq + 1):
        row = next(rows, None)
        if row is None or row[0] > seq:
            _broken(seq, "the row is missing")
        if row[0] < seq:
            _broken(row[0], "the row is not where it was")
        head = link(head, row[:-1])
        if head != row[-1]:
            _broken(seq, "the row is not what was written")
        if seq % 1024 == 0 and stopped():
            raise UnavailableError("STORE_UNAVAILABLE", "the check was stopped; start it again", reason="stopped")
    if head != segment.head:
        _broken(segment.last_seq, "its segment's head is another")


def _broken(seq: int, why: str) -> NoReturn:
    raise UnavailableError(
        "STORE_UNAVAILABLE",
        f"the ledger is broken at seq {seq}: {why}; keep the file as it is and compare it with a backup",
        reason="chain_broken",
        seq=seq,
    )


def _segments(connection: sqlite3.Connection) -> Iterator[Segment]:
    for row in connection.execute(f"SELECT {_SEGMENT} FROM segments ORDER BY segment"):
        yield Segment(*row)


def _last_segment(connection: sqlite3.Connection) -> Segment:
    row = connection.execute(f"SELECT {_SEGMENT} FROM segments ORDER BY segment DESC LIMIT 1").fetchone()
    return Segment(*row) if row else Segment(1, 1, 0, GENESIS, GENESIS)


def _keep_segment(connection: sqlite3.Connection, segment: Segment) -> None:
    values = (segment.number, segment.first_seq, segment.last_seq, segment.anchor, segment.head, segment.pruned)
    connection.execute(_KEEP_SEGMENT, values)


@cache
def _insert(count: int) -> str:
    """One statement for `count` rows: one release of the interpreter's lock for all of them."""
    row = f"({', '.join('?' * COLUMNS)})"
    return f"INSERT INTO ledger ({_LEDGER}) VALUES {', '.join([row] * count)}"
