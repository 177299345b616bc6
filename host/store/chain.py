"""The ledger's arithmetic: bounding a row's fields and linking it to the row before. No I/O.

The hash of a row is SHA-256, in hex, of the previous hash and the row's columns before `hash`, in their order, as
decimal numbers and UTF-8 text with one newline between each. No field holds a newline, so one text means one row, and
anybody can check a ledger with these three lines and no code of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TypeAlias, cast

Fields: TypeAlias = tuple[int, str, int, str, str, str, str, str, str, str, str, str, str, int, int]
"""What is appended: a `LedgerRow` less `seq`, `segment` and `hash`."""

Value: TypeAlias = int | str

GENESIS = "0" * 64
MAX_TEXT_CHARS = 200
MAX_INTEGER = 2**63 - 1
COLUMNS = 18

_INTEGERS = {int}  # a bool or a float would be stored as something else than what was hashed
_LINES = "\n".join(["%s"] * COLUMNS)  # the previous hash and 17 columns


def bounded(fields: Fields) -> Fields:
    """The fields as they may be stored: short text without invisible characters, numbers that SQLite can hold.

    The one thing that must never happen here is an exception: it would end the writer over a single odd row.
    """
    at_ms, kind, call, *middle, size, took = fields
    texts = (kind, *middle)
    numbers = (at_ms, call, size, took)
    try:
        joined = "".join(texts)
        plain = joined.isprintable() and "\\" not in joined and max(map(len, texts)) <= MAX_TEXT_CHARS
        plain = plain and min(numbers) >= 0 and max(numbers) <= MAX_INTEGER and set(map(type, numbers)) == _INTEGERS
    except TypeError:
        plain = False
    if plain:
        return fields
    safe = (_number(at_ms), _text(kind), _number(call), *map(_text, middle), _number(size), _number(took))
    return cast("Fields", safe)


def link(head: str, columns: tuple[Value, ...]) -> str:
    """The hash of the row with these 17 columns (`seq` to `segment`) after the row whose hash is `head`."""
    return sha256((_LINES % (head, *columns)).encode("utf-8", "surrogatepass")).hexdigest()


def chained(head: str, first_seq: int, segment: int, rows: Iterable[Fields]) -> tuple[list[Value], str]:
    """The rows' columns one after another, ready to bind, and the new head."""
    flat: list[Value] = []
    for seq, fields in enumerate(rows, first_seq):
        columns = (seq, *bounded(fields), segment)
        head = link(head, columns)
        flat += columns
        flat.append(head)
    return flat, head


def _text(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    shown = "".join(map(_spelled, text[:MAX_TEXT_CHARS]))
    if len(text) > MAX_TEXT_CHARS or len(shown) > MAX_TEXT_CHARS:
        return shown[: MAX_TEXT_CHARS - 1] + "…"
    return shown


def _spelled(char: str) -> str:
    """Controls, direction marks, odd spaces and half surrogates as escapes, and so the backslash too."""
    if char == "\\":
        return "\\\\"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _number(value: object) -> int:
    try:
        number = int(value)  # type: ignore[call-overload]  # whatever it is, the row must be written
    except (TypeError, ValueError, OverflowError):
        return -1
    return max(-1, min(int(number), MAX_INTEGER))
