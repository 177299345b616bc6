"""How long the dispatcher's own steps take: the path measures itself."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Timing:
    """Calls of one entry: how many, and the nanoseconds of the checks before the handler and of the whole call."""

    calls: int = 0
    checks_ns: int = 0
    slowest_checks_ns: int = 0
    total_ns: int = 0


@dataclass(slots=True)
class Timings:
    """Sums by entry, since the host began."""

    by_entry: dict[str, Timing] = field(default_factory=dict)

    def checked(self, entry: str, checks_ns: int) -> None:
        """A call passed all checks after this time."""
        timing = self._of(entry)
        timing.checks_ns += checks_ns
        timing.slowest_checks_ns = max(timing.slowest_checks_ns, checks_ns)

    def done(self, entry: str, total_ns: int) -> None:
        """A call has its answer after this time."""
        timing = self._of(entry)
        timing.calls += 1
        timing.total_ns += total_ns

    def _of(self, entry: str) -> Timing:
        timing = self.by_entry.get(entry)
        if timing is None:
            timing = self.by_entry[entry] = Timing()
        return timing
