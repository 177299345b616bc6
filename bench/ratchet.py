"""A change that makes the path of a call slower by a third does not go in: a short run against committed ratios."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.targets import MAIN_KEY, PIPE, SCRIPT, Rounds, bests_of, cpu_us, medians_of

FILE = Path(__file__).with_name("ratchet.json")
WORSE = 4 / 3
PARTS = ("one", "many", "large", "open")
JUDGED = ("cpu", "p50")

Measure = Callable[[], Rounds]
Say = Callable[[str], None]


def ratios_of(rounds: Rounds) -> dict[str, float]:
    """The script's small call to the direct pipe's: `cpu` of medians, `p50` of the best rounds; the rest is told only.

    Of p50 the best rounds are compared: anything else on the machine only ever adds to it.
    """
    medians, bests = medians_of(rounds), bests_of(rounds)
    (ours, theirs), (our_best, their_best) = ((of[SCRIPT], of[PIPE]) for of in (medians, bests))
    told = {
        "cpu": cpu_us(ours["one"]) / cpu_us(theirs["one"]),
        "p50": our_best["one"]["p50_us"] / their_best["one"]["p50_us"],
    }
    for part in PARTS[1:]:
        key = MAIN_KEY[part]
        told[part] = our_best[part][key] / their_best[part][key]
    return {name: round(value, 3) for name, value in told.items()}


def worse(found: Mapping[str, float], committed: Mapping[str, float]) -> list[str]:
    """The judged ratios that are worse by more than a third."""
    return [name for name in JUDGED if found[name] > committed[name] * WORSE]


def hold(measure: Measure, committed: Mapping[str, float], say: Say) -> dict[str, Any]:
    """Measure; once more when it is worse, for a machine may stutter. `held` is False when it was worse twice."""
    tries = []
    for _ in range(2):
        found = ratios_of(measure())
        tries.append(found)
        bad = worse(found, committed)
        if not bad:
            break
        say(f"worse by more than a third: {', '.join(bad)}")
    return {"held": not bad, "worse": bad, "tries": tries, "committed": dict(committed)}


def read() -> dict[str, float]:
    """The committed ratios."""
    known: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def write(found: Mapping[str, float]) -> None:
    """Make these the committed ones."""
    FILE.write_text(json.dumps(dict(found), indent=2) + "\n", encoding="utf-8")
