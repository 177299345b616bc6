"""What the host says of itself and of the caller: the entries there are, what may be used, which sessions are open."""

from __future__ import annotations

import time
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Annotated, Any, Literal

from pydantic import Field

from host.browser.session import Session
from host.browser.sessions import expires
from host.core.grants import Caller
from host.dispatch.call import Call
from host.dispatch.dispatcher import now_ms, result_bytes, unknown_entry
from host.dispatch.entry import Args, Effect, Entry, Lane, Result
from host.entries.browser import services
from host.entries.describe import describe
from host.sandbox.launcher import SandboxReport

PROTOCOL = 1
SHOWN_CHARS = 2048


class NoArgs(Args):
    """No arguments."""


# --- host.info


class RunningBrowser(Result):
    """What Chromium says of itself; both are null while none runs."""

    product: str | None = None
    protocolVersion: str | None = None


class KnownSandbox(Result):
    """What scripts run in on this host; `reasons` say why a better tier was not taken, each beginning with its name."""

    tier: str
    landlockAbi: int
    reasons: list[str]


class HostInfo(Result):
    """Result of `host.info`. `sandboxTier` is that of the caller's own worker, null when it runs in none.

    `sandbox` is null until this host has started a worker.
    """

    protocol: int
    version: str
    browser: RunningBrowser
    limits: dict[str, float]
    sandboxTier: str | None
    sandbox: KnownSandbox | None


def host_info(call: Call) -> None:
    """Answer with the protocol, the versions and the limits."""
    known = services(call)
    browser = known.browser_version()
    call.finish(
        result_bytes({
            "protocol": PROTOCOL,
            "version": product_version(),
            "browser": {name: browser.get(name) for name in ("product", "protocolVersion")},
            "limits": known.limits.public(),
            "sandboxTier": known.run_of(call.caller).tier,
            "sandbox": known_sandbox(known.sandbox()),
        })
    )  # fmt: skip


def known_sandbox(report: SandboxReport | None) -> dict[str, Any] | None:
    """The report as on the wire."""
    if report is None or report.tier is None:
        return None
    return {"tier": report.tier, "landlockAbi": report.landlock_abi, "reasons": list(report.reasons)}


@cache
def product_version() -> str:
    """The installed version of capsdk; `0` when it is run without being installed."""
    try:
        return installed_version("capsdk")
    except PackageNotFoundError:
        return "0"


INFO = Entry(
    name="host.info",
    summary="Tell the protocol's and the product's version, the browser, the limits and the caller's sandbox.",
    args=NoArgs,
    result=HostInfo,
    capability=None,
    lane=Lane.NONE,
    effect=Effect.READ,
    timeout_s=None,
    errors=(),
    example=NoArgs(),
    handler=host_info,
    page_data=False,
)


# --- apps.describe


class DescribeArgs(Args):
    """Arguments of `apps.describe`."""

    entry: Annotated[str | None, Field(max_length=128, description="Only this entry; all by default.")] = None


class Hints(Result):
    """What clients may tell people: whether a call can change anything, and what it waits for."""

    effect: Literal["read", "write"]
    lane: Literal["none", "tab", "window"]


class DescribedEntry(Result):
    """One entry; `args` and `result` are JSON schemas, `access` is what this caller may do with it right now."""

    name: str
    summary: str
    capability: str | None
    access: Literal["off", "ask", "allow", "undeclared"]
    hints: Hints
    limits: dict[str, float]
    errors: list[str]
    args: dict[str, Any]
    result: dict[str, Any]
    example: dict[str, Any]


class Description(Result):
    """Result of `apps.describe`."""

    protocol: int
    entries: list[DescribedEntry]


def describe_entries(call: Call) -> None:
    """Answer with the entries and the caller's true access to each."""
    known, wanted = services(call), call.args.entry
    if wanted is not None and wanted not in known.entries:
        raise unknown_entry(wanted, known.entries)
    entries = [known.entries[name] for name in sorted(known.entries) if wanted in (None, name)]
    told = [{**describe(entry, known.limits), "access": access_to(call, entry)} for entry in entries]
    call.finish(result_bytes({"protocol": PROTOCOL, "entries": told}))


def access_to(call: Call, entry: Entry) -> str:
    """`off`, `ask`, `allow`, or `undeclared` when the app's manifest leaves the capability out."""
    if entry.capability is None:
        return "allow"
    decision = services(call).access(call.caller, entry.capability)
    return "undeclared" if decision.reason == "undeclared" else decision.level.value


DESCRIBE = Entry(
    name="apps.describe",
    summary="List the entries with their schemas, limits and errors, and what the caller may do with each right now.",
    args=DescribeArgs,
    result=Description,
    capability=None,
    lane=Lane.NONE,
    effect=Effect.READ,
    timeout_s=None,
    errors=("UNKNOWN_ENTRY",),
    example=DescribeArgs(entry="browser.cdp"),
    handler=describe_entries,
    page_data=False,
)


# --- browser.sessions


class Lease(Result):
    """Who holds a session. `expiresAt` is in epoch milliseconds, null when the session lives as long as its run.

    `rawTouched` tells that a raw command went into it once.
    """

    holder: Literal["app", "human"]
    generation: int
    expiresAt: int | None
    rawTouched: bool


class SessionUsage(Result):
    """What a session holds of its limits."""

    events: int
    eventBytes: int
    commandsInFlight: int


class SessionRow(Result):
    """One of the caller's sessions."""

    sessionId: str
    openerSessionId: str | None = None
    url: str
    title: str
    state: Literal["open", "crashed", "closing"]
    lease: Lease
    usage: SessionUsage


class SessionsUsage(Result):
    """Sessions open or opening: of this app or chat client (all its runs), and of the whole host."""

    sessions: int
    sessionsOfHost: int


class SessionList(Result):
    """Result of `browser.sessions`; `limits` are the host's, by name."""

    sessions: list[SessionRow]
    limits: dict[str, float]
    usage: SessionsUsage


async def list_sessions(call: Call) -> bytes:
    """Answer with the caller's own sessions, oldest first, those that Chromium has not closed yet among them."""
    known, caller = services(call), call.caller
    await known.sessions.read_titles(known.sessions.of(caller))
    listed = [(session, _state(session)) for session in known.sessions.of(caller)]
    listed += [(session, "closing") for session in known.sessions.closing_of(caller)]
    usage = {"sessions": known.sessions.held_by(caller), "sessionsOfHost": len(known.sessions)}
    rows = [session_row(session, state, known.limits.idle_expiry_s) for session, state in listed]
    return result_bytes({"sessions": rows, "limits": known.limits.public(), "usage": usage})


def session_row(session: Session, state: str, idle_expiry_s: float) -> dict[str, Any]:
    """One session as it is told; what the page chose, its address and title, is bounded."""
    facts = session.page.facts
    row: dict[str, Any] = {
        "sessionId": session.id,
        **({"openerSessionId": session.opener_id} if session.opener_id else {}),
        "url": facts.url[:SHOWN_CHARS],
        "title": facts.title[:SHOWN_CHARS],
        "state": state,
        "lease": {
            "holder": "app",
            "generation": 1,
            "expiresAt": _expires_at_ms(session.owner, session.last_used, idle_expiry_s),
            "rawTouched": session.raw_touched,
        },
        "usage": {
            "events": len(session.ring),
            "eventBytes": session.ring.size_bytes,
            "commandsInFlight": session.commands_in_flight,
        },
    }
    return row


def _state(session: Session) -> str:
    return "crashed" if session.page.crashed else "open"


def _expires_at_ms(owner: Caller, last_used_s: float, idle_expiry_s: float) -> int | None:
    if not expires(owner):
        return None
    return now_ms() + round((last_used_s + idle_expiry_s - time.monotonic()) * 1000)


SESSIONS = Entry(
    name="browser.sessions",
    summary="List the caller's own sessions, who holds them, and what is used of the limits.",
    args=NoArgs,
    result=SessionList,
    capability=None,
    lane=Lane.NONE,
    effect=Effect.READ,
    timeout_s=10.0,
    errors=("BROWSER_TIMEOUT",),
    example=NoArgs(),
    handler=list_sessions,
)

ENTRIES = (SESSIONS, DESCRIBE, INFO)
