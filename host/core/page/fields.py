"""What fields, copies and styles show: what is not the text of a text node."""

from __future__ import annotations

import re

from host.core.page.snapshot import Tree
from host.core.redaction import TextKind

BUTTONS = frozenset(("submit", "button", "reset"))
USES_DEEP = 4
DRAWING_CHARS = 4096
PAINTED = frozenset(("text", "image", "foreignObject", "use", "feImage"))
_REFERENCE = re.compile(r"""url\(["']?#([^"')]+)""")


def field_text(tree: Tree, node: int, sort: str) -> tuple[str, TextKind]:
    """What a field shows, and whether it is its value; `sort` is the type of an input."""
    name, attributes = tree.name(node), tree.attributes(node)
    if name == "SELECT":
        options = [one for one in range(node, tree.end(node)) if tree.name(one) == "OPTION"]
        listed = any(one in tree.layout_of for one in options)  # a list box shows them itself
        return ("" if listed else " ".join(option_label(tree, one) for one in options if one in tree.chosen)), "field"
    if name in ("OPTION", "OPTGROUP"):
        return (option_label(tree, node) if name == "OPTION" else attributes.get("label", "")), "text"
    value = tree.field_value(node)
    if sort in BUTTONS:
        return value, "text"
    return (value, "field") if value else (attributes.get("placeholder", ""), "text")


def option_label(tree: Tree, option: int) -> str:
    """What an option is called in its list."""
    return tree.attributes(option).get("label") or tree.text(option)


def copied(tree: Tree, use: int, deep: int = USES_DEEP) -> str | None:
    """The text of what a `use` shows; None for what is in another file."""
    attributes = tree.attributes(use)
    link = attributes.get("href") or attributes.get("xlink:href", "")
    target = tree.by_id(link[1:]) if link.startswith("#") else -1
    if target < 0:
        return None if link and not link.startswith("#") else ""
    texts: list[str | None] = [tree.text(target)]
    for inner in range(target, tree.end(target)):
        if tree.name(inner) == "image":
            return None
        if tree.name(inner) == "use":
            texts.append(copied(tree, inner, deep - 1) if deep > 0 else None)
    return None if None in texts else " ".join(text for text in texts if text)


def refers_to_picture(tree: Tree, style: str) -> bool:
    """Does a computed `fill` or `filter` draw a pattern or a filter of the document that holds text or a picture?"""
    for name in _REFERENCE.findall(style):
        target = tree.by_id(name)
        if target >= 0 and any(tree.name(inner) in PAINTED for inner in range(target, tree.end(target))):
            return True
    return False


def has_picture(style: str) -> bool:
    """Does a style draw a picture that may hold text? Small drawings within the style itself have none."""
    start = style.find("url(")
    if start < 0:
        return "image-set(" in style
    if not style.startswith(("data:image/svg", '"data:image/svg', "'data:image/svg"), start + 4):
        return True
    return len(style) > DRAWING_CHARS or any(
        word in style for word in ("text", "image ", "image%20", "foreign", "base64")
    )
