"""How long a run takes to its script's first answered call, with workers started ahead (warm) and without (cold)."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from bench.children import end_when_asked
from bench.cpu import machine
from bench.path import EXIT_FAILED, EXIT_INTERRUPTED, load, positive
from capsdk.errors import CapError, InternalError, from_wire
from host.app import Host, open_host
from host.commands import run_on
from host.core.settings import Settings
from host.frontends.cli import RunRequest
from host.sandbox.launcher import TIERS, SandboxConfig, choose
from host.sandbox.pool import WorkerPool

APP = Path(__file__).with_name("starting")
WARM, COLD = "warm", "cold"
BOUNDS_MS = {WARM: 15.0, COLD: 200.0}  # of the median, on a quiet machine
RUNS = 40
KEEP = 2
FILL_S = 20.0
REST_S = 0.05  # what the last run left to do is not the next one's
DESCRIPTION = """\
Starts the same small script again and again, in each tier of the sandbox that works here, in turn with a worker that
waits (warm) and with one that has to be started (cold). The time is that from the accepted run, before its folder is
read, to the answer of the script's first `cap.call`, by the script's own clock.
"""
READING = """\
examples:
  ./dev bench start                  40 runs of each kind; best on a quiet machine
  ./dev bench start --runs 5 --json  a quick look, all samples as one JSON object

exit status: 0, also when a bound is missed, 1 when something could not be measured, or with --strict when a bound is
missed, 130 when interrupted.
"""

Samples = dict[tuple[str, str], list[float]]


@dataclass(frozen=True, slots=True)
class Figure:
    """Of one kind of start in one tier, in ms."""

    tier: str
    kind: str
    runs: int
    p50: float
    p90: float
    most: float

    @property
    def met(self) -> bool:
        """Within what is promised of the median."""
        return self.p50 <= BOUNDS_MS[self.kind]


def figure(tier: str, kind: str, took_ms: Sequence[float]) -> Figure:
    """The figures of some samples."""
    ranked = sorted(took_ms)
    return Figure(tier, kind, len(ranked), median(ranked), ranked[len(ranked) * 9 // 10], ranked[-1])


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    options = parse(words)
    end_when_asked()
    before = load()
    try:
        samples, reasons = asyncio.run(measured(options.runs))
    except (CapError, OSError, TimeoutError) as problem:
        say(f"{type(problem).__name__}: {problem}; `capsdk doctor` tells what is missing")
        return EXIT_FAILED
    except KeyboardInterrupt:
        say("interrupted; everything it started is ended")
        return EXIT_INTERRUPTED
    figures = [figure(*key, took_ms) for key, took_ms in samples.items()]
    if options.json:
        rows = [{"tier": tier, "kind": kind, "ms": took_ms} for (tier, kind), took_ms in samples.items()]
        print(json.dumps({"machine": machine(), "load": before, "samples": rows, "reasons": reasons}))
    else:
        print(as_text(figures, reasons, before))
    return EXIT_FAILED if options.strict and not all(one.met for one in figures) else 0


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """The options; argparse exits with 2 on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="./dev bench start",
        description=DESCRIPTION,
        epilog=READING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", type=positive, default=RUNS, help=f"runs of each kind in each tier ({RUNS})")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bound is missed")
    return parser.parse_args(words)


def say(text: str) -> None:
    """Progress and problems: not on standard output."""
    print(f"bench start: {text}", file=sys.stderr, flush=True)


async def measured(runs: int) -> tuple[Samples, list[str]]:
    """The samples by tier and kind, and why a tier has none."""
    samples: Samples = {}
    reasons: list[str] = []
    with tempfile.TemporaryDirectory(prefix="capsdk-start-") as state:
        settings = replace(Settings(), state_dir=state, cache_dir=f"{state}/cache")
        async with open_host(settings, own_profile=True) as host:
            for tier in TIERS:
                config = SandboxConfig(host.places.cache, tiers=(tier,))
                report = await choose(config)  # also writes down the modules that workers import, once for all
                if not report.available:
                    reasons += report.reasons
                    continue
                say(f"tier {tier}, {runs} runs of each kind")
                async with pool(host, config) as filled:
                    for _ in range(runs):
                        for kind in (WARM, COLD):
                            await filled(KEEP if kind == WARM else 0)
                            samples.setdefault((tier, kind), []).append(await took_ms(host))
    return samples, reasons


@contextlib.asynccontextmanager
async def pool(host: Host, config: SandboxConfig) -> AsyncIterator[Any]:
    """Have the host take its workers from a pool of this tier; what is yielded sets how many wait there."""
    own = host.workers

    async def filled(keep: int) -> None:
        await host.workers.close()
        host.workers = WorkerPool(config, keep)
        host.workers.fill()
        async with asyncio.timeout(FILL_S):
            await host.workers.settled()
        await asyncio.sleep(REST_S)

    try:
        yield filled
    finally:
        await host.workers.close()
        host.workers = own


async def took_ms(host: Host) -> float:
    """One run. Raises CapError when it failed."""

    async def this_host() -> Host:
        return host

    began_ns = time.monotonic_ns()
    envelope = await run_on(this_host, RunRequest(str(APP), None, False, (), (), False), lambda kind, data: None)
    if not envelope["ok"]:
        raise from_wire(envelope["error"])
    (row,) = json.loads(envelope["result"]["rowsJson"])
    if row["answered_ns"] <= began_ns:
        raise InternalError("INTERNAL", "the script's clock is not the host's; there is nothing to compare")
    return (int(row["answered_ns"]) - began_ns) / 1e6


def as_text(figures: Sequence[Figure], reasons: Sequence[str], before: Sequence[float]) -> str:
    """A table, and what is missing from it."""
    known = machine()
    lines = [
        f"{known['cpu']}, {known['cores']} cores, Python {known['python']}, load {before[0]:.1f}",
        f"{'tier':8} {'start':5} {'runs':>5} {'p50 ms':>8} {'p90 ms':>8} {'most':>8}  promised of p50",
    ]
    for one in figures:
        word = "met" if one.met else "missed"
        lines.append(
            f"{one.tier:8} {one.kind:5} {one.runs:5} {one.p50:8.1f} {one.p90:8.1f} {one.most:8.1f}  "
            f"≤ {BOUNDS_MS[one.kind]:g} ms  {word}"
        )
    return "\n".join([*lines, *(f"not measured: {reason}" for reason in reasons)])


if __name__ == "__main__":
    sys.exit(main())
