"""Inputs and their schemas: what is refused, where, and that no schema can take the host's time or fetch anything."""

from __future__ import annotations

import time
from typing import Any

import pytest

from host.core.inputs import MAX_DEPTH, input_problem, schema_problem

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["origin"],
    "additionalProperties": False,
    "properties": {
        "origin": {"type": "string"},
        "items": {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]-[0-9]+$"}},
        "pages": {"type": "integer", "minimum": 1},
    },
}
INPUTS: tuple[Any, ...] = (  # the input, the path that is told
    pytest.param({"origin": "x", "items": ["A-1"], "pages": 2}, None, id="fits"),
    pytest.param({"origin": 1}, ("origin",), id="wrong-type"),
    pytest.param({"items": []}, (), id="required-left-out"),
    pytest.param({"origin": "x", "more": 1}, (), id="unknown-key"),
    pytest.param({"origin": "x", "items": ["A-1", "b"]}, ("items", 1), id="pattern-of-an-item"),
    pytest.param({"origin": "x", "pages": 0}, ("pages",), id="too-small"),
    pytest.param({"origin": "x", "pages": True}, ("pages",), id="true-is-no-number"),
)


@pytest.mark.parametrize(("given", "path"), INPUTS)
def test_an_input_is_refused_by_its_place(given: dict[str, Any], path: tuple[str | int, ...] | None) -> None:
    assert schema_problem(SCHEMA) is None
    misfit = input_problem(SCHEMA, given)
    assert (misfit.path if misfit else None) == path


def test_a_complaint_does_not_repeat_the_value() -> None:
    misfit = input_problem(SCHEMA, {"origin": "x", "items": ["hunter2"]})
    assert misfit is not None
    assert "hunter2" not in misfit.problem


def nested(levels: int) -> dict[str, Any]:
    """Objects in objects."""
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"properties": made}
    return made


SCHEMAS: tuple[Any, ...] = (  # the schema, the path that is told
    pytest.param({"type": "text"}, ("type",), id="type-unknown"),
    pytest.param({"properties": {"a": {"type": 1}}}, ("properties", "a", "type"), id="type-inside"),
    pytest.param({"properties": {"a": {"pattern": "("}}}, ("properties", "a", "pattern"), id="pattern-broken"),
    pytest.param({"pattern": "(?=a)"}, ("pattern",), id="pattern-that-backtracks"),
    pytest.param({"minLength": -1}, ("minLength",), id="below-zero"),
    pytest.param({"$ref": "#"}, ("$ref",), id="reference-to-itself"),
    pytest.param({"items": [{"$ref": "http://127.0.0.1:1/x"}]}, ("items", 0, "$ref"), id="reference-elsewhere"),
    pytest.param({"a": {"$dynamicRef": "file:///etc/passwd"}}, ("a", "$dynamicRef"), id="reference-to-a-file"),
    pytest.param(nested(MAX_DEPTH + 1), (), id="too-deep"),
    pytest.param(nested(100_000), (), id="far-too-deep"),
    pytest.param({"description": "x" * 70_000}, (), id="too-long"),
)


@pytest.mark.parametrize(("schema", "path"), SCHEMAS)
def test_a_schema_that_cannot_be_used_is_refused_by_its_place(
    schema: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    misfit = schema_problem(schema)
    assert misfit is not None
    assert misfit.path == path


def test_a_pattern_that_hangs_other_engines_takes_no_time() -> None:
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}
    assert schema_problem(schema) is None
    began = time.monotonic()
    misfit = input_problem(schema, {"a": "a" * 100_000 + "!"})
    assert time.monotonic() - began < 1
    assert misfit is not None


def test_an_input_that_is_too_deep_is_refused_before_it_is_looked_at() -> None:
    misfit = input_problem({"type": "object"}, nested(MAX_DEPTH + 1))
    assert misfit is not None
    assert misfit.path == ()
