"""What an app's `app.toml` says, checked: a dict in, a manifest out. Reads no file and knows no folder."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from capsdk.errors import InvalidArgumentError
from host.core.inputs import input_problem, schema_problem
from host.core.tomllines import Path, nearest_line

ORIGIN = re.compile(r"https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?|https?://\[[0-9a-f:]+\](:[0-9]{1,5})?")
PATH = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.py")
MAX_PROBLEMS = 5
NO_LINES: Mapping[Path, int] = {}


class Part(BaseModel):
    """A table of the manifest: unknown keys are refused, types are exact."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _a_column(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _origin(value: object) -> object:
    if isinstance(value, str) and not ORIGIN.fullmatch(value):
        raise ValueError("write it as https://shop.example or https://*.shop.example, lower case, without a path")
    return value


def _entry(value: object) -> object:
    if isinstance(value, str) and not PATH.fullmatch(value):
        raise ValueError("name a .py file inside the folder, such as main.py")
    return value


def _json(value: object) -> object:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("dates, nan and inf are not JSON; write them as text") from None
    except RecursionError:
        raise ValueError("it nests too deeply; make it flatter") from None
    return value


def _one_line(value: object) -> object:
    if isinstance(value, str) and not value.isprintable():
        raise ValueError("use printable characters on one line; owners read it")
    return value


class Column(Part):
    """One column of the rows; in TOML a name alone will do."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    type: Literal["any", "string", "number", "integer", "boolean"] = "any"
    optional: bool = False

    def accepts(self, value: object) -> bool:
        """Whether `value` fits the type; null fits an optional column only."""
        if value is None:
            return self.optional
        if isinstance(value, bool):
            return self.type in ("any", "boolean")
        return self.type == "any" or isinstance(value, _TYPES[self.type])


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}


class Input(Part):
    """What the script takes: a JSON schema for people and tools, an example that really runs."""

    schema_: Annotated[dict[str, Any] | None, Field(alias="schema"), BeforeValidator(_json)] = None
    example: Annotated[dict[str, Any], BeforeValidator(_json)] = Field(default_factory=dict)


class Output(Part):
    """What the rows hold."""

    columns: list[Annotated[Column, BeforeValidator(_a_column)]] = Field(default_factory=list, max_length=200)


class Schedule(Part):
    """When it runs by itself, once its owner allows that."""

    cron: Annotated[str, Field(pattern=r"^\S+( \S+){4}$")]
    timezone: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$")]


class Limits(Part):
    """What it may use; None leaves the host's own limit, and nothing here can pass that."""

    wall_s: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    cpu_s: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    memory_mb: Annotated[int | None, Field(gt=0)] = None
    calls_per_s: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    output_kb: Annotated[int | None, Field(gt=0)] = None
    calls_in_flight: Annotated[int | None, Field(gt=0)] = None
    log_lines: Annotated[int | None, Field(gt=0)] = None


class Manifest(Part):
    """All of `app.toml`."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    name: Annotated[str, Field(min_length=1, max_length=80), BeforeValidator(_one_line)]
    version: Annotated[str, Field(pattern=r"^[0-9A-Za-z.+-]{1,32}$")]
    entry: Annotated[str, BeforeValidator(_entry)] = "main.py"
    capabilities: list[Annotated[str, Field(pattern=r"^[a-z]+(\.[a-z]+)+$")]] = Field(
        default_factory=list, max_length=50
    )
    origins: list[Annotated[str, BeforeValidator(_origin)]] = Field(default_factory=list, max_length=100)
    popups: Literal["allow", "block"] = "allow"
    input: Input = Input()
    output: Output = Output()
    schedule: Schedule | None = None
    limits: Limits = Limits()


def parse_manifest(data: Mapping[str, Any], lines: Mapping[Path, int] = NO_LINES) -> Manifest:
    """The manifest of a decoded `app.toml`; `lines` say where its keys stand.

    Raises InvalidArgumentError MANIFEST_INVALID naming each key at fault, and its line.
    """
    try:
        manifest = Manifest.model_validate(dict(data))
    except ValidationError as problem:
        found = [(one["loc"], _words(one)) for one in problem.errors(include_url=False)]
    else:
        found = _input_problems(manifest.input)
    if found:
        raise _invalid(found, lines)
    return manifest


def _invalid(found: list[tuple[Path, str]], lines: Mapping[Path, int]) -> InvalidArgumentError:
    problems: list[dict[str, Any]] = []
    told = []
    for path, words in found[:MAX_PROBLEMS]:
        line = nearest_line(lines, path)
        problems.append({"key": _key(path), "problem": words, **({"line": line} if line else {})})
        told.append((f"line {line}, " if line else "") + f"{_key(path)}: {words}")
    more = f" (and {len(found) - MAX_PROBLEMS} more)" if len(found) > MAX_PROBLEMS else ""
    return InvalidArgumentError("MANIFEST_INVALID", f"app.toml, {'; '.join(told)}{more}", problems=problems)


def _input_problems(given: Input) -> list[tuple[Path, str]]:
    if given.schema_ is None:
        return []
    unusable = schema_problem(given.schema_)
    if unusable is not None:
        return [(("input", "schema", *unusable.path), f"{unusable.problem}; mend the schema")]
    misfit = input_problem(given.schema_, given.example) if "example" in given.model_fields_set else None
    if misfit is None:
        return []
    return [(("input", "example", *misfit.path), f"{misfit.problem}; make it fit [input.schema]")]


def row_problem(columns: tuple[Column, ...], rows: object) -> str | None:
    """What is wrong with `rows` by `[output] columns`, naming row and column; None when they fit."""
    if not isinstance(rows, list):
        return "the rows are not a list"
    names = {column.name for column in columns}
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            return f"row {index} is not an object"
        if not columns:
            continue
        extra = sorted(set(row) - names)
        if extra:
            return f"row {index} has the column {extra[0]!r}, which [output] columns does not name"
        for column in columns:
            if column.name not in row and not column.optional:
                return f"row {index} has no {column.name!r}"
            if column.name in row and not column.accepts(row[column.name]):
                return f"row {index}, {column.name!r} is {type(row[column.name]).__name__} and not {column.type}"
    return None


def _key(location: Path) -> str:
    return ".".join(str(part) for part in location)[:200] or "app.toml"


def _words(found: Any) -> str:
    """pydantic's message, ending with what to do next."""
    if found["type"] == "extra_forbidden":
        name = str(found["loc"][-1])
        near = difflib.get_close_matches(name, _KEYS, n=1)
        return "is not a key of app.toml; " + (f"did you mean {near[0]}?" if near else "leave it out")
    if found["type"] == "missing":
        return "is missing; add it"
    return str(found["msg"]).removeprefix("Value error, ")


_KEYS = sorted(
    {
        field.alias or name
        for part in (Manifest, Input, Output, Schedule, Limits, Column)
        for name, field in part.model_fields.items()
    }
)
