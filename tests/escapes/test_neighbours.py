"""Probe 27: two workers side by side, and one after the other from a pool."""

from __future__ import annotations

import pytest

from tests.escapes.attempts import ATTEMPTS
from tests.escapes.conftest import Stations
from tests.escapes.counting import probe
from tests.escapes.settings import CONTROL, Setting
from tests.escapes.test_attempts import lacking
from tests.escapes.test_ends import in_each

pytestmark = pytest.mark.slow
REACHING = [each for each in ATTEMPTS if "victim" in each.source or "host" in each.source]


@in_each(27)
def test_a_worker_reaches_no_other(stations: Stations, setting: Setting) -> None:
    found = stations(setting).ask("neighbours", sources=[each.source for each in REACHING])
    outcomes = [one.get("errno") or one.get("error") for one in found["outcomes"]]
    assert outcomes == [each.refused for each in REACHING]
    assert found["seen"] == [{"value": "behind"}, {"value": "None"}]  # the first is its own: it would have been seen
    assert found["works"]


@probe(27, CONTROL.name)
def test_what_reaches_another_process_does_so_without_the_lock(stations: Stations) -> None:
    assert len(REACHING) > 20
    tried = {each: stations.control(each) for each in REACHING}
    assert [each.id for each, one in tried.items() if "value" not in one["outcome"] and not lacking(each, one)] == []


@in_each(27)
def test_a_worker_of_a_pool_is_never_used_again(stations: Stations, setting: Setting) -> None:
    found = stations(setting).ask("pool", runs=3)
    assert found["seen"] == ["None", "behind", "behind"] * 3
    assert len(set(found["pids"])) == 3
