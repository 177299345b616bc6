"""Which texts stand beside, above or below each other so that one is the label of the other; nothing of markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from host.core.page.blocks import Block
from host.core.page.snapshot import Rect, Tree
from host.core.pii.labels import promised, ruled_out

LABEL_CHARS = 48
LABEL_WORDS = 7
LABEL_DIGITS = 2
LABEL_GAP_EM = 2.0
FAR_EM = 24.0  # how far from its column of labels a value stands
LINE_PX = 8.0
LINK_LEVELS = 4
OF_ONE = frozenset(("HANDLE", "PERSON", "USERNAME"))  # almost any word may be one


def is_label(text: str) -> bool:
    """Is it short, and of words? An address, a number or a sentence speaks for nothing."""
    if len(text) > LABEL_CHARS or "@" in text or len(text.split()) > LABEL_WORDS:
        return False
    return any(letter.isalpha() for letter in text) and sum(letter.isdigit() for letter in text) <= LABEL_DIGITS


def speaks_far(text: str) -> bool:
    """May it speak for more than the next text? "Delivery address" may; "Customer" says nothing of a plan."""
    kinds = promised(text)
    return bool(kinds) and not ruled_out(text) and not any(kind.rstrip("?") in OF_ONE for kind in kinds)


def speaks(block: Block) -> bool:
    """Does it promise something private of what it stands beside?"""
    return block.kind != "field" and is_label(block.run.text) and bool(promised(block.run.text))


def reads_as_label(block: Block) -> bool:
    """Is it made of the words of labels, also of those that promise nothing private?"""
    text = block.run.text
    return block.kind != "field" and is_label(text) and bool(promised(text) or ruled_out(text))


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
    above: tuple[dict[int, int], ...] = ({}, {}, {})  # by left edge, middle and right edge
    heads: list[tuple[int, bool]] = []
    for at, block in enumerate(blocks):
        edges = _edges(block)
        over = next((one for one in _over(above, edges) if _is_under(blocks[one], block)), -1)
        head = (-1, False)
        if over >= 0 and tables[over] == tables[at]:
            alike = blocks[over].look == block.look and blocks[over].kind == block.kind
            speaks = not alike or blocks[over].run.text.endswith(":") or _is_plain_head(blocks, over, at)
            head = (over, True) if speaks and not blocks[over].is_label else (heads[over][0], False)
        heads.append(head)
        for known, edge in zip(above, edges, strict=True):
            known[edge] = at
    return heads


def _edges(block: Block) -> tuple[int, int, int]:
    left, _, width, _ = block.bounds
    return (round(left / 4), round((left + width / 2) / 4), round((left + width) / 4))


def _over(above: Sequence[Mapping[int, int]], edges: Sequence[int]) -> Iterator[int]:
    """What was last at each of these edges, of one edge the newest first."""
    for known, edge in zip(above, edges, strict=True):
        yield from sorted((known[near] for near in (edge - 1, edge, edge + 1) if near in known), reverse=True)


def _is_plain_head(blocks: Sequence[Block], head: int, below: int) -> bool:
    """Is it one of several labels in a row, over something that is none, and looks like it all the same?"""
    if not speaks(blocks[head]) or reads_as_label(blocks[below]):
        return False
    row = [at for at in (head - 1, head + 1) if 0 <= at < len(blocks)]
    row = [at for at in row if beside(blocks[at].bounds, blocks[head].bounds)]
    return any(reads_as_label(blocks[at]) for at in row)


def heads_column(blocks: Sequence[Block], head: int) -> bool:
    """Does it stand in a row of heads?"""
    near = [blocks[at] for at in (head - 1, head + 1) if 0 <= at < len(blocks)]
    return any(one.look == blocks[head].look and beside(one.bounds, blocks[head].bounds) for one in near)


def _is_under(upper: Block, lower: Block) -> bool:
    gap = lower.bounds[1] - upper.bounds[1] - upper.bounds[3]
    return -0.5 * lower.line <= gap <= LABEL_GAP_EM * max(lower.line, upper.line)


def is_labelled(blocks: Sequence[Block], at: int) -> bool:
    """Is the text before it its label on the same line? It looks like one, reads so, or the two are alone there."""
    if at == 0 or not beside(blocks[at - 1].bounds, blocks[at].bounds):
        return False
    label, block = blocks[at - 1], blocks[at]
    if label.kind == "field" or not is_label(label.run.text):
        return False
    if looks_like_label(label, block):
        return True
    crowded = at >= 2 and beside(blocks[at - 2].bounds, label.bounds)
    if not (crowded or (at + 1 < len(blocks) and beside(blocks[at + 1].bounds, block.bounds))):
        return not (promised(label.run.text) and promised(block.run.text))  # two heads of columns
    # Labels and values by turns, all alike.
    return speaks(label) and not reads_as_label(block) and not (crowded and reads_as_label(blocks[at - 2]))


def looks_like_label(label: Block, block: Block) -> bool:
    """Does it differ from the text that it stands beside?"""
    return label.run.text.endswith(":") or label.look != block.look


def named_by(tree: Tree, blocks: Sequence[Block], elements: Sequence[int]) -> dict[int, int]:
    """Which texts have their label at a place where the one before them is not: below, behind or in another column.

    `elements` are the innermost ones around the texts.
    """
    found = dict(_later_heads(blocks)) | dict(_left_labels(tree, blocks, elements))
    for at in _alone_together(tree, blocks, elements):
        for label, value in ((at, at + 1), (at + 1, at)):
            if speaks(blocks[label]) and not reads_as_label(blocks[value]) and _is_at(blocks[label], blocks[value]):
                found[value] = label
    return found


def _alone_together(tree: Tree, blocks: Sequence[Block], elements: Sequence[int]) -> Iterator[int]:
    """Texts that have an element for themselves with the one behind them."""
    for at in range(len(blocks) - 1):
        if not (speaks(blocks[at]) or speaks(blocks[at + 1])):
            continue
        around = around_both(tree, elements[at], elements[at + 1])
        if around < 0 or tree.name(around) in ("BODY", "HTML"):
            continue
        others = [one for one in (at - 1, at + 2) if 0 <= one < len(blocks)]
        if not any(around_both(tree, elements[one], around) == around for one in others):
            yield at


def around_both(tree: Tree, one: int, other: int) -> int:
    """The innermost element around two; parents come before what is in them."""
    while one != other and min(one, other) >= 0:
        if one > other:
            one = tree.parents[one]
        else:
            other = tree.parents[other]
    return one if one == other else -1


def _is_at(label: Block, value: Block) -> bool:
    """Does it stand where a label of its value may: before it, above it, or below it and looking like a label?"""
    if beside(label.bounds, value.bounds):
        return label.bounds[0] < value.bounds[0]
    if _is_under(label, value):
        return True
    return label.look != value.look and _is_under(value, label)


def _later_heads(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Texts whose label is right above them and comes later in the document."""
    left: dict[int, list[int]] = {}
    for label, block in enumerate(blocks):
        if speaks(block):
            edge = round(block.bounds[0] / 4)
            for value in (at for near in (edge - 1, edge, edge + 1) for at in left.get(near, ())):
                if _is_under(block, blocks[value]) and not reads_as_label(blocks[value]):
                    yield value, label
        left.setdefault(round(block.bounds[0] / 4), []).append(label)


def _left_labels(tree: Tree, blocks: Sequence[Block], elements: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Texts whose label is on their line and elsewhere in the document: labels in one column, values in another."""
    lines: dict[int, list[int]] = {}
    for at, block in enumerate(blocks):
        lines.setdefault(_line(block), []).append(at)
    for label, block in enumerate(blocks):
        if not speaks(block) or _has_value(blocks, label) or _is_link(tree, elements[label]):
            continue
        near = [at for line in (-1, 0, 1) for at in lines.get(_line(block) + line, ()) if at not in (label, label + 1)]
        right = [at for at in near if _is_right_of(block, blocks[at])]
        value = min(right, key=lambda at: blocks[at].bounds[0], default=-1)
        if value < 0 or reads_as_label(blocks[value]) or _is_link(tree, elements[value]):
            continue
        yield value, label


def _has_value(blocks: Sequence[Block], label: int) -> bool:
    """Does the next text stand at it, as its value does? One that looks the same below it is another label."""
    if label + 1 >= len(blocks):
        return False
    block, following = blocks[label], blocks[label + 1]
    if _is_right_of(block, following):
        return True
    under = _is_under(block, following) and abs(block.bounds[0] - following.bounds[0]) < LINE_PX
    return under and block.look != following.look and not reads_as_label(following)


def _line(block: Block) -> int:
    return round((block.bounds[1] + block.bounds[3] / 2) / LINE_PX)


def _is_right_of(label: Block, value: Block) -> bool:
    gap = value.bounds[0] - label.bounds[0] - label.bounds[2]
    return -2 <= gap <= FAR_EM * label.line and beside(label.bounds, value.bounds)


def _is_link(tree: Tree, node: int) -> bool:
    """Is it a way to somewhere else, as in a menu?"""
    for _ in range(LINK_LEVELS):
        if node < 0:
            return False
        if tree.name(node) in ("A", "BUTTON", "NAV", "SUMMARY") or tree.attributes(node).get("role") in (
            "menuitem",
            "tab",
        ):
            return True
        node = tree.parents[node]
    return False
