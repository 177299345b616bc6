"""Lines of the wire as messages, and replies as lines: what `design.md` 13 fixes, without I/O."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec

from capsdk.errors import CapError, InvalidArgumentError
from host.core.jsonscan import BadJson, first_id, over_parts, salvage_id, scan, scan_plain
from host.core.limits import KIB

MAX_ID = 2**53 - 1
MAX_ID_CHARS = 64
DEAR_BYTES = 64 * KIB
MAX_PARTS = 40_000
"""Values in one line; a million bytes of `{}` would keep everybody waiting for a second."""
REQUEST_KEYS = frozenset(("id", "method", "args"))

CallId = int | str


class Request(msgspec.Struct, frozen=True, gc=False):
    """One call. `args` are decoded; `raw_args` are the caller's own bytes for who passes parts of them on."""

    id: CallId
    method: str
    args: dict[str, Any]
    raw_args: bytes


@dataclass(frozen=True, slots=True)
class Cancel:
    """The caller does not want the answer to `id` any more."""

    id: CallId


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is no call: answered with this error, and with the id where one could be read."""

    id: CallId | None
    error: CapError


@dataclass(frozen=True, slots=True)
class Notice:
    """A line without an id that tells something; only a script's own line to its host may carry one."""

    name: str
    data: Any


class _Raw(msgspec.Struct):
    args: msgspec.Raw = msgspec.Raw(b"{}")


_RAW = msgspec.json.Decoder(_Raw)


def read_line(line: bytes) -> Request | Cancel | Unreadable | Notice:
    """What one line of the wire says, its newline taken off. Never raises."""
    if len(line) > DEAR_BYTES and (parts := over_parts(line, MAX_PARTS)):
        return _too_many_parts(line, parts)
    value = scan_plain(line)
    if value is not None:
        return _message(value, line)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return _unreadable(None, "the line is not UTF-8")
    try:
        value = scan(text)
    except BadJson as problem:
        number = salvage_id(text)
        return _unreadable(
            number if is_id(number) else None,
            f"the line is not usable JSON: {problem}",
            "PARAMS_TOO_LARGE" if problem.deep else "BAD_ARGUMENTS",
        )
    return _message(value, line)


def _message(value: Any, line: bytes) -> Request | Cancel | Unreadable | Notice:
    if not isinstance(value, dict):
        return _unreadable(None, "a line is one JSON object")
    if "cancel" in value:
        number = value["cancel"]
        if len(value) == 1 and is_id(number):
            return Cancel(number)
        number = value.get("id")  # who mixes a call and a cancel still waits for an answer
        why = 'a cancel line is {"cancel": ID} and nothing else'
        return _unreadable(number if is_id(number) else None, why)
    if "notice" in value and "id" not in value:
        return Notice(str(value["notice"]), value.get("data"))
    return _request(value, line)


def _request(value: dict[str, Any], line: bytes) -> Request | Unreadable:
    number: Any = value.get("id")
    if not is_id(number):
        return _unreadable(None, "`id` is an integer from 0 to 2^53-1 or a string of at most 64 characters")
    unknown = value.keys() - REQUEST_KEYS
    if unknown:
        return _unreadable(number, f"unknown key {min(unknown)[:80]!r}; a call has `id`, `method` and `args`")
    method, args = value.get("method"), value.get("args", {})
    if not isinstance(method, str) or not method:
        return _unreadable(number, "`method` is the name of an entry, such as browser.openSession")
    if not isinstance(args, dict):
        return _unreadable(number, "`args` is a JSON object")
    return Request(number, method, args, raw_member(_RAW, line, "args", args))


def raw_member(decoder: msgspec.json.Decoder[Any], text: bytes, name: str, value: Any) -> bytes:
    """The bytes of one member of a JSON object that was scanned before.

    msgspec refuses half surrogates even where it only skips; then the value is written anew, with escapes.
    """
    try:
        return bytes(getattr(decoder.decode(text), name))
    except msgspec.DecodeError:
        return dumps(value)


def is_id(value: Any) -> bool:
    """May this be the id of a call?"""
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARS
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_ID


def _unreadable(number: CallId | None, why: str, code: str = "BAD_ARGUMENTS") -> Unreadable:
    return Unreadable(number, InvalidArgumentError(code, f"{why}; send one JSON object a line"))


def _too_many_parts(line: bytes, parts: int) -> Unreadable:
    number = first_id(line[:256].decode("utf-8", "replace"))
    problem = InvalidArgumentError(
        "PARAMS_TOO_LARGE",
        f"the line holds some {parts} values and may hold {MAX_PARTS}; send fewer in one call",
        limit=MAX_PARTS,
        actual=parts,
    )
    return Unreadable(number if is_id(number) else None, problem)


def line_too_long(limit_bytes: int) -> Unreadable:
    """The answer to a line over its limit."""
    return Unreadable(
        None,
        InvalidArgumentError(
            "LINE_TOO_LONG",
            f"a line is over {limit_bytes} bytes and was skipped; send less in one call",
            limit=limit_bytes,
        ),
    )


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8; half surrogates stay escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # In UTF-8 only half surrogates cannot be written, and a backslash escape of one is what JSON calls it, too.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def id_bytes(number: CallId | None) -> bytes:
    """An id as JSON."""
    return b"%d" % number if type(number) is int else dumps(number)


def ok_line(number: CallId, result: bytes, untrusted: bytes | None = None) -> bytes:
    """The reply of a call that was done; `result` is JSON already, and so is what an AI is told about page data."""
    if untrusted is not None:
        return b'{"id":%b,"ok":true,"untrusted":%b,"result":%b}\n' % (id_bytes(number), untrusted, result)
    return b'{"id":%b,"ok":true,"result":%b}\n' % (id_bytes(number), result)


def error_line(number: CallId | None, error: CapError) -> bytes:
    """The reply of a call that was not."""
    return b'{"id":%b,"ok":false,"error":%b}\n' % (id_bytes(number), dumps(error.to_wire()))


def notice_line(name: str, data: Any) -> bytes:
    """A line that nobody asked for; clients ignore what they do not know."""
    return b'{"notice":%b,"data":%b}\n' % (dumps(name), dumps(data))
