"""Addresses told by their whole shape (crossings, blocks, plots), and numbers before words that are no house's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.words import CAPITALISED as C
from host.core.pii.words import UPPER
from host.redact.quick import finds

_COUNTED_BEFORE = re.compile(  # a chapter's number, or the second half of a score ("2 - 1 Aston Villa")
    r"(?i)(?:\b(?:chapter|kapitel|capítulo|chapitre|capitolo|hoofdstuk|episode|folge|part|teil|track|lesson|volume"
    r"|vol\.?)|(?<![\w.])\d{1,3}[ ]?[-–:])[ ]$"
)
_MEASURED = re.compile(
    r"(?i)\d{1,4} (?:bed|bath|room|door|seat|hour|day|week|month|year|minute|star|person|pack|piece|inch|mile|step|best"
    r"|new|free|top)[a-z]{0,4}\b"
)
_ROOM_BEFORE = re.compile(r"(?i)\b(?:room|raum|gate|level|page|platform|bay|hall|stand|table|track)[ ]$")
_A_SCORE = re.compile(r"\d{1,3} ?[-–:] \d{1,3} ")


def is_counted(text: str, start: int) -> bool:
    """Whether the number at `start` is a chapter's, a score's or a measure's, and no house's."""
    if _MEASURED.match(text, start) or _A_SCORE.match(text, start):
        return True
    return _COUNTED_BEFORE.search(text, max(0, start - 16), start) is not None


def is_of_a_room(text: str, start: int) -> bool:
    """Whether the number at `start` is a room's or a gate's."""
    return _ROOM_BEFORE.search(text, max(0, start - 12), start) is not None


_CORNER = (
    rf"(?:(?:{C}|\d{{1,3}}(?:st|nd|rd|th))[ ]){{1,3}}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr)\b\.?"
)
_MAY_CROSS = re.compile(r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr)\.? (?:&|and|at|@|with) ")
_CROSSINGS = (
    re.compile(rf"(?<![\w])({_CORNER}[ ](?:&|and|at|@)[ ]{_CORNER})"),
    re.compile(rf"(?i:\bcorner of|\bintersection of|\bjunction of)[ ]({_CORNER}[ ](?:&|and|with)[ ]{C})"),
)
_NUMBERED = (
    (
        re.compile(
            rf"(?<![\w.-])(\d{{1,2}}(?:-\d{{1,3}}){{1,2}},?[ ]{C}(?:,?[ ]{C}){{0,2}},?[ ][{UPPER}][\w-]{{1,20}}"
            rf"-(?:ku|shi|gun|cho|machi|dong|gu|si|ro)\b(?:,?[ ]{C}){{0,2}}(?:[ ]\d{{3}}-\d{{4}})?)"
        ),
        "blocks and ward",
    ),
    (
        re.compile(
            rf"(?<!\w)(Gran V[ií]a(?:[ ](?:de[ ])?(?:(?:les|las|los|la)[ ])?{C}){{0,2}},?[ ]\d{{1,4}}(?![\w.]))"
        ),
        "street and number",
    ),
    (
        re.compile(
            r"(?<!\w)((?:House|Plot|Flat|Shop|Villa|H\.?[ ]?No\.?|Door No\.?)[ ]#?\w{1,6}(?<=\d),?[ ]"
            r"(?:Road|Sector|Block|Street|Lane|Phase)[ ](?:No\.?[ ]?)?\d{1,3}[A-Z]?"
            rf"(?:,[ ]{C}(?:[ -]{C})?){{1,3}}(?:[ -]+\d{{4,6}})?)"
        ),
        "plot and sector",
    ),
    (re.compile(r"(?<!\w)(Box[ ]\d{1,5})(?=,?\s{1,2}(?:SE-)?\d{3}[ ]\d\d[ ])"), "box"),
)


def crossings(text: str) -> Iterator[tuple[int, int]]:
    """Two streets that cross, which need no number to be a place."""
    if _MAY_CROSS.search(text):
        for pattern in _CROSSINGS:
            for match in finds(pattern, text):
                yield match.span(1)


def whole_shapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Addresses without a street's name: blocks, plots, boxes before a Swedish postcode."""
    for pattern, rule in _NUMBERED:
        for match in finds(pattern, text):
            yield *match.span(1), rule
