"""What a call costs on its path: a sandboxed script and `capsdk stdio` against clients that have the whole browser."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bench.cpu import machine
from bench.figures import TITLES, order_of, plain_summaries, summarise, table
from bench.subjects import SUBJECTS, run_subject

BURST = 3
SUBJECT_S = 180.0
TERMINATE_S = 10.0
EXIT_FAILED = 1
EXIT_INTERRUPTED = 130

DESCRIPTION = """\
Measures `Runtime.evaluate 1` on about:blank, once a call at a time and once with 32 calls outstanding:

  script      the app folder bench/app, run by `capsdk run` in the real sandbox: script > host > Chromium
  stdio       a client of `capsdk stdio`: client > host > Chromium
  websocket   asyncio, websockets and json straight to Chromium's port: what most authors would write
  pipe        asyncio and msgspec straight to Chromium's pipe, results as raw bytes: about the least in Python

Each runs in a process and a Chromium of its own, with the same flags and user. Rounds alternate forward and backward.
"""
READING = """\
How to read it: `median` and `best` are of the rounds' p50 (with 32 outstanding: wall time divided by calls). CPU is
user and system time of client and host per call, with the ledger's writer thread and without Chromium; on a busy
machine trust it before wall times, then `best`, then `median`. `x ws` and `x pipe` are ratios to the direct clients in
the same run, of medians (of best rounds). Compare only figures of one run.

examples:
  ./dev bench path                          five rounds of 1,000 calls, about a minute
  ./dev bench path --rounds 9 --json        all rounds and summaries as one JSON object
  ./dev bench path --subject script         only this one, once, as JSON: to put under a profiler
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 1 when a subject failed, 130 when interrupted."""
    options = parse(words)
    if options.subject:
        figures = run_subject(options.subject, calls=options.calls, burst_calls=options.calls * BURST)
        print(json.dumps(figures))
        return 0
    before = load()
    began = time.monotonic()
    try:
        rounds = measure_rounds(options.rounds, options.calls)
    except SubjectFailed as problem:
        print(f"bench path: {problem}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("bench path: interrupted; everything it started is ended", file=sys.stderr)
        return EXIT_INTERRUPTED
    run = {
        "machine": machine(),
        "rounds": options.rounds,
        "calls": options.calls,
        "loadBefore": before,
        "loadAfter": load(),
        "tookS": round(time.monotonic() - began, 1),
    }
    print(as_json(run, rounds) if options.json else as_text(run, rounds))
    return 0


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """The options; argparse exits with 2 on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="./dev bench path",
        description=DESCRIPTION,
        epilog=READING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=positive, default=5, help="rounds of all four (5)")
    parser.add_argument(
        "--calls", type=positive, default=1000, help=f"timed calls a round, {BURST}x with 32 outstanding (1000)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--subject", choices=sorted(SUBJECTS), help="measure one, once, in this process")
    return parser.parse_args(words)


def positive(text: str) -> int:
    """A whole number above zero. Raises ValueError."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def load() -> list[float]:
    """The load averages over 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


class SubjectFailed(Exception):
    """A subject gave no figures; without all of them there is nothing to compare."""


def measure_rounds(rounds: int, calls: int) -> dict[str, list[Any]]:
    """All rounds of all subjects, each in a process of its own. Raises SubjectFailed."""
    found: dict[str, list[Any]] = {name: [] for name in SUBJECTS}
    for number in range(rounds):
        for name in order_of(list(SUBJECTS), number):
            print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr)
            found[name].append(measure_subject(name, calls))
    return found


def measure_subject(name: str, calls: int) -> Any:
    """One subject once. Raises SubjectFailed with its last words."""
    words = [sys.executable, "-m", "bench.path", "--subject", name, "--calls", str(calls)]
    with running(words) as child:
        try:
            said, complained = child.communicate(timeout=SUBJECT_S)
        except subprocess.TimeoutExpired:
            raise SubjectFailed(f"{name} was not done within {SUBJECT_S:g} s; try fewer --calls") from None
    if child.returncode != 0:
        raise SubjectFailed(f"{name} failed; `capsdk doctor` tells what is missing\n{complained.strip()[-2000:]}")
    return json.loads(said.splitlines()[-1])


@contextmanager
def running(words: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is asked to end, then made to, when the block is left early; what it started ends with it."""
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(TERMINATE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def as_json(run: dict[str, Any], rounds: dict[str, list[Any]]) -> str:
    """Everything, for machines."""
    summaries = {part: plain_summaries(summarise(rounds, part)) for part in TITLES}
    return json.dumps({**run, "summary": summaries, "measured": rounds})


def as_text(run: dict[str, Any], rounds: dict[str, list[Any]]) -> str:
    """The tables, and what they were taken on."""
    facts = run["machine"]
    versions = ", ".join(f"{name} {facts[name]}" for name in facts if name not in ("cpu", "cores"))
    lines = [
        f"{run['rounds']} alternating rounds of {run['calls']} calls in {run['tookS']} s",
        f"{facts['cpu']}, {facts['cores']} cores, {versions}",
        f"load average before {words_of(run['loadBefore'])}, after {words_of(run['loadAfter'])}",
        *(f"\n{table(title, summarise(rounds, part))}" for part, title in TITLES.items()),
    ]
    return "\n".join(lines)


def words_of(averages: Sequence[float]) -> str:
    """Three load averages as uptime(1) writes them."""
    return " ".join(f"{value:.2f}" for value in averages)


if __name__ == "__main__":
    sys.exit(main())
