"""Who holds which tab: opening, ownership, limits, and every way a session ends."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from capsdk.errors import CapError, ExhaustedError, OwnershipError, TimeoutError, UnavailableError
from host.browser.browser import CLOSE_AGAIN_S, RETRY_S, Browser, browser_gone
from host.browser.channel import Channel
from host.browser.outcome import explained, is_doubtful, place_of
from host.browser.pace import Pace
from host.browser.popups import Popups
from host.browser.session import Session
from host.browser.tab import Tab
from host.cdp.connection import CdpFailure, ConnectionGone
from host.core.capture import Capture
from host.core.grants import Caller, Kind
from host.core.limits import Limits
from host.core.urls import UrlDecision
from host.core.wire import dumps

log = logging.getLogger("capsdk.sessions")

REMEMBERED = 1000
HOPELESS = {
    "deaf": "was closed because its tab did not answer any more",
    "held_the_pipe": "was closed because its replies held the browser's pipe for too long",
    "outside": "was closed because its page came to an origin that the app's manifest does not name",
}
TITLES_TIMEOUT_S = 2.0


class Sessions:
    """All sessions of a host. `new_id()` makes the random ids that callers see.

    `on_released(owner, session_id, reason)` tells of sessions that ended without their owner's asking,
    `on_refused(owner, decision)` of pages that were on their way to where the app may not be, or came there.
    """

    def __init__(self, browser: Browser, limits: Limits, new_id: Callable[[], str]) -> None:
        self._browser = browser
        self._limits = limits
        self._new_id = new_id
        self._live: dict[str, Session] = {}
        self._by_target: dict[str, Session] = {}
        self._by_cdp: dict[str, Channel] = {}
        self._released: dict[str, CapError] = {}
        self._opening: dict[tuple[str, Kind], int] = {}
        self._gone: dict[str, asyncio.Event] = {}
        self._unconfirmed: set[str] = set()
        self._closing: dict[str, Session] = {}
        self._places: frozenset[str] = frozenset()
        self._places_beside: frozenset[str] = frozenset()
        self._tasks: set[asyncio.Task[None]] = set()
        self._expiry: asyncio.Task[None] | None = None
        self.pace = Pace()
        self._popups = Popups(self, lambda opener, tab: self._make(opener.owner, tab, opener.capture, opener))
        self.on_released: Callable[[Caller, str, CapError], None] = lambda owner, session_id, reason: None
        self.on_refused: Callable[[Caller, UrlDecision], None] = lambda owner, decision: None
        browser.on_gone = self._browser_gone
        browser.on_target_gone = self._target_gone
        browser.on_detached = self._detached
        browser.on_popup = self._popup
        browser.popup_turn = self._popup_turn
        browser.popup_is_blank = self._popup_is_blank
        browser.on_popup_refused = self._popup_refused
        browser.on_held = self._held
        browser.on_oversize_event = self._oversize_event
        browser.on_title = self._title

    def __len__(self) -> int:
        return len(self._live) + sum(self._opening.values())

    @property
    def unconfirmed(self) -> frozenset[str]:
        """Targets that were released and that Chromium has not confirmed closed yet."""
        return frozenset(self._unconfirmed)

    def of(self, caller: Caller) -> list[Session]:
        """This caller's live sessions, oldest first."""
        return [session for session in self._live.values() if session.owner == caller]

    def closing_of(self, caller: Caller) -> list[Session]:
        """This caller's released sessions whose tabs Chromium has not confirmed closed yet."""
        return [session for session in self._closing.values() if session.owner == caller]

    async def read_titles(self, sessions: list[Session]) -> None:
        """Ask Chromium for the titles of these sessions: it tells of them when a page commits, not when they change."""
        if not sessions:
            return
        with contextlib.suppress(CdpFailure, ConnectionGone, builtins.TimeoutError):
            found = await sessions[0].connection.call("Target.getTargets", timeout_s=TITLES_TIMEOUT_S)
            for info in found.get("targetInfos", ()):
                self._title(info["targetId"], str(info.get("title", "")))

    def held_by(self, caller: Caller) -> int:
        """Sessions open or opening of the caller's app or chat client: those that count against its limit."""
        key = (caller.app, caller.kind)
        return sum((s.owner.app, s.owner.kind) == key for s in self._live.values()) + self._opening.get(key, 0)

    def owned(self, caller: Caller, session_id: str) -> Session:
        """The caller's own live session.

        Raises OwnershipError SESSION_NOT_OWNED for another's, UnavailableError SESSION_CLOSED for one that is closed
        or was never there.
        """
        session = self._live.get(session_id)
        if session is None:
            raise self._released.get(session_id) or session_closed("was never there or is long closed")
        if session.owner != caller:
            raise OwnershipError("SESSION_NOT_OWNED", "the session belongs to another app or run; open one of your own")
        session.last_used = now_s = time.monotonic()
        self.pace.served(caller, now_s)
        return session

    def is_live(self, session_id: str) -> bool:
        """Is there such a session, whoever owns it?"""
        return session_id in self._live

    async def open(self, caller: Caller, url: str, capture: Capture) -> tuple[Session, dict[str, object]]:
        """A new tab for the caller, at the end of its first navigation.

        Raises ExhaustedError BROWSER_TAB_LIMIT, TimeoutError BROWSER_TIMEOUT or PolicyError EGRESS_REFUSED (the tab
        is closed then), and what starting Chromium raises.
        """
        self.take_slot(caller)
        session: Session | None = None
        try:
            async with asyncio.timeout(self._limits.open_timeout_s):
                try:
                    await self.pace.new_page(caller)
                    session = await self._lend(caller, capture)
                    await session.arm()
                finally:
                    self.give_slot(caller)  # from here on the session itself counts
                navigation = await session.navigate(url, self._limits.open_timeout_s)
                navigation = self._as_it_was(session, url, navigation)
        except (Exception, asyncio.CancelledError) as problem:
            if session is not None and session.closed is None:
                self._task(self._release(session, session_closed("its first page did not come")))
            if isinstance(problem, asyncio.TimeoutError):
                raise open_timeout(self._limits.open_timeout_s) from None
            raise
        return session, navigation

    def _as_it_was(self, session: Session, url: str, navigation: dict[str, object]) -> dict[str, object]:
        if not is_doubtful(navigation):
            return navigation
        asked = session.page.facts.requested_url or url  # redirects followed
        return explained(navigation, self._browser.egress.explain(place_of(asked)), asked)

    def take_slot(self, caller: Caller) -> None:
        """Count a session that is being opened. Raises ExhaustedError BROWSER_TAB_LIMIT."""
        key = (caller.app, caller.kind)
        for held, limit, whose in (
            (self.held_by(caller), self._limits.sessions_per_client, "this app"),
            (len(self), self._limits.sessions_per_host, "the whole host"),
        ):
            if held >= limit:
                raise ExhaustedError(
                    "BROWSER_TAB_LIMIT",
                    f"{held} sessions are open or opening and the limit for {whose} is {limit}; close one first",
                    limit=limit,
                    actual=held,
                )
        self._opening[key] = self._opening.get(key, 0) + 1

    def give_slot(self, caller: Caller) -> None:
        """It is there, and counts by itself, or will not come."""
        self._opening[caller.app, caller.kind] -= 1

    async def _lend(self, caller: Caller, capture: Capture) -> Session:
        return self._make(caller, await self._browser.new_tab(), capture, None)

    def _make(self, caller: Caller, tab: Tab, capture: Capture, opener: Session | None) -> Session:
        session = Session(
            self._new_id(),
            caller,
            tab=tab,
            limits=self._limits,
            capture=capture,
            by_cdp=self._by_cdp,
            new_handle=self._new_id,
        )
        session.opener_id = opener.id if opener else None
        session.on_hopeless = self._hopeless
        session.on_places = lambda session: self._tell_places()
        session.on_refused = lambda session, decision: self.on_refused(session.owner, decision)
        session.crowded = lambda: self.pace.crowded(caller)
        self._live[session.id] = session
        self._by_target[tab.target_id] = session
        self._tell_places()
        if self._expiry is None:
            self._expiry = asyncio.get_running_loop().create_task(self._expire_idle())
        return session

    @contextlib.contextmanager
    def opened_beside(self, places: frozenset[str]) -> Iterator[None]:
        """Have places open besides those of the sessions, for the time of a `with`, such as those of a window."""
        self._places_beside = places
        self._tell_places()
        try:
            yield
        finally:
            self._places_beside = frozenset()
            self._tell_places()

    def _tell_places(self) -> None:
        """A place is open as long as a live session's caller was given it; the egress is told before anybody goes."""
        places = self._places_beside.union(*(session.urls.open_places for session in self._live.values()))
        if places != self._places:
            self._places = places
            self._browser.egress.set_places(places)

    async def close(self, session: Session) -> None:
        """Release one session; returns when Chromium confirmed, or after `close_timeout_s`."""
        await self._release(session, session_closed("was closed"), tell=False)

    async def release_run(self, caller: Caller) -> None:
        """A run, chat or connection ended: all its sessions go."""
        await self._release_all(self.of(caller), session_closed("ended with its run"), tell=False)

    async def release_where(self, hit: Callable[[Caller], bool], why: str) -> None:
        """Release every session whose owner is hit, such as when a grant was taken back."""
        await self._release_all([s for s in self._live.values() if hit(s.owner)], session_closed(why))

    async def shut(self) -> None:
        """The host ends. Closing twice is fine."""
        if self._expiry is not None:
            self._expiry.cancel()
        reason = UnavailableError("BROWSER_DISPOSING", "the host is shutting down; start it again and repeat the call")
        for session in list(self._live.values()):
            self._drop(session, reason)
            await session.finish_tasks()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, *filter(None, (self._expiry,)), return_exceptions=True)

    async def _release_all(self, sessions: list[Session], reason: CapError, *, tell: bool = True) -> None:
        await asyncio.gather(*(self._release(session, reason, tell=tell) for session in sessions))

    async def _release(self, session: Session, reason: CapError, *, tell: bool = True) -> None:
        if session.closed is None:
            self._drop(session, reason, tell=tell)
            await self._close_tab(session)

    async def _close_tab(self, session: Session) -> None:
        """The tab of a session that was dropped; returns when Chromium confirmed, or after `close_timeout_s`."""
        connection, target_id = session.connection, session.target_id
        gone = self._gone.setdefault(target_id, asyncio.Event())
        await session.finish_tasks()
        if connection.closed:
            return
        self._closing[target_id] = session
        try:
            async with asyncio.timeout(self._limits.close_timeout_s):
                await self._until_gone(session, gone)
        except builtins.TimeoutError:
            self._unconfirmed.add(target_id)
            self._task(self._close_again(session, gone))
        else:
            self._closing.pop(target_id, None)
            self._gone.pop(target_id, None)

    async def _until_gone(self, session: Session, gone: asyncio.Event) -> None:
        for wait_s in CLOSE_AGAIN_S:
            self._browser.close_target(session.connection, session.target_id)
            with contextlib.suppress(builtins.TimeoutError):
                async with asyncio.timeout(wait_s):
                    await gone.wait()
                    return
        await gone.wait()

    async def _close_again(self, session: Session, gone: asyncio.Event) -> None:
        for wait_s in RETRY_S:
            if session.connection.closed:
                break
            self._browser.close_target(session.connection, session.target_id)
            with contextlib.suppress(asyncio.TimeoutError):
                async with asyncio.timeout(wait_s):
                    await gone.wait()
                    break
        if gone.is_set() or session.connection.closed:
            self._unconfirmed.discard(session.target_id)
            self._closing.pop(session.target_id, None)
            self._gone.pop(session.target_id, None)
        else:
            log.error("Chromium did not confirm that a tab is closed")

    def _drop(
        self, session: Session, reason: CapError, for_commands: CapError | None = None, *, tell: bool = True
    ) -> None:
        if self._live.pop(session.id, None) is not None and tell:
            self.on_released(session.owner, session.id, reason)
        self._tell_places()
        self._by_target.pop(session.target_id, None)
        self._released[session.id] = reason
        while len(self._released) > REMEMBERED:
            del self._released[next(iter(self._released))]
        session.end(reason, for_commands)
        for popup in [one for one in self._live.values() if one.opener_id == session.id]:
            self._end(popup, session_closed("ended with the session whose page opened it"), tell=tell)

    # --- what Chromium tells

    def _browser_gone(self) -> None:
        for session in list(self._live.values()):
            self._drop(session, session_closed("ended with Chromium"), browser_gone())
        for gone in self._gone.values():
            gone.set()
        self._unconfirmed.clear()
        self._closing.clear()

    def _target_gone(self, target_id: str) -> None:
        session = self._by_target.get(target_id)
        if session is not None:
            self._drop(session, session_closed("ended because its tab was closed"), target_gone())
        gone = self._gone.get(target_id)
        if gone is not None:
            gone.set()

    def _detached(self, cdp_session: str) -> None:
        channel = self._by_cdp.get(cdp_session)
        if channel is not None and channel.handle is not None:
            channel.session.frames.detached(cdp_session)
        elif channel is not None:
            session = channel.session
            connection, target_id = session.connection, session.target_id
            self._drop(session, session_closed("ended because Chromium dropped it"), target_gone())
            self._browser.end_target(connection, target_id)

    def _popup(self, guard: str, info: dict[str, Any]) -> str:
        opener = self._opener_of(info)
        reason = self._popups.refusal(opener)
        if opener is not None and not reason:
            self._task(self._popups.adopt(opener, guard, info))
        return reason

    async def _popup_turn(self, info: dict[str, Any]) -> None:
        """A page that opens windows without end waits in its `window.open`, as the app does in its opens."""
        opener = self._opener_of(info)
        if opener is not None:
            await self.pace.new_page(opener.owner)

    def _popup_is_blank(self, info: dict[str, Any]) -> bool:
        """Did its opener ask for a window without a page? Else its first request will come."""
        opener = self._opener_of(info)
        asked = opener.window_url if opener is not None else ""
        return asked.startswith(("about:", "blob:", "data:", "javascript:"))

    def _opener_of(self, info: dict[str, Any]) -> Session | None:
        """Whose page, or whose frame, opened a window."""
        for target_id in (info.get("openerId", ""), info.get("openerFrameId", "")):
            session = self._by_target.get(target_id)
            if session is not None:
                return session
        frame = info.get("openerFrameId", "")
        return next((session for session in self._live.values() if session.has_frame(frame)), None)

    def _popup_refused(self, info: dict[str, Any], url: str, reason: str) -> None:
        opener = self._opener_of(info)
        if opener is not None:
            opener.add_event("Host.popupRefused", dumps({"url": url[:2048], "reason": reason}))

    def _held(self, cdp_session: str, seconds: float) -> None:
        channel = self._by_cdp.get(cdp_session)
        if channel is not None:
            channel.session.hold(seconds)

    def _oversize_event(self, cdp_session: str, method: str, size_bytes: int) -> None:
        channel = self._by_cdp.get(cdp_session)
        if channel is not None and cdp_session == channel.app:
            channel.flood.event(size_bytes)
            channel.session.lose_event(method, size_bytes)

    def _title(self, target_id: str, title: str) -> None:
        session = self._by_target.get(target_id)
        if session is not None:
            session.page.facts.title = title

    def _hopeless(self, session: Session, why: str) -> None:
        """A session that cannot go on: it is dropped at once, so that nothing more of its tab is told or done."""
        if session.closed is None:
            self._end(session, session_closed(HOPELESS[why]))

    def _end(self, session: Session, reason: CapError, *, tell: bool = True) -> None:
        """Drop it now, and have its tab closed."""
        self._gone.setdefault(session.target_id, asyncio.Event())
        self._drop(session, reason, tell=tell)
        self._task(self._close_tab(session))

    async def _expire_idle(self) -> None:
        while True:
            await asyncio.sleep(min(5.0, self._limits.idle_expiry_s / 4))
            before = time.monotonic() - self._limits.idle_expiry_s
            idle = [s for s in self._live.values() if expires(s.owner) and s.last_used < before]
            if idle:
                await self._release_all(idle, session_closed("expired without a call"))

    def _task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def expires(owner: Caller) -> bool:
    """Sessions of views without a run and of the owner's shell expire; a run's live as long as the run."""
    return owner.kind is Kind.OWNER or (owner.kind is Kind.VIEW and not owner.run)


def session_closed(how: str) -> UnavailableError:
    """The session is no more; `how` it ended."""
    return UnavailableError("SESSION_CLOSED", f"the session {how}; open a new one with browser.openSession")


def target_gone() -> UnavailableError:
    """The tab went away during a call."""
    return UnavailableError("TARGET_GONE", "the tab went away during the call; open a new session")


def open_timeout(limit_s: float) -> TimeoutError:
    """The first navigation neither committed nor failed in time."""
    return TimeoutError(
        "BROWSER_TIMEOUT",
        f"the first page did not come within {limit_s:g} s and the tab is closed; try again, or another URL",
        limitMs=round(limit_s * 1000),
        sessionClosed=True,
    )
