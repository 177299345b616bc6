"""Asks for the private details of many texts in small batches, so that nobody else waits long and time is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from host.core.limits import KIB
from host.core.redaction import Found, Text

BATCH_CHARS = 24 * KIB
OVERLAP_CHARS = 300  # an address or a name over the seam is whole in one of both
MOST_NAMES = 64
MIN_S = 0.05
MARGIN_S = 0.25  # who looks has to notice first that it hangs: then it is started anew
ENOUGH = 1.5  # how far an estimate of the time may be off before it counts
SURE = 0.8  # how much of what would be done in time is promised


class Find(Protocol):
    """Looks for private details: a list of what was found for each text, in their order, within `timeout_s`."""

    def __call__(self, texts: Sequence[Text], timeout_s: float) -> Awaitable[Sequence[Sequence[Found]]]: ...


@dataclass(frozen=True, slots=True)
class Part:
    """Characters from `start` of the text with this number."""

    number: int
    start: int
    text: Text


class TooSlowError(Exception):
    """It will not be done in time. `chars` is how much of it would be, None when that cannot be told."""

    def __init__(self, chars: int | None = None) -> None:
        super().__init__()
        self.chars = chars


class MisfitError(ValueError):
    """The answer does not fit the question."""


async def look_up(find: Find, texts: Sequence[Text], until_s: float) -> list[list[Found]]:
    """What is private in each text. `until_s` is on the loop's clock.

    Names found in one batch are known in those behind it. Raises TooSlowError, MisfitError, and what `find` raises.
    """
    loop = asyncio.get_running_loop()
    found: list[list[Found]] = [[] for _ in texts]
    names: dict[str, None] = {}
    plan = list(batches(texts))
    pace = _Pace([sum(len(part.text.text) for part in batch) for batch in plan])
    for number, batch in enumerate(plan):
        began_s = loop.time()
        pace.check(number, until_s - began_s)
        known = [Text(name, "name") for name in list(names)[-MOST_NAMES:]]
        answer = await find([*known, *(part.text for part in batch)], max(MIN_S, until_s - began_s - MARGIN_S))
        if len(answer) != len(known) + len(batch):
            raise MisfitError(f"{len(known) + len(batch)} texts were looked through and {len(answer)} answers came")
        for part, ones in zip(batch, answer[len(known) :], strict=True):
            for one in ones:
                if not 0 <= one.start < one.end <= len(part.text.text):
                    raise MisfitError("a private detail was found outside of its text")
                if one.type == "PERSON":
                    names[part.text.text[one.start : one.end]] = None
                found[part.number].append(_moved(one, part.start))
        pace.took(number, loop.time() - began_s)
    return found


def _moved(one: Found, by: int) -> Found:
    return Found(one.start + by, one.end + by, one.type, one.score, one.source) if by else one


def batches(texts: Sequence[Text]) -> Iterator[list[Part]]:
    """The texts in their order in lists of about `BATCH_CHARS`; a longer one comes in several parts."""
    batch: list[Part] = []
    held = 0
    for number, text in enumerate(texts):
        for start, end in pieces(text.text):
            if batch and held + end - start > BATCH_CHARS:
                yield batch
                batch, held = [], 0
            piece = text if end - start == len(text.text) else Text(text.text[start:end], text.hint, text.kind)
            batch.append(Part(number, start, piece))
            held += end - start
    if batch:
        yield batch


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where a long text is cut: at the end of a paragraph, a line or a word; the pieces overlap a little."""
    start = 0
    while len(text) - start > BATCH_CHARS:
        end = _cut(text, start + BATCH_CHARS // 2, start + BATCH_CHARS)
        yield start, end
        start = _cut(text, end - OVERLAP_CHARS, end - OVERLAP_CHARS // 2)
    yield start, len(text)


def _cut(text: str, first: int, last: int) -> int:
    for between in ("\n\n", "\n", " "):
        at = text.rfind(between, first, last)
        if at >= 0:
            return at + len(between)
    return last


class _Pace:
    """Tells early that it will take too long: a detector that is stopped has to begin anew for everybody.

    The first batch does not count, as what looks may have been started for it.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._chars = 0
        self._spent_s = 0.0

    def took(self, number: int, spent_s: float) -> None:
        if number:
            self._chars += self._sizes[number]
            self._spent_s += spent_s

    def check(self, number: int, left_s: float) -> None:
        """Raises TooSlowError when what is left will not be done, by far, or the next batch will not."""
        if left_s <= 0:
            raise TooSlowError
        if not self._chars or not self._spent_s:
            return
        per_s = self._chars / self._spent_s
        left = sum(self._sizes[number:])
        if left / per_s > left_s * ENOUGH or self._sizes[number] / per_s > left_s:
            raise TooSlowError(int((sum(self._sizes[:number]) + per_s * left_s) * SURE))
