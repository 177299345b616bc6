"""`ctx.browser`: lent tabs with the loops that every recipe needs. Built on `cap.call` alone; no CDP types in here."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from capsdk import errors
from capsdk.cap import Caller
from capsdk.capture import NETWORK_METHODS, CaptureIncomplete, Exchange, Exchanges, Wanted
from capsdk.signals import Signal

MAX_WAIT_MS = 20_000
"""The longest poll that `browser.events` takes."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response that the page itself asked for, with its body; header names are lower case."""

    url: str
    status: int
    mime_type: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The body as UTF-8; what is not UTF-8 becomes U+FFFD."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON. Raises ValueError when it is not."""
        return json.loads(self.body)


class Browser:
    """Lends tabs to the script."""

    def __init__(self, cap: Caller, signal: Signal) -> None:
        self._cap = cap
        self._signal = signal

    @contextlib.asynccontextmanager
    async def session(self, url: str, capture: Sequence[str] | None = None) -> AsyncIterator[Tab]:
        """Open `url` in a tab of its own and close the tab at the end of the block, however it ends.

        `capture` (method names or `Domain.*`) limits which events are kept. A page that could not be loaded still
        gives a tab: see `tab.navigation`.
        """
        self._signal.raise_if_cancelled()
        args: dict[str, Any] = {"url": url}
        if capture is not None:
            args["capture"] = list(capture)
        opened = await self._cap.call("browser.openSession", args)
        try:
            yield Tab(self._cap, self._signal, opened)
        finally:
            with contextlib.suppress(errors.CapError):  # the host closes what is left at the end of the run anyway
                await self._cap.call("browser.closeSession", {"sessionId": opened["sessionId"]})


class Tab:
    """One lent tab; `navigation` is `{url, status?, errorText?}` of the first page."""

    def __init__(self, cap: Caller, signal: Signal, opened: Mapping[str, Any]) -> None:
        self.session_id: str = opened["sessionId"]
        self.navigation: dict[str, Any] = dict(opened.get("navigation") or {})
        self.cdp = Cdp(self.call)
        self._cap = cap
        self._signal = signal
        self._exchanges = Exchanges()
        self._after = 0
        self._polling = asyncio.Lock()

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        target_session_id: str | None = None,
        timeout_ms: int | None = None,
    ) -> dict[str, Any]:
        """Send one CDP command to the tab, or to a frame of another process in it; the raw result object.

        `timeout_ms` (1 to 20,000) only lowers the host's limit. Raises the exception of the refusal.
        """
        args: dict[str, Any] = {"sessionId": self.session_id, "method": method}
        if params:
            args["params"] = params
        if target_session_id is not None:
            args["targetSessionId"] = target_session_id
        if timeout_ms is not None:
            args["timeoutMs"] = timeout_ms
        reply = await self._cap.call("browser.cdp", args)
        result: dict[str, Any] = reply.get("result") or {}
        return result

    async def events(
        self, methods: Sequence[str] | None = None, after: int = 0, wait_ms: int = MAX_WAIT_MS
    ) -> AsyncIterator[dict[str, Any]]:
        """The events `{seq, method, params, targetSessionId?, at}` after the seq `after`, as they come.

        Ends after `wait_ms` without a new one. Raises CaptureIncomplete when events were lost on the way, `Aborted`
        when the run was asked to stop. Reading removes nothing, and does not disturb `response`.
        """
        loop = asyncio.get_running_loop()
        quiet_at = loop.time() + wait_ms / 1000
        while True:
            left_ms = max(0, round((quiet_at - loop.time()) * 1000))
            events, after = await self._poll(after, left_ms, methods)
            for event in events:
                yield event
            if events:
                quiet_at = loop.time() + wait_ms / 1000
            elif loop.time() >= quiet_at:
                return

    async def response(
        self, *, origin: str, path: str, status: int | None = 200, method: str | None = None, timeout_s: float = 15.0
    ) -> Response:
        """The next response from exactly this origin and path, once it has finished loading, with its body.

        It may have come before this call; several are handed out one after the other, each once. Raises LoadFailed
        (Chromium's errorText), CaptureIncomplete (events were lost), `errors.TimeoutError` naming what was and was not
        seen, `Aborted`, ValueError for an origin with a path.
        """
        wanted = Wanted(origin, path, status, method)
        deadline = asyncio.get_running_loop().time() + timeout_s
        try:
            async with asyncio.timeout_at(deadline):
                exchange = await self._finished(wanted, deadline)
        except TimeoutError:
            raise self._not_seen(wanted, timeout_s) from None
        return await self._with_body(exchange)

    async def execute(self, command: Generator[dict[str, Any], dict[str, Any], Any]) -> Any:
        """Run a command generator as pycdp writes them: it yields `{method, params}`, is sent the result, returns."""
        with contextlib.closing(command):
            try:
                request = next(command)
                while True:
                    request = command.send(await self.call(request["method"], request.get("params")))
            except StopIteration as end:
                return end.value

    async def _finished(self, wanted: Wanted, deadline: float) -> Exchange:
        while True:
            async with self._polling:  # one reader at a time; each looks again at what the one before it has read
                exchange = self._exchanges.take(wanted)
                if exchange is not None:
                    return exchange
                left_ms = max(1, round((deadline - asyncio.get_running_loop().time()) * 1000))
                try:
                    events, after = await self._poll(self._after, left_ms, NETWORK_METHODS)
                except CaptureIncomplete as lost:
                    self._take_in(lost.events, lost.next)  # a later call goes on behind the gap
                    raise
                self._take_in(events, after)

    def _take_in(self, events: Sequence[Mapping[str, Any]], after: int) -> None:
        for event in events:
            self._exchanges.feed(event)
        self._after = after

    async def _poll(self, after: int, wait_ms: int, methods: Sequence[str] | None) -> tuple[list[dict[str, Any]], int]:
        self._signal.raise_if_cancelled()
        args: dict[str, Any] = {"sessionId": self.session_id, "after": after, "limit": 100}
        if methods is not None:
            args["methods"] = list(methods)
        if wait_ms:
            args["waitMs"] = min(wait_ms, MAX_WAIT_MS)
        page = await self._cap.call("browser.events", args)
        events: list[dict[str, Any]] = page["events"]
        if page.get("lost"):
            raise CaptureIncomplete(page.get("dropped") or {}, events, page["next"])
        return events, page["next"]

    async def _with_body(self, exchange: Exchange) -> Response:
        reply = await self.call(
            "Network.getResponseBody",
            {"requestId": exchange.request_id},
            target_session_id=exchange.target_session_id,
        )
        text = str(reply.get("body", ""))
        body = base64.b64decode(text) if reply.get("base64Encoded") else text.encode("utf-8", "surrogatepass")
        return Response(exchange.url, exchange.status or 0, exchange.mime_type, exchange.headers, body)

    def _not_seen(self, wanted: Wanted, timeout_s: float) -> errors.TimeoutError:
        return errors.TimeoutError(
            "BROWSER_TIMEOUT",
            f"no finished response of {wanted} within {timeout_s:g} s: {self._exchanges.missing(wanted)}; "
            "check that the page really asks for it, or allow more time",
            forgotten=self._exchanges.forgotten,
        )


Send = Callable[..., Awaitable[dict[str, Any]]]


class Cdp:
    """`tab.cdp.Domain.command(name=value, …)`: spelling only; every command goes through `Tab.call`."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def __getattr__(self, domain: str) -> Domain:
        if domain.startswith("_"):
            raise AttributeError(domain)
        return Domain(self._send, domain)


class Domain:
    """One domain of `tab.cdp`; `target_session_id` and `timeout_ms` are not CDP parameters but those of `Tab.call`."""

    def __init__(self, send: Send, name: str) -> None:
        self._send = send
        self._name = name

    def __getattr__(self, command: str) -> Send:
        if command.startswith("_"):
            raise AttributeError(command)

        def run(
            *, target_session_id: str | None = None, timeout_ms: int | None = None, **params: Any
        ) -> Awaitable[dict[str, Any]]:
            return self._send(
                f"{self._name}.{command}", params, target_session_id=target_session_id, timeout_ms=timeout_ms
            )

        return run
