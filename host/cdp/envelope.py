"""What surrounds a CDP payload: ids, names and session; `params` and `result` stay the bytes Chromium sent."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec

HEAD = re.compile(rb'\{"(?:id":(?P<id>\d+),"(?P<kind>result|error)|method":"(?P<method>[A-Za-z.]+)","params)":')
TAIL = re.compile(rb',"sessionId":"(?P<session>[0-9A-Fa-f]+)"\}$')


class Incoming(msgspec.Struct, gc=False):
    """One message from Chromium; `id` 0 is an event, and a reply without both is a complaint without an address."""

    id: int = 0
    method: str = ""
    sessionId: str = ""
    params: msgspec.Raw = msgspec.Raw(b"")
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


class Edges(NamedTuple):
    """What the two ends of a message tell of it; `payload_bytes` is the size of params, result or error."""

    id: int
    kind: str
    method: str
    session: str
    payload_start: int
    payload_bytes: int


_DECODER = msgspec.json.Decoder(Incoming)


def decode(frame: bytes) -> Incoming | None:
    """The message in a frame, None when it is none.

    msgspec refuses half surrogates (a lone `\\ud800`) even in parts it only skips, and Chromium passes them
    on as pages make them; such a frame is split at its edges, whose order Chromium keeps.
    """
    try:
        return _DECODER.decode(frame)
    except msgspec.DecodeError:
        edges = read_edges(frame[:512], frame[-256:], len(frame))
    if edges is None:
        return None
    payload = msgspec.Raw(frame[edges.payload_start : edges.payload_start + edges.payload_bytes])
    message = Incoming(id=edges.id, method=edges.method, sessionId=edges.session)
    setattr(message, edges.kind, payload)
    return message


def loads(payload: bytes) -> Any:
    """A payload decoded, half surrogates and all: pages put them into titles, dialogs and URLs. Raises ValueError."""
    try:
        return msgspec.json.decode(payload)
    except msgspec.DecodeError:
        return json.loads(payload)


def read_edges(head: bytes, tail: bytes, size_bytes: int) -> Edges | None:
    """The same from the first and last bytes of a message of `size_bytes`; None when they do not look like one."""
    start = HEAD.match(head)
    if start is None:
        return None
    end = TAIL.search(tail)
    closing = len(tail) - end.start() if end else 1
    session = end["session"].decode() if end else ""
    payload_bytes = size_bytes - start.end() - closing
    if payload_bytes < 2:
        return None
    if start["id"] is not None:
        return Edges(int(start["id"]), start["kind"].decode(), "", session, start.end(), payload_bytes)
    return Edges(0, "params", start["method"].decode(), session, start.end(), payload_bytes)


def encode(number: int, method: str, params: bytes, session: str) -> bytes:
    """One command as a frame with its NUL. `method` is from the table and `session` from Chromium: both plain."""
    if session:
        return b'{"id":%d,"method":"%b","params":%b,"sessionId":"%b"}\0' % (
            number,
            method.encode(),
            params,
            session.encode(),
        )
    return b'{"id":%d,"method":"%b","params":%b}\0' % (number, method.encode(), params)
