"""What a caller may send to its own tab: every CDP method has a verdict, and what has none is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from host.core.conditions import CONDITIONS, Params, Ruling, Surroundings, judge_condition
from host.core.killers import deadly


class Verdict(StrEnum):
    """The table's column `verdict`."""

    ALLOW = "allow"
    CONDITIONAL = "conditional"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class MethodRule:
    """One line of the table."""

    method: str
    verdict: Verdict
    category: str
    rule: str
    reason: str


def load_rules() -> dict[str, MethodRule]:
    """The method table that ships with the project, by method."""
    text = files("host.core").joinpath("data/cdp-policy.tsv").read_text(encoding="utf-8")
    return parse_rules(text)


def parse_rules(text: str) -> dict[str, MethodRule]:
    """Rules of a tab-separated table with the header line `method verdict category rule reason`; ValueError if not."""
    rules: dict[str, MethodRule] = {}
    for number, line in enumerate(text.splitlines()[1:], start=2):
        cells = line.split("\t")
        if len(cells) != 5 or cells[0] in rules:
            raise ValueError(f"method table, line {number}: five cells and a new method are needed")
        rules[cells[0]] = MethodRule(cells[0], Verdict(cells[1]), cells[2], cells[3], cells[4])
    return rules


_FORWARD = Ruling(True, "listed")


def judge_method(method: str, params: Params, rules: Mapping[str, MethodRule], around: Surroundings) -> Ruling:
    """The verdict for one command. Matching is exact and case-sensitive; what is not listed is refused."""
    rule = rules.get(method)
    if rule is None:
        return Ruling(False, f"{method[:80]!r} is not a listed CDP method; methods are matched to the letter")
    if rule.verdict is Verdict.ALLOW:
        if why := deadly(method, params, in_frame=around.in_frame):
            return Ruling(False, f"{method}: {why}")
        return _FORWARD
    if rule.verdict is Verdict.DENY:
        return Ruling(False, f"{method} is refused ({rule.category}): {rule.reason}", hint=HINTS.get(rule.category))
    if method not in CONDITIONS:
        return Ruling(False, f"{method} is refused: its rule ({rule.rule}) is not built")
    return judge_condition(method, params, around)


HINTS: Mapping[str, str] = {
    "capture": "Pictures of a page go only through the screenshot entry, where they are checked.",
}

__all__ = ["CONDITIONS", "MethodRule", "Ruling", "Surroundings", "Verdict", "judge_method", "load_rules", "parse_rules"]
