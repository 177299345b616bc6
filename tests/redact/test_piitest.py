"""`capsdk pii test` and the doctor's lines, as an owner sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from host.core.settings import Settings
from host.piitest import paragraphs, spotted_png, tried
from tests.support.stdio import capsdk

NOTE = "Dear Ms Pemberton,\n\nwrite to octavia@letters.example\nor call +44 7700 900461.\n\nOrder KX-20931, 75.00\n"
OWN = """recognizers:
  - name: badge
    supported_entity: BADGE
    supported_languages: [en]
    patterns:
      - {name: badge, regex: 'ZZ-[0-9]{4}', score: 0.9}
"""


def config(folder: Path, text: str) -> None:
    place = folder / "config" / "capsdk"
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.toml").write_text(text, encoding="utf-8")


def test_it_says_where_what_how_sure_and_by_what(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text(NOTE, encoding="utf-8")
    done = capsdk(tmp_path, "pii", "test", "note.txt", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(done.stdout)
    rows = [(row["where"], row["type"], row["text"]) for row in told["found"]]
    assert ("3:10", "EMAIL", "octavia@letters.example") in rows
    assert ("4:9", "PHONE", "+44 7700 900461") in rows
    assert [text for _, kind, text in rows if kind == "PERSON"] in (["Pemberton"], ["Ms Pemberton"])
    assert [row for row in told["found"] if row["line"] == 6] == []  # an order is nobody's
    assert all(row["by"] and 0 < row["score"] <= 1 for row in told["found"])
    table = capsdk(tmp_path, "pii", "test", "-", given=NOTE.encode())
    assert (table.returncode, b"octavia@letters.example" in table.stdout) == (0, True)
    assert table.stderr.endswith(b"characters\n")


def test_the_owner_adds_recognizers_and_switches_types_off(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(OWN, encoding="utf-8")
    config(tmp_path, f'[pii]\noff = ["EMAIL"]\nrecognizers = "{tmp_path}/own.yaml"\n')
    done = capsdk(tmp_path, "pii", "test", "-", "--json", given=b"badge ZZ-4711 of oda@example.test")
    assert done.returncode == 0, done.stderr
    assert [(row["type"], row["text"]) for row in json.loads(done.stdout)["found"]] == [("BADGE", "ZZ-4711")]


BROKEN = (  # the owner's file, what the complaint names
    pytest.param("recognizers: [", b"line", id="no-yaml"),
    pytest.param("recognizers:\n  - name: x\n", b"supported_entity", id="half-a-recognizer"),
    pytest.param(None, b"own.yaml", id="not-there"),
)


@pytest.mark.parametrize(("text", "named"), BROKEN)
def test_a_file_of_recognizers_that_cannot_be_used_is_told_in_a_line(
    tmp_path: Path, text: str | None, named: bytes
) -> None:
    if text is not None:
        (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    config(tmp_path, f'[pii]\nrecognizers = "{tmp_path}/own.yaml"\n')
    done = capsdk(tmp_path, "pii", "test", "-", given=b"oda@example.test")
    assert done.returncode in (69, 78)
    assert named in done.stderr
    assert b"Traceback" not in done.stderr


def test_paragraphs_are_runs_of_lines_with_something_on_them() -> None:
    assert paragraphs(["", "a", "b", " ", "c"]) == [(1, 3), (4, 5)]
    assert paragraphs([]) == []


async def test_the_doctor_tries_the_engine_and_the_ocr() -> None:
    engine, engine_mend, ocr, ocr_mend = await tried(Settings())
    assert (engine_mend, ocr_mend) == ("", "")
    assert "EMAIL" in engine
    assert "read" in ocr
    assert spotted_png().startswith(b"\x89PNG")
