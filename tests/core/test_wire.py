"""Lines of the wire: each bad one has its answer, each good one is read as it stands."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsdk.errors import PolicyError
from host.core.wire import (
    Cancel,
    Notice,
    Request,
    Unreadable,
    dumps,
    error_line,
    id_bytes,
    is_id,
    line_too_long,
    notice_line,
    ok_line,
    raw_member,
    read_line,
)

MAX_ID = 2**53 - 1

BAD_LINES = (  # line, the id of its answer, code
    pytest.param(b"\xff\xfe", None, "BAD_ARGUMENTS", id="not-utf8"),
    pytest.param(b'{"id":1,"method":"x\xc3"}', None, "BAD_ARGUMENTS", id="utf8-cut-short"),
    pytest.param(b'{"id":1,"method":"\xed\xa0\x80"}', None, "BAD_ARGUMENTS", id="half-surrogate-as-bytes"),
    pytest.param(b"{", None, "BAD_ARGUMENTS", id="unfinished"),
    pytest.param(b"hello", None, "BAD_ARGUMENTS", id="no-json"),
    pytest.param(b"[1]", None, "BAD_ARGUMENTS", id="array"),
    pytest.param(b'"x"', None, "BAD_ARGUMENTS", id="string"),
    pytest.param(b"null", None, "BAD_ARGUMENTS", id="null"),
    pytest.param(b"{}", None, "BAD_ARGUMENTS", id="empty-object"),
    pytest.param(b'{"method":"x"}', None, "BAD_ARGUMENTS", id="no-id"),
    pytest.param(b'{"id":null,"method":"x"}', None, "BAD_ARGUMENTS", id="id-null"),
    pytest.param(b'{"id":true,"method":"x"}', None, "BAD_ARGUMENTS", id="id-true"),
    pytest.param(b'{"id":false,"method":"x"}', None, "BAD_ARGUMENTS", id="id-false"),
    pytest.param(b'{"id":1.0,"method":"x"}', None, "BAD_ARGUMENTS", id="id-float"),
    pytest.param(b'{"id":-1,"method":"x"}', None, "BAD_ARGUMENTS", id="id-negative"),
    pytest.param(b'{"id":9007199254740992,"method":"x"}', None, "BAD_ARGUMENTS", id="id-2-to-the-53"),
    pytest.param(b'{"id":"%b","method":"x"}' % (b"i" * 65), None, "BAD_ARGUMENTS", id="id-65-characters"),
    pytest.param(b'{"id":[1],"method":"x"}', None, "BAD_ARGUMENTS", id="id-array"),
    pytest.param(b'{"id":1,"id":1,"method":"x"}', None, "BAD_ARGUMENTS", id="two-ids"),
    pytest.param(b'{"id":1}', 1, "BAD_ARGUMENTS", id="no-method"),
    pytest.param(b'{"id":1,"method":7}', 1, "BAD_ARGUMENTS", id="method-number"),
    pytest.param(b'{"id":1,"method":["x"]}', 1, "BAD_ARGUMENTS", id="method-array"),
    pytest.param(b'{"id":1,"method":""}', 1, "BAD_ARGUMENTS", id="method-empty"),
    pytest.param(b'{"id":1,"method":"x","args":[]}', 1, "BAD_ARGUMENTS", id="args-array"),
    pytest.param(b'{"id":1,"method":"x","args":null}', 1, "BAD_ARGUMENTS", id="args-null"),
    pytest.param(b'{"id":1,"method":"x","params":{}}', 1, "BAD_ARGUMENTS", id="unknown-key"),
    pytest.param(b'{"id":1,"method":"x","caller":"owner"}', 1, "BAD_ARGUMENTS", id="caller-in-the-message"),
    pytest.param(b'{"id":1,"method":"x","notice":"y"}', 1, "BAD_ARGUMENTS", id="notice-with-an-id"),
    pytest.param(b'{"id":1,"method":"x","cancel":2}', 1, "BAD_ARGUMENTS", id="cancel-in-a-call"),
    pytest.param(b'{"id":1,"method":"x","method":"x"}', 1, "BAD_ARGUMENTS", id="twin-keys"),
    pytest.param(b'{"id":"a","method":"x","args":{"p":{"k":1,"k":2}}}', "a", "BAD_ARGUMENTS", id="twin-keys-inside"),
    pytest.param(b'{"id":1,"method":"x","args":{"a":NaN}}', 1, "BAD_ARGUMENTS", id="nan"),
    pytest.param(b'{"id":1,"method":"x","args":{"a":1e999}}', 1, "BAD_ARGUMENTS", id="overflowing"),
    pytest.param(b'{"id":1,"args":%b' % (b"[" * 100_000), 1, "PARAMS_TOO_LARGE", id="nested-absurdly"),
    pytest.param(b'{"args":%b' % (b'{"a":' * 100_000), None, "PARAMS_TOO_LARGE", id="nested-absurdly-no-id"),
    pytest.param(b'{"cancel":true}', None, "BAD_ARGUMENTS", id="cancel-true"),
    pytest.param(b'{"cancel":-1}', None, "BAD_ARGUMENTS", id="cancel-negative"),
    pytest.param(b'{"cancel":1,"why":"x"}', None, "BAD_ARGUMENTS", id="cancel-with-more"),
)


@pytest.mark.parametrize(("line", "number", "code"), BAD_LINES)
def test_a_bad_line_is_answered_under_the_id_it_has(line: bytes, number: int | str | None, code: str) -> None:
    read = read_line(line)
    assert isinstance(read, Unreadable)
    assert (read.id, read.error.code) == (number, code)
    answer = json.loads(error_line(read.id, read.error))
    assert (answer["id"], answer["ok"], answer["error"]["category"]) == (number, False, "invalid_argument")


GOOD_IDS = (0, 1, MAX_ID, "", "a", "x" * 64, "é\n", "\ud800", "1")


@pytest.mark.parametrize("number", GOOD_IDS, ids=ascii)
def test_a_call_comes_back_under_the_very_id_it_came_with(number: int | str) -> None:
    read = read_line(dumps({"id": number, "method": "x"}))
    assert isinstance(read, Request)
    assert json.loads(ok_line(read.id, b"{}")) == {"id": number, "ok": True, "result": {}}
    assert type(read.id) is type(number)
    cancel = read_line(dumps({"cancel": number}))
    assert cancel == Cancel(number)


@pytest.mark.parametrize(
    ("value", "good"),
    [(True, False), (MAX_ID, True), (MAX_ID + 1, False), ("i" * 64, True), ("i" * 65, False)],
    ids=repr,
)
def test_what_an_id_may_be(value: Any, good: bool) -> None:
    assert is_id(value) is good


def test_arguments_are_an_empty_object_when_absent() -> None:
    read = read_line(b'{"id":1,"method":"host.info"}')
    assert isinstance(read, Request)
    assert (read.args, read.raw_args) == ({}, b"{}")


RAW_ARGS = (  # the line's args, their raw form
    pytest.param(b'{ "a" : [1,  2] }', b'{ "a" : [1,  2] }', id="white-space-is-kept"),
    pytest.param(b'{"a":1e2,"b":1.50}', b'{"a":1e2,"b":1.50}', id="numbers-are-kept-as-written"),
    pytest.param(b'{"a":"\\u0041"}', b'{"a":"\\u0041"}', id="escapes-are-kept"),
    pytest.param('{"a":"é"}'.encode(), '{"a":"é"}'.encode(), id="utf8-is-kept"),
    pytest.param(b'{"a": "\\ud800"}', b'{"a":"\\ud800"}', id="half-surrogate-stays-an-escape"),
    pytest.param('{"a":"é\\udfff"}'.encode(), '{"a":"é\\udfff"}'.encode(), id="and-costs-its-neighbours-nothing"),
)


@pytest.mark.parametrize(("args", "raw"), RAW_ARGS)
def test_the_callers_own_bytes_are_kept(args: bytes, raw: bytes) -> None:
    read = read_line(b'{"id":1,"method":"x","args":%b}' % args)
    assert isinstance(read, Request)
    assert read.raw_args == raw
    assert read.args == json.loads(args)


@pytest.mark.parametrize("key", [b'"args"', b'"\\u0061rgs"'], ids=["plain", "escaped"])
def test_an_escaped_key_is_the_same_key_for_both_readers(key: bytes) -> None:
    read = read_line(b'{"id":1,"method":"x",%b:{"a":1}}' % key)
    assert isinstance(read, Request)
    assert (read.args, read.raw_args) == ({"a": 1}, b'{"a":1}')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(st.characters(codec=None), max_size=3), JSON, max_size=3), st.booleans())
def test_raw_and_decoded_arguments_never_disagree(args: dict[str, Any], escaped: bool) -> None:
    text = json.dumps({"id": 1, "method": "x", "args": args}, ensure_ascii=escaped)
    try:
        line = text.encode()
    except UnicodeEncodeError:
        line = json.dumps({"id": 1, "method": "x", "args": args}).encode()
    read = read_line(line)
    assert isinstance(read, Request)
    assert json.loads(read.raw_args) == read.args == args


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_reading_a_line_never_raises(line: bytes) -> None:
    assert isinstance(read_line(line), Request | Cancel | Unreadable | Notice)


def test_a_line_without_id_may_be_a_notice() -> None:
    assert read_line(b'{"notice":"ready","data":{"tier":"noopen"}}') == Notice("ready", {"tier": "noopen"})
    assert read_line(b'{"notice":"x"}') == Notice("x", None)


def test_replies_are_single_lines_whatever_they_hold() -> None:
    error = PolicyError("BROWSER_POLICY_DENIED", "a\nb\u2028\ud800", hint="c\n", method="x\n")
    for line in (error_line(None, error), notice_line("a\n", {"x": "\n\ud800"}), ok_line("i\n", b"[]")):
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        assert isinstance(json.loads(line), dict)
    assert json.loads(error_line(3, error)) == {
        "id": 3,
        "ok": False,
        "error": {
            "code": "BROWSER_POLICY_DENIED",
            "category": "policy",
            "message": "a\nb\u2028\ud800",
            "hint": "c\n",
            "details": {"method": "x\n"},
        },
    }


def test_a_line_over_its_limit_says_the_limit() -> None:
    answer = line_too_long(1_048_576)
    assert (answer.id, answer.error.code, answer.error.details) == (None, "LINE_TOO_LONG", {"limit": 1_048_576})


@given(JSON)
def test_what_is_written_reads_back(value: Any) -> None:
    assert json.loads(dumps(value)) == value


def test_half_surrogates_are_written_as_escapes_among_utf8() -> None:
    assert dumps({"é": "\ud800x"}) == '{"é":"\\ud800x"}'.encode()


@pytest.mark.parametrize(("number", "encoded"), [(0, b"0"), ("a", b'"a"'), (None, b"null")])
def test_an_id_as_json(number: int | str | None, encoded: bytes) -> None:
    assert id_bytes(number) == encoded


class _Member(msgspec.Struct):
    params: msgspec.Raw = msgspec.Raw(b"{}")


def test_one_member_is_cut_out_or_written_anew() -> None:
    decoder = msgspec.json.Decoder(_Member)
    assert raw_member(decoder, b'{"other":{},"params":{"a": 1}}', "params", {"a": 1}) == b'{"a": 1}'
    assert raw_member(decoder, b'{"other":"\\ud800","params":{"a": 1}}', "params", {"a": 1}) == b'{"a":1}'
