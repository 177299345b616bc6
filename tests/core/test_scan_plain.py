"""The quick look at a line may only say yes where the strict one says the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.jsonscan import BadJson, scan, scan_plain

KEYS = st.sampled_from(["a", "b", ":", 'q"', "é", "a b"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(alphabet='ab:"\\ é', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def objects_with_twins(draw: st.DrawFn) -> str:
    """JSON of an object that may name a key twice, with odd white space around its colons."""
    members = draw(st.lists(st.tuples(KEYS, VALUES), max_size=4))
    gaps = st.sampled_from(["", " ", "\t", "\n "])
    return "{" + ",".join(f"{json.dumps(k)}{draw(gaps)}:{draw(gaps)}{json.dumps(v)}" for k, v in members) + "}"


@given(objects_with_twins())
def test_a_plain_line_is_one_that_the_strict_scan_takes_too(text: str) -> None:
    quick = scan_plain(text.encode())
    try:
        strict = scan(text)
    except BadJson:
        assert quick is None
    else:
        assert quick is None or quick == strict


PLAIN = (
    pytest.param(b'{"id":1,"method":"m","args":{"a":[{"b":1}]}}', True, id="as-clients-write"),
    pytest.param(b'{"id":1,"args":{"url":"http://x"}}', False, id="colon-in-a-string"),
    pytest.param(b'{"a":1,"a":2}', False, id="twins"),
    pytest.param(b'{"a":1,"a" :2}', False, id="twins-behind-a-space"),
    pytest.param(b'{"a":1,"\\u0061":2}', False, id="twins-by-escape"),
    pytest.param(b'{"a":"\\ud800"}', False, id="half-surrogate"),
    pytest.param(b'{"a":NaN}', False, id="nan"),
    pytest.param(b'{"a":1e999}', False, id="out-of-range"),
    pytest.param(b'{"a":"\xff"}', False, id="not-utf-8"),
    pytest.param(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", False, id="deep"),
)


@pytest.mark.parametrize(("line", "plain"), PLAIN)
def test_only_plain_lines_take_the_quick_way(line: bytes, plain: bool) -> None:
    assert (scan_plain(line) is not None) is plain
