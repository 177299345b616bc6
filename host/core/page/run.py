"""Shown text and where each of its characters is in the page: whitespace collapsed, invisible characters dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from host.core.page.shape import Affine
from host.core.page.snapshot import Rect

# Soft hyphens, zero-width and direction characters: nobody sees them, and they would split what is seen as one.
DROPPED = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
FIRST_LETTER_CHARS = 8  # quotation marks and the like go with the letter
_PLAIN = re.compile(rf"(?!.*(?:\s\s|[\t-\r\x1c-\x1f\x85\u2028\u2029{DROPPED}]))", re.DOTALL)
_TOKEN = re.compile(rf"(?P<space>\s+)|[{DROPPED}]+|(?P<word>[^\s{DROPPED}]+)")
_PRIVATE = re.compile("[\ue000-\uf8ff]")  # the glyphs of icon fonts, which are no letters
_HALF = re.compile("[\ud800-\udfff]")


class Piece(NamedTuple):
    """Characters `start` to `end` of a text are `first` to `last` of the text of a place.

    Where the two lengths differ, a transformation made one character into several: any of them is all of them.
    """

    start: int
    end: int
    place: int
    first: int
    last: int


class Look(NamedTuple):
    """How a text looks, so far as labels differ from their values in it."""

    line: int = 0
    weight: str = ""
    color: str = ""
    is_label: bool = False  # its markup says so


@dataclass(slots=True)
class Place:
    """Something in a document that shows text; rectangles are from the document's own corner.

    `text` is what `Piece` counts in: of an `exact` one the value of a text node, whose ranges the page can be asked
    for. Any other is barred box by box: `boxes` are (start, length, bounds), counted in UTF-16 units of `text`.
    """

    node: int
    backend_id: int
    exact: bool
    text: str
    bounds: Rect
    boxes: list[tuple[int, int, Rect]]
    clip: Rect | None = None
    source: str = "dom"
    document: int = 0
    vague: bool = False
    look: Look | None = None
    copies: tuple[Affine, ...] = ()  # from where it is to where it is shown once more


@dataclass(slots=True)
class Run:
    """A text that grows, with its pieces."""

    text: str = ""
    pieces: list[Piece] = field(default_factory=list)

    def add(self, text: str, place: int, first: int, last: int) -> None:
        """Append characters of a place."""
        start = len(self.text)
        self.text += text
        end = start + len(text)
        if self.pieces:
            before = self.pieces[-1]
            straight = end - start == last - first and before.end - before.start == before.last - before.first
            if straight and before.place == place and before.last == first and before.end == start:
                self.pieces[-1] = Piece(before.start, end, place, before.first, last)
                return
        self.pieces.append(Piece(start, end, place, first, last))

    def add_run(self, other: Run, between: str) -> None:
        """Append another text after a separator that is nowhere in the page."""
        shift = len(self.text) + len(between) if self.text else 0
        self.text = self.text + between + other.text if self.text else other.text
        self.pieces += [
            Piece(one.start + shift, one.end + shift, one.place, one.first, one.last) for one in other.pieces
        ]

    def part(self, start: int, end: int) -> Run:
        """Some of its whole pieces as a text of its own, without the spaces around it."""
        start += len(self.text[start:end]) - len(self.text[start:end].lstrip())
        found = Run(self.text[start:end])
        for one in self.pieces:
            if one.end <= end and one.end > start:
                cut = max(0, start - one.start) if one.end - one.start == one.last - one.first else 0
                found.pieces.append(
                    Piece(max(0, one.start - start), one.end - start, one.place, one.first + cut, one.last)
                )
        found.trim()
        return found

    def cut(self, start: int, end: int) -> Run:
        """Some of its characters as a text of its own; a piece that is changed on its way is kept whole."""
        found = Run(self.text[start:end])
        for one in self.pieces:
            if one.start < end and one.end > start:
                first, last = max(one.start, start), min(one.end, end)
                straight = one.end - one.start == one.last - one.first
                at = (one.first + first - one.start, one.last - one.end + last) if straight else (one.first, one.last)
                found.pieces.append(Piece(first - start, last - start, one.place, *at))
        return found

    def gap(self, text: str = " ") -> None:
        """What separates without being there; nothing at the start, nothing twice."""
        if self.text and not self.text[-1].isspace():
            self.text += text

    def end_line(self) -> None:
        """A line break instead of the spaces before it."""
        self.trim()
        if self.text:
            self.text += "\n"

    def trim(self) -> None:
        """Without whitespace at its end."""
        self.text = self.text.rstrip()
        while self.pieces and self.pieces[-1].end > len(self.text):
            last = self.pieces.pop()
            cut = last.end - len(self.text)
            if last.start < len(self.text):
                straight = last.end - last.start == last.last - last.first
                self.pieces.append(last._replace(end=len(self.text), last=last.last - cut if straight else last.last))


def readable(text: str) -> str:
    """The same number of characters without those that only confuse: icons are spaces, halves of pairs are marks."""
    if text.isascii():
        return text
    return _HALF.sub("\ufffd", _PRIVATE.sub(" ", text).replace("\xa0", " "))


def offsets(value: str, shown: str) -> Sequence[int] | None:
    """Where in a node's value each character of what it shows is; None when they cannot be told.

    A `::first-letter` takes away the beginning, `text-transform` changes letters and sometimes their number.
    """
    if shown == value:
        return range(len(shown))
    if value.endswith(shown):
        return range(len(value) - len(shown), len(value))
    for skipped in range(min(FIRST_LETTER_CHARS, len(value))):
        found = _transformed(value, shown, skipped)
        if found is not None:
            return found
    return None


def _transformed(value: str, shown: str, skipped: int) -> list[int] | None:
    found: list[int] = []
    for at in range(skipped, len(value)):
        letter = value[at]
        for form in (letter, letter.upper(), letter.lower(), letter.title()):
            if shown.startswith(form, len(found)):
                found += [at] * len(form)
                break
        else:
            return None
    return found if len(found) == len(shown) else None


def add_shown(run: Run, shown: str, place: int, at: Sequence[int], *, lines: bool, spaces: bool) -> None:
    """Append what a text box list shows; `lines` keeps its line breaks, `spaces` its runs of spaces."""
    shown = readable(shown)
    if not shown:
        return
    if isinstance(at, range) and _PLAIN.match(shown):
        lead = 1 if shown[:1].isspace() and (not run.text or run.text[-1].isspace()) else 0
        if len(shown) > lead:
            run.add(shown[lead:], place, at[lead], at[-1] + 1)
        return
    for token in _TOKEN.finditer(shown):
        start, end = token.span()
        if token["word"] is not None:
            for text, first, last in _straight(token["word"], at[start:end]):
                run.add(text, place, first, last)
        elif token["space"] is not None:
            if lines and "\n" in token["space"]:
                run.end_line()
            elif spaces:
                run.add(" " * (end - start), place, at[start], at[end - 1] + 1)
            elif run.text and not run.text[-1].isspace():
                run.add(" ", place, at[start], at[start] + 1)


def _straight(word: str, at: Sequence[int]) -> Iterator[tuple[str, int, int]]:
    if at[-1] - at[0] == len(word) - 1:
        yield word, at[0], at[-1] + 1
    else:
        yield from ((letter, one, one + 1) for letter, one in zip(word, at, strict=True))


def units(text: str, at: int) -> int:
    """The UTF-16 offset of a character, as the page counts."""
    return at if text.isascii() else len(text[:at].encode("utf-16-le", "surrogatepass")) // 2


def character(text: str, unit: int) -> int:
    """The character at a UTF-16 offset."""
    if text.isascii():
        return unit
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * unit].decode("utf-16-le", "surrogatepass"))
