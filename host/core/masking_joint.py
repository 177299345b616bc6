"""Strings that stand beside each other in a page, as one text: a label is another string than what it stands for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from host.core.masking_html import INLINE, OPAQUE

LINE, BEGIN, END = "\n", "(", ")"
Item = tuple[Any, Any] | str
"""A string as `(holder, key)`, or what is between two: the end of a line, the begin or end of an inline element."""
TEXT_NODE = 3
SILENT_INPUTS = frozenset(("button", "checkbox", "hidden", "password", "radio", "reset", "submit"))
TEXT_KEYS = ("text", "textContent", "innerText", "content", "value", "label", "title")
ONE_LINE = {10: " ", 13: " ", 9: " "}


class Spot(NamedTuple):
    """Characters from `at` of the joint text are characters of the string with this number."""

    at: int
    number: int
    length: int


class Joint:
    """One text made of several strings."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.spots: list[Spot] = []

    @property
    def text(self) -> str:
        """The whole."""
        return "".join(self._parts)

    def add(self, text: str, number: int) -> None:
        """One more string."""
        self.spots.append(Spot(self._length, number, len(text)))
        self.between(text)

    def between(self, text: str) -> None:
        """What is of no string."""
        self._parts.append(text)
        self._length += len(text)

    def places(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Where a part of the whole stands: number of the string, start and end in it."""
        first = max(0, bisect_right(self.spots, start, key=lambda spot: spot.at) - 1)
        for spot in self.spots[first:]:
            if spot.at >= end:
                break
            inside = (max(0, start - spot.at), min(spot.length, end - spot.at))
            if inside[0] < inside[1]:
                yield (spot.number, *inside)


def joint(items: Iterable[Item], strings: Mapping[tuple[int, Any], tuple[int, str]]) -> Joint | None:
    """The strings as one text; `strings` tells number and text by `(id(holder), key)`. None for fewer than two."""
    made, between = Joint(), ""
    for item in items:
        if isinstance(item, str):
            between += item
            continue
        known = strings.get((id(item[0]), item[1]))
        if known is None:
            between += " "
            continue
        if made.spots:
            made.between(_separator(between))
        made.add(known[1].translate(ONE_LINE), known[0])
        between = ""
    return made if len(made.spots) > 1 else None


def _separator(between: str) -> str:
    """Two elements beside each other are two cells; what is within one, or around one, reads on."""
    if LINE in between:
        return "\n"
    if BEGIN in between[between.find(END) :] and END in between:
        return "\t"
    return " " if " " in between else ""


def items_of(value: Any, *, protocol: bool) -> Iterator[Item] | None:
    """What stands beside each other in an object or a list of a result; None for any that holds no such strings."""
    if not protocol:
        return _list(value) if isinstance(value, list) and len(value) > 1 else None
    if not isinstance(value, dict):
        return None
    if "nodeType" in value and "nodeName" in value:
        return dom(value)
    if isinstance(value.get("documents"), list) and isinstance(value.get("strings"), list):
        return snapshot(value)
    nodes = value.get("nodes")
    if isinstance(nodes, list) and nodes and isinstance(nodes[0], dict) and "role" in nodes[0]:
        return accessibility(nodes)
    return None


def _list(value: list[Any]) -> Iterator[Item]:
    for number, one in enumerate(value):
        if isinstance(one, str):
            yield (value, number)
        elif isinstance(one, list):
            for cell in range(len(one)):
                yield from ((one, cell), END, BEGIN)
        elif isinstance(one, dict):
            yield from ((one, key) for key in TEXT_KEYS if isinstance(one.get(key), str))
        yield LINE


def dom(root: dict[str, Any]) -> Iterator[Item]:
    """The text nodes and field values of a DOM tree in their order."""
    todo: list[dict[str, Any] | str] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            yield node
        elif node.get("nodeType") == TEXT_NODE:
            yield (node, "nodeValue")
        else:
            name = str(node.get("nodeName", "")).lower()
            if name in OPAQUE:
                continue
            begin, end = (BEGIN, END) if name in INLINE else ("\t" if name in ("td", "th") else LINE, LINE)
            yield begin
            if name == "input":
                yield from _field(node.get("attributes"))
            todo.append(end)
            todo += reversed(list(_below(node)))


def nodes_of(root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A DOM tree's nodes."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += _below(node)


def _below(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("shadowRoots", "children", "pseudoElements"):
        yield from (one for one in node.get(key) or () if isinstance(one, dict))
    for key in ("contentDocument", "templateContent"):
        if isinstance(node.get(key), dict):
            yield node[key]


def _field(flat: Any) -> Iterator[Item]:
    if not isinstance(flat, list):
        return
    of = {name: number + 1 for number, name in enumerate(flat) if number % 2 == 0}
    kind = flat[of["type"]] if "type" in of else "text"
    if "value" in of and kind not in SILENT_INPUTS:
        yield from (LINE, (flat, of["value"]), LINE)


def snapshot(value: dict[str, Any]) -> Iterator[Item]:
    """The text nodes and field values of a DOMSnapshot in their order."""
    strings = value["strings"]
    for document in value["documents"]:
        nodes = document["nodes"]
        typed = nodes.get("inputValue") or {}
        inputs = dict(zip(typed.get("index") or (), typed.get("value") or (), strict=False))
        names = [strings[one].lower() if one >= 0 else "" for one in nodes.get("nodeName") or ()]
        open_: list[int] = []
        for number, parent in enumerate(nodes.get("parentIndex") or ()):
            while open_ and open_[-1] != parent:
                yield END if names[open_.pop()] in INLINE else LINE
            if nodes["nodeType"][number] == TEXT_NODE:
                if not open_ or names[open_[-1]] not in OPAQUE:
                    yield (strings, nodes["nodeValue"][number])
                continue
            open_.append(number)
            yield BEGIN if names[number] in INLINE else LINE
            if number in inputs:
                yield from (LINE, (strings, inputs[number]), LINE)
        yield LINE


def accessibility(nodes: list[dict[str, Any]]) -> Iterator[Item]:
    """The static texts of an accessibility tree in their order."""
    known = {node.get("nodeId"): node for node in nodes}
    seen: set[Any] = set()
    todo: list[Any] = [key for key, node in reversed(known.items()) if node.get("parentId") not in known]
    while todo:
        key = todo.pop()
        if key in (BEGIN, END):
            yield key
            continue
        node = known.get(key)
        if node is None or key in seen:
            continue
        seen.add(key)
        name, role = node.get("name"), node.get("role")
        if isinstance(name, dict) and isinstance(role, dict) and role.get("value") == "StaticText":
            yield (name, "value")
            continue
        yield BEGIN
        todo.append(END)
        todo += reversed(node.get("childIds") or [])
