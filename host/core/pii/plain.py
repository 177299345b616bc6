"""One spelling of characters that look alike, and the way back to the text as it was given."""

from __future__ import annotations

import re
import unicodedata
from array import array
from typing import Literal, NamedTuple

_ODD = re.compile(r"[^\n\t\x20-\x7e]")
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\r"
_DASHES = "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"
_UNEVEN = re.compile(  # what does not become exactly one character
    "(?P<gone>[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufe00-\ufe0f\ufeff])"
    "|(?P<accented>[^\u0300-\u036f][\u0300-\u036f]{1,8})"  # a letter and its accents as separate characters
    "|(?P<joined>[\ufb00-\ufb06\u0132\u0133])"  # ligatures
)
_FORM: dict[str, Literal["NFC", "NFKC"]] = {"accented": "NFC", "joined": "NFKC"}


def _alike() -> dict[int, int | str]:
    table: dict[int, int | str] = dict.fromkeys(range(55296, 57344), "�")  # lone halves break tokenizers
    table |= {code: " " for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (9, 10)}
    table |= {0x0B: "\n", 0x0C: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
    table |= {ord(space): " " for space in _SPACES}
    table |= {ord(dash): "-" for dash in _DASHES[1:]}
    table |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if code != 0xFF0D}
    for zero in (0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50):  # Arabic, Persian, Devanagari, Bengali, Thai digits
        table |= {zero + digit: str(digit) for digit in range(10)}
    table |= {ord("’"): "'", ord("‘"): "'", ord("ʼ"): "'", ord("`"): "'", ord("´"): "'"}  # noqa: RUF001
    table |= {ord("“"): '"', ord("”"): '"', ord("„"): '"', 0xFE6B: "@", 0x2024: ".", 0xA789: ":", 0x2236: ":"}
    for code in (*range(0x1D400, 0x1D800), *range(0x24B6, 0x24EA), *range(0x2460, 0x2469)):  # letters in fancy dress
        folded = unicodedata.normalize("NFKC", chr(code))
        if len(folded) == 1 and folded != chr(code):
            table[code] = folded
    return table


_ALIKE = _alike()


class Plain(NamedTuple):
    """`text` in one spelling; character `i` of it began at `starts[i]` of what was given (None: the same place)."""

    text: str
    starts: array[int] | None

    def given(self, start: int, end: int) -> tuple[int, int]:
        """The span of the given text that became characters `start` to `end`."""
        if self.starts is None:
            return start, end
        return self.starts[start], self.starts[end]


def plain(text: str) -> Plain:
    """Spaces, dashes, quotes and digits in ASCII, invisible characters gone, accents composed."""
    if _ODD.search(text) is None:
        return Plain(text, None)
    if _UNEVEN.search(text) is None:
        return Plain(text.translate(_ALIKE), None)
    pieces: list[str] = []
    starts: array[int] = array("q")
    at = 0
    for match in _UNEVEN.finditer(text):
        _keep(text[at : match.start()], at, pieces, starts)
        form = _FORM.get(match.lastgroup or "")
        folded = unicodedata.normalize(form, match[0]) if form else ""
        pieces.append(folded)
        starts.extend([match.start()] * len(folded))
        at = match.end()
    _keep(text[at:], at, pieces, starts)
    starts.append(len(text))
    return Plain("".join(pieces).translate(_ALIKE), starts)


def _keep(piece: str, at: int, pieces: list[str], starts: array[int]) -> None:
    pieces.append(piece)
    starts.extend(range(at, at + len(piece)))
