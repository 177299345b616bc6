"""`capsdk doctor` tries each thing for real and has one command that mends what does not work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.stdio import GRANT, Stdio, capsdk

NAMES = ["python", "browser", "profile", "sandbox", "pii engine", "ocr", "egress proxy"]


def findings(place: Path, env: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    """The exit status, and what was found by name."""
    done = capsdk(place, "doctor", "--json", env=env)
    assert done.stderr == b""
    lines: list[dict[str, Any]] = json.loads(done.stdout)
    assert all(line.keys() - {"mend"} == {"name", "works", "needed", "seen"} for line in lines)
    return done.returncode, {line["name"]: line for line in lines}


def test_the_doctor_finds_what_works_here(place: Path) -> None:
    status, found = findings(place)
    assert list(found) == NAMES
    assert [name for name, line in found.items() if not line["works"]] == []
    assert status == 0
    assert list(place.glob("capsdk-*")) == []


def test_the_doctor_speaks_to_people_too(place: Path) -> None:
    done = capsdk(place, "doctor")
    assert (done.returncode, done.stderr) == (0, b"")
    assert len([line for line in done.stdout.decode().splitlines() if line.split()[0] == "ok"]) == len(NAMES)


def test_a_missing_browser_has_a_line_that_mends_it(place: Path) -> None:
    status, found = findings(place, {"CAPSDK_BROWSER": "/nonexistent/chromium"})
    assert status == 69
    assert (found["browser"]["works"], found["browser"]["needed"]) == (False, True)
    assert found["browser"]["mend"] != ""
    assert found["sandbox"]["works"] is True  # one thing missing hides no other
    done = capsdk(place, "doctor", env={"CAPSDK_BROWSER": "/nonexistent/chromium"})
    assert done.returncode == 69
    assert b"mend:" in done.stdout


def test_the_doctor_says_who_holds_the_profile(place: Path) -> None:
    with Stdio(place, *GRANT, ephemeral=False) as host:
        host.open("about:blank")
        status, found = findings(place)
        assert found["browser"]["works"] is True
        assert "profile" in found
        assert found["profile"]["seen"] != ""
        assert status in (0, 69)
        assert host.finish() == 0
