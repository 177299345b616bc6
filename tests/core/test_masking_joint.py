"""Strings beside each other are looked through as one text: names over elements, values behind their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from host.core.masking import Asked, Masking
from host.core.masking_joint import BEGIN, END, LINE, Item, joint
from host.core.placeholders import Placeholders
from host.core.redaction import Found, Text
from tests.core.masking import PROTOCOL

RULE = re.compile(r"(?<=Passport[\t\n])\w+|Oda\s*Lindqvist|Lind Way 7\nUppsala")


def find(texts: Sequence[Text]) -> list[list[Found]]:
    """Knows a number by the label before it, a name only when it is whole, and an address of two lines."""
    return [[Found(one.start(), one.end(), "X", 1, "x") for one in RULE.finditer(text.text)] for text in texts]


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
        ["<X_1>", "<X_2>"],
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
)


@pytest.mark.parametrize(("value", "expected"), LISTS)
def test_the_strings_of_a_list_are_read_together(value: Any, expected: Any) -> None:
    assert told({"x": value}, Asked()) == {"x": expected}


SEPARATORS = (  # what is between two strings, how they are read
    pytest.param([], "ab", id="nothing"),
    pytest.param([BEGIN], "ab", id="begin"),
    pytest.param([END], "ab", id="end"),
    pytest.param([END, BEGIN], "a\tb", id="two-elements-beside-each-other"),
    pytest.param([BEGIN, END], "ab", id="an-empty-element"),
    pytest.param([END, END, BEGIN, BEGIN], "a\tb", id="nested-elements"),
    pytest.param([END, LINE, BEGIN], "a\nb", id="line"),
)


@pytest.mark.parametrize(("between", "text"), SEPARATORS)
def test_what_is_between_two_strings(between: list[Item], text: str) -> None:
    holder: list[str] = []
    made = joint([(holder, 0), *between, (holder, 1)], {(id(holder), 0): (7, "a"), (id(holder), 1): (8, "b")})
    assert made is not None
    assert made.text == text
    assert list(made.places(0, len(text))) == [(7, 0, 1), (8, 0, 1)]
    assert list(made.places(len(text) - 1, len(text))) == [(8, 0, 1)]
