"""Cursors at length: the ring against its oracle over long histories, and readers who come with any cursor at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from capsdk.errors import InvalidArgumentError
from host.core.ring import Ring
from tests.core.test_ring_machine import RingMachine
from tests.support.fuzz import SHORT


@pytest.mark.long
def test_the_ring_agrees_with_its_oracle_over_long_histories() -> None:
    long = settings(max_examples=300, stateful_step_count=150, deadline=None, derandomize=True)
    run_state_machine_as_test(RingMachine, settings=long)


@given(
    st.lists(st.tuples(st.sampled_from(("A.x", "B.y")), st.integers(0, 90), st.booleans()), max_size=60),
    st.integers(0, 70),
    st.integers(1, 9),
    st.integers(2, 300),
)
@SHORT
def test_every_seq_is_returned_or_told_as_lost_whatever_the_cursor_was(
    happened: list[tuple[str, int, bool]], after: int, limit: int, max_bytes: int
) -> None:
    ring = Ring(max_events=7, max_bytes=500, max_event_bytes=120, max_losses=1000)
    for method, padding, lost in happened:
        if lost:
            ring.lose(method, padding + 500)
        else:
            ring.append(method, b'"%b"' % (b"x" * padding), at_ms=1, target="t" if padding % 2 else None)
    if after > len(happened):
        with pytest.raises(InvalidArgumentError) as refused:
            ring.read(after=after, limit=limit, max_bytes=max_bytes)
        assert refused.value.code == "BAD_CURSOR"
        return
    seqs: list[int] = []
    missed, start = 0, after
    while after < len(happened):
        page = ring.read(after=after, limit=limit, max_bytes=max_bytes)
        assert page.next > after  # a reader who goes on there comes to the end
        seqs += [event["seq"] for event in json.loads(page.events)]
        told = sum(dropped.count for dropped in page.dropped.values())
        assert page.lost is (told > 0)
        missed, after = missed + told, page.next
    assert seqs == sorted(set(seqs))
    assert len(seqs) + missed == len(happened) - start
