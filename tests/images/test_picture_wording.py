"""From words at places to texts: what stands together, what is whose label, and where the letters of a find are."""

from __future__ import annotations

import pytest

from host.core.redaction import Found
from host.redact.lines import Line
from host.redact.wording import Draft, Placed, Written, drafts_of, spots_of

LETTER, HIGH = 8.0, 10.0


def line(x: float, y: float, text: str, high: float = HIGH) -> Written:
    """A line at a place; each letter is 8 pixels wide, a space as well."""
    words, at = [], 0.0
    for part in text.split(" "):
        if part:
            words.append(Placed(part, at, at + LETTER * len(part), 0.9))
        at += LETTER * (len(part) + 1)
    length = at - LETTER
    return Written(Line(x, y, 1.0, 0.0, length, high, high, 1.0, 0.2, len(text)), tuple(words))


def bar(x: float, y: float, width: float) -> Written:
    return Written(Line(x, y, 1.0, 0.0, width, HIGH, HIGH, 1.0, 0.0, 0), ())


def texts(*lines: Written) -> list[tuple[str, str]]:
    return [(draft.text.text, draft.text.hint) for draft in drafts_of(lines)]


def hint_of(text: str, *lines: Written) -> str:
    (hint,) = {hint for found, hint in texts(*lines) if found == text}
    return hint


HINTS = (  # lines, the text, its hint
    pytest.param([line(0, 0, "Name:"), line(90, 0, "Oakes")], "Oakes", "Name:", id="label-to-the-left"),
    pytest.param([line(0, 0, "Name"), line(90, 0, "Oakes")], "Oakes", "Name", id="label-without-a-colon"),
    pytest.param([line(0, 0, "Name"), line(0, 14, "Oakes")], "Oakes", "Name", id="label-above"),
    pytest.param([line(0, 0, "Name"), line(600, 0, "Oakes")], "Oakes", "", id="too-far-to-the-right"),
    pytest.param([line(0, 0, "Name"), line(0, 90, "Oakes")], "Oakes", "", id="too-far-below"),
    pytest.param([line(0, 0, "Name"), line(300, 14, "Oakes")], "Oakes", "", id="in-another-column"),
    pytest.param([line(0, 0, "Name:"), line(0, 14, "Mail:")], "Mail:", "", id="a-label-has-no-label"),
    pytest.param([line(0, 0, "call 4711 0815 now"), line(0, 14, "Oakes")], "Oakes", "", id="digits-are-no-label"),
    pytest.param([line(0, 0, "w@x.test"), line(90, 0, "Oakes")], "Oakes", "", id="an-address-is-no-label"),
    pytest.param([bar(0, 0, 60), line(0, 14, "Oakes")], "Oakes", "", id="a-bar-is-no-label"),
    pytest.param(
        [line(0, 0, "Name:"), bar(90, 0, 60), line(170, 0, "Oakes")], "Oakes", "", id="a-bar-stands-in-between"
    ),
    pytest.param(
        [line(0, 0, "No"), line(120, 0, "Holder")]
        + [one for row in range(1, 4) for one in (line(0, 24 * row, f"{row}11"), line(120, 24 * row, f"Oakes{row}"))],
        "Oakes3",
        "Holder",
        id="the-head-of-its-column",
    ),
    pytest.param(
        [line(0, 0, "Surname"), line(120, 0, "Born"), line(0, 30, "Oakes"), line(120, 30, "Ash")],
        "Ash",
        "Oakes / Born",
        id="the-first-row-of-a-table",
    ),
    pytest.param(
        [line(0, 0, "Kept"), line(120, 0, "Seen"), line(0, 30, "Oakes"), line(120, 30, "Ash")],
        "Ash",
        "Oakes",
        id="no-head-if-it-does-not-read-so",
    ),
    pytest.param([line(0, 0, "Surname"), line(120, 0, "Born")], "Born", "", id="heads-are-not-each-others"),
    pytest.param(
        [
            line(0, 0, "Ship to"),
            line(300, 0, "Due"),
            line(0, 14, "Oakes"),
            line(0, 28, "Ash"),
            line(0, 66, "Invoice"),
            line(0, 80, "A7"),
        ],
        "A7",
        "Invoice",
        id="a-new-section-of-a-column",
    ),
    pytest.param(
        [line(0, 0, "elm"), line(150, 0, "Username"), line(0, 14, "oak"), line(150, 14, "ash")],
        "ash",
        "Username",
        id="a-label-above-goes-before-a-text-beside",
    ),
    pytest.param([line(0, 0, "Sumame"), line(90, 0, "Oakes")], "Oakes", "Surname", id="two-letters-read-as-one"),
    pytest.param([line(0, 0, "Summer"), line(90, 0, "Oakes")], "Oakes", "Summer", id="and-where-they-are-not"),
)


@pytest.mark.parametrize(("lines", "text", "hint"), HINTS)
def test_a_text_gets_the_words_that_stand_for_it(lines: list[Written], text: str, hint: str) -> None:
    assert hint_of(text, *lines) == hint


TOGETHER = (  # lines, texts that must be among those that are looked through, texts that must not
    pytest.param([line(0, 0, "4012     8888")], ["4012", "8888", "4012  8888"], [], id="columns-that-are-near"),
    pytest.param([line(0, 0, "a" + " " * 20 + "b")], ["a", "b"], ["a  b"], id="columns-that-are-not"),
    pytest.param(
        [line(0, 0, "Phone"), line(80, 0, "State"), line(0, 24, "4711"), line(80, 24, "Open")],
        ["4711", "Open"],
        ["4711  Open"],
        id="columns-with-heads",
    ),
    pytest.param(
        [line(0, 0, "17 Larkspur"), line(0, 14, "Leeds LS2")],
        ["17 Larkspur\nLeeds LS2", "17 Larkspur Leeds LS2"],
        [],
        id="lines-of-an-address",
    ),
    pytest.param(
        [line(0, 0, "Ship to:"), line(90, 0, "17 Larkspur"), line(90, 14, "Leeds LS2")],
        ["17 Larkspur\nLeeds LS2"],
        [],
        id="lines-behind-a-label",
    ),
    pytest.param(
        [line(0, 0, "Name:"), line(90, 0, "Oakes"), line(0, 14, "Order:"), line(90, 14, "8810")],
        ["Oakes", "8810"],
        ["Oakes\n8810", "Oakes 8810"],
        id="each-with-its-label",
    ),
    pytest.param([line(0, 0, "one"), line(0, 60, "two")], ["one", "two"], ["one\ntwo"], id="paragraphs"),
    pytest.param(
        [line(0, 0, "one"), bar(0, 14, 60), line(0, 28, "two")], ["one", "two"], ["one\ntwo"], id="a-bar-parts-them"
    ),
    pytest.param(
        [line(0, 0, "Oakes", 30.0), line(0, 36, "of Leeds")], ["Oakes"], ["Oakes\nof Leeds"], id="headline-and-text"
    ),
    pytest.param([line(0, 0, "4O12 88B8")], ["4O12 88B8", "4012 8888"], [], id="letters-that-look-like-digits"),
    pytest.param([line(0, 0, "INV-2O26")], ["INV-2O26"], ["1NV-2026", "INV-2026"], id="not-in-words"),
    pytest.param([line(0, 0, "w.oakes©x.test")], ["w.oakes@x.test"], [], id="a-sign-for-an-at"),
    pytest.param([line(0, 0, "w.oakes @ x. test")], ["w.oakes@x.test"], [], id="spaces-in-an-address"),
)


@pytest.mark.parametrize(("lines", "among", "never"), TOGETHER)
def test_what_stands_together_is_looked_through_together(
    lines: list[Written], among: list[str], never: list[str]
) -> None:
    found = [text for text, _ in texts(*lines)]
    assert [text for text in among if text not in found] == []
    assert [text for text in never if text in found] == []


def draft(text: str, *lines: Written) -> Draft:
    (found,) = [one for one in drafts_of(lines) if one.text.text == text]
    return found


def reach(found: Draft, part: str) -> list[tuple[float, float, float]]:
    start = found.text.text.index(part)
    spots = spots_of(found, Found(start, start + len(part), "EMAIL", 1.0, "x"))
    return [(spot.line.y, spot.start, spot.end) for spot in spots]


REACHES = (  # text, the part that is found, from and to in pixels along the line
    pytest.param("mail to oakes now", "oakes", 64, 104, id="a-word-and-no-more"),
    pytest.param("mail to oakes now", "to oakes", 40, 104, id="two-words-and-the-space"),
    pytest.param("mail=oakes@x.test;", "oakes@x.test", 28, 144, id="a-part-with-slack"),
    pytest.param("oakes@x.test", "oakes@x.test", 0, 96, id="a-whole-line"),
)


@pytest.mark.parametrize(("text", "part", "start", "end"), REACHES)
def test_a_find_is_where_its_letters_are(text: str, part: str, start: float, end: float) -> None:
    assert reach(draft(text, line(0, 0, text)), part) == [(0, start, end)]


def test_a_find_over_two_lines_has_a_place_in_each() -> None:
    lines = (line(0, 0, "17 Larkspur"), line(0, 14, "Leeds LS2 ok"))
    assert reach(draft("17 Larkspur\nLeeds LS2 ok", *lines), "Larkspur\nLeeds LS2") == [(0, 24, 88), (14, 0, 72)]


def test_what_the_box_of_the_last_word_cut_off_is_covered_as_well() -> None:
    short = line(0, 0, "to oakes")
    wider = Written(Line(0, 0, 1.0, 0.0, 70, HIGH, HIGH, 1.0, 0.2, 8), short.words)
    assert reach(draft("to oakes", wider), "oakes") == [(0, 24, 70)]


def test_a_find_in_a_mended_text_is_at_the_letters_that_were_read() -> None:
    assert reach(draft("w.oakes@x.test", line(0, 0, "w.oakes @ x. test")), "w.oakes@x.test") == [(0, 0, 136)]


def test_a_second_reading_of_a_line_is_looked_through_by_itself() -> None:
    first, second = line(0, 0, "0akes"), line(0, 0, "oakes")
    found = drafts_of([first, line(0, 14, "of Leeds")], [second])
    assert [one.text.text for one in found if "oakes" in one.text.text] == ["oakes"]
