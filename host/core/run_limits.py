"""What one run may use: the manifest's wishes under the owner's ceilings. Holds nobody to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capsdk.errors import ExhaustedError
from host.core.limits import KIB, Limits

NONE = 0.0
"""As a ceiling, and as a bound that results: no limit at all."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One limit of a run, and which key has to be raised for more: that of `app.toml` or that of the owner.

    `key` is the manifest's and carries the unit; `owner_key` is the setting. `wanted` is what the manifest says.
    """

    key: str
    value: float
    owner_key: str
    ceiling: float
    wanted: float | None = None

    @property
    def advice(self) -> str:
        """How to get more, as the end of a message."""
        if not self.owners:
            return f"or raise {self.key} in app.toml"
        raising = f"or have the owner raise {self.owner_key}"
        if self.wanted is None:
            return raising
        if self.wanted > self.value:
            return f"{raising}, which holds app.toml's {self.key} of {self.wanted:g} down"
        return f"{raising}, and raise {self.key} in app.toml"

    @property
    def owners(self) -> bool:
        """Whether it is the owner's ceiling that holds."""
        return self.ceiling != NONE and self.value >= self.ceiling

    def over(self, said: str, actual: float, **details: Any) -> ExhaustedError:
        """RUN_LIMIT: `said` tells the limit, the actual value and what to do; how to get more is added."""
        return self.error("RUN_LIMIT", said, actual=actual, **details)

    def error(self, code: str, said: str, **details: Any) -> ExhaustedError:
        """The error of this limit, with `what` and `limit` in its details."""
        return ExhaustedError(code, f"{said}, {self.advice}", what=self.key, limit=self.value, **details)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The bounds of one run. `calls_per_s` may be `NONE`."""

    wall_s: Bound
    cpu_s: Bound
    memory_mb: Bound
    output_kb: Bound
    calls_in_flight: Bound
    calls_per_s: Bound
    log_lines: Bound


def run_limits(limits: Limits, wanted: Mapping[str, float]) -> RunLimits:
    """The smaller of both for each; `wanted` is the manifest's `[limits]`, without what it leaves open."""

    def bound(key: str, owner_key: str, ceiling: float) -> Bound:
        asked = wanted.get(key)
        if asked is None:
            return Bound(key, ceiling, owner_key, ceiling)
        return Bound(key, asked if ceiling == NONE else min(asked, ceiling), owner_key, ceiling, asked)

    return RunLimits(
        wall_s=bound("wall_s", "run_wall_s", limits.run_wall_s),
        cpu_s=bound("cpu_s", "run_cpu_s", limits.run_cpu_s),
        memory_mb=bound("memory_mb", "run_memory_mb", limits.run_memory_mb),
        output_kb=bound("output_kb", "run_output_bytes", limits.run_output_bytes / KIB),
        calls_in_flight=bound("calls_in_flight", *_least_in_flight(limits)),
        calls_per_s=bound("calls_per_s", "run_calls_per_s", limits.run_calls_per_s),
        log_lines=bound("log_lines", "run_log_lines", limits.run_log_lines),
    )


def door_in_flight(limits: Limits) -> Bound:
    """How many calls of a caller that is no run may be under way."""
    return Bound("calls_in_flight", limits.calls_in_flight, "calls_in_flight", limits.calls_in_flight)


def _least_in_flight(limits: Limits) -> tuple[str, float]:
    of_run, of_door = limits.run_calls_in_flight, limits.calls_in_flight
    return ("run_calls_in_flight", of_run) if of_run <= of_door else ("calls_in_flight", of_door)
