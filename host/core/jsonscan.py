"""One strict look at JSON from outside: well-formed, no duplicate key, finite numbers, bounded nesting."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

import msgspec

STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
BRACKET = re.compile(rb"[\[\]{}]")


class BadJson(ValueError):
    """The text is not JSON that may go on; the message says why, `deep` that only its nesting is the matter."""

    deep = False


class TooDeep(BadJson):
    """Nested deeper than can be read at all."""

    deep = True


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value] # add() is None
        raise BadJson(f"the key {twice[:80]!r} stands twice in one object")
    return made


def _constant(word: str) -> Any:
    raise BadJson(f"{word} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadJson(f"the number {text[:40]} is out of range")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)


def scan(text: str) -> Any:
    """The value of `text`. Raises BadJson with the reason; never RecursionError."""
    try:
        return _DECODER.decode(text)
    except BadJson:
        raise
    except RecursionError:
        raise TooDeep("it is nested too deeply") from None
    except json.JSONDecodeError as problem:
        raise BadJson(f"{problem.msg} at character {problem.pos}") from None
    except ValueError:  # an integer of over 4,300 digits
        raise BadJson("a number is too long") from None


def depth_of(raw: bytes) -> int:
    """How deep arrays and objects of well-formed JSON nest; a scalar is 0."""
    deepest = level = 0
    for bracket in BRACKET.finditer(STRING.sub(b"", raw)):
        if bracket.group() in b"[{":
            level += 1
            deepest = max(deepest, level)
        else:
            level -= 1
    return deepest


def over_parts(raw: bytes, limit: int) -> int:
    """How many values, about, a text holds when that is over `limit`, else 0; strings are not looked into.

    Each value costs an object, so that it is the parts and not the bytes that make a line dear.
    """
    if _parts(raw) <= limit:
        return 0
    found = _parts(STRING.sub(b"", raw))
    return found if found > limit else 0


def _parts(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"{") + raw.count(b"[")


def deeper_than(raw: bytes, limit: int) -> bool:
    """Does well-formed JSON nest deeper than `limit`? Counting brackets settles it for almost every call."""
    if raw.count(b"[") + raw.count(b"{") <= limit:
        return False
    return depth_of(raw) > limit


def scan_plain(line: bytes) -> Any:
    """The value of a line that is plainly in order, None for any other: `scan` judges those.

    Every key of an object brings one colon outside of strings. When a line holds as many colons as its decoded
    objects hold keys, there is none in a string, and no key was there twice.
    """
    try:
        value = msgspec.json.decode(line)
        return value if line.count(b":") == _count_keys(value) else None
    except (msgspec.DecodeError, RecursionError):
        return None


def _count_keys(value: Any) -> int:
    if type(value) is dict:
        return len(value) + sum(_count_keys(inner) for inner in value.values() if type(inner) in CONTAINERS)
    if type(value) is list:
        return sum(_count_keys(inner) for inner in value if type(inner) in CONTAINERS)
    return 0


CONTAINERS = (dict, list)

ID_FIRST = re.compile(r'\s*\{\s*"id"\s*:\s*(\d{1,16}|"[^"\\]{0,64}")\s*[,}]')


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    times = Counter(name for name, _ in pairs)
    return {name: value for name, value in pairs if times[name] == 1}


def _short_int(text: str) -> int | None:
    return int(text) if len(text) < 20 else None  # what is longer is no id, and Python may refuse to read it


def salvage_id(text: str) -> Any:
    """The `id` of a line that `scan` refused, so that its caller learns of it; None when it cannot be told for sure."""
    try:
        value = json.loads(text, object_pairs_hook=_without_twins, parse_int=_short_int)
    except RecursionError:
        return first_id(text)
    except ValueError:
        return None
    return value.get("id") if isinstance(value, dict) else None


def first_id(text: str) -> Any:
    """The `id` when it is what a line begins with; None for any other."""
    match = ID_FIRST.match(text)
    return json.loads(match[1]) if match else None
