"""Strings that stand beside each other in a page, as one text: a label is another string than what it stands for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from host.core.masking.keys import head_row
from host.core.masking.tree import (
    BEGIN,
    BREAK,
    CELL,
    END,
    LINE,
    Item,
    Node,
    below,
    of_accessibility,
    of_dom,
    of_snapshot,
    read,
)
from host.core.masking.views import seam

MOST_BETWEEN = 64
MOST_CHARS = 1_000_000
"""A snapshot may name one long string at a thousand places. Each string is looked through by itself, too."""
TEXT_KEYS = ("text", "textContent", "innerText")
ONE_LINE = {10: " ", 13: " ", 9: " "}


class Spot(NamedTuple):
    """Characters from `at` of the joint text are the string with this number; `apart` from the one before."""

    at: int
    number: int
    length: int
    apart: bool


class Joint:
    """One text made of several strings."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self.spots: list[Spot] = []

    @property
    def text(self) -> str:
        """The whole."""
        return "".join(self._parts)

    @property
    def last(self) -> str:
        """The string that was added last."""
        return self._parts[-1] if self._parts else ""

    def add(self, text: str, number: int, separator: str, *, apart: bool) -> None:
        """One more string, and what is between it and the one before; `apart`: it is another thing."""
        for part in (separator, text) if self.spots else (text,):
            self._parts.append(part)
            self.length += len(part)
        self.spots.append(Spot(self.length - len(text), number, len(text), apart))

    def places(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Where a part of the whole stands: number, start and end in each string; nowhere when it is two things."""
        first = max(0, bisect_right(self.spots, start, key=lambda spot: spot.at) - 1)
        found: list[tuple[int, int, int]] = []
        for spot in self.spots[first:]:
            if spot.at >= end:
                break
            inside = (max(0, start - spot.at), min(spot.length, end - spot.at))
            if inside[0] < inside[1]:
                if found and spot.apart:
                    return []
                found.append((spot.number, *inside))
        return found


def joint(items: Iterable[Item], strings: Mapping[tuple[int, Any], tuple[int, str]]) -> Joint | None:
    """The strings as one text; `strings` tells number and text by `(id(holder), key)`. None for fewer than two."""
    made, between = Joint(), ""
    for item in items:
        if isinstance(item, str):
            if len(between) < MOST_BETWEEN if item in (BEGIN, END) else item not in between:
                between += item
            continue
        if made.length > MOST_CHARS:
            break
        known = strings.get((id(item[0]), item[1]))
        if known is None:
            between += "" if " " in between else " "
            continue
        separator = _separator(between, made.last, known[1])
        made.add(known[1].translate(ONE_LINE), known[0], separator, apart=separator == "\t" or LINE in between)
        between = ""
    return made if len(made.spots) > 1 else None


def _separator(between: str, before: str, after: str) -> str:
    """What is within an element, or around one, reads on; two elements beside each other may be two cells."""
    if LINE in between or BREAK in between:
        return "\n"
    if CELL in between:
        return "\t"
    if BEGIN in between[between.find(END) :] and END in between:
        return seam(before, after)
    return " " if " " in between else ""


def items_of(value: Any, *, protocol: bool) -> Iterator[Item] | None:
    """What stands beside each other in an object or a list of a result; None for any that holds no such strings."""
    if not protocol:
        return _list(value) if isinstance(value, list) and len(value) > 1 and not head_row(value) else None
    if not isinstance(value, dict):
        return None
    if trees := trees_of(value):
        return (item for tree in trees for item in read(tree))
    return None


def trees_of(value: Any) -> list[Node]:
    """The trees of elements that an object of the protocol holds itself."""
    if not isinstance(value, dict):
        return []
    if "nodeType" in value and "nodeName" in value:
        return [of_dom(value)]
    if isinstance(value.get("documents"), list) and isinstance(value.get("strings"), list):
        return list(of_snapshot(value))
    nodes = value.get("nodes")
    if isinstance(nodes, list) and nodes and isinstance(nodes[0], dict) and "role" in nodes[0]:
        return [of_accessibility(nodes)]
    return []


def nodes_of(root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A DOM tree's nodes."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += below(node)


def _list(value: list[Any]) -> Iterator[Item]:
    for number, one in enumerate(value):
        if isinstance(one, str):
            yield (value, number)
        elif isinstance(one, list):
            for cell in range(len(one)):
                yield from ((one, cell), CELL)
        elif isinstance(one, dict):
            yield from ((one, key) for key in TEXT_KEYS if isinstance(one.get(key), str))
        yield LINE
