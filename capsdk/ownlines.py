"""Tracebacks with the author's own lines and no others, bounded, repeated frames folded. Decides nothing."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Collection, Iterator
from types import FrameType, TracebackType
from typing import Any, NamedTuple

MAX_TRACE_CHARACTERS = 8000
MAX_FRAMES = 40
"""Frames that are shown of one exception, after folding: half from its beginning, half from its end."""

DEEP = 2000
"""A traceback with more entries than this is read from its end only: where there is no limit there is no memory."""

DEEP_READ = 400
MAX_PERIOD = 6
MIN_REPEATS = 3


class Place(NamedTuple):
    """Where in the app: a file of its folder, and a line from 1 on."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def trace(error: BaseException, paths: Collection[str]) -> str:
    """The traceback as Python prints it, with frames of the files `paths` only, cut in its middle. Raises nothing."""
    try:
        told = traceback.TracebackException.from_exception(error, limit=_limit_for(error), compact=True)
        _keep_only(told, paths)
        text = "".join(told.format())
    except BaseException as problem:  # an author's __str__ may do anything
        return f"(the traceback could not be written: {type(problem).__name__})"
    if len(text) <= MAX_TRACE_CHARACTERS:
        return text
    half = MAX_TRACE_CHARACTERS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def place_of(error: BaseException, paths: Collection[str]) -> Place | None:
    """The innermost line of the author's; for a file that is no Python, the line in it. None when none is theirs."""
    if isinstance(error, SyntaxError) and error.filename in paths:
        return Place(str(error.filename), error.lineno or 1)
    innermost = None
    for frame, line in frames_of(error.__traceback__):
        if frame.f_code.co_filename in paths:
            innermost = Place(frame.f_code.co_filename, line)
    return innermost


def frames_of(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """The frames and lines of a traceback, outermost first."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


class OwnFrames(traceback.StackSummary):
    """Frames that fold when they are printed: recursion shows its first round and how often it went on."""

    def format(self, **options: Any) -> list[str]:
        """See `traceback.StackSummary.format`; what newer Pythons pass on, such as colours, is not for a log."""
        lines = folded([self.format_frame_summary(frame) for frame in self])
        if len(lines) <= MAX_FRAMES:
            return lines
        half = MAX_FRAMES // 2
        return [*lines[:half], f"  [{len(lines) - 2 * half} frames left out]\n", *lines[-half:]]


def folded(items: list[str]) -> list[str]:
    """`items` with each run of repeated ones, up to `MAX_PERIOD` taking turns, shown once and counted."""
    shown: list[str] = []
    at = 0
    while at < len(items):
        period, repeats = _cycle(items, at)
        shown += items[at : at + period]
        if repeats > 1:
            what = "frame" if period == 1 else f"{period} frames"
            shown.append(f"  [Previous {what} repeated {repeats - 1} more times]\n")
        at += period * repeats
    return shown


def _cycle(items: list[str], at: int) -> tuple[int, int]:
    """The shortest cycle that begins at `at` and how often it comes; (1, 1) when there is none worth folding."""
    for period in range(1, MAX_PERIOD + 1):
        end = at + period
        while items[end : end + period] == items[at : at + period] and end + period <= len(items):
            end += period
        if (repeats := (end - at) // period) >= MIN_REPEATS:
            return period, repeats
    return 1, 1


def _keep_only(told: traceback.TracebackException, paths: Collection[str]) -> None:
    told.stack = OwnFrames(frame for frame in told.stack if frame.filename in paths)
    if told.__context__ is not None and not _speaks_of(told.__context__, paths):
        told.__context__ = None  # it was met and handled inside of a library
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _keep_only(other, paths)


def _speaks_of(told: traceback.TracebackException, paths: Collection[str]) -> bool:
    return not told.stack or any(frame.filename in paths for frame in told.stack)


def _limit_for(error: BaseException) -> int | None:
    """How much of the tracebacks is read, as `traceback` counts: a negative number is from the end."""
    asked: deque[BaseException | None] = deque((error,))
    seen: set[int] = set()
    while asked:
        one = asked.popleft()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if sum(1 for _ in frames_of(one.__traceback__)) > DEEP:
            return -DEEP_READ
        asked += (one.__cause__, one.__context__)
    return None
