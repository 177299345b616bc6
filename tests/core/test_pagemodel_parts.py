"""The parts that a page's text is put together with: shown characters, maps of frames, neighbours, labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from host.core.page.blocks import Block
from host.core.page.fields import has_picture
from host.core.page.join import join_neighbours
from host.core.page.nearby import columns, is_label, is_labelled, named_by, speaks_far
from host.core.page.run import Look, Run, add_shown, character, offsets, units
from host.core.page.shape import Affine, frame_map, meet, moved, touch
from host.core.page.snapshot import Document, Nodes, Tree
from host.core.redaction import TextKind

OFFSETS = (  # the node's value, what it shows, where each character is
    pytest.param("abc", "abc", [0, 1, 2], id="as-it-is"),
    pytest.param("First", "irst", [1, 2, 3, 4], id="first-letter-apart"),
    pytest.param("abc", "ABC", [0, 1, 2], id="capitals"),
    pytest.param("straße", "STRASSE", [0, 1, 2, 3, 4, 4, 5], id="longer-capitals"),
    pytest.param("ABC", "abc", [0, 1, 2], id="small-letters"),
    pytest.param("first", "IRST", [1, 2, 3, 4], id="first-letter-and-capitals"),
    pytest.param("secret", "••••••", None, id="something-else"),
    pytest.param("x", "\U0001d465", None, id="mathematics"),
)


@pytest.mark.parametrize(("value", "shown", "at"), OFFSETS)
def test_a_shown_character_has_its_place_in_the_node(value: str, shown: str, at: list[int] | None) -> None:
    found = offsets(value, shown)
    assert (None if found is None else list(found)) == at


SHOWN = (  # what is shown, keeping lines, keeping spaces, the text
    pytest.param("a  b\n c", False, False, "a b c", id="collapsed"),
    pytest.param("a  b\n c", True, False, "a b\nc", id="with-lines"),
    pytest.param("a  b\nc", True, True, "a  b\nc", id="as-written"),
    pytest.param(" a ", False, False, "a ", id="at-the-edges"),
    pytest.param("a\u200bb\u00adc\u202ed", False, False, "abcd", id="unseen"),
    pytest.param("a\u200db", False, False, "ab", id="joiner"),
    pytest.param("a\xa0b\u3000c", False, False, "a b\u3000c", id="other-spaces"),
    pytest.param("", False, False, "", id="nothing"),
)


@pytest.mark.parametrize(("shown", "lines", "spaces", "text"), SHOWN)
def test_text_is_read_as_it_is_rendered(shown: str, lines: bool, spaces: bool, text: str) -> None:
    run = Run()
    add_shown(run, shown, 0, range(len(shown)), lines=lines, spaces=spaces)
    assert run.text == text
    for piece in run.pieces:
        read, written = run.text[piece.start : piece.end], shown[piece.first : piece.last]
        assert read.split() == written.replace("\xa0", " ").split()


def test_trimming_a_run_trims_its_pieces() -> None:
    run = Run()
    run.add("ann ", 0, 0, 4)
    run.add(" ", 1, 0, 1)
    run.trim()
    assert (run.text, [tuple(piece) for piece in run.pieces]) == ("ann", [(0, 3, 0, 0, 3)])


def test_a_part_of_a_run_has_its_own_offsets() -> None:
    run = Run()
    run.add("Name", 0, 0, 4)
    run.add(" Ann ", 1, 7, 12)
    part = run.part(4, 9)
    assert (part.text, [tuple(piece) for piece in part.pieces]) == ("Ann", [(0, 3, 1, 8, 11)])


@pytest.mark.parametrize("text", ["ann", "a\U0001f600b", "\U0001f600\U0001f600"])
def test_units_and_characters_are_each_others_way_back(text: str) -> None:
    assert [character(text, units(text, at)) for at in range(len(text) + 1)] == list(range(len(text) + 1))


IN_FRAME = (0.0, 0.0, 100.0, 50.0)
Quad = Sequence[float]


def quad(x: float, y: float, width: float, height: float) -> Quad:
    return (x, y, x + width, y, x + width, y + height, x, y + height)


TURNED = (60, 20, 60, 120, 10, 120, 10, 20)
FRAMES = (  # viewport, content and border of the owner, its bounds, map of the frame around, where the frame is
    pytest.param(
        (100, 50),
        quad(12, 22, 100, 50),
        quad(10, 20, 104, 54),
        (10, 20, 104, 54),
        Affine(),
        (12, 22, 100, 50),
        id="plain",
    ),
    pytest.param(
        (100, 50),
        quad(12, 22, 200, 100),
        quad(10, 20, 204, 104),
        (10, 20, 204, 104),
        Affine(),
        (12, 22, 200, 100),
        id="scaled",
    ),
    pytest.param(
        (150, 90),
        quad(60, 86, 100, 60),
        quad(60, 86, 100, 60),
        (30, 30, 150, 90),
        moved(60, 100),
        (90, 129, 150, 90),
        id="in-a-zoomed-frame",
    ),
    pytest.param((100, 50), TURNED, TURNED, (10, 20, 50, 100), Affine(), (10, 20, 50, 100), id="turned"),
)


@pytest.mark.parametrize(("size", "content", "border", "bounds", "outer", "expected"), FRAMES)
def test_a_frame_is_mapped_by_the_quads_of_its_owner(
    size: tuple[float, float],
    content: Quad,
    border: Quad,
    bounds: tuple[float, float, float, float],
    outer: Affine,
    expected: tuple[float, float, float, float],
) -> None:
    made = frame_map(size, content, border, bounds, outer)
    assert made is not None
    assert made.rect((0.0, 0.0, *size)) == pytest.approx(expected)


NO_MAPS = (
    pytest.param((100, 50), (0, 0, 100, 10, 100, 40, 0, 50), quad(0, 0, 100, 50), Affine(), id="perspective"),
    pytest.param((0, 50), quad(0, 0, 100, 50), quad(0, 0, 100, 50), Affine(), id="no-size"),
    pytest.param((100, 50), quad(0, 0, 0, 0), quad(0, 0, 0, 0), Affine(), id="no-quad"),
    pytest.param((100, 50), quad(0, 0, 100, 50), quad(0, 0, 100, 50), Affine(a=0), id="on-a-line"),
)


@pytest.mark.parametrize(("size", "content", "border", "outer"), NO_MAPS)
def test_a_frame_that_is_not_flat_has_no_map(
    size: tuple[float, float], content: Quad, border: Quad, outer: Affine
) -> None:
    assert frame_map(size, content, border, IN_FRAME, outer) is None
    assert frame_map((100, 50), quad(0, 0, 100, 50), quad(0, 0, 100, 50), IN_FRAME, Affine()) is not None


def test_a_map_and_its_way_back_lead_nowhere() -> None:
    there = Affine(2, 1, -1, 3, 10, 20)
    back = there.inverse()
    assert back is not None
    assert there.then(back) == pytest.approx(Affine())


def test_rectangles_meet_in_what_they_share() -> None:
    assert meet((0, 0, 10, 10), (5, 5, 10, 10)) == (5, 5, 5, 5)
    assert meet((0, 0, 10, 10), (20, 0, 5, 5))[2] == 0
    assert touch((0, 0, 10, 10), (10, 0, 5, 5))
    assert not touch((0, 0, 10, 10), (10.1, 0, 5, 5))


def block(
    text: str,
    x: float,
    y: float,
    *,
    kind: str = "text",
    hints: Sequence[str] = (),
    weight: str = "400",
    is_named: bool = False,
    is_control: bool = False,
    owner: int = 0,
) -> Block:
    run = Run()
    run.add(text, 0, 0, len(text))
    size = (x, y, 10.0 * len(text), 16.0)
    sort: TextKind = "field" if kind == "field" else "text"
    return Block(run, owner, size, 16.0, Look(16, weight), sort, list(hints), is_named=is_named, is_control=is_control)


JOINED = (  # blocks, joined texts with their hints
    pytest.param([block("12", 0, 0), block("34", 20, 0)], [("1234", [])], id="touching"),
    pytest.param([block("12", 0, 0), block("34", 30, 0)], [("12 34", [])], id="beside"),
    pytest.param([block("12", 0, 0), block("34", 90, 0)], [], id="far"),
    pytest.param([block("An", 0, 0, is_control=True), block("Ulm", 20, 0, is_control=True)], [], id="buttons"),
    pytest.param([block("a n n @ ex a m p l e", 0, 0)], [("ann@example", [])], id="a-letter-a-box"),
    pytest.param([block("1 2 3 4 5 6 7 8 9 10", 0, 0)], [], id="a-row-of-page-numbers"),
    pytest.param([block("we do it as it is so do we", 0, 0)], [], id="short-words"),
    pytest.param([block("XY12 3456\n7890 12", 0, 0)], [("XY12 3456 7890 12", [])], id="groups-over-lines"),
    pytest.param([block("12 items\n7890 12", 0, 0)], [], id="words-over-lines"),
    pytest.param([block("34", 20, 0), block("12", 0, 0)], [("1234", [])], id="laid-out-backwards"),
    pytest.param([block("אב", 20, 0), block("גד", 0, 0)], [("אבגד", [])], id="right-to-left"),
    pytest.param([block("Ann", 0, 0), block("Ulm", 0, 18)], [("Ann\nUlm", [])], id="below"),
    pytest.param([block("Ann", 0, 0), block("Ulm", 0, 90)], [], id="far-below"),
    pytest.param([block("Ann", 0, 0), block("Ulm", 50, 18)], [], id="not-in-line"),
    pytest.param(
        [block("Ann", 0, 0, hints=["to", "a"]), block("Ulm", 0, 18, hints=["to"])], [("Ann\nUlm", ["to"])], id="hints"
    ),
    pytest.param([block("Ann", 0, 0, hints=["Name"]), block("Ulm", 40, 0, hints=["City"])], [], id="two-columns"),
    pytest.param([block("A\nB", 0, 0), block("C", 40, 0)], [], id="lines-beside-a-text"),
    pytest.param([block("42", 0, 0, kind="field"), block("42", 30, 0, kind="field")], [("4242", [])], id="fields"),
    pytest.param([block("Name", 0, 0), block("Ann", 50, 0, kind="field")], [], id="a-label-and-a-field"),
    pytest.param(
        [block("12345", 0, 18), block("Ulm", 60, 18), block("Ann", 0, 36)],
        [("12345 Ulm", []), ("12345 Ulm\nAnn", [])],
        id="a-row-in-a-stack",
    ),
    pytest.param(
        [
            block("to", 0, 0),
            block("Ann", 200, 0, hints=["to"], is_named=True),
            block("12 Mill Lane", 200, 18),
            block("from", 0, 36),
            block("Eve", 200, 36, hints=["from"], is_named=True),
        ],
        [("Ann\n12 Mill Lane", ["to"])],
        id="labels-beside",
    ),
    pytest.param(
        [block("1980", 0, 0, hints=["born"], is_named=True), block("in", 0, 18), block("2015", 30, 18, hints=["in"])],
        [("in 2015", []), ("1980\nin 2015", [])],
        id="a-value-and-the-next-label-with-its-own",
    ),
)


@pytest.mark.parametrize(("blocks", "expected"), JOINED)
def test_short_neighbours_are_joined(blocks: list[Block], expected: list[tuple[str, list[str]]]) -> None:
    assert [(one.run.text, one.hints) for one in join_neighbours(blocks)] == expected


def test_a_long_stack_comes_in_parts_that_overlap() -> None:
    texts = [one.run.text.split("\n") for one in join_neighbours([block(f"l{n}", 0, 18.0 * n) for n in range(20)])]
    assert {line for text in texts for line in text} == {f"l{number}" for number in range(20)}
    assert all(len(text) <= 8 for text in texts)
    assert all(set(one) & set(other) for one, other in pairwise(texts))


LABELS = (
    pytest.param("Date of birth", True, id="words"),
    pytest.param("Line 2:", True, id="with-a-number"),
    pytest.param("ann@b.test", False, id="address"),
    pytest.param("4242 4242", False, id="number"),
    pytest.param("12/2030", False, id="date"),
    pytest.param("one two three four five six seven eight", False, id="sentence"),
    pytest.param("—", False, id="no-letter"),
)


@pytest.mark.parametrize(("text", "expected"), LABELS)
def test_labels_are_short_and_of_words(text: str, expected: bool) -> None:
    assert is_label(text) == expected


def test_the_head_of_a_column_is_what_looks_different_above_it() -> None:
    blocks = [block("Name", 0, 0, weight="700"), block("Ann", 0, 20), block("Eve", 0, 40), block("Far", 0, 200)]
    assert columns(blocks, [-1, -1, -1, -1]) == [(-1, False), (0, True), (0, False), (-1, False)]
    assert [head for head, _ in columns(blocks, [5, -1, -1, -1])] == [
        -1
    ] * 4  # the head of a table is not that of what follows it


def test_the_head_of_a_column_may_end_where_its_texts_end() -> None:
    blocks = [block("Total", 50, 0, weight="700"), block("418", 70, 20), block("Elsewhere", 90, 40)]
    assert [head for head, _ in columns(blocks, [-1, -1, -1])] == [-1, 0, -1]


PLAIN_HEADS = (  # two texts in a row, one below the first: does the first speak for it, all alike
    pytest.param("Username", "Password", "oakes", True, id="labels-in-a-row"),
    pytest.param("Username", "elm", "oakes", False, id="a-label-and-its-value"),
    pytest.param("Username", "Password", "Email", False, id="a-list-of-labels"),
)


@pytest.mark.parametrize(("first", "second", "below", "speaks"), PLAIN_HEADS)
def test_heads_that_look_like_values_are_told_by_their_row(first: str, second: str, below: str, speaks: bool) -> None:
    blocks = [block(first, 0, 0), block(second, 300, 0), block(below, 0, 20)]
    assert columns(blocks, [-1, -1, -1])[2] == ((0, True) if speaks else (-1, False))


ROWS = (  # texts of a line that look alike, which of them have a label before them
    pytest.param(("Born", "12.03.1981"), [1], id="a-label-and-a-value"),
    pytest.param(("Born", "Username"), [], id="two-heads"),
    pytest.param(("Born", "12.03.1981", "Username", "oakes"), [1, 3], id="by-turns"),
    pytest.param(("Username", "Born", "Hired"), [], id="three-heads"),
)


@pytest.mark.parametrize(("texts", "labelled"), ROWS)
def test_texts_in_a_row_are_labels_and_values_by_turns_or_heads(texts: tuple[str, ...], labelled: list[int]) -> None:
    blocks = [block(text, 200.0 * at, 0) for at, text in enumerate(texts)]
    assert [at for at in range(len(blocks)) if is_labelled(blocks, at)] == labelled


def tree_of(names: Sequence[str], parents: Sequence[int]) -> Tree:
    count = len(names)
    nodes = Nodes(list(parents), list(range(count)), [-1] * count, list(range(count)), [[] for _ in names])
    return Tree(Document(nodes=nodes), list(names))


CARDS = tree_of(["BODY", "DIV", "P", "P", "DIV", "P", "P"], [-1, 0, 1, 1, 0, 4, 4])
MENU = tree_of(["BODY", "DIV", "A", "P", "DIV", "P", "P"], [-1, 0, 1, 1, 0, 4, 4])
NAMED = (  # the page, its texts, which text has which other for its label
    pytest.param(
        CARDS,
        [
            block("oakes", 0, 0, owner=2),
            block("Username", 0, 20, weight="300", owner=3),
            block("418", 300, 0, owner=5),
            block("Views", 300, 20, weight="300", owner=6),
        ],
        {0: 1},
        id="label-below",
    ),
    pytest.param(
        CARDS,
        [block("oakes", 0, 0, owner=2), block("Username", 0, 20, owner=3), block("418", 300, 0, owner=5)],
        {},
        id="below-and-alike",
    ),
    pytest.param(
        CARDS,
        [block("oakes", 0, 0, owner=2), block("Username", 0, 20, weight="300", owner=3), block("elm", 0, 40, owner=1)],
        {},
        id="not-alone",
    ),
    pytest.param(
        CARDS, [block("oakes", 200, 0, owner=2), block("Username", 0, 0, owner=3)], {0: 1}, id="before-it-as-it-looks"
    ),
    pytest.param(
        CARDS,
        [block("oakes", 0, 10, owner=2, kind="field"), block("Username", 0, 0, owner=3)],
        {0: 1},
        id="behind-its-field",
    ),
    pytest.param(
        CARDS,
        [
            block("Username", 0, 0, owner=2),
            block("Born", 0, 20, owner=3),
            block("oakes", 200, 0, owner=5),
            block("12.03.1981", 200, 20, owner=6),
        ],
        {2: 0, 3: 1},
        id="a-column-of-labels",
    ),
    pytest.param(
        MENU,
        [
            block("Username", 0, 0, owner=2),
            block("Born", 0, 20, owner=3),
            block("oakes", 200, 0, owner=5),
            block("12.03.1981", 200, 20, owner=6),
        ],
        {3: 1},
        id="a-link-is-none",
    ),
    pytest.param(
        CARDS,
        [block("oakes", 0, 20, owner=2), block("418", 200, 20, owner=3), block("Username", 0, 0, owner=5)],
        {0: 2},
        id="a-head-that-comes-later",
    ),
    pytest.param(
        CARDS,
        [block("oakes", 0, 90, owner=2), block("418", 200, 20, owner=3), block("Username", 0, 0, owner=5)],
        {},
        id="too-far-above",
    ),
    pytest.param(
        CARDS,
        [
            block("Username", 0, 0, owner=2, weight="700"),
            block("oakes", 0, 20, owner=3),
            block("Elm", 200, 0, owner=5),
            block("Ash", 200, 20, owner=6),
        ],
        {1: 0},
        id="its-value-is-below",
    ),
)


@pytest.mark.parametrize(("tree", "blocks", "expected"), NAMED)
def test_a_label_may_stand_elsewhere_in_the_document(tree: Tree, blocks: list[Block], expected: dict[int, int]) -> None:
    assert named_by(tree, blocks, [one.owner for one in blocks]) == expected


FAR = (
    pytest.param("Delivery address", True, id="address"),
    pytest.param("Customer", False, id="person"),
    pytest.param("Order", False, id="of-no-person"),
    pytest.param("Welcome", False, id="nothing"),
)


@pytest.mark.parametrize(("text", "expected"), FAR)
def test_only_what_promises_something_plain_speaks_for_a_whole_section(text: str, expected: bool) -> None:
    assert speaks_far(text) == expected


STYLES = (
    pytest.param("none", False, id="none"),
    pytest.param("linear-gradient(rgb(0, 0, 0), rgb(1, 1, 1))", False, id="gradient"),
    pytest.param('url("https://example.test/a.png")', True, id="address"),
    pytest.param('image-set("a.png" 1x)', True, id="set"),
    pytest.param("url(\"data:image/svg+xml,<svg><path d='M0'/></svg>\")", False, id="small-drawing"),
    pytest.param('url("data:image/svg+xml,<svg><text>a</text></svg>")', True, id="drawing-with-text"),
    pytest.param('url("data:image/svg+xml;base64,AAAA")', True, id="drawing-that-is-encoded"),
    pytest.param(f'url("data:image/svg+xml,{"a" * 5000}")', True, id="large-drawing"),
)


@pytest.mark.parametrize(("style", "expected"), STYLES)
def test_a_style_draws_a_picture_that_may_hold_text(style: str, expected: bool) -> None:
    assert has_picture(style) == expected
