"""HTML as texts to look through: what a person sees of it, what attributes hold, what stands in a cell, its label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.masking.views import HEAD_CHARS, Maker, View, plain_views, seam, words

TAG = re.compile(r"<(?:/?[A-Za-z][A-Za-z0-9:-]*+(?:\s[^<>]*+)?/?>|!--|!doctype)", re.I)
WHOLE_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*+)((?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+)>")
ATTRIBUTE = re.compile(r"([^\s\"'>/=]++)(?:\s*+=\s*+(\"[^\"]*+\"|'[^']*+'|[^\s\"'>]++))?")
OPAQUE = {name: re.compile(f"</{name}", re.I) for name in ("script", "style")}
INLINE = frozenset(
    (
        "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark",
        "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    )
)  # fmt: skip
LABELS = frozenset(("dt", "label", "legend", "th"))
VALUES = frozenset(("dd", "output", "td", "textarea"))
FIELDS = frozenset(("input", "meta", "select", "textarea"))
NAMING = ("autocomplete", "name", "id", "aria-label", "placeholder", "title", "itemprop", "property", "data-label")
SHOWN = frozenset(
    ("action", "alt", "aria-label", "content", "href", "label", "placeholder", "src", "srcdoc", "title", "value")
)
ADDRESSES = frozenset(("action", "href", "src"))
ODD_VALUE = re.compile(r"@|%40|\d{3}|[A-Z][a-z]+\s+[A-Z]|\S{24}|[{:=]")
PASSWORD_FIELD = re.compile(r"<input\b[^<>]{0,4000}+>", re.I)
PASSWORD_TYPE = re.compile(r"\btype\s*=\s*[\"']?password\b", re.I)


def is_html(text: str) -> bool:
    """Does a text hold tags or a comment?"""
    return "<" in text and TAG.search(text) is not None


def html_views(text: str, hint: str) -> Iterator[View]:
    """Every way in which HTML is looked through; together they leave none of its text and attributes out."""
    return _Reader(text, hint).views()


class _Reader:
    """One pass over HTML. It is no parser: what it takes for the wrong thing is looked through all the same."""

    def __init__(self, text: str, hint: str) -> None:
        self._text = text
        self._hint = hint
        self._page = Maker()
        self._block = Maker()  # the text since the last tag that begins or ends a block
        self._open = ""
        self._closed = False  # did an inline element end since the last text?
        self._beside = False  # and another one begin?
        self._label = ""
        self._heads: list[str] = []  # of the table's columns
        self._row: list[str] = []  # the heads in this row
        self._column = 0
        self._cells = False  # has the row others than heads?

    def views(self) -> Iterator[View]:
        text, at = self._text, 0
        while at < len(text):
            start = text.find("<", at)
            end = len(text) if start < 0 else start
            if at < end:
                self._text_until(at, end)
            if start < 0:
                break
            if text.startswith("<!--", start):
                close = text.find("-->", start + 4)
                at = len(text) if close < 0 else close + 3
                yield from plain_views(text, start + 4, at, "")
            elif (tag := WHOLE_TAG.match(text, start)) is not None:
                at = tag.end()
                yield from self._tag(tag)
                if tag[2].lower() in OPAQUE and not tag[1]:
                    closing = OPAQUE[tag[2].lower()].search(text, at)
                    code, at = at, closing.start() if closing else len(text)
                    yield from plain_views(text, code, at, "")
            elif text[start + 1 : start + 2].isalpha():  # cut off in a tag, or a quote that never ends
                yield from plain_views(text, start, len(text), self._hint)
                break
            else:
                self._page.add("<", start, start + 1, plain=True)
                at = start + 1
        yield self._page.view(self._hint)

    def _text_until(self, at: int, end: int) -> None:
        if self._beside:
            between = seam(self._page.last, self._text[at:end])
            self._page.add(between, at, at, plain=False)
            self._block.add(between, at, at, plain=False)
        self._closed = self._beside = False
        self._page.unescaped(self._text, at, end)
        self._block.unescaped(self._text, at, end)

    def _tag(self, tag: re.Match[str]) -> Iterator[View]:
        name, closes = tag[2].lower(), bool(tag[1])
        if name == "br":
            self._page.add("\n", tag.start(), tag.start(), plain=False)
            self._block.add("\n", tag.start(), tag.start(), plain=False)
        elif name in INLINE:
            self._beside = self._beside or (self._closed and not closes)
            self._closed = self._closed or closes
        else:
            self._closed = self._beside = False
            self._page.add("\t" if name in ("td", "th") else "\n", tag.start(), tag.start(), plain=False)
            yield from self._end_block()
            self._begin_block(name, closes)
        if not closes:
            yield from attributes(self._text, tag, self._label if name in FIELDS else "")
            if name == "input":
                self._label = ""

    def _end_block(self) -> Iterator[View]:
        block, self._block = self._block, Maker()
        view = block.view(self._label)
        shown = " ".join(view.text.split())[: HEAD_CHARS + 1]
        if not shown or len(shown) > HEAD_CHARS:
            if shown and self._open in VALUES and self._label:
                yield view
            return
        if self._open in LABELS:
            self._label = shown
            if self._open == "th":
                self._row.append(shown)
        elif self._open in VALUES and self._label:
            yield view

    def _begin_block(self, name: str, closes: bool) -> None:
        if name in ("tr", "table", "thead", "tbody"):
            if len(self._row) > 1 and not self._cells:
                self._heads = self._row
            if name == "table":
                self._heads = []
            self._row, self._column, self._cells, self._label = [], 0, False, ""
        elif name in ("td", "th") and not closes:
            self._cells = self._cells or name == "td"
            self._label = self._head_of_cell() if name == "td" else ""
            self._column += 1
        elif closes and name in VALUES:
            self._label = ""
        self._open = "" if closes else name

    def _head_of_cell(self) -> str:
        if self._column < len(self._heads):
            return self._heads[self._column]
        return self._row[0] if len(self._row) == 1 else ""


def attributes(text: str, tag: re.Match[str], label: str) -> Iterator[View]:
    """What the attributes of a tag hold; the value of a field with what the field is called."""
    found = [
        (one[1].lower(), *unquoted(text, one.start(2), one.end(2)))
        for one in ATTRIBUTE.finditer(text, tag.start(3), tag.end(3))
        if one[2] is not None
    ]
    naming = [text[start:end] for wanted in NAMING for key, start, end in found if key == wanted and end - start <= 80]
    for key, start, end in found:
        if start >= end or (key not in SHOWN and not ODD_VALUE.search(text, start, end)):
            continue
        made = Maker()
        made.unescaped(text, start, end)
        about = " ".join((label, *map(words, naming))).strip() if key in ("value", "content") else ""
        yield made.view(about)
        if key in ADDRESSES:
            yield from list(plain_views(text, start, end, ""))[1:]


def unquoted(text: str, start: int, end: int) -> tuple[int, int]:
    """The place of an attribute's value without its quotes."""
    return (start + 1, end - 1) if text[start] in "\"'" else (start, end)


def password_values(text: str) -> Iterator[tuple[int, int]]:
    """Where the values of password fields stand in HTML."""
    if "assword" not in text and "ASSWORD" not in text:
        return
    for field in PASSWORD_FIELD.finditer(text):
        if PASSWORD_TYPE.search(field[0]):
            for one in ATTRIBUTE.finditer(text, field.start() + len("<input"), field.end() - 1):
                if one[1].lower() == "value" and one[2] is not None:
                    start, end = unquoted(text, one.start(2), one.end(2))
                    if start < end:
                        yield start, end
