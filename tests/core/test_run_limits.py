"""What holds for a run: the smaller of the manifest's wish and the owner's ceiling, and who can raise it."""

from __future__ import annotations

from dataclasses import fields

import pytest

from host.core.limits import KIB, Limits
from host.core.manifest import Limits as Wishes
from host.core.run_limits import RunLimits, door_in_flight, run_limits

CEILINGS = {  # by the manifest's key: the owner's, its value here, and what comes of it
    "wall_s": ("run_wall_s", 100.0, 100.0),
    "cpu_s": ("run_cpu_s", 100, 100),
    "memory_mb": ("run_memory_mb", 100, 100),
    "output_kb": ("run_output_bytes", 100 * KIB, 100),
    "calls_in_flight": ("run_calls_in_flight", 100, 100),
    "calls_per_s": ("run_calls_per_s", 100.0, 100),
    "log_lines": ("run_log_lines", 100, 100),
}
OWNERS = Limits(**{owner_key: value for owner_key, value, _ in CEILINGS.values()})  # type: ignore[arg-type] # int or float by key
WANTED = (  # what the manifest says, what holds, is it the owner's, who is told to raise what
    pytest.param(None, 100, True, "have the owner raise {owner}", id="left-open"),
    pytest.param(40, 40, False, "raise {key} in app.toml", id="below"),
    pytest.param(100, 100, True, "have the owner raise {owner}, and raise {key} in app.toml", id="the-same"),
    pytest.param(250, 100, True, "have the owner raise {owner}, which holds app.toml's {key} of 250 down", id="above"),
)


@pytest.mark.parametrize(("wanted", "value", "owners", "advice"), WANTED)
@pytest.mark.parametrize("key", CEILINGS)
def test_the_smaller_of_both_holds_and_the_error_says_which_key_to_raise(
    key: str, wanted: float | None, value: float, owners: bool, advice: str
) -> None:
    bound = getattr(run_limits(OWNERS, {} if wanted is None else {key: wanted}), key)
    assert (bound.key, bound.value, bound.owners) == (key, value, owners)
    problem = bound.over("too much; do less", value + 1)
    assert problem.code == "RUN_LIMIT"
    assert problem.details == {"what": key, "limit": value, "actual": value + 1}
    assert problem.message.endswith(advice.format(owner=CEILINGS[key][0], key=key))


def test_every_limit_of_a_manifest_is_one_of_a_run_and_has_a_ceiling() -> None:
    assert {one.name for one in fields(RunLimits)} == set(Wishes.model_fields) == set(CEILINGS)
    made = run_limits(Limits(), {})
    assert {getattr(made, key).owner_key for key in CEILINGS} == {owner_key for owner_key, _, _ in CEILINGS.values()}


def test_a_pace_without_a_ceiling_is_the_manifests_own_or_none() -> None:
    assert run_limits(Limits(), {}).calls_per_s.value == 0
    bound = run_limits(Limits(), {"calls_per_s": 20}).calls_per_s
    assert (bound.value, bound.owners) == (20, False)


def test_a_run_has_no_more_calls_in_flight_than_any_caller() -> None:
    bound = run_limits(Limits(calls_in_flight=5), {"calls_in_flight": 50}).calls_in_flight
    assert (bound.value, bound.owner_key) == (5, "calls_in_flight")
    assert door_in_flight(Limits(calls_in_flight=5)).value == 5
