"""What a person sees: rows of pages cannot steer the terminal."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.frontends.terminal import CELL_CHARS, Progress, plain, table

PLAIN = (
    pytest.param("shop", "shop", id="plain"),
    pytest.param(None, "", id="none"),
    pytest.param(1.5, "1.5", id="number"),
    pytest.param("Grüße 日本", "Grüße 日本", id="letters-of-any-script"),
    pytest.param("a\nb", "a\\u000ab", id="newline"),
    pytest.param("a\rb", "a\\u000db", id="carriage-return"),
    pytest.param("\x1b[2J", "\\u001b[2J", id="escape-sequence"),
    pytest.param("\x9b2J", "\\u009b2J", id="c1-control"),
    pytest.param("\x07\x00\x7f", "\\u0007\\u0000\\u007f", id="bell-nul-delete"),
    pytest.param("\u202egpj.exe", "\\u202egpj.exe", id="bidi-override"),
    pytest.param("\u2066x\u2069", "\\u2066x\\u2069", id="bidi-isolate"),
    pytest.param("a\u200bb\ufeff", "a\\u200bb\\ufeff", id="zero-width"),
    pytest.param("a\u2028b\u2029", "a\\u2028b\\u2029", id="line-and-paragraph-separator"),
    pytest.param("\ud800", "\\ud800", id="half-surrogate"),
    pytest.param("\ue000", "\\ue000", id="private-use"),
    pytest.param("\U000e0041", "\\ue0041", id="tag-character"),
    pytest.param("x" * 60, "x" * 60, id="exactly-a-cell"),
    pytest.param("x" * 61, "x" * 59 + "…", id="cut"),
)


@pytest.mark.parametrize(("value", "shown"), PLAIN)
def test_a_value_is_shown_on_one_line_with_its_odd_characters_spelled_out(value: object, shown: str) -> None:
    assert plain(value) == shown


@given(st.text(st.characters(codec=None)))
def test_whatever_a_page_says_stays_in_its_cell(text: str) -> None:
    shown = plain(text)
    assert len(shown) <= CELL_CHARS
    assert {unicodedata.category(char) for char in shown}.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
    assert len(table([{"title": text, text: 1}]).splitlines()) == 3


def test_rows_are_aligned_columns() -> None:
    assert table([{"title": "Pen", "price": 3}, {"title": "A long name", "note": "x"}]).splitlines() == [
        "title        price  note",
        "-----------  -----  ----",
        "Pen          3",
        "A long name         x",
    ]


def test_no_rows_are_no_table() -> None:
    assert table([]) == ""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_rewritten_on_a_terminal_and_a_log_line_ends_it() -> None:
    stream = Terminal()
    with Progress(stream) as progress:
        progress.tell("progress", {"done": 1, "total": 3, "message": "a\x1b"})
        progress.tell("progress", {"done": 2, "total": 3})
        progress.tell("log", {"level": "warning", "message": "b\nc"})
        progress.tell("log", {"level": "debug", "message": "hidden"})
        progress.tell("progress", {"done": 0.5})
    assert stream.getvalue() == "\r\x1b[2K[1/3] a\\u001b\r\x1b[2K[2/3] \nwarning: b\\u000ac\n\r\x1b[2K[0.5] \n"


def test_progress_is_plain_lines_elsewhere() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.tell("start", {"run": "r1", "app": "x\n", "tier": "noopen"})
        progress.tell("progress", {"done": 1, "total": 3, "message": "a"})
    assert stream.getvalue() == "run r1 of x\\u000a in sandbox noopen\n[1/3] a\n"
