"""Messages between the host and the redactor: a head as JSON, and bytes beside it. No sockets here."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import msgspec

from host.core.redaction import Found, PictureDone, PictureJob, Text

SIZES = struct.Struct(">II")
MOST_HEAD_BYTES = 32 << 20
MOST_BLOB_BYTES = 160 << 20


class Ask(msgspec.Struct, frozen=True):
    """What the host wants. `seconds` are how long it waits; `blobs` are the sizes of the pieces of the bytes beside."""

    number: int
    seconds: float
    texts: list[Text] | None = None
    picture: PictureJob | None = None
    blobs: list[int] = []


class Answer(msgspec.Struct, frozen=True):
    """What the redactor says: number 0 is its first word, `about`, once it is ready.

    `step` and `why` tell a failure, `limit` and `actual` one about a size.
    """

    number: int
    found: list[list[Found]] | None = None
    picture: PictureDone | None = None
    step: str = ""
    why: str = ""
    limit: int = 0
    actual: int = 0
    about: dict[str, Any] = {}


def packed(head: Ask | Answer, blobs: Sequence[bytes] = ()) -> bytes:
    """One message."""
    raw = msgspec.json.encode(head)
    size = sum(map(len, blobs))
    return b"".join((SIZES.pack(len(raw), size), raw, *blobs))


def sizes(prefix: bytes) -> tuple[int, int]:
    """The bytes of the head and of what lies beside it. Raises ValueError when no message may be so long."""
    head, blob = SIZES.unpack(prefix)
    if head > MOST_HEAD_BYTES or blob > MOST_BLOB_BYTES:
        raise ValueError("a message is too long")
    return head, blob


def pieces(ask: Ask, blob: bytes) -> list[bytes]:
    """The bytes beside a question, in its pieces. Raises ValueError."""
    found, at = [], 0
    for size in ask.blobs:
        found.append(blob[at : at + size])
        at += size
    if at != len(blob) or any(size < 0 for size in ask.blobs):
        raise ValueError("the pieces do not fit")
    return found


ASKS = msgspec.json.Decoder(Ask)
ANSWERS = msgspec.json.Decoder(Answer)
