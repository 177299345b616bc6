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
    if found.type == "PERSON" and text[start:end].endswith(("'s", "\u2019s")):
        end -= 2
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
        if out and one.start < out[-1].end < one.end and one.type != out[-1].type:
            rest = trimmed(text, Found(out[-1].end, one.end, one.type, one.score, one.source))
            if rest is not None:
                out.append(rest)
        elif out and (one.start < out[-1].end or _one_thing(text, out[-1], one)):
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


def accounts_of(names: list[str]) -> set[str]:
    """How the account of a person with these names (lower case, no accents) is commonly called."""
    if len(names) < 2:
        return set()
    first, last = names[0], names[-1]
    joined = {f"{first}{sign}{last}" for sign in ("", ".", "_", "-")} | {
        f"{last}{sign}{first}" for sign in ("", ".", "_")
    }
    return joined | {
        f"{first[0]}{last}",
        f"{first[0]}.{last}",
        f"{first[0]}_{last}",
        f"{last}{first[0]}",
        f"{first}{last[0]}",
    }
