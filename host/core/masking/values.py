"""The values of a decoded result one after the other, each with the words that stand for it; decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from host.core.masking import credentials, keys
from host.core.masking.html import NAMING
from host.core.masking.views import HEAD_CHARS, hint_for, words

How = Literal["likely", "header", "whole"]
HEADER_OBJECTS = frozenset(
    ("extra headers", "header", "headers", "http headers", "request headers", "response headers")
)


class Around(NamedTuple):
    """Where a value stands: the words for it, and in which nested text (0 is the result itself).

    `protocol` tells Chromium's own objects from the page's, `headers` those of header fields. `type` is as what a value
    is masked whatever is found: "whole", but for what a "header" says openly, or "likely", when it looks like one.
    """

    hint: str = ""
    nest: int = 0
    protocol: bool = False
    headers: bool = False
    type: str = ""
    how: How = "likely"
    heads: bool = False  # names of columns: what stands beside one is another one


class Leaf(NamedTuple):
    """A value and where it is held: `holder[key]`."""

    holder: Any
    key: Any
    value: Any
    around: Around


def leaves(root: Leaf, taken: Callable[[Leaf], bool]) -> Iterator[Leaf]:
    """All strings and numbers below `root`, in their order; `taken(leaf)` may keep a list or an object to itself."""
    todo = [root]
    while todo:
        leaf = todo.pop()
        kind = type(leaf.value)
        if kind is str or kind is int or kind is float:
            yield leaf
        elif kind is dict and not taken(leaf):
            todo += reversed(list(members(leaf.value, leaf.around)))
        elif kind is list and not taken(leaf):
            todo += reversed(list(items(leaf.value, leaf.around)))


def members(value: dict[str, Any], around: Around) -> Iterator[Leaf]:
    """What an object holds, without what may stay as it is."""
    about = _About(value, around)
    for name, inner in value.items():
        if inner is None or type(inner) is bool or (around.protocol and keys.is_protocols(name, inner)):
            continue
        if type(inner) is str and (
            (name in keys.IDS and keys.HARD_ID.fullmatch(inner)) or (around.headers and _is_plain_header(name, inner))
        ):
            continue
        special = about.special(name, inner)
        if special is None:
            yield Leaf(value, name, inner, about.member(name, inner))
        else:
            yield from special


def _is_plain_header(name: str, value: str) -> bool:
    if name == "name":  # of one in a list of {name, value}
        return keys.PLAIN_KEY.fullmatch(value) is not None
    return name.lower() in keys.PLAIN_HEADERS and len(value) <= keys.PLAIN_HEADER_CHARS and "@" not in value


class _About:
    """What one object tells of its members."""

    def __init__(self, value: dict[str, Any], around: Around) -> None:
        self._value = value
        self._around = around
        self._remote = keys.is_remote_value(value)
        self._label = keys.label_of(value)
        self._rows, self._heads = keys.heads_of(value)
        self._type = typed(self._label, around.headers) if self._label else ""
        self._whole = "COOKIE" if keys.is_cookie(value) else "PASSWORD" if _is_password_node(value) else ""

    def special(self, name: str, inner: Any) -> Iterable[Leaf] | None:
        """Members that are more than they seem: attributes in one list, strings by number, rows of a table."""
        around = self._around
        if type(inner) is not list:
            return None
        if around.protocol and name == "attributes" and len(inner) % 2 == 0 and all(type(one) is str for one in inner):
            return attributes(inner, around)
        if around.protocol and name == "strings" and "documents" in self._value:
            return strings(inner, self._value, around)
        if self._heads and name == self._rows:
            return rows(inner, self._heads, around._replace(protocol=False))
        return None

    def member(self, name: str, inner: Any) -> Around:
        """Where any other member stands."""
        around, lower = self._around, name.lower()
        protocol = around.protocol and not (self._remote and name == "value")
        if lower in keys.GENERIC:
            label = self._label if lower != "text" else ""
            hint = label or around.hint
            if self._whole and name in ("value", "inputValue"):
                return Around(hint, around.nest, protocol, False, self._whole, "whole")
            type_ = self._type if name == "value" and self._type else around.type or typed(name, around.headers)
            return Around(hint, around.nest, protocol, around.headers, type_, _how(around))
        if name == "name" and "role" in self._value and type(inner) is dict:
            return Around("", around.nest, protocol)  # what an accessibility tree calls an element
        own = words(name[:80])
        if self._heads and type(inner) is list and name in keys.HEADS:
            return Around(own, around.nest, protocol, heads=True)
        headers = own in HEADER_OBJECTS or (around.headers and type(inner) is not dict)
        hint = own if headers else "" if protocol else keys.hint_of(name, around.hint)
        hint = hint_for(hint, inner) if type(inner) is str else hint
        return Around(hint, around.nest, protocol, headers, typed(name, around.headers), _how(around))


def _how(around: Around) -> How:
    return "header" if around.headers else "likely"


@lru_cache(4096)
def typed(name: str, headers: bool) -> str:
    """As what the value under a name is masked whatever is found; empty for most."""
    if headers:
        return credentials.header_type(name) or ""
    return credentials.HEADERS.get(name.strip().lower()) or credentials.key_type(words(name[:80])) or ""


def items(value: list[Any], around: Around) -> Iterator[Leaf]:
    """What a list holds: cells under the heads of their columns, values behind their keys, or just items."""
    if heads := keys.head_row(value) if value else []:
        yield from (Leaf(value[0], number, cell, around) for number, cell in enumerate(value[0]))
        yield from rows(value[1:], heads, around)
        return
    if len(value) == 2 and type(value[0]) is str and keys.PLAIN_KEY.fullmatch(value[0]):
        yield Leaf(value, 0, value[0], around)
        type_ = typed(value[0], around.headers) or around.type
        inside = around._replace(hint=words(value[0]), type=type_, how=_how(around))
        yield Leaf(value, 1, value[1], inside)
        return
    for number, inner in enumerate(value):
        yield Leaf(value, number, inner, around)


def rows(value: list[Any], heads: list[str], around: Around) -> Iterator[Leaf]:
    """The cells of rows, each with the head of its column."""
    abouts = [around._replace(hint=head, headers=False, type=typed(head, False), how="likely") for head in heads]
    for row in value:
        for number, cell in enumerate(row):
            yield Leaf(row, number, cell, abouts[number])


def attributes(flat: list[str], around: Around) -> Iterator[Leaf]:
    """An element's attributes in one list, name and value by turns."""
    names = [name.lower() for name in flat[::2]]
    of = dict(zip(names, flat[1::2], strict=True))
    called = " ".join(words(of[name][:HEAD_CHARS]) for name in NAMING if name in of)
    password = of.get("type", "").lower() == "password"
    for number, name in enumerate(names):
        if not keys.PLAIN_KEY.fullmatch(name):
            yield Leaf(flat, 2 * number, flat[2 * number], around)
        if name in ("value", "content"):
            inside = Around(called, around.nest, True, type="PASSWORD" if password else "", how="whole")
        else:
            inside = Around("", around.nest, True)
        yield Leaf(flat, 2 * number + 1, flat[2 * number + 1], inside)


def strings(table: list[Any], snapshot: dict[str, Any], around: Around) -> Iterator[Leaf]:
    """The strings of a DOMSnapshot: the values of fields with what the field is called."""
    known, names = keys.strings_of_snapshot(snapshot), keys.names_of_snapshot(snapshot)
    for number, text in enumerate(table):
        if number in names:
            continue
        hint, password = known.get(number, ("", False))
        yield Leaf(
            table, number, text, Around(hint, around.nest, True, type="PASSWORD" if password else "", how="whole")
        )


def _is_password_node(value: dict[str, Any]) -> bool:
    """Is this an old snapshot's node of a password field?"""
    held = value.get("attributes")
    return "inputValue" in value and isinstance(held, list) and {"name": "type", "value": "password"} in held
