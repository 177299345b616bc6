"""The one path of every call: find, validate, decide, own, limit, run under a deadline, bound, write down, reply."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from pydantic import ValidationError

from capsdk.errors import (
    AbortedError,
    CapError,
    InternalError,
    InvalidArgumentError,
    PermissionError,
    TimeoutError,
    UnavailableError,
)
from host.core.grants import BROWSER, Caller, Decision, Kind, Level, decide
from host.core.wire import Request, dumps
from host.dispatch.ai import ForAI, read_by_ai
from host.dispatch.call import Call, Reply
from host.dispatch.entry import Entry, Lane
from host.dispatch.lanes import Lanes, Ticket
from host.dispatch.timings import Timings
from host.store.port import ApprovalRow, Store

log = logging.getLogger("capsdk.dispatch")

Ear = Callable[[str, dict[str, Any]], None]

APPROVAL_LASTS_MS = 24 * 3600 * 1000
MAX_NAME_CHARS = 128
"""What is kept of the name of an entry that does not exist: rows wait in memory until they are written."""


class Dispatcher:
    """Every door hands calls in here; there is no second road to a handler.

    `on_caller_end(caller)` and `on_revoked(hit, why)` let services release what callers hold.
    """

    def __init__(self, entries: Mapping[str, Entry], services: Any, store: Store, ceiling: Mapping[str, Level]) -> None:
        self._entries = entries
        self._services = services
        self._store = store
        self._ceiling = ceiling
        self._lanes = Lanes()
        self._live: dict[int, Call] = {}
        self._replies: dict[int, Reply] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ears: dict[Caller, list[Ear]] = {}
        self._disposing = False
        self.for_ai = ForAI(self._ended, self._spawn, internal, disposing)
        self.timings = Timings()
        self.on_caller_end: Callable[[Caller], Awaitable[None]] = _nothing
        self.on_revoked: Callable[[Callable[[Caller], bool], str], Awaitable[None]] = _nothing_revoked
        store.on_grants_changed = self.grants_changed

    @property
    def entries(self) -> Mapping[str, Entry]:
        """All entries by name."""
        return self._entries

    @property
    def queued_rows(self) -> int:
        """How many rows of the ledger are not written yet."""
        return self._store.queued_rows

    def submit(self, caller: Caller, request: Request, reply: Reply) -> Call:
        """Take a call in; `reply(result, error)` is called exactly once, perhaps before this returns."""
        self._number = number = self._number + 1
        end = self.for_ai.begin() if read_by_ai(caller) else self._ended
        call = Call(number, caller, request, time.perf_counter_ns(), end)
        call.services = self._services
        self._live[number] = call
        self._replies[number] = reply
        try:
            self._admit(call)
        except CapError as problem:
            call.fail(problem)
        except Exception as problem:
            call.fail(internal(problem))
        return call

    def cancel(self, call: Call, reason: str = "the caller cancelled the call") -> None:
        """End a call without its answer; it is answered CANCELLED, once."""
        call.stop(AbortedError("CANCELLED", f"{reason}; what it began may have happened"))

    async def caller_ended(self, caller: Caller) -> None:
        """A connection or run is over: its calls end and what it held is released."""
        for call in [call for call in self._live.values() if call.caller is caller]:
            self.cancel(call, "the caller left")
        if caller.kind is not Kind.OWNER:  # the owner's sessions last between commands, and expire
            await self.on_caller_end(caller)

    def level_of(self, caller: Caller, capability: str) -> Decision:
        """What the caller may do with a capability right now."""
        row = self._store.grants().get((caller.subject, capability, BROWSER))
        return decide(capability, caller, Level(row.level) if row else None, self._ceiling)

    def hear(self, caller: Caller, ear: Ear) -> None:
        """Have a door told what nobody asked for: `ear(notice, data)`."""
        self._ears.setdefault(caller, []).append(ear)

    def stop_hearing(self, caller: Caller, ear: Ear) -> None:
        """Forget a door; an unknown one is fine."""
        ears = self._ears.get(caller, [])
        if ear in ears:
            ears.remove(ear)
        if not ears:
            self._ears.pop(caller, None)

    def tell(self, caller: Caller, notice: str, data: dict[str, Any]) -> None:
        """Tell every door of a caller; nobody may be there."""
        if read_by_ai(caller):
            self.for_ai.tell(caller, notice, data, self._ears)
            return
        for ear in list(self._ears.get(caller, ())):
            ear(notice, data)

    def note(self, caller: Caller, kind: str, verdict: str, reason: str) -> None:
        """Write something that is no call into the ledger: the owner's words, the start and end of a run.

        Raises UnavailableError STORE_UNAVAILABLE.
        """
        self._store.append(
            now_ms(),
            kind,
            0,
            caller.app,
            caller.revision,
            caller.kind,
            caller.run,
            "",
            "",
            "",
            "",
            verdict,
            reason,
            0,
            0,
        )

    def grants_changed(self) -> None:
        """The owner changed a grant, here or in another process: what is not allowed any more ends at once."""
        if self._disposing:
            return
        for call in list(self._live.values()):
            capability = call.entry.capability if call.entry and call.granted else None
            if capability and self.level_of(call.caller, capability).level is not Level.ALLOW:
                call.stop(grant_off(capability, "was taken back during the call"))
        self._spawn(self._release_revoked())

    async def _release_revoked(self) -> None:
        def hit(owner: Caller) -> bool:
            return self.level_of(owner, "browser.debug").level is not Level.ALLOW

        await self.on_revoked(hit, "ended because the owner took browser.debug back")

    async def close(self) -> None:
        """Refuse what comes, end what is under way. Closing twice is fine."""
        self._disposing = True
        for call in list(self._live.values()):
            call.stop(disposing())
        self.for_ai.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- the path

    def _admit(self, call: Call) -> None:
        if self._disposing:
            raise disposing()
        entry = self._entries.get(call.request.method)
        if entry is None:
            raise unknown_entry(call.request.method, self._entries)
        call.entry = entry
        call.args = validate(entry, call.request.args)
        if entry.capability is None or entry.free(call):
            call.reason = "free"
        else:
            decision = self.level_of(call.caller, entry.capability)
            call.reason = decision.reason
            if decision.level is Level.ASK:
                self._spawn(self._ask(call, entry, entry.capability))
                return
            if decision.level is Level.OFF:
                raise not_granted(entry.capability, call.caller, decision)
            call.granted = True
        call.session = entry.owned(call)
        call.prepared = entry.prepare(call)
        if entry.lane is Lane.NONE:
            self._begin(call, entry)
        else:
            self._queue(call, entry)

    def _queue(self, call: Call, entry: Entry) -> None:
        session = call.session.id if call.session else ""
        ticket = Ticket(entry.lane, session, lambda: self._begin_safely(call, entry))
        call.leave_lane = lambda: self._lanes.leave(ticket)
        self._lanes.enter(ticket)

    def _begin_safely(self, call: Call, entry: Entry) -> None:
        try:
            self._begin(call, entry)
        except CapError as problem:
            call.fail(problem)
        except Exception as problem:
            call.fail(internal(problem))

    def _begin(self, call: Call, entry: Entry) -> None:
        self._write(call, entry, "call", "allowed", call.reason, 0, 0)
        self.timings.checked(entry.name, time.perf_counter_ns() - call.started_ns)
        if entry.timeout_s is not None:
            call.timer = asyncio.get_running_loop().call_later(entry.timeout_s, self._expire, call, entry)
        work = entry.handler(call)
        if work is not None:
            call.task = self._spawn(self._run(call, work))
            call.task.add_done_callback(lambda _: work.close())  # a task that is cancelled at once never awaits it

    async def _run(self, call: Call, work: Coroutine[Any, Any, bytes]) -> None:
        try:
            call.finish(await work)
        except CapError as problem:
            call.fail(problem)
        except asyncio.CancelledError:
            call.fail(disposing())
            raise
        except Exception as problem:
            call.fail(internal(problem))

    def _expire(self, call: Call, entry: Entry) -> None:
        call.timer = None
        call.fail(
            TimeoutError(
                "BROWSER_TIMEOUT",
                f"{entry.name} was not done within {entry.timeout_s:g} s; try again with less",
                limitMs=round((entry.timeout_s or 0) * 1000),
            )
        )

    async def _ask(self, call: Call, entry: Entry, capability: str) -> None:
        """Nobody can be asked through this door yet: the question is kept, and the caller is told its id."""
        caller, asked_ms = call.caller, now_ms()
        question = ApprovalRow(
            id=secrets.token_hex(8),
            subject=caller.subject,
            capability=capability,
            resource=BROWSER,
            revision=caller.revision,
            entry=entry.name,
            args_hash=hashlib.sha256(call.raw_args).hexdigest(),
            state="pending",
            asked_at_ms=asked_ms,
            expires_at_ms=asked_ms + APPROVAL_LASTS_MS,
        )
        try:
            kept = await self._store.ask(question)
        except CapError as problem:
            call.fail(problem)
        except Exception as problem:
            call.fail(internal(problem))
        else:
            call.fail(approval_pending(capability, caller, kept.id))

    def _ended(self, call: Call, result: bytes | None, error: CapError | None) -> None:
        self._live.pop(call.number, None)
        reply = self._replies.pop(call.number)
        for step in (call.stop_work, lambda: self._record(call, result, error), call.leave):
            try:
                step()
            except Exception:
                log.exception("the end of a call could not be tidied up")  # its caller is answered all the same
        reply(result, error)

    def _record(self, call: Call, result: bytes | None, error: CapError | None) -> None:
        duration_ns = time.perf_counter_ns() - call.started_ns
        if call.entry is not None:
            self.timings.done(call.entry.name, duration_ns)
        verdict, reason = ("ok", call.reason) if error is None else (error.code, told_reason(error))
        if call.masked:
            reason += f", {call.masked} masked"
        try:
            self._write(call, call.entry, "outcome", verdict, reason, len(result or b""), duration_ns // 1000)
        except CapError as problem:
            log.error("the outcome of a call could not be written: %s", problem)

    def _write(
        self, call: Call, entry: Entry | None, kind: str, verdict: str, reason: str, size_bytes: int, duration_us: int
    ) -> None:
        caller, session = call.caller, call.session
        self._store.append(
            now_ms(),
            kind,
            call.number,
            caller.app,
            caller.revision,
            caller.kind,
            caller.run,
            entry.name if entry else call.request.method[:MAX_NAME_CHARS],
            entry.cdp_method(call.args) if entry and call.args is not None else "",
            session.origin if session else "",
            session.id[:8] if session else "",
            verdict,
            reason,
            size_bytes,
            duration_us,
        )

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def validate(entry: Entry, args: dict[str, Any]) -> Any:
    """The arguments as the entry's model. Raises InvalidArgumentError BAD_ARGUMENTS naming places, never values."""
    try:
        return entry.args.model_validate(args)
    except ValidationError as problem:
        places = [
            {"at": ".".join(map(str, one["loc"]))[:120] or "args", "problem": one["msg"][:200]}
            for one in problem.errors(include_url=False, include_input=False, include_context=False)[:8]
        ]
        first = places[0]
        message = f"{entry.name}: {first['at']}: {first['problem']}; see references/sdk/{entry.name}.json"
        raise InvalidArgumentError("BAD_ARGUMENTS", message, problems=places) from None


def unknown_entry(name: str, entries: Mapping[str, Entry]) -> InvalidArgumentError:
    """No entry has this name; the nearest ones are named."""
    known = ", ".join(sorted(entries))
    return InvalidArgumentError("UNKNOWN_ENTRY", f"there is no entry {name[:80]!r}; use one of {known}")


def not_granted(capability: str, caller: Caller, decision: Decision) -> PermissionError:
    """Why the grant does not cover the call, and who can change that."""
    if decision.reason == "undeclared":
        return PermissionError(
            "CAPABILITY_NOT_DECLARED",
            f"the app's manifest does not declare {capability}; add it to `capabilities` in app.toml",
            capability=capability,
        )
    return grant_off(capability, "is off" + (" by the owner's ceiling" if decision.reason == "ceiling" else ""), caller)


def grant_off(capability: str, how: str, caller: Caller | None = None) -> PermissionError:
    """The owner's no."""
    hint = f"The owner changes it with: capsdk grants set {caller.subject} {capability} allow" if caller else None
    return PermissionError(
        "GRANT_OFF", f"the grant {capability} {how}; only the owner can change that", hint=hint, capability=capability
    )


def approval_pending(capability: str, caller: Caller, approval_id: str) -> PermissionError:
    """The owner would have to be asked, and is not here."""
    return PermissionError(
        "APPROVAL_PENDING",
        f"{capability} is set to ask and nobody is here to answer; repeat the call when the owner has answered",
        hint=f"The owner can allow it with: capsdk grants set {caller.subject} {capability} allow",
        approvalId=approval_id,
        capability=capability,
    )


def disposing() -> UnavailableError:
    """The host is on its way out."""
    return UnavailableError("BROWSER_DISPOSING", "the host is shutting down; start it again and repeat the call")


def told_reason(error: CapError) -> str:
    """The reason as the ledger may hold it: Chromium's own words may quote the page, so they stay out."""
    return "" if error.category == "precondition" else error.message


def internal(problem: Exception) -> InternalError:
    """A fault of ours: the log has the traceback under the id, the caller has the id."""
    fault = secrets.token_hex(4)
    log.error("fault %s", fault, exc_info=problem)
    return InternalError("INTERNAL", f"a fault of the host, kept in its log as {fault}; please report it", id=fault)


def result_bytes(result: Any) -> bytes:
    """A handler's plain result as JSON bytes."""
    return dumps(result)


def now_ms() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


async def _nothing(caller: Caller) -> None:
    return


async def _nothing_revoked(hit: Callable[[Caller], bool], why: str) -> None:
    return


__all__ = ["Dispatcher", "Kind", "result_bytes", "validate"]
