"""The strings of a result that are looked through, what was found in each, and how they are written back."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from host.core.masking import credentials
from host.core.masking.places import Place
from host.core.masking.views import View
from host.core.redaction import Found

PARAMETER_NAME = re.compile(r"[A-Za-z][\w.\[\]-]{0,60}=(?=[^=]+\Z)")


@dataclass(slots=True)
class Slot:
    """One string, number or key that is looked through; `nest` is the number of the nested text it stands in."""

    holder: Any
    key: Any
    text: str
    nest: int
    part: Literal["text", "number", "key"] = "text"
    views: list[tuple[int, View]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


@dataclass(slots=True)
class Nest:
    """A string that is JSON, or base64 of a text: `inside[0]` is what it holds."""

    holder: Any
    key: Any
    parent: int
    depth: int
    inside: list[Any]
    written: str = ""
    is_base64: bool = False
    touched: bool = False

    def close(self, parent: Nest) -> None:
        """Write what it holds back into its string; what was not touched keeps its spelling."""
        if self.touched:
            parent.touched = True
            text = self.inside[0] if self.is_base64 else spelled(self.inside[0], self.written)
            if self.is_base64:
                text = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
            self.holder[self.key] = text
        elif self.is_base64:
            self.holder[self.key] = self.written


def named_places(view: View, text: str) -> list[Place]:
    """A credential behind its name, such as in a script."""
    type_ = credentials.key_type(view.hint)
    if type_ is None or not credentials.is_value(view.text, view.hint, type_):
        return []
    return [
        Place(start, end, type_, text[start:end], True)
        for span in credentials.header_value(view.hint, view.text, type_)
        for start, end in view.ranges(span.start, span.end)[:1]
    ]


def parted(text: str, start: int, end: int, type_: str) -> list[Place]:
    """The part of a private detail that stands in one string: each part has a placeholder of its own."""
    value = text[start:end].strip()
    if not value:
        return []
    if not any(map(str.isalnum, value)):
        return [Place(start, end, type_, None)]  # the dot of an address in single letters
    start = text.index(value, start)
    return [Place(start, start + len(value), type_, value)]


def found_places(slot: Slot, found: Sequence[Sequence[Found]]) -> Iterator[Place]:
    for number, view in slot.views:
        for one in found[number]:
            value: str | None = view.text[one.start : one.end]
            first = one.start
            if one.type == "EMAIL" and value and (name := PARAMETER_NAME.match(value)):  # "mail=" is none of it
                first, value = first + name.end(), value[name.end() :]
            for start, end in view.ranges(first, one.end):
                if value is not None or slot.text[start:end].strip():
                    yield Place(start, end, one.type, value)
                value = None


def spelled(value: Any, before: str) -> str:
    """JSON anew, with the spaces that it had."""
    if "\n" in before.strip():
        return json.dumps(value, ensure_ascii=False, indent=2)
    spaced = '": ' in before
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":"))


def rename(holder: dict[str, Any], names: dict[str, str]) -> None:
    """New names for some keys, in their places; two keys that have the same one now stay two."""
    members = list(holder.items())
    holder.clear()
    for name, value in members:
        new = base = names.get(name, name)
        number = 1
        while new in holder:
            number += 1
            new = f"{base} ({number})"
        holder[new] = value
