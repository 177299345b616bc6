"""The wire's two directions: bytes to lines with a bounded memory, a message to one line. No sockets here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

KIB = 1024
MIB = 1024 * KIB

MAX_LINE_BYTES = 1 * MIB
"""The longest line that a host takes from a caller, without its newline."""

MAX_HOST_LINE_BYTES = 8 * MIB
"""The longest line that a caller takes from its host: a result of 1 MB, encoded, in its envelope."""


SMALL_BYTES = 4 * KIB


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands in the place of one line that was longer than `max_bytes` and was skipped to its newline."""

    max_bytes: int


class LineSplitter:
    """Cuts a byte stream into lines, holding at most `max_bytes` and the chunk in hand."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: list[bytes | bytearray] = []  # pieces, joined once: one growing buffer would be copied many times
        self._held_bytes = 0
        self._skipping = False

    @property
    def held_bytes(self) -> int:
        """How much of an unfinished line is being kept."""
        return self._held_bytes

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that `data` completes, without their newlines, in order.

        A line that passes the limit gives one `TooLong` as soon as it does so; the rest of it is dropped unread.
        """
        if self._skipping:
            end = data.find(b"\n")
            if end < 0:
                return []
            self._skipping = False
            data = data[end + 1 :]
        pieces = data.split(b"\n")
        rest = pieces.pop()
        lines = [self._line(piece) for piece in pieces]
        if rest:
            self._keep(rest, lines)
        return lines

    def _line(self, piece: bytes) -> bytes | TooLong:
        if self._held:
            piece = b"".join((*self._held, piece))
            self._forget()
        return piece if len(piece) <= self._max_bytes else TooLong(self._max_bytes)

    def _keep(self, rest: bytes, lines: list[bytes | TooLong]) -> None:
        if self._held_bytes + len(rest) > self._max_bytes:
            self._forget()
            self._skipping = True
            lines.append(TooLong(self._max_bytes))
        else:
            self._held_bytes += len(rest)
            if len(rest) >= SMALL_BYTES:
                self._held.append(rest)
            elif self._held and isinstance(self._held[-1], bytearray) and len(self._held[-1]) < 16 * SMALL_BYTES:
                self._held[-1] += rest  # a line that dribbles in must not cost an object a byte
            else:
                self._held.append(bytearray(rest))

    def _forget(self) -> None:
        self._held = []
        self._held_bytes = 0


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_decode = json.JSONDecoder().decode


def encode(message: Any) -> bytes:
    r"""One line: compact ASCII JSON and a newline; half surrogates stay `\u` escapes.

    Raises TypeError, ValueError or RecursionError for what is not JSON (NaN and infinities are not).
    """
    return _encode(message).encode("ascii") + b"\n"


def decode(line: bytes) -> Any:
    """The JSON value of one line. Raises ValueError for what is not UTF-8 JSON, RecursionError for absurd nesting."""
    return _decode(str(line, "utf-8"))
