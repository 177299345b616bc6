"""Which stretches of a text the name model should read: lines with words that no list explains. No model here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.words import UPPER
from host.redact.names import NAMES

MOST_LINE_CHARS = 240
_WORTH = re.compile(rf"(?<!\w)(?:[{UPPER}][a-zß-ÿā-ž'-]+|[{UPPER}]{{3,}})")
_DULL = re.compile(
    r"\S{0,80}(?:[\\=<>{}_]|//|/[^\s/]{1,40}/|[a-z0-9]\.[a-z0-9]|\d[a-zA-Z]\d)\S{0,200}|\S{40,}"
    r"|[^\s\d]{0,8}\d[\d.,:/'-]{6,40}\S{0,20}"  # dates, sums, long numbers: many tokens and no part of an address
)
_ODD_WORD = re.compile(  # all that holds a sign without which no word is dull: only these are looked at closely
    r"(?<!\S)(?:[^\s\\=<>{}_/.\d]*+[\\=<>{}_/.\d]\S*|\S{40,})"
)
_MARKUP = re.compile(r"</?[A-Za-z!][^<>]{0,400}>")


def lines_worth(text: str) -> Iterator[tuple[int, str]]:
    """Where each line begins that can hold a name or an address, and the line; long lines in pieces."""
    at = 0
    if "<" in text:
        text = _MARKUP.sub(_blank, text)  # tags are many tokens and no names
    for line in text.split("\n"):
        plain = _ODD_WORD.sub(_blanked, line) if len(line) > 20 else line
        for match in _STRETCH.finditer(plain):
            for start, piece in _pieces(match[0]):
                if is_worth(piece):
                    yield at + match.start() + start, piece
        at += len(line) + 1


_STRETCH = re.compile(r"\S+(?:[ \t]{1,3}\S+)*")  # what wide gaps part has nothing to do with each other


def _pieces(line: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(line):
        stop = min(start + MOST_LINE_CHARS, len(line))
        if stop < len(line):
            cuts = [match.end() for match in _CUT.finditer(line, start + MOST_LINE_CHARS // 2, stop)]
            space = line.rfind(" ", start + MOST_LINE_CHARS // 2, stop)
            stop = cuts[-1] if cuts else space + 1 if space > 0 else stop
        yield start, line[start:stop]
        start = stop


_CUT = re.compile(r"[.!?;|)\]}>][ ]|[,\w][ ](?=[^\W\d_])(?![^\Wa-zß-ÿ])|> ?(?=<)")


def is_worth(line: str) -> bool:
    """Whether the model should look: some capitalised word is neither ordinary nor a name that the lists see."""
    if len(line) < 4:
        return False
    after_given = False
    before = -2
    for match in _WORTH.finditer(line):
        word = match[0]
        follows = match.start() == before + 1
        before = match.end()
        sure = NAMES.is_surely_given(word)
        if sure or (follows and after_given):
            after_given = True  # the lists take it, and the words behind it
            continue
        after_given = False
        if word.isupper() and len(word) <= 4 and not NAMES.is_given(word):
            continue
        if NAMES.is_common(word) or NAMES.is_maker(word) or (NAMES.is_thing(word) and not NAMES.is_given(word)):
            continue
        return True
    return False


def _blanked(match: re.Match[str]) -> str:
    return _DULL.sub(_blank, match[0])


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
