"""The one Chromium of a host: started at the first need, started again after it died, and the tabs it makes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec

from capsdk.errors import UnavailableError
from host.browser.enables import APP_ENABLES, GUARD_ENABLES
from host.browser.process import Chromium, ChromiumConfig, launch
from host.browser.profile import Profile
from host.browser.tab import Tab
from host.cdp.connection import CdpFailure, Connection, ConnectionGone
from host.cdp.envelope import loads
from host.egress.egress import Egress

log = logging.getLogger("capsdk.browser")

PAGES_ONLY = [{"type": "page"}, {"exclude": True}]
CLOSE_GRACE_S = 1.0
ASIDE_GRACE_S = 5.0  # nobody hurries, and what it has of cookies must be in the profile
SETUP_TIMEOUT_S = 10.0
# A refused window's first request is waited for, so that it fails; a blank one has none.
POPUP_GRACE_S = 10.0
BLANK_POPUP_GRACE_S = 0.5
# Chromium 156 answers a close that meets the commit of a navigation with success, and forgets it: it is said again. Not
# too often: each one begins anew the half second that a page which does not answer is given.
CLOSE_AGAIN_S = (0.2, 0.8, 0.8)
RETRY_S = (1.0, 3.0, 10.0)


class Browser:
    """Chromium on demand, behind its `egress`: that starts first, and ends with the browser.

    `on_gone()` tells that Chromium ended by itself; `on_target_gone(target_id)` that a tab is gone for good;
    `on_detached(cdp_session)` that Chromium dropped one of our sessions. `on_popup(guard, info)` is asked about a
    window that a page opened, and says why it is refused, or "" when it has taken it over;
    `on_popup_refused(info, url, reason)` tells that it is closed.
    """

    def __init__(self, config: ChromiumConfig, profile: Callable[[], Awaitable[Profile]], egress: Egress) -> None:
        self.config = config
        self.egress = egress
        self._make_profile = profile
        self._profile: Profile | None = None
        self._chromium: Chromium | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._creating = 0
        self._fresh: dict[str, str] = {}
        self._ours: set[str] = set()
        self._turned_away: set[str] = set()
        self._ending: dict[str, asyncio.Event] = {}
        self._arrived = asyncio.Condition()
        self._disposing = False
        self._aside = False
        self.on_gone: Callable[[], None] = lambda: None
        self.on_target_gone: Callable[[str], None] = lambda target_id: None
        self.on_detached: Callable[[str], None] = lambda cdp_session: None
        self.on_popup: Callable[[str, dict[str, Any]], str] = lambda guard, info: "nobody lends it"
        self.popup_is_blank: Callable[[dict[str, Any]], bool] = lambda info: False
        self.popup_turn: Callable[[dict[str, Any]], Awaitable[None]] = no_turn
        self.on_popup_refused: Callable[[dict[str, Any], str, str], None] = lambda info, url, reason: None
        self.on_held: Callable[[str, float], None] = lambda session, seconds: None
        self.on_oversize_event: Callable[[str, str, int], None] = lambda session, method, size_bytes: None
        self.on_title: Callable[[str, str], None] = lambda target_id, title: None

    @property
    def version(self) -> dict[str, Any]:
        """What Chromium says of itself; empty while none runs."""
        return self._chromium.version if self._chromium else {}

    async def connection(self) -> Connection:
        """The connection to a running Chromium, which is started if need be.

        Raises UnavailableError BROWSER_UNAVAILABLE, BROWSER_LAUNCH_FAILED, PROFILE_LOCKED or BROWSER_DISPOSING.
        """
        if self._disposing:
            raise disposing()
        if self._aside:
            raise lent_out()
        chromium = self._chromium
        if chromium is not None and not chromium.connection.closed:
            return chromium.connection
        if self._starting is None or self._starting.done():
            self._starting = asyncio.get_running_loop().create_task(self._start())
        # Several opens share one start, and one that is cancelled does not end it for the others.
        return await asyncio.shield(self._starting)

    @contextlib.asynccontextmanager
    async def aside(self) -> AsyncIterator[Profile]:
        """The profile without our Chromium, for the time of a `with`: opens are refused, tabs that are open end.

        Raises what `connection` raises, and at once when the profile is lent out already.
        """
        if self._disposing or self._aside:
            raise disposing() if self._disposing else lent_out()
        self._aside = True
        try:
            await self._stop_starting()
            if self._chromium is not None:
                await self._chromium.close(grace_s=ASIDE_GRACE_S)
                self._chromium = None
            if self._profile is None:
                self._profile = await self._make_profile()
            yield self._profile
        finally:
            self._aside = False

    async def _stop_starting(self) -> None:
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)

    async def _start(self) -> Connection:
        if self._chromium is not None:
            await self._chromium.close(grace_s=0.0)
            self._chromium = None
        if self._profile is None:
            self._profile = await self._make_profile()
        self._fresh.clear()
        self._ours.clear()
        self._turned_away.clear()
        chromium = await self._launched(self._profile)
        connection = chromium.connection
        connection.on_event = self._event
        connection.on_lost = self._lost
        connection.on_held = lambda session, seconds: self.on_held(session, seconds)
        connection.on_oversize_event = lambda session, method, size: self.on_oversize_event(session, method, size)
        self._chromium = chromium
        try:
            await asyncio.gather(
                connection.call(
                    "Browser.setDownloadBehavior",
                    {"behavior": "deny", "eventsEnabled": True},
                    timeout_s=SETUP_TIMEOUT_S,
                ),
                connection.call(
                    "Target.setDiscoverTargets", {"discover": True, "filter": PAGES_ONLY}, timeout_s=SETUP_TIMEOUT_S
                ),
                connection.call(
                    "Target.setAutoAttach",
                    {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": PAGES_ONLY},
                    timeout_s=SETUP_TIMEOUT_S,
                ),
            )
        except (CdpFailure, ConnectionGone, TimeoutError) as problem:
            await chromium.close(grace_s=0.0)
            raise UnavailableError(
                "BROWSER_LAUNCH_FAILED",
                f"Chromium did not take its first commands ({problem or 'no answer'}); try again",
                stderr=chromium.stderr_tail,
            ) from None
        return connection

    async def _launched(self, profile: Profile) -> Chromium:
        """Chromium and its proxy, started side by side: the port is there before the proxy is."""
        port = self.egress.bind()
        proxy = asyncio.ensure_future(self.egress.start())
        try:
            chromium = await launch(self.config, profile, port)
        except BaseException:
            proxy.cancel()
            await asyncio.gather(proxy, return_exceptions=True)
            raise
        try:
            await proxy
        except BaseException:
            await asyncio.shield(chromium.close(grace_s=0.0))
            raise
        return chromium

    async def new_tab(self) -> Tab:
        """A blank tab in a window of its own, captured from its first moment. Sequence: facts/cdp.md 5.

        Raises what `connection` raises, and UnavailableError BROWSER_GONE.
        """
        connection = await self.connection()
        target_id = ""
        self._creating += 1
        try:
            made = await connection.start("Target.createTarget", {"url": "about:blank", "newWindow": True})
            target_id = made["targetId"]
            self._ours.add(target_id)
            guard = await self._guard_of(target_id, connection)
            attached = connection.start("Target.attachToTarget", {"targetId": target_id, "flatten": True})
            app = (await attached)["sessionId"]
            waits = [connection.start(method, params, guard) for method, params in GUARD_ENABLES]
            waits += [connection.start(method, params, app) for method, params in APP_ENABLES]
            waits.append(connection.start("Runtime.runIfWaitingForDebugger", {}, guard))
            await asyncio.gather(*waits)  # navigating before these answers loses events of the first page
        except ConnectionGone:
            raise browser_gone() from None
        except CdpFailure as problem:
            self.end_target(connection, target_id)
            raise UnavailableError(
                "BROWSER_GONE", f"Chromium did not make a tab ({problem.message}); try again"
            ) from None
        except BaseException:
            self.end_target(connection, target_id)
            raise
        finally:
            self._creating -= 1
            self._refuse_leftovers(connection)
        return Tab(connection, target_id, guard, app)

    async def _guard_of(self, target_id: str, connection: Connection) -> str:
        async with self._arrived:
            await self._arrived.wait_for(lambda: target_id in self._fresh or self._disposing or connection.closed)
        if self._disposing:
            raise disposing()
        if connection.closed:
            raise browser_gone()
        return self._fresh.pop(target_id)

    def close_target(self, connection: Connection, target_id: str) -> None:
        """Ask for a tab's end without waiting."""
        if target_id:
            connection.start("Target.closeTarget", {"targetId": target_id})

    def end_target(self, connection: Connection, target_id: str) -> None:
        """Have a tab closed that nobody holds, however often that has to be said."""
        if target_id and target_id not in self._ending:
            self._ending[target_id] = asyncio.Event()
            self._spawn(self._until_ended(connection, target_id, self._ending[target_id]))

    async def _until_ended(self, connection: Connection, target_id: str, gone: asyncio.Event) -> None:
        for wait_s in (*CLOSE_AGAIN_S, *RETRY_S):
            if connection.closed or gone.is_set():
                break
            self.close_target(connection, target_id)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await gone.wait()
        self._ending.pop(target_id, None)

    def _event(self, session: str, method: str, raw: msgspec.Raw) -> None:
        if session:
            return  # of a session that was dropped
        if method == "Target.attachedToTarget":
            self._attached(loads(bytes(raw)))
        elif method == "Target.detachedFromTarget":
            cdp_session = loads(bytes(raw))["sessionId"]
            if cdp_session in self._turned_away and self._chromium is not None:
                self._turned_away.discard(cdp_session)
                self._chromium.connection.sinks.pop(cdp_session, None)
            self.on_detached(cdp_session)
        elif method == "Target.targetDestroyed":
            target_id = loads(bytes(raw))["targetId"]
            self._ours.discard(target_id)
            if target_id in self._ending:
                self._ending[target_id].set()
            self.on_target_gone(target_id)
        elif method == "Target.targetInfoChanged":
            info = loads(bytes(raw))["targetInfo"]
            self.on_title(info["targetId"], str(info.get("title", "")))

    def _attached(self, params: dict[str, Any]) -> None:
        info = params["targetInfo"]
        connection = self._chromium.connection if self._chromium else None
        if connection is None or info["type"] != "page":
            return
        if not info.get("openerId") and params.get("waitingForDebugger") and self._creating:
            self._fresh[info["targetId"]] = params["sessionId"]
            self._spawn(self._announce())
        elif not info.get("openerId") and not params.get("waitingForDebugger"):
            # It is told of our own `attachToTarget`, too; any other tab is a stranger, such as a Ctrl click makes.
            if info["targetId"] not in self._ours:
                self.end_target(connection, info["targetId"])
        elif params.get("waitingForDebugger"):
            reason = self.on_popup(params["sessionId"], info)
            if reason:
                self._refuse(connection, params["sessionId"], info, reason)
            else:
                self._ours.add(info["targetId"])

    async def _announce(self) -> None:
        async with self._arrived:
            self._arrived.notify_all()

    def _refuse(self, connection: Connection, session: str, info: dict[str, Any], reason: str) -> None:
        """Close a popup before it has sent a request.

        Closed while it waits it would hang its opener for ever (facts/cdp.md 3); closed with a request held by Fetch,
        the end of that CDP session lets the request go. So it is resumed, its request fails, then it is closed.
        """
        self._turned_away.add(session)
        self._spawn(self._refuse_in_turn(connection, session, info, reason))

    async def _refuse_in_turn(self, connection: Connection, session: str, info: dict[str, Any], reason: str) -> None:
        await self.popup_turn(info)
        held: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def hear(method: str, params: msgspec.Raw) -> None:
            if method == "Fetch.requestPaused":
                paused = loads(bytes(params))
                answer = {"requestId": paused["requestId"], "errorReason": "Aborted"}
                failed = connection.start("Fetch.failRequest", answer, session)
                failed.add_done_callback(lambda _: _settle(held, str(paused["request"]["url"])))

        connection.sinks[session] = hear
        with contextlib.suppress(ConnectionGone):
            connection.start("Fetch.enable", {}, session)
            connection.start("Runtime.runIfWaitingForDebugger", {}, session)
        grace_s = BLANK_POPUP_GRACE_S if self.popup_is_blank(info) else POPUP_GRACE_S
        done, _ = await asyncio.wait((held,), timeout=grace_s)
        self.end_target(connection, info["targetId"])
        self.on_popup_refused(info, held.result() if done else info.get("url", ""), reason)

    def _refuse_leftovers(self, connection: Connection) -> None:
        if self._creating == 0:
            for target_id in list(self._fresh):
                del self._fresh[target_id]
                self.end_target(connection, target_id)

    def _lost(self) -> None:
        self._spawn(self._announce())
        self.on_gone()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End Chromium and give the profile back. Closing twice is fine."""
        self._disposing = True
        await self._announce()
        await self._stop_starting()
        if self._profile is not None:
            self._profile.closing()
        if self._chromium is not None:
            grace_s = 0.0 if self._profile is not None and self._profile.temporary else CLOSE_GRACE_S
            await self._chromium.close(grace_s=grace_s)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.egress.close()
        if self._profile is not None:
            self._profile.release()


async def no_turn(info: dict[str, Any]) -> None:
    """Nobody waits."""


def _settle(future: asyncio.Future[str], value: str) -> None:
    if not future.done():
        future.set_result(value)


def disposing() -> UnavailableError:
    """The host is on its way out."""
    return UnavailableError("BROWSER_DISPOSING", "the host is shutting down; start it again and repeat the call")


def lent_out() -> UnavailableError:
    """The owner signs in; there is nothing to wait for but a person."""
    return UnavailableError(
        "BROWSER_UNAVAILABLE",
        "the owner has the profile in a window, to sign in; open again when that window is closed",
        reason="login",
    )


def browser_gone() -> UnavailableError:
    """Chromium ended; the next open starts another."""
    return UnavailableError("BROWSER_GONE", "Chromium ended during the call; open a new session and try again")
