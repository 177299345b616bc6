"""The words that stand for a text: its label, its column's head, a field's name; what is above it or beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from host.core.page.blocks import Block
from host.core.page.snapshot import Rect, Tree
from host.core.pii.labels import promised, ruled_out

HINT_CHARS = 60
HINTS_CHARS = 240
LABEL_CHARS = 48
LABEL_WORDS = 7
LABEL_DIGITS = 2
LABEL_GAP_EM = 2.0
LEVELS_UP = 6  # how many elements around a text may speak for it
HEADING_BLOCKS = 12  # how many texts a heading without a section of its own speaks for
HEADINGS = frozenset(("H1", "H2", "H3", "H4", "H5", "H6", "LEGEND", "CAPTION", "SUMMARY"))
NAMING = ("itemprop", "data-label", "data-title", "data-th", "data-field")
FIELD_NAMING = ("autocomplete", "aria-label", "placeholder", "name", "id", "title")
PLAIN_TYPES = frozenset(("", "text", "button", "submit", "reset"))
ROLES = {"cell": "cell", "columnheader": "head", "gridcell": "cell", "row": "row", "rowheader": "head"}
OF_ONE = frozenset(("HANDLE", "PERSON", "USERNAME"))  # almost any word may be one
TAGS = {"TD": "cell", "TH": "head", "TR": "row"}
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_.\[\]:]+")


def give_hints(tree: Tree, blocks: Sequence[Block]) -> None:
    """Put into each block what speaks for it, the nearest first."""
    hinter = _Hinter(tree)
    tables = [hinter.table(block.owner) for block in blocks]
    for at in range(1, len(blocks)):
        if _is_labelled(blocks, at):
            blocks[at].is_named = True
            blocks[at - 1].is_label = blocks[at - 1].is_label or _looks_like_label(blocks[at - 1], blocks[at])
    heads = columns(blocks, tables)
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
        head, near = heads[at]
        if (
            head >= 0
            and is_label(blocks[head].run.text)
            and (near or _heads_column(blocks, head) or speaks_far(blocks[head].run.text))
        ):
            hints.append(blocks[head].run.text)
        if heading >= 0 and since < HEADING_BLOCKS and _same_section(tree, blocks[heading], block):
            hints += [blocks[heading].run.text] if speaks_far(blocks[heading].run.text) else []
        block.hints = _bounded(hints)


def is_label(text: str) -> bool:
    """Is it short, and of words? An address, a number or a sentence speaks for nothing."""
    if len(text) > LABEL_CHARS or "@" in text or len(text.split()) > LABEL_WORDS:
        return False
    return any(letter.isalpha() for letter in text) and sum(letter.isdigit() for letter in text) <= LABEL_DIGITS


def speaks_far(text: str) -> bool:
    """May it speak for more than the next text? "Delivery address" may; "Customer" says nothing of a plan."""
    kinds = promised(text)
    return bool(kinds) and not ruled_out(text) and not any(kind.rstrip("?") in OF_ONE for kind in kinds)


def beside(one: Rect, other: Rect) -> bool:
    """Are two texts on one line, one behind the other?"""
    shared = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    apart = one[0] + one[2] <= other[0] + 2 or other[0] + other[2] <= one[0] + 2
    return apart and shared > 0.5 * min(one[3], other[3])


def columns(blocks: Sequence[Block], tables: Sequence[int]) -> list[tuple[int, bool]]:
    """For each text the nearest above it that looks different: its label, or the head of its column. -1 for none.

    With it comes whether it is right above. `tables` holds the table that each is in: what is above it in another one
    does not speak for it.
    """
    above: dict[int, int] = {}
    heads: list[tuple[int, bool]] = []
    for at, block in enumerate(blocks):
        edge = round(block.bounds[0] / 4)
        over = max((above[near] for near in (edge - 1, edge, edge + 1) if near in above), default=-1)
        head = (-1, False)
        if over >= 0 and tables[over] == tables[at] and _is_under(blocks[over], block):
            alike = blocks[over].look == block.look and blocks[over].kind == block.kind
            speaks = not blocks[over].is_label and (not alike or blocks[over].run.text.endswith(":"))
            head = (over, True) if speaks else (heads[over][0], False)
        heads.append(head)
        above[edge] = at
    return heads


def _heads_column(blocks: Sequence[Block], head: int) -> bool:
    """Does it stand in a row of heads?"""
    near = [blocks[at] for at in (head - 1, head + 1) if 0 <= at < len(blocks)]
    return any(one.look == blocks[head].look and beside(one.bounds, blocks[head].bounds) for one in near)


def _is_under(upper: Block, lower: Block) -> bool:
    gap = lower.bounds[1] - upper.bounds[1] - upper.bounds[3]
    return -0.5 * lower.line <= gap <= LABEL_GAP_EM * max(lower.line, upper.line)


def _is_labelled(blocks: Sequence[Block], at: int) -> bool:
    """Is the text before it its label on the same line? It looks like one, reads so, or the two are alone there."""
    if at == 0 or not beside(blocks[at - 1].bounds, blocks[at].bounds):
        return False
    label, block = blocks[at - 1], blocks[at]
    if label.kind == "field" or not is_label(label.run.text):
        return False
    if _looks_like_label(label, block):
        return True
    crowded = at >= 2 and beside(blocks[at - 2].bounds, label.bounds)
    if not (crowded or (at + 1 < len(blocks) and beside(blocks[at + 1].bounds, block.bounds))):
        return True
    return bool(promised(label.run.text)) and not promised(block.run.text)  # labels and values by turns, all alike


def _looks_like_label(label: Block, block: Block) -> bool:
    return label.run.text.endswith(":") or label.look != block.look


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

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._labels: dict[str, str] | None = None
        self._heads: dict[int, list[tuple[int, int, str]]] = {}

    def explicit(self, block: Block) -> list[str]:
        """Labels, heads of columns and rows, names."""
        tree, found = self.tree, list[str]()
        if block.kind == "field":
            found += self._field(block.owner)
        node, level = block.owner, 0
        while node >= 0 and level < LEVELS_UP:
            name, attributes = tree.name(node), tree.attributes(node)
            if level <= 1 and block.kind != "field":
                found += [attributes[key] for key in ("aria-label",) if key in attributes]
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
        first = next((one for one in range(table + 1, row) if self.part(one) == "row"), row)
        column = 0
        for one in self._children(first) if first < row else ():
            kind = self.part(one)
            if kind:
                width = self._span(one)
                if kind == "head" or self.tree.name(self.tree.parents[first]) == "THEAD":
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
