"""CPU time of a process, this one or another, and what the machine is; no measuring loop in here."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

CPUCLOCK_SCHED = 2
PACKAGES = ("msgspec", "pydantic", "websockets")


def process_cpu_ns(pid: int) -> int:
    """Nanoseconds of CPU, user and system, that all threads of the process have used, ended threads too.

    The number of another process's clock is made as clock_getcpuclockid(3) does on Linux; /proc counts in ticks of
    10 ms, or not at all where the kernel keeps no scheduler statistics. Raises OSError when there is no such process.
    """
    return time.clock_gettime_ns((~pid << 3) | CPUCLOCK_SCHED)


class CpuMarks:
    """The CPU clock of one process, read at the marks of `measure`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._read_ns: dict[str, int] = {}

    def read(self, mark: str) -> None:
        """Keep the clock's value under this name."""
        self._read_ns[mark] = process_cpu_ns(self._pid)

    def spent_us(self, name: str) -> float:
        """Microseconds between the marks `name` and `name_end`. Raises KeyError when one was not reached."""
        return (self._read_ns[f"{name}_end"] - self._read_ns[name]) / 1000


def with_host_cpu(figures: Mapping[str, Mapping[str, float]], marks: CpuMarks | None) -> dict[str, dict[str, float]]:
    """The figures with the host's CPU per call; None when there is no host between client and Chromium."""
    return {
        name: {**row, "host_cpu_us": marks.spent_us(name) / row["calls"] if marks else 0.0}
        for name, row in figures.items()
    }


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    return {
        "cpu": _cpu_model(),
        "cores": str(os.cpu_count()),
        "kernel": platform.release(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("capsdk", *PACKAGES)},
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
