"""What a person sees: rows of pages cannot steer the terminal."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsdk.errors import CapError, error
from host.frontends.terminal import (
    CELL_CHARS,
    LOG_CHARS,
    LOG_LINES,
    TRACE_LINES,
    Progress,
    error_lines,
    plain,
    table,
)

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
    assert stream.getvalue() == "\r\x1b[2K[1/3] a\\u001b\r\x1b[2K[2/3] \nwarning: b\n         c\n\r\x1b[2K[0.5] \n"


def test_progress_is_plain_lines_elsewhere() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.tell("start", {"run": "r1", "app": "x\n", "tier": "noopen"})
        progress.tell("progress", {"done": 1, "total": 3, "message": "a"})
    assert stream.getvalue() == "run r1 of x\\u000a in sandbox noopen\n[1/3] a\n"


LOGGED = (  # message, what is shown
    pytest.param("x" * (LOG_CHARS + 1), ["info: " + "x" * (LOG_CHARS - 1) + "…"], id="long"),
    pytest.param("one\ncapsdk: two", ["info: one", "      capsdk: two"], id="further-lines-stand-below"),
    pytest.param("\x1b[2Jone\u202e", ["info: \\u001b[2Jone\\u202e"], id="steers-nothing"),
    pytest.param("", ["info: "], id="empty"),
    pytest.param(
        "\n".join("x" * (LOG_LINES + 2)),
        ["info: x", *["      x"] * (LOG_LINES - 1), "      … 2 lines left out …"],
        id="many-lines",
    ),
)


@pytest.mark.parametrize(("message", "shown"), LOGGED)
def test_a_log_message_cannot_pass_for_anything_else(message: str, shown: list[str]) -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.tell("log", {"level": "info", "message": message})
    assert stream.getvalue().split("\n")[:-1] == shown


HEAD = "Traceback (most recent call last):\n"
FRAME = '  File "main.py", line 5, in main\n    1 / 0\n    ~~^~~\n'
SHOWN = FRAME.splitlines()
WHERE: dict[str, Any] = {"file": "main.py", "line": 5}
FAILED = "capsdk: SCRIPT_FAILED: main.py:5: E: no"
CHAIN = f"{HEAD}{FRAME}KeyError: 'a'\n\nThe above exception was the direct cause of this:\n\n{HEAD}{FRAME}E: no\n"
ERRORS = (  # error, lines
    pytest.param(error("CANCELLED", "stop"), ["capsdk: CANCELLED: stop"], id="no-more-than-that"),
    pytest.param(
        error("SCRIPT_FAILED", "main.py:5: E: no", hint="do this", **WHERE, trace=f"{HEAD}{FRAME}E: no\n"),
        [FAILED, "        do this", *SHOWN],
        id="place-hint-and-frames",
    ),
    pytest.param(
        error("GRANT_OFF", "no", **WHERE, trace=f"{HEAD}{FRAME}capsdk.errors.PermissionError: no\n"),
        ["capsdk: GRANT_OFF: main.py:5: no", *SHOWN],
        id="a-refusal-gains-its-place",
    ),
    pytest.param(error("GRANT_OFF", "no", file="main.py"), ["capsdk: GRANT_OFF: main.py: no"], id="place-without-line"),
    pytest.param(
        error("SCRIPT_FAILED", "main.py:5: E: no", **WHERE, trace=f"{HEAD}{FRAME}E: no\nand more\nof it"),
        [FAILED, *SHOWN],
        id="a-message-of-lines-is-not-repeated",
    ),
    pytest.param(
        error("SCRIPT_FAILED", "main.py:5: E: no\n  and\n\nmore", **WHERE),
        [f"{FAILED} and more"],
        id="a-message-of-lines-is-one-line",
    ),
    pytest.param(
        error(
            "SCRIPT_FAILED", "main.py:5: E: no", **WHERE, trace='  File "main.py", line 5\n    x = (\n        ^\nE: no'
        ),
        [FAILED, '  File "main.py", line 5', "    x = (", "        ^"],
        id="syntax-error",
    ),
    pytest.param(
        error("SCRIPT_FAILED", "main.py:5: E: no", **WHERE, trace=CHAIN), [FAILED, *CHAIN.splitlines()], id="a-chain"
    ),
    pytest.param(error("SCRIPT_FAILED", "E: no", trace="E: no\n"), ["capsdk: SCRIPT_FAILED: E: no", "E: no"], id="odd"),
    pytest.param(error("SCRIPT_FAILED", "E: no", trace=7), ["capsdk: SCRIPT_FAILED: E: no"], id="no-text"),
    pytest.param(
        error("SCRIPT_FAILED", "\x1b[2J", hint="\x9b", file="\u202e", trace="\x07"),
        ["capsdk: SCRIPT_FAILED: \\u202e: \\u001b[2J", "        \\u009b", "\\u0007"],
        id="steers-nothing",
    ),
)


@pytest.mark.parametrize(("problem", "lines"), ERRORS)
def test_an_error_is_what_and_where_then_what_to_do_then_the_way_there(problem: CapError, lines: list[str]) -> None:
    assert list(error_lines(problem)) == lines


def test_a_long_way_there_is_shown_in_part() -> None:
    trace = HEAD + "".join(f"  line {number}\n" for number in range(100))
    _, *lines = error_lines(error("SCRIPT_FAILED", "E", trace=trace))
    assert len(lines) == TRACE_LINES
    assert (lines[0], lines[-1]) == ("  line 0", "  line 99")
    assert sum("71 lines left out; --json has them" in line for line in lines) == 1
