"""`ctx.browser`: lent tabs with the loops that every recipe needs. Built on `cap.call` alone; no CDP types in here."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from capsdk import errors, page, signin
from capsdk.cap import Caller
from capsdk.capture import NETWORK_METHODS, Exchange, Exchanges, Wanted, shortfall_of
from capsdk.cdp import Cdp
from capsdk.shortfall import (
    BodyMissing,
    CaptureIncomplete,
    LoadFailed,
    NotSeen,
    PageThrew,
    Redirected,
    Shortfall,
    SignedOut,
    WrongStatus,
    WrongType,
)
from capsdk.signals import Signal

NAVIGATION_REFUSED = "Host.navigationRefused"
"""The page was on its way to an origin that the manifest does not name, and stays: `{origin, code, message}`."""

MAX_WAIT_MS = 20_000
"""The longest poll that `browser.events` takes."""

LOOK_EVERY_S = 3.0
"""How long a tab may be quiet, while a response is waited for, before its page is looked at for a sign-in."""

SECOND_TRY_S = 1.0
"""A page that was answered otherwise than wanted, such as 401, has this long to ask again and be answered well."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response that the page itself asked for, with its body; header names are lower case.

    `page_url` is what the tab was opened with.
    """

    url: str
    status: int
    mime_type: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    page_url: str = ""

    @property
    def text(self) -> str:
        """The body as UTF-8; what is not UTF-8 becomes U+FFFD."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON. Raises WrongType (a ValueError) when it is not, SignedOut when it is a sign-in form."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            sign = signin.sign_of_body(self.url, self.mime_type, self.body)
        raise _signed_out(self.page_url, sign) if sign else WrongType(self.url, self.mime_type)


class Browser:
    """Lends tabs to the script."""

    def __init__(self, cap: Caller, signal: Signal) -> None:
        self._cap = cap
        self._signal = signal

    @contextlib.asynccontextmanager
    async def session(self, url: str, capture: Sequence[str] | None = None) -> AsyncIterator[Tab]:
        """Open `url` in a tab of its own and close the tab at the end of the block, however it ends.

        `capture` (method names or `Domain.*`) limits which events are kept. A page that could not be loaded still
        gives a tab: see `tab.navigation`. Raises SignedOut when the site sent it on to a sign-in page of an origin that
        the manifest does not name.
        """
        self._signal.raise_if_cancelled()
        args: dict[str, Any] = {"url": url}
        if capture is not None:
            args["capture"] = list(capture)
        try:
            opened = await self._cap.call("browser.openSession", args)
        except errors.PolicyError as problem:
            raise _sent_outside(url, problem.details) or problem from None
        try:
            yield Tab(self._cap, self._signal, opened, url)
        finally:
            with contextlib.suppress(errors.CapError):  # the host closes what is left at the end of the run anyway
                await self._cap.call("browser.closeSession", {"sessionId": opened["sessionId"]})

    @contextlib.asynccontextmanager
    async def page(self, url: str, capture: Sequence[str] | None = None) -> AsyncIterator[Tab]:
        """As `session`, for a page that has to be there.

        Raises LoadFailed, WrongStatus (400 and above), SignedOut (401, 403, or sent on to a sign-in page).
        """
        async with self.session(url, capture) as tab:
            tab.check_navigation()
            yield tab


class Tab:
    """One lent tab; `navigation` is `{url, status?, errorText?}` of the first page, `asked_url` what it was sent to."""

    def __init__(self, cap: Caller, signal: Signal, opened: Mapping[str, Any], asked_url: str = "") -> None:
        self.session_id: str = opened["sessionId"]
        self.navigation: dict[str, Any] = dict(opened.get("navigation") or {})
        self.asked_url = asked_url or str(self.navigation.get("url", ""))
        self.cdp = Cdp(self.call)
        self._cap = cap
        self._signal = signal
        self._exchanges = Exchanges()
        self._after = 0
        self._outside: dict[str, Any] | None = None  # where the page was on its way to last, and may not go
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

        It may have come before this call; several are handed out one after the other, each once. Raises a Shortfall:
        LoadFailed (Chromium's errorText), WrongStatus or Redirected (unless the page soon asks again and is answered
        well), CaptureIncomplete (events were lost), BodyMissing, NotSeen (a TimeoutError that names what was and was
        not seen). Raises SignedOut when answer or page look like that, PolicyError ORIGIN_NOT_ALLOWED when the page
        went where the manifest does not let it, `Aborted`, ValueError for an origin with a path.
        """
        wanted = Wanted(origin, path, status, method)
        deadline = asyncio.get_running_loop().time() + timeout_s
        try:
            async with asyncio.timeout_at(deadline + 0.1):  # the inner deadline is the one that knows more
                exchange = await self._finished(wanted, deadline, timeout_s)
        except TimeoutError:
            raise await self._truth(self._why_not(wanted, timeout_s)) from None
        except (LoadFailed, NotSeen, Redirected, WrongStatus) as short:
            raise await self._truth(short) from None
        return await self._with_body(exchange)

    async def evaluate(self, expression: str, *, timeout_ms: int | None = None) -> Any:
        """The value of a JavaScript expression about the page, by value, promises awaited.

        It runs in a world of its own: the document is the page's, but no variable or function is, so a page can not
        forge the answer by redefining them. Raises PageThrew, or SignedOut when that is what the page looks like.
        `tab.cdp.Runtime.evaluate` runs in the page's own world.
        """
        try:
            return await page.evaluate(self.call, expression, timeout_ms=timeout_ms)
        except PageThrew as short:
            raise await self._truth(short) from None

    async def signed_out(self) -> str | None:
        """What about the page shows that its owner is signed out: a visible password field, or a sign-in address.

        None when nothing does. Fields inside frames and shadow roots are not looked for.
        """
        return await page.look_for_sign_in(self.call, self.asked_url)

    def check_navigation(self) -> None:
        """Do nothing, or raise what is wrong with the first page, as `ctx.browser.page` says."""
        url, status = str(self.navigation.get("url", "")), self.navigation.get("status")
        if self.navigation.get("errorText"):
            raise LoadFailed(self.asked_url, self.navigation["errorText"])
        sign = signin.sign_of_status(url, status) or signin.sign_of_url(self.asked_url, url)
        if sign:
            raise _signed_out(self.asked_url, sign)
        if status is not None and status >= 400:
            raise WrongStatus(url, status)

    async def execute(self, command: Generator[dict[str, Any], dict[str, Any], Any]) -> Any:
        """Run a command generator as pycdp writes them: it yields `{method, params}`, is sent the result, returns."""
        with contextlib.closing(command):
            try:
                request = next(command)
                while True:
                    request = command.send(await self.call(request["method"], request.get("params")))
            except StopIteration as end:
                return end.value

    async def _finished(self, wanted: Wanted, deadline: float, timeout_s: float) -> Exchange:
        now = asyncio.get_running_loop().time
        look_at = now() + LOOK_EVERY_S
        otherwise = False
        while True:
            async with self._polling:  # one reader at a time; each looks again at what the one before it has read
                exchange = self._exchanges.take(wanted)
                if exchange is not None:
                    return exchange
                if not otherwise and (self._outside or self._exchanges.other_answer(wanted) is not None):
                    otherwise = True
                    deadline = min(deadline, now() + SECOND_TRY_S)
                if now() >= deadline:
                    raise self._why_not(wanted, timeout_s)
                quiet = not await self._read_network(min(deadline, look_at) - now())
            if now() >= look_at:
                look_at = now() + LOOK_EVERY_S
                if quiet and (sign := await self.signed_out()):
                    raise _signed_out(self.asked_url, sign)

    async def _read_network(self, wait_s: float) -> int:
        """Take in what comes within the time, at its first piece; how many events that were."""
        try:
            methods = (*NETWORK_METHODS, NAVIGATION_REFUSED)
            events, after = await self._poll(self._after, max(1, round(wait_s * 1000)), methods)
        except CaptureIncomplete as lost:
            self._take_in(lost.events, lost.next)  # a later call goes on behind the gap
            raise
        self._take_in(events, after)
        return len(events)

    def _take_in(self, events: Sequence[Mapping[str, Any]], after: int) -> None:
        for event in events:
            self._exchanges.feed(event)
            if event.get("method") == NAVIGATION_REFUSED:
                self._outside = dict(event.get("params") or {})
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
        try:
            reply = await self.call(
                "Network.getResponseBody",
                {"requestId": exchange.request_id},
                target_session_id=exchange.target_session_id,
            )
        except (errors.PreconditionError, errors.ExhaustedError) as problem:
            if problem.code not in ("CDP_ERROR", "RESULT_TOO_LARGE"):
                raise
            raise BodyMissing(exchange.url, problem.message) from problem
        text = str(reply.get("body", ""))
        body = base64.b64decode(text) if reply.get("base64Encoded") else text.encode("utf-8", "surrogatepass")
        status, mime_type = exchange.status or 0, exchange.mime_type
        return Response(exchange.url, status, mime_type, exchange.headers, body, self.asked_url)

    def _why_not(self, wanted: Wanted, timeout_s: float) -> Shortfall:
        other = self._exchanges.other_answer(wanted)
        if other is not None:
            other.taken = True
            return shortfall_of(other, wanted)
        return NotSeen(
            "BROWSER_TIMEOUT",
            f"no finished response of {wanted} within {timeout_s:g} s: {self._exchanges.missing(wanted)}; "
            "check that the page really asks for it, or allow more time",
            forgotten=self._exchanges.forgotten,
        )

    async def _truth(self, short: Shortfall) -> Exception:
        """`short`, or SignedOut when it, or what the page shows now, tells that."""
        sign = None
        if isinstance(short, WrongStatus):
            sign = signin.sign_of_status(short.url, short.status)
        elif isinstance(short, Redirected):
            sign = signin.sign_of_url(short.url, short.location)
        sign = sign or await self.signed_out()
        if sign:
            return _signed_out(self.asked_url, sign)
        outside, self._outside = self._outside, None
        if outside is None or not isinstance(short, NotSeen):
            return short
        refused = errors.error(str(outside.get("code")), str(outside.get("message")), origin=outside.get("origin"))
        return _sent_outside(self.asked_url, outside) or refused


def _sent_outside(asked_url: str, details: Mapping[str, Any]) -> SignedOut | None:
    """The page was sent on to a sign-in page where it may not go: its owner has to sign in, in a window."""
    sign = signin.sign_of_url(asked_url, f"{details.get('origin')}/")
    return _signed_out(asked_url, sign) if sign else None


def _signed_out(page_url: str, sign: str) -> SignedOut:
    return SignedOut(signin.place(page_url) or "URL", sign)
