"""A browser that says anything, in pieces of any size: everybody who waits hears one end, and the right one."""

from __future__ import annotations

import json
import logging
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.cdp.connection import ENVELOPE_BYTES
from host.cdp.framing import HEAD_BYTES, TAIL_BYTES
from tests.cdp.test_connection import Browser, Ear
from tests.support.fuzz import LONG, SHORT, mutated

LIMIT = 300
WAITING = 4
PAYLOADS = st.sampled_from(
    (0, 1, 200, LIMIT - 9, LIMIT, LIMIT + 1, LIMIT + 100, ENVELOPE_BYTES + LIMIT, 12_000, 40_000)
)
SAID = st.lists(
    st.tuples(st.sampled_from(("result", "error", "event", "stray")), st.integers(1, WAITING), PAYLOADS, st.booleans()),
    max_size=8,
)
CUTS = st.lists(st.integers(0, 60_000), max_size=8)
ROOMS = st.lists(st.sampled_from((10, LIMIT, 20_000)), min_size=WAITING, max_size=WAITING)


def padded(size: int, surrogate: bool) -> dict[str, str]:
    """A payload of about this size; a half surrogate in it is what pages send, and takes another way."""
    return {"v": ("\ud800" if surrogate else "") + "x" * size}


def frame(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\0"


def feed(browser: Browser, stream: bytes, cuts: list[int]) -> None:
    """The stream in these pieces; what is held meanwhile stays bounded."""
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for begin, end in pairwise(edges):
        browser.connection.feed(stream[begin:end])
        held = browser.connection._splitter.buffered_bytes
        assert held <= max(20_000 + ENVELOPE_BYTES, HEAD_BYTES + TAIL_BYTES)


def converse(said: list[tuple[str, int, int, bool]], rooms: list[int], cuts: list[int]) -> None:
    """Say it all, then hang up: each who waits hears the first reply to it, else that the browser is gone."""
    browser = Browser(LIMIT)
    ears = [Ear(room) for room in rooms]
    for number, ear in enumerate(ears, 1):
        assert browser.connection.post("A.b", b"{}", "AB", ear) == number
    stream = b""
    wanted: dict[int, tuple[str, Any]] = {}
    events: list[tuple[int, dict[str, str]]] = []
    for kind, number, size, odd in said:
        payload = padded(size, odd)
        encoded = len(json.dumps(payload, separators=(",", ":")))
        if kind == "event":
            stream += frame({"method": "A.happened", "params": payload, "sessionId": "AB"})
            events.append((encoded, payload))
            continue
        stream += frame({"id": number + (WAITING if kind == "stray" else 0), **reply(kind, payload), "sessionId": "AB"})
        if kind != "stray":
            wanted.setdefault(number, outcome(kind, payload, encoded, rooms[number - 1]))
    feed(browser, stream, cuts)
    heard = {number: ear.heard for number, ear in enumerate(ears, 1) if ear.heard}
    assert heard == {number: [one] for number, one in wanted.items()}
    told = [params for _, _, params in browser.events]
    lost = [size for _, _, size in browser.too_large]
    assert [payload for _, payload in events if payload in told] == told
    assert sorted([*lost, *(size for size, payload in events if payload in told)]) == sorted(size for size, _ in events)
    assert all(size + 50 > LIMIT + ENVELOPE_BYTES for size in lost)
    browser.connection.lost()
    assert [len(ear.heard) for ear in ears] == [1] * WAITING
    assert {number for number, ear in enumerate(ears, 1) if ear.heard == [("gone", None)]} == {1, 2, 3, 4} - set(wanted)


def reply(kind: str, payload: dict[str, str]) -> dict[str, Any]:
    """What a reply holds: a stray one is a result that nobody waits for."""
    return {"error": {"code": -32000, "message": payload["v"]}} if kind == "error" else {"result": payload}


def outcome(kind: str, payload: dict[str, str], encoded: int, room: int) -> tuple[str, Any]:
    """What the one who waits should hear; an error counts against the frame's limit alone."""
    if kind == "error":
        size = encoded + len('{"code":-32000,"message":}') - len('{"v":}')
        fits = size + 40 < max(room, LIMIT) + ENVELOPE_BYTES  # no case here is nearer to the edge
        return ("refused", {"code": -32000, "message": payload["v"]}) if fits else ("too_large", size)
    return ("answered", payload) if encoded <= room else ("too_large", encoded)


@given(SAID, ROOMS, CUTS)
@SHORT
def test_everybody_hears_one_end_and_the_right_one(
    said: list[tuple[str, int, int, bool]], rooms: list[int], cuts: list[int]
) -> None:
    converse(said, rooms, cuts)


@pytest.mark.long
@given(SAID, ROOMS, CUTS)
@LONG
def test_in_many_conversations_everybody_hears_one_end(
    said: list[tuple[str, int, int, bool]], rooms: list[int], cuts: list[int]
) -> None:
    converse(said, rooms, cuts)


REAL = (
    frame({"id": 1, "result": {"v": "x"}, "sessionId": "AB"}),
    frame({"id": 2, "error": {"code": -32000, "message": "no"}, "sessionId": "AB"}),
    frame({"method": "A.happened", "params": {"v": "\ud800"}, "sessionId": "AB"}),
    frame({"id": 3, "result": padded(LIMIT + ENVELOPE_BYTES, False), "sessionId": "AB"}),
    frame({"method": "A.happened", "params": padded(12_000, True), "sessionId": "AB"}),
    frame({"error": {"code": -32700, "message": "stack"}}),
)
PIECES = (
    *(b"\0", b"\0\0", b"{", b"}", b'"', b",", b'"id":1,', b'"id":-1,', b'"id":99999999999999999999,', b'"id":"1",'),
    *(b'"result":', b'"method":"A.b",', b'"sessionId":"', b'"params":{}', b"\xff", b"\\ud800", b"null", b"[" * 2000),
)
NOISE = st.lists(mutated(REAL, PIECES), max_size=6)


class PlainEar(Ear):
    """Takes what it is told as it is: of a frame that is no JSON the payload is none either."""

    def answered(self, result: bytes) -> None:
        self.heard.append(("answered", result))

    def refused(self, error: bytes) -> None:
        self.heard.append(("refused", error))


def babble(frames: list[bytes], cuts: list[int]) -> None:
    """Anything is survived; nobody hears two ends, and the next good reply finds who waits for it."""
    browser = Browser(LIMIT)
    browser.connection.on_event = lambda session, method, params: None
    ears = [PlainEar(LIMIT) for _ in range(WAITING)]
    for ear in ears:
        browser.connection.post("A.b", b"{}", "AB", ear)
    feed(browser, b"".join(frames), cuts)
    assert all(len(ear.heard) <= 1 for ear in ears)
    late = Ear(LIMIT)
    number = browser.connection.post("A.b", b"{}", "AB", late)
    browser.connection.feed(b"\0" + frame({"id": number, "result": {"v": "good"}, "sessionId": "AB"}))
    assert late.heard == [("answered", {"v": "good"})]
    browser.connection.lost()
    assert [len(ear.heard) for ear in ears] == [1] * WAITING


@given(NOISE, CUTS)
@SHORT
def test_anything_that_a_browser_says_is_survived(frames: list[bytes], cuts: list[int]) -> None:
    logging.getLogger("capsdk.cdp").disabled = True
    try:
        babble(frames, cuts)
    finally:
        logging.getLogger("capsdk.cdp").disabled = False
