"""One CDP command of a caller under way in its session: it ends exactly once, whatever happens first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from capsdk.errors import CapError, ExhaustedError, PreconditionError, TimeoutError, UnavailableError
from host.cdp.connection import failure
from host.core.limits import KIB

if TYPE_CHECKING:
    from host.browser.channel import Channel
    from host.browser.session import Session

Done = Callable[[bytes | None, CapError | None], None]


class Command:
    """Waits for Chromium's reply; a deadline, a dialog, a crash or the end of the session may come first."""

    __slots__ = ("_done", "_session", "channel", "due_s", "max_bytes", "method", "number", "stop_clock", "timeout_s")

    def __init__(
        self, session: Session, channel: Channel, method: str, done: Done, *, timeout_s: float, max_bytes: int
    ) -> None:
        self._session = session
        self.channel = channel
        self._done: Done | None = done
        self.method = method
        self.timeout_s = timeout_s
        self.max_bytes = max_bytes
        self.number = 0
        self.due_s = 0.0
        self.stop_clock: Callable[[Command], None] | None = None

    @property
    def ended(self) -> bool:
        """Has the caller its answer?"""
        return self._done is None

    def answered(self, result: bytes) -> None:
        self._end(result, None)

    def refused(self, error: bytes) -> None:
        problem = failure(error)
        self._end(None, cdp_error(self.method, problem.code, problem.message))

    def too_large(self, size_bytes: int) -> None:
        self._end(None, too_large(size_bytes, self.max_bytes))

    def gone(self) -> None:
        self.fail(UnavailableError("BROWSER_GONE", "Chromium ended during the call; open a new session and try again"))

    def fail(self, problem: CapError) -> None:
        """End with this error; Chromium's late answer is dropped."""
        self._end(None, problem)

    def cancel(self) -> None:
        """The caller does not want the answer any more."""
        self._done = None
        self._end(None, None)

    def expire(self) -> None:
        """The deadline passed."""
        self.stop_clock = None
        self._session.command_expired(self)

    def _end(self, result: bytes | None, problem: CapError | None) -> None:
        if self.stop_clock is not None:
            self.stop_clock(self)
            self.stop_clock = None
        self._session.command_ended(self)
        done, self._done = self._done, None
        if done is not None:
            done(result, problem)


def cdp_error(method: str, code: int, message: str) -> PreconditionError:
    """Chromium's own refusal, in its words."""
    cdp: dict[str, Any] = {"code": code, "message": message[:1000]}
    return PreconditionError("CDP_ERROR", f"Chromium refused {method}: {message[:300]}", cdp=cdp)


def too_large(size_bytes: int, limit_bytes: int) -> ExhaustedError:
    """A result over its limit; it was refused whole."""
    return ExhaustedError(
        "RESULT_TOO_LARGE",
        f"the result has {size_bytes} bytes and the limit is {limit_bytes}; ask for a part of at most "
        f"{limit_bytes // KIB} KB",
        limit=limit_bytes,
        actual=size_bytes,
    )


def command_timeout(command: Command, *, deaf: bool) -> TimeoutError:
    """No answer before the deadline; a tab that was `deaf` is closed with it."""
    limit_ms = round(command.timeout_s * 1000)
    details: dict[str, Any] = {"limitMs": limit_ms, **({"sessionClosed": True} if deaf else {})}
    next_step = "the tab was deaf and is closed: open a new session" if deaf else "try a smaller step"
    return TimeoutError(
        "BROWSER_TIMEOUT", f"{command.method} had no answer within {limit_ms} ms; {next_step}", **details
    )


def frame_gone() -> UnavailableError:
    """The frame went away during a call."""
    return UnavailableError("TARGET_GONE", "the frame went away during the call; take the handle of a newer one")


def crashed_error() -> UnavailableError:
    """The page's process is gone; the session is not."""
    return UnavailableError("TARGET_CRASHED", "the page's process crashed; Page.navigate revives the session")
