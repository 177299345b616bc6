"""Trees of elements as Chromium tells them, in one shape: read in their order, and the cells of their tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from host.core.masking.html import INLINE, LABELS, OPAQUE
from host.core.masking.views import HEAD_CHARS

LINE, CELL, BREAK, BEGIN, END = "\n", "|", "/", "(", ")"
Place = tuple[Any, Any]
Item = Place | str
"""A string as `(holder, key)`, or what is between two: a block, a cell, a line break, begin or end of an element."""
TEXT_NODE = 3
SILENT_INPUTS = frozenset(("button", "checkbox", "hidden", "password", "radio", "reset", "submit"))


@dataclass(slots=True, eq=False)
class Node:
    """An element, its name in lower case, or a text or field value at `place`; `inside` are those below it."""

    name: str = ""
    place: Place | None = None
    inside: list[Node] = field(default_factory=list)


def of_dom(root: dict[str, Any]) -> Node:
    """The tree of DOM.getDocument, DOM.describeNode and their events."""
    top = Node()
    todo: list[tuple[dict[str, Any], Node]] = [(root, top)]
    while todo:
        told, above = todo.pop()
        if told.get("nodeType") == TEXT_NODE:
            above.inside.append(Node(place=(told, "nodeValue")))
            continue
        node = Node(str(told.get("nodeName", "")).lower())
        above.inside.append(node)
        if node.name == "input":
            node.inside += _field(told.get("attributes"))
        todo += ((one, node) for one in reversed(list(below(told))))
    return top


def below(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What hangs below a node of the DOM domain."""
    for key in ("shadowRoots", "children", "pseudoElements"):
        yield from (one for one in told.get(key) or () if isinstance(one, dict))
    for key in ("contentDocument", "templateContent"):
        if isinstance(told.get(key), dict):
            yield told[key]


def _field(flat: Any) -> list[Node]:
    if not isinstance(flat, list):
        return []
    of = {name: number + 1 for number, name in enumerate(flat) if number % 2 == 0}
    kind = flat[of["type"]] if "type" in of else "text"
    return [Node(place=(flat, of["value"]))] if "value" in of and kind not in SILENT_INPUTS else []


def of_snapshot(value: dict[str, Any]) -> Iterator[Node]:
    """The trees of DOMSnapshot.captureSnapshot."""
    strings = value["strings"]
    for document in value["documents"]:
        nodes = document["nodes"]
        typed = nodes.get("inputValue") or {}
        inputs = dict(zip(typed.get("index") or (), typed.get("value") or (), strict=False))
        top, made = Node(), list[Node]()
        for number, parent in enumerate(nodes.get("parentIndex") or ()):
            if nodes["nodeType"][number] == TEXT_NODE:
                node = Node(place=(strings, nodes["nodeValue"][number]))
            else:
                name = nodes["nodeName"][number]
                node = Node(strings[name].lower() if name >= 0 else "")
                if number in inputs:
                    node.inside.append(Node(place=(strings, inputs[number])))
            made.append(node)
            (made[parent] if 0 <= parent < number else top).inside.append(node)
        yield top


ROLES = {  # of an accessibility tree, as what element they are read; any other is a block
    "LineBreak": "br",
    "cell": "td",
    "code": "code",
    "columnheader": "th",
    "definition": "dd",
    "emphasis": "em",
    "grid": "table",
    "gridcell": "td",
    "link": "a",
    "mark": "mark",
    "row": "tr",
    "rowheader": "th",
    "strong": "strong",
    "table": "table",
    "term": "dt",
}


def of_accessibility(nodes: list[dict[str, Any]]) -> Node:
    """The tree of Accessibility.getFullAXTree, as far as it is text."""
    known = {node.get("nodeId"): node for node in nodes}
    top, seen = Node(), set[Any]()
    todo = [(key, top) for key, node in reversed(known.items()) if node.get("parentId") not in known]
    while todo:
        key, above = todo.pop()
        told = known.get(key)
        if told is None or key in seen:
            continue
        seen.add(key)
        role = (told.get("role") or {}).get("value")
        name = told.get("name")
        if role == "StaticText" and isinstance(name, dict):
            above.inside.append(Node(place=(name, "value")))
            continue
        inline = told.get("ignored") is True  # a span; what is a block is not
        node = Node(ROLES.get(str(role), "span" if inline else "div"))
        above.inside.append(node)
        todo += ((one, node) for one in reversed(told.get("childIds") or []))
    return top


def read(root: Node) -> Iterator[Item]:
    """The texts and field values of a tree in their order, and what is between them."""
    todo: list[Node | str] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            yield node
        elif node.place is not None:
            yield node.place
        elif node.name == "br":
            yield BREAK
        elif node.name not in OPAQUE:
            if node.name in INLINE:
                begin, end = BEGIN, END
            elif node.name in ("td", "th"):
                begin, end = CELL, CELL
            else:
                begin, end = LINE, LINE
            yield begin
            todo.append(end)
            todo += reversed(node.inside)


def labelled(root: Node, text_of: dict[tuple[int, Any], str]) -> Iterator[tuple[Place, str]]:
    """Texts of cells and definitions with what stands for them: the head of the column or row, the term, the label."""
    todo, label = [root], ""
    while todo:
        node = todo.pop()
        if node.name == "table":
            yield from _cells(node, text_of)
        elif node.name in LABELS and node.name != "th":
            label = _words(node, text_of)
        elif node.name in ("dd", "output") and label:
            yield from ((place, label) for place in _places(node))
        todo += reversed(node.inside)


def _cells(table: Node, text_of: dict[tuple[int, Any], str]) -> Iterator[tuple[Place, str]]:
    heads: list[str] = []
    for row in _rows(table):
        cells = [one for one in row.inside if one.name in ("td", "th")]
        if len(cells) > 1 and all(cell.name == "th" for cell in cells):
            heads = [_words(cell, text_of) for cell in cells]
            continue
        own = [_words(cell, text_of) for cell in cells if cell.name == "th"]
        for number, cell in enumerate(cells):
            head = heads[number] if number < len(heads) else own[0] if len(own) == 1 else ""
            if head and cell.name == "td":
                yield from ((place, head) for place in _places(cell))


def _rows(table: Node) -> Iterator[Node]:
    todo = list(reversed(table.inside))
    while todo:
        node = todo.pop()
        if node.name == "tr":
            yield node
        elif node.name != "table":
            todo += reversed(node.inside)


def _places(node: Node) -> Iterator[Place]:
    todo = [node]
    while todo:
        one = todo.pop()
        if one.place is not None:
            yield one.place
        todo += reversed(one.inside)


def _words(node: Node, text_of: dict[tuple[int, Any], str]) -> str:
    said = " ".join(text_of.get((id(holder), key), "") for holder, key in _places(node))
    said = " ".join(said.split())
    return said if len(said) <= HEAD_CHARS else ""
