"""Short neighbours as one text: lines of an address that are blocks of their own, numbers in boxes side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from host.core.page.blocks import Block
from host.core.page.nearby import beside, is_label
from host.core.page.run import Look, Place, Run
from host.core.page.shape import joined
from host.core.page.snapshot import Rect
from host.core.pii.labels import promised
from host.core.redaction import TextKind

SHORT_CHARS = 90
FIELD_CHARS = 12
ROW_GAP_EM = 2.0
TIGHT_EM = 0.2
STACK_GAP_EM = 0.9
SPLIT_CHARS = 400
STACK_LINES = 8
STACK_CHARS = 400
LINES_SHARED = 2  # by two parts of a long stack, so that nothing falls between them


_LETTERS = re.compile(r"(?=.*[^\W\d])(?:\S{1,3}\s){7,}\S{1,3}", re.S)  # the widest letters touch
_GROUPS = re.compile(r"(?=(?:\D*\d){8})[A-Z0-9]{2,9}(?:[ \n-][A-Z0-9]{2,9}){1,9}")
_WORD = re.compile(r"\S+")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


@dataclass(slots=True)
class Joined:
    """Several texts as one, `between` what they are joined with where nothing is in the page."""

    run: Run
    hints: list[str]
    kind: TextKind


@dataclass(slots=True)
class _Line:
    blocks: list[Block]
    run: Run
    bounds: Rect
    line: float


def join_neighbours(blocks: Sequence[Block]) -> list[Joined]:
    """The rows of short texts and fields, and the stacks of short lines, each beside the texts they are made of."""
    lines = list(_rows(blocks))
    rows = [
        Joined(line.run, _shared(line.blocks), "field" if line.blocks[0].kind == "field" else "text")
        for line in lines
        if len(line.blocks) > 1
    ]
    stacks = [joined for stack in _stacks(lines) for joined in _parts(stack)]
    cut: list[Block | Joined] = [*blocks, *rows]
    return [*rows, *stacks, *(closed for one in cut for closed in _closed_up(one))]


def _closed_up(one: Block | Joined) -> Iterator[Joined]:
    """A text that boxes or line breaks cut where no word ends: a letter a box, a number a few groups a line."""
    text = one.run.text
    if len(text) > SHORT_CHARS or one.kind == "field":
        return
    if "\n" in text and _GROUPS.fullmatch(text):
        between = " "
    elif _LETTERS.fullmatch(text) and len(text) < 3 * text.count(" "):
        between = ""
    else:
        return
    run = Run()
    for word in _WORD.finditer(text):
        run.add_run(one.run.cut(*word.span()), between)
    yield Joined(run, one.hints, "text")


def split_by_look(blocks: Sequence[Block], places: Sequence[Place]) -> list[Joined]:
    """The values in texts where labels look different, each with its label: "Name" in bold, then who it is."""
    return [joined for block in blocks if block.kind == "text" for joined in _values(block, places)]


def _values(block: Block, places: Sequence[Place]) -> Iterator[Joined]:
    if len(block.run.pieces) < 2 or len(block.run.text) > SPLIT_CHARS:
        return
    parts: list[tuple[int, int, Look | None]] = []
    for piece in block.run.pieces:
        look = places[piece.place].look
        if not block.run.text[piece.start : piece.end].strip():
            continue
        if parts and parts[-1][2] == look:
            parts[-1] = (parts[-1][0], piece.end, look)
        else:
            parts.append((piece.start, piece.end, look))
    for before, value in pairwise(parts):
        label = block.run.text[before[0] : before[1]].strip()
        if is_label(label) and parts[0][2] == before[2]:
            yield Joined(block.run.part(value[0], value[1]), [label, *block.hints], "text")
    if len(parts) == 2 and "\n" in block.run.text:  # a value, and below it in smaller letters what it is
        (start, end, _), label = parts[0], block.run.text[parts[1][0] : parts[1][1]].strip()
        if is_label(label) and promised(label) and not promised(block.run.text[start:end]):
            yield Joined(block.run.part(start, end), [label, *block.hints], "text")


def _shared(blocks: Sequence[Block]) -> list[str]:
    """What speaks for all of them: a hint is taken for that of the whole text."""
    return [hint for hint in blocks[0].hints if all(hint in other.hints for other in blocks[1:])]


def _rows(blocks: Sequence[Block]) -> Iterator[_Line]:
    """Texts that stand close beside each other, in reading order."""
    row: _Line | None = None
    for block in blocks:
        if row is not None and _continues(row.blocks[-1], block) and _goes_on(row.blocks, block):
            gap = _gap(row.blocks[-1].bounds, block.bounds)
            tight = gap < TIGHT_EM * min(row.line, block.line) or "field" in (row.blocks[-1].kind, block.kind)
            row.blocks.append(block)
            row.run.add_run(block.run, "" if tight else " ")
            row.bounds, row.line = joined(row.bounds, block.bounds), max(row.line, block.line)
            continue
        if row is not None:
            yield _as_seen(row)
        run = Run()
        run.add_run(block.run, "")
        row = _Line([block], run, block.bounds, block.line)
    if row is not None:
        yield _as_seen(row)


def _goes_on(blocks: Sequence[Block], block: Block) -> bool:
    """Does a row keep its direction?"""
    if len(blocks) < 2:
        return True
    return (blocks[-2].bounds[0] < blocks[-1].bounds[0]) == (blocks[-1].bounds[0] < block.bounds[0])


def _as_seen(row: _Line) -> _Line:
    """A row that was laid out backwards is read forwards, unless its letters run from right to left."""
    blocks = row.blocks
    backwards = len(blocks) > 1 and blocks[1].bounds[0] < blocks[0].bounds[0]
    if not backwards or RIGHT_TO_LEFT.search(row.run.text):
        return row
    run, before = Run(), None
    for block in reversed(blocks):
        tight = before is None or _gap(before.bounds, block.bounds) < TIGHT_EM * min(before.line, block.line)
        run.add_run(block.run, "" if tight else " ")
        before = block
    return _Line(blocks[::-1], run, row.bounds, row.line)


def _gap(one: Rect, other: Rect) -> float:
    return max(other[0] - one[0] - one[2], one[0] - other[0] - other[2])


def _continues(before: Block, block: Block) -> bool:
    """Are they parts of one text? A label and its value are not, nor are two of which each has a label."""
    if before.is_label or not beside(before.bounds, block.bounds) or "\n" in before.run.text + block.run.text:
        return False
    if _gap(before.bounds, block.bounds) > ROW_GAP_EM * max(before.line, block.line):
        return False
    if before.is_control or block.is_control or "field" in (before.kind, block.kind):
        return all(len(one.run.text) <= FIELD_CHARS and _is_number(one.run.text) for one in (before, block))
    if before.hints and block.hints and before.hints[0] != block.hints[0]:
        return False
    return max(len(before.run.text), len(block.run.text)) <= SHORT_CHARS


def _is_number(text: str) -> bool:
    return len(text) <= 2 or not any(map(str.isalpha, text))


def _stacks(lines: Sequence[_Line]) -> list[list[_Line]]:
    """Lines right below each other that begin, end or are centred at the same place."""
    newest: list[dict[int, int]] = [{}, {}, {}]
    stacks: list[list[_Line]] = []
    stack_of: dict[int, int] = {}
    for at, line in enumerate(lines):
        first = line.blocks[0]
        names_next = len(line.blocks) == 1 and at + 1 < len(lines) and lines[at + 1].blocks[0].is_named
        alone = first.kind == "field" or first.is_label or first.is_heading or first.is_cell or names_next
        if alone or len(line.run.text) > SHORT_CHARS:
            continue
        left, _, width, _ = line.bounds
        edges = [round(left / 4), round((left + width / 2) / 4), round((left + width) / 4)]
        over = next((one for one in _over(newest, edges) if _is_below(lines[one], line)), -1)
        # What has a label of its own begins something new.
        if over >= 0 and stacks[stack_of[over]][-1] is lines[over] and not first.is_named:
            stack_of[at] = stack_of[over]
            stacks[stack_of[at]].append(line)
        else:
            stack_of[at] = len(stacks)
            stacks.append([line])
        for known, edge in zip(newest, edges, strict=True):
            known[edge] = at
    return [stack for stack in stacks if len(stack) > 1]


def _over(newest: Sequence[dict[int, int]], edges: Sequence[int]) -> Iterator[int]:
    for known, edge in zip(newest, edges, strict=True):
        yield from (known[near] for near in (edge, edge - 1, edge + 1) if near in known)


def _is_below(upper: _Line, lower: _Line) -> bool:
    gap = lower.bounds[1] - upper.bounds[1] - upper.bounds[3]
    return -0.3 * lower.line <= gap <= STACK_GAP_EM * max(upper.line, lower.line)


def _parts(stack: Sequence[_Line]) -> Iterator[Joined]:
    """A stack in parts that are not too long."""
    start = 0
    while start < len(stack) - 1 or start == 0:
        part, run = stack[start : start + STACK_LINES], Run()
        used = 0
        for line in part:
            if used > 1 and len(run.text) + len(line.run.text) > STACK_CHARS:
                break
            run.add_run(line.run, "\n")
            used += 1
        blocks = [block for line in part[:used] for block in line.blocks]
        named = set(blocks[0].hints)
        own = blocks[0].is_named and all(not other.hints or named & set(other.hints) for other in blocks[1:])
        yield Joined(run, blocks[0].hints if own else _shared(blocks), "text")
        if start + used >= len(stack):
            return
        start += max(1, used - LINES_SHARED)
