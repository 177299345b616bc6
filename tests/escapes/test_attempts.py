"""Probes 1 to 15, 18 to 23, 25, 28: each attempt in each setting, and without a lock."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.escapes.attempts import ATTEMPTS
from tests.escapes.conftest import Stations
from tests.escapes.counting import KERNEL_LACKS, probe
from tests.escapes.probes import Attempt
from tests.escapes.settings import CONTROL, SETTINGS, Setting

ONLY_ROOT = ("EPERM", "EACCES", "EINVAL")  # a user namespace gives an ordinary user's control not all of it
QUICK = "noopen/root"  # what `./dev check` runs of it, beside the controls


def rows(settings: Iterable[Setting]) -> Iterator[Any]:
    """Each attempt in each setting."""
    for setting in settings:
        slow = [] if setting.name in (QUICK, CONTROL.name) else [pytest.mark.slow]
        for each in ATTEMPTS:
            marks = [probe(each.probe, setting.name), *slow]
            yield pytest.param(setting, each, id=f"{each.id}-{setting.name.replace('/', '-')}", marks=marks)


def lacking(attempt: Attempt, tried: dict[str, Any]) -> str | None:
    """The errno by which this kernel says that it has no such thing."""
    refusal = tried["outcome"].get("errno")
    lacks = attempt.lacks if os.geteuid() == 0 else (*attempt.lacks, *ONLY_ROOT)
    return refusal if refusal in lacks else None


@pytest.mark.parametrize(("setting", "attempt"), list(rows((CONTROL,))))
def test_an_attempt_succeeds_without_the_lock(stations: Stations, setting: Setting, attempt: Attempt) -> None:
    tried = stations.control(attempt)
    if (missing := lacking(attempt, tried)) is not None:
        pytest.skip(f"{attempt.id}: {missing}")
    assert "value" in tried["outcome"], tried
    if attempt.leaves is not None:
        assert attempt.leaves in tried["damage"]


@pytest.mark.parametrize(("setting", "attempt"), list(rows(SETTINGS)))
def test_an_attempt_is_refused_under_the_lock(stations: Stations, setting: Setting, attempt: Attempt) -> None:
    tried = stations(setting).ask("attempt", source=attempt.source, expected=attempt.leaves)
    outcome = tried["outcome"]
    assert (outcome.get("errno") or outcome.get("error")) == attempt.refused, outcome
    assert tried["damage"] == []
    assert tried["useful"], "useful code has to pass in the very worker"
    control = stations.control(attempt)
    if lacking(attempt, control) is not None:
        pytest.skip(KERNEL_LACKS)
    assert "value" in control["outcome"], f"its control did not succeed: {control}"
