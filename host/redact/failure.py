"""How looking through a picture ends when it cannot be done: with a step and a reason, never with the picture."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class NotChecked(Exception):
    """A picture that may not be shown: the `step` that failed, and `why` with what to do next.

    `why` never holds anything that was read in the picture.
    """

    def __init__(self, step: str, why: str) -> None:
        super().__init__(f"{step}: {why}")
        self.step = step
        self.why = why


class TooLarge(Exception):
    """A checked picture that does not fit: its limit and size in bytes, and a width in pixels that would fit."""

    def __init__(self, limit: int, actual: int, smallest_width: int) -> None:
        super().__init__(f"{actual} bytes of at most {limit}; a width of {smallest_width} pixels would fit")
        self.limit = limit
        self.actual = actual
        self.smallest_width = smallest_width


def time_left(deadline: float, step: str) -> float:
    """Seconds until `deadline` (of `time.monotonic`); raises `NotChecked` when there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise NotChecked(step, "its time was over; ask for a smaller part of the page, or once more")
    return left


def beside(step: str, do: Callable[[], T], deadline: float) -> T:
    """What `do` gives, run in a thread: one that hangs is left behind at `deadline`, and nothing comes of it.

    Raises `NotChecked` for any error, with its kind and no more: its words may hold what was read.
    """
    results: list[T] = []
    problems: list[NotChecked] = []

    def run() -> None:
        try:
            results.append(do())
        except NotChecked as problem:
            problems.append(problem)
        except BaseException as problem:
            problems.append(NotChecked(step, f"it failed ({type(problem).__name__}); take the picture once more"))

    thread = threading.Thread(target=run, name=step, daemon=True)
    thread.start()
    thread.join(time_left(deadline, step))
    if problems:
        raise problems[0]
    if not results:
        raise NotChecked(step, "it was not ready in time; ask for a smaller part of the page")
    time_left(deadline, step)
    return results[0]
