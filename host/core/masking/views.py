"""Other ways to read a string: unescaped, as parameters, as a table; each view knows where its characters stood."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

ESCAPE = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|\\u[0-9A-Fa-f]{4}(?:\\u[0-9A-Fa-f]{4})*|\\x[0-9A-Fa-f]{2}|\\[nrt\"'/\\]"
    r"|&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,10});"
)
SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}
PARAMETER = re.compile(r"(?:^|(?<=[?&#;\s]))([\w.\[\]%-]{1,60})=([^&\s#\"'<>;]{2,4096})")
PAIR = re.compile(  # "key": "value" in scripts, logs and cut-off JSON, with or without quotes around the key
    r"(?:([\"'])(?P<quoted>[\w .-]{1,60})\1|(?<![\w\"'.$-])(?P<bare>[A-Za-z_$][\w$-]{0,40}))\s{0,3}:\s{0,3}"
    r"(?:([\"'`])(?P<value>(?:(?!\4)[^\n]){2,400})\4(?=\s{0,9}(?:[,;}\])\n]|\Z))|(?P<number>\d[\d.]{3,20})(?![\w.]))"
)
WEAK_NAME = re.compile(r"[a-z0-9_.:/-]+")
"""What goes under the key `name` and is one word without a capital is the name of a thing of a program."""
BIG_INTEGER = re.compile(r"-?\d{7,19}n")
MOST_CELLS = 20_000
MOST_PARAMETERS = 5_000
MOST_PAIRS = 5_000
HEAD_CHARS = 60


class Piece(NamedTuple):
    """Characters from `at` of a view are characters `start` to `end` of the string; `plain` when one for one."""

    at: int
    start: int
    end: int
    plain: bool


class View:
    """A text to look through, made of pieces of a string. `named`: it stands in the string behind its `hint`."""

    __slots__ = ("_ats", "hint", "named", "pieces", "text")

    def __init__(self, text: str, hint: str, pieces: list[Piece], *, named: bool = False) -> None:
        self.text = text
        self.hint = hint
        self.named = named
        self.pieces = pieces
        self._ats = [piece.at for piece in pieces]

    def ranges(self, start: int, end: int) -> list[tuple[int, int]]:
        """Where characters `start` to `end` of the view stand in the string; in several places when more is between."""
        found: list[tuple[int, int]] = []
        for index in range(max(0, bisect_right(self._ats, start) - 1), len(self.pieces)):
            piece = self.pieces[index]
            if piece.at >= end:
                break
            if piece.plain:
                first, last = piece.start + max(0, start - piece.at), min(piece.end, piece.start + end - piece.at)
            else:
                first, last = piece.start, piece.end
            if first >= last:
                continue
            if found and found[-1][1] == first:
                found[-1] = (found[-1][0], last)
            else:
                found.append((first, last))
        return found

    def part(self, start: int, end: int, hint: str) -> View:
        """Characters `start` to `end` of the view, which stand behind a name."""
        pieces: list[Piece] = []
        for index in range(max(0, bisect_right(self._ats, start) - 1), len(self.pieces)):
            piece = self.pieces[index]
            if piece.at >= end:
                break
            if not piece.plain:
                pieces.append(piece._replace(at=max(0, piece.at - start)))
                continue
            cut = max(0, start - piece.at)
            last = min(piece.end, piece.start + end - piece.at)
            if piece.start + cut < last:
                pieces.append(Piece(piece.at + cut - start, piece.start + cut, last, True))
        return View(self.text[start:end], hint, pieces, named=True)


class Maker:
    """Collects pieces into a view; empty ones leave no trace."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._pieces: list[Piece] = []
        self._length = 0

    def add(self, shown: str, start: int, end: int, *, plain: bool) -> None:
        """`shown` stands for characters `start` to `end` of the string."""
        if shown:
            self._pieces.append(Piece(self._length, start, end, plain))
            self._parts.append(shown)
            self._length += len(shown)

    @property
    def last(self) -> str:
        """What was added last."""
        return self._parts[-1] if self._parts else ""

    def unescaped(self, text: str, start: int, end: int, *, plus: bool = False) -> None:
        """Add characters `start` to `end` of a string with its escapes resolved; `plus` reads + as a space."""
        at = start
        for found in ESCAPE.finditer(text, start, end):
            self._plain(text, at, found.start(), plus)
            self.add(_resolved(found[0]), found.start(), found.end(), plain=False)
            at = found.end()
        self._plain(text, at, end, plus)

    def _plain(self, text: str, start: int, end: int, plus: bool) -> None:
        shown = text[start:end]
        self.add(shown.replace("+", " ") if plus else shown, start, end, plain=True)

    def view(self, hint: str) -> View:
        """What was collected."""
        return View("".join(self._parts), hint, self._pieces)


def seam(before: str, after: str) -> str:
    """What to read between two elements that stand beside each other without a space: nothing inside of a word.

    A word or number that is coloured in parts goes on in the same kind of letters, or has the signs of an address at
    the seam; a label and its value do not, and are read as two cells.
    """
    one, other = before[-1:], after[:1]
    if not one or not other or (len(before) == 1 and len(after) == 1):
        return ""
    groups = one.isdigit() and other.isdigit() and bool(GROUP.fullmatch(before) and GROUP.fullmatch(after))
    inside = groups or (one.islower() and other.islower())
    signs = one in JOINING or (other in JOINING and not (other == "+" and after[1:2].isdigit()))
    return "" if inside or signs else "\t"


GROUP = re.compile(r"[A-Z]{0,4}[\d -]{1,24}")  # a part of a card's or an account's number
JOINING = "@._+-\u00ad\u2011"


def _resolved(escape: str) -> str:
    if escape[0] == "%":
        return unquote_to_bytes(escape).decode("utf-8", "replace")
    if escape[0] == "&":
        return unescape(escape)
    if escape[1] in "ux":
        codes = re.findall(r"\\[ux]([0-9A-Fa-f]+)", escape)
        units = b"".join(int(code, 16).to_bytes(2, "big") for code in codes)
        return units.decode("utf-16-be", "replace")
    return SIMPLE.get(escape[1], escape[1])


def plain_views(text: str, start: int, end: int, hint: str) -> Iterator[View]:
    """Every way in which characters `start` to `end` of a string are looked through; the first leaves none out."""
    made = Maker()
    made.unescaped(text, start, end)
    whole = made.view(hint)
    yield whole
    yield from _pairs(whole)
    if BIG_INTEGER.fullmatch(text):
        yield whole.part(0, len(text) - 1, hint)
    for found in islice(PARAMETER.finditer(text, start, end), MOST_PARAMETERS):
        if found.start() > start or "&" in text[start : found.end() + 1]:
            made = Maker()
            made.unescaped(text, found.start(2), found.end(2), plus=True)
            yield made.view(words(found[1]))
    if "\n" in text:
        yield from _table(text, start, end)


def _pairs(whole: View) -> Iterator[View]:
    text = whole.text
    if ":" not in text:
        return
    for found in islice(PAIR.finditer(text), MOST_PAIRS):
        hint = words(found["quoted"] or found["bare"])
        group = "value" if found["value"] else "number"
        yield whole.part(found.start(group), found.end(group), hint_for(hint, found[group]))


def hint_for(hint: str, value: str) -> str:
    """The words that stand for a value, without a name that says nothing."""
    return "" if hint == "name" and WEAK_NAME.fullmatch(value) else hint


@lru_cache(4096)
def words(name: str) -> str:
    """A name in code as words in lower case: `shippingAddress_line1` is `shipping address line1`."""
    return " ".join(CAMEL.sub(" ", name).replace("%5B", " ").replace("%5D", " ").lower().split())


CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-.\[\]/:$]+")


def _table(text: str, start: int, end: int) -> Iterator[View]:
    """Cells of lines with the same number of tabs (or commas, semicolons, bars), with the head of their column."""
    lines = text[start:end].split("\n")
    for between in ("\t", ",", ";", "|"):
        counts = [line.count(between) for line in lines]
        if max(counts) == 0 or (between != "\t" and counts[0] == 0):
            continue
        yield from _columns(lines, counts, between, start)
        return


def _columns(lines: list[str], counts: list[int], between: str, start: int) -> Iterator[View]:
    heads: list[str] = []
    at, cells = start, 0
    for number, line in enumerate(lines):
        if counts[number] and counts[number] == len(heads) - 1 and cells < MOST_CELLS:
            place = at
            for head, cell in zip(heads, line.split(between), strict=True):
                if cell.strip() and head:
                    made = Maker()
                    made.add(cell, place, place + len(cell), plain=True)
                    yield made.view(head)
                    cells += 1
                place += len(cell) + 1
        else:
            heads = head_words(line.split(between)) if counts[number] else []
        at += len(line) + 1


def head_words(cells: list[str]) -> list[str]:
    """The heads of columns, empty when these cells are none: heads are short and hold no digits."""
    heads = [cell.strip().strip("\"'*").strip() for cell in cells]
    if all(len(head) <= HEAD_CHARS and not any(map(str.isdigit, head)) and "@" not in head for head in heads):
        return heads
    return []
