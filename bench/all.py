"""All works of the product against its peers, and its targets: met or missed. `--quick` is the ratchet."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import ratchet
from bench.children import ChildFailed, end_when_asked, output_of
from bench.cpu import machine
from bench.environments import Unavailable, environments
from bench.figures import order_of
from bench.loading.section import section_of, with_section
from bench.page import page_served
from bench.path import EXIT_FAILED, EXIT_INTERRUPTED, load, positive
from bench.report import LABELS, Run, as_data, as_page, as_text, split_of, target_table
from bench.targets import PIPE, SCRIPT
from host.app import load_settings
from host.browser.process import find_binary

PAGE_FILE = Path(__file__).resolve().parent.parent / "references" / "performance.md"
SUBJECT_S = 300.0
FULL: Mapping[str, int] = {
    "one": 1000,
    "many": 3200,
    "large": 9,
    "small_events": 20_000,
    "large_events": 2_000,
    "ring": 3,
    "open": 6,
    "open_eight": 2,
    "idle": 3,
}
SHORT: Mapping[str, int] = {
    "one": 100,
    "many": 320,
    "large": 3,
    "small_events": 2_000,
    "large_events": 200,
    "ring": 1,
    "open": 2,
    "open_eight": 1,
    "idle": 1,
}
QUICK: Mapping[str, int] = {"one": 600, "many": 960, "large": 3, "open": 2}
QUICK_ROUNDS = 3
QUICK_S = 16.0  # no new round after that: two tries stay below a minute
PROFILED = frozenset(("one", "many", "large", "open", "idle"))

DESCRIPTION = f"""\
Measures the works W1 to W7 on the product, a sandboxed script, and on its peers in the same run:

  {", ".join(LABELS)}

What a peer needs is set up under .bench/ on first use; one that cannot be had is left out with the reason. Each client
runs in a process and a Chromium of its own. Prints the targets, met or missed, and the tables.
"""
READING = """\
examples:
  ./dev bench                               all, five rounds: some minutes, best on a quiet machine
  ./dev bench all --write                   the same, written to references/performance.md
  ./dev bench all --subject script --subject pipe --short
  ./dev bench all --quick                   the ratchet: exit 1 when a small call got slower by a third
  ./dev bench all --quick --write           commit to what it is now

exit status: 0, also when a target is missed, 1 when the product could not be measured, the ratchet did not hold, or
with --strict when a target is missed, 130 when interrupted.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    options = parse(words)
    end_when_asked()
    try:
        return quick(options) if options.quick else full(options)
    except ChildFailed as problem:
        say(str(problem))
        return EXIT_FAILED
    except KeyboardInterrupt:
        say("interrupted; everything it started is ended")
        return EXIT_INTERRUPTED


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """The options; argparse exits with 2 on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="./dev bench all",
        description=DESCRIPTION,
        epilog=READING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=positive, help=f"rounds of all clients (5; --quick {QUICK_ROUNDS})")
    parser.add_argument("--subject", action="append", choices=sorted(LABELS), help="only this client; may be repeated")
    parser.add_argument("--short", action="store_true", help="a tenth of the calls: to try it out, not to conclude")
    parser.add_argument("--quick", action="store_true", help="only script and pipe, below a minute, as a ratchet")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--write", action="store_true", help="write references/performance.md, or the ratchet's file")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a target is missed")
    return parser.parse_args(words)


def say(text: str) -> None:
    """Progress and problems: not on standard output."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def quick(options: argparse.Namespace) -> int:
    """The ratchet."""
    rounds = options.rounds or QUICK_ROUNDS

    def measured() -> dict[str, list[Any]]:
        with page_served() as page:
            return measure({SCRIPT: [], PIPE: []}, {**QUICK, "page": page}, rounds, stop_after_s=QUICK_S)

    if options.write:
        found = ratchet.ratios_of(measured())
        ratchet.write(found)
        print(json.dumps(found))
        return 0
    outcome = ratchet.hold(measured, ratchet.read(), say)
    if options.json:
        print(json.dumps(outcome))
    else:
        now, committed = outcome["tries"][-1], outcome["committed"]
        print("script in the sandbox, to the direct pipe (committed):")
        for name, value in now.items():
            judged = "  judged" if name in ratchet.JUDGED else ""
            print(f"  {name:6} {value:6.2f} × ({committed.get(name, 0.0):.2f}){judged}")
        print("held" if outcome["held"] else f"did not hold, twice: {', '.join(outcome['worse'])}")
    return 0 if outcome["held"] else EXIT_FAILED


def full(options: argparse.Namespace) -> int:
    """All works of all clients."""
    began, before = time.monotonic(), load()
    commands, skipped = available(options.subject or list(LABELS))
    with page_served() as page:
        plan = {**(SHORT if options.short else FULL), "page": page}
        rounds = measure(commands, plan, options.rounds or 5, skipped=skipped)
        run = Run(
            machine=machine(),
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            load_before=before,
            load_after=load(),
            took_s=round(time.monotonic() - began, 1),
            plan=plan,
            rounds=rounds,
            skipped=skipped,
            versions=versions(),
        )
        run = with_profiles(run)
    if options.write:
        kept = section_of(PAGE_FILE.read_text(encoding="utf-8")) if PAGE_FILE.is_file() else ""
        PAGE_FILE.write_text(with_section(as_page(run), kept), encoding="utf-8")
        say("written: references/performance.md")
    print(json.dumps(as_data(run)) if options.json else target_table(run.verdicts) if options.write else as_text(run))
    missed = any(one.word == "missed" for one in run.verdicts)
    return EXIT_FAILED if missed and options.strict else 0


def available(names: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """How each client is started, an empty command for those of this environment; and why one cannot be had."""
    known = environments()
    commands: dict[str, list[str]] = {}
    skipped: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            commands[name] = known[name].ready(say) if name in known else []
        except Unavailable as reason:
            skipped[name] = str(reason)
            say(f"without {name}: {reason}")
    return commands, skipped


def measure(
    commands: Mapping[str, list[str]],
    plan: Mapping[str, Any],
    count: int,
    *,
    stop_after_s: float = float("inf"),
    skipped: dict[str, str] | None = None,
) -> dict[str, list[Any]]:
    """So many rounds, but no new one after a time. With `skipped`, a peer that fails is put there and left out.

    Raises ChildFailed when the product fails, without `skipped` also when another does.
    """
    found: dict[str, list[Any]] = {name: [] for name in commands}
    began = time.monotonic()
    for number in range(count):
        if time.monotonic() - began > stop_after_s:
            break
        for name in order_of(list(found), number):
            say(f"round {number + 1} of {count}: {name}")
            try:
                found[name].append(measure_one(name, {"plan": plan, "command": commands[name]}))
            except ChildFailed as problem:
                if skipped is None or name == SCRIPT:
                    raise ChildFailed(f"{name} failed; `capsdk doctor` tells what is missing\n{problem}") from None
                skipped[name] = str(problem).splitlines()[-1][:300]
                say(f"without {name}: {problem}")
                del found[name]
    return found


def measure_one(name: str, task: Mapping[str, Any]) -> Any:
    """One client once, in a process of its own. Raises ChildFailed."""
    words = [sys.executable, "-m", "bench.work", name, json.dumps(task)]
    return json.loads(output_of(words, timeout_s=SUBJECT_S).splitlines()[-1])


def with_profiles(run: Run) -> Run:
    """The run with a profile of each part whose target was missed."""
    parts = {one.target.part for one in run.verdicts if one.word == "missed"} & PROFILED
    profiles: dict[str, Any] = {}
    for part in sorted(parts):
        say(f"profile of {part}, whose target was missed")
        plan = {part: run.plan[part], "page": run.plan["page"]}
        found = measure_one(SCRIPT, {"plan": plan, "profile": part})["profile"]
        profiles[part] = {**found, "split": split_of(run.medians, part) if part != "idle" else {}}
    return Run(**{name: getattr(run, name) for name in Run.__slots__ if name != "profiles"}, profiles=profiles)


def versions() -> dict[str, str]:
    """What was measured: the product's packages, and the pinned peers."""
    known = machine()
    told = {name: known[name] for name in known if name not in ("cpu", "cores", "kernel")}
    for name, environment in environments().items():
        told[name] = pinned(name, environment.sources[-1])
    return {**told, "Chromium": chromium_version()}


def chromium_version() -> str:
    """As the binary tells it."""
    try:
        words = output_of([find_binary(load_settings().browser), "--version"], timeout_s=20.0).split()
    except ChildFailed:
        return "of unknown version"
    return next((word for word in words if word[:1].isdigit()), "of unknown version")


def pinned(name: str, source: Path) -> str:
    """The version of a peer, from its list."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".json":
        return str(json.loads(text)["packages"]["node_modules/puppeteer-core"]["version"])
    return next(line.split("==")[1].split()[0] for line in text.splitlines() if line.startswith(f"{name}=="))


if __name__ == "__main__":
    sys.exit(main())
