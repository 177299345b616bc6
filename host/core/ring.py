"""A session's bounded memory of events: bytes in, a page of bytes out, and the truth about what is missing."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from capsdk.errors import InvalidArgumentError


class Kept(NamedTuple):
    """One event as it goes out."""

    seq: int
    method: str
    encoded: bytes


class Loss(NamedTuple):
    """One event that used up a seq and cannot be read (any more)."""

    seq: int
    method: str
    size_bytes: int


@dataclass(slots=True)
class Dropped:
    """What one method lost: how many, their bytes together, and the largest."""

    count: int = 0
    bytes: int = 0
    size: int = 0

    def add(self, size_bytes: int) -> None:
        """Count one more event."""
        self.count += 1
        self.bytes += size_bytes
        self.size = max(self.size, size_bytes)

    def merge(self, other: Dropped) -> None:
        """Count all that `other` counted."""
        self.count += other.count
        self.bytes += other.bytes
        self.size = max(self.size, other.size)


@dataclass(frozen=True, slots=True)
class Page:
    """One poll. `next` is the last seq scanned; `lost` tells that a seq in (after, next] cannot be read."""

    events: bytes
    count: int
    next: int
    lost: bool
    dropped: dict[str, Dropped] = field(default_factory=dict)


LOSSES_A_SUM = 256
SUMS_KEPT = 64


@dataclass(slots=True)
class OldLosses:
    """The sum of losses next to each other that are not remembered singly any more."""

    last_seq: int = 0
    count: int = 0
    by_method: dict[str, Dropped] = field(default_factory=dict)

    def add(self, loss: Loss) -> None:
        """One more."""
        self.last_seq = max(self.last_seq, loss.seq)
        self.count += 1
        self.by_method.setdefault(loss.method, Dropped()).add(loss.size_bytes)

    def take_in(self, older: OldLosses) -> None:
        """The sum before this one joins it."""
        self.count += older.count
        for method, dropped in older.by_method.items():
            self.by_method.setdefault(method, Dropped()).merge(dropped)


class Ring:
    """The newest events of a session, at most `max_events` and `max_bytes` of them.

    An event over `max_event_bytes` takes a seq and is not kept. Reading removes nothing. `max_losses`
    single losses are remembered; older ones only as sums of some hundred, each of which the poll that passes the last
    of them gets whole; the oldest sums grow together.
    `lost` is exact in any case: every seq that was passed and is not kept is lost.
    """

    def __init__(self, *, max_events: int, max_bytes: int, max_event_bytes: int, max_losses: int = 2000) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._max_event_bytes = max_event_bytes
        self._max_losses = max_losses
        self._kept: deque[Kept] = deque()
        self._kept_bytes = 0
        self._losses: deque[Loss] = deque()
        self._old_losses: deque[OldLosses] = deque()
        self._last_seq = 0

    @property
    def last_seq(self) -> int:
        """The newest seq given out, 0 before the first."""
        return self._last_seq

    @property
    def size_bytes(self) -> int:
        """Bytes of the events that are kept."""
        return self._kept_bytes

    def __len__(self) -> int:
        return len(self._kept)

    def append(self, method: str, params: bytes, *, at_ms: int, target: str | None = None) -> bool:
        """Take one event in; false when it was too large to be kept."""
        self._last_seq = seq = self._last_seq + 1
        if target is None:
            encoded = b'{"seq":%d,"method":"%b","params":%b,"at":%d}' % (seq, method.encode(), params, at_ms)
        else:
            encoded = b'{"seq":%d,"method":"%b","params":%b,"targetSessionId":"%b","at":%d}' % (
                seq,
                method.encode(),
                params,
                target.encode(),
                at_ms,
            )
        size_bytes = len(encoded)
        if size_bytes > self._max_event_bytes:
            self._lose(Loss(seq, method, size_bytes))
            return False
        self._kept.append(Kept(seq, method, encoded))
        self._kept_bytes += size_bytes
        while len(self._kept) > self._max_events or self._kept_bytes > self._max_bytes:
            oldest = self._kept.popleft()
            self._kept_bytes -= len(oldest.encoded)
            self._lose(Loss(oldest.seq, oldest.method, len(oldest.encoded)))
        return True

    def lose(self, method: str, size_bytes: int) -> None:
        """An event that was discarded before it could be read in: it takes a seq and is lost."""
        self._last_seq += 1
        self._lose(Loss(self._last_seq, method, size_bytes))

    def _lose(self, loss: Loss) -> None:
        self._losses.append(loss)
        if len(self._losses) > self._max_losses:
            old = self._losses.popleft()
            if not self._old_losses or self._old_losses[-1].count >= LOSSES_A_SUM:
                self._old_losses.append(OldLosses())
            self._old_losses[-1].add(old)
            if len(self._old_losses) > SUMS_KEPT:
                oldest = self._old_losses.popleft()
                self._old_losses[0].take_in(oldest)

    def has_news(self, after: int, methods: frozenset[str] | None) -> bool:
        """Would a poll from `after` return an event, or tell of a loss?"""
        if any(k.seq > after and (methods is None or k.method in methods) for k in reversed(self._kept)):
            return True
        if self._old_losses and after < self._old_losses[-1].last_seq:
            return True
        return any(loss.seq > after and (methods is None or loss.method in methods) for loss in self._losses)

    def read(self, *, after: int, limit: int, max_bytes: int, methods: frozenset[str] | None = None) -> Page:
        """At most `limit` events and `max_bytes` bytes of them after seq `after`, oldest first.

        Raises InvalidArgumentError BAD_CURSOR when `after` is above the newest seq.
        """
        if after > self._last_seq:
            raise InvalidArgumentError(
                "BAD_CURSOR",
                f"`after` is {after} and the newest event is {self._last_seq}; use the `next` of the last poll",
                after=after,
                newest=self._last_seq,
            )
        parts: list[bytes] = []
        used_bytes, scanned = 2, self._last_seq
        previous, kept = after, 0
        too_large: list[Loss] = []
        for seq, method, encoded in self._kept:
            if seq <= after:
                continue
            if (methods is None or method in methods) and len(encoded) + 2 > max_bytes:
                too_large.append(Loss(seq, method, len(encoded)))  # no poll will ever hold it: it is passed, and told
                kept -= 1
            elif methods is None or method in methods:
                cost = len(encoded) + (1 if parts else 0)
                if len(parts) >= limit or used_bytes + cost > max_bytes:
                    scanned = previous
                    break
                parts.append(encoded)
                used_bytes += cost
            previous, kept = seq, kept + 1
        dropped = self._dropped(after, scanned)
        for loss in too_large:
            dropped.setdefault(loss.method, Dropped()).add(loss.size_bytes)
        return Page(b"[" + b",".join(parts) + b"]", len(parts), scanned, scanned - after > kept, dropped)

    def _dropped(self, after: int, upto: int) -> dict[str, Dropped]:
        found: dict[str, Dropped] = {}
        for old in self._old_losses:
            if after < old.last_seq <= upto:
                for method, dropped in old.by_method.items():
                    found.setdefault(method, Dropped()).merge(dropped)
        for loss in self._losses:
            if after < loss.seq <= upto:
                found.setdefault(loss.method, Dropped()).add(loss.size_bytes)
        return found
