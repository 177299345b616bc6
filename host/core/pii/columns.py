"""Rows under a line of column heads, as CSV, TSV, pipes and wide gaps have them; no rules about what is private."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_LINE = re.compile(r"[^\n]+")
_CELLS = {  # what parts the cells, and one cell with it
    "\t": re.compile(r"[^\t]*(?:\t|$)"),
    ";": re.compile(r"(?:\"(?:[^\"]|\"\")*\"[^;]*|[^;\"][^;]*|)(?:;|$)"),
    "|": re.compile(r"[^|]*(?:\||$)"),
    ",": re.compile(r"(?:[ ]?\"(?:[^\"]|\"\")*\"[^,]*|[ ]?[^,\"][^,]*|)(?:,|$)"),
    "  ": re.compile(r"(?:[^ ]|[ ](?![ ]))+(?:[ ]{2,}|$)"),
}
_HEAD = re.compile(r"[\"']?[^\W\d][^\n\"':=]{0,29}[\"']?|[#*]|")
_RULE = re.compile(r"[\s|:+=-]+")  # the line between heads and rows
_MOST_COLUMNS = 60


_INSERT = re.compile(r"(?i)\binsert (?:ignore )?into [^\n(]{1,80}\(([^()\n]{3,400})\)\s{0,9}values\s{0,9}(?=\()")
_VALUES = re.compile(r"\s{0,9},?\s{0,9}\(((?:'(?:[^'\n]|'')*'|[^'()\n])*)\)")
_SQL = re.compile(r"\s{0,4}(?:'((?:[^'\n]|'')*)'|([^',\n]*))[^,\n]*(?:,|$)")


class Cell(NamedTuple):
    """Characters `start` to `end` of the text, and the head of the column it is in."""

    start: int
    end: int
    head: str


def is_row(line: str) -> bool:
    """Whether the line reads as the heads of several columns; "City, State" may be a label by itself."""
    return any(sign != "," or len(heads) > 2 or ", " not in line for sign, heads in _heads(line))


def cells(text: str) -> Iterator[Cell]:
    """Each cell that is not empty of each row under a line of heads; quotes are left out."""
    if "\n" in text:
        yield from _rows(text)
    for insert in _INSERT.finditer(text):
        heads = [head.strip(' "`[]') for head in insert[1].split(",")]
        at = insert.end()
        while row := _VALUES.match(text, at):
            at = row.end()
            for cell, head in zip(_SQL.finditer(row[1]), heads, strict=False):
                start, end = cell.span(1 if cell[1] is not None else 2)
                if end > start:
                    yield Cell(row.start(1) + start, row.start(1) + end, head)


def _rows(text: str) -> Iterator[Cell]:
    lines = [match.span() for match in _LINE.finditer(text)]
    within: tuple[str, list[str]] | None = None
    for (start, end), (below, stop) in pairwise(lines):
        if within is None or not _fits(text[start:end], within):
            within = next(
                (one for one in _heads(text[start:end]) if _fits(text[below:stop], one) or _rule(text[below:stop])),
                None,
            )
        if within is None or _rule(text[below:stop]) or not _fits(text[below:stop], within):
            continue
        for (at, to), head in zip(_split(text[below:stop], within[0]), within[1], strict=True):
            if to > at:
                yield Cell(below + at, below + to, head)


def _rule(line: str) -> bool:
    return _RULE.fullmatch(line) is not None


def _heads(line: str) -> Iterator[tuple[str, list[str]]]:
    """The ways in which the line can be read as heads: what parts them, and they."""
    if len(line) > 2000:
        return
    for sign in _CELLS:
        if sign in line.strip():
            heads = [line[at:to] for at, to in _split(line, sign)]
            if len([head for head in heads if head]) >= 2 and all(
                _HEAD.fullmatch(head) and len(head.split()) <= 4 for head in heads
            ):
                yield sign, heads


def _fits(line: str, table: tuple[str, list[str]]) -> bool:
    if table[0] not in line or len(line) > 20_000:
        return _rule(line)
    return len(_split(line, table[0])) == len(table[1]) or _rule(line)


def _split(line: str, sign: str) -> list[tuple[int, int]]:
    """The spans of the cells of one line, without blanks and quotes."""
    found: list[tuple[int, int]] = []
    at, last = 0, len(line.rstrip())
    while at <= last and len(found) <= _MOST_COLUMNS:
        match = _CELLS[sign].match(line, at, last)
        if match is None:
            break
        start, end = at, match.end() - (len(sign) if match[0].endswith(sign) else 0)
        found.append(_bare(line, start, end))
        if not match[0].endswith(sign):
            break
        at = match.end()
    return found


def _bare(line: str, start: int, end: int) -> tuple[int, int]:
    while start < end and line[start] in " \t\"'":
        start += 1
    while end > start and line[end - 1] in " \t\"'":
        end -= 1
    return start, end
