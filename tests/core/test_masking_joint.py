"""Strings beside each other are looked through as one text: names over elements, values behind their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from host.core.masking.joint import joint
from host.core.masking.masking import Asked, Masking
from host.core.masking.placeholders import Placeholders
from host.core.masking.tree import BEGIN, BREAK, CELL, END, LINE, Item
from host.core.masking.views import seam
from host.core.redaction import Found, Text
from tests.core.masking import PROTOCOL

RULES = {"X": re.compile(r"(?<=Passport[\t\n])\w+|Oda\s*Lindqvist"), "ADDRESS": re.compile(r"Lind Way 7\nUppsala")}


def find(texts: Sequence[Text]) -> list[list[Found]]:
    """Knows a number by the label before it, a name only when it is whole, an address of two lines, and a hint."""
    return [_of(text) for text in texts]


def _of(text: Text) -> list[Found]:
    if text.hint == "Phone":
        return [Found(0, len(text.text), "PHONE", 1, "x")]
    return [
        Found(one.start(), one.end(), type_, 1, "x")
        for type_, rule in RULES.items()
        for one in rule.finditer(text.text)
    ]


def told(value: Any, asked: Asked = PROTOCOL) -> Any:
    masking = Masking(value, asked)
    return masking.told(find(masking.texts), Placeholders(b"key")).value


def element(name: str, *children: Any, **attributes: str) -> dict[str, Any]:
    """A node of DOM.getDocument; text is a child that is a string."""
    flat = [word for pair in attributes.items() for word in pair]
    below = [
        one if isinstance(one, dict) else {"nodeType": 3, "nodeName": "#text", "nodeValue": one} for one in children
    ]
    return {"nodeType": 1, "nodeName": name, "attributes": flat, "children": below}


def row(*cells: str) -> dict[str, Any]:
    """A row of a table: names and texts of its cells by turns."""
    return element("TR", *(element(name, text) for name, text in zip(cells[::2], cells[1::2], strict=True)))


def texts_of(node: dict[str, Any]) -> list[str]:
    """The values of the text nodes and fields of a tree."""
    if node["nodeType"] == 3:
        return [node["nodeValue"]]
    own = node["attributes"][1::2] if node["nodeName"] == "INPUT" else []
    return own + [text for child in node["children"] for text in texts_of(child)]


TREES = (  # a tree, its texts as they are told
    pytest.param(
        element("P", "Hi ", element("B", "Oda"), " Lindqvist!"), ["Hi ", "<X_1>", " <X_2>!"], id="name-over-elements"
    ),
    pytest.param(element("P", "Oda", element("BR"), "Lindqvist"), ["<X_1>", "<X_2>"], id="name-over-lines"),
    pytest.param(element("P", element("P", "Oda"), "Lindqvist"), ["Oda", "Lindqvist"], id="two-blocks-are-two-things"),
    pytest.param(
        element(
            "TABLE",
            element("TR", element("TH", "Phone"), element("TH", "Item")),
            element("TR", element("TD", "12"), element("TD", "tea")),
        ),
        ["Phone", "Item", "<PHONE_1>", "tea"],
        id="cell-under-its-head",
    ),
    pytest.param(
        element(
            "TABLE",
            element("TR", element("TH", "Phone"), element("TD", "12")),
            element("TR", element("TH", "Item"), element("TD", "34")),
        ),
        ["Phone", "<PHONE_1>", "Item", "34"],
        id="cell-beside-its-head",
    ),
    pytest.param(
        element("DL", element("DT", "Phone"), element("DD", element("B", "12"))),
        ["Phone", "<PHONE_1>"],
        id="definition",
    ),
    pytest.param(
        element("DIV", element("SPAN", "Passport"), element("SPAN", "C4J8")), ["Passport", "<X_1>"], id="label-beside"
    ),
    pytest.param(
        element("DL", element("DT", "Passport"), element("DD", "C4J8")), ["Passport", "<X_1>"], id="label-above"
    ),
    pytest.param(
        element("FORM", element("LABEL", "Passport"), element("INPUT", value="C4J8")), ["Passport", "<X_1>"], id="field"
    ),
    pytest.param(
        element("ADDRESS", "Lind Way 7", element("BR"), "Uppsala"),
        ["<ADDRESS_1>", "<ADDRESS_2>"],
        id="each-line-has-its-placeholder",
    ),
    pytest.param(element("P", element("SCRIPT", "Oda"), " Lindqvist"), ["Oda", " Lindqvist"], id="scripts-are-no-text"),
    pytest.param(
        element("DIV", element("P", "Passport"), element("P", "no"), "C4J8"),
        ["Passport", "<X_1>", "C4J8"],
        id="next-only",
    ),
)


@pytest.mark.parametrize(("tree", "expected"), TREES)
def test_the_text_nodes_of_a_tree_are_read_together(tree: dict[str, Any], expected: list[str]) -> None:
    assert texts_of(told({"root": tree})["root"]) == expected


def test_a_word_in_single_letters_is_read_as_one() -> None:
    tree = element("P", *(element("I", char) for char in "OdaLindqvist"))
    numbers = (1, 2, 3, 4, 5, 6, 2, 7, 8, 5, 9, 10)  # the same letter has the same one
    assert texts_of(told({"root": tree})["root"]) == [f"<X_{number}>" for number in numbers]


@pytest.mark.parametrize("below", ["shadowRoots", "pseudoElements", "contentDocument", "templateContent"])
def test_whatever_hangs_below_a_node_is_read_with_it(below: str) -> None:
    inner = element("DIV", element("SPAN", "Passport"), element("SPAN", "C4J8"))
    tree = {"nodeType": 1, "nodeName": "DIV", "children": []}
    held = told({"root": {**tree, below: inner if below.startswith(("content", "templ")) else [inner]}})["root"][below]
    assert texts_of(held if isinstance(held, dict) else held[0]) == ["Passport", "<X_1>"]


def test_a_snapshot_is_read_in_the_order_of_its_nodes() -> None:
    strings = ["DIV", "SPAN", "#text", "C4J8", "Passport"]
    nodes = {
        "parentIndex": [-1, 0, 1, 0, 3],
        "nodeType": [1, 1, 3, 1, 3],
        "nodeName": [0, 1, 2, 1, 2],
        "nodeValue": [-1, -1, 4, -1, 3],
        "attributes": [[], [], [], [], []],
    }
    assert told({"documents": [{"nodes": nodes}], "strings": strings})["strings"][3:] == ["<X_1>", "Passport"]


def test_an_accessibility_tree_is_read_in_the_order_of_its_children() -> None:
    def node(number: str, role: str, text: str, parent: str | None, *children: str) -> dict[str, Any]:
        held = {"nodeId": number, "role": {"type": "role", "value": role}, "childIds": list(children)}
        named = {"name": {"type": "computedString", "value": text}}
        return {**held, **named, **({"parentId": parent} if parent else {})}

    nodes = [
        node("1", "RootWebArea", "", None, "2", "4"),
        node("5", "StaticText", "C4J8", "4"),
        node("2", "generic", "", "1", "3"),
        node("4", "generic", "", "1", "5"),
        node("3", "StaticText", "Passport", "2"),
    ]
    assert [one["name"]["value"] for one in told({"nodes": nodes})["nodes"]] == ["", "<X_1>", "", "", "Passport"]


LISTS = (
    pytest.param(["Passport", "C4J8", "Tea"], ["Passport", "<X_1>", "Tea"], id="strings"),
    pytest.param(
        [["Passport", "C4J8"], ["Tea no. 1", "2 pounds"]], [["Passport", "<X_1>"], ["Tea no. 1", "2 pounds"]], id="rows"
    ),
    pytest.param([{"text": "Passport"}, {"text": "C4J8"}], [{"text": "Passport"}, {"text": "<X_1>"}], id="objects"),
    pytest.param(
        [{"id": "Passport"}, {"text": "C4J8"}], [{"id": "Passport"}, {"text": "C4J8"}], id="ids-are-no-labels"
    ),
    pytest.param(["Passport"], ["Passport"], id="one"),
    pytest.param(
        {"columns": ["Passport", "Item"], "rows": [["1x", "Tea"]]},
        {"columns": ["Passport", "Item"], "rows": [["1x", "Tea"]]},
        id="heads-are-no-labels-of-each-other",
    ),
)


@pytest.mark.parametrize(("value", "expected"), LISTS)
def test_the_strings_of_a_list_are_read_together(value: Any, expected: Any) -> None:
    assert told({"x": value}, Asked()) == {"x": expected}


SEAMS = (  # two texts of elements without a space between them, what is read between them
    pytest.param("Name", "Oda", "\t", id="label-and-name"),
    pytest.param("Tax ID", "8609", "\t", id="label-and-number"),
    pytest.param("Phone:", "0341", "\t", id="label-with-a-colon"),
    pytest.param("IBAN", "DE89", "\t", id="capitals"),
    pytest.param("Lind", "qvist", "", id="inside-of-a-word"),
    pytest.param("4111", "1111", "", id="inside-of-a-number"),
    pytest.param("oda@", "example", "", id="behind-an-at-sign"),
    pytest.param("oda", ".l@x", "", id="before-a-dot"),
    pytest.param("i", "8", "", id="letter-by-letter"),
    pytest.param("BE68 5", "390 07", "", id="parts-of-an-account"),
    pytest.param("2 of 12", "0341 99", "\t", id="count-and-number"),
    pytest.param("Design", "+49 341", "\t", id="word-and-phone"),
    pytest.param("oda", "+shop@x", "", id="plus-in-an-address"),
    pytest.param("", "x", "", id="at-the-start"),
)


@pytest.mark.parametrize(("before", "after", "between"), SEAMS)
def test_elements_beside_each_other_are_cells_but_not_inside_of_a_word(before: str, after: str, between: str) -> None:
    assert seam(before, after) == between


SEPARATORS = (  # what is between two strings, how they are read
    pytest.param([], "ab", id="nothing"),
    pytest.param([BEGIN], "ab", id="begin"),
    pytest.param([END], "ab", id="end"),
    pytest.param([END, BEGIN], "ab", id="two-elements-in-a-word"),
    pytest.param([BEGIN, END], "ab", id="an-empty-element"),
    pytest.param([END, LINE, BEGIN], "a\nb", id="block"),
    pytest.param([BREAK], "a\nb", id="line-break"),
    pytest.param([CELL, CELL], "a\tb", id="cells"),
)


@pytest.mark.parametrize(("between", "text"), SEPARATORS)
def test_what_is_between_two_strings(between: list[Item], text: str) -> None:
    holder: list[str] = []
    made = joint([(holder, 0), *between, (holder, 1)], {(id(holder), 0): (7, "a"), (id(holder), 1): (8, "b")})
    assert made is not None
    assert made.text == text
    assert made.places(0, len(text)) == ([] if LINE in between or CELL in between else [(7, 0, 1), (8, 0, 1)])
    assert made.places(len(text) - 1, len(text)) == [(8, 0, 1)]


def test_a_thousand_elements_between_two_strings_are_still_two_blocks() -> None:
    holder: list[str] = []
    strings = {(id(holder), 0): (0, "a"), (id(holder), 1): (1, "b")}
    made = joint([(holder, 0), *[BEGIN, END] * 1000, LINE, *[END] * 1000, (holder, 1)], strings)
    assert made is not None
    assert made.text == "a\nb"


def test_one_long_string_at_a_thousand_places_does_not_grow_without_end() -> None:
    nodes = {
        "parentIndex": [-1, *[0] * 5000],
        "nodeType": [1, *[3] * 5000],
        "nodeName": [0, *[0] * 5000],
        "nodeValue": [-1, *[1] * 5000],
        "attributes": [[]] * 5001,
    }
    masking = Masking({"documents": [{"nodes": nodes}], "strings": ["DIV", "many words " * 5000]}, PROTOCOL)
    assert sum(len(text.text) for text in masking.texts) < 2_000_000
