"""What is declared holds: examples, schemas, errors, limits and the generated references."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from capsdk.errors import BY_CODE, InvalidArgumentError
from host import references
from host.core.grants import CAPABILITIES
from host.core.limits import Limits
from host.core.wire import Request, dumps
from host.dispatch.dispatcher import validate
from host.dispatch.entry import Entry
from host.entries.catalogue import ENTRIES

EVERY = pytest.mark.parametrize("entry", [pytest.param(ENTRIES[name], id=name) for name in sorted(ENTRIES)])


def example(entry: Entry) -> dict[str, Any]:
    return entry.example.model_dump(mode="json", exclude_none=True)


def test_the_core_entries_are_there_under_their_names() -> None:
    core = {"browser.openSession", "browser.cdp", "browser.events", "browser.closeSession", "run.log", "run.progress"}
    assert core <= ENTRIES.keys()
    assert [name for name, entry in ENTRIES.items() if name != entry.name] == []


@EVERY
def test_the_example_is_valid_and_comes_back_from_its_json(entry: Entry) -> None:
    args = json.loads(dumps(example(entry)))
    assert validate(entry, args) == entry.example
    assert isinstance(entry.example, entry.args)


@EVERY
def test_every_declared_name_exists(entry: Entry) -> None:
    assert set(entry.errors) <= BY_CODE.keys()
    assert len(set(entry.errors)) == len(entry.errors)
    assert set(entry.limits) <= Limits().public().keys()
    assert entry.capability is None or entry.capability in CAPABILITIES


@EVERY
def test_an_unknown_key_is_refused_and_named(entry: Entry) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        validate(entry, {**example(entry), "surprise": "secret-value"})
    assert caught.value.code == "BAD_ARGUMENTS"
    assert caught.value.details["problems"][0]["at"] == "surprise"
    assert "secret-value" not in json.dumps(caught.value.to_wire())


LOOSE = {"string": 7, "integer": "7", "number": "7", "boolean": 1, "array": "x", "object": "x"}


@EVERY
def test_loose_types_are_refused(entry: Entry) -> None:
    properties: dict[str, Any] = entry.args.model_json_schema().get("properties", {})
    tried = 0
    for key, schema in properties.items():
        kinds = {"object" if "$ref" in one else one.get("type") for one in schema.get("anyOf", [schema])} - {None}
        for kind in kinds & LOOSE.keys():
            tried += 1
            with pytest.raises(InvalidArgumentError) as caught:
                validate(entry, {**example(entry), key: LOOSE[kind]})
            assert caught.value.code == "BAD_ARGUMENTS"
    assert tried >= len(set(properties) - {"params"})


@EVERY
def test_a_required_argument_that_is_missing_is_named(entry: Entry) -> None:
    for key in entry.args.model_json_schema().get("required", []):
        args = {name: value for name, value in example(entry).items() if name != key}
        with pytest.raises(InvalidArgumentError) as caught:
            validate(entry, args)
        assert caught.value.details["problems"][0]["at"] == key


@EVERY
def test_a_half_surrogate_is_a_clear_error_and_no_fault(entry: Entry) -> None:
    strings = [key for key, value in example(entry).items() if isinstance(value, str)]
    for args in [{**example(entry), key: "\ud800"} for key in strings] + [{**example(entry), "\ud800": 1}]:
        with pytest.raises(InvalidArgumentError) as caught:
            validate(entry, args)
        assert caught.value.code == "BAD_ARGUMENTS"
        assert dumps(caught.value.to_wire())


@EVERY
def test_every_argument_is_bounded_and_described(entry: Entry) -> None:
    for key, schema in entry.args.model_json_schema().get("properties", {}).items():
        kinds = schema.get("anyOf", [schema])
        assert any(one.get("description") for one in (schema, *kinds)), key
        for one in kinds:
            if one.get("type") == "string":
                assert "maxLength" in one or "enum" in one, key
            if one.get("type") == "array":
                assert "maxItems" in one, key


@EVERY
def test_the_generated_page_of_an_entry_says_what_it_declares(entry: Entry) -> None:
    page = json.loads(references.sdk_pages()[f"sdk/{entry.name}.json"])
    assert (page["name"], page["capability"], page["errors"]) == (entry.name, entry.capability, list(entry.errors))
    assert page["args"]["additionalProperties"] is False
    assert validate(entry, page["example"]) == entry.example


def test_the_generated_table_of_errors_is_the_declared_one() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (\d+) \|", references.errors_page(), re.MULTILINE)
    assert rows == [(code, one.kind.category, str(one.kind.exit_code)) for code, one in BY_CODE.items()]


def test_every_entry_has_one_page_and_no_page_is_left_over() -> None:
    assert set(references.sdk_pages()) == {f"sdk/{name}.json" for name in ENTRIES}


def test_a_request_of_the_example_is_one_line() -> None:
    for name, entry in ENTRIES.items():
        line = dumps({"id": 1, "method": name, "args": example(entry)})
        assert b"\n" not in line
        assert Request(1, name, example(entry), line).method == name
