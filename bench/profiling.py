"""Where the host's time goes in one part: its functions, and the commands of an open, by the clock on the wall."""

from __future__ import annotations

import contextlib
import cProfile
import os
import pstats
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.memory import private_by_mapping
from host.cdp.connection import Connection, Waiting

TOP = 14
FIRST_OF_AN_OPEN = "Target.createTarget"
ROOT = Path(__file__).resolve().parent.parent


class Traced:
    """Somebody who waits for a reply, and the clock."""

    def __init__(self, waiting: Waiting, row: list[float]) -> None:
        self._waiting = waiting
        self._row = row
        self.max_bytes = waiting.max_bytes

    def answered(self, result: bytes) -> None:
        self._row[1] = time.perf_counter()
        self._waiting.answered(result)

    def refused(self, error: bytes) -> None:
        self._row[1] = time.perf_counter()
        self._waiting.refused(error)

    def too_large(self, size_bytes: int) -> None:
        self._waiting.too_large(size_bytes)

    def gone(self) -> None:
        self._waiting.gone()


class Profiler:
    """Looks only between the marks of `part`. A profile makes everything slower: its shares count, not its times."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._profile = cProfile.Profile()
        self._on = False
        self._commands: list[tuple[str, list[float]]] = []
        self._memory: list[list[Any]] = []

    def mark(self, name: str) -> None:
        """Called at each mark of the work, on the loop's thread."""
        if name == self._part:
            self._on = True
            self._profile.enable()
        elif name == f"{self._part}_end":
            self._profile.disable()
            self._on = False
            if self._part == "idle":
                self._memory = [[size, name] for name, size in private_by_mapping(os.getpid())[:TOP]]

    @contextlib.contextmanager
    def tracing(self) -> Iterator[None]:
        """Note the commands that the host sends for its own and the caller's sake while profiling is on."""
        plain = Connection.post

        def post(self_: Connection, method: str, params: bytes, session: str, waiting: Waiting) -> int:
            if not self._on:
                return plain(self_, method, params, session, waiting)
            row = [time.perf_counter(), 0.0]
            self._commands.append((method, row))
            return plain(self_, method, params, session, Traced(waiting, row))

        Connection.post = post  # type: ignore[method-assign, assignment] # only in a process that is profiled
        try:
            yield
        finally:
            Connection.post = plain  # type: ignore[method-assign]

    def found(self) -> dict[str, Any]:
        """`functions`: [share, calls, name]; `open`: [method, start ms, ms]; `memory`: [bytes, mapping], for `idle`."""
        opens = opens_of(self._commands) if self._part == "open" else []
        functions = functions_of(pstats.Stats(self._profile)) if self._part != "idle" else []
        return {"functions": functions, "open": opens, "memory": self._memory}


def functions_of(stats: pstats.Stats) -> list[list[Any]]:
    """The functions with the most time of their own, less waiting for events.

    By the clock on the wall, for one of CPU costs more than most functions: who is interrupted, as by the Chromium
    that a write wakes, is charged with that.
    """
    table = stats.stats  # type: ignore[attr-defined] # not in the stubs, and what print_stats itself reads
    own = {key: row for key, row in table.items() if "poll" not in key[2] and "select" not in key[2]}
    total_s = sum(row[2] for row in own.values()) or 1.0
    top = sorted(own.items(), key=lambda item: -item[1][2])[:TOP]
    return [[round(row[2] / total_s, 3), row[1], name_of(*key)] for key, row in top]


def name_of(file: str, line: int, function: str) -> str:
    """A function's name with its module; no path of this machine."""
    if file == "~":
        return function.strip("<>")
    path = Path(file)
    inside = path.relative_to(ROOT) if path.is_relative_to(ROOT) and ".venv" not in path.parts else None
    return f"{inside or '/'.join(path.parts[-2:])}:{function}"


def opens_of(commands: list[tuple[str, list[float]]]) -> list[list[Any]]:
    """The commands of the median open, from its first to its last answer: [method, start ms, ms]."""
    opens: list[list[tuple[str, list[float]]]] = []
    for method, row in commands:
        if method == FIRST_OF_AN_OPEN:
            opens.append([])
        if opens and method != "Target.closeTarget" and row[1]:
            opens[-1].append((method, row))
    opens.sort(key=lambda one: max(row[1] for _, row in one) - one[0][1][0] if one else 0.0)
    usual = opens[len(opens) // 2] if opens else []
    return [
        [method, round((row[0] - usual[0][1][0]) * 1000, 2), round((row[1] - row[0]) * 1000, 2)]
        for method, row in usual
    ]
