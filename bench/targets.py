"""What the product promises as ratios of one run, and whether a run kept it: arithmetic only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

MIB = 1024 * 1024
SCRIPT, WEBSOCKET, PIPE, PLAYWRIGHT = "script", "websocket", "pipe", "playwright"

Medians = Mapping[str, Mapping[str, Mapping[str, float]]]  # subject, part, key
Rounds = Mapping[str, Sequence[Mapping[str, Mapping[str, Any]]]]

MAIN_KEY = {  # what a part is judged by: the p50 of calls that wait for one another, else the wall time of each
    "one": "p50_us",
    "many": "wall_us",
    "large": "p50_us",
    "small_events": "wall_us",
    "large_events": "wall_us",
    "open": "p50_us",
    "open_eight": "wall_us",
    "idle": "private_bytes",
}


@dataclass(frozen=True, slots=True)
class Target:
    """`measure` gives the value that is bounded, None when the run did not measure it; `part` is where to look."""

    text: str
    bound: float
    measure: Callable[[Medians], float | None]
    part: str
    meaning: str
    at_least: bool = False
    unit: str = "×"

    def verdict(self, medians: Medians) -> Verdict:
        """Against one run."""
        value = self.measure(medians)
        if value is None:
            return Verdict(self, None, "not measured")
        met = value >= self.bound if self.at_least else value <= self.bound
        return Verdict(self, value, "met" if met else "missed")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`word` is `met`, `missed` or `not measured`."""

    target: Target
    value: float | None
    word: str

    @property
    def bound_text(self) -> str:
        """As it was promised."""
        return f"{'≥' if self.target.at_least else '≤'} {self.target.bound:g} {self.target.unit}"

    @property
    def value_text(self) -> str:
        """As it was measured."""
        return "-" if self.value is None else f"{self.value:.3f} {self.target.unit}"


def medians_of(rounds: Rounds) -> dict[str, dict[str, dict[str, float]]]:
    """The median over the rounds of each figure."""
    return {name: _over(rows, median) for name, rows in rounds.items() if rows}


def bests_of(rounds: Rounds) -> dict[str, dict[str, dict[str, float]]]:
    """The least over the rounds of each figure."""
    return {name: _over(rows, min) for name, rows in rounds.items() if rows}


def _over(
    rows: Sequence[Mapping[str, Mapping[str, float]]], reduce: Callable[[list[float]], float]
) -> dict[str, dict[str, float]]:
    parts = [part for part in rows[0] if all(part in row for row in rows)]
    return {part: {key: reduce([row[part][key] for row in rows]) for key in rows[0][part]} for part in parts}


def figure(medians: Medians, subject: str, part: str, key: str) -> float | None:
    """One figure, None when it is not there."""
    return medians.get(subject, {}).get(part, {}).get(key)


def ratio(medians: Medians, part: str, to: str) -> float | None:
    """The script's median time of a part, divided by another client's."""
    ours, theirs = (figure(medians, name, part, MAIN_KEY[part]) for name in (SCRIPT, to))
    return ours / theirs if ours is not None and theirs else None


def cpu_us(row: Mapping[str, float]) -> float:
    """The CPU per call of client and what is between it and Chromium."""
    return row["client_cpu_us"] + row["host_cpu_us"]


def _to(part: str, subject: str) -> Callable[[Medians], float | None]:
    return lambda medians: ratio(medians, part, subject)


def _throughput(medians: Medians) -> float | None:
    slower = ratio(medians, "many", WEBSOCKET)
    return 1 / slower if slower else None


def _kept(medians: Medians) -> float | None:
    row = medians.get(SCRIPT, {}).get("ring")
    if row is None:
        return None
    return 0.0 if row["lost"] or row["untold"] else row["seen"] / row["calls"]


def _memory(medians: Medians) -> float | None:
    held = figure(medians, SCRIPT, "idle", "private_bytes")
    return held / MIB if held else None


TARGETS = (
    Target(
        "small call, to direct websockets + json",
        1.1,
        _to("one", WEBSOCKET),
        "one",
        "what a sandboxed script pays for a call beyond a client that holds the whole browser, as most are written",
    ),
    Target(
        "small call, to the direct pipe",
        1.6,
        _to("one", PIPE),
        "one",
        "the same beyond about the least that Python can do: the price of the sandbox, the checks and the ledger",
    ),
    Target(
        "small call, to Playwright's CDPSession",
        0.7,
        _to("one", PLAYWRIGHT),
        "one",
        "the same beyond what many scripts use today, which also has a process between client and Chromium",
    ),
    Target(
        "throughput with 32 outstanding, to direct websockets + json",
        0.8,
        _throughput,
        "many",
        "calls per second when a script does not wait for one answer before it asks again",
        at_least=True,
    ),
    Target(
        "result of 900 KB, to direct websockets + json",
        1.15,
        _to("large", WEBSOCKET),
        "large",
        "large results pass through the host as bytes; mostly Chromium's own time",
    ),
    Target(
        "events kept until the ring is full, at Chromium's full rate",
        1.0,
        _kept,
        "ring",
        "a full ring by number, nine tenths of one by bytes, all unread while the page floods; and 40 rings at once, "
        "of which each event is there or told as lost",
        at_least=True,
    ),
    Target(
        "opening a session, to the direct pipe",
        1.15,
        _to("open", PIPE),
        "open",
        "from the call to the load event; the host also attaches its guard before anything of the site loads",
    ),
    Target(
        "private memory of the host with eight idle sessions",
        50,
        _memory,
        "idle",
        "what would be free if the host ended: not Chromium, not the script's process",
        unit="MB",
    ),
)


def verdicts(medians: Medians) -> list[Verdict]:
    """All targets against one run."""
    return [target.verdict(medians) for target in TARGETS]
