"""Probes 29 and 30: what is done where a mechanism is missing or broken, and who starts the workers."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host.sandbox.launcher import ROOTS_WORKER_UID, TIERS
from tests.escapes.conftest import GRID, Stations
from tests.escapes.counting import BEYOND, WENT, probe
from tests.escapes.settings import CONTROL, ORDINARY_UID, SETTINGS, Setting, Station
from tests.escapes.test_ends import in_each

pytestmark = pytest.mark.slow
HALF_WRAPPED = 'exec /usr/bin/bwrap --unshare-pid --as-pid-1 --bind / / "$@"'
SKIP_TO_COMMAND = 'while [ "$1" != -- ]; do shift; done; shift'
RUBBISH_ON_THE_LINE = """#!/usr/bin/python3
import os, sys
os.write(int(sys.argv[-1]), b"rubbish\\n")
os.execv("/usr/bin/bwrap", sys.argv)
"""
BROKEN = {  # the program in bubblewrap's place; None: there is none
    "missing": None,
    "not-executable": "no program",
    "no-format": "\x7fELF rubbish",
    "ends-with-1": "#!/bin/sh\necho broken >&2; exit 1\n",
    "ends-at-once": "#!/bin/sh\nexit 0\n",
    "hangs": "#!/bin/sh\nexec sleep 60\n",
    "prints-rubbish": "#!/bin/sh\necho rubbish; echo rubbish >&2; exit 0\n",
    "no-namespaces": f'#!/bin/sh\n{SKIP_TO_COMMAND}; exec "$@"\n',
    "without-its-mounts": f"#!/bin/sh\n{SKIP_TO_COMMAND}; {HALF_WRAPPED}\n",
    "rubbish-on-the-line": RUBBISH_ON_THE_LINE,
}
WRAPPED = [each for each in SETTINGS if each.tier == "bwrap"]


@pytest.fixture(scope="module")
def programs(folder: Path) -> dict[str, str]:
    """The broken ones, where an ordinary user can start them."""
    made = {}
    for kind, text in BROKEN.items():
        place = folder / f"bwrap-{kind}"
        if text is not None:
            place.write_text(text)
            place.chmod(0o644 if kind == "not-executable" else 0o755)
        made[kind] = str(place)
    return made


def broken_rows() -> list[Any]:
    """Each in both settings; the one that hangs waits for a deadline."""
    found = []
    for each, kind in itertools.product(WRAPPED, BROKEN):
        long = [pytest.mark.long] if kind == "hangs" and not each.is_root else []
        found.append(
            pytest.param(each, kind, id=f"{each.name.replace('/', '-')}-{kind}", marks=[probe(29, each.name), *long])
        )
    return found


@pytest.mark.parametrize(("setting", "kind"), broken_rows())
def test_a_broken_bubblewrap_leaves_the_inner_lock(
    stations: Stations, programs: dict[str, str], setting: Setting, kind: str
) -> None:
    report = stations(setting).ask("choose", program=programs[kind])
    assert (report["available"], report["tier"]) == (True, "noopen"), report["reasons"]
    (reason,) = report["reasons"]
    assert reason.startswith("bwrap: ")
    assert report["left"] == []


@probe(29, CONTROL.name)
@pytest.mark.parametrize("setting", WRAPPED, ids=lambda each: each.name.replace("/", "-"))
def test_a_sound_bubblewrap_is_taken(stations: Stations, setting: Setting) -> None:
    report = stations(setting).ask("choose")
    assert (report["tier"], report["reasons"], report["left"]) == ("bwrap", [], [])


@in_each(29)
def test_without_the_inner_lock_nothing_is_run(extra_station: Callable[..., Station], setting: Setting) -> None:
    report = extra_station(setting, "no-seccomp").ask("choose")
    assert (report["available"], report["tier"]) == (False, None)
    assert [reason.split(": ")[0] for reason in report["reasons"]] == list(TIERS)
    assert report["left"] == []


@in_each(30)
def test_each_setting_is_what_it_says_and_its_host_takes_the_best_that_works(
    stations: Stations, setting: Setting
) -> None:
    station = stations(setting)
    greeting = station.greeting
    layers, host_uid = greeting["layers"], 0 if setting.is_root else (os.geteuid() or ORDINARY_UID)
    worker_uid = ROOTS_WORKER_UID if setting.is_root else 65534 if setting.tier == "bwrap" else host_uid
    assert (greeting["uid"], layers["tier"], layers["uid"]) == (host_uid, setting.tier, worker_uid)
    assert greeting["leaked"] > 0, "the workers were started by a careless host"
    report = station.ask("choose")
    namespaces = any(each.missing() is None and each.is_root == setting.is_root for each in WRAPPED)
    best = "bwrap" if namespaces and not setting.contained else "noopen"
    assert report["tier"] == best
    assert [reason.split(": ")[0] for reason in report["reasons"]] == ([] if best == "bwrap" else ["bwrap"])


@probe(30, CONTROL.name)
def test_the_container_is_one_where_namespaces_would_have_worked(stations: Stations) -> None:
    contained = next(each for each in SETTINGS if each.contained)
    free = next(each for each in SETTINGS if each.name == "noopen/root")
    reports = [stations(each).ask("choose") for each in (free, contained)]
    if free.missing() is None and not any(each.missing() is None for each in WRAPPED):
        pytest.skip("no namespaces by bubblewrap here")
    assert [report["tier"] for report in reports] == ["bwrap", "noopen"]


def test_a_real_container_and_another_distribution_are_told_as_not_run() -> None:
    docker = shutil.which("docker")
    engine = docker and subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode == 0
    GRID.beyond |= dict(
        zip(BEYOND, ("not run here: there is none" if not engine else "not run", told_of_ubuntu()), strict=True)
    )
    assert set(GRID.beyond) == set(BEYOND)


def told_of_ubuntu() -> str:
    """Is this one?"""
    release = Path("/etc/os-release").read_text() if Path("/etc/os-release").exists() else ""
    return WENT if 'VERSION_ID="24.04"' in release else "not run here: this is none"
