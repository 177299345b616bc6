"""What surrounds a payload, read in two ways that must agree."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.cdp.envelope import Incoming, decode, encode, loads, read_edges

SESSION = "0123456789ABCDEF"


def compact(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")


MESSAGES = (
    pytest.param({"id": 7, "result": {"a": 1}}, id="reply"),
    pytest.param({"id": 7, "result": {}, "sessionId": SESSION}, id="reply-of-a-session"),
    pytest.param({"id": 7, "error": {"code": -32000, "message": "no"}, "sessionId": SESSION}, id="error"),
    pytest.param({"id": 9_007_199_254_740_991, "error": {"code": -32001, "message": "no"}}, id="error-without-session"),
    pytest.param({"method": "Page.loadEventFired", "params": {"t": 1.5}, "sessionId": SESSION}, id="event"),
    pytest.param({"method": "Target.targetCreated", "params": {"x": []}}, id="event-of-the-browser"),
    pytest.param({"method": "Page.x", "params": {"sessionId": SESSION}}, id="session-inside-the-parameters"),
    pytest.param(
        {"method": "Page.x", "params": {"s": f',"sessionId":"{SESSION}"}}'}}, id="session-lookalike-in-a-text"
    ),
)


def as_tuple(message: Incoming) -> tuple[int, str, str, bytes, bytes, bytes]:
    return (
        message.id,
        message.method,
        message.sessionId,
        bytes(message.params),
        bytes(message.result),
        bytes(message.error),
    )


def expected(message: dict[str, Any]) -> tuple[int, str, str, bytes, bytes, bytes]:
    payloads = [compact(message[key]) if key in message else b"" for key in ("params", "result", "error")]
    return (message.get("id", 0), message.get("method", ""), message.get("sessionId", ""), *payloads)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_read_with_its_payload_as_bytes(message: dict[str, Any]) -> None:
    frame = compact(message)
    read = decode(frame)
    assert read is not None
    assert as_tuple(read) == expected(message)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_half_surrogate_in_the_payload_changes_nothing_else(message: dict[str, Any]) -> None:
    key = next(key for key in ("params", "result", "error") if key in message)
    odd = {**message, key: {**message[key], "title": "\ud800"}}
    read = decode(compact(odd))
    assert read is not None
    assert as_tuple(read) == expected(odd)
    assert loads(as_tuple(read)[3] or as_tuple(read)[4] or as_tuple(read)[5]) == odd[key]


PAYLOADS = st.dictionaries(
    st.text(st.characters(codec=None), max_size=4), st.text(st.characters(codec=None), max_size=40), max_size=4
)


@given(st.sampled_from(["params", "result", "error"]), PAYLOADS, st.booleans(), st.integers(1, 2**53 - 1))
def test_the_edges_agree_with_the_whole(key: str, payload: dict[str, str], in_session: bool, number: int) -> None:
    message: dict[str, Any] = {"method": "Page.frameNavigated"} if key == "params" else {"id": number}
    message[key] = payload
    if in_session:
        message["sessionId"] = SESSION
    frame = compact(message)
    edges = read_edges(frame[:256], frame[-256:], len(frame))
    assert edges is not None
    assert (edges.id, edges.method, edges.session) == (
        message.get("id", 0),
        message.get("method", ""),
        message.get("sessionId", ""),
    )
    assert (edges.kind, edges.payload_bytes) == (key, len(compact(payload)))
    assert frame[edges.payload_start :][: edges.payload_bytes] == compact(payload)
    read = decode(frame)
    assert read is not None
    assert as_tuple(read) == expected(message)


NO_MESSAGES = (
    pytest.param(b"", id="empty"),
    pytest.param(b"hello", id="text"),
    pytest.param(b"[]", id="array"),
    pytest.param(b'{"id":1,"result":', id="unfinished"),
    pytest.param(b'{"id":1,"result":1', id="unfinished-number"),
    pytest.param(b'{"id":"1","result":{}}', id="id-is-a-text"),
    pytest.param(b'{"id":1.5,"result":{}}', id="id-is-a-fraction"),
    pytest.param(b'{"id":null,"error":{}}', id="id-is-null"),
    pytest.param(b"\xff\xfe", id="not-utf8"),
)


@pytest.mark.parametrize("frame", NO_MESSAGES)
def test_what_is_no_message_is_none(frame: bytes) -> None:
    assert decode(frame) is None


def test_a_complaint_without_id_is_neither_reply_nor_event() -> None:
    read = decode(b'{"error":{"code":-32700,"message":"JSON: stack limit exceeded"}}')
    assert read is not None
    assert (read.id, read.method) == (0, "")
    assert json.loads(bytes(read.error))["code"] == -32700


ENCODED = (
    pytest.param("", b'{"id":3,"method":"Page.enable","params":{"a":1}}\0', id="to-the-browser"),
    pytest.param("AB", b'{"id":3,"method":"Page.enable","params":{"a":1},"sessionId":"AB"}\0', id="to-a-session"),
)


@pytest.mark.parametrize(("session", "frame"), ENCODED)
def test_a_command_is_one_frame(session: str, frame: bytes) -> None:
    assert encode(3, "Page.enable", b'{"a":1}', session) == frame


@pytest.mark.parametrize("payload", [b"{", b"nope", b""], ids=repr)
def test_a_payload_that_is_no_json_is_a_value_error(payload: bytes) -> None:
    with pytest.raises(ValueError, match="Expecting"):
        loads(payload)
