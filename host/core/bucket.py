"""A token bucket: how many calls a second a caller may begin. Reads no clock; it is handed `now_s`."""

from __future__ import annotations


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
