"""Pace, share and company of a caller, as arithmetic. Reads no clock; it is handed `now_s`."""

from __future__ import annotations

import math


class Bucket:
    """Lets through `per_s` calls a second, and as many at once as one second gives (at least one)."""

    def __init__(self, per_s: float, now_s: float) -> None:
        self.per_s = per_s
        self._most = max(1.0, per_s)
        self._tokens = self._most
        self._then_s = now_s

    def take(self, now_s: float) -> float:
        """Begin one call: 0.0 when it may, else the seconds until the next one may."""
        self._tokens = min(self._most, self._tokens + (now_s - self._then_s) * self.per_s)
        self._then_s = now_s
        if self._tokens < 1.0:
            return (1.0 - self._tokens) / self.per_s
        self._tokens -= 1.0
        return 0.0


class Share:
    """Which part of the last moments somebody was worked for, fading away by `MEMORY_S`."""

    MEMORY_S = 0.25

    __slots__ = ("_spent_s", "_then_s")

    def __init__(self) -> None:
        self._spent_s = 0.0
        self._then_s = 0.0

    def spend(self, spent_s: float, now_s: float) -> None:
        """So much work was done up to now."""
        self._spent_s = self._faded(now_s) + spent_s
        self._then_s = now_s

    def wait_s(self, part: float, now_s: float) -> float:
        """How long to rest until the share is down to `part` (0 to 1); 0.0 when it is there already."""
        spent_s, most_s = self._faded(now_s), part * self.MEMORY_S
        return self.MEMORY_S * math.log(spent_s / most_s) if spent_s > most_s else 0.0

    def _faded(self, now_s: float) -> float:
        return self._spent_s * math.exp((self._then_s - now_s) / self.MEMORY_S)


class Crowd:
    """Who was served last, and who last before by somebody else: enough to tell whether one is alone."""

    ALONE_S = 0.25

    def __init__(self) -> None:
        self._latest = 0
        self._latest_s = -math.inf
        self._other_s = -math.inf

    def served(self, who: int, now_s: float) -> None:
        """Something was done for `who`."""
        if who != self._latest:
            self._other_s = self._latest_s
            self._latest = who
        self._latest_s = now_s

    def others(self, who: int, now_s: float) -> bool:
        """Was anybody else served just now?"""
        then_s = self._other_s if who == self._latest else self._latest_s
        return now_s - then_s < self.ALONE_S
