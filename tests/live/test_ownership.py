"""Several callers in one host: a session belongs to one of them, and goes when its time is over."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from host.app import Host, open_host
from host.core.grants import Kind
from host.core.limits import Limits
from host.core.settings import Settings
from tests.support.inprocess import Talker, caller

pytestmark = pytest.mark.asyncio(loop_scope="module")
IDLE_S = 1.2
OWN = caller("shop", "run-1")
OTHERS = (
    pytest.param(caller("shop", "run-2"), id="another-run"),
    pytest.param(caller("bank", "run-1"), id="another-app"),
    pytest.param(caller("shop", "run-1", revision="changed"), id="another-revision"),
    pytest.param(caller("shop", "run-1", kind=Kind.CHAT), id="another-kind"),
    pytest.param(caller("shop", "run-1", kind=Kind.OWNER), id="the-owner"),
)


@pytest.fixture(scope="module")
def _temporary(folder: Path) -> Iterator[None]:
    before, tempfile.tempdir = tempfile.tempdir, str(folder)  # where the browser's own uid can reach its profile
    yield
    tempfile.tempdir = before


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(_temporary: None) -> AsyncIterator[Host]:
    async with open_host(Settings(limits=Limits(idle_expiry_s=IDLE_S)), ephemeral=True) as made:
        yield made


@pytest.mark.parametrize("other", OTHERS)
async def test_a_session_belongs_to_one_caller_and_to_nobody_else(shared: Host, other: object) -> None:
    own, stranger = Talker(shared, OWN), Talker(shared, other)  # type: ignore[arg-type] # a Caller, from the table
    session = await own.open()
    assert await stranger.code("browser.cdp", sessionId=session, method="DOM.enable") == "SESSION_NOT_OWNED"
    assert await stranger.code("browser.events", sessionId=session) == "SESSION_NOT_OWNED"
    assert await stranger.code("browser.closeSession", sessionId=session) == "SESSION_NOT_OWNED"
    assert await own.js(session, "1 + 1") == 2
    assert await own.ok("browser.closeSession", sessionId=session) == {}
    for talker in (own, stranger):
        assert await talker.code("browser.cdp", sessionId=session, method="DOM.enable") == "SESSION_CLOSED"
        assert await talker.code("browser.events", sessionId=session) == "SESSION_CLOSED"
        assert await talker.ok("browser.closeSession", sessionId=session) == {}


NO_SESSIONS = (
    pytest.param("", id="empty"),
    pytest.param("x", id="short"),
    pytest.param("0" * 32, id="made-up"),
    pytest.param("../x", id="a-path"),
    pytest.param("a" * 128, id="long"),
)


@pytest.mark.parametrize("session", NO_SESSIONS)
async def test_an_id_that_never_was_is_closed_and_closing_it_is_fine(shared: Host, session: str) -> None:
    own = Talker(shared, OWN)
    assert await own.code("browser.cdp", sessionId=session, method="DOM.enable") == "SESSION_CLOSED"
    assert await own.code("browser.events", sessionId=session) == "SESSION_CLOSED"
    assert await own.ok("browser.closeSession", sessionId=session) == {}


async def test_chromiums_own_ids_open_no_door(shared: Host) -> None:
    own, stranger = Talker(shared, OWN), Talker(shared, caller("bank", "run-9"))
    session = await own.open()
    inner = shared.sessions.owned(OWN, session)
    for raw in (inner.target_id, inner.page.app, inner.page.guard):
        assert await own.code("browser.cdp", sessionId=raw, method="DOM.enable") == "SESSION_CLOSED"
        args = {"sessionId": session, "method": "DOM.enable", "targetSessionId": raw}
        assert await own.code("browser.cdp", **args) == "SESSION_NOT_OWNED"
    other = await stranger.open()
    args = {"sessionId": other, "method": "DOM.enable", "targetSessionId": session}
    assert await stranger.code("browser.cdp", **args) == "SESSION_NOT_OWNED"
    await own.ok("browser.closeSession", sessionId=session)
    await stranger.ok("browser.closeSession", sessionId=other)


async def test_sixteen_sessions_are_all_that_a_host_lends(shared: Host) -> None:
    first, second, third = (Talker(shared, caller(app)) for app in ("one", "two", "three"))
    opened = [(talker, await talker.open()) for talker in (first, second) for _ in range(8)]
    assert await third.code("browser.openSession", url="about:blank") == "BROWSER_TAB_LIMIT"
    talker, session = opened.pop()
    await talker.ok("browser.closeSession", sessionId=session)
    opened.append((third, await third.open()))
    assert await second.code("browser.openSession", url="about:blank") == "BROWSER_TAB_LIMIT"
    await asyncio.gather(*(talker.ok("browser.closeSession", sessionId=session) for talker, session in opened))
    assert len(shared.sessions) == 0
    assert shared.sessions.unconfirmed == frozenset()


async def test_the_limit_of_an_app_counts_all_its_runs(shared: Host) -> None:
    runs = [Talker(shared, caller("many", f"run-{number}")) for number in range(9)]
    opened = [(talker, await talker.open()) for talker in runs[:8]]
    assert await runs[8].code("browser.openSession", url="about:blank") == "BROWSER_TAB_LIMIT"
    for talker, session in opened:
        await talker.ok("browser.closeSession", sessionId=session)


async def test_the_end_of_a_run_ends_its_calls_and_sessions_and_no_others(shared: Host) -> None:
    ending, staying = Talker(shared, caller("shop", "run-3")), Talker(shared, caller("shop", "run-4"))
    session, kept = await ending.open(), await staying.open()
    params = {"expression": "new Promise(() => 0)", "awaitPromise": True}
    waiting = ending.post("browser.cdp", sessionId=session, method="Runtime.evaluate", params=params)
    await shared.dispatcher.caller_ended(ending.who)
    assert getattr(waiting.exception(), "code", None) == "CANCELLED"
    assert await ending.code("browser.events", sessionId=session) == "SESSION_CLOSED"
    assert await staying.js(kept, "'kept'") == "kept"
    await staying.ok("browser.closeSession", sessionId=kept)


async def test_the_owners_sessions_expire_without_a_call_and_a_scripts_do_not(shared: Host) -> None:
    owner, script = Talker(shared, caller("owner", "owner", Kind.OWNER)), Talker(shared, OWN)
    session, kept = await owner.open(), await script.open()
    start = time.monotonic()
    while time.monotonic() - start < IDLE_S * 1.5:  # a call now and then keeps it
        assert await owner.js(session, "1") == 1
        await asyncio.sleep(0.2)
    await asyncio.sleep(IDLE_S * 1.5 + 0.5)
    assert await owner.code("browser.events", sessionId=session) == "SESSION_CLOSED"
    assert await script.js(kept, "2") == 2
    await script.ok("browser.closeSession", sessionId=kept)


async def test_an_open_that_is_cancelled_leaves_no_tab(shared: Host) -> None:
    own = Talker(shared, OWN)
    for delay_s in (0.0, 0.005, 0.02, 0.05, 0.1):
        opening = own.post("browser.openSession", url="about:blank")
        await asyncio.sleep(delay_s)
        for call in list(shared.dispatcher._live.values()):
            shared.dispatcher.cancel(call)
        if opening.exception() is None:  # it was quicker
            await own.ok("browser.closeSession", sessionId=opening.result()["sessionId"])
    session = await own.open()
    connection = shared.sessions.owned(OWN, session).connection
    for _ in range(100):
        if len(await targets(connection)) == 1:
            break
        await asyncio.sleep(0.05)
    assert len(await targets(connection)) == 1
    assert len(shared.sessions) == 1
    await own.ok("browser.closeSession", sessionId=session)


async def targets(connection: object) -> list[str]:
    """The pages that Chromium has."""
    found = await connection.call("Target.getTargets", timeout_s=5)  # type: ignore[attr-defined] # a Connection
    return [info["targetId"] for info in found["targetInfos"] if info["type"] == "page"]
