"""What is read of the measured processes at the marks of a work: CPU between them, memory while nothing happens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from bench.cpu import CpuMarks
from bench.memory import children_of, private_bytes_of

Figures = Mapping[str, Mapping[str, float]]


class Marks:
    """`between` is the process between client and Chromium, a host or a driver; None when there is none.

    `memory_of` are the processes whose private memory counts as the client's way to Chromium.
    """

    def __init__(self, between: int | None, memory_of: list[int]) -> None:
        self._cpu = CpuMarks(between) if between else None
        self._memory_of = memory_of
        self._memory: dict[str, float] = {}

    def read(self, name: str) -> None:
        """Called at each mark."""
        if self._cpu is not None:
            self._cpu.read(name)
        if name == "idle_end":
            helpers = [pid for pid in children_of(os.getpid()) if pid not in self._memory_of]
            self._memory = {
                "private_bytes": private_bytes_of(self._memory_of),
                "helper_bytes": private_bytes_of(helpers),
            }

    def added_to(self, figures: Figures) -> dict[str, dict[str, float]]:
        """The figures with the other process's CPU per call and the memory of idling."""
        return {name: {**row, **self._of(name, row)} for name, row in figures.items()}

    def _of(self, name: str, row: Mapping[str, Any]) -> dict[str, float]:
        more = dict(self._memory) if name == "idle" else {}
        if name == "ring":
            return more
        spent_us = self._cpu.spent_us(name) / row["calls"] if self._cpu is not None else 0.0
        return {"host_cpu_us": spent_us, **more}
