"""Lines of keys, checked against what tomllib reads of the same text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.tomllines import Path as Key
from host.core.tomllines import lines_of, nearest_line

ROOT = Path(__file__).parents[2]
TEXT = '''a.b."c d" = 1  # a = 2
[[x]]
y = """
not = "a key"
"""
[x.z]
q = [1,  # ]
  "}", {a = 1, b = {c = "]"}},
  [2,
   3]]
[[x]]
[[x.w]]
u = \'\'\'a'\'\'\'
"e\\u0041\\"" = 1979-05-27 07:32:00
[ other . 'k.k' ]
'''
LINES: tuple[Any, ...] = (
    pytest.param(("a", "b", "c d"), 1, id="dotted-and-quoted"),
    pytest.param(("x", 0), 2, id="first-of-an-array-of-tables"),
    pytest.param(("x", 0, "y"), 3, id="many-lines-of-text"),
    pytest.param(("x", 0, "z", "q", 0), 7, id="first-item"),
    pytest.param(("x", 0, "z", "q", 1), 8, id="item-on-the-next-line"),
    pytest.param(("x", 0, "z", "q", 2, "b", "c"), 8, id="inline-table-in-an-array"),
    pytest.param(("x", 0, "z", "q", 3, 1), 10, id="array-in-an-array"),
    pytest.param(("x", 1), 11, id="second-of-an-array-of-tables"),
    pytest.param(("x", 1, "w", 0, "u"), 13, id="array-of-tables-in-another"),
    pytest.param(("x", 1, "w", 0, 'eA"'), 14, id="escapes-in-a-key"),
    pytest.param(("other", "k.k"), 15, id="spaces-in-a-header"),
)


@pytest.mark.parametrize(("key", "line"), LINES)
def test_each_kind_of_key_has_its_line(key: Key, line: int) -> None:
    assert lines_of(TEXT)[key] == line


def keys_of(value: Any, path: Key = ()) -> Iterator[Key]:
    """Every path in a decoded text."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from keys_of(one, (*path, key))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT, id="every-kind"),
        *(
            pytest.param(path.read_text(encoding="utf-8"), id=str(path.relative_to(ROOT)))
            for path in [ROOT / "pyproject.toml", *sorted((ROOT / "scripts").rglob("*.toml"))]
        ),
    ],
)
def test_exactly_the_keys_that_tomllib_reads_have_lines(text: str) -> None:
    assert lines_of(text).keys() == set(keys_of(tomllib.loads(text)))


NEAREST: tuple[Any, ...] = (
    pytest.param(("x", 0, "z", "q", 9), 7, id="item-that-is-missing"),
    pytest.param(("x", 1, "more", "still"), 11, id="key-that-is-missing"),
    pytest.param(("gone",), None, id="at-the-top"),
)


@pytest.mark.parametrize(("key", "line"), NEAREST)
def test_a_missing_key_has_the_line_of_what_should_hold_it(key: Key, line: int | None) -> None:
    assert nearest_line(lines_of(TEXT), key) == line


def test_deep_nesting_gives_no_error() -> None:
    assert lines_of("a = " + "[" * 100_000)[("a",)] == 1


names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=4)
scalars = st.one_of(st.integers(), st.booleans(), st.text(st.characters(codec="utf-8", exclude_categories=["C"])))
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=8)


def written(value: Any) -> str:
    """A value as TOML, a line an item of an array."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + "".join(f"{written(one)},\n" for one in value) + "]"
    return str(value) if isinstance(value, int) else quoted(value)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.dictionaries(names, values, max_size=5))
def test_whatever_tomllib_reads_is_found(table: dict[str, Any]) -> None:
    text = "".join(f"{quoted(key)} = {written(value)}\n" for key, value in table.items())
    assert lines_of(text).keys() == set(keys_of(tomllib.loads(text)))


@given(st.text())
def test_what_is_no_toml_gives_no_error(text: str) -> None:
    assert all(line >= 1 for line in lines_of(text).values())
