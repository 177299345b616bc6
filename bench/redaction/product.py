"""The product as it is measured: a host in this process, and a caller that has its grants and asks for pictures."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bench.redaction.truth import ask
from capsdk.errors import CapError
from host.app import Host, load_settings, open_host
from host.browser.session import Session
from host.core.grants import Caller, Kind, Level, subject_for
from host.core.urls import UrlRules
from host.core.wire import Request, read_line

CALL_S = 90.0
LOAD_S = 20.0
GRANTED = {"browser.debug": Level.ALLOW, "browser.view": Level.ALLOW}


@dataclass(slots=True)
class Tab:
    """One lent tab of one caller, and the host behind it."""

    host: Host
    caller: Caller
    session_id: str = ""

    @property
    def session(self) -> Session:
        """The host's own side of it: the bench looks past the door there, and the product never does."""
        return self.host.sessions.owned(self.caller, self.session_id)

    async def call(self, entry: str, /, **args: Any) -> dict[str, Any]:
        """One call through the dispatcher, as every door makes it. Raises CapError."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def reply(result: bytes | None, problem: CapError | None) -> None:
            if answer.done():
                return
            if problem is None:
                answer.set_result(result or b"{}")
            else:
                answer.set_exception(problem)

        request = read_line(json.dumps({"id": secrets.token_hex(8), "method": entry, "args": args}).encode())
        assert isinstance(request, Request)
        self.host.dispatcher.submit(self.caller, request, reply)
        async with asyncio.timeout(CALL_S):
            known: dict[str, Any] = json.loads(await answer)
            return known

    async def open(self, url: str) -> None:
        """Have a tab. Raises CapError."""
        self.session_id = str((await self.call("browser.openSession", url=url))["sessionId"])

    async def go(self, url: str) -> None:
        """Show another page. Raises TimeoutError when it does not come."""
        facts = self.session.page.facts
        reply = await ask(self.session, "Page.navigate", {"url": url})
        async with asyncio.timeout(LOAD_S):
            while facts.committed_loader != reply.get("loaderId"):  # noqa: ASYNC110 # the product tells nobody
                await asyncio.sleep(0.01)

    async def picture(self, **args: Any) -> tuple[dict[str, Any], bytes, float]:
        """The result without its data, the picture's bytes, and how long the call took in ms. Raises CapError."""
        began = time.perf_counter()
        result = await self.call("browser.screenshot", sessionId=self.session_id, **args)
        took_ms = (time.perf_counter() - began) * 1000
        return result, base64.b64decode(result.pop("data", None) or ""), took_ms


@asynccontextmanager
async def tab(places: tuple[str, ...], kind: Kind = Kind.SCRIPT) -> AsyncIterator[Tab]:
    """A host of its own with one caller, for the time of a `with`."""
    async with open_host(load_settings({}), ephemeral=True) as host:
        yield Tab(host, caller(places, kind))


def caller(places: tuple[str, ...], kind: Kind) -> Caller:
    """Who asks: the grants are this connection's."""
    subject = subject_for(kind, "bench")
    return Caller("bench", "-", kind, "bench", subject, granted=GRANTED, urls=UrlRules(frozenset(places)))
