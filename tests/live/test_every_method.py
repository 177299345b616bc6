"""Every command of the method table on real Chromium: what is denied never reaches it, what is allowed harms nobody.

A command with empty parameters is often refused by Chromium itself; the slow test sends arbitrary ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import pytest_asyncio

from capsdk.errors import CapError
from host.app import Host, open_host
from host.cdp.connection import Connection, ConnectionGone
from host.core.policy import Verdict, load_rules
from host.core.settings import Settings
from tests.live.arbitrary import Arbitrary
from tests.live.framesite import FrameSites
from tests.live.test_protocol_drift import installed  # noqa: F401 - a fixture: what Chromium says of its protocol
from tests.live.walls import temporary_folders_in
from tests.support.inprocess import Talker, caller
from tests.support.stdio import LOADED

pytestmark = pytest.mark.asyncio(loop_scope="module")

RULES = load_rules()
DENIED = [method for method, rule in RULES.items() if rule.verdict is Verdict.DENY]
ALLOWED = [method for method, rule in RULES.items() if rule.verdict is Verdict.ALLOW]
UNANSWERED = {"Page.waitForDebugger"}  # its answer comes when somebody lets the page go on
FRESH_AFTER = 20  # commands that one session gets
ANSWER_MS, UNANSWERED_MS = 15_000, 500
NEIGHBOUR_S = 2.0
SHOWN = 150  # characters of a reason: the ledger cuts long ones
SEEN = """[navigator.userAgent, navigator.languages, navigator.onLine, navigator.hardwareConcurrency,
    navigator.maxTouchPoints, navigator.cookieEnabled, navigator.webdriver, Intl.DateTimeFormat().resolvedOptions(),
    innerWidth, innerHeight, devicePixelRatio, screen.width, screen.height, document.visibilityState,
    document.hasFocus(), document.title, location.href, ...["print", "(prefers-color-scheme: dark)",
    "(prefers-reduced-motion)", "(forced-colors: active)", "(pointer: coarse)"].map(one => matchMedia(one).matches)]"""
FEATURES = "Emulation.setDisplayFeaturesOverride"
GONE = frozenset(("SESSION_CLOSED", "TARGET_GONE", "TARGET_CRASHED"))


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(folder: Path) -> AsyncIterator[Host]:
    with temporary_folders_in(folder):
        async with open_host(Settings(), ephemeral=True) as made:
            yield made


class Tap:
    """What the host writes to Chromium meanwhile, as (method, CDP session)."""

    def __init__(self, connection: Connection) -> None:
        self.sent: list[tuple[str, str]] = []
        self._connection, self._write = connection, connection._write

    def __enter__(self) -> Self:
        self._connection._write = self._note
        return self

    def __exit__(self, *_: object) -> None:
        self._connection._write = self._write

    def _note(self, frame: bytes) -> None:
        message = json.loads(frame[:-1])
        self.sent.append((message["method"], message.get("sessionId", "")))
        self._write(frame)


class Lent:
    """A session on a page with a frame of another process; `at` are the arguments that reach the page and the frame."""

    def __init__(self, own: Talker, session: str, handle: str) -> None:
        self.own = own
        self.session = session
        self.at: dict[str, dict[str, Any]] = {
            "page": {"sessionId": session},
            "frame": {"sessionId": session, "targetSessionId": handle},
        }

    async def send(
        self, where: str, method: str, params: dict[str, Any] | None = None, timeout_ms: int = 20_000
    ) -> str:
        """One command: the code of its error, or "ok"."""
        given = {} if params is None else {"params": params}
        try:
            async with asyncio.timeout(30):
                await self.own.post("browser.cdp", method=method, timeoutMs=timeout_ms, **self.at[where], **given)
        except CapError as problem:
            return problem.code
        return "ok"

    async def close(self) -> None:
        """It can be given back whatever was done to it."""
        assert await self.own.ok("browser.closeSession", sessionId=self.session) == {}


async def lent(own: Talker, sites: FrameSites) -> Lent:
    """A new session, its frame attached."""
    inner = sites.page("b", "inner")
    session = await own.open(sites.page("a", f"<input autofocus><p>text</p><iframe src='{inner}'></iframe>"))
    poll = {"sessionId": session, "methods": ["Target.attachedToTarget"], "waitMs": 10_000}
    (event,) = (await own.ok("browser.events", **poll))["events"]
    return Lent(own, session, event["params"]["sessionId"])


def says(method: str) -> str:
    """Which rule refused a command, as the ledger tells it, which cuts what is long."""
    return f"{method} is refused ({RULES[method].category}): {RULES[method].reason}"


def script(host: Host, sites: FrameSites) -> Talker:
    return Talker(host, caller("script", places=sites.places))


class Neighbour:
    """Another caller on the same site who asks its own page again and again; `slowest_s` is its longest wait."""

    def __init__(self, host: Host, sites: FrameSites) -> None:
        self.own = Talker(host, caller("neighbour", places=sites.places))
        self.url = sites.page("a", "<title>neighbour</title>")
        self.answers = 0
        self.slowest_s = 0.0

    async def __aenter__(self) -> Self:
        self._session = await self.own.open(self.url)
        await self.own.js(self._session, LOADED)
        self._task = asyncio.create_task(self._ask())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await self.own.ok("browser.closeSession", sessionId=self._session)

    async def sees(self) -> Any:
        """What its page knows of the world."""
        return await self.own.js(self._session, SEEN)

    async def _ask(self) -> None:
        while True:
            start = time.monotonic()
            assert await self.own.js(self._session, f"{self.answers} + 1") == self.answers + 1
            self.slowest_s = max(self.slowest_s, time.monotonic() - start)
            self.answers += 1
            await asyncio.sleep(0.05)


async def test_a_denied_command_reaches_chromium_neither_through_the_page_nor_through_a_frame(
    shared: Host, sites: FrameSites
) -> None:
    one = await lent(script(shared, sites), sites)
    session = shared.sessions.owned(one.own.who, one.session)
    channels = {"page": session.page, "frame": next(iter(session.frames))}
    before = len(await shared.store.ledger(limit=100_000))
    with Tap(session.connection) as tap:
        for where in one.at:
            codes = {method: await one.send(where, method) for method in DENIED}
            assert codes == dict.fromkeys(DENIED, "BROWSER_POLICY_DENIED")
        assert tap.sent == []
        for where, channel in channels.items():  # the control: what is allowed is seen there, and the tab is usable
            assert await one.send(where, "DOM.enable") == "ok"
            assert tap.sent[-1] == ("DOM.enable", channel.app)
    await shared.store.flush()
    rows = [
        row for row in (await shared.store.ledger(limit=100_000))[before:] if row.verdict == "BROWSER_POLICY_DENIED"
    ]
    assert sorted(row.method for row in rows) == sorted(DENIED * 2)
    assert [row.method for row in rows if not row.reason or not says(row.method).startswith(row.reason[:SHOWN])] == []
    await one.close()


@pytest.mark.parametrize("where", ["page", "frame"])
async def test_an_allowed_command_without_parameters_harms_neither_the_host_nor_a_neighbour(
    shared: Host, sites: FrameSites, where: str
) -> None:
    own = script(shared, sites)
    codes: dict[str, str] = {}
    async with Neighbour(shared, sites) as neighbour:
        chromium, seen = await shared.browser.connection(), await neighbour.sees()
        for at in range(0, len(ALLOWED), FRESH_AFTER):
            one = await lent(own, sites)
            for method in ALLOWED[at : at + FRESH_AFTER]:
                patience_ms = UNANSWERED_MS if method in UNANSWERED else ANSWER_MS
                codes[method] = await one.send(where, method, timeout_ms=patience_ms)
            await one.close()
        assert not chromium.closed  # it is the same one
        assert await neighbour.sees() == seen
    odd = {method: code for method, code in codes.items() if code not in ("ok", "CDP_ERROR")}
    refused = {FEATURES: "BROWSER_POLICY_DENIED"} if where == "frame" else {}  # it would end Chromium, see below
    assert odd == dict.fromkeys(UNANSWERED, "BROWSER_TIMEOUT") | refused
    assert list(codes.values()).count("ok") > 50
    assert neighbour.answers > 10
    assert neighbour.slowest_s < NEIGHBOUR_S


COMPOSITION = "Input.imeSetComposition"
TYPED = {"text": "ab", "selectionStart": 0, "selectionEnd": 0}
FOLD = {"features": [{"orientation": "vertical", "offset": 0, "maskLength": 0}]}
DEADLY = (  # where, method, parameters that end the whole Chromium, the nearest ones for a page that do not
    pytest.param("page", FEATURES, {"features": []}, FOLD, id="no-features"),
    pytest.param("frame", FEATURES, FOLD, FOLD, id="features-of-a-frame"),
    pytest.param("page", COMPOSITION, {**TYPED, "replacementStart": -1, "replacementEnd": 1}, TYPED, id="start-below"),
    pytest.param(
        "page",
        COMPOSITION,
        {**TYPED, "replacementStart": 0, "replacementEnd": -1},
        {**TYPED, "replacementStart": 0, "replacementEnd": 1},
        id="end-below-zero",
    ),
    pytest.param(
        "frame", COMPOSITION, {**TYPED, "replacementStart": -(2**31)}, {**TYPED, "replacementEnd": 0}, id="far-below"
    ),
)


@pytest.mark.parametrize(("where", "method", "deadly", "harmless"), DEADLY)
async def test_parameters_that_would_end_chromium_are_refused_and_their_neighbours_are_not(
    shared: Host, sites: FrameSites, where: str, method: str, deadly: dict[str, Any], harmless: dict[str, Any]
) -> None:
    one = await lent(script(shared, sites), sites)
    chromium = await shared.browser.connection()
    assert await one.send(where, method, deadly) == "BROWSER_POLICY_DENIED"
    assert await one.send("page", method, harmless) == "ok"
    await one.close()
    assert not chromium.closed  # it is the same one


@pytest.mark.parametrize(("where", "method", "deadly", "harmless"), DEADLY[:3])
async def test_the_refused_parameters_do_end_this_chromium(
    place: Path, sites: FrameSites, where: str, method: str, deadly: dict[str, Any], harmless: dict[str, Any]
) -> None:
    """When this fails, a newer Chromium has mended itself: take the method out of host/core/killers.py."""
    with temporary_folders_in(place):
        async with open_host(Settings(), ephemeral=True) as host:
            one = await lent(script(host, sites), sites)
            session = host.sessions.owned(one.own.who, one.session)
            channel = {"page": session.page, "frame": next(iter(session.frames))}[where]
            assert await session.connection.call(method, harmless, session.page.app, timeout_s=5.0) == {}
            with pytest.raises(ConnectionGone):
                await session.connection.call(method, deadly, channel.app, timeout_s=5.0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
async def test_arbitrary_parameters_of_what_may_be_sent_harm_neither_the_host_nor_a_neighbour(
    shared: Host,
    sites: FrameSites,
    installed: dict[str, Any],  # noqa: F811 - the fixture
    seed: int,
) -> None:
    chance = random.Random(seed)
    drawn = Arbitrary(installed, chance)
    sent = [method for method in drawn.commands if method in RULES and RULES[method].verdict is not Verdict.DENY]
    sent = [method for method in sent if method not in UNANSWERED]
    own = script(shared, sites)
    async with Neighbour(shared, sites) as neighbour:
        chromium, seen = await shared.browser.connection(), await neighbour.sees()
        for _ in range(40):
            one = await lent(own, sites)
            history: list[tuple[str, str, dict[str, Any]]] = []
            for method in chance.choices(sent, k=FRESH_AFTER):
                where = chance.choice(("page", "page", "page", "frame"))
                history.append((where, method, drawn.params(method)))
                if await one.send(*history[-1], timeout_ms=300) in GONE:
                    break
            await one.close()
            assert not chromium.closed, json.dumps(history)
            assert await neighbour.sees() == seen, json.dumps(history)
    assert neighbour.slowest_s < NEIGHBOUR_S
