"""Frames out of a stream: the same ones however it is cut, and a bounded memory whatever comes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.cdp.framing import HEAD_BYTES, TAIL_BYTES, FrameSplitter

Heard = tuple[str, bytes, int]


class Ear:
    """A splitter and what it told: ("frame", bytes, size), ("discard", head, 0), ("over", head + tail, size)."""

    def __init__(self, limit_bytes: int, raised: dict[bytes, int] | None = None) -> None:
        self.heard: list[Heard] = []
        self.asked: list[bytes] = []
        self.raised = raised or {}
        self.splitter = FrameSplitter(
            lambda frame: self.heard.append(("frame", frame, len(frame))),
            lambda head, tail, size: self.heard.append(("over", head + b"|" + tail, size)),
            limit_bytes=limit_bytes,
            limit_of=self._limit_of,
            on_discard=lambda head: self.heard.append(("discard", head, 0)),
        )

    def _limit_of(self, head: bytes) -> int:
        self.asked.append(head)
        return next((limit for start, limit in self.raised.items() if head.startswith(start)), 0)

    def feed(self, *chunks: bytes) -> list[Heard]:
        for chunk in chunks:
            self.splitter.feed(chunk)
        return self.heard


def frames(heard: list[Heard]) -> list[bytes]:
    return [frame for kind, frame, _ in heard if kind == "frame"]


SPLITS = (  # chunks, frames
    pytest.param([b"ab\0"], [b"ab"], id="one"),
    pytest.param([b"ab\0cd\0"], [b"ab", b"cd"], id="two-in-a-chunk"),
    pytest.param([b"a", b"b", b"\0"], [b"ab"], id="byte-by-byte"),
    pytest.param([b"a\0b", b"c\0d"], [b"a", b"bc"], id="rest-is-held"),
    pytest.param([b"\0\0a\0\0"], [b"a"], id="empty-frames-are-none"),
    pytest.param([b"a", b"", b"b\0"], [b"ab"], id="empty-chunk"),
    pytest.param([], [], id="nothing"),
)


@pytest.mark.parametrize(("chunks", "expected"), SPLITS)
def test_a_stream_is_cut_into_its_frames(chunks: list[bytes], expected: list[bytes]) -> None:
    assert frames(Ear(100).feed(*chunks)) == expected


@pytest.mark.parametrize("size", [1, 9, 10])
@pytest.mark.parametrize("step", [1, 3, 100])
def test_a_frame_up_to_its_limit_passes(size: int, step: int) -> None:
    data = b"x" * size + b"\0"
    ear = Ear(10)
    assert ear.feed(*(data[at : at + step] for at in range(0, len(data), step))) == [("frame", b"x" * size, size)]
    assert ear.asked == []


@pytest.mark.parametrize("step", [1, 3, 100])
def test_a_frame_one_byte_over_is_thrown_away_and_the_next_one_is_not(step: int) -> None:
    data = b"0123456789a\0ok\0"
    ear = Ear(10)
    heard = ear.feed(*(data[at : at + step] for at in range(0, len(data), step)))
    assert [kind for kind, _, _ in heard] == ["discard", "over", "frame"]
    assert heard[1] == ("over", b"0123456789a|0123456789a", 11)
    assert heard[2] == ("frame", b"ok", 2)


def test_the_head_and_tail_of_a_discarded_frame_are_its_own() -> None:
    body = b"".join(b"%07d," % number for number in range(1000))
    heard = Ear(100).feed(*(body[at : at + 333] for at in range(0, len(body), 333)), b"\0")
    assert heard[-1] == ("over", body[:HEAD_BYTES] + b"|" + body[-TAIL_BYTES:], len(body))


def test_a_limit_is_raised_for_the_frame_that_was_asked_about_only() -> None:
    ear = Ear(10, {b"big": 20})
    heard = ear.feed(b"big" + b"x" * 17 + b"\0", b"big" + b"x" * 18 + b"\0", b"bag" + b"x" * 17 + b"\0")
    assert [(kind, size) for kind, _, size in heard if kind != "discard"] == [("frame", 20), ("over", 21), ("over", 20)]
    assert len(ear.asked) == 3


def test_a_frame_is_asked_about_once_however_it_arrives() -> None:
    ear = Ear(10, {b"big": 50})
    ear.feed(b"big", *[b"x"] * 47, b"\0")
    assert ear.asked == [b"big" + b"x" * 8]
    assert ear.heard == [("frame", b"big" + b"x" * 47, 50)]


def test_a_lower_answer_does_not_lower_the_limit() -> None:
    ear = Ear(10, {b"b": 3})
    assert ear.feed(b"b" * 10 + b"\0") == [("frame", b"b" * 10, 10)]


def test_discarding_takes_no_memory() -> None:
    ear = Ear(10_000)
    for _ in range(1000):
        ear.feed(b"x" * 65_536)
        assert ear.splitter.buffered_bytes <= HEAD_BYTES + TAIL_BYTES
    assert ear.feed(b"\0")[-1][2] == 65_536_000
    assert ear.splitter.buffered_bytes == 0


def test_what_is_held_is_at_most_the_limit_and_one_chunk() -> None:
    ear = Ear(1000)
    most = 0
    for _ in range(20):
        ear.feed(b"x" * 100)
        most = max(most, ear.splitter.buffered_bytes)
    assert most == 1000


def untimed(heard: Heard) -> Heard:
    """Less the edges of a discarded frame: how much of a head there is depends on when a tiny limit was passed."""
    kind, frame, size = heard
    return (kind, frame if kind == "frame" else b"", size)


STREAMS = st.lists(st.binary(max_size=30).map(lambda part: part.replace(b"\0", b"z")), max_size=8).map(
    lambda parts: b"\0".join(parts) + b"\0"
)


@given(STREAMS, st.lists(st.integers(0, 300)), st.integers(1, 20))
def test_where_the_stream_is_cut_into_chunks_does_not_matter(data: bytes, cuts: list[int], limit_bytes: int) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    raised = {b"a": 25, b"b": 5}
    whole, cut_up = Ear(limit_bytes, raised), Ear(limit_bytes, raised)
    whole.feed(data)
    cut_up.feed(*(data[begin:end] for begin, end in pairwise(edges)))
    told = [[untimed(one) for one in ear.heard if one[0] != "discard"] for ear in (whole, cut_up)]
    assert told[0] == told[1]
    parts = [part for part in data.split(b"\0") if part]
    assert [size for _, _, size in told[0]] == [len(part) for part in parts]
    most = [max(limit_bytes, raised.get(part[:1], 0)) for part in parts]
    assert frames(told[0]) == [part for part, limit in zip(parts, most, strict=True) if len(part) <= limit]
