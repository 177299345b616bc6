"""Calls of several callers in one host of the test's own process, through the one path every door uses."""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import Any

from capsdk.errors import CapError, from_wire
from host.app import Host
from host.core.grants import Caller, Kind, Level, subject_for
from host.core.urls import UrlRules
from host.core.wire import Request, read_line
from host.frontends.wire_connection import WireConnection

ALLOWED = {"browser.debug": Level.ALLOW, "browser.view": Level.ALLOW}


def caller(
    app: str = "app", run: str = "run", kind: Kind = Kind.SCRIPT, revision: str = "-", places: tuple[str, ...] = ()
) -> Caller:
    """A caller with the grant for its connection."""
    return Caller(app, revision, kind, run, subject_for(kind, app), granted=ALLOWED, urls=UrlRules(frozenset(places)))


class Talker:
    """One caller's calls."""

    def __init__(self, host: Host, who: Caller) -> None:
        self.host = host
        self.who = who

    def post(self, entry: str, /, **args: Any) -> asyncio.Future[dict[str, Any]]:
        """Send a call; its result, or its CapError."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

        def reply(result: bytes | None, problem: CapError | None) -> None:
            if answer.done():
                return  # who waited for it was cancelled
            if problem is None:
                answer.set_result(json.loads(result or b"{}"))
            else:
                answer.set_exception(problem)
                answer.exception()  # a test may not look at every answer

        request = read_line(json.dumps({"id": secrets.token_hex(8), "method": entry, "args": args}).encode())
        assert isinstance(request, Request)
        self.host.dispatcher.submit(self.who, request, reply)
        return answer

    async def ended(self) -> None:
        """The caller is gone."""
        await self.host.dispatcher.caller_ended(self.who)

    async def ok(self, entry: str, /, **args: Any) -> dict[str, Any]:
        """A call that has to succeed."""
        async with asyncio.timeout(30):
            return await self.post(entry, **args)

    async def code(self, entry: str, /, **args: Any) -> str:
        """The code of a call that has to fail."""
        try:
            found = await self.ok(entry, **args)
        except CapError as problem:
            return problem.code
        raise AssertionError(f"{entry} succeeded: {found}")

    async def open(self, url: str = "about:blank") -> str:
        """A new session."""
        return str((await self.ok("browser.openSession", url=url))["sessionId"])

    async def js(self, session: str, expression: str) -> Any:
        """The value of an expression in the page."""
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        made = await self.ok("browser.cdp", sessionId=session, method="Runtime.evaluate", params=params)
        return made["result"]["result"].get("value")


class LineTalker(Talker):
    """The same through lines, as every door takes them: who floods is held back there."""

    def __init__(self, host: Host, who: Caller) -> None:
        super().__init__(host, who)
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._line = WireConnection(host.dispatcher, who, self._hear, host.settings.limits)

    def post(self, entry: str, /, **args: Any) -> asyncio.Future[dict[str, Any]]:
        """Send a call; its result, or its CapError."""
        number = secrets.token_hex(8)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._line.feed(json.dumps({"id": number, "method": entry, "args": args}).encode() + b"\n")
        return answer

    async def ended(self) -> None:
        """The connection is closed."""
        await self._line.end()

    def _hear(self, line: bytes) -> None:
        told = json.loads(line)
        answer = self._answers.pop(told.get("id"), None)
        if answer is None or answer.done():
            return
        if told["ok"]:
            answer.set_result(told["result"])
        else:
            answer.set_exception(from_wire(told["error"]))
            answer.exception()
