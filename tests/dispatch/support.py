"""A store, entries and callers for the tests of the dispatcher; holds no assertion."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from capsdk.errors import CapError, UnavailableError
from host.core.grants import BROWSER, Caller, Kind, Level
from host.core.wire import Request, dumps
from host.dispatch.call import Call
from host.dispatch.dispatcher import Dispatcher
from host.dispatch.entry import Args, Effect, Entry, Handler, Lane, Result
from host.store.port import ApprovalRow, GrantKey, GrantRow, LedgerRow

DEBUG = "browser.debug"


class StubStore:
    """The port `Store` in memory; `broken` makes every write fail, `log` is shared with the handlers."""

    def __init__(self) -> None:
        self.on_grants_changed: Callable[[], None] | None = None
        self.broken = False
        self.waiting_rows = 0
        self.fault: Exception | None = None
        self.log: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.questions: list[ApprovalRow] = []
        self.answering = asyncio.Event()
        self.answering.set()
        self._grants: dict[GrantKey, GrantRow] = {}

    @property
    def healthy(self) -> bool:
        return not self.broken

    @property
    def failure(self) -> str | None:
        return None

    @property
    def queued_rows(self) -> int:
        return self.waiting_rows

    def grants(self) -> Mapping[GrantKey, GrantRow]:
        return dict(self._grants)

    def put(self, level: str | None, subject: str = "app:app", capability: str = DEBUG) -> None:
        """Change a grant and tell of it, as the real store does."""
        key = (subject, capability, BROWSER)
        self._grants.pop(key, None)
        if level is not None:
            self._grants[key] = GrantRow(*key, level, "-", 0)
        if self.on_grants_changed is not None:
            self.on_grants_changed()

    async def set_grant(self, row: GrantRow) -> None:
        self.put(row.level, row.subject, row.capability)

    async def revoke_grant(self, subject: str, capability: str, resource: str) -> bool:
        self.put(None, subject, capability)
        return True

    async def ask(self, row: ApprovalRow) -> ApprovalRow:
        await self.answering.wait()
        self._check()
        if self.fault is not None:
            raise self.fault
        about = (row.subject, row.capability, row.resource, row.revision, row.entry)
        for known in self.questions:
            if (known.subject, known.capability, known.resource, known.revision, known.entry) == about:
                return known
        self.questions.append(row)
        return row

    async def approvals(self, state: str | None = None) -> list[ApprovalRow]:
        return list(self.questions)

    def append(
        self, at_ms: int, kind: str, call: int, app: str, revision: str, caller_kind: str, run: str, entry: str,
        method: str, origin: str, session: str, verdict: str, reason: str, bytes_: int, duration_us: int,
    ) -> None:  # fmt: skip
        self._check()
        self.log.append(f"{kind} {call} {verdict}")
        self.rows.append({
            "at_ms": at_ms, "kind": kind, "call": call, "app": app, "revision": revision, "caller_kind": caller_kind,
            "run": run, "entry": entry, "method": method, "origin": origin, "session": session, "verdict": verdict,
            "reason": reason, "bytes": bytes_, "duration_us": duration_us,
        })  # fmt: skip

    def _check(self) -> None:
        if self.broken:
            raise UnavailableError("STORE_UNAVAILABLE", "the disk is full; free some")

    async def flush(self) -> None:
        return

    async def ledger(self, after: int = 0, limit: int = 100) -> list[LedgerRow]:
        return []

    async def tail(self, count: int) -> list[LedgerRow]:
        return []

    async def verify(self) -> int:
        return 0

    async def prune(self, keep_segments: int) -> int:
        return 0

    def close(self) -> None:
        return


@dataclass(eq=False)
class Tab:
    """A session as far as the dispatcher cares."""

    id: str = "0123456789abcdef"
    origin: str = "https://shop.example"


class EchoArgs(Args):
    """Arguments of the test entries."""

    text: Annotated[str, Field(max_length=10)] = ""
    tab: str = ""


class Anything(Result):
    """Any result."""


async def echo(call: Call) -> bytes:
    """Give the text back."""
    return dumps({"text": call.args.text})


def entry(name: str = "t.echo", handler: Handler = echo, **changes: Any) -> Entry:
    """An entry of no consequence."""
    settings: dict[str, Any] = {
        "summary": "A test entry.",
        "args": EchoArgs,
        "result": Anything,
        "capability": DEBUG,
        "lane": Lane.NONE,
        "effect": Effect.WRITE,
        "timeout_s": None,
        "errors": (),
        "example": EchoArgs(),
    }
    return Entry(name=name, handler=handler, **{**settings, **changes})


def caller(kind: Kind = Kind.SCRIPT, *, run: str = "run-1", declared: frozenset[str] | None = None) -> Caller:
    """Somebody on the line."""
    return Caller("app", "r1", kind, run, "app:app", declared=declared)


@dataclass
class Answers:
    """Every reply that came, by the number of the call in this test."""

    got: list[tuple[int, bytes | None, CapError | None]] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def reply(self, number: int) -> Callable[[bytes | None, CapError | None], None]:
        """The reply function of one call."""

        def take(result: bytes | None, error: CapError | None) -> None:
            self.got.append((number, result, error))
            self.news.set()

        return take

    async def wait(self, count: int) -> None:
        """Until so many replies have come, at most 5 s."""
        async with asyncio.timeout(5):
            while len(self.got) < count:
                self.news.clear()
                await self.news.wait()

    @property
    def codes(self) -> list[str]:
        """The error codes in the order of the replies; "ok" for a result."""
        return ["ok" if error is None else error.code for _, _, error in self.got]


class World:
    """A dispatcher with stub store and entries, and somebody who calls."""

    def __init__(
        self, *entries: Entry, level: str | None = "allow", ceiling: Mapping[str, Level] | None = None
    ) -> None:
        self.store = StubStore()
        self.store.put(level)
        self.dispatcher = Dispatcher({one.name: one for one in entries}, object(), self.store, ceiling or {})
        self.answers = Answers()
        self._number = 0

    def call(self, method: str = "t.echo", args: dict[str, Any] | None = None, who: Caller | None = None) -> Call:
        """Submit one call; its reply goes to `answers` under its number, from 1."""
        self._number += 1
        request = Request(self._number, method, args or {}, dumps(args or {}))
        return self.dispatcher.submit(who or caller(), request, self.answers.reply(self._number))

    async def answer(
        self, method: str = "t.echo", args: dict[str, Any] | None = None, who: Caller | None = None
    ) -> Any:
        """Call and wait: the result's bytes, or the error."""
        before = len(self.answers.got)
        self.call(method, args, who)
        await self.answers.wait(before + 1)
        _, result, error = self.answers.got[-1]
        return result if error is None else error
