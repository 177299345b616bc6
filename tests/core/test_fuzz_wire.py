"""Lines that nobody would write: each is read as the standard parser and the wire's text say, and none is a fault."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsdk.wire import LineSplitter, TooLong
from host.core.jsonscan import depth_of
from host.core.wire import Cancel, Notice, Request, Unreadable, error_line, read_line
from tests.support.fuzz import LONG, SHORT, mutated

REAL = (
    b'{"id": 1, "method": "browser.openSession", "args": {"url": "https://shop.example/r/1"}}',
    b'{"id":"a-7","method":"browser.cdp","args":{"sessionId":"0f","method":"Runtime.evaluate",'
    b'"params":{"expression":"\\ud83d\\ude00 \\u00e9","n":[1,-2.5e3,true,null,{"a":[]}]}}}',
    b'{"id":9007199254740991,"method":"browser.events","args":{"after":0,"methods":["A.b"],"waitMs":20000}}',
    '{"id":"é","method":"run.log","args":{"level":"info","message":"größer → 😀"}}'.encode(),
    b'{"cancel":2}',
    b'{"cancel":"a-7"}',
    b'{"notice":"ready","data":{"tier":"noopen"}}',
    b'{"id":0,"method":"host.info"}',
)
PIECES = (
    *(b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\\u", b"\\ud800", b"\\udfff", b"\\u0000", b"\\u0061", b"\0"),
    *(b'"id":', b'"id":2,', b'"method":', b'"args":{},', b'"cancel":1', b'"notice":1', b'"caller":"owner",', b'"a":1,'),
    *(b"-1", b"1.0", b"1e2", b"1e999", b"-0", b"01", b"9007199254740992", b"9" * 25, b"1" * 5000, b"NaN", b"-Infinity"),
    *(b"true", b"null", b" ", b"\t", b"\r", b"\n", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\xff"),
    *(b"[" * 120, b"]" * 120, b'{"a":' * 120, b"[" * 3000, b'{"a":' * 3000),
)
IDS = (
    *(b"0", b"1", b"9007199254740991", b"9007199254740992", b"-1", b"-0", b"1.0", b"1e2", b"true", b"null", b"[1]"),
    *(b'""', b'"a"', b'"%b"' % (b"i" * 64), b'"%b"' % (b"i" * 65), b'"\\ud800"', b'"\\u0061"', '"é"'.encode()),
)
VALUES = (
    *(b"{}", b"[]", b"null", b"1", b'""', b'"x"', b'"host.info"', b'{"a":1}', b'{"a":1,"a":2}', b'{"a":1,"\\u0061":2}'),
    *(b'{"a":{"b":1},"c":[{"b":2}]}', b'{"a":":"}', b'{"a":NaN}', b'{"a":1e999}', b'{"a":-0.0}', b'{"a":"\\ud800"}'),
    *(b'{"a":12345678901234567890123}', b'{"a":1.5e3}', b'{"a" : [ 1 ,2]}', b'{"a":01}', b'{"":{"":{}}}'),
    *(b"[" * 99 + b"]" * 99, b"[" * 5000 + b"]" * 5000),
)
KEYS = (
    b'"id"',
    b'"method"',
    b'"args"',
    b'"cancel"',
    b'"notice"',
    b'"data"',
    b'"caller"',
    b'"\\u0069d"',
    b'"ID"',
    b'"a"',
)
GAPS = st.sampled_from((b"",) * 30 + (b" ", b"\t", b"\r", b"\x0c"))
GOOD_IDS = (b"1", b'"a-7"')


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """An object of the words of the wire with odd values, a key perhaps twice: near to a call, mostly."""
    number = draw(st.sampled_from((*GOOD_IDS * 10, *IDS)))
    method = draw(st.sampled_from((b'"x"',) * 40 + VALUES))
    members = [one for one in ((b'"id"', number), (b'"method"', method)) if draw(st.integers(0, 9))]
    for _ in range(draw(st.sampled_from((0, 1, 1, 2)))):
        members.append((draw(st.sampled_from(KEYS)), draw(st.sampled_from((*VALUES, *IDS)))))
    texts = [key + draw(GAPS) + b":" + draw(GAPS) + value for key, value in draw(st.permutations(members))]
    return b"".join((draw(GAPS), b"{", draw(GAPS).join((b"", b",".join(texts), b"")), b"}", draw(GAPS)))


LINES = messages() | mutated(REAL, PIECES)
DEEP = 100  # levels that a call's parameters may have; more may be refused as a line


class Bad(ValueError):
    """Not what may stand on a line."""


def standard(line: bytes) -> Any:
    """What the standard parser reads, less what the wire forbids. Raises ValueError or RecursionError."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise Bad("twins")
        return dict(pairs)

    def finite(text: str) -> float:
        if not math.isfinite(float(text)):
            raise Bad("endless")
        return float(text)

    def never(word: str) -> Any:
        raise Bad(word)

    return json.loads(line.decode("utf-8"), object_pairs_hook=once, parse_float=finite, parse_constant=never)


def good_id(value: Any) -> bool:
    return (type(value) is int and 0 <= value < 2**53) or (type(value) is str and len(value) <= 64)


def expected(value: Any) -> tuple[str, Any]:
    """The kind of message and its id, by the words of `design.md` 13."""
    if not isinstance(value, dict):
        return "unreadable", None
    own = value.get("id") if good_id(value.get("id")) else None
    if "cancel" in value:
        alone = len(value) == 1 and good_id(value["cancel"])
        return ("cancel", value["cancel"]) if alone else ("unreadable", own)
    if "notice" in value and "id" not in value:
        return "notice", None
    is_call = set(value) <= {"id", "method", "args"} and isinstance(value.get("args", {}), dict)
    named = isinstance(value.get("method"), str) and value["method"] != ""
    return ("call" if own is not None and is_call and named else "unreadable"), own


def agree(line: bytes) -> None:
    """The line is read as it should be, and an unreadable one can be answered."""
    read = read_line(line)
    if isinstance(read, Unreadable):
        answer = json.loads(error_line(read.id, read.error))
        assert (answer["id"], answer["ok"], answer["error"]["category"]) == (read.id, False, "invalid_argument")
    try:
        value = standard(line)
    except RecursionError:
        assert isinstance(read, Unreadable)
        assert read.error.code == "PARAMS_TOO_LARGE"
        return
    except ValueError:
        assert isinstance(read, Unreadable)
        assert read.id is None or good_id(read.id)
        return
    if isinstance(read, Unreadable) and read.error.code == "PARAMS_TOO_LARGE":
        assert depth_of(line) > DEEP
        return
    kind, number = expected(value)
    match read:
        case Request():
            assert (kind, number, type(number)) == ("call", read.id, type(read.id))
            assert (read.method, read.args) == (value["method"], value.get("args", {}))
            assert json.loads(read.raw_args) == read.args
            assert repr(json.loads(read.raw_args)) == repr(read.args)  # 1 is not 1.0, and -0.0 is not 0
        case Cancel():
            assert (kind, number) == ("cancel", read.id)
        case Notice():
            assert (kind, read.data) == ("notice", value.get("data"))
        case Unreadable():
            assert (kind, number) == ("unreadable", read.id)


GOOD = ((b'"id"', b"1"), (b'"method"', b'"x"'))


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_one_odd_member_of_a_call_is_read_as_the_standard_parser_reads_it(key: bytes) -> None:
    for value in (*VALUES, *IDS):
        for others in (GOOD, GOOD[:1], GOOD[1:], ()):
            for members in ((*others, (key, value)), ((key, value), *others)):
                agree(b"{" + b",".join(name + b":" + text for name, text in members) + b"}")


@given(LINES)
@SHORT
def test_a_mutated_line_is_read_as_the_standard_parser_reads_it(line: bytes) -> None:
    agree(line)


@pytest.mark.long
@given(LINES)
@LONG
def test_many_mutated_lines_are_read_as_the_standard_parser_reads_them(line: bytes) -> None:
    agree(line)


@pytest.mark.parametrize("line", REAL, ids=range(len(REAL)))
def test_a_line_cut_anywhere_is_unreadable_and_a_whole_one_is_not(line: bytes) -> None:
    assert not isinstance(read_line(line), Unreadable)
    for at in range(len(line)):
        assert isinstance(read_line(line[:at]), Unreadable), line[:at]


NAMED = (  # what a fuzzer found, or would have
    pytest.param(b'{"id":1,"method":"x","args":{"a":123456789012345678901234567890}}', id="integer-beyond-64-bit"),
    pytest.param(b'{"id":1,"method":"x","args":{"a":-0.0,"b":1e-400,"c":1E2}}', id="floats-at-the-edges"),
    pytest.param(b'{"id":1,"method":"x","args":{"\\ud800":1,"\\udfff":"\\udfff\\ud800"}}', id="half-surrogate-keys"),
    pytest.param(b'{"id":1,"method":"x","args":%b}' % (b'{"a":' * 99 + b"1" + b"}" * 99), id="ninety-nine-levels"),
    pytest.param(b'{"id":1,"method":"x","args":{"a":%b}}' % (b"9" * 4300), id="integer-of-4300-digits"),
    pytest.param(b'{"id":"\\ud800","method":"\\ud800"}', id="half-surrogate-id"),
    pytest.param(b'\xef\xbb\xbf{"id":1,"method":"x"}', id="byte-order-mark"),
    pytest.param(b'{"id":1,"method":"x"}\r', id="carriage-return"),
    pytest.param(b'{"id":-0,"method":"x"}', id="minus-zero-as-id"),
)


@pytest.mark.parametrize("line", NAMED)
def test_an_odd_line_is_read_as_the_standard_parser_reads_it(line: bytes) -> None:
    agree(line)


LIMIT = 120


def cut(data: bytes, cuts: list[int], limit: int) -> list[bytes | TooLong]:
    """What a splitter makes of a stream that arrives in these pieces."""
    splitter = LineSplitter(limit)
    edges = [0, *sorted(min(at, len(data)) for at in cuts), len(data)]
    told = [line for begin, end in pairwise(edges) for line in splitter.feed(data[begin:end])]
    assert splitter.held_bytes <= limit
    return told


NEAR = st.integers(LIMIT - 2, LIMIT + 2).map(lambda size: b"x" * size)


@given(st.lists(LINES | NEAR, max_size=5), st.lists(st.integers(0, 1500), max_size=12))
@SHORT
def test_a_stream_in_any_pieces_gives_its_lines_and_the_long_ones_as_such(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    whole = [line if len(line) <= LIMIT else TooLong(LIMIT) for line in stream.split(b"\n")[:-1]]
    assert cut(stream, cuts, LIMIT) == whole


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 4096])
def test_a_stream_in_pieces_of_one_size_gives_every_message(size: int) -> None:
    stream = b"".join(line + b"\n" for line in REAL)
    told = cut(stream, list(range(0, len(stream), size)), 10_000)
    assert told == list(REAL)
    assert [type(read_line(line)) for line in told if isinstance(line, bytes)] == [type(read_line(one)) for one in REAL]
