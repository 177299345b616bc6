"""Parameters of any shape for every command: the policy always has a ruling, never a fault, and no allowance by it.

What a rule makes of parameters of the right shape is in tests/core/test_conditions.py, against an oracle.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.conditions import CONDITIONS, Ruling, Surroundings
from host.core.killers import KILLERS
from host.core.policy import Verdict, judge_method, load_rules
from host.core.scope import Paused
from host.core.urls import UrlRules
from host.core.wire import dumps
from tests.core.test_conditions import FIELDS, OWN_FIELDS
from tests.support.fuzz import LONG, SHORT

RULES = load_rules()
METHODS = sorted(RULES)
REFUSING = sorted({*CONDITIONS, *KILLERS})
ODD_TEXTS = st.sampled_from(
    (
        "",
        "\0",
        "\ud800",
        "a" * 5000,
        "https://shop.example/",
        "//127.0.0.1:1/",
        "mailto:a@b",
        "http://[",
        "http://[::1",
        "http://%zz/",
        "https://shop.example:99999999999999999999/",
        "xn--",
        "https://xn--a.example/",
        "\u2028",
        "=",
        "////",
        "QQ==",
        "Q",
        "é",
    )
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from((2**53, 10**400, -(10**400), 1e308, -1e308, 5e-324, -0.0))
    | st.floats(allow_nan=False, allow_infinity=False)
    | ODD_TEXTS
    | st.text(st.characters(codec=None), max_size=8)
)
NAMES = st.sampled_from(sorted(FIELDS)) | st.sampled_from(
    ("requestId", "features", "replacementStart", "replacementEnd", "name", "value", "topLevelSite", "files", "x")
)
NESTED = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
PARAMS = st.dictionaries(NAMES | st.text(st.characters(codec=None), max_size=4), NESTED, max_size=5)
RULED = st.sampled_from(REFUSING).flatmap(lambda method: st.tuples(st.just(method), own_params(method)))
PAGES = st.sampled_from(("https://shop.example/", "about:blank", "chrome-error://chromewebdata/", "")) | ODD_TEXTS
HELD = st.dictionaries(st.sampled_from(("r", "None", "1", "")), st.builds(Paused, PAGES, st.booleans()), max_size=2)
ORIGINS = st.sampled_from(((), ("https://shop.example",), ("https://*.example", "x"), ("", "://", "*")))
AROUND = st.builds(
    Surroundings,
    st.builds(UrlRules, st.just(frozenset(("127.0.0.1:8731",))), ORIGINS),
    PAGES,
    st.lists(PAGES, max_size=2).map(tuple),
    HELD,
    st.booleans(),
)


def own_params(method: str) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly the names that the method's rule looks at, with anything as their values."""
    own = st.sampled_from((*OWN_FIELDS.get(method, ()), "requestId"))
    return st.dictionaries(own, NESTED, max_size=4) | PARAMS


def judged(method: str, params: dict[str, Any], around: Surroundings) -> Ruling:
    """The ruling, and all that holds for every one of them."""
    before = copy.deepcopy(params)
    ruling = judge_method(method, params, RULES, around)
    assert json.dumps(params) == json.dumps(before)  # judged, not changed in place
    verdict = RULES[method].verdict if method in RULES else Verdict.DENY
    if not ruling.allowed:
        assert verdict is not Verdict.ALLOW or method in KILLERS
        assert ruling.code in ("BROWSER_POLICY_DENIED", "ORIGIN_NOT_ALLOWED")
        assert (ruling.params, ruling.answer, ruling.closes) == (None, None, False)
        assert ruling.reason
        assert json.loads(dumps(ruling.reason)) == ruling.reason  # it can be told
    elif verdict is Verdict.ALLOW:
        assert (ruling.params, ruling.answer) == (None, None)  # the caller's own bytes go on
    else:
        assert verdict is Verdict.CONDITIONAL
        assert (ruling.params is None) is (ruling.answer is not None)
        assert ruling.params is None or isinstance(json.loads(ruling.params), dict)
    return ruling


@given(st.sampled_from(METHODS), PARAMS, AROUND)
@SHORT
def test_any_command_with_any_parameters_has_a_ruling(
    method: str, params: dict[str, Any], around: Surroundings
) -> None:
    judged(method, params, around)


@given(RULED, AROUND)
@SHORT
def test_a_rule_meets_no_parameters_that_it_fails_at(ruled: tuple[str, dict[str, Any]], around: Surroundings) -> None:
    judged(*ruled, around)


@pytest.mark.long
@given(RULED, AROUND)
@LONG
def test_a_rule_meets_none_of_many_parameters_that_it_fails_at(
    ruled: tuple[str, dict[str, Any]], around: Surroundings
) -> None:
    judged(*ruled, around)


@given(st.text(st.characters(codec=None), max_size=40), PARAMS, AROUND)
@SHORT
def test_a_method_of_any_other_name_is_refused(method: str, params: dict[str, Any], around: Surroundings) -> None:
    assert method in RULES or not judged(method, params, around).allowed


SPELLINGS = st.sampled_from(METHODS).flatmap(
    lambda method: st.sampled_from(
        (
            method.lower(),
            method.upper(),
            method.swapcase(),
            f"{method} ",
            f" {method}",
            f"{method}\0",
            f"{method}\n",
            method.replace(".", "\uff0e"),
            method.replace(".", ".."),
            f".{method}",
            method.replace("e", "\u0435"),
            method[:-1],
            f"{method}2",
        )
    )
)


@given(SPELLINGS, PARAMS, AROUND)
@SHORT
def test_a_method_is_matched_to_the_letter(method: str, params: dict[str, Any], around: Surroundings) -> None:
    assert method in RULES or not judged(method, params, around).allowed


DEADLY = (  # method, parameters, refused for the page, refused for a frame
    pytest.param("Emulation.setDisplayFeaturesOverride", {"features": []}, True, True, id="no-features"),
    pytest.param("Emulation.setDisplayFeaturesOverride", {"features": [{}]}, False, True, id="a-feature"),
    pytest.param("Emulation.setDisplayFeaturesOverride", {"features": {}}, False, True, id="no-list"),
    pytest.param("Emulation.setDisplayFeaturesOverride", {}, False, True, id="features-absent"),
    pytest.param("Emulation.clearDisplayFeaturesOverride", {"features": []}, False, False, id="taken-back"),
    pytest.param("Input.imeSetComposition", {"replacementStart": -1}, True, True, id="start-below-zero"),
    pytest.param("Input.imeSetComposition", {"replacementStart": 0, "replacementEnd": -1}, True, True, id="end-below"),
    pytest.param("Input.imeSetComposition", {"replacementEnd": -(2**31)}, True, True, id="far-below-zero"),
    pytest.param("Input.imeSetComposition", {"replacementStart": -1e0}, True, True, id="as-a-float"),
    pytest.param("Input.imeSetComposition", {"replacementStart": 0, "replacementEnd": 0}, False, False, id="zero"),
    pytest.param("Input.imeSetComposition", {"selectionStart": -1, "selectionEnd": -1}, False, False, id="selection"),
    pytest.param("Input.imeSetComposition", {"replacementStart": "-1"}, False, False, id="text-is-chromiums-to-refuse"),
)


@pytest.mark.parametrize(("method", "params", "in_page", "in_frame"), DEADLY)
def test_what_ends_the_whole_chromium_is_refused_and_no_more(
    method: str, params: dict[str, Any], in_page: bool, in_frame: bool
) -> None:
    for frame, refused in ((False, in_page), (True, in_frame)):
        ruling = judged(method, params, Surroundings(UrlRules(), in_frame=frame))
        assert ruling.allowed is not refused
        assert not refused or method in ruling.reason
