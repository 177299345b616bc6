"""Complaints about `app.toml` name the key and the line; `[input]` is checked when an app is loaded."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from capsdk.errors import InvalidArgumentError
from host.sandbox.appfolder import load_app
from tests.apps.conftest import MakeApp
from tests.apps.support import MAIN

HEAD = 'id = "shop"\nname = "Shop"\nversion = "1.0"\n'  # three lines
COMPLAINTS: tuple[Any, ...] = (  # what follows the head, the key, its line
    pytest.param('popups = "maybe"\n', "popups", 4, id="value"),
    pytest.param('origins = [\n "https://ok.example",\n "bad",\n]\n', "origins.1", 6, id="item-of-an-array"),
    pytest.param("\n[limits]\nwall_s = 1\nmemory = 2\n", "limits.memory", 7, id="unknown-key-in-a-table"),
    pytest.param(
        '[output]\ncolumns = [\n "a",\n {name = "b", type = "date"}]\n', "output.columns.1.type", 7, id="deep"
    ),
    pytest.param('[schedule]\ncron = "0 7 * * 1"\n', "schedule.timezone", 4, id="missing-is-at-its-table"),
    pytest.param(
        '[input.schema]\ntype = "object"\nminProperties = "x"\n', "input.schema.minProperties", 6, id="schema"
    ),
    pytest.param('[input.schema.properties.a]\n"$ref" = "#"\n', "input.schema.properties.a.$ref", 5, id="reference"),
    pytest.param(
        '[input.example]\nn = 1\nwords = [\n"a",\n2]\n[input.schema.properties.words]\nitems = {type = "string"}\n',
        "input.example.words.1",
        8,
        id="example-does-not-fit",
    ),
    pytest.param('[input]\nexample = {}\n[input.schema]\nrequired = ["a"]\n', "input.example", 5, id="example-empty"),
)


@pytest.mark.parametrize(("more", "key", "line"), COMPLAINTS)
def test_a_complaint_names_the_key_and_the_line(tmp_path: Path, more: str, key: str, line: int) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "app.toml").write_text(HEAD + more)
    with pytest.raises(InvalidArgumentError) as caught:
        load_app(tmp_path)
    assert caught.value.code == "MANIFEST_INVALID"
    (problem,) = caught.value.details["problems"]
    assert (problem["key"], problem["line"]) == (key, line)
    assert f"line {line}, {key}" in caught.value.message


def test_what_is_no_toml_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(HEAD + "popups = = 1\n")
    with pytest.raises(InvalidArgumentError) as caught:
        load_app(tmp_path)
    assert (caught.value.code, caught.value.details["line"]) == ("MANIFEST_INVALID", 4)


def test_an_entry_that_is_not_there_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(HEAD + 'entry = "go.py"\n')
    with pytest.raises(InvalidArgumentError) as caught:
        load_app(tmp_path)
    assert caught.value.details == {"key": "entry", "line": 4}


def test_lines_are_counted_in_a_file_with_carriage_returns(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_bytes((HEAD + "popups = 1\n").replace("\n", "\r\n").encode())
    with pytest.raises(InvalidArgumentError) as caught:
        load_app(tmp_path)
    assert caught.value.details["problems"][0]["line"] == 4


def test_a_schema_without_an_example_asks_for_an_input_only_at_the_run(make_app: MakeApp) -> None:
    app = load_app(make_app(more='[input.schema]\nrequired = ["a"]\n'))
    assert app.input_example == {}


ENDLESS: tuple[Any, ...] = (
    pytest.param("input.schema." + ".".join("a" * 30_000) + " = 1\n", id="dotted-key"),
    pytest.param("input.schema." + ".".join("a" * 150) + " = 1\n", id="deeper-than-a-schema-may-be"),
    pytest.param("[" + ".".join("a" * 30_000) + "]\n", id="dotted-header"),
    pytest.param("[input]\nexample = " + "{a=" * 10_000 + "1" + "}" * 10_000 + "\n", id="tables-in-tables"),
    pytest.param("input.example.a = " + "[" * 10_000 + "]" * 10_000 + "\n", id="arrays-in-arrays"),
    pytest.param("# " + "x" * 70_000 + "\n", id="too-long"),
)


@pytest.mark.parametrize("more", ENDLESS)
def test_a_manifest_made_to_keep_its_reader_busy_is_refused_at_once(tmp_path: Path, more: str) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "app.toml").write_text(HEAD + more)
    began = time.monotonic()
    with pytest.raises(InvalidArgumentError) as caught:
        load_app(tmp_path)
    assert caught.value.code == "MANIFEST_INVALID"
    assert time.monotonic() - began < 1
