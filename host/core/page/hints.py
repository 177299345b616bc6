"""The words that stand for a text: its label, its column's head, a field's name; what is above it or beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial, reduce

from host.core.page.blocks import Block
from host.core.page.join import Joined
from host.core.page.nearby import (
    around_both,
    columns,
    heads_column,
    is_label,
    is_labelled,
    looks_like_label,
    named_by,
    speaks_far,
)
from host.core.page.run import Place
from host.core.page.snapshot import Tree
from host.core.pii.labels import promised

HINT_CHARS = 60
HINTS_CHARS = 240
LEVELS_UP = 6  # how many elements around a text may speak for it
HEADING_BLOCKS = 12  # how many texts a heading without a section of its own speaks for
HEADINGS = frozenset(("H1", "H2", "H3", "H4", "H5", "H6", "LEGEND", "CAPTION", "SUMMARY"))
NAMING = (
    "itemprop", "data-label", "data-title", "data-th", "data-field", "data-column", "data-col", "data-header",
    "data-heading", "data-testid", "data-test", "data-qa", "data-cy",
)  # fmt: skip
CALLED = ("id", "class")
COMMON_CALLS = frozenset(("account", "alias", "id", "key", "login", "operator", "pin", "plate", "profile", "user"))
TELLING = frozenset(
    (
        "BANK_ACCOUNT", "DATE_OF_BIRTH", "DRIVER_LICENSE", "MEDICAL_ID", "NATIONAL_ID", "PASSPORT", "PASSWORD",
        "SECRET", "TAX_ID", "USERNAME", "VEHICLE",
    )
)  # fmt: skip
FIELD_NAMING = ("autocomplete", "aria-label", "placeholder", "name", "id", "title")
PLAIN_TYPES = frozenset(("", "text", "button", "submit", "reset"))
ROLES = {"cell": "cell", "columnheader": "head", "gridcell": "cell", "row": "row", "rowheader": "head"}
TAGS = {"TD": "cell", "TH": "head", "TR": "row"}
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_.\[\]:]+")


def give_hints(tree: Tree, blocks: Sequence[Block], places: Sequence[Place]) -> None:
    """Put into each block what speaks for it, the nearest first."""
    hinter = _Hinter(tree, places)
    tables = [hinter.table(block.owner) for block in blocks]
    for at in range(1, len(blocks)):
        if is_labelled(blocks, at):
            blocks[at].is_named = True
            blocks[at - 1].is_label = blocks[at - 1].is_label or looks_like_label(blocks[at - 1], blocks[at])
    heads, named = columns(blocks, tables), named_by(tree, blocks, [hinter.innermost(block) for block in blocks])
    heading, since = -1, 0
    for at, block in enumerate(blocks):
        since += 1
        if tree.name(block.owner) in HEADINGS:
            heading, since, block.is_heading = at, 0, True
            continue
        if hinter.part(block.owner) == "head":
            block.is_label = True
            continue
        if block.hints or (block.kind != "field" and block.run.text.endswith(":")):
            continue  # a label is not its value
        hints = hinter.explicit(block)
        block.is_cell = hinter.in_column(block.owner)
        if block.is_named:
            hints.append(blocks[at - 1].run.text)
        elif at in named and not block.is_cell and not block.is_label:
            hints.append(blocks[named[at]].run.text)
        head, near = heads[at]
        if (
            head >= 0
            and is_label(blocks[head].run.text)
            and (near or heads_column(blocks, head) or speaks_far(blocks[head].run.text))
        ):
            hints.append(blocks[head].run.text)
        if heading >= 0 and since < HEADING_BLOCKS and _same_section(tree, blocks[heading], block):
            hints += [blocks[heading].run.text] if speaks_far(blocks[heading].run.text) else []
        block.hints = _bounded(hints)


def named_parts(tree: Tree, blocks: Sequence[Block], places: Sequence[Place]) -> list[Joined]:
    """The parts of texts that have an element with a telling name for themselves, as texts of their own."""
    hinter = _Hinter(tree, places)
    return [part for block in blocks if block.kind == "text" for part in hinter.parts(block)]


def _same_section(tree: Tree, heading: Block, block: Block) -> bool:
    section = tree.parents[heading.owner] if heading.owner >= 0 else -1
    at = block.owner
    while at > section >= 0:
        at = tree.parents[at]
    return at == section >= 0


def _bounded(hints: Sequence[str]) -> list[str]:
    kept: list[str] = []
    left = HINTS_CHARS
    for hint in dict.fromkeys(" ".join(hint.split())[:HINT_CHARS] for hint in hints):
        if hint and left > 0:
            kept.append(hint)
            left -= len(hint)
    return kept


class _Hinter:
    """What the page says itself of a text, by its elements."""

    def __init__(self, tree: Tree, places: Sequence[Place]) -> None:
        self.tree = tree
        self._places = places
        self._labels: dict[str, str] | None = None
        self._heads: dict[int, list[tuple[int, int, str]]] = {}

    def explicit(self, block: Block) -> list[str]:
        """Labels, heads of columns and rows, names."""
        tree, found = self.tree, list[str]()
        if block.kind == "field":
            found += self._field(block.owner)
        node, level = self.innermost(block), 0
        found += self._called(node)
        while node >= 0 and level < LEVELS_UP:
            name, attributes = tree.name(node), tree.attributes(node)
            if level <= 1 and block.kind != "field":
                found += [attributes[key] for key in ("aria-label",) if key in attributes]
                found += [text for text in (attributes.get("title", ""),) if is_label(text) and promised(text)]
                found += self._named(attributes.get("aria-labelledby", ""))
            found += [attributes[key] for key in NAMING if key in attributes]
            if name == "LABEL":
                found.append(tree.text(node, HINT_CHARS) if block.kind == "field" else "")
            elif name == "DD":
                found.append(self._term(node))
            elif name == "ADDRESS":
                found.append("address")
            elif name == "A" and attributes.get("href", "").startswith("tel:"):
                found.append("phone")
            if self.part(node) == "cell":
                found += self._cell(node)
                break
            node, level = tree.parents[node], level + 1
        return found

    def innermost(self, block: Block) -> int:
        """The innermost element that holds all of a text: its owner, or one within a line of that."""
        nodes = {self._places[piece.place].node for piece in block.run.pieces}
        if block.kind == "field" or not nodes:
            return block.owner
        node = reduce(partial(around_both, self.tree), nodes)
        return self.tree.parents[node] if self.tree.name(node) == "#text" else node

    def parts(self, block: Block) -> Iterator[Joined]:
        """The parts of a text whose own elements say what they are."""
        around = self.innermost(block)
        ends: dict[int, tuple[int, int]] = {}
        for piece in block.run.pieces:
            element = self.tree.parents[self._places[piece.place].node]
            if element != around:
                ends[element] = (ends.get(element, (piece.start, 0))[0], piece.end)
        for element, (start, end) in ends.items():
            attributes = self.tree.attributes(element)
            said = [attributes[key] for key in (*NAMING, "aria-label", "title") if key in attributes]
            names = [*(text for text in said if is_label(text) and promised(text)), *self._called(element)]
            if names:
                yield Joined(block.run.part(start, end), _bounded([*names, *block.hints]), "text")

    def _called(self, node: int) -> Iterator[str]:
        """What its makers call an element, where that promises something that no other word of theirs means."""
        attributes = self.tree.attributes(node)
        for key in CALLED:
            for word in attributes.get(key, "").split():
                name = " ".join(_PARTS.sub(" ", word.replace("-", " ")).split())
                if name.lower() not in COMMON_CALLS and TELLING.intersection(promised(name)):
                    yield name

    def in_column(self, node: int) -> bool:
        """Is it in a table whose columns have heads?"""
        row = self._around(node, "row") if self.part(node) != "row" else node
        return row >= 0 and bool(self._column_heads(row))

    def part(self, node: int) -> str:
        """What an element is in a table: cell, head, row or nothing."""
        if node < 0:
            return ""
        name = self.tree.name(node)
        if name in TAGS:
            return TAGS[name]
        return ROLES.get(self.tree.attributes(node).get("role", ""), "")

    def table(self, node: int) -> int:
        """The table that an element is in, its row's parent, -1 for none."""
        row = node if self.part(node) == "row" else self._around(node, "row")
        return self._table_of(row) if row >= 0 else -1

    def _field(self, node: int) -> Iterator[str]:
        attributes = self.tree.attributes(node)
        yield self._label_for(attributes.get("id", ""))
        yield from self._named(attributes.get("aria-labelledby", ""))
        for key in FIELD_NAMING:
            text = attributes.get(key, "")
            yield " ".join(_PARTS.sub(" ", text).split()) if key in ("name", "id") else text
        sort = attributes.get("type", "").lower()
        yield "" if sort in PLAIN_TYPES else sort

    def _label_for(self, name: str) -> str:
        if self._labels is None:
            self._labels = {}
            tree = self.tree
            if "LABEL" in tree.strings:
                label = tree.strings.index("LABEL")
                for node, number in enumerate(tree.document.nodes.nodeName):
                    if number == label and "for" in tree.attributes(node):
                        self._labels.setdefault(tree.attributes(node)["for"], tree.text(node, HINT_CHARS))
        return self._labels.get(name, "") if name else ""

    def _named(self, names: str) -> Iterator[str]:
        for name in names.split():
            node = self.tree.by_id(name)
            if node >= 0:
                yield self.tree.text(node, HINT_CHARS)

    def _term(self, node: int) -> str:
        """The nearest DT before a DD."""
        before = [one for one in self._children(self.tree.parents[node]) if one < node and self.tree.name(one) == "DT"]
        return self.tree.text(before[-1], HINT_CHARS) if before else ""

    def _children(self, node: int) -> Iterator[int]:
        tree = self.tree
        return (one for one in range(node + 1, tree.end(node)) if tree.parents[one] == node)

    # --- tables

    def _cell(self, cell: int) -> Iterator[str]:
        """The heads of a cell's column and row."""
        row = self._around(cell, "row")
        if row < 0:
            return
        column, row_head = 0, ""
        for one in self._children(row):
            if one == cell:
                break
            if self.part(one) == "head":
                row_head = self.tree.text(one, HINT_CHARS)
            column += self._span(one) if self.part(one) else 0
        for start, stop, text in self._column_heads(row):
            if start <= column < stop:
                yield text
        yield row_head

    def _column_heads(self, row: int) -> list[tuple[int, int, str]]:
        """The heads of the table that a row is in: from column, to column, text."""
        table = self._table_of(row)
        known = self._heads.get(table)
        if known is None:
            known = self._heads[table] = list(self._read_heads(table, row))
        return known

    def _table_of(self, row: int) -> int:
        table = self.tree.parents[row]
        while table >= 0 and (
            self.tree.name(table) in ("TBODY", "TFOOT", "THEAD")
            or self.tree.attributes(table).get("role") == "rowgroup"
        ):
            table = self.tree.parents[table]
        return table

    def _read_heads(self, table: int, row: int) -> Iterator[tuple[int, int, str]]:
        """Of the first row; of the second one where that one only says which is which, as letters over a sheet do."""
        rows = [one for one in range(table + 1, row) if self.part(one) == "row"][:2]
        found = [list(self._read_row(one)) for one in rows]
        best = next((heads for heads in found if any(promised(text) for _, _, text in heads)), None)
        yield from best or (found[0] if found else ())

    def _read_row(self, row: int) -> Iterator[tuple[int, int, str]]:
        column = 0
        for one in self._children(row):
            kind = self.part(one)
            if kind:
                width = self._span(one)
                if kind == "head" or self.tree.name(self.tree.parents[row]) == "THEAD":
                    yield (column, column + width, self.tree.text(one, HINT_CHARS))
                column += width

    def _around(self, node: int, part: str) -> int:
        for _ in range(LEVELS_UP):
            node = self.tree.parents[node] if node >= 0 else -1
            if node >= 0 and self.part(node) == part:
                return node
        return -1

    def _span(self, cell: int) -> int:
        text = self.tree.attributes(cell).get("colspan", "1")
        return min(int(text), 100) if text.isascii() and text.isdigit() else 1
