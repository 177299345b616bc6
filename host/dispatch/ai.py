"""The step between the end of a call and its reply where an AI reads it; what masks is loaded on first need."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from capsdk.errors import CapError
from host.core.grants import Caller, Kind
from host.dispatch.call import Call, End

if TYPE_CHECKING:
    from host.dispatch.lookup import Find
    from host.dispatch.reader import Reader

WARM_S = 60.0
log = logging.getLogger("capsdk.dispatch")

OWN_WORDS = frozenset(  # errors in which the host says what it knows itself: they hold nothing of a page or a person
    (
        "APPROVAL_DENIED", "APPROVAL_EXPIRED", "APPROVAL_PENDING", "BAD_ARGUMENTS", "BAD_CURSOR", "BROWSER_DISABLED",
        "BROWSER_DISPOSING", "BROWSER_TAB_LIMIT", "BROWSER_TIMEOUT", "CANCELLED", "CAPABILITY_NOT_DECLARED",
        "DUPLICATE_ID", "GRANT_OFF", "HUMAN_CONTROL", "IMAGE_NOT_CHECKED", "INTERNAL", "LINE_TOO_LONG",
        "OUTCOME_UNKNOWN", "PARAMS_TOO_LARGE", "RATE_LIMITED", "REDACTION_UNAVAILABLE", "RESULT_TOO_LARGE",
        "RUN_LIMIT", "SCHEDULE_NEEDS_ALLOW", "SESSION_CLOSED", "SESSION_NOT_OWNED", "TARGET_CRASHED", "TARGET_GONE",
        "UNKNOWN_ENTRY",
    )
)  # fmt: skip


def read_by_ai(caller: Caller) -> bool:
    """Does an AI read what this caller is told? Then every string of it is masked first (`design.md` 11)."""
    return caller.kind is Kind.CHAT


class ForAI:
    """What the dispatcher does with the answers and notices of callers that are read by an AI.

    `find` is what looks for private details. None: nothing can be looked for, and no text is told. `reply` is the
    dispatcher's own end of a call, `spawn` its way to start a task; `fault` and `leaving` make its errors.
    """

    def __init__(
        self,
        reply: End,
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        fault: Callable[[Exception], CapError],
        leaving: Callable[[], CapError],
    ) -> None:
        self.find: Find | None = None
        self._reply = reply
        self._spawn = spawn
        self._fault = fault
        self._leaving = leaving
        self._reader: Reader | None = None
        self._warm = False

    @property
    def reader(self) -> Reader:
        """What masks; made when it is needed, as scripts never need it and its tables take time to load."""
        if self._reader is None:
            from host.dispatch.reader import Reader

            self._reader = Reader(lambda: self.find)
        return self._reader

    def begin(self) -> End:
        """A call begins whose answer will be looked through: have what looks started meanwhile. Gives its end."""
        if not self._warm and self.find is not None:
            self._warm = True
            self._spawn(self._warm_up(self.find))
        return self.end

    async def _warm_up(self, find: Find) -> None:
        try:
            await find([], WARM_S)
        except Exception as problem:
            log.warning("what looks for private details did not start: %s", type(problem).__name__)

    def end(self, call: Call, result: bytes | None, error: CapError | None) -> None:
        """The work of a call is over; its caller is answered when that has been looked through."""
        own = error.code in OWN_WORDS if error is not None else call.entry is not None and not call.entry.page_data
        if own:
            self._reply(call, result, error)
            return
        try:
            call.stop_work()
        finally:
            call.leave()  # the tab is free while its words are looked through
            call.wait_for_reader(self._reply, self._spawn(self._read(call, result, error)))

    async def _read(self, call: Call, result: bytes | None, error: CapError | None) -> None:
        try:
            if error is not None:
                call.tell(None, await self.reader.problem(call.caller, error))
                return
            entry, origin = call.entry.name if call.entry else "", call.session.origin if call.session else ""
            told = await self.reader.told(call.caller, entry, result or b"{}", origin, call.request.args)
            call.untrusted, call.masked = told.untrusted, told.masked
            call.tell(told.result, None)
        except CapError as problem:
            call.tell(None, problem)
        except asyncio.CancelledError:
            call.tell(None, self._leaving())
            raise
        except Exception as problem:
            call.tell(None, self._fault(problem))

    def tell(
        self, caller: Caller, name: str, data: dict[str, Any], ears: Mapping[Caller, list[Callable[..., None]]]
    ) -> None:
        """A notice, masked, to whoever of the caller's doors is still there then."""
        if caller in ears:
            self._spawn(self._tell(caller, name, data, ears))

    async def _tell(
        self, caller: Caller, name: str, data: dict[str, Any], ears: Mapping[Caller, list[Callable[..., None]]]
    ) -> None:
        told = await self.reader.notice(caller, data)
        for ear in list(ears.get(caller, ())):
            ear(name, told)

    def close(self) -> None:
        """Nothing is looked through any more. Closing twice is fine."""
        if self._reader is not None:
            self._reader.close()
