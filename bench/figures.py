"""From the rounds' figures to medians, ratios and a table: arithmetic and text only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

Figures = Mapping[str, Mapping[str, float]]
Rounds = Mapping[str, Sequence[Figures]]

WEBSOCKET, PIPE = "websocket", "pipe"  # the two that ratios are told to
LABELS = {
    "script": "script in the sandbox",
    "stdio": "capsdk stdio",
    WEBSOCKET: "direct, websockets + json",
    PIPE: "direct, pipe + msgspec Raw",
}
TITLES = {"one": "one call at a time: µs per call", "many": "32 calls outstanding: µs between two answers"}


@dataclass(frozen=True, slots=True)
class Ratio:
    """To another subject of the same run: of the medians, of the best rounds, and of all CPU per call."""

    median: float
    best: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Summary:
    """One subject over all rounds, times in µs a call.

    `median_us` and `best_us` are of the rounds' p50 for `one`; for `many` of the wall time per call, since the p50 of
    a call that waits for 31 others says little. CPU is the median of the rounds, Chromium's not counted.
    """

    median_us: float
    best_us: float
    p99_us: float
    client_cpu_us: float
    host_cpu_us: float
    cpu_us: float
    ratios: Mapping[str, Ratio]


def order_of(names: Sequence[str], round_number: int) -> list[str]:
    """Forward and backward in turn, so that a machine that gets slower or faster favours nobody."""
    return list(names) if round_number % 2 == 0 else list(reversed(names))


def summarise(rounds: Rounds, part: str) -> dict[str, Summary]:
    """The summary of each subject for `one` or `many`."""
    plain = {name: _plain([figures[part] for figures in rows], part) for name, rows in rounds.items()}
    return {
        name: Summary(**row, ratios={to: _ratio(row, plain[to]) for to in (WEBSOCKET, PIPE) if to in plain})
        for name, row in plain.items()
    }


def _plain(rows: Sequence[Mapping[str, float]], part: str) -> dict[str, float]:
    key = "p50_us" if part == "one" else "wall_us"
    return {
        "median_us": median(row[key] for row in rows),
        "best_us": min(row[key] for row in rows),
        "p99_us": median(row["p99_us"] for row in rows),
        "client_cpu_us": median(row["client_cpu_us"] for row in rows),
        "host_cpu_us": median(row["host_cpu_us"] for row in rows),
        "cpu_us": median(row["client_cpu_us"] + row["host_cpu_us"] for row in rows),
    }


def _ratio(row: Mapping[str, float], to: Mapping[str, float]) -> Ratio:
    return Ratio(row["median_us"] / to["median_us"], row["best_us"] / to["best_us"], row["cpu_us"] / to["cpu_us"])


HEAD = ("", "median", "best", "p99", "CPU client", "host", "sum", "x ws", "x pipe", "CPU x ws", "x pipe")


def table(title: str, summaries: Mapping[str, Summary]) -> str:
    """The summaries as aligned text; ratios are `of medians (of best rounds)`."""
    lines = [HEAD, *(_cells(name, row) for name, row in summaries.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join([title, *(_aligned(line, widths) for line in lines)])


def _cells(name: str, row: Summary) -> tuple[str, ...]:
    numbers = (row.median_us, row.best_us, row.p99_us, row.client_cpu_us, row.host_cpu_us, row.cpu_us)
    times = (f"{number:.0f}" if number else "-" for number in numbers)
    ratios = [row.ratios.get(to) for to in (WEBSOCKET, PIPE)]
    walls = (f"{ratio.median:.2f} ({ratio.best:.2f})" if ratio else "-" for ratio in ratios)
    cpus = (f"{ratio.cpu:.2f}" if ratio else "-" for ratio in ratios)
    return (f"  {LABELS.get(name, name)}", *times, *walls, *cpus)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if not at else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(line, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def plain_summaries(summaries: Mapping[str, Summary]) -> dict[str, Any]:
    """The same as plain data, for JSON."""
    return {name: asdict(row) for name, row in summaries.items()}
