"""`app.toml` as a table of what is refused, and by which key."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from capsdk.errors import InvalidArgumentError
from host.core.manifest import Column, Manifest, parse_manifest, row_problem

MINIMAL = 'id = "x"\nname = "X"\nversion = "1"\n'


def parsed(text: str) -> Manifest:
    return parse_manifest(tomllib.loads(text))


def test_a_minimal_manifest_asks_for_nothing() -> None:
    manifest = parsed(MINIMAL)
    assert (manifest.entry, manifest.capabilities, manifest.origins, manifest.popups) == ("main.py", [], [], "allow")
    assert manifest.limits.model_dump(exclude_none=True) == {}
    assert manifest.schedule is None


def test_a_full_manifest_is_taken_as_it_is() -> None:
    manifest = parsed(
        MINIMAL
        + """
        entry = "src/go.py"
        capabilities = ["browser.debug", "owner.ask"]
        origins = ["https://*.shop.example", "http://127.0.0.1:8731", "https://[::1]:8443"]
        popups = "block"
        input.example = { items = ["A-1"] }
        input.schema = { type = "object" }
        output.columns = ["title", { name = "price", type = "number", optional = true }]
        schedule = { cron = "0 7 * * 1", timezone = "Europe/Berlin" }

        [limits]
        wall_s = 90
        cpu_s = 2.5
        memory_mb = 256
        calls_in_flight = 4
        calls_per_s = 20
        output_kb = 64
        log_lines = 100
        """
    )
    assert manifest.output.columns == [Column(name="title"), Column(name="price", type="number", optional=True)]
    assert (manifest.input.example, manifest.input.schema_) == ({"items": ["A-1"]}, {"type": "object"})
    assert (manifest.limits.wall_s, manifest.limits.calls_in_flight, manifest.limits.log_lines) == (90, 4, 100)
    assert manifest.schedule is not None


REFUSED = (  # what is added to the minimal manifest, the keys at fault
    pytest.param("capabilites = []", ["capabilites"], id="misspelt-key"),
    pytest.param("network = true", ["network"], id="unknown-key"),
    pytest.param("[limits]\nwall = 3", ["limits.wall"], id="unknown-key-in-a-table"),
    pytest.param("[limits]\nwall_s = 0", ["limits.wall_s"], id="limit-of-nothing"),
    pytest.param("[limits]\nwall_s = nan", ["limits.wall_s"], id="limit-that-is-no-number"),
    pytest.param("[limits]\ncalls_per_s = inf", ["limits.calls_per_s"], id="limit-without-end"),
    pytest.param("[limits]\nlog_lines = 0", ["limits.log_lines"], id="no-log-lines"),
    pytest.param("[limits]\ncalls_in_flight = 1.5", ["limits.calls_in_flight"], id="half-a-call"),
    pytest.param('[limits]\nmemory_mb = "512"', ["limits.memory_mb"], id="number-as-text"),
    pytest.param("[limits]\nmemory_mb = true", ["limits.memory_mb"], id="true-is-no-number"),
    pytest.param('capabilities = "browser.debug"', ["capabilities"], id="text-for-a-list"),
    pytest.param('capabilities = ["browser"]', ["capabilities.0"], id="capability-without-a-dot"),
    pytest.param('origins = ["https://shop.example/"]', ["origins.0"], id="origin-with-a-slash"),
    pytest.param('origins = ["https://ok.example", "shop.example"]', ["origins.1"], id="origin-without-a-scheme"),
    pytest.param('origins = ["file:///etc"]', ["origins.0"], id="origin-of-files"),
    pytest.param('origins = ["https://*"]', ["origins.0"], id="origin-of-everything"),
    pytest.param('origins = ["https://u:p@shop.example"]', ["origins.0"], id="origin-with-credentials"),
    pytest.param('popups = "maybe"', ["popups"], id="popups-unknown"),
    pytest.param('entry = "../main.py"', ["entry"], id="entry-outside"),
    pytest.param('entry = "/main.py"', ["entry"], id="entry-absolute"),
    pytest.param('entry = "main.sh"', ["entry"], id="entry-not-python"),
    pytest.param('schedule = { cron = "daily", timezone = "UTC" }', ["schedule.cron"], id="cron-in-words"),
    pytest.param('schedule = { cron = "0 7 * * 1" }', ["schedule.timezone"], id="schedule-without-a-zone"),
    pytest.param(
        'output.columns = [{ name = "a", type = "date" }]', ["output.columns.0.type"], id="column-type-unknown"
    ),
    pytest.param("input.example = { day = 2026-01-02 }", ["input.example"], id="date-is-not-json"),
    pytest.param("popups = 1\nentry = 2", ["entry", "popups"], id="two-at-once"),
)


@pytest.mark.parametrize(("more", "keys"), REFUSED)
def test_a_manifest_is_refused_by_the_name_of_each_key_at_fault(more: str, keys: list[str]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parsed(MINIMAL + more)
    assert caught.value.code == "MANIFEST_INVALID"
    assert [problem["key"] for problem in caught.value.details["problems"]] == keys
    assert all(key in caught.value.message for key in keys)


REFUSED_WHOLE = (
    pytest.param({}, ["id", "name", "version"], id="empty"),
    pytest.param({"id": "A b", "name": "X", "version": "1"}, ["id"], id="id-with-a-space"),
    pytest.param({"id": "x", "name": "X\u202e", "version": "1"}, ["name"], id="bidi-in-the-name"),
    pytest.param({"id": "x", "name": "X\nY", "version": "1"}, ["name"], id="two-lines-in-the-name"),
)


@pytest.mark.parametrize(("data", "keys"), REFUSED_WHOLE)
def test_what_owners_read_is_checked_too(data: dict[str, Any], keys: list[str]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_manifest(data)
    assert [problem["key"] for problem in caught.value.details["problems"]] == keys


def test_a_misspelt_key_is_told_the_likely_one() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parsed(MINIMAL + "orgins = []")
    assert "origins" in caught.value.message


COLUMNS = (Column(name="title", type="string"), Column(name="price", type="number", optional=True))
ROWS = (  # rows, what the complaint names (None: they fit)
    pytest.param([{"title": "a", "price": 1}], None, id="fits"),
    pytest.param([], None, id="none"),
    pytest.param([{"title": "a"}], None, id="optional-left-out"),
    pytest.param([{"title": "a", "price": None}], None, id="optional-null"),
    pytest.param([{"title": "a"}, {"price": 1}], "row 1 has no 'title'", id="required-left-out"),
    pytest.param([{"title": None}], "row 0, 'title'", id="required-null"),
    pytest.param([{"title": "a", "price": "1"}], "row 0, 'price'", id="text-for-a-number"),
    pytest.param([{"title": "a", "price": True}], "row 0, 'price'", id="true-is-no-number"),
    pytest.param([{"title": "a", "more": 1}], "'more'", id="column-unknown"),
    pytest.param(["a"], "row 0 is not an object", id="row-of-text"),
    pytest.param({"title": "a"}, "not a list", id="no-list"),
)


@pytest.mark.parametrize(("rows", "names"), ROWS)
def test_rows_are_checked_against_the_columns(rows: Any, names: str | None) -> None:
    problem = row_problem(COLUMNS, rows)
    assert (names in problem) if names and problem else (problem is names)
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        assert row_problem((), rows) is None
