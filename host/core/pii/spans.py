"""Finds of one text made into an orderly list: trimmed, merged where they touch, repeated where a name comes again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from host.core.redaction import Found

# Of two finds that overlap, the more telling type names both.
_RANK = {
    kind: rank
    for rank, kind in enumerate(
        [
            "CARD",
            "IBAN",
            "KEY",
            "TOKEN",
            "COOKIE",
            "PASSWORD",
            "EMAIL",
            "NATIONAL_ID",
            "PASSPORT",
            "TAX_ID",
            "DRIVER_LICENSE",
            "MEDICAL_ID",
            "CRYPTO",
            "MAC_ADDRESS",
            "IP_ADDRESS",
            "SECRET",
            "BANK_ACCOUNT",
            "DATE_OF_BIRTH",
            "PHONE",
            "VEHICLE",
            "ADDRESS",
            "LOCATION",
            "PERSON",
            "USERNAME",
            "HANDLE",
        ]
    )
}
_EDGES = " \t\n\r,;"


def trimmed(text: str, found: Found) -> Found | None:
    """The find without blanks and commas at its edges; None if nothing is left."""
    start, end = max(0, found.start), min(len(text), found.end)
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in _EDGES:
        end -= 1
    if start >= end:
        return None
    return (
        found if (start, end) == (found.start, found.end) else Found(start, end, found.type, found.score, found.source)
    )


def merged(text: str, found: Iterable[Found]) -> list[Found]:
    """Sorted, no two overlapping; parts of one address or one name that only a blank or a comma parts are one."""
    kept = [one for one in (trimmed(text, each) for each in found) if one is not None]
    kept.sort(key=lambda one: (one.start, -one.end, _RANK.get(one.type, 99), one.source))
    out: list[Found] = []
    for one in kept:
        if out and (one.start < out[-1].end or _one_thing(text, out[-1], one)):
            out[-1] = _both(out[-1], one)
        else:
            out.append(one)
    return out


def _one_thing(text: str, first: Found, second: Found) -> bool:
    if first.type != second.type or first.type not in ("ADDRESS", "PERSON"):
        return False
    gap = text[first.end : second.start]
    return not gap.strip(" ,\n" if first.type == "ADDRESS" else " ") and len(gap) <= 4


def _both(first: Found, second: Found) -> Found:
    longer, shorter = sorted((first, second), key=lambda one: (one.start - one.end, one.start))
    whole = longer.start <= shorter.start and shorter.end <= longer.end
    same = whole and longer.end - longer.start == shorter.end - shorter.start
    leading = (
        longer if whole and not same else min((first, second), key=lambda one: (_RANK.get(one.type, 99), -one.score))
    )
    start, end = min(first.start, second.start), max(first.end, second.end)
    return Found(start, end, leading.type, max(first.score, second.score), leading.source)


_WORD = re.compile(r"[^\W\d_][\w'-]*")


def name_words(name: str) -> list[str]:
    """The words of a name that are long enough to be known again."""
    return [word for word in _WORD.findall(name) if len(word) >= 3]


def uncovered(start: int, end: int, found: Iterable[Found]) -> bool:
    """Whether no find touches the span."""
    return all(one.end <= start or one.start >= end for one in found)
