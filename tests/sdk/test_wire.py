"""The line splitter and the encoder, as tables."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsdk.wire import LineSplitter, TooLong, decode, encode

LONG = TooLong(5)
SPLITS = (  # chunks, lines (a limit of five bytes)
    pytest.param([b"ab\n"], [b"ab"], id="one-line"),
    pytest.param([b"ab\ncd\n"], [b"ab", b"cd"], id="two-in-a-chunk"),
    pytest.param([b"a", b"b", b"\n"], [b"ab"], id="byte-by-byte"),
    pytest.param([b"a\nb", b"c\nd"], [b"a", b"bc"], id="rest-is-kept"),
    pytest.param([b"\n\n"], [b"", b""], id="empty-lines"),
    pytest.param([b""], [], id="nothing"),
    pytest.param([b"12345\n"], [b"12345"], id="exactly-the-limit"),
    pytest.param([b"12345", b"\n"], [b"12345"], id="exactly-the-limit-in-two"),
    pytest.param([b"123456\n"], [LONG], id="one-over"),
    pytest.param([b"12345", b"6\n"], [LONG], id="one-over-in-two"),
    pytest.param([b"123456"], [LONG], id="told-before-its-newline"),
    pytest.param([b"123456", b"789", b"0\nok\n"], [LONG, b"ok"], id="skipped-to-its-newline"),
    pytest.param([b"123456", b"\n", b"\n"], [LONG, b""], id="newline-ends-the-skipping"),
    pytest.param([b"a\n123456\nb\n"], [b"a", LONG, b"b"], id="between-good-ones"),
    pytest.param([b"1234567890123", b"\n1234567", b"\nok\n"], [LONG, LONG, b"ok"], id="two-long-ones"),
)


@pytest.mark.parametrize(("chunks", "lines"), SPLITS)
def test_a_stream_is_cut_into_its_lines(chunks: list[bytes], lines: list[Any]) -> None:
    splitter = LineSplitter(5)
    assert [line for chunk in chunks for line in splitter.feed(chunk)] == lines


def test_a_line_without_end_takes_no_memory_beyond_the_limit() -> None:
    splitter = LineSplitter(1000)
    told = [line for _ in range(500) for line in splitter.feed(b"x" * 300)]
    assert told == [TooLong(1000)]
    assert splitter.held_bytes == 0


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_where_the_stream_is_cut_into_chunks_does_not_matter(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    splitter = LineSplitter(5)
    pieces = [data[begin:end] for begin, end in pairwise(edges)]
    assert [line for piece in pieces for line in splitter.feed(piece)] == LineSplitter(5).feed(data)


MESSAGES = (
    pytest.param({"a": "é\u2028\n"}, id="newline-and-separator-in-a-string"),
    pytest.param({"a": "\ud800"}, id="half-surrogate"),
    pytest.param([1, 2.5, None, True, "", {}], id="every-kind"),
)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_one_ascii_line_and_comes_back(message: Any) -> None:
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert decode(line[:-1]) == message == json.loads(line)


@pytest.mark.parametrize("message", [float("nan"), float("inf"), {"a": b""}, {1, 2}], ids=repr)
def test_what_is_not_json_is_not_sent(message: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(message)


@pytest.mark.parametrize("line", [b"\xff", b"{", b"", b"nope"], ids=repr)
def test_what_is_not_utf8_json_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"utf-8|Expecting"):
        decode(line)
