"""From words at their places to texts as people read them, with their labels; and from what is found back to places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from host.core.redaction import Found, Text
from host.redact.lines import Line

COLUMN_GAP: Final = 2.2  # times a capital's height: wider gaps part two texts
WIDE_SPACE: Final = 1.1  # times a capital's height
ROW_GAP: Final = 6.0  # … and up to this they are also tried as one: digits in groups
LABEL_REACH: Final = 30.0  # how far right of its label a value may stand
LINE_GAP: Final = 1.6  # times a line's height: lines farther apart are two paragraphs
MOST_LINES: Final = 6
HINT_CHARS: Final = 80
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

    @property
    def labels(self) -> bool:
        """Whether it can be the label of what stands beside or below it."""
        words = self.text.split()
        return 0 < len(words) <= 5 and len(self.text) <= 40 and sum(map(str.isdigit, self.text)) <= 1


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
        drafts.append(_joined(block, "\n", _hint(block[0])))
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
        stretches = [_stretch(segment.words[word], first, last) for word, (first, last) in words.items()]
        spots.append(Spot(segment.line, min(one[0] for one in stretches), max(one[1] for one in stretches)))
    return spots


def _stretch(word: Placed, first: int, last: int) -> tuple[float, float]:
    letter = (word.end - word.start) / max(1, len(word.text))
    start, end = word.start, word.end
    if first > 0:
        start = max(start, word.start + (first - SLACK_CHARS) * letter)
    if last < len(word.text) - 1:
        end = min(end, word.start + (last + 1 + SLACK_CHARS) * letter)
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
            if other.bottom < one.top - 3.0 * height and one.above is not None:
                break
            if other.bottom < one.top - 60 * height:
                break
            if other.bottom <= one.top + 0.4 * height and _over(one, other) and _is_nearer(other, one.above):
                one.above = other
        one.row_left = max(
            (other for other in _near_rows(ordered, index) if _beside(other, one)),
            key=lambda other: other.right,
            default=None,
        )


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
        and one.left - other.right <= LABEL_REACH * one.line.glyph
    )


def _hint(one: _Segment) -> str:
    """The words that stand for a text: its label to the left, or above it, and its column's head."""
    if one.text.endswith(":"):
        return ""  # it is a label itself
    hints: list[str] = []
    if one.row_left is not None and one.row_left.labels:
        hints.append(one.row_left.text)
        if one.row_left.text.endswith(":"):
            return one.row_left.text[:HINT_CHARS]
    above = one.above
    close = above is not None and one.top - above.bottom <= LINE_GAP * (one.bottom - one.top)
    if not hints and above is not None and close and above.labels:
        hints.append(above.text)
    head, rows = above, 0
    while head is not None and head.above is not None and rows < 200:
        head, rows = head.above, rows + 1
    if head is not None and head is not above and head.labels and head.row_left is not None:
        hints.append(head.text)
    return " / ".join(dict.fromkeys(hints))[:HINT_CHARS]


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
    return other is not None and bool(other.text) and one.left - other.right <= ROW_GAP * one.line.glyph


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


def _continues(one: _Segment) -> bool:
    above = one.above
    if above is None or not above.text or one.text.endswith(":"):
        return False
    if one.row_left is not None and one.row_left.labels:
        return False  # it has a label of its own
    glyph = one.line.glyph
    alike = 0.7 <= glyph / max(above.line.glyph, 1.0) <= 1.45
    near = one.top - above.bottom <= LINE_GAP * (one.bottom - one.top)
    left = abs(one.left - above.left) <= 1.5 * glyph
    middle = abs(one.left + one.right - above.left - above.right) <= 3.0 * glyph
    return alike and near and (left or middle)


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
