"""What a script's worker says of its end, and how it is believed: shape, length, and nothing more."""

from __future__ import annotations

from typing import Any

import pytest

from capsdk.errors import CapError
from host.core.limits import Limits
from host.core.run_limits import run_limits
from host.frontends.script_door import (
    MAX_DETAILS_BYTES,
    MAX_HINT,
    MAX_NAME,
    MAX_TRACE,
    MAX_WORDS,
    checked_result,
    script_error,
    vanished,
)

TOLD = {"type": "KeyError", "message": "'price'", "file": "main.py", "line": 12, "trace": "T", "hint": "H"}
DETAILS = {"file": "main.py", "line": 12, "type": "KeyError", "trace": "T"}


def test_a_failure_is_what_and_where_with_the_hint_beside_it() -> None:
    error = script_error(TOLD)
    assert (error.code, error.message, error.hint) == ("SCRIPT_FAILED", "main.py:12: KeyError: 'price'", "H")
    assert error.details == DETAILS


MESSAGES = (  # changes to what is told, the message
    pytest.param({"type": "ScriptError", "message": "no main"}, "main.py:12: no main", id="no-exception-behind-it"),
    pytest.param({"line": None}, "main.py: KeyError: 'price'", id="no-line"),
    pytest.param({"file": None}, "KeyError: 'price'", id="no-file"),
    pytest.param({"message": ""}, "main.py:12: KeyError", id="no-words"),
    pytest.param({"type": None}, "main.py:12: Error: 'price'", id="no-type"),
    pytest.param({"file": None, "type": "ScriptError", "message": ""}, "ScriptError", id="nothing"),
)


@pytest.mark.parametrize(("changes", "message"), MESSAGES)
def test_what_is_not_told_is_left_out(changes: dict[str, Any], message: str) -> None:
    assert script_error({**TOLD, **changes}).message == message


DEEP: list[Any] = []
for _ in range(90):
    DEEP = [DEEP]
LINES = (True, 0, -1, 1.5, "7", 10**9, None)
ODD: tuple[Any, ...] = (None, 7, "x", [], {"message": DEEP}, {"type": {}, "trace": 5, "hint": [], "file": 3})


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_none_is_not_believed(line: Any) -> None:
    assert "line" not in script_error({**TOLD, "line": line}).details


@pytest.mark.parametrize("data", ODD)
def test_whatever_is_told_is_an_error(data: Any) -> None:
    error = script_error(data)
    assert (error.code, error.message, error.hint) == ("SCRIPT_FAILED", "Error", None)
    assert error.details == {"type": "Error", "trace": ""}


def test_its_words_are_bounded() -> None:
    endless = "x" * 100_000
    error = script_error({"type": endless, "message": endless, "file": endless, "trace": endless, "hint": endless})
    assert len(error.message) <= 2 * MAX_NAME + MAX_WORDS + 10
    assert len(error.hint or "") == MAX_HINT
    assert (len(error.details["trace"]), len(error.details["file"])) == (MAX_TRACE, MAX_NAME)


REFUSAL = {"code": "GRANT_OFF", "message": "no", "hint": "h", "details": {"method": "m", "line": 3}}
BELIEVED = (  # the error object that is told, code, details beyond the place
    pytest.param(REFUSAL, "GRANT_OFF", {"method": "m", "line": 3}, id="a-refusal-keeps-its-own"),
    pytest.param({"code": "GRANT_OFF", "message": "no"}, "GRANT_OFF", {}, id="without-details"),
    pytest.param({"code": "GRANT_OFF", "hint": 5, "details": "d"}, "GRANT_OFF", {}, id="of-odd-types"),
    pytest.param({"code": "GRANT_OFF", "details": {"x": "x" * MAX_DETAILS_BYTES}}, "GRANT_OFF", {}, id="too-large"),
    pytest.param({"code": "MADE_UP", "message": "no"}, "SCRIPT_FAILED", {}, id="unknown-code"),
    pytest.param({"code": ["GRANT_OFF"]}, "SCRIPT_FAILED", {}, id="code-is-a-list"),
    pytest.param({"code": {}}, "SCRIPT_FAILED", {}, id="code-is-an-object"),
    pytest.param("GRANT_OFF", "SCRIPT_FAILED", {}, id="no-object"),
)


@pytest.mark.parametrize(("told", "code", "more"), BELIEVED)
def test_an_error_object_is_believed_when_it_is_one(told: Any, code: str, more: dict[str, Any]) -> None:
    error = script_error({**TOLD, "error": told})
    assert error.code == code
    assert error.details == {**DETAILS, **more}


RESULT = {"state": "ok", "complete": True, "rowsJson": "[]"}
MISSHAPEN = (  # changes to a good result, what is named
    pytest.param({"state": "fine"}, "state", id="unknown-state"),
    pytest.param({"state": []}, "state", id="state-is-a-list"),
    pytest.param({"complete": 1}, "complete", id="complete-is-a-number"),
    pytest.param({"rowsJson": []}, "rows_json", id="rows-are-no-text"),
)


@pytest.mark.parametrize(("changes", "named"), MISSHAPEN)
def test_a_result_of_the_wrong_shape_is_refused_with_what_is_wrong(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(CapError) as caught:
        checked_result({**RESULT, **changes})
    assert caught.value.code == "SCRIPT_FAILED"
    assert named in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("data", [None, 7, "ok", [], {}])
def test_what_is_no_result_is_refused(data: Any) -> None:
    with pytest.raises(CapError):
        checked_result(data)


REASONS = (  # reason told, reason kept
    pytest.param("page 2 is gone", {"reason": "page 2 is gone"}, id="text"),
    pytest.param("x" * 5000, {"reason": "x" * MAX_WORDS}, id="long"),
    pytest.param("", {}, id="empty"),
    pytest.param(7, {}, id="no-text"),
)


@pytest.mark.parametrize(("reason", "kept"), REASONS)
def test_a_result_keeps_its_four_keys_and_no_other(reason: Any, kept: dict[str, Any]) -> None:
    assert checked_result({**RESULT, "reason": reason, "more": 1}) == {**RESULT, **kept}


RUN = run_limits(Limits(), {"cpu_s": 2})
ENDS = (  # how it ended, code, words of the message
    pytest.param("exit 3", "SCRIPT_FAILED", "(exit 3)", id="os-exit"),
    pytest.param("SIGSEGV", "SCRIPT_FAILED", "SIGSEGV", id="crash"),
    pytest.param("SIGSYS", "SCRIPT_FAILED", "SIGSYS", id="foreign-machine-code"),
    pytest.param("SIGXCPU", "RUN_LIMIT", "2 s", id="cpu"),
    pytest.param("SIGKILL", "RUN_LIMIT", "no memory left", id="killed"),
    pytest.param("it closed its connection", "SCRIPT_FAILED", "closed its connection", id="left"),
)


@pytest.mark.parametrize(("how", "code", "words"), ENDS)
def test_an_end_without_a_word_is_told_by_how_it_came(how: str, code: str, words: str) -> None:
    error = vanished(how, RUN)
    assert error.code == code
    assert words in error.message
    assert vanished(how).code == code


def test_the_cpu_limit_names_itself_its_value_and_its_key() -> None:
    error = vanished("SIGXCPU", RUN)
    assert (error.details["what"], error.details["limit"], error.details["actual"]) == ("cpu_s", 2, 2)
    assert "cpu_s in app.toml" in error.message
