"""Eight apps, one of them hostile in every way there is: the seven others get all their answers, and in time.

The normal tests look for errors, with few calls; the slow ones do a thousand calls each and look at the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import pytest_asyncio

from capsdk.errors import CapError
from host.app import Host, open_host
from host.cdp.connection import CdpFailure, ConnectionGone
from host.core.limits import Limits
from host.core.settings import Settings
from tests.live.framesite import FrameSites
from tests.live.walls import temporary_folders_in
from tests.support.inprocess import LineTalker, Talker, caller
from tests.support.stdio import LOADED

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEIGHBOURS = 7
WAY_S = 0.7  # how long the hostile one goes on in one way before it takes the next
GIANT_BYTES = 30_000_000
# What the hostile one's own calls may end with; anything else would be a fault of the host.
EXPECTED = frozenset(
    (
        "BROWSER_POLICY_DENIED",
        "BROWSER_TAB_LIMIT",
        "BROWSER_TIMEOUT",
        "CDP_ERROR",
        "DIALOG_OPEN",
        "PARAMS_TOO_LARGE",
        "RESULT_TOO_LARGE",
        "SESSION_CLOSED",
        "TARGET_CRASHED",
        "TARGET_GONE",
    )
)
PAGE = (
    "<!doctype html><title>page</title>"
    "<script>onclick = () => { for (let i = 0; i < 20; i++) open('/popup' + i, '_blank') }</script>"
)


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(folder: Path) -> AsyncIterator[Host]:
    with temporary_folders_in(folder):
        async with open_host(Settings(), ephemeral=True) as made:
            yield made


class Neighbour:
    """One who does his work; `waited_s` is how long each call took."""

    def __init__(self, own: Talker, session: str) -> None:
        self.own = own
        self.session = session
        self.waited_s: list[float] = []

    async def work(self, calls: int) -> None:
        """So many calls, each with the right answer."""
        for number in range(calls):
            start = time.monotonic()
            match number % 4:
                case 0:
                    assert await self.own.js(self.session, f"{number} + 1") == number + 1
                case 1:
                    root = (await self._cdp("DOM.getDocument"))["root"]
                    assert root["nodeName"] == "#document"
                case 2:
                    made = await self._cdp("Runtime.evaluate", expression=f"console.log({number}), document.title")
                    assert made["result"]["value"] == "page"
                case 3:
                    page = await self.own.ok("browser.events", sessionId=self.session, limit=5)
                    assert page["events"]
            self.waited_s.append(time.monotonic() - start)

    async def _cdp(self, method: str, /, **params: Any) -> dict[str, Any]:
        found = await self.own.ok("browser.cdp", sessionId=self.session, method=method, params=params)
        result: dict[str, Any] = found["result"]
        return result


class Hostile:
    """Goes through its ways again and again until it is stopped; `ends` counts what its calls came to."""

    def __init__(self, host: Host, sites: FrameSites, ways: tuple[str, ...]) -> None:
        self.own = LineTalker(host, caller("hostile", places=sites.places))
        self.url = sites.page("a", PAGE)
        self.ways: dict[str, Callable[[], Awaitable[Any]]] = {name: getattr(self, name) for name in ways}
        self.ends: dict[str, int] = {}
        self.done: dict[str, int] = dict.fromkeys(ways, 0)
        self.session = ""
        self._enough = False

    async def __aenter__(self) -> Self:
        await self._open()
        self._task = asyncio.create_task(self._go())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._enough = True
        async with asyncio.timeout(60):
            await self._task
        await self.own.ended()

    async def _go(self) -> None:
        while not self._enough:
            for name, way in self.ways.items():
                end = time.monotonic() + WAY_S
                while time.monotonic() < end and not self._enough:
                    await way()
                    self.done[name] += 1
                    await asyncio.sleep(0.01)
                await self._anew()

    async def _open(self) -> None:
        self.session = await self.own.open(self.url)
        await self.own.js(self.session, LOADED)

    async def _anew(self) -> None:
        """A tab that works, whatever was done to the last one."""
        await self.call("browser.closeSession", sessionId=self.session)
        for _ in range(100):
            with contextlib.suppress(CapError):
                await self._open()
                return
            await asyncio.sleep(0.1)

    async def call(self, entry: str, /, **args: Any) -> str:
        """A call that may come to anything that is expected."""
        code = "ok"
        try:
            async with asyncio.timeout(40):
                await self.own.post(entry, **args)
        except CapError as problem:
            code = problem.code
        self.ends[code] = self.ends.get(code, 0) + 1
        return code

    async def js(self, expression: str, timeout_ms: int = 1000, **more: Any) -> str:
        params = {"expression": expression, "returnByValue": True, "userGesture": True, **more}
        args = {"sessionId": self.session, "method": "Runtime.evaluate", "timeoutMs": timeout_ms, "params": params}
        return await self.call("browser.cdp", **args)

    async def _together(self, call: Callable[[], Coroutine[Any, Any, str]]) -> None:
        """Two hundred calls under way at once, sent twenty in a turn of the loop."""
        tasks = []
        for _ in range(10):
            tasks += [asyncio.create_task(call()) for _ in range(20)]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)

    # --- the ways

    async def floods(self) -> None:
        """Console lines and requests without end."""
        await self.js(
            "for (let i = 0; i < 2000; i++) console.log('x'.repeat(100)); for (let i = 0; i < 20; i++) fetch('/')"
        )

    async def wide_events(self) -> None:
        """Events that are just too large, and far too large."""
        await self.js(
            "console.log('x'.repeat(70000)); console.log('x'.repeat(2000000)); console.log('\\ud800'.repeat(9e4))"
        )

    async def refused_calls(self) -> None:
        """Two hundred at a time, all of them refused."""
        args = {"sessionId": self.session, "method": "Page.captureScreenshot"}
        await self._together(lambda: self.call("browser.cdp", **args))

    async def many_calls(self) -> None:
        """Two hundred at a time, all of them sent."""
        await self._together(lambda: self.js("1"))

    async def large_parameters(self) -> None:
        """As large as they may be, and larger."""
        for size in (60_000, 70_000, 900_000):
            await self.js(f"'{'x' * size}'.length")

    async def busy_loops(self) -> None:
        """The page does not come back by itself."""
        await self.js("setTimeout(() => { const end = Date.now() + 400; while (Date.now() < end); }); 1")
        await self.js("while (true);", timeout_ms=300)

    async def dialogs(self) -> None:
        """One alert after the other; nobody answers."""
        await self.js("setInterval(() => alert('again'), 1); 1")
        await self.js("1", timeout_ms=200)
        await self.call(
            "browser.cdp", sessionId=self.session, method="Page.handleJavaScriptDialog", params={"accept": True}
        )

    async def popups(self) -> None:
        """Twenty windows at a time."""
        await self.js("onclick()", timeout_ms=2000)

    async def crashes(self) -> None:
        """Its page's process dies."""
        with contextlib.suppress(CapError, CdpFailure, ConnectionGone, TimeoutError):
            session = self.own.host.sessions.owned(self.own.who, self.session)
            await session.connection.call("Page.crash", {}, session.page.app, timeout_s=0.2)
        await self.js("1")
        args = {"sessionId": self.session, "method": "Page.navigate", "params": {"url": self.url}}
        await self.call("browser.cdp", **args)

    async def stopped_time(self) -> None:
        """Debugger and virtual time hold the page."""
        for method, params in (
            ("Debugger.enable", {}),
            ("Debugger.pause", {}),
            ("Emulation.setVirtualTimePolicy", {"policy": "pause"}),
            ("Runtime.evaluate", {"expression": "1"}),
        ):
            await self.call("browser.cdp", sessionId=self.session, method=method, params=params, timeoutMs=300)

    async def opens_and_closes(self) -> None:
        """Tabs come and go."""
        await self._anew()

    async def giant_replies(self) -> None:
        """Each holds the pipe that all tabs share, for as long as it takes to be thrown away."""
        await self.js(f"'x'.repeat({GIANT_BYTES})", timeout_ms=20_000)


WAYS = (
    "floods",
    "wide_events",
    "refused_calls",
    "many_calls",
    "large_parameters",
    "busy_loops",
    "dialogs",
    "popups",
    "crashes",
    "stopped_time",
    "opens_and_closes",
)


async def neighbours(host: Host, sites: FrameSites) -> list[Neighbour]:
    """Seven apps, each with a tab."""
    made = []
    for number in range(NEIGHBOURS):
        own = LineTalker(host, caller(f"neighbour-{number}", places=sites.places))
        one = Neighbour(own, await own.open(sites.page("a", "<title>page</title><p>text</p>")))
        await own.js(one.session, LOADED)
        made.append(one)
    return made


async def all_work(them: list[Neighbour], calls: int) -> list[float]:
    """All of them at once: how long their calls took."""
    for one in them:
        one.waited_s.clear()
    await asyncio.gather(*(one.work(calls) for one in them))
    return sorted(waited for one in them for waited in one.waited_s)


async def leave(them: list[Neighbour]) -> None:
    for one in them:
        await one.own.ok("browser.closeSession", sessionId=one.session)


async def work_until(them: list[Neighbour], enough: Callable[[], bool], timeout_s: float = 60.0) -> None:
    """Work on, a little at a time, until the hostile one has done enough."""
    start = time.monotonic()
    while not enough():
        assert time.monotonic() - start < timeout_s, "the hostile one did not get through its ways"
        await all_work(them, 8)


async def test_seven_neighbours_of_a_hostile_app_get_all_their_answers(shared: Host, sites: FrameSites) -> None:
    them = await neighbours(shared, sites)
    chromium = await shared.browser.connection()
    async with Hostile(shared, sites, (*WAYS, "giant_replies")) as hostile:
        await work_until(them, lambda: all(hostile.done.values()))
    assert sum(len(one.waited_s) for one in them) > 0
    assert not chromium.closed  # it is the same one
    assert set(hostile.ends) - {"ok"} <= EXPECTED
    # The control: it was hostile.
    assert {"BROWSER_POLICY_DENIED", "BROWSER_TIMEOUT", "RESULT_TOO_LARGE", "TARGET_CRASHED"} <= set(hostile.ends)
    await leave(them)
    assert len(shared.sessions) == 0


HELD_S = 0.25  # how long one session may hold the pipe in the test below: the product's limit is 5 s


async def test_giant_replies_stall_nobody_longer_than_one_of_them_takes_and_end_the_session_that_sends_them(
    place: Path, sites: FrameSites
) -> None:
    with temporary_folders_in(place):
        async with open_host(Settings(limits=Limits(pipe_held_s=HELD_S)), ephemeral=True) as host:
            them = await neighbours(host, sites)
            hostile = Hostile(host, sites, ())
            await hostile._open()
            working = [asyncio.create_task(keep_working(one)) for one in them]
            replies: list[float] = []
            codes: list[str] = []
            while "SESSION_CLOSED" not in codes and len(codes) < 60:
                start = time.monotonic()
                codes.append(await hostile.js(f"'x'.repeat({GIANT_BYTES})", timeout_ms=20_000))
                replies.append(time.monotonic() - start)
            for task in working:
                task.cancel()
            told = [one for one in await asyncio.gather(*working, return_exceptions=True) if one is not None]
            assert [type(one) for one in told] == [asyncio.CancelledError] * NEIGHBOURS
            assert set(codes) == {"RESULT_TOO_LARGE", "SESSION_CLOSED"}
            assert codes.index("SESSION_CLOSED") == len(codes) - 1
            problem = await problem_of(hostile)
            assert "held the browser's pipe" in problem.message
            slowest_s = max(waited for one in them for waited in one.waited_s)
            assert slowest_s < max(replies) + 0.5
            assert all(len(one.waited_s) > 3 for one in them)
            assert await hostile.own.open() != ""  # the app itself may go on


async def keep_working(one: Neighbour) -> None:
    while True:
        await one.work(4)


async def problem_of(hostile: Hostile) -> CapError:
    """What its session says now."""
    answer = hostile.own.post("browser.events", sessionId=hostile.session)
    await asyncio.wait((answer,), timeout=5.0)
    problem = answer.exception()
    assert isinstance(problem, CapError)
    return problem


CALLS = 1000
FACTOR = 2.0
FLOOR_S = 0.05  # on two cores the hostile page itself takes one, and a quiet p99 is a few milliseconds
ROUNDS = 3


def p99(waited_s: list[float]) -> float:
    return waited_s[len(waited_s) * 99 // 100]


@pytest.mark.long
async def test_a_thousand_calls_each_beside_a_hostile_app_have_no_error_and_are_hardly_slower(
    shared: Host, sites: FrameSites, record_property: Callable[[str, object], None]
) -> None:
    """The best of three rounds counts, each between two quiet ones: other people's load comes and goes."""
    them = await neighbours(shared, sites)
    ratios = []
    for number in range(ROUNDS):
        quiet = await all_work(them, CALLS)
        async with Hostile(shared, sites, WAYS) as hostile:
            beside = await all_work(them, CALLS)
        quiet_s = max(p99(quiet), p99(await all_work(them, CALLS)))
        assert len(beside) == CALLS * NEIGHBOURS
        assert set(hostile.ends) - {"ok"} <= EXPECTED
        record_property(f"p99_ms_{number}", (round(quiet_s * 1000, 1), round(p99(beside) * 1000, 1)))
        ratios.append(p99(beside) / max(quiet_s, FLOOR_S / FACTOR))
    await leave(them)
    assert min(ratios) <= FACTOR, ratios
