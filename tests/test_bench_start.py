"""The benchmark of a start: its arithmetic, and a tiny real run. Not how fast anything is."""

from __future__ import annotations

import json

import pytest

from bench import start
from bench.start import COLD, WARM, as_text, figure
from host.sandbox.launcher import TIERS


def test_a_figure_is_the_median_and_its_neighbours() -> None:
    one = figure("noopen", WARM, [5.0, 1.0, 3.0, 900.0, 2.0, 4.0, 6.0, 7.0, 8.0, 9.0])
    assert (one.runs, one.p50, one.p90, one.most) == (10, 5.5, 900.0, 900.0)
    assert one.met


def test_a_missed_bound_is_said() -> None:
    said = as_text([figure("noopen", WARM, [15.1]), figure("noopen", COLD, [199.0])], ["bwrap: is not there"], [0.5])
    warm, cold, missing = said.splitlines()[2:]
    assert warm.endswith("missed")
    assert cold.endswith(" met")
    assert missing == "not measured: bwrap: is not there"


def test_it_measures_every_tier_warm_and_cold(capsys: pytest.CaptureFixture[str]) -> None:
    assert start.main(["--runs", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = {(row["tier"], row["kind"]): row["ms"] for row in told["samples"]}
    missing = {reason.partition(":")[0] for reason in told["reasons"]}
    assert set(found) == {(tier, kind) for tier in TIERS if tier not in missing for kind in (WARM, COLD)}
    for tier, kind in found:
        assert len(found[tier, kind]) == 2
        assert min(found[tier, kind]) > 0
        assert min(found[tier, WARM]) < min(found[tier, COLD])
