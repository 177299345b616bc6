"""What a caller may send to its own tab: every CDP method has a verdict, and what has none is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any

from host.core.urls import UrlRules, judge_url
from host.core.wire import dumps

Params = dict[str, Any]
EVALUATE_TIMEOUT_MS = 20_000
MIB = 1024 * 1024


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


@dataclass(frozen=True, slots=True)
class Ruling:
    """What to do with one command. `params` is set when the caller's own bytes must not go on as they are."""

    allowed: bool
    reason: str
    params: bytes | None = None
    code: str = "BROWSER_POLICY_DENIED"
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a conditional rule may look at besides the parameters."""

    urls: UrlRules


Condition = Callable[[Params, Surroundings], Ruling]


def check_navigate(params: Params, around: Surroundings) -> Ruling:
    """Page.navigate: the URL rule, whatever `frameId` is; `transitionType` is dropped."""
    url = params.get("url")
    if not isinstance(url, str):
        return Ruling(False, "Page.navigate needs `url`, a string")
    decision = judge_url(url, around.urls)
    if not decision.allowed:
        return Ruling(False, decision.reason, code=decision.code)
    return Ruling(True, "url_rule", dumps({key: value for key, value in params.items() if key != "transitionType"}))


def clamp_evaluate(params: Params, around: Surroundings) -> Ruling:
    """Runtime.evaluate: `timeout` is at most 20,000 ms and added when absent, so that a loop ends."""
    timeout_ms = params.get("timeout", EVALUATE_TIMEOUT_MS)
    if isinstance(timeout_ms, bool) or not isinstance(timeout_ms, int | float):
        return Ruling(False, "Runtime.evaluate: `timeout` is a number of milliseconds")
    return Ruling(True, "timeout_clamped", dumps({**params, "timeout": _clamp(timeout_ms, 1, EVALUATE_TIMEOUT_MS)}))


NETWORK_CLAMPS = (
    ("maxPostDataSize", 16 * 1024),
    ("maxResourceBufferSize", 8 * MIB),
    ("maxTotalBufferSize", 32 * MIB),
)


def clamp_network(params: Params, around: Surroundings) -> Ruling:
    """Network.enable: buffers are bounded (added when absent) and direct sockets are not reported."""
    if params.get("reportDirectSocketTraffic", False) is not False:
        return Ruling(False, "Network.enable: `reportDirectSocketTraffic` must be absent or false")
    clamped = dict(params)
    for name, most in NETWORK_CLAMPS:
        value = params.get(name, most)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Ruling(False, f"Network.enable: `{name}` is a number of bytes")
        clamped[name] = _clamp(value, 0, most)
    return Ruling(True, "buffers_clamped", dumps(clamped))


def _clamp(value: float, least: int, most: int) -> int:
    return int(min(max(value, least), most))


CONDITIONS: Mapping[str, Condition] = {
    "Network.enable": clamp_network,
    "Page.navigate": check_navigate,
    "Runtime.evaluate": clamp_evaluate,
}


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
        return _FORWARD
    if rule.verdict is Verdict.DENY:
        return Ruling(False, f"{method} is refused ({rule.category}): {rule.reason}", hint=HINTS.get(rule.category))
    condition = CONDITIONS.get(method)
    if condition is None:
        return Ruling(False, f"{method} is refused for now: its rule ({rule.rule}) is not built yet")
    return condition(params, around)


HINTS: Mapping[str, str] = {
    "capture": "Pictures of a page go only through the screenshot entry, where they are checked.",
}
