"""Which boxes what was found in a page has: without a browser, on documents of a few nodes."""

from __future__ import annotations

import math
from typing import Any

import pytest

from host.core.page.model import PageBuilder, PageText, Wanted, exact, in_picture, wanted, whole
from host.core.page.shape import Affine
from host.core.page.snapshot import STYLES, Document, Layouts, Nodes, Snapshot, TextBoxes, Tree, decode
from host.core.redaction import Box, Found

WINDOW = (0.0, 0.0, 200.0, 100.0)
PLAIN = {
    "display": "block",
    "visibility": "visible",
    "opacity": "1",
    "position": "static",
    "overflow-x": "visible",
    "background-image": "none",
    "border-image-source": "none",
    "mask-image": "none",
    "content": "normal",
    "columns": "auto",
    "-webkit-text-security": "none",
}


def tree_of(text: str, boxes: list[tuple[int, int, float, float]], **styles: str) -> Tree:
    """A page of one text: (start, length, x, y) of each of its lines, whose letters are 10 pixels wide and high."""
    strings = ["#document", "HTML", "#text", text, "frame"]
    how = [PLAIN.get(name, "") if name not in styles else styles[name] for name in STYLES]
    strings += [one for one in dict.fromkeys(how) if one not in strings]
    numbers = [strings.index(one) for one in how]
    lines = [(x, y, 10.0 * length, 10.0) for _, length, x, y in boxes]
    left, top = min(x for x, _, _, _ in lines), min(y for _, y, _, _ in lines)
    right, bottom = max(x + wide for x, _, wide, _ in lines), max(y + high for _, y, _, high in lines)
    document = Document(
        frameId=4,
        nodes=Nodes([-1, 0, 1], [0, 1, 2], [-1, -1, 3], [1, 2, 3], [[], [], []]),
        layout=Layouts(
            [0, 1, 2], [[], numbers, numbers], [WINDOW, WINDOW, (left, top, right - left, bottom - top)], [-1, -1, 3]
        ),
        textBoxes=TextBoxes([2] * len(lines), lines, [one[0] for one in boxes], [one[1] for one in boxes]),
    )
    return Tree(document, strings)


def page_of(tree: Tree, to_root: Affine | None = None, area: tuple[float, float, float, float] = WINDOW) -> PageText:
    builder = PageBuilder(area)
    builder.add(tree, "guard", to_root or Affine(), area)
    return builder.finish()


def found(start: int, end: int) -> list[list[Found]]:
    return [[Found(start, end, "EMAIL", 1.0, "test")]]


TEXT = "to ann@b.test now"
ONE_LINE = [(0, 17, 5.0, 20.0)]


def test_what_is_found_becomes_ranges_of_the_node() -> None:
    page = page_of(tree_of(TEXT, ONE_LINE))
    assert [text.text for text in page.texts] == [TEXT]
    assert wanted(page, found(3, 13)) == [Wanted(0, "EMAIL", 3, 13)]


RANGES = (  # text of the node, what is found in what is read of it, white space, range of the node in UTF-16 units
    pytest.param("  ann  b", (0, 1), "collapse", (2, 3), id="spaces-before"),
    pytest.param("a  ann", (2, 5), "collapse", (3, 6), id="collapsed-spaces"),
    pytest.param("an\u00adn b", (0, 3), "collapse", (0, 4), id="soft-hyphen-inside"),
    pytest.param("\U0001f600ann", (1, 4), "collapse", (2, 5), id="beyond-16-bits"),
    pytest.param("a\nann", (2, 5), "preserve", (2, 5), id="line-break"),
    pytest.param("\ue001ann", (0, 3), "collapse", (1, 4), id="icon"),
    pytest.param("a\xa0ann", (2, 5), "collapse", (2, 5), id="no-break-space"),
)


@pytest.mark.parametrize(("text", "span", "white", "units"), RANGES)
def test_offsets_lead_back_to_the_node(text: str, span: tuple[int, int], white: str, units: tuple[int, int]) -> None:
    page = page_of(tree_of(text, [(0, len(text), 5.0, 20.0)], **{"white-space-collapse": white}))
    assert [(one.start, one.end) for one in wanted(page, found(*span))] == [units]


RECTS: tuple[Any, ...] = (  # what the page tells, the boxes that follow
    pytest.param([[35, 20, 100, 10]], [Box(35, 20, 100, 10)], id="as-told"),
    pytest.param([[35, 20, 40, 10], [75, 20, 60, 10]], [Box(35, 20, 40, 10), Box(75, 20, 60, 10)], id="two"),
    pytest.param([], [], id="hidden"),
    pytest.param(None, [Box(5, 20, 170, 10)], id="not-told"),
    pytest.param([[35, 60, 100, 10]], [Box(5, 20, 170, 10)], id="elsewhere"),
    pytest.param([[35, 20, 400, 10]], [Box(5, 20, 170, 10)], id="too-wide"),
    pytest.param([[math.nan, 20, 100, 10]], [Box(5, 20, 170, 10)], id="no-number"),
    pytest.param([[None, 20, 100, 10]], [Box(5, 20, 170, 10)], id="nothing-instead"),
    pytest.param([[35, 20, math.inf, 10]], [Box(5, 20, 170, 10)], id="without-end"),
    pytest.param([[35, 20, 100]], [Box(5, 20, 170, 10)], id="three-numbers"),
)


@pytest.mark.parametrize(("rects", "boxes"), RECTS)
def test_rectangles_that_cannot_be_are_those_of_the_whole_node(rects: Any, boxes: list[Box]) -> None:
    page = page_of(tree_of(TEXT, ONE_LINE))
    (one,) = wanted(page, found(3, 13))
    marks = exact(page, one, rects, 1.0)
    assert [mark.box for mark in marks] == boxes
    assert {(mark.type, mark.source) for mark in marks} <= {("EMAIL", "dom")}


def test_a_zoomed_frame_tells_smaller_pixels() -> None:
    page = page_of(tree_of(TEXT, ONE_LINE))
    (one,) = wanted(page, found(3, 13))
    assert [mark.box for mark in exact(page, one, [[17.5, 10, 50, 5]], 2.0)] == [Box(35, 20, 100, 10)]


MAPS = (
    pytest.param(Affine(e=10, f=5), Box(45, 25, 100, 10), id="moved"),
    pytest.param(Affine(a=0.5, d=0.5), Box(17.5, 10, 50, 5), id="smaller"),
    pytest.param(Affine(a=0, b=1, c=-1, d=0, e=100), Box(70, 35, 10, 65), id="turned-and-cut-off"),
)


@pytest.mark.parametrize(("to_root", "expected"), MAPS)
def test_a_frame_is_where_its_map_says(to_root: Affine, expected: Box) -> None:
    page = page_of(tree_of(TEXT, ONE_LINE), to_root)
    (one,) = wanted(page, found(3, 13))
    assert [mark.box for mark in exact(page, one, [[35, 20, 100, 10]], 1.0)] == [expected]


def test_boxes_are_from_the_corner_of_the_area_and_end_at_its_edge() -> None:
    page = page_of(tree_of(TEXT, ONE_LINE), area=(40.0, 10.0, 50.0, 15.0))
    (one,) = wanted(page, found(3, 13))
    assert [mark.box for mark in exact(page, one, [[35, 20, 100, 10]], 1.0)] == [Box(0, 10, 50, 5)]
    assert page.area == Box(40.0, 10.0, 50.0, 15.0)


def test_a_node_without_exact_ranges_is_barred_by_the_lines_that_are_hit() -> None:
    lines = [(0, 8, 5.0, 20.0), (8, 9, 5.0, 40.0)]
    page = page_of(tree_of(TEXT, lines))
    page.places[0].exact = False
    (one,) = wanted(page, found(3, 6))
    assert [mark.box for mark in whole(page, one)] == [Box(5, 20, 80, 10)]
    page.places[0].boxes = []
    assert [mark.box for mark in whole(page, one)] == [Box(5, 20, 90, 30)]


def test_what_only_gives_context_is_not_in_the_picture() -> None:
    page = page_of(tree_of(TEXT, [(0, 17, 5.0, 150.0)]))
    assert [text.text for text in page.texts] == [TEXT]
    (one,) = wanted(page, found(3, 13))
    assert not in_picture(page, one)
    assert in_picture(page_of(tree_of(TEXT, ONE_LINE)), one)


def test_in_columns_only_the_page_knows_where_a_text_is() -> None:
    page = page_of(tree_of(TEXT, ONE_LINE, columns="2"))
    (one,) = wanted(page, found(3, 13))
    assert [mark.box for mark in exact(page, one, [[120, 60, 70, 10]], 1.0)] == [Box(120, 60, 70, 10)]
    assert [mark.box for mark in exact(page, one, None, 1.0)] == [Box(*WINDOW)]


def test_findings_of_other_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        wanted(page_of(tree_of(TEXT, ONE_LINE)), [*found(3, 13), []])


FINGERPRINTS = (
    pytest.param(tree_of(TEXT, ONE_LINE), True, id="equal"),
    pytest.param(tree_of("to eve@b.test now", ONE_LINE), False, id="text"),
    pytest.param(tree_of(TEXT, [(0, 17, 5.5, 20.0)]), False, id="place"),
    pytest.param(tree_of(TEXT, [(0, 8, 5.0, 20.0), (8, 9, 5.0, 40.0)]), False, id="lines"),
    pytest.param(tree_of("to ann@b\ud800test now", ONE_LINE), False, id="half-of-a-pair"),
)


@pytest.mark.parametrize(("tree", "equal"), FINGERPRINTS)
def test_the_fingerprint_tells_a_change(tree: Tree, equal: bool) -> None:
    first = page_of(tree_of(TEXT, ONE_LINE))
    assert (page_of(tree).fingerprint == first.fingerprint) == equal


def test_half_pairs_are_decoded_and_do_not_reach_the_text() -> None:
    raw = b'{"documents":[{"frameId":0,"nodes":{"parentIndex":[-1]}}],"strings":["a\\ud800"]}'
    assert decode(raw).strings == ["a\ud800"]
    page = page_of(tree_of("ann\ud800", [(0, 4, 5.0, 20.0)]))
    assert [text.text for text in page.texts] == ["ann\ufffd"]


@pytest.mark.parametrize(
    "raw", [b"{}", b'{"documents":1,"strings":[]}', b"nothing"], ids=["empty", "other-types", "no-json"]
)
def test_what_is_no_snapshot_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - several kinds of it
        decode(raw)
    assert isinstance(decode(b'{"documents":[],"strings":[]}'), Snapshot)
