"""What the proxy costs: pages, large bodies, first bytes and small calls through it, to the same without it."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bench.all import PAGE_FILE, chromium_version
from bench.children import end_when_asked
from bench.clients import Replied
from bench.cpu import machine
from bench.loading.crowd import crowd
from bench.loading.figures import CROWD, PARTS, Run, as_data, as_text
from bench.loading.memory import memory_of
from bench.loading.section import with_section
from bench.loading.site import Site, site_served
from bench.loading.works import QUICK, Plan, Works, proxy
from bench.path import EXIT_FAILED, EXIT_INTERRUPTED, load, positive
from bench.report import target_table
from capsdk.errors import CapError

DESCRIPTION = """\
Loads the same things in two Chromiums that differ only in the proxy's flags, sample by sample in turn:

  first_fresh, first_kept    when the first byte of a small answer comes, on a fresh and on a kept connection
  many_one, many_several     a page with 500 resources of 1 KB, of one and of several origins
  body, navigation           200 MB that a page reads to the end, and 200 MB of HTML
  crowd                      a small `browser.cdp` call of one session while 16 others load page after page

and reads the proxy's CPU and memory. The site is a process of its own, on loopback.
"""
READING = """\
examples:
  ./dev bench egress                        five rounds, some minutes, best on a quiet machine
  ./dev bench egress --quick                two short rounds
  ./dev bench egress --part body --json     only this, all samples as one JSON object
  ./dev bench egress --write                also written to references/performance.md

exit status: 0, also when a target is missed, 1 when something could not be measured, or with --strict when a target is
missed, 130 when interrupted.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    options = parse(words)
    end_when_asked()
    plan = QUICK if options.quick else Plan()
    plan = replace(plan, rounds=options.rounds) if options.rounds else plan
    began, before = time.monotonic(), load()
    try:
        rounds, memory = asyncio.run(measured(plan, options.part or [*PARTS, CROWD]))
    except (CapError, OSError, RuntimeError, Replied) as problem:
        say(f"{type(problem).__name__}: {problem}; `capsdk doctor` tells what is missing")
        return EXIT_FAILED
    except KeyboardInterrupt:
        say("interrupted; everything it started is ended")
        return EXIT_INTERRUPTED
    run = Run(
        machine=machine(),
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        chromium=chromium_version(),
        load_before=before,
        load_after=load(),
        took_s=round(time.monotonic() - began, 1),
        plan=plan,
        rounds=rounds,
        memory=memory,
    )
    if options.write:
        PAGE_FILE.write_text(with_section(PAGE_FILE.read_text(encoding="utf-8"), as_text(run)), encoding="utf-8")
        say("written: references/performance.md")
    print(json.dumps(as_data(run)) if options.json else target_table(run.verdicts) if options.write else as_text(run))
    missed = any(one.word == "missed" for one in run.verdicts)
    return EXIT_FAILED if missed and options.strict else 0


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """The options; argparse exits with 2 on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="./dev bench egress",
        description=DESCRIPTION,
        epilog=READING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=positive, help=f"rounds of all ({Plan.rounds}; --quick {QUICK.rounds})")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and samples: to try it out, not to conclude")
    parser.add_argument("--part", action="append", choices=[*PARTS, CROWD], help="only this; may be repeated")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--write", action="store_true", help="write the section of references/performance.md")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a target is missed")
    return parser.parse_args(words)


def say(text: str) -> None:
    """Progress and problems: not on standard output."""
    print(f"bench egress: {text}", file=sys.stderr, flush=True)


async def measured(plan: Plan, parts: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """All rounds, and the most that a proxy held: the one that lives for the whole run, or one of a host's."""
    rounds: list[dict[str, Any]] = []
    with site_served(plan.ports) as site:
        async with proxy(site) as egress:
            for number in range(plan.rounds):
                say(f"round {number + 1} of {plan.rounds}")
                rounds.append(await one_round(site, plan, parts, egress, number))
            assert egress.pid is not None
            held = memory_of(egress.pid)
    others = [row[CROWD]["product"] for row in rounds if CROWD in row]
    return rounds, {key: max([value, *(int(one[key]) for one in others)]) for key, value in held.items()}


async def one_round(site: Site, plan: Plan, parts: Sequence[str], egress: Any, number: int) -> dict[str, Any]:
    """The samples of each part."""
    found: dict[str, Any] = {}
    pairs = [part for part in PARTS if part in parts]
    if pairs:
        found |= await Works(site, plan).round(egress, number, pairs)
    if CROWD in parts:
        found[CROWD] = await crowd(site, plan)
    return found


if __name__ == "__main__":
    sys.exit(main())
