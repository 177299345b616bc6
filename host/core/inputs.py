"""A script's input against its manifest's `[input]` JSON schema (draft 2020-12): where it does not fit, no values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from host.core.jsonscan import deeper_than

MAX_DEPTH = 64
MAX_SCHEMA_BYTES = 64 * 1024
# With references a schema of a few lines can ask for years of work; without them the work is bounded by its size.
REFERENCES = frozenset(("$dynamicRef", "$recursiveRef", "$ref"))


@dataclass(frozen=True, slots=True)
class Misfit:
    """What is wrong, and the path to it inside the schema or the input."""

    path: tuple[str | int, ...]
    problem: str

    @property
    def place(self) -> str:
        """The path in words."""
        return ".".join(map(str, self.path))[:200]


def schema_problem(schema: Mapping[str, Any]) -> Misfit | None:
    """Why `schema` cannot be used; None when it can."""
    too_much = _too_much(schema, MAX_SCHEMA_BYTES)
    if too_much is not None:
        return Misfit((), too_much)
    reference = next(_references(schema, ()), None)
    if reference is not None:
        return Misfit(reference, "references are not taken; write what it stands for in its place")
    try:
        _validator(schema)
    except ValueError as problem:  # jsonschema_rs.ValidationError is one
        return Misfit(tuple(getattr(problem, "instance_path", ())), _first_line(problem))
    return None


def input_problem(schema: Mapping[str, Any], given: Mapping[str, Any]) -> Misfit | None:
    """Where `given` does not fit a schema that has passed `schema_problem`; None when it does."""
    too_much = _too_much(given, None)
    if too_much is not None:
        return Misfit((), too_much)
    for problem in _validator(schema).iter_errors(given):
        return Misfit(tuple(problem.instance_path), _first_line(problem))
    return None


def _validator(schema: Mapping[str, Any]) -> Any:
    # Imported when the first app with a schema comes: 15 MB that most commands do without.
    import jsonschema_rs

    def refuse(uri: str) -> Any:
        raise ValueError("nothing is fetched for a schema")

    # RegexOptions is the engine without backtracking: an app's `pattern` must not be able to hang the host.
    return jsonschema_rs.Draft202012Validator(
        dict(schema), mask="this value", pattern_options=jsonschema_rs.RegexOptions(), retriever=refuse
    )


def _too_much(value: Mapping[str, Any], max_bytes: int | None) -> str | None:
    try:
        raw = json.dumps(value).encode()
    except (RecursionError, TypeError, ValueError):
        return f"is not plain JSON, or nests deeper than {MAX_DEPTH} levels; make it flatter"
    if deeper_than(raw, MAX_DEPTH):
        return f"nests deeper than {MAX_DEPTH} levels; make it flatter"
    if max_bytes is not None and len(raw) > max_bytes:
        return f"takes {len(raw)} bytes and may take {max_bytes}; make it shorter"
    return None


def _references(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in REFERENCES:
                yield (*path, key)
            yield from _references(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _references(inner, (*path, number))


def _first_line(problem: Exception) -> str:
    words: str = getattr(problem, "message", None) or str(problem).partition("\n")[0]
    return words[:300]
