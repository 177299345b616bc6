"""The ring against a naive oracle that forgets nothing: random appends, losses and polls."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from host.core.ring import Dropped, Ring

MAX_EVENTS, MAX_BYTES, MAX_EVENT_BYTES, MAX_LOSSES = 4, 400, 150, 25
METHODS = ("A.x", "A.y", "B.z")


@dataclass
class Seen:
    """All that ever happened to one seq."""

    method: str
    size_bytes: int
    kept: bool


class RingMachine(RuleBasedStateMachine):
    """One writer, one reader that follows `next`, and one that reads anywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.ring = Ring(
            max_events=MAX_EVENTS, max_bytes=MAX_BYTES, max_event_bytes=MAX_EVENT_BYTES, max_losses=MAX_LOSSES
        )
        self.history: list[Seen] = []
        self.losses = 0
        self.cursor = 0
        self.returned: set[int] = set()

    def kept(self) -> list[int]:
        return [seq for seq, seen in enumerate(self.history, 1) if seen.kept]

    @rule(method=st.sampled_from(METHODS), padding=st.integers(0, 120))
    def append(self, method: str, padding: int) -> None:
        params = b'{"p":"%b"}' % (b"x" * padding)
        seq = len(self.history) + 1
        encoded = b'{"seq":%d,"method":"%b","params":%b,"at":5}' % (seq, method.encode(), params)
        stays = len(encoded) <= MAX_EVENT_BYTES
        assert self.ring.append(method, params, at_ms=5) is stays
        self.history.append(Seen(method, len(encoded), stays))
        while self._over():
            self.history[self.kept()[0] - 1].kept = False
        self.losses = sum(not seen.kept for seen in self.history)

    def _over(self) -> bool:
        sizes = [self.history[seq - 1].size_bytes for seq in self.kept()]
        return len(sizes) > MAX_EVENTS or sum(sizes) > MAX_BYTES

    @rule(method=st.sampled_from(METHODS), size_bytes=st.integers(151, 10**9))
    def lose(self, method: str, size_bytes: int) -> None:
        self.ring.lose(method, size_bytes)
        self.history.append(Seen(method, size_bytes, False))
        self.losses += 1

    @rule(
        limit=st.integers(1, 5),
        max_bytes=st.integers(2, 500),
        methods=st.none() | st.frozensets(st.sampled_from(METHODS)),
    )
    def follow(self, limit: int, max_bytes: int, methods: frozenset[str] | None) -> None:
        page_next, seqs = self._poll(self.cursor, limit, max_bytes, methods)
        assert not self.returned & set(seqs)
        self.returned.update(seqs)
        assert page_next >= self.cursor
        self.cursor = page_next

    @rule(at=st.floats(0, 1), limit=st.integers(1, 5), methods=st.none() | st.frozensets(st.sampled_from(METHODS)))
    def read_anywhere(self, at: float, limit: int, methods: frozenset[str] | None) -> None:
        self._poll(int(at * len(self.history)), limit, 10_000, methods)

    @rule()
    def read_to_the_end(self) -> None:
        for _ in range(len(self.history) + 1):
            self.follow(5, 500, None)
        assert self.cursor == len(self.history)

    def _poll(self, after: int, limit: int, max_bytes: int, methods: frozenset[str] | None) -> tuple[int, list[int]]:
        page = self.ring.read(after=after, limit=limit, max_bytes=max_bytes, methods=methods)
        seqs = [event["seq"] for event in json.loads(page.events)]
        passed = range(after + 1, page.next + 1)
        wanted = [
            seq
            for seq in passed
            if self.history[seq - 1].kept and (methods is None or self.history[seq - 1].method in methods)
        ]
        too_large = [seq for seq in wanted if self.history[seq - 1].size_bytes + 2 > max_bytes]
        assert seqs == [seq for seq in wanted if seq not in too_large]
        assert page.count == len(seqs) <= limit
        assert len(page.events) <= max_bytes
        gone = [seq for seq in passed if not self.history[seq - 1].kept] + too_large
        assert page.lost is bool(gone)
        if self.losses <= MAX_LOSSES:
            assert page.dropped == self._sums(gone)
        return page.next, seqs

    def _sums(self, gone: list[int]) -> dict[str, Dropped]:
        sums: dict[str, Dropped] = {}
        for seq in gone:
            seen = self.history[seq - 1]
            sums.setdefault(seen.method, Dropped()).add(seen.size_bytes)
        return sums

    @invariant()
    def limits_hold(self) -> None:
        assert len(self.ring) == len(self.kept()) <= MAX_EVENTS
        assert self.ring.size_bytes <= MAX_BYTES
        assert self.ring.last_seq == len(self.history)


TestRingMachine = RingMachine.TestCase
TestRingMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
