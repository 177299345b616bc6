"""The method table and the three conditions that are built."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from host.core.policy import (
    CONDITIONS,
    MethodRule,
    Ruling,
    Surroundings,
    Verdict,
    judge_method,
    load_rules,
    parse_rules,
)
from host.core.urls import UrlRules

RULES = load_rules()
AROUND = Surroundings(UrlRules(frozenset(("127.0.0.1:8731",)), ()))


def of_verdict(verdict: Verdict) -> list[str]:
    return [method for method, rule in RULES.items() if rule.verdict is verdict]


def judge(method: str, params: dict[str, Any] | None = None, around: Surroundings = AROUND) -> Ruling:
    return judge_method(method, params or {}, RULES, around)


def test_the_table_has_every_command_with_its_verdict() -> None:
    assert len(RULES) == 677
    assert Counter(rule.verdict for rule in RULES.values()) == {
        Verdict.ALLOW: 377,
        Verdict.CONDITIONAL: 25,
        Verdict.DENY: 275,
    }


def test_every_line_of_the_table_has_its_reason_and_stands_in_order() -> None:
    assert [rule.method for rule in RULES.values() if not rule.reason.strip()] == []
    assert list(RULES) == sorted(RULES)


def test_an_allowed_method_goes_on_with_the_callers_own_bytes() -> None:
    rulings = {method: judge(method, {"anything": 1}) for method in of_verdict(Verdict.ALLOW)}
    assert [method for method, ruling in rulings.items() if not ruling.allowed or ruling.params is not None] == []


def test_a_denied_method_is_refused_with_its_reason() -> None:
    for method in of_verdict(Verdict.DENY):
        ruling = judge(method)
        assert (ruling.allowed, ruling.code) == (False, "BROWSER_POLICY_DENIED"), method
        assert RULES[method].reason in ruling.reason


def variants(method: str) -> set[str]:
    domain, _, name = method.partition(".")
    return {
        method.lower(),
        method.upper(),
        f"{domain.lower()}.{name}",
        f"{domain}.{name[0].upper()}{name[1:]}",
        f" {method}",
        f"{method} ",
        f"{method}\n",
        f"{method}\x00",
        f"{domain}. {name}",
        f"{domain}\u2024{name}",
        f"{method}.",
        name,
    }


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_method_spelled_otherwise_is_no_method(verdict: Verdict) -> None:
    tried = {variant for method in of_verdict(verdict) for variant in variants(method)} - RULES.keys()
    assert len(tried) > 100
    assert [variant for variant in tried if judge(variant, {"url": "about:blank"}).allowed] == []


@pytest.mark.parametrize("method", ["", ".", "Page", "Page.", "Page.doWhatIWant", "Runtime.evaluate\ud800", "x" * 5000])
def test_an_unlisted_method_is_refused_in_few_words(method: str) -> None:
    ruling = judge(method)
    assert (ruling.allowed, ruling.code) == (False, "BROWSER_POLICY_DENIED")
    assert len(ruling.reason) < 700


PIXEL_METHODS = (
    "Page.captureScreenshot",
    "Page.printToPDF",
    "Page.startScreencast",
    "LayerTree.makeSnapshot",
    "Tracing.start",
)


@pytest.mark.parametrize("method", PIXEL_METHODS)
def test_no_pixels_leave_by_a_raw_command(method: str) -> None:
    assert judge(method).allowed is False


def test_every_conditional_method_has_its_condition_and_no_other_has_one() -> None:
    assert set(CONDITIONS) == set(of_verdict(Verdict.CONDITIONAL))


def test_a_condition_that_is_not_built_refuses_and_says_so() -> None:
    rules = {"Page.new": MethodRule("Page.new", Verdict.CONDITIONAL, "host", "size <= 5", "memory")}
    ruling = judge_method("Page.new", {"size": 1}, rules, AROUND)
    assert (ruling.allowed, ruling.code) == (False, "BROWSER_POLICY_DENIED")
    assert "not built" in ruling.reason
    assert "size <= 5" in ruling.reason


def test_every_condition_says_what_it_judged_or_why_it_refused() -> None:
    rulings = {method: judge(method) for method in CONDITIONS}
    assert [method for method, ruling in rulings.items() if not ruling.reason] == []
    forwarded_unseen = [method for method, one in rulings.items() if one.allowed and one.params is one.answer is None]
    assert forwarded_unseen == []


NAVIGATE = (  # params, the params that go on (None: refused)
    pytest.param({"url": "https://shop.example/"}, {"url": "https://shop.example/"}, id="public"),
    pytest.param({"url": "about:blank"}, {"url": "about:blank"}, id="blank"),
    pytest.param({"url": "http://127.0.0.1:8731/"}, {"url": "http://127.0.0.1:8731/"}, id="opened-place"),
    pytest.param(
        {"url": "https://shop.example/", "transitionType": "typed", "referrer": "x", "frameId": "F"},
        {"url": "https://shop.example/", "referrer": "x", "frameId": "F"},
        id="transition-type-is-dropped",
    ),
    pytest.param(
        {"url": "https://shop.example/", "referrer": "\ud800", "n": 10**40},
        {"url": "https://shop.example/", "referrer": "\ud800", "n": 10**40},
        id="odd-values-survive-the-encoding",
    ),
    pytest.param({}, None, id="no-url"),
    pytest.param({"url": None}, None, id="url-null"),
    pytest.param({"url": 7}, None, id="url-number"),
    pytest.param({"url": ["https://shop.example/"]}, None, id="url-array"),
    pytest.param({"url": {"toString": "https://shop.example/"}}, None, id="url-object"),
    pytest.param({"url": "file:///etc/passwd"}, None, id="file"),
    pytest.param({"url": "file:///etc/passwd", "frameId": "F"}, None, id="file-in-a-frame"),
    pytest.param({"url": "fi\tle:///etc/passwd"}, None, id="file-embedded-tab"),
    pytest.param({"url": "mailto:a@b"}, None, id="mailto"),
    pytest.param({"url": "chrome://crash"}, None, id="chrome"),
    pytest.param({"url": "javascript:1"}, None, id="javascript"),
    pytest.param({"url": "http://127.0.0.1:9999/"}, None, id="another-port"),
    pytest.param({"url": "http://user:pw@shop.example/"}, None, id="credentials"),
    pytest.param({"URL": "https://shop.example/"}, None, id="key-in-another-case"),
)


@pytest.mark.parametrize(("params", "sent"), NAVIGATE)
def test_page_navigate_follows_the_url_rule(params: dict[str, Any], sent: dict[str, Any] | None) -> None:
    ruling = judge("Page.navigate", params)
    assert ruling.allowed is (sent is not None)
    assert (None if ruling.params is None else json.loads(ruling.params)) == sent


def test_page_navigate_outside_the_manifest_has_the_manifests_code() -> None:
    around = Surroundings(UrlRules(origins=("https://shop.example",)))
    assert judge("Page.navigate", {"url": "https://other.example/"}, around).code == "ORIGIN_NOT_ALLOWED"


EVALUATE = (  # timeout (absent: ...), what goes on (None: refused)
    pytest.param(..., 20_000, id="absent"),
    pytest.param(5, 5, id="short"),
    pytest.param(20_000, 20_000, id="the-limit"),
    pytest.param(20_001, 20_000, id="one-over"),
    pytest.param(1e300, 20_000, id="absurd"),
    pytest.param(10**400, 20_000, id="absurd-integer"),
    pytest.param(0, 1, id="zero-would-mean-none"),
    pytest.param(-5, 1, id="negative"),
    pytest.param(99.5, 99, id="fraction"),
    pytest.param(None, None, id="null"),
    pytest.param("20000", None, id="text"),
    pytest.param(True, None, id="true"),
    pytest.param([1], None, id="array"),
)


@pytest.mark.parametrize(("timeout", "sent"), EVALUATE)
def test_runtime_evaluate_always_has_a_bounded_timeout(timeout: Any, sent: int | None) -> None:
    params = {"expression": "1", **({} if timeout is ... else {"timeout": timeout})}
    ruling = judge("Runtime.evaluate", params)
    if sent is None:
        assert (ruling.allowed, ruling.params) == (False, None)
    else:
        assert ruling.params is not None
        assert json.loads(ruling.params) == {"expression": "1", "timeout": sent}


MIB = 1024 * 1024
NETWORK = (  # params, what goes on besides the defaults (None: refused)
    pytest.param({}, {}, id="absent"),
    pytest.param({"maxPostDataSize": 1024}, {"maxPostDataSize": 1024}, id="smaller"),
    pytest.param({"maxTotalBufferSize": 10**12, "maxResourceBufferSize": 1e12}, {}, id="clamped"),
    pytest.param({"maxPostDataSize": -1}, {"maxPostDataSize": 0}, id="negative"),
    pytest.param({"enableDurableMessages": True}, {"enableDurableMessages": True}, id="others-are-kept"),
    pytest.param({"reportDirectSocketTraffic": False}, {"reportDirectSocketTraffic": False}, id="direct-sockets-off"),
    pytest.param({"reportDirectSocketTraffic": True}, None, id="direct-sockets-on"),
    pytest.param({"reportDirectSocketTraffic": 0}, None, id="direct-sockets-zero"),
    pytest.param({"reportDirectSocketTraffic": None}, None, id="direct-sockets-null"),
    pytest.param({"maxPostDataSize": "1"}, None, id="text"),
    pytest.param({"maxTotalBufferSize": True}, None, id="true"),
    pytest.param({"maxTotalBufferSize": None}, None, id="null"),
)


@pytest.mark.parametrize(("params", "sent"), NETWORK)
def test_network_enable_has_bounded_buffers(params: dict[str, Any], sent: dict[str, Any] | None) -> None:
    ruling = judge("Network.enable", params)
    if sent is None:
        assert (ruling.allowed, ruling.params) == (False, None)
    else:
        defaults = {"maxPostDataSize": 16384, "maxResourceBufferSize": 8 * MIB, "maxTotalBufferSize": 32 * MIB}
        assert ruling.params is not None
        assert json.loads(ruling.params) == {**defaults, **sent}


def test_parameters_are_judged_and_not_changed_in_place() -> None:
    params = {"url": "https://shop.example/", "transitionType": "typed"}
    judge("Page.navigate", params)
    assert params == {"url": "https://shop.example/", "transitionType": "typed"}


HEADER = "method\tverdict\tcategory\trule\treason\n"


def test_a_table_is_read_line_by_line() -> None:
    rules = parse_rules(HEADER + "A.b\tdeny\tcapture\t-\twhy\n")
    assert rules == {"A.b": MethodRule("A.b", Verdict.DENY, "capture", "-", "why")}


@pytest.mark.parametrize(
    "lines",
    [
        "A.b\tdeny\tx\t-\n",
        "A.b\tdeny\tx\t-\ty\tz\n",
        "A.b\tperhaps\tx\t-\ty\n",
        "A.b\tdeny\tx\t-\ty\nA.b\tallow\tx\t-\ty\n",
        "\n",
    ],
    ids=["four-cells", "six-cells", "unknown-verdict", "method-twice", "empty-line"],
)
def test_a_damaged_table_is_not_used(lines: str) -> None:
    with pytest.raises(ValueError, match=r"method table|Verdict"):
        parse_rules(HEADER + lines)
