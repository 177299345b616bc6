"""Probe 26: floods, giant lines and forgeries over the only descriptor a script has. A small one of each."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escapes.conftest import Stations
from tests.escapes.counting import probe
from tests.escapes.settings import CONTROL, SETTINGS, Setting
from tests.escapes.test_ends import SOME, in_each

pytestmark = pytest.mark.slow
TOLD = {  # what the attacker hears of it; the other run is served all the while
    "flood": ["RATE_LIMITED", "ok"],
    "giant-line": ["LINE_TOO_LONG"],
    "forged-replies": ["BAD_ARGUMENTS", "ok", [{"text": "asked"}]],
    "forged-notices": ["asked"],
    "descriptors": ["asked"],
}


@in_each(26, long_but=SOME)
def test_the_host_bears_what_a_script_sends(stations: Stations, setting: Setting) -> None:
    found = stations(setting).ask("attack", kinds=list(TOLD), wide=False)
    if "missing" in found:
        pytest.skip(found["missing"])
    assert found == {"told": {kind: {"hostile": told, "good": True} for kind, told in TOLD.items()}, "descriptors": 0}


@probe(26, CONTROL.name)
def test_the_same_goes_through_a_host_without_the_limits(stations: Stations) -> None:
    setting = next(each for each in SETTINGS if each.missing() is None)
    found: dict[str, Any] = stations(setting).ask("attack", kinds=["flood", "giant-line"], wide=True)
    if "missing" in found:
        pytest.skip(found["missing"])
    assert found["told"]["flood"]["hostile"] == ["ok"]
    assert "LINE_TOO_LONG" not in found["told"]["giant-line"]["hostile"]
