"""The set's pages as texts with their labels, without a browser: for the quick look at the engine alone.

A rough reading of our own HTML (blocks, heads of tables, labels before values), not the product's model of a page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from bench.redaction.pages import Page
from host.core.redaction import Text

BLOCKS = frozenset(
    (
        "article",
        "aside",
        "blockquote",
        "body",
        "br",
        "button",
        "dd",
        "div",
        "dl",
        "dt",
        "form",
        "h1",
        "h2",
        "h3",
        "label",
    )
) | frozenset(
    ("iframe", "li", "main", "nav", "ol", "p", "svg", "table", "tbody", "td", "text", "th", "thead", "tr", "ul")
)
MARKS = frozenset(("x-d", "x-p"))
VOID = frozenset(("br", "input", "link", "meta"))
SILENT = frozenset(("script", "style", "title"))
LABEL_CHARS = 34
DRAWING = re.compile(r"<script>draw\(\.\.\.(.*?)\)</script>", re.DOTALL)


@dataclass(slots=True)
class Mark:
    """A labelled part of a text."""

    start: int
    end: int
    private: bool
    type: str


@dataclass(slots=True)
class Block:
    """A text and what is labelled in it."""

    text: str = ""
    hint: str = ""
    kind: str = "text"
    marks: list[Mark] = field(default_factory=list)

    def as_text(self) -> Text:
        """As the engine takes it."""
        if self.kind == "ocr":
            return Text(self.text, self.hint, "ocr")
        return Text(self.text, self.hint, "field") if self.kind == "field" else Text(self.text, self.hint)


def apart(tag: str, given: dict[str, str]) -> bool:
    """Does a style put this element at a place of its own? So we write those."""
    return tag in ("b", "span") and ("style" in given or "class" in given)


LEFT = re.compile(r"left:(\d+)px")
ROW = "r"  # the class of a row whose children stand beside each other


class Reader(HTMLParser):
    """Collects the blocks of one document; the newest short one without marks is the label of the next."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self._now = Block()
        self._open: list[tuple[str, str, int]] = []
        self._silent = 0
        self._label = ""
        self._heads: list[str] = []
        self._column = -1
        self._preserve = 0
        self._heading = False
        self._rows: list[bool] = []  # for each open element: is it such a row?
        self._heads_at: dict[str, str] = {}
        self._left = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in SILENT:
            self._silent += 1
        if tag in ("pre", *BLOCKS) or apart(tag, given) or (self._rows and self._rows[-1] and tag not in MARKS):
            self._flush()
        if tag not in VOID:
            self._rows.append(given.get("class") == ROW)
        placed = LEFT.search(given.get("style", "")) if tag in ("b", "span") else None
        if placed:
            self._left = placed[1]
        self._preserve += tag == "pre"
        if tag == "thead":
            self._heads, self._heading = [], True
        if tag == "tbody":
            self._heading = False
        if tag == "tr":
            self._column = -1
        if tag in ("td", "th"):
            self._column += 1
        if tag in ("x-p", "x-d"):
            self._open.append((tag, given.get("t", ""), len(self._now.text)))
        elif "data-x" in given:
            text = given.get("value") or given.get("data-c", "")
            if text:
                self._field(given, text)
            else:
                self._open.append((tag, given["data-x"], len(self._now.text)))

    def _field(self, given: dict[str, str], text: str) -> None:
        before = self._now.text.strip()
        self._flush()
        private, _, kind = given["data-x"].partition(":")
        words = (before or self._label, given.get("autocomplete", ""), given.get("name", ""), given.get("type", ""))
        block = Block(text, " ".join(word for word in words if word), "text" if "data-c" in given else "field")
        block.marks.append(Mark(0, len(text), private == "p", kind))
        self.blocks.append(block)

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT:
            self._silent -= 1
        if self._open and self._open[-1][0] == tag:
            _, mark, start = self._open.pop()
            private, _, kind = mark.rpartition(":")
            is_private = tag == "x-p" or private == "p"
            self._now.marks.append(Mark(start, len(self._now.text), is_private, kind))
        if self._rows:
            self._rows.pop()
        beside = bool(self._rows) and self._rows[-1] and tag not in MARKS
        if (
            tag in ("pre", *BLOCKS)
            or beside
            or (tag in ("b", "span") and (self._left or tag == "span") and not self._open)
        ):
            self._flush()
        if tag == "table":
            self._heads = []
        self._preserve -= tag == "pre"

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if not self._preserve:
            data = re.sub(r"\s+", " ", data)
            if not self._now.text:
                data = data.lstrip()
        self._now.text += data

    def _flush(self) -> None:
        block, self._now = self._now, Block()
        if not block.text.strip():
            return
        short = not block.marks and len(block.text) < LABEL_CHARS
        in_table = 0 <= self._column < len(self._heads)
        if self._heading:
            self._heads.append(block.text.strip())
        elif self._left and short:
            self._heads_at[self._left] = block.text.strip()
        elif not short:
            block.hint = self._heads[self._column] if in_table else self._heads_at.get(self._left, self._label)
        self._left = ""
        self._label = block.text.strip(" :\n") if short else ""
        self.blocks.append(block)

    def close(self) -> None:
        """The last block."""
        super().close()
        self._flush()


def blocks(page: Page) -> list[Block]:
    """The texts of a page, those of its frames, and those that it draws."""
    found: list[Block] = []
    for document in (page.html, *nested(page.html), page.far):
        reader = Reader()
        reader.feed(document)
        reader.close()
        found += reader.blocks
        found += drawn(document)
    return found


def nested(document: str) -> Iterator[str]:
    """The documents that are in attributes."""

    class Frames(HTMLParser):
        inner: list[str] = []  # noqa: RUF012 # one for each class, and that is made anew each time

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.inner += [value for name, value in attrs if name == "srcdoc" and value]

    frames = Frames()
    frames.feed(document)
    yield from frames.inner


def drawn(document: str) -> Iterator[Block]:
    """The lines of its drawings."""
    for told in DRAWING.findall(document):
        for item in json.loads(told.replace("<\\/", "</"))[5]:
            if "parts" in item:
                block = Block(kind="ocr")
                for text, mark in item["parts"]:
                    start = len(block.text)
                    block.text += text
                    if mark:
                        private, _, kind = mark.partition(":")
                        block.marks.append(Mark(start, len(block.text), private == "p", kind))
                yield block
