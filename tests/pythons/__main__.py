"""`./dev test pythons [VERSION]…`: the product with each Python version that this machine has, a line a version."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.pythons.environments import NoWheel, SetupFailed, environment
from tests.pythons.interpreters import VERSIONS, find
from tests.pythons.report import Outcome, line, summary
from tests.pythons.trying import PARTS, Counts, TryFailed, run_part, run_receipts

EXIT_FAILED = 1


def try_version(wanted: str) -> Outcome:
    """All that is run with one version, or why nothing is."""
    interpreter = find(wanted)
    if interpreter is None:
        return Outcome(wanted, reason="no interpreter found")
    print(f"{wanted}: {interpreter.path}", file=sys.stderr, flush=True)  # the next line is some minutes away
    try:
        python = environment(wanted, interpreter)
    except NoWheel as missing:
        return Outcome(wanted, interpreter.version, reason=f"{missing} of requirements.lock has no wheel for it")
    except SetupFailed as problem:
        return Outcome(wanted, interpreter.version, trouble=f"its environment could not be built:\n{problem}")
    return _run(wanted, interpreter.version, python)


def _run(wanted: str, version: str, python: Path) -> Outcome:
    began = time.monotonic()
    counts, said, words, trouble = Counts(), "", "", ""
    try:
        for part in PARTS:
            more, tail = run_part(python, part)
            counts += more
            said += f"{tail}\n" if more.failed else ""
        words = run_receipts(python)
    except TryFailed as problem:
        trouble = str(problem)
    return Outcome(wanted, version, counts, words, trouble=said + trouble, duration_s=time.monotonic() - began)


def main(arguments: Sequence[str]) -> int:
    """Exit code 0 when all that could be run passed."""
    parser = argparse.ArgumentParser(prog="./dev test pythons", description=__doc__)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"some of {', '.join(VERSIONS)}; all by default")
    wanted = parser.parse_args(arguments).versions or list(VERSIONS)
    unknown = [version for version in wanted if version not in VERSIONS]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(VERSIONS)}")
    outcomes = []
    for version in wanted:
        outcome = try_version(version)
        outcomes.append(outcome)
        if outcome.trouble:
            print(outcome.trouble, file=sys.stderr)
        print(line(outcome), flush=True)
    print(summary(outcomes), flush=True)
    return EXIT_FAILED if any(outcome.bad for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
