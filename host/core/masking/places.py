"""Places in a string that are told by something else: merged, repeated where the same value comes again, filled."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

REPEATED_CHARS = 8  # a value as long as this is no accident where it comes again
MOST_REPEATED = 256


class Place(NamedTuple):
    """Characters `start` to `end` of a string go. `value` gets a placeholder; None goes with the place before.

    `sure`: what it is was told by its name, such as a header's, and so is where it begins and ends.
    """

    start: int
    end: int
    type: str
    value: str | None
    sure: bool = False


CREDENTIALS = frozenset(("COOKIE", "KEY", "PASSWORD", "TOKEN"))


def merged(text: str, places: Iterable[Place]) -> list[Place]:
    """The places in their order, none over another: what overlaps becomes one, of the longer one's type."""
    kept: list[Place] = []
    places = list(places)
    if sure := sorted((one.start, one.end) for one in places if one.sure):
        places = [one for one in places if one.sure or not _is_told_better(one, sure)]
    for place in sorted(places, key=lambda one: (one.start, -one.end, one.value is None)):
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
        elif place.end > (last := kept[-1]).end:
            longer = place if place.end - place.start > last.end - last.start else last
            kept[-1] = Place(last.start, place.end, longer.type, text[last.start : place.end])
    return kept


def _is_told_better(place: Place, sure: Sequence[tuple[int, int]]) -> bool:
    """Is a credential that was found the same that its name told of?"""
    before = bisect_left(sure, (place.end, 0)) - 1
    return place.type in CREDENTIALS and before >= 0 and sure[before][1] > place.start


def filled(text: str, places: Sequence[Place], instead: Callable[[str, str], str]) -> str:
    """The text with `instead(type, value)` in each place."""
    parts, at = [], 0
    for place in places:
        parts.append(text[at : place.start])
        if place.value is not None:
            parts.append(instead(place.type, place.value))
        at = place.end
    return "".join((*parts, text[at:]))


def repeated(texts: Sequence[str], places: Sequence[Sequence[Place]]) -> dict[int, list[Place]]:
    """By the number of its text: further places where a longer value stands that was found somewhere else."""
    held = Counter(
        place.value for ones in places for place in ones if place.value and len(place.value) >= REPEATED_CHARS
    )
    types = {place.value: place.type for ones in places for place in ones}
    everything = "\0".join(texts)
    more: dict[int, list[Place]] = {}
    for value, count in held.most_common(MOST_REPEATED):
        if value.strip() and everything.count(value) > count:
            for number, text in enumerate(texts):
                if value in text:
                    more.setdefault(number, []).extend(_standing(text, value, types[value]))
    return more


def _standing(text: str, value: str, type_: str) -> Iterator[Place]:
    """Where a value stands as a word of its own."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        before, after = text[at - 1 : at] if at else " ", text[end : end + 1] or " "
        if _is_seam(before, value[0]) and _is_seam(value[-1], after):
            yield Place(at, end, type_, value)
        at = text.find(value, end)


def _is_seam(before: str, after: str) -> bool:
    """May a word end between these? Also in "NameOda Lindqvist", as elements without a space between them are read."""
    return not (before.isalnum() and after.isalnum()) or (before.islower() and after.isupper())
