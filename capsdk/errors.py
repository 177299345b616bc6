"""The one vocabulary of failure: categories to catch, stable codes to branch on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


class CapError(Exception):
    """A call that was not done, with the reason and what to do next.

    `code` is stable UPPER_SNAKE, `message` ends with what to do next, `hint` is one more sentence for a
    person, `details` is plain JSON data. Raise a subclass; its `category` decides the exit code.
    """

    category: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, /, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = details

    def to_wire(self) -> dict[str, Any]:
        """The error object of `{"ok": false, "error": …}`."""
        wire: dict[str, Any] = {"code": self.code, "category": self.category, "message": self.message}
        if self.hint is not None:
            wire["hint"] = self.hint
        if self.details:
            wire["details"] = self.details
        return wire


class InvalidArgumentError(CapError):
    """The call itself is wrong; repeating it will not help."""

    category = "invalid_argument"
    exit_code = 2


class NotFoundError(CapError):
    """A named app, file or asset does not exist."""

    category = "not_found"
    exit_code = 66


class PermissionError(CapError):
    """The owner's grant does not cover this call."""

    category = "permission"
    exit_code = 77


class PolicyError(CapError):
    """A rule refuses this method, parameter or address whatever the grant says."""

    category = "policy"
    exit_code = 77


class OwnershipError(CapError):
    """The thing exists and belongs to somebody else."""

    category = "ownership"
    exit_code = 77


class PreconditionError(CapError):
    """The world is not in the state the call needs."""

    category = "precondition"
    exit_code = 1


class ExhaustedError(CapError):
    """A limit was met; `details` say the limit and the actual value."""

    category = "exhausted"
    exit_code = 75


class UnavailableError(CapError):
    """The thing is not there (any more); another try with a new one may succeed."""

    category = "unavailable"
    exit_code = 69


class TimeoutError(CapError):
    """The deadline passed."""

    category = "timeout"
    exit_code = 75


class AbortedError(CapError):
    """The call was ended before it had an answer."""

    category = "aborted"
    exit_code = 1


class InternalError(CapError):
    """The script failed (`SCRIPT_FAILED`) or the host did (`INTERNAL`)."""

    category = "internal"
    exit_code = 1


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One stable code: its exception class and what it tells the one who receives it."""

    code: str
    kind: type[CapError]
    meaning: str


CODES: tuple[ErrorCode, ...] = (
    ErrorCode("BAD_ARGUMENTS", InvalidArgumentError, "the arguments do not fit the entry's schema"),
    ErrorCode("UNKNOWN_ENTRY", InvalidArgumentError, "no entry has this name"),
    ErrorCode("BAD_CURSOR", InvalidArgumentError, "`after` is above the newest event"),
    ErrorCode("DUPLICATE_ID", InvalidArgumentError, "a call with this id is still under way; it goes on"),
    ErrorCode("LINE_TOO_LONG", InvalidArgumentError, "a line of the wire is over its limit and was skipped"),
    ErrorCode("PARAMS_TOO_LARGE", InvalidArgumentError, "`params` is over its size or nesting limit"),
    ErrorCode("MANIFEST_INVALID", InvalidArgumentError, "the app's `app.toml` cannot be used as it is"),
    ErrorCode("APP_NOT_FOUND", NotFoundError, "no app folder or installed app has this name"),
    ErrorCode("ASSET_NOT_FOUND", NotFoundError, "the app has no such file"),
    ErrorCode("CAPABILITY_NOT_DECLARED", PermissionError, "the app's manifest does not declare the capability"),
    ErrorCode("GRANT_OFF", PermissionError, "the owner's grant for the capability is off"),
    ErrorCode("APPROVAL_PENDING", PermissionError, "the owner has to be asked and has not answered yet"),
    ErrorCode("APPROVAL_DENIED", PermissionError, "the owner said no"),
    ErrorCode("APPROVAL_EXPIRED", PermissionError, "the question expired before the owner answered"),
    ErrorCode("SCHEDULE_NEEDS_ALLOW", PermissionError, "a schedule needs `allow` on the installed app"),
    ErrorCode("BROWSER_DISABLED", PermissionError, "the owner's settings switch the browser off"),
    ErrorCode("BROWSER_POLICY_DENIED", PolicyError, "a rule refuses the method, its parameters or the URL"),
    ErrorCode("ORIGIN_NOT_ALLOWED", PolicyError, "the app's manifest does not name this origin"),
    ErrorCode("EGRESS_REFUSED", PolicyError, "the browser may not connect to this address"),
    ErrorCode("SESSION_NOT_OWNED", OwnershipError, "the session belongs to another app or run"),
    ErrorCode("DIALOG_OPEN", PreconditionError, "a dialog of the page is open and has to be answered first"),
    ErrorCode("CDP_ERROR", PreconditionError, "Chromium refused the command; `details.cdp` has its words"),
    ErrorCode("IMAGE_NOT_CHECKED", PreconditionError, "the image could not be checked and was not sent"),
    ErrorCode("HUMAN_CONTROL", PreconditionError, "a person holds the session"),
    ErrorCode("BROWSER_TAB_LIMIT", ExhaustedError, "no further session may be open"),
    ErrorCode("RESULT_TOO_LARGE", ExhaustedError, "the result is over its limit and was refused whole"),
    ErrorCode("RUN_LIMIT", ExhaustedError, "the run met one of its limits"),
    ErrorCode("RATE_LIMITED", ExhaustedError, "too many calls under way or in one second"),
    ErrorCode("SESSION_CLOSED", UnavailableError, "the session is closed or was never there"),
    ErrorCode("TARGET_GONE", UnavailableError, "the tab or frame went away during the call"),
    ErrorCode("TARGET_CRASHED", UnavailableError, "the page's process crashed; navigating revives it"),
    ErrorCode("BROWSER_UNAVAILABLE", UnavailableError, "there is no Chromium to start"),
    ErrorCode("BROWSER_LAUNCH_FAILED", UnavailableError, "Chromium did not start; `details.stderr` has its last words"),
    ErrorCode("BROWSER_GONE", UnavailableError, "Chromium ended during the call"),
    ErrorCode("BROWSER_DISPOSING", UnavailableError, "the host is shutting down"),
    ErrorCode("PROFILE_LOCKED", UnavailableError, "another process uses the browser profile"),
    ErrorCode("SANDBOX_UNAVAILABLE", UnavailableError, "no sandbox passed its self-test, so nothing was run"),
    ErrorCode("STORE_UNAVAILABLE", UnavailableError, "the host's database cannot be read or written"),
    ErrorCode("REDACTION_UNAVAILABLE", UnavailableError, "private details cannot be looked for, so no text is shown"),
    ErrorCode("BROWSER_TIMEOUT", TimeoutError, "the browser did not answer before the deadline"),
    ErrorCode("CANCELLED", AbortedError, "the caller cancelled the call, or left"),
    ErrorCode("OUTCOME_UNKNOWN", AbortedError, "it started and nobody knows whether it finished"),
    ErrorCode("SCRIPT_FAILED", InternalError, "the author's script raised an error"),
    ErrorCode("INTERNAL", InternalError, "a fault of the host; `details.id` finds it in the log"),
)

BY_CODE: Mapping[str, ErrorCode] = {entry.code: entry for entry in CODES}


def error(code: str, message: str, /, *, hint: str | None = None, **details: Any) -> CapError:
    """The exception of `code`'s category; an unknown code becomes an InternalError that keeps it."""
    known = BY_CODE.get(code)
    kind = known.kind if known else InternalError
    return kind(code, message, hint=hint, **details)


def from_wire(wire: Mapping[str, Any]) -> CapError:
    """The exception for the `error` object of a reply; tolerates keys it does not know."""
    made = error(str(wire.get("code", "INTERNAL")), str(wire.get("message", "")), hint=wire.get("hint"))
    details = wire.get("details")
    made.details = dict(details) if isinstance(details, Mapping) else {}
    return made
