"""The vocabulary of failure: every code of the design once, in its category, with its exit status."""

from __future__ import annotations

import json

import pytest

from capsdk import errors
from capsdk.errors import BY_CODE, CODES, CapError, InternalError, error, from_wire
from host.core.wire import dumps

TABLE = {  # category: (exit status, codes)
    "invalid_argument": (
        2,
        "BAD_ARGUMENTS UNKNOWN_ENTRY BAD_CURSOR DUPLICATE_ID LINE_TOO_LONG PARAMS_TOO_LARGE MANIFEST_INVALID",
    ),
    "not_found": (66, "APP_NOT_FOUND ASSET_NOT_FOUND"),
    "permission": (
        77,
        "CAPABILITY_NOT_DECLARED GRANT_OFF APPROVAL_PENDING APPROVAL_DENIED APPROVAL_EXPIRED SCHEDULE_NEEDS_ALLOW "
        "BROWSER_DISABLED",
    ),
    "policy": (77, "BROWSER_POLICY_DENIED ORIGIN_NOT_ALLOWED EGRESS_REFUSED"),
    "ownership": (77, "SESSION_NOT_OWNED"),
    "precondition": (1, "DIALOG_OPEN CDP_ERROR IMAGE_NOT_CHECKED HUMAN_CONTROL"),
    "exhausted": (75, "BROWSER_TAB_LIMIT RESULT_TOO_LARGE RUN_LIMIT RATE_LIMITED"),
    "unavailable": (
        69,
        "SESSION_CLOSED TARGET_GONE TARGET_CRASHED BROWSER_UNAVAILABLE BROWSER_LAUNCH_FAILED BROWSER_GONE "
        "BROWSER_DISPOSING PROFILE_LOCKED SANDBOX_UNAVAILABLE STORE_UNAVAILABLE REDACTION_UNAVAILABLE",
    ),
    "timeout": (75, "BROWSER_TIMEOUT"),
    "aborted": (1, "CANCELLED OUTCOME_UNKNOWN"),
    "internal": (1, "SCRIPT_FAILED INTERNAL"),
}
EXPECTED = [(code, category, exit_) for category, (exit_, codes) in TABLE.items() for code in codes.split()]


@pytest.mark.parametrize(("code", "category", "exit_code"), EXPECTED)
def test_a_code_has_its_category_and_exit_status(code: str, category: str, exit_code: int) -> None:
    made = error(code, "what to do next")
    assert (made.code, made.category, made.exit_code) == (code, category, exit_code)
    assert type(made).__name__ == category.title().replace("_", "") + "Error"


def test_there_is_no_other_code_and_none_stands_twice() -> None:
    assert [entry.code for entry in CODES] == [code for code, _, _ in EXPECTED]
    assert len(BY_CODE) == len(CODES)
    assert [entry.code for entry in CODES if not entry.meaning] == []


def test_each_category_is_one_class_to_catch() -> None:
    kinds = {entry.kind for entry in CODES}
    assert len({kind.category for kind in kinds}) == len(kinds) == 11
    assert all(issubclass(kind, CapError) for kind in kinds)


WIRES = (
    pytest.param(
        error("BAD_CURSOR", "m"), {"code": "BAD_CURSOR", "category": "invalid_argument", "message": "m"}, id="bare"
    ),
    pytest.param(
        error("GRANT_OFF", "m", hint="h", capability="c"),
        {"code": "GRANT_OFF", "category": "permission", "message": "m", "hint": "h", "details": {"capability": "c"}},
        id="with-everything",
    ),
)


@pytest.mark.parametrize(("made", "wire"), WIRES)
def test_an_error_goes_over_the_wire_and_comes_back_as_what_it_was(made: CapError, wire: dict[str, object]) -> None:
    assert made.to_wire() == wire
    back = from_wire(json.loads(dumps(wire)))
    assert (type(back), back.to_wire()) == (type(made), wire)


def test_an_unknown_code_of_a_newer_host_is_kept() -> None:
    made = from_wire({"code": "NEWER", "category": "newer", "message": "m", "surprise": 1})
    assert (type(made), made.code) == (InternalError, "NEWER")


@pytest.mark.parametrize("wire", [{}, {"details": "x"}, {"message": None}, {"details": [1]}], ids=str)
def test_a_damaged_error_is_still_an_error(wire: dict[str, object]) -> None:
    assert isinstance(from_wire(wire), InternalError)


def test_the_classes_named_like_builtins_are_not_them() -> None:
    assert not issubclass(errors.TimeoutError, OSError)
    assert not issubclass(errors.PermissionError, OSError)
