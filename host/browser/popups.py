"""Windows that a lent page opens: each becomes a session of its own, or is refused before it sends a request."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from capsdk.errors import ExhaustedError
from host.browser.enables import APP_ENABLES, GUARD_ENABLES
from host.browser.tab import Tab
from host.cdp.connection import CdpFailure, ConnectionGone
from host.core.wire import dumps

if TYPE_CHECKING:
    from host.browser.session import Session
    from host.browser.sessions import Sessions

ENABLES_TIMEOUT_S = 5.0
BEGINS_S = 1.0  # a window that asks for nothing and commits nothing within it is blank


class Popups:
    """Takes over what Chromium opened paused, for the session whose page asked for it.

    `make(opener, tab)` makes the session of a tab.
    """

    def __init__(self, sessions: Sessions, make: Callable[[Session, Tab], Session]) -> None:
        self._sessions = sessions
        self._make = make

    def refusal(self, opener: Session | None) -> str:
        """Why a window of this session's page is not let in; "" when it is, and a slot is taken then."""
        if opener is None or opener.closed is not None:
            return "the page that opened it is not lent any more"
        if not opener.owner.popups:
            return 'the app\'s manifest says popups = "block"'
        try:
            self._sessions.take_slot(opener.owner)
        except ExhaustedError as problem:
            return problem.message
        return ""

    async def adopt(self, opener: Session, first: str, info: dict[str, Any]) -> None:
        """Make a paused window a session and let it run; `first` is the CDP session that it came with.

        A window waits inside its opener's `window.open`, and its first request waits until all enables are answered.
        One without an opener (`noopener`) has no process yet that could answer. Observed with Chromium 156: only what
        is sent through its first CDP session is there before its page; so that one becomes the caller's, and tells the
        guard, too, until the guard's own has been answered.
        """
        connection, target_id = opener.connection, info["targetId"]
        await self._sessions.pace.new_page(opener.owner)
        try:
            attached = await connection.start("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        except (CdpFailure, ConnectionGone):
            self._sessions.give_slot(opener.owner)
            return  # it is gone already
        second, alone = attached["sessionId"], not info.get("canAccessOpener", False)
        guard, app = (second, first) if alone else (first, second)
        session = self._make(opener, Tab(connection, target_id, guard, app))
        self._sessions.give_slot(opener.owner)  # from here on the session itself counts
        if opener.closed is not None:
            await self._sessions.close(session)
            return
        session.capturing, session.page.app_watches = True, alone
        waits = [connection.start(name, given, app) for name, given in APP_ENABLES]
        waits += [connection.start(name, given, guard) for name, given in (*GUARD_ENABLES, *session.fence.enables)]
        if not alone:
            session.fence.hold()
        connection.start("Runtime.runIfWaitingForDebugger", {}, first)
        # Announced meanwhile: a dialog in its first script keeps the answers away.
        await asyncio.gather(asyncio.wait(waits, timeout=ENABLES_TIMEOUT_S), announce(opener, session))
        session.page.app_watches = False
        if not alone:
            session.fence.let_go()


async def announce(opener: Session, popup: Session) -> None:
    """Tell the opener's events of a window and what it goes to first.

    `Page.windowOpen` of its opener would tell of windows that were blocked, too.
    """
    facts = popup.page.facts
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(BEGINS_S):
            await facts.begun.wait()
    url = facts.first_url or facts.committed_url
    if popup.closed is None:
        opener.add_event("Host.popupOpened", dumps({"sessionId": popup.id, "url": url[:2048]}))
