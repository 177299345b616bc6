"""Tracebacks with the author's frames only: folding, cutting, and exceptions that resist being looked at."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any

import pytest

from capsdk import ownlines
from capsdk.errors import error as cap_error
from capsdk.failure import describe, only_leaf
from capsdk.ownlines import MAX_FRAMES, MAX_TRACE_CHARACTERS, Place, folded, place_of, trace

FILE = "written.py"


def raised(source: str, **names: Any) -> BaseException:
    """What running `source`, as the author's file, raises."""
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    try:
        exec(compile(source, FILE, "exec"), names)
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


FOLDED = (  # frames, shown
    pytest.param("", "", id="none"),
    pytest.param("abc", "abc", id="no-cycle"),
    pytest.param("aab", "aab", id="twice-is-no-cycle"),
    pytest.param("aaab", "a(frame 2)b", id="one-frame"),
    pytest.param("xabababy", "xab(2 frames 2)y", id="two-frames"),
    pytest.param("aaabbb", "a(frame 2)b(frame 2)", id="one-after-the-other"),
    pytest.param("ababab" + "a", "ab(2 frames 2)a", id="ends-within-the-cycle"),
    pytest.param("abcdef" * 3, "abcdef(6 frames 2)", id="longest-cycle"),
    pytest.param("abcdefg" * 3, "abcdefg" * 3, id="longer-than-the-longest"),
)


@pytest.mark.parametrize(("frames", "shown"), FOLDED)
def test_repeated_frames_are_shown_once_and_counted(frames: str, shown: str) -> None:
    text = "".join(folded(list(frames)))
    made = text.replace("  [Previous ", "(").replace(" repeated ", " ").replace(" more times]\n", ")")
    assert made == shown


def test_a_long_trace_keeps_its_beginning_and_its_end() -> None:
    steps = "\n".join(f"def f{n}(): f{n + 1}()" for n in range(100))
    text = trace(raised(f"{steps}\ndef f100(): 1 / 0\nf0()\n"), {FILE})
    assert text.count('File "written.py"') == MAX_FRAMES
    assert "in f1\n" in text
    assert "in f100\n" in text
    assert "frames left out]" in text


def test_a_trace_of_many_characters_is_cut_in_its_middle() -> None:
    text = trace(raised("raise ValueError('x' * 100_000 + 'end')\n"), {FILE})
    assert len(text) < MAX_TRACE_CHARACTERS + 100
    assert 'File "written.py", line 1' in text
    assert text.endswith("end\n")
    assert "characters left out" in text


def test_a_traceback_deeper_than_can_be_read_is_read_from_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownlines, "DEEP", 100)
    monkeypatch.setattr(ownlines, "DEEP_READ", 50)
    text = trace(raised("def down(n): return 1 / 0 if n == 0 else down(n - 1)\ndown(300)\n"), {FILE})
    assert "[Previous frame repeated 48 more times]" in text
    assert "ZeroDivisionError" in text


def call(then: Callable[[], None]) -> None:
    """A library's frame between two of the author's."""
    then()


def test_frames_of_others_are_left_out_on_both_sides_of_ones_own() -> None:
    error = raised("def mine(): 1 / 0\ncall(mine)\n", call=call)
    assert trace(error, {FILE}).count("  File ") == 2
    assert trace(error, {FILE, __file__}).count("  File ") == 4


def fails_inside(how: str) -> None:
    """A library that meets an error of its own on the way."""
    try:
        raise LookupError("inner")
    except LookupError as error:
        if how == "from":
            raise ValueError("outer") from error
        raise ValueError("outer")  # noqa: B904  # the unnamed chain is what is tested


CHAINS = (  # source, whether the inner error is told
    pytest.param("fails('context')", False, id="met-inside-a-library"),
    pytest.param("fails('from')", True, id="named-as-the-cause-by-a-library"),
    pytest.param("try:\n    raise LookupError('inner')\nexcept LookupError:\n    int('x')", True, id="ones-own"),
    pytest.param("raise ValueError('x') from LookupError('inner')", True, id="never-raised"),
)


@pytest.mark.parametrize(("source", "told"), CHAINS)
def test_what_a_library_met_and_handled_is_not_the_authors_business(source: str, told: bool) -> None:
    text = trace(raised(source, fails=fails_inside), {FILE})
    assert ("inner" in text) is told
    assert "ValueError" in text


PLACES = (  # source, line
    pytest.param("x = 1\n1 / 0\n", 2, id="own-line"),
    pytest.param("\ncall(lambda: None)\ncall(\n    lambda: 1 / 0\n)\n", 4, id="innermost"),
    pytest.param("x = 1\nint('x')\n", 2, id="raised-by-a-builtin"),
    pytest.param("x = 1\ncompile('y = (', 'written.py', 'exec')\n", 1, id="line-of-a-syntax-error"),
    pytest.param("x = 1\ncompile('y = (', 'other.py', 'exec')\n", 2, id="syntax-error-of-another-file"),
)


@pytest.mark.parametrize(("source", "line"), PLACES)
def test_the_place_is_the_authors_innermost_line(source: str, line: int) -> None:
    assert place_of(raised(source, call=call), {FILE}) == Place(FILE, line)


def test_an_error_from_elsewhere_has_no_place() -> None:
    assert place_of(raised("1 / 0"), {"main.py"}) is None


SILENT = "class Silent(Exception):\n    def __str__(self): raise SystemExit\n"
MASKED = "def no(self): raise SystemExit\nMasked = type('Masked', (Exception,), {'__class__': property(no)})\n"
RESISTING = (  # what is raised, its type
    pytest.param(SILENT + "raise Silent", "Silent", id="text-that-raises"),
    pytest.param(MASKED + "raise Masked", "Masked", id="class-that-raises"),
    pytest.param(SILENT + "raise ExceptionGroup('', [Silent(), KeyError()])", "ExceptionGroup", id="in-a-group"),
    pytest.param("e = ValueError()\ne.__notes__ = 3\nraise e", "ValueError", id="notes-that-are-none"),
    pytest.param(
        "a, b = ValueError(), KeyError()\na.__cause__, b.__cause__ = b, a\nraise a", "ValueError", id="a-ring"
    ),
    pytest.param("raise MemoryError", "MemoryError", id="no-memory"),
    pytest.param("raise type('E' * 5000, (Exception,), {})", "E" * 5000, id="long-name"),
)


@pytest.mark.parametrize(("source", "kind"), RESISTING)
def test_whatever_is_raised_is_described(source: str, kind: str) -> None:
    told = describe(raised(source), {FILE})
    assert told["type"] == kind
    assert told["message"]
    assert isinstance(told["trace"], str)


def group(*errors: BaseException) -> BaseException:
    """A group within a group, as nested task groups make them."""
    return BaseExceptionGroup("outer", [BaseExceptionGroup("inner", list(errors))])


GROUPS = (  # errors of the group, type of the one that is told
    pytest.param((KeyError(1),), KeyError, id="one"),
    pytest.param((KeyError(1), KeyError(2)), BaseExceptionGroup, id="two-of-the-authors"),
    pytest.param((cap_error("CANCELLED", "a"), cap_error("CANCELLED", "b")), type(cap_error("CANCELLED", "")),
                 id="the-same-refusal-twice"),
    pytest.param((cap_error("CANCELLED", "a"), cap_error("OUTCOME_UNKNOWN", "b")), BaseExceptionGroup,
                 id="two-refusals"),
    pytest.param((MemoryError(), MemoryError()), MemoryError, id="no-memory-twice"),
)  # fmt: skip


@pytest.mark.parametrize(("errors", "kind"), GROUPS)
def test_a_group_is_told_as_its_one_failure_when_it_has_one(
    errors: tuple[BaseException, ...], kind: type[BaseException]
) -> None:
    assert isinstance(only_leaf(group(*errors)), kind)


def test_the_interpreter_prints_groups_by_the_same_folded_frames() -> None:
    error = raised(
        "def a(n): return a(n)\ntry:\n    a(1)\nexcept RecursionError as e:\n    raise ExceptionGroup('g', [e])"
    )
    text = trace(error, {FILE})
    assert "more times]" in text
    assert len(text.splitlines()) < 30, (sys.version_info, text)
