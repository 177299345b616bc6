"""One outing: the tabs of a real host go through every way out, and what arrived is counted."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from capsdk.errors import CapError, PreconditionError
from host.app import Host
from host.egress.egress import Refusal
from tests.egress.ways import Page, WaySite
from tests.support.forbidden import Forbidden
from tests.support.inprocess import Talker, caller

TABS = 6
SURE_S = 15.0  # what a page in a tab has for a hit that has to come
HIT_S = 0.8  # for one that may not come
MISS_S = 0.25  # for one that must not come, at least
QUIET_S = 1.5  # without news: it is over (what failed is tried again for long, which is none)
MOST_S = 60.0
CLICK: dict[str, Any] = {"x": 60, "y": 60, "button": "left", "clickCount": 1}

PAINTED = "new Promise(ok => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(ok, 50))))"

Key = tuple[str, str]  # way, target


@dataclass(slots=True)
class Found:
    """What an outing brought about.

    `took_s` is how long the hits of a page in a tab took, by its path; `frames_s` until all in frames was quiet.
    """

    hits: dict[Key, int] = field(default_factory=dict)
    took_s: dict[str, float] = field(default_factory=dict)
    frames_s: float = 0.0
    total: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Refusal] = field(default_factory=dict)
    not_served: list[str] = field(default_factory=list)

    def reached(self, way: str) -> list[str]:
        """The targets that this way reached."""
        return [target for (name, target), count in self.hits.items() if name == way and count]


class Outing:
    """Opens every page of a site in a host; `before` is an earlier outing, whose times tell how long to wait."""

    def __init__(self, host: Host, site: WaySite, forbidden: Forbidden, before: Found | None = None) -> None:
        self.host = host
        self.site = site
        self.forbidden = forbidden
        self.before = before
        self.found = Found()

    async def go(self, places: tuple[str, ...]) -> None:
        """All of it, for a caller that was given these places."""
        self._hear_refusals()
        self.site.loads.clear()
        talker = Talker(self.host, caller(places=places))
        await talker.open(f"{self.site.origin}/frames")
        most_s = MOST_S if self.before is None else max(2 * QUIET_S, 1.5 * self.before.frames_s)
        self.found.frames_s = await self._quiet(2 * QUIET_S, most_s)
        pages = deque(page for page in self.site.pages if page.way.has_tab)
        await asyncio.gather(*(self._work(talker, pages) for _ in range(TABS)))
        await self._quiet(QUIET_S, 2 * QUIET_S)

    def counted(self) -> Found:
        """What came of it; to be asked when the host is closed, and nothing more can come."""
        found = self.found
        for way in self.site.ways:
            found.hits |= {(way, key): self.forbidden.hits(f"{way}/{key}") for key in self.site.targets}
        found.total = self.forbidden.total
        found.not_served = [page.path for page in self.site.pages if not self.site.loads[page.path]]
        return found

    def _hear_refusals(self) -> None:
        told = self.host.browser.egress.on_refused

        def hear(refusal: Refusal) -> None:
            self.found.refused[refusal.place] += refusal.count
            self.found.reasons[refusal.place] = refusal
            told(refusal)

        self.host.browser.egress.on_refused = hear

    async def _quiet(self, quiet_s: float, most_s: float) -> float:
        """Until for a while nothing was served, reached or refused that had not been before; the seconds it took."""
        news, start = (0, 0, 0), time.monotonic()
        since = start
        while time.monotonic() - since < quiet_s and time.monotonic() - start < most_s:
            await asyncio.sleep(0.1)
            now = (self.site.loads.total(), len(self.forbidden.reached), self.found.refused.total())
            if now != news:
                news, since = now, time.monotonic()
        return time.monotonic() - start

    async def _work(self, talker: Talker, pages: deque[Page]) -> None:
        tab = await talker.open()
        while pages:
            await self._visit(Tab(talker, tab), pages.popleft())

    async def _visit(self, tab: Tab, page: Page) -> None:
        await tab.cdp("Page.navigate", url=self.site.origin + page.path)
        if "click" in page.way.needs:
            await tab.cdp("Runtime.evaluate", expression=PAINTED, awaitPromise=True)
            await tab.click()
        if page.way.name.startswith("manifest"):
            for method in ("Page.getAppManifest", "Page.getInstallabilityErrors"):
                await tab.cdp(method)
        await self._hit(page, page.path, 1)
        if "click" in page.way.needs:
            await tab.close_popups()
        if page.way.name == "history":
            await tab.back()
            await self._hit(page, f"{page.path} again", 2)

    async def _hit(self, page: Page, what: str, times: int) -> None:
        """Wait for so many hits of each target of the page; where none may come, as long as they took before."""
        start = time.monotonic()
        keys = (page.target,) if page.target else tuple(self.site.targets)
        if self.before is not None:
            most_s = max(MISS_S, 1.5 * self.before.took_s.get(what, 0.0))
        else:
            most_s = SURE_S if page.way.needs.isdisjoint({"maybe", "some"}) else HIT_S
        done: list[bool] = []
        while time.monotonic() - start < most_s and not (done and all(done)):
            await asyncio.sleep(0.02)
            done = [self.forbidden.hits(f"{page.way.name}/{key}") >= times for key in keys]
        if any(done):
            self.found.took_s[what] = time.monotonic() - start


class Tab:
    """A session that moves on while it is asked: Chromium says so, and is asked again."""

    def __init__(self, talker: Talker, session: str) -> None:
        self._talker = talker
        self._session = session

    async def cdp(self, method: str, **params: Any) -> dict[str, Any]:
        """One command; its result. Empty when the page would not stand still."""
        for _ in range(5):
            with contextlib.suppress(PreconditionError):
                made = await self._talker.ok("browser.cdp", sessionId=self._session, method=method, params=params)
                return dict(made["result"])
            await asyncio.sleep(0.1)
        return {}

    async def click(self) -> None:
        """A click as a person's. The page that it leads away from may not answer it any more."""
        for kind in ("mousePressed", "mouseReleased"):
            params = {"type": kind, **CLICK}
            asked = {"sessionId": self._session, "method": "Input.dispatchMouseEvent", "timeoutMs": 3000}
            with contextlib.suppress(CapError):
                await self._talker.ok("browser.cdp", params=params, **asked)

    async def close_popups(self) -> None:
        """Those that its page opened: they count, and only so many may be open."""
        for one in (await self._talker.ok("browser.sessions"))["sessions"]:
            if one.get("openerSessionId") == self._session:
                await self._talker.ok("browser.closeSession", sessionId=one["sessionId"])

    async def back(self) -> None:
        """To the page before."""
        made = await self.cdp("Page.getNavigationHistory")
        if made and made["currentIndex"]:
            before = made["entries"][made["currentIndex"] - 1]["id"]
            await self.cdp("Page.navigateToHistoryEntry", entryId=before)
