"""What is loaded and timed, directly and through the proxy in turn: only the proxy differs."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from bench.cpu import process_cpu_ns
from bench.loading.site import Site
from bench.loading.tabs import Browser, Tab, browser, proxy_flags
from host.app import egress_config, load_settings
from host.egress.egress import Egress

DIRECT, THROUGH = "direct", "through"
WAYS = (DIRECT, THROUGH)
ORIGINS = 8  # of a page from several: six connections to each

Timed = Callable[[Tab], Awaitable[list[float]]]
Samples = dict[str, list[float]]  # by way: milliseconds, and with `_cpu` and `_proxy_cpu`: of Chromium, of the proxy


@dataclass(frozen=True)
class Plan:
    """How much of everything: samples of each way in a round, all of the same size in a full and a quick run."""

    rounds: int = 5
    pages: int = 4
    resources: int = 500
    bodies: int = 2
    body_bytes: int = 200_000_000
    first_bytes: int = 4
    kept: int = 50  # fetches of one sample
    fresh: int = 12
    calls: int = 400
    crowd: int = 16

    @property
    def ports(self) -> int:
        """How many origins the site needs: one that a Chromium has used is not fresh for it any more."""
        return ORIGINS + (self.first_bytes + 1) * self.fresh


QUICK = Plan(rounds=2, pages=2, bodies=1, first_bytes=2, calls=200)


@contextlib.asynccontextmanager
async def proxy(site: Site) -> AsyncIterator[Egress]:
    """The product's own, which may go to the site. Raises UnavailableError BROWSER_LAUNCH_FAILED."""
    egress = Egress(egress_config(load_settings()))
    try:
        await egress.start()
        egress.set_places(site.places())
        yield egress
    finally:
        await egress.close()


class Works:
    """One round of all that is timed in a pair of tabs."""

    def __init__(self, site: Site, plan: Plan) -> None:
        self._site = site
        self._plan = plan
        self._tokens = itertools.count()
        self._fresh: dict[Tab, Iterator[str]] = {}

    async def round(self, egress: Egress, number: int, parts: Collection[str]) -> dict[str, Samples]:
        """These parts, both ways in a Chromium of their own, sample by sample in turn; `number` says which is first."""
        plan = self._plan
        assert egress.port is not None
        assert egress.pid is not None
        async with browser() as plain, browser(proxy_flags(egress.port)) as behind:
            pair = {
                DIRECT: Side(await self._tab(plain), plain, None),
                THROUGH: Side(await self._tab(behind), behind, egress.pid),
            }
            self.begin(side.tab for side in pair.values())
            # Fresh connections first: what is loaded later leaves some behind.
            works: tuple[tuple[str, int, Timed], ...] = (
                ("first_fresh", plan.first_bytes, self.first_fresh),
                ("first_kept", plan.first_bytes, self._first_kept),
                ("many_one", plan.pages, partial(self._many, origins=1)),
                ("many_several", plan.pages, partial(self._many, origins=ORIGINS)),
                ("body", plan.bodies, self._body),
                ("navigation", plan.bodies, self._navigation),
            )
            return {name: await samples(pair, count, work, number) for name, count, work in works if name in parts}

    def begin(self, tabs: Iterable[Tab]) -> None:
        """These tabs have used no origin yet."""
        self._fresh = {tab: iter(self._site.origins[ORIGINS:]) for tab in tabs}

    async def _tab(self, browser: Browser) -> Tab:
        tab = await Tab.open(browser.client)
        await tab.load(f"{self._site.origins[0]}/")
        return tab

    def _url(self, path: str, origin: int = 0) -> str:
        return f"{self._site.origins[origin]}/{path}/{next(self._tokens)}"

    async def _many(self, tab: Tab, *, origins: int) -> list[float]:
        ports = ",".join(str(port) for port in self._site.ports[:origins])
        count = self._plan.resources
        return [await tab.load(self._url(f"page/{count}/0/{ports}"), least=count)]

    async def _body(self, tab: Tab) -> list[float]:
        await tab.load(f"{self._site.origins[0]}/")
        return [await tab.fetch(self._url(f"body/{self._plan.body_bytes}"), self._plan.body_bytes)]

    async def _navigation(self, tab: Tab) -> list[float]:
        return [await tab.load(self._url(f"html/{self._plan.body_bytes}"))]

    async def _first_kept(self, tab: Tab) -> list[float]:
        return await tab.first_bytes([self._url("text/0") for _ in range(self._plan.kept)])

    async def first_fresh(self, tab: Tab) -> list[float]:
        """First bytes from origins that the tab's Chromium has no connection to."""
        origins = itertools.islice(self._fresh[tab], self._plan.fresh)
        return await tab.first_bytes([f"{origin}/text/0/{next(self._tokens)}" for origin in origins])


@dataclass(frozen=True, slots=True)
class Side:
    """A tab, and what is used meanwhile by its Chromium and by what is between that and the site."""

    tab: Tab
    browser: Browser
    proxy_pid: int | None

    def cpu_ms(self) -> tuple[float, float]:
        """Of Chromium and of the proxy, so far, milliseconds."""
        return self.browser.cpu_ms(), process_cpu_ns(self.proxy_pid) / 1e6 if self.proxy_pid else 0.0


async def samples(pair: Mapping[str, Side], count: int, work: Timed, number: int) -> Samples:
    """So many of each way, the first to warm up not counted. ABBA: what drifts favours nobody."""
    for way in WAYS:
        await work(pair[way].tab)
    found: Samples = {name: [] for way in WAYS for name in (way, f"{way}_cpu", f"{way}_proxy_cpu")}
    for at in range(count):
        for way in WAYS if (at + number) % 2 == 0 else reversed(WAYS):
            side = pair[way]
            before = side.cpu_ms()
            took_ms = await work(side.tab)
            after = side.cpu_ms()
            found[way] += took_ms
            found[f"{way}_cpu"].append((after[0] - before[0]) / len(took_ms))
            found[f"{way}_proxy_cpu"].append((after[1] - before[1]) / len(took_ms))
    return found
