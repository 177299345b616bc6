"""The four core entries: a tab is lent, driven with raw CDP, listened to and given back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, NamedTuple

import msgspec
from pydantic import Field

from capsdk.errors import CapError, InvalidArgumentError, error
from host.browser.channel import Channel
from host.browser.session import Session, Waiter
from host.core.capture import Capture, parse_capture
from host.core.jsonscan import deeper_than
from host.core.limits import Limits
from host.core.policy import Ruling, judge_method
from host.core.ring import Page
from host.core.urls import judge_url
from host.core.wire import raw_member
from host.dispatch.call import Call
from host.dispatch.dispatcher import result_bytes
from host.dispatch.entry import Args, Effect, Entry, Lane, Result
from host.entries.services import Services

DEFAULTS = Limits()

SessionId = Annotated[str, Field(max_length=128, description="The session, from browser.openSession.")]
Millis = Annotated[int, Field(ge=1, le=20_000, description="A lower deadline than the limit, in milliseconds.")]


def services(call: Call) -> Services:
    """The call's services, typed."""
    found: Services = call.services
    return found


def own_session(call: Call) -> Session:
    """The caller's own live session named in the arguments."""
    return services(call).sessions.owned(call.caller, call.args.sessionId)


# --- browser.openSession


class OpenSessionArgs(Args):
    """Arguments of `browser.openSession`."""

    url: Annotated[str, Field(min_length=1, max_length=2048, description="The first page: http(s), or about:blank.")]
    capture: Annotated[
        list[Annotated[str, Field(max_length=128)]] | None,
        Field(max_length=100, description="Events to keep: `Domain.event` or `Domain.*`. All by default."),
    ] = None


class Navigation(Result):
    """How the first navigation went."""

    url: str
    status: int | None = None
    errorText: str | None = None


class OpenedSession(Result):
    """Result of `browser.openSession`."""

    sessionId: str
    navigation: Navigation


def judge_open(call: Call) -> Capture:
    """The URL rule, before a slot is taken; gives the capture filter."""
    args: OpenSessionArgs = call.args
    decision = judge_url(args.url, call.caller.urls)
    if not decision.allowed:
        raise error(decision.code, decision.reason, url=args.url[:200])
    return parse_capture(args.capture)


async def open_session(call: Call) -> bytes:
    """Lend the caller a new tab. Raises as listed in the entry's errors."""
    session, navigation = await services(call).sessions.open(call.caller, call.args.url, call.prepared)
    call.session = session
    return result_bytes({"sessionId": session.id, "navigation": navigation})


OPEN_SESSION = Entry(
    name="browser.openSession",
    summary="Lend the caller a new tab and load its first page; capture is on before anything of the site loads.",
    args=OpenSessionArgs,
    result=OpenedSession,
    capability="browser.debug",
    lane=Lane.NONE,
    effect=Effect.WRITE,
    timeout_s=None,
    limits=("sessions_per_client", "sessions_per_host", "open_timeout_s"),
    errors=(
        "BROWSER_POLICY_DENIED",
        "ORIGIN_NOT_ALLOWED",
        "EGRESS_REFUSED",
        "BROWSER_TAB_LIMIT",
        "BROWSER_UNAVAILABLE",
        "BROWSER_LAUNCH_FAILED",
        "PROFILE_LOCKED",
        "BROWSER_TIMEOUT",
        "BROWSER_GONE",
    ),
    example=OpenSessionArgs(url="https://example.com/"),
    handler=open_session,
    prepare=judge_open,
)


# --- browser.cdp


class CdpArgs(Args):
    """Arguments of `browser.cdp`."""

    sessionId: SessionId
    method: Annotated[str, Field(max_length=256, description="The exact CDP method, such as Runtime.evaluate.")]
    params: Annotated[Any, Field(description="Its parameters, a JSON object of at most 64 KB and 100 levels.")] = None
    targetSessionId: Annotated[str | None, Field(max_length=128, description="The handle of a child frame.")] = None
    timeoutMs: Millis | None = None


class CdpResult(Result):
    """Result of `browser.cdp`."""

    result: dict[str, Any]


class _Params(msgspec.Struct):
    params: msgspec.Raw = msgspec.Raw(b"{}")


_PARAMS = msgspec.json.Decoder(_Params)


class Judged(NamedTuple):
    """Where a command goes and with which parameters, or the answer that the host gives itself."""

    channel: Channel
    params: bytes
    ruling: Ruling


def judge_cdp(call: Call) -> Judged:
    """The frame, the limits and the method policy, before anything is sent."""
    args: CdpArgs = call.args
    session = call.session
    assert isinstance(session, Session)
    channel = session.channel(args.targetSessionId)
    params, raw = checked_params(call)
    ruling = judge_method(args.method, params, services(call).rules, session.surroundings(call.caller.urls, channel))
    if not ruling.allowed:
        raise error(ruling.code, ruling.reason, hint=ruling.hint, method=args.method[:128])
    if problem := channel.request_refusal(args.method, params):
        raise problem
    return Judged(channel, raw if ruling.params is None else ruling.params, ruling)


def send_cdp(call: Call) -> Coroutine[Any, Any, bytes] | None:
    """Forward one judged command; the reply is written from Chromium's read callback."""
    args: CdpArgs = call.args
    session = call.session
    assert isinstance(session, Session)
    judged: Judged = call.prepared
    if judged.ruling.answer is not None:
        return answer_cdp(call, session, judged.ruling)
    limit_s = services(call).limits.command_timeout_s
    timeout_s = limit_s if args.timeoutMs is None else min(limit_s, args.timeoutMs / 1000)

    def done(result: bytes | None, problem: CapError | None) -> None:
        call.complete(None if result is None else b'{"result":%b}' % result, problem)

    command = session.send(judged.channel, args.method, judged.params, done, timeout_s=timeout_s)
    if command is not None:
        session.raw_touched = True
        call.on_end = command.cancel
    return None


async def answer_cdp(call: Call, session: Session, ruling: Ruling) -> bytes:
    """A command that Chromium never sees."""
    if ruling.closes:
        await services(call).sessions.close(session)
    return b'{"result":%b}' % (ruling.answer or b"{}")


def checked_params(call: Call) -> tuple[dict[str, Any], bytes]:
    """The parameters decoded, and as the bytes that stood on the line. Raises PARAMS_TOO_LARGE or BAD_ARGUMENTS."""
    params = call.args.params
    if params is None:
        return {}, b"{}"
    if not isinstance(params, dict):
        raise InvalidArgumentError("BAD_ARGUMENTS", "params is a JSON object; leave it out when there are none")
    limits = services(call).limits
    raw = raw_member(_PARAMS, call.raw_args, "params", params)
    if len(raw) > limits.params_bytes:
        raise _params_too_large("bytes", limits.params_bytes, len(raw))
    if deeper_than(raw, limits.params_depth):
        raise _params_too_large("levels of nesting", limits.params_depth, None)
    return params, raw


def _params_too_large(unit: str, limit: int, actual: int | None) -> InvalidArgumentError:
    has = f"has {actual}" if actual is not None else "has more"
    problem = InvalidArgumentError(
        "PARAMS_TOO_LARGE",
        f"params may have {limit} {unit} and {has}; send at most {limit}, in several calls",
        limit=limit,
    )
    if actual is not None:
        problem.details["actual"] = actual
    return problem


CDP = Entry(
    name="browser.cdp",
    summary="Send one raw CDP command to the caller's own tab; the method policy decides which.",
    args=CdpArgs,
    result=CdpResult,
    capability="browser.debug",
    lane=Lane.NONE,
    effect=Effect.WRITE,
    timeout_s=None,
    limits=("command_timeout_s", "params_bytes", "params_depth", "result_bytes"),
    errors=(
        "PARAMS_TOO_LARGE",
        "SESSION_CLOSED",
        "SESSION_NOT_OWNED",
        "BROWSER_POLICY_DENIED",
        "ORIGIN_NOT_ALLOWED",
        "CDP_ERROR",
        "DIALOG_OPEN",
        "RESULT_TOO_LARGE",
        "BROWSER_TIMEOUT",
        "TARGET_GONE",
        "TARGET_CRASHED",
        "BROWSER_GONE",
    ),
    example=CdpArgs(sessionId="0123456789abcdef", method="Runtime.evaluate", params={"expression": "document.title"}),
    handler=send_cdp,
    prepare=judge_cdp,
    owned=own_session,
    cdp_method=lambda args: args.method,
)


# --- browser.events


class EventsArgs(Args):
    """Arguments of `browser.events`."""

    sessionId: SessionId
    after: Annotated[
        int, Field(ge=0, le=2**53 - 1, description="The `next` of the last poll; 0 reads from the start.")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=100, description="At most so many events.")] = 100
    methods: Annotated[
        list[Annotated[str, Field(max_length=128)]] | None,
        Field(max_length=100, description="Only events of these methods; the others are passed over."),
    ] = None
    waitMs: Annotated[int, Field(ge=0, le=20_000, description="Wait so long for a first match, in milliseconds.")] = 0


class DroppedEvents(Result):
    """What was lost of one method."""

    count: int
    bytes: int
    size: int


class EventPage(Result):
    """Result of `browser.events`."""

    events: list[dict[str, Any]]
    next: int
    lost: bool
    dropped: dict[str, DroppedEvents]


def read_events(call: Call) -> None:
    """Answer with a page of the ring, at once or when the first match comes."""
    args: EventsArgs = call.args
    session = call.session
    assert isinstance(session, Session)
    limits = services(call).limits
    methods = frozenset(args.methods) if args.methods is not None else None

    def answer() -> None:
        if session.closed is not None:
            call.fail(session.closed)
            return
        page = session.ring.read(
            after=args.after, limit=min(args.limit, limits.poll_events), max_bytes=limits.poll_bytes, methods=methods
        )
        call.finish(encode_page(page))

    if args.after > session.ring.last_seq or not args.waitMs or session.ring.has_news(args.after, methods):
        answer()
        return
    waiter = Waiter(methods, answer)
    session.wait(waiter)
    timer = asyncio.get_running_loop().call_later(min(args.waitMs / 1000, limits.poll_wait_s), answer)

    def stop() -> None:
        timer.cancel()
        session.stop_waiting(waiter)

    call.on_end = stop


def encode_page(page: Page) -> bytes:
    """A page as JSON: the events are joined, never parsed."""
    dropped = msgspec.json.encode(page.dropped)
    lost = b"true" if page.lost else b"false"
    return b'{"events":%b,"next":%d,"lost":%b,"dropped":%b}' % (page.events, page.next, lost, dropped)


EVENTS = Entry(
    name="browser.events",
    summary="Read the session's events after a cursor; `lost` tells when some cannot be read any more.",
    args=EventsArgs,
    result=EventPage,
    capability="browser.debug",
    lane=Lane.NONE,
    effect=Effect.READ,
    timeout_s=None,
    limits=("events_kept", "events_bytes", "event_bytes", "poll_events", "poll_bytes", "poll_wait_s"),
    errors=("BAD_CURSOR", "SESSION_CLOSED", "SESSION_NOT_OWNED"),
    example=EventsArgs(sessionId="0123456789abcdef", after=0, methods=["Network.responseReceived"], waitMs=1000),
    handler=read_events,
    owned=own_session,
)


# --- browser.closeSession


class CloseSessionArgs(Args):
    """Arguments of `browser.closeSession`."""

    sessionId: SessionId


class Closed(Result):
    """Result of `browser.closeSession`: nothing."""


async def close_session(call: Call) -> bytes:
    """Give the tab back. Closing what is released already is fine."""
    if isinstance(call.session, Session):
        await services(call).sessions.close(call.session)
    return b"{}"


def own_or_released(call: Call) -> Session | None:
    """The caller's own session, None when it is released or was never there; another's raises."""
    return own_session(call) if services(call).sessions.is_live(call.args.sessionId) else None


CLOSE_SESSION = Entry(
    name="browser.closeSession",
    summary="Give the tab back; repeat-safe.",
    args=CloseSessionArgs,
    result=Closed,
    capability="browser.debug",
    lane=Lane.NONE,
    effect=Effect.WRITE,
    timeout_s=10.0,
    errors=("SESSION_NOT_OWNED",),
    example=CloseSessionArgs(sessionId="0123456789abcdef"),
    handler=close_session,
    page_data=False,
    owned=own_or_released,
    free=lambda call: not services(call).sessions.is_live(call.args.sessionId),
)

ENTRIES = (OPEN_SESSION, CDP, EVENTS, CLOSE_SESSION)
