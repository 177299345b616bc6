"""The strict look at JSON: what is refused, and that nothing else is."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.jsonscan import BadJson, TooDeep, deeper_than, depth_of, salvage_id, scan

REFUSED = (
    pytest.param('{"a":1,"a":1}', id="twin-keys"),
    pytest.param('{"a":1,"\\u0061":1}', id="twin-keys-one-escaped"),
    pytest.param('[{"x":{"a":1,"b":2,"a":3}}]', id="twin-keys-deep-inside"),
    pytest.param('{"\\ud83d\\ude00":1,"😀":2}', id="twin-keys-by-surrogate-pair"),
    pytest.param('{"\\ud800":1,"\\ud800":2}', id="twin-half-surrogates"),
    pytest.param("NaN", id="nan"),
    pytest.param('{"a":[Infinity]}', id="infinity"),
    pytest.param("-Infinity", id="minus-infinity"),
    pytest.param("1e999", id="overflowing"),
    pytest.param('{"a":-1e400}', id="overflowing-negative"),
    pytest.param("9" * 5000, id="integer-too-long"),
    pytest.param("", id="empty"),
    pytest.param("{", id="unfinished"),
    pytest.param('{"a":1}x', id="something-behind"),
    pytest.param("{'a':1}", id="single-quotes"),
    pytest.param('{"a":1,}', id="trailing-comma"),
    pytest.param('"a\nb"', id="raw-newline-in-a-string"),
    pytest.param('"\x00"', id="raw-nul-in-a-string"),
    pytest.param("\ufeff{}", id="byte-order-mark"),
    pytest.param("\u0661", id="digits-of-another-script"),
    pytest.param("01", id="leading-zero"),
    pytest.param(".5", id="no-leading-digit"),
    pytest.param('"\\x41"', id="unknown-escape"),
    pytest.param('"\\u12"', id="short-escape"),
)


@pytest.mark.parametrize("text", REFUSED)
def test_text_that_may_not_go_on_is_refused(text: str) -> None:
    with pytest.raises(BadJson) as caught:
        scan(text)
    assert caught.value.deep is False


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [100_000, 500_000])  # Python 3.13 reads some thousand levels
def test_absurd_nesting_is_refused_as_too_deep(opening: str, depth: int) -> None:
    with pytest.raises(TooDeep) as caught:
        scan(opening * depth)
    assert caught.value.deep is True


PASSED = (
    pytest.param('{"a":1,"b":{"a":1}}', {"a": 1, "b": {"a": 1}}, id="same-key-in-another-object"),
    pytest.param('{"a":1,"A":2}', {"a": 1, "A": 2}, id="keys-differ-in-case"),
    pytest.param('"\\ud800"', "\ud800", id="half-surrogate"),
    pytest.param("123456789012345678901234567890", 123456789012345678901234567890, id="huge-integer"),
    pytest.param("1e308", 1e308, id="largest-floats"),
    pytest.param("-0.0", -0.0, id="minus-zero"),
    pytest.param(" \t\r\n[ ] ", [], id="white-space"),
)


@pytest.mark.parametrize(("text", "value"), PASSED)
def test_unusual_but_good_json_passes(text: str, value: Any) -> None:
    assert scan(text) == value


def test_ninety_nine_levels_are_no_matter() -> None:
    assert depth_of(json.dumps(scan("[" * 99 + "]" * 99)).encode()) == 99


def _acceptable(text: str) -> bool:
    """What json.loads takes, less the refusals, told in another way than the scanner does it."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in found}) != len(found):
            raise ValueError("twins")
        return dict(found)

    def finite(value: Any) -> bool:
        if isinstance(value, dict):
            return all(map(finite, value.values()))
        if isinstance(value, list):
            return all(map(finite, value))
        return not isinstance(value, float) or math.isfinite(value)

    try:
        return finite(json.loads(text, object_pairs_hook=pairs))
    except (ValueError, RecursionError):
        return False


TOKENS = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"a"',
        '"b"',
        '"\\u0061"',
        '"\\ud800"',
        "1",
        "-2.5e3",
        "1e999",
        "NaN",
        "null",
        "true",
        " ",
        "\\",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)
TEXTS = st.one_of(
    st.lists(TOKENS, max_size=12).map("".join),
    VALUES.map(json.dumps),
    VALUES.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1)),
    st.text(max_size=20),
)


@given(TEXTS)
def test_it_accepts_what_the_standard_parser_does_less_the_refusals(text: str) -> None:
    try:
        value = scan(text)
    except BadJson:
        assert not _acceptable(text)
    else:
        assert _acceptable(text)
        assert scan(json.dumps(value)) == value == json.loads(text)


DEPTHS = (
    pytest.param(b"1", 0, id="scalar"),
    pytest.param(b"{}", 1, id="empty-object"),
    pytest.param(b'{"a":[1,{"b":[]}]}', 4, id="mixed"),
    pytest.param(b'["[[[[", "{{{"]', 1, id="brackets-in-strings"),
    pytest.param(b'["\\"[[[", []]', 2, id="brackets-behind-an-escaped-quote"),
    pytest.param(b'["\\\\", [[]]]', 3, id="escaped-backslash-ends-the-string"),
    pytest.param(b"[[],[],[]]", 2, id="side-by-side"),
)


@pytest.mark.parametrize(("raw", "depth"), DEPTHS)
def test_depth_counts_brackets_outside_strings(raw: bytes, depth: int) -> None:
    assert depth_of(raw) == depth
    assert not deeper_than(raw, depth)
    assert depth == 0 or deeper_than(raw, depth - 1)


@given(VALUES)
def test_depth_agrees_with_a_walk_over_the_value(value: Any) -> None:
    def walk(one: Any) -> int:
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else None
        return 0 if inner is None else 1 + max(map(walk, inner), default=0)

    assert depth_of(json.dumps(value).encode()) == walk(value)


MANY_KEYS = '{"id":1,' + "".join(f'"k{n}":0,' for n in range(200)) + '"id":2}'
SALVAGED = (  # a refused line, the id that its caller waits under
    pytest.param('{"id":1,"args":{"a":1,"a":2}}', 1, id="twins-inside"),
    pytest.param('{"id":1,"method":"x","method":"y"}', 1, id="twins-beside"),
    pytest.param('{"id":1,"id":2}', None, id="two-ids"),
    pytest.param(MANY_KEYS, None, id="two-ids-among-many-keys"),
    pytest.param('{"id":1,"args":NaN}', 1, id="nan"),
    pytest.param('{"id":1,"args":1e999}', 1, id="overflowing"),
    pytest.param('{"id":1,"args":%s}' % ("7" * 5000), 1, id="integer-too-long"),
    pytest.param('{"id":%s,"args":NaN}' % ("7" * 5000), None, id="id-too-long"),
    pytest.param('{"id":1,"args":%s' % ("[" * 100_000), 1, id="too-deep"),
    pytest.param(' { "id" : "a-7" , "args":%s' % ("[" * 100_000), "a-7", id="too-deep-text-id"),
    pytest.param('{"args":%s' % ("[" * 100_000), None, id="too-deep-before-the-id"),
    pytest.param('{"id":1', None, id="unfinished"),
    pytest.param("[NaN]", None, id="no-object"),
)


@pytest.mark.parametrize(("text", "number"), SALVAGED)
def test_the_id_of_a_refused_line_is_saved_where_it_is_sure(text: str, number: Any) -> None:
    assert salvage_id(text) == number
