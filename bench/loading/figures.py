"""From samples to ratios, targets and tables: arithmetic and text only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.loading.section import HEADING
from bench.loading.works import DIRECT, ORIGINS, THROUGH, Plan
from bench.report import loads, markdown, target_table
from bench.targets import MIB, Medians, Target, Verdict, figure, medians_of

PROXY, CROWD, MEMORY = "proxy", "crowd", "memory"
MB = 1_000_000
PARTS = ("first_fresh", "first_kept", "many_one", "many_several", "body", "navigation")


def part_figures(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """One part of one round. `speed`: how fast the way through the proxy is, as a share of the direct one."""
    direct_ms, through_ms = median(found[DIRECT]), median(found[THROUGH])
    return {
        "speed": direct_ms / through_ms,
        "later_ms": through_ms - direct_ms,
        "direct_ms": direct_ms,
        "through_ms": through_ms,
        "direct_cpu_ms": median(found[f"{DIRECT}_cpu"]),
        "through_cpu_ms": median(found[f"{THROUGH}_cpu"]),
        "cpu_ms": median(found[f"{THROUGH}_proxy_cpu"]),
    }


def crowd_figures(found: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The crowd of one round; a key of the direct client begins with `direct_`. `slower` is loaded to quiet."""
    made: dict[str, float] = {}
    for name, prefix in (("product", ""), ("direct", "direct_")):
        row = found[name]
        made |= {f"{prefix}{key}": row[key] for key in ("quiet_us", "loaded_us", "loaded_p90_us", "pages")}
        made[f"{prefix}slower"] = row["loaded_us"] / row["quiet_us"]
    return made | {key: found["product"][key] for key in ("host_share", "proxy_share")}


def _of(part: str, key: str) -> Any:
    return lambda medians: figure(medians, PROXY, part, key)


def _peak(medians: Medians) -> float | None:
    peak = figure(medians, PROXY, MEMORY, "peak")
    return peak / MIB if peak else None


def _faster(text: str, part: str, meaning: str) -> Target:
    return Target(text, 0.8, _of(part, "speed"), part, meaning, at_least=True)


TARGETS = (
    _faster("500 small resources of one origin", "many_one", "as fast as without the proxy, by the page's own clock"),
    _faster("500 small resources of several origins", "many_several", "the same with more connections at once"),
    _faster("200 MB that a page reads", "body", "as fast as without the proxy: large answers are carried, not read"),
    _faster("200 MB as a document", "navigation", "the same for what is navigated to; much of it is the parser's time"),
    Target(
        "first byte on a kept connection",
        3,
        _of("first_kept", "later_ms"),
        "first_kept",
        "how much later an answer begins",
        unit="ms later",
    ),
    Target(
        "first byte on a fresh connection",
        3,
        _of("first_fresh", "later_ms"),
        "first_fresh",
        "the same with the connections to the proxy and to the site to be made",
        unit="ms later",
    ),
    Target(
        "a small call while 16 other sessions load",
        1.5,
        _of(CROWD, "slower"),
        CROWD,
        "p50 of `browser.cdp` under load to when nothing loads, through the host",
    ),
    Target(
        "memory of the proxy at its most", 40, _peak, MEMORY, "its resident set, files that it maps among it", unit="MB"
    ),
)


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured, on what: samples by part for each round, and the most that a proxy held."""

    machine: Mapping[str, str]
    date: str
    chromium: str
    load_before: Sequence[float]
    load_after: Sequence[float]
    took_s: float
    plan: Plan
    rounds: Sequence[Mapping[str, Any]]
    memory: Mapping[str, int]

    @property
    def medians(self) -> Medians:
        """The median over the rounds of each round's figures; memory as it is."""
        rows = [
            {part: (crowd_figures if part == CROWD else part_figures)(found) for part, found in row.items()}
            for row in self.rounds
        ]
        parts = medians_of({PROXY: rows}).get(PROXY, {})
        return {PROXY: {**parts, MEMORY: dict(self.memory)}}

    @property
    def verdicts(self) -> list[Verdict]:
        """All targets."""
        medians = self.medians
        return [target.verdict(medians) for target in TARGETS]


def as_data(run: Run) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "date": run.date,
        "machine": {**run.machine, "Chromium": run.chromium},
        "loadBefore": list(run.load_before),
        "loadAfter": list(run.load_after),
        "tookS": run.took_s,
        "plan": asdict(run.plan),
        "targets": [
            {"target": one.target.text, "bound": one.bound_text, "value": one.value, "verdict": one.word}
            for one in run.verdicts
        ],
        "medians": run.medians[PROXY],
        "measured": list(run.rounds),
    }


def as_text(run: Run) -> str:
    """The section: targets, tables, and what they were taken on."""
    parts = run.medians[PROXY]
    sections = [
        HEADING,
        target_table(run.verdicts),
        f"\n{run.date}. {run.machine['cpu']}, {run.machine['cores']} cores, Linux {run.machine['kernel']}, "
        f"Chromium {run.chromium}. {len(run.rounds)} rounds in {run.took_s:.0f} s; load average before "
        f"{loads(run.load_before)}, after {loads(run.load_after)}.\n",
        part_table(run),
    ]
    if CROWD in parts:
        sections += ["", crowd_table(parts[CROWD], run.plan)]
    held = parts[MEMORY]
    sections += [
        f"\nMemory of the proxy: at the end {held['private'] / MIB:.1f} MB private and {held['rss'] / MIB:.1f} MB "
        f"resident, at its most {held['peak'] / MIB:.1f} MB resident.",
        "\n" + READING,
    ]
    return "\n".join(sections)


def part_table(run: Run) -> str:
    """Times of both ways, and the proxy's CPU."""
    rows: list[tuple[str, ...]] = [
        ("work", "direct, ms", "through, ms", "as fast", "later, ms", "CPU of Chromium, ms", "of the proxy, ms")
    ]
    parts = run.medians[PROXY]
    for part in (part for part in PARTS if part in parts):
        row = parts[part]
        digits = 2 if part.startswith("first") else 0
        times = tuple(f"{row[key]:.{digits}f}" for key in ("direct_ms", "through_ms"))
        later = f"{row['later_ms']:.{digits}f}"
        cpu = f"{row['direct_cpu_ms']:.{digits}f} → {row['through_cpu_ms']:.{digits}f}", f"{row['cpu_ms']:.{digits}f}"
        rows.append((title_of(part, run.plan), *times, f"{row['speed']:.2f} ×", later, *cpu))
    return markdown(rows)


def title_of(part: str, plan: Plan) -> str:
    """What the part does."""
    megabytes = f"{plan.body_bytes / MB:g} MB"
    return {
        "first_fresh": "first byte, fresh connection",
        "first_kept": "first byte, kept connection",
        "many_one": f"{plan.resources} resources of 1 KB, one origin",
        "many_several": f"{plan.resources} resources of 1 KB, {ORIGINS} origins",
        "body": f"{megabytes} read by `fetch`",
        "navigation": f"{megabytes} of HTML, navigated to",
    }[part]


def crowd_table(row: Mapping[str, float], plan: Plan) -> str:
    """The small call, quiet and loaded."""
    rows: list[tuple[str, ...]] = [
        (
            f"small call beside {plan.crowd} sessions",
            "quiet, µs",
            "all load, µs",
            "p90, µs",
            "slower",
            "pages meanwhile",
        )
    ]
    for title, prefix in (("the product", ""), ("a direct client, no proxy", "direct_")):
        cells = (f"{row[f'{prefix}{key}']:.0f}" for key in ("quiet_us", "loaded_us", "loaded_p90_us"))
        rows.append((title, *cells, f"{row[f'{prefix}slower']:.2f} ×", f"{row[f'{prefix}pages']:.0f}"))
    shares = f"the host used {row['host_share']:.0%} and its proxy {row['proxy_share']:.0%} of one core"
    return f"{markdown(rows)}\n\nUnder that load {shares}."


READING = """\
Both ways are Chromiums with the product's flags, less those of the proxy for the direct one, in the same round and
sample by sample in turn; a figure is the median over the rounds of a round's ratio or difference of medians. The site
is a process of its own on loopback, so nothing is waited for but these processes: on a real network both ways wait for
the same packets, and the proxy's share is smaller. On few cores the proxy also takes its CPU from the browser's."""
