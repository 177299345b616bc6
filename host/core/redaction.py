"""What the redaction of pictures and texts speaks of: texts to look through, what is found in them, boxes, marks."""

from __future__ import annotations

from typing import Literal

import msgspec

TextKind = Literal["text", "field", "ocr"]
MediaKind = Literal["image", "canvas", "video", "background", "plugin"]


class Box(msgspec.Struct, frozen=True, array_like=True):
    """A rectangle in CSS pixels; (0, 0) is the top left corner of what the picture shows."""

    x: float
    y: float
    width: float
    height: float


class Text(msgspec.Struct, frozen=True, array_like=True):
    """One piece of text to look through.

    `hint` are words that stand for it: its label, its column's head, a field's name and `autocomplete`. `kind` is
    "field" for the whole value of a form field, "ocr" for what was read out of pixels and may be misspelt.
    """

    text: str
    hint: str = ""
    kind: TextKind = "text"


class Found(msgspec.Struct, frozen=True, array_like=True):
    """A private detail: characters `start` to `end` of its text, its type (EMAIL, PERSON …), how sure, and by what."""

    start: int
    end: int
    type: str
    score: float
    source: str


class Mark(msgspec.Struct, frozen=True):
    """One bar: never the text that is under it. `source` is where that was read: dom, field or ocr."""

    type: str
    source: str
    box: Box


class Media(msgspec.Struct, frozen=True):
    """A region whose text no DOM holds: it is read from its pixels."""

    box: Box
    kind: MediaKind


class EngineConfig(msgspec.Struct, frozen=True):
    """What the owner set: recognizers of their own, in Presidio's YAML, and types that are not looked for."""

    recognizers_yaml: str = ""
    off: frozenset[str] = frozenset()


class PictureJob(msgspec.Struct, frozen=True):
    """How one captured picture becomes one that may be shown.

    `scale` is how many pixels of it are one CSS pixel. `max_width` bounds the width of what comes out, in pixels.
    """

    scale: float
    width: float
    height: float
    bars: list[Mark]
    media: list[Media]
    format: Literal["jpeg", "png", "webp"]
    quality: int
    max_width: int
    max_bytes: int


class PictureDone(msgspec.Struct, frozen=True):
    """The picture's facts; its bytes travel beside it. `scale` is pixels of it to one CSS pixel."""

    mime_type: str
    width: int
    height: int
    scale: float
    redactions: list[Mark]
    ocr: str
    media_read: int
    second_look: int
