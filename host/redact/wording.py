"""From words at their places to texts as people read them, with their labels; and from what is found back to places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from host.core.pii.labels import promised, ruled_out
from host.core.redaction import Found, Text
from host.redact.lines import Line

COLUMN_GAP: Final = 2.2  # times a capital's height: wider gaps part two texts
WIDE_SPACE: Final = 1.6  # times a capital's height
ROW_GAP: Final = 6.0  # … and up to this they are also tried as one: digits in groups
ROW_CHARS: Final = 32  # … when both are short
LABEL_REACH: Final = 30.0  # how far right of its label a value may stand
MOST_ROWS: Final = 200
TIGHT: Final = 1.9  # capitals from line to line: such lines are one paragraph, or one cell of a table
LINE_GAP: Final = 1.6  # times a line's height: lines farther apart are two paragraphs
SECTION_GAP: Final = 1.3  # times the distance of a text below: what stands so far below another begins something new
ABOVE_REACH: Final = 4.0  # … and how far below its column's head or the row before, in heights of a line
MOST_LINES: Final = 6
BOTH_CHARS: Final = 160  # short blocks are tried as lines and as one text
HINT_CHARS: Final = 80
EDGE: Final = 1.0  # capitals
SLACK_CHARS: Final = 1.5  # OCR gives places of words, not of letters
LOOKS_LIKE_DIGITS: Final = str.maketrans("OoQlI|SBZ", "000111582")


class Placed(NamedTuple):
    """A word and where it begins and ends in its line, in pixels of the region along the line."""

    text: str
    start: float
    end: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Written:
    """A line with its words; without words it is a place that nobody may read: it parts what stands beside it."""

    line: Line
    words: tuple[Placed, ...]


class Spot(NamedTuple):
    """A stretch of a line, in pixels of the region along it."""

    line: Line
    start: float
    end: float


@dataclass(slots=True)
class _Segment:
    """Words of one line that stand close together, and the box around them."""

    line: Line
    words: tuple[Placed, ...]
    left: float
    top: float
    right: float
    bottom: float
    text: str = ""
    row_left: _Segment | None = None
    above: _Segment | None = None
    has_right: bool = False

    @property
    def labels(self) -> bool:
        """Whether it can be the label of what stands beside or below it."""
        words = self.text.split()
        short = 0 < len(words) <= 5 and len(self.text) <= 40
        return short and sum(map(str.isdigit, self.text)) <= 1 and "@" not in self.text

    @property
    def names(self) -> bool:
        """Whether it is made of the words of labels."""
        return self.labels and bool(_promised(self.text) or ruled_out(self.text))


@dataclass(slots=True)
class Draft:
    """One text to look through, and the word and letter behind each of its characters."""

    text: Text
    owners: list[tuple[_Segment, int, int] | None]


def drafts_of(written: Sequence[Written], otherwise: Sequence[Written] = ()) -> list[Draft]:
    """The texts of a region: what stands together, each with its label; neighbouring lines also as one.

    `otherwise` are other readings of some of the lines: they are looked through as well, each by itself.
    """
    segments = [segment for one in written for segment in _segments(one)]
    _neighbours(segments)
    drafts = []
    for one in otherwise:
        for segment in _segments(one):
            draft = _joined([segment], "", "")
            drafts += [draft, *_variants(draft)]
    for segment in segments:
        if segment.text:
            hint = _hint(segment)
            draft = _joined([segment], "", hint)
            drafts += [draft, *_variants(draft)]
    for row in _rows(segments):
        drafts.append(_joined(row, "  ", _hint(row[0])))
    for block in _blocks(segments):
        hint = _hint(block[0])
        short = sum(len(segment.text) for segment in block) <= BOTH_CHARS
        if short or not _wrapped(block):
            drafts.append(_joined(block, "\n", hint))
        if short or _wrapped(block):
            drafts.append(_joined(block, " ", hint))
    return drafts


def spots_of(draft: Draft, found: Found) -> list[Spot]:
    """Where a private detail stands: one stretch for each line that it is in."""
    spots: list[Spot] = []
    reach: dict[int, tuple[_Segment, dict[int, tuple[int, int]]]] = {}
    for owner in draft.owners[max(0, found.start) : max(0, found.end)]:
        if owner is not None:
            segment, word, letter = owner
            words = reach.setdefault(id(segment), (segment, {}))[1]
            first, last = words.get(word, (letter, letter))
            words[word] = (min(first, letter), max(last, letter))
    for segment, words in reach.values():
        stretches = [_stretch(segment, word, first, last) for word, (first, last) in words.items()]
        spots.append(Spot(segment.line, min(one[0] for one in stretches), max(one[1] for one in stretches)))
    return spots


def _stretch(segment: _Segment, index: int, first: int, last: int) -> tuple[float, float]:
    """Where the letters `first` to `last` of a word are.

    Where they reach the first or the last word of the segment, also what the OCR's box may have cut off there.
    """
    word, line = segment.words[index], segment.line
    letter = (word.end - word.start) / max(1, len(word.text))
    edge = EDGE * line.glyph
    start, end = word.start, word.end
    if first > 0:
        start = max(start, word.start + (first - SLACK_CHARS) * letter)
    elif index == 0:
        start = min(start, max(start - edge, 0.0))
    if last < len(word.text) - 1:
        end = min(end, word.start + (last + 1 + SLACK_CHARS) * letter)
    elif index == len(segment.words) - 1:
        end = max(end, min(end + edge, line.length))
    return start, end


def _segments(one: Written) -> Iterator[_Segment]:
    if not one.words:
        yield _segment(one.line, (Placed("", 0, one.line.length, 0),))
        return
    words = sorted(one.words, key=lambda word: word.start)
    start = 0
    for index in range(1, len(words) + 1):
        if index == len(words) or words[index].start - words[index - 1].end > COLUMN_GAP * one.line.glyph:
            yield _segment(one.line, tuple(words[start:index]))
            start = index


def _segment(line: Line, words: tuple[Placed, ...]) -> _Segment:
    corners = [line.point(along, across) for along in (words[0].start, words[-1].end) for across in (0, line.height)]
    xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
    text = "".join(_space(line, words, index) + word.text for index, word in enumerate(words))
    return _Segment(line, words, min(xs), min(ys), max(xs), max(ys), text)


def _space(line: Line, words: Sequence[Placed], index: int) -> str:
    """What stands before a word of a segment: a gap that is wider than a space is two."""
    if index == 0:
        return ""
    return "  " if words[index].start - words[index - 1].end > WIDE_SPACE * line.glyph else " "


def _neighbours(segments: list[_Segment]) -> None:
    """Give each segment the one to its left in its row, and the one above it."""
    ordered = sorted(segments, key=lambda one: one.top)
    for index, one in enumerate(ordered):
        height = one.bottom - one.top
        for other in reversed(ordered[:index]):
            if other.bottom < one.top - ABOVE_REACH * height - 200:
                break
            if (
                one.top - ABOVE_REACH * height <= other.bottom <= one.top + 0.4 * height
                and _over(one, other)
                and _is_nearer(other, one.above)
            ):
                one.above = other
        one.row_left = max(
            (other for other in _near_rows(ordered, index) if _beside(other, one)),
            key=lambda other: other.right,
            default=None,
        )
        if one.row_left is not None:
            one.row_left.has_right = True


def _near_rows(ordered: list[_Segment], index: int) -> Iterator[_Segment]:
    one = ordered[index]
    for other in reversed(ordered[:index]):
        if other.top < one.top - 200:
            break
        yield other
    for other in ordered[index + 1 :]:
        if other.top > one.bottom:
            break
        yield other


def _over(one: _Segment, other: _Segment) -> bool:
    """Whether `other`, which is higher, stands in the same column."""
    return min(one.right, other.right) - max(one.left, other.left) > 0.3 * min(
        one.right - one.left, other.right - other.left
    )


def _is_nearer(other: _Segment, known: _Segment | None) -> bool:
    return known is None or other.bottom > known.bottom


def _beside(other: _Segment, one: _Segment) -> bool:
    """Whether `other` ends left of `one` in the same row."""
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    lower = min(one.bottom - one.top, other.bottom - other.top)
    return (
        other.right <= one.left + 0.3 * lower
        and shared >= 0.5 * lower
        and one.left - other.right <= LABEL_REACH * min(one.line.glyph, other.line.glyph)
    )


def _hint(one: _Segment) -> str:
    """The words that stand for a text: its label to the left, or above it, and its column's head."""
    if one.text.endswith(":") or one.names:
        return ""  # it is a label itself
    hints: list[str] = []
    left, above = one.row_left, one.above
    over = above if above is not None and above.labels and _near(one, above) else None
    if left is not None and left.labels and not (over is not None and over.names and not left.names):
        hints.append(left.text)
        if left.text.endswith(":"):
            return left.text[:HINT_CHARS]
    head = _head(one)
    if head is not None:
        hints.append(head.text)
    elif not hints and over is not None:
        hints.append(over.text)
    return " / ".join(dict.fromkeys(_as_meant(hint) for hint in hints))[:HINT_CHARS]


def _as_meant(label: str) -> str:
    """A label as it reads where it promises something: to an OCR, "rn" is one letter as often as two."""
    if promised(label):
        return label
    others = (f"{label[: at.start()]}rn{label[at.end() :]}" for at in re.finditer("m", label))
    return next((other for other in others if promised(other)), label)


def _promised(label: str) -> tuple[str, ...]:
    return promised(_as_meant(label))


def _near(one: _Segment, above: _Segment) -> bool:
    """Whether two segments, one above the other, belong to one paragraph."""
    return one.top - above.bottom <= LINE_GAP * (one.bottom - one.top)


def _head(one: _Segment) -> _Segment | None:
    """The head of the column of a text that stands in a table: two rows below it, or one where it reads as a head."""
    head, rows = one, 0
    while head.above is not None and rows < MOST_ROWS:
        below, head, rows = head, head.above, rows + 1
        if head.names and _begins(head, below):
            break
    in_row = head.row_left is not None or head.has_right
    return head if (rows >= 2 or (rows == 1 and head.names)) and in_row and head.labels else None


def _begins(head: _Segment, below: _Segment) -> bool:
    """Whether something new begins with a text: what is above it is farther off than what is below it."""
    above = head.above
    return above is None or head.top - above.bottom > SECTION_GAP * max(below.top - head.bottom, 1.0)


def _rows(segments: list[_Segment]) -> Iterator[list[_Segment]]:
    """Segments of one row with gaps between them that a generous writer leaves in one value."""
    following = {id(one.row_left): one for one in segments if one.row_left is not None and one.text}
    for one in segments:
        close = _close_left(one)
        if one.text and not close:
            row = [one]
            while (after := following.get(id(row[-1]))) is not None and _close_left(after) and len(row) < 12:
                row.append(after)
            if len(row) > 1:
                yield row


def _close_left(one: _Segment) -> bool:
    other = one.row_left
    if other is None or not other.text or max(len(one.text), len(other.text)) > ROW_CHARS:
        return False
    before = _head(other)
    head = _head(one) or (one.above if one.above is not None and one.above.labels else None)
    if before is not None and head is not None and head is not before:
        return False  # two columns
    return one.left - other.right <= ROW_GAP * one.line.glyph


def _blocks(segments: list[_Segment]) -> Iterator[list[_Segment]]:
    """Lines below each other that begin at one place, or stand around one middle."""
    below: dict[int, _Segment] = {}
    for one in segments:
        if one.text and _continues(one):
            below.setdefault(id(one.above), one)
    for one in segments:
        if one.text and id(one) in below and not _continues(one):
            block = [one]
            while (after := below.get(id(block[-1]))) is not None:
                block.append(after)
            for start in range(0, len(block) - 1, MOST_LINES - 2):  # windows that overlap by two lines
                yield block[start : start + MOST_LINES]


def _wrapped(block: list[_Segment]) -> bool:
    """Whether lines end where the room ended: then they are one text, and a value may go over two of them."""
    right = max(segment.right for segment in block)
    width = right - min(segment.left for segment in block)
    return all(right - segment.right <= 0.3 * width for segment in block[:-1])


def _continues(one: _Segment) -> bool:
    above = one.above
    if above is None or not above.text or one.text.endswith(":"):
        return False
    tight = min(one.top - above.top, one.bottom - above.bottom) <= TIGHT * one.line.glyph
    label = one.row_left
    if label is not None and label.labels and (label.text.endswith(":") or not tight):
        return False  # it has a label of its own
    glyph = one.line.glyph
    alike = 0.7 <= glyph / max(above.line.glyph, 1.0) <= 1.45
    left = abs(one.left - above.left) <= 1.5 * glyph
    middle = abs(one.left + one.right - above.left - above.right) <= 3.0 * glyph
    return alike and _near(one, above) and (left or middle)


def _joined(segments: Sequence[_Segment], separator: str, hint: str) -> Draft:
    text = ""
    owners: list[tuple[_Segment, int, int] | None] = []
    for number, segment in enumerate(segments):
        if number:
            text += separator
            owners += [None] * len(separator)
        for index, word in enumerate(segment.words):
            space = _space(segment.line, segment.words, index)
            owners += [None] * len(space)
            text += space + word.text
            for letter in range(len(word.text)):
                owners.append((segment, index, letter))
    return Draft(Text(text, hint, "ocr"), owners)


def _variants(draft: Draft) -> Iterator[Draft]:
    """The same words without what an OCR gets wrong: letters for digits, signs for @, spaces in addresses."""
    text = draft.text.text
    mended = re.sub(r"(?<!\S)[\dOoQlI|SBZ.,()+/-]{3,}(?!\S)", _digits, text)
    mended = re.sub(r"(?<=[\w.])[©®](?=\w)", "@", mended)
    if mended != text:
        yield Draft(Text(mended, draft.text.hint, "ocr"), draft.owners)
    if re.search(r"\s@|@\s|\s[._]\w|\w[._]\s\w", mended) and "@" in mended:
        kept = [index for index in range(len(mended)) if not _stray_space(mended, index)]
        yield Draft(
            Text("".join(mended[index] for index in kept), draft.text.hint, "ocr"),
            [draft.owners[index] for index in kept],
        )


def _digits(match: re.Match[str]) -> str:
    """A word of digits, with the letters among them that look like digits as digits."""
    word = match[0]
    digits = sum(map(str.isdigit, word))
    doubtful = sum(letter in "OoQlI|SBZ" for letter in word)
    return word.translate(LOOKS_LIKE_DIGITS) if doubtful and digits >= 2 * doubtful else word


def _stray_space(text: str, index: int) -> bool:
    if text[index] != " ":
        return False
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    return before in "@._" or after in "@._"
