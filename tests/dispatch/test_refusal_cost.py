"""What a refusal costs: the dispatcher's own steps, measured by itself, over ten thousand of each kind.

The times are of this thread's work, so that other people's load on the machine does not count; that the clock on the
wall says the same is looked for in the best of many stretches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import CapError, OwnershipError
from host.browser.session import Session
from host.browser.tab import Tab
from host.cdp.connection import Connection
from host.core.capture import Capture
from host.core.grants import Caller, Kind, Level
from host.core.limits import Limits
from host.core.policy import load_rules
from host.core.redaction import EngineConfig
from host.core.urls import UrlRules
from host.core.wire import Request, dumps
from host.dispatch.call import Call
from host.dispatch.dispatcher import Dispatcher
from host.dispatch.timings import Timings
from host.entries.catalogue import ENTRIES
from host.entries.services import Services
from host.redact.client import Redactor, RedactorConfig
from host.store.sqlite import SqliteStore

CALLS = 10_000
STRETCH = 500
P99_S = 0.001
ALLOWED, OFF = {"browser.debug": Level.ALLOW}, {"browser.debug": Level.OFF}
SESSION = "0" * 32


class Measured(Timings):
    """The dispatcher's timings, each of them kept: on the wall, and of this thread's work since `began_ns`."""

    def __init__(self) -> None:
        super().__init__()
        self.wall_s: list[float] = []
        self.work_s: list[float] = []
        self.began_ns = 0

    def done(self, entry: str, total_ns: int) -> None:
        super().done(entry, total_ns)
        self.work_s.append((time.thread_time_ns() - self.began_ns) / 1e9)
        self.wall_s.append(total_ns / 1e9)


class Refusing:
    """A dispatcher with the real entries, method table and store, and one session that leads nowhere."""

    def __init__(self, store: SqliteStore) -> None:
        self.sent: list[bytes] = []
        self.codes: set[str] = set()
        self.session = Session(
            SESSION,
            who(),
            tab=Tab(Connection(self.sent.append), "T", "A", "B"),
            limits=Limits(),
            capture=Capture(None),
            by_cdp={},
            new_handle=lambda: "handle",
        )
        sessions: Any = SimpleNamespace(owned=self._owned, is_live=lambda session_id: session_id == SESSION)
        self.dispatcher = Dispatcher(
            ENTRIES,
            Services(sessions, Limits(), load_rules(), lambda *told: None, Redactor(RedactorConfig(EngineConfig()))),
            store,
            {},
        )
        self.measured = self.dispatcher.timings = Measured()
        self.store = store

    def _owned(self, caller: Caller, session_id: str) -> Session:
        if caller != self.session.owner:
            raise OwnershipError("SESSION_NOT_OWNED", "the session belongs to another app or run; open one of your own")
        return self.session

    async def refuse(self, caller: Caller, entry: str, args: dict[str, Any]) -> None:
        """The same call, ten thousand times; the codes of its errors are kept."""
        request = Request(1, entry, args, dumps(args))
        for number in range(CALLS):
            self.measured.began_ns = time.thread_time_ns()
            self.dispatcher.submit(caller, request, self._reply)
            if number % STRETCH == STRETCH - 1:
                await self.store.flush()

    def _reply(self, result: bytes | None, problem: CapError | None) -> None:
        self.codes.add(problem.code if problem else "ok")


def who(run: str = "run", granted: dict[str, Level] | None = None) -> Caller:
    return Caller(
        "app",
        "-",
        Kind.SCRIPT,
        run,
        "app:app",
        granted=granted or ALLOWED,
        urls=UrlRules(origins=("https://a.example",)),
    )


def p99(times: list[float]) -> float:
    return sorted(times)[len(times) * 99 // 100]


def best_stretch(times: list[float]) -> float:
    return min(p99(times[at : at + STRETCH]) for at in range(0, len(times), STRETCH))


@pytest_asyncio.fixture
async def refusing(tmp_path: Path) -> AsyncIterator[Refusing]:
    store = SqliteStore.open(tmp_path / "state", id_source=lambda: "id")
    made = Refusing(store)
    yield made
    await made.dispatcher.close()
    store.close()


def cdp(method: str, **params: Any) -> dict[str, Any]:
    return {"sessionId": SESSION, "method": method, "params": params}


REFUSALS = (  # caller, entry, arguments, code
    pytest.param(who(), "browser.cdp", cdp("Page.captureScreenshot"), "BROWSER_POLICY_DENIED", id="denied-method"),
    pytest.param(who(), "browser.cdp", cdp("Page.nothing"), "BROWSER_POLICY_DENIED", id="unknown-method"),
    pytest.param(
        who(), "browser.cdp", cdp("Page.navigate", url="http://0x7f.1:80/"), "BROWSER_POLICY_DENIED", id="inner-address"
    ),
    pytest.param(
        who(), "browser.cdp", cdp("Page.navigate", url="https://b.example/"), "ORIGIN_NOT_ALLOWED", id="other-origin"
    ),
    pytest.param(
        who(),
        "browser.cdp",
        cdp("Network.setCookies", cookies=[{"name": "n", "value": "v", "domain": "b.example"}] * 20),
        "BROWSER_POLICY_DENIED",
        id="cookies-of-another",
    ),
    pytest.param(
        who(),
        "browser.cdp",
        cdp("Runtime.evaluate", expression="x" * 65_000, more=["x"] * 300),
        "PARAMS_TOO_LARGE",
        id="too-large",
    ),
    pytest.param(who("other"), "browser.cdp", cdp("DOM.enable"), "SESSION_NOT_OWNED", id="another-run"),
    pytest.param(who(granted=OFF), "browser.cdp", cdp("DOM.enable"), "GRANT_OFF", id="grant-off"),
    pytest.param(who(), "browser.cdp", {"sessionId": 1, "method": "DOM.enable"}, "BAD_ARGUMENTS", id="bad-arguments"),
    pytest.param(
        who(), "browser.openSession", {"url": "file:///etc/passwd"}, "BROWSER_POLICY_DENIED", id="open-a-file"
    ),
)


@pytest.mark.parametrize(("caller", "entry", "args", "code"), REFUSALS)
async def test_a_refusal_takes_under_a_millisecond(
    refusing: Refusing, caller: Caller, entry: str, args: dict[str, Any], code: str
) -> None:
    await refusing.refuse(caller, entry, args)
    assert refusing.codes == {code}
    assert len(refusing.measured.wall_s) == CALLS
    assert p99(refusing.measured.work_s) < P99_S
    assert best_stretch(refusing.measured.wall_s) < P99_S
    assert refusing.sent == []
    rows = await refusing.store.tail(5)
    assert [(row.kind, row.verdict) for row in rows] == [("outcome", code)] * 5


def burning(seconds: float) -> Callable[[Call], Session]:
    def look(call: Call) -> Session:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        raise OwnershipError("SESSION_NOT_OWNED", "after long thought")

    return look


async def test_a_slow_step_would_be_seen(refusing: Refusing, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: one call in fifty looks up its session for 2 ms."""
    monkeypatch.setattr("tests.dispatch.test_refusal_cost.CALLS", STRETCH)
    quick, slow, count = refusing._owned, burning(0.002), iter(range(STRETCH))

    def sometimes(caller: Caller, session_id: str) -> Session:
        return slow(Call.__new__(Call)) if next(count) % 50 == 0 else quick(caller, session_id)

    monkeypatch.setattr(refusing.dispatcher._services.sessions, "owned", sometimes)
    await refusing.refuse(who("other"), "browser.cdp", cdp("DOM.enable"))
    assert p99(refusing.measured.work_s) > P99_S
    assert best_stretch(refusing.measured.wall_s) > P99_S
    await asyncio.sleep(0)
