"""Services without a browser for the contract: real sessions on a connection that leads nowhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

from capsdk.errors import ExhaustedError
from host.browser.browser import Browser
from host.browser.session import Session
from host.browser.sessions import Sessions
from host.browser.tab import Tab
from host.cdp.connection import Connection
from host.core.capture import Capture
from host.core.grants import Caller, Decision
from host.core.limits import Limits
from host.core.policy import load_rules
from host.core.redaction import EngineConfig
from host.entries.catalogue import ENTRIES
from host.entries.services import Listener, RunFacts, Services
from host.redact.client import Redactor, RedactorConfig

LIMITS = Limits()
RULES = load_rules()


class StubSessions(Sessions):
    """The real book-keeping without a browser: tabs are lent at once, and whatever they are told is answered `{}`."""

    def __init__(self) -> None:
        super().__init__(cast(Browser, SimpleNamespace()), LIMITS, str)
        self.full = False
        self.sent: list[bytes] = []
        self._numbers = itertools.count(1)
        self._connection = Connection(self._chromium)

    @property
    def live(self) -> dict[str, Session]:
        """All that are lent."""
        return self._live

    def _chromium(self, frame: bytes) -> None:
        self.sent.append(frame)
        number = int(frame[len(b'{"id":') : frame.index(b",")])
        self._connection.feed(b'{"id":%d,"result":{}}\0' % number)

    def lend(self, caller: Caller) -> Session:
        """A new session of this caller's."""
        number = next(self._numbers)
        tab = Tab(self._connection, f"T{number}", f"{number:02d}AA", f"{number:02d}BB")
        session = Session(
            f"session-{number}", caller, tab=tab, limits=LIMITS, capture=Capture(), by_cdp={}, new_handle=str
        )
        self._live[session.id] = session
        return session

    async def open(self, caller: Caller, url: str, capture: Capture) -> tuple[Session, dict[str, object]]:
        if self.full:
            raise ExhaustedError("BROWSER_TAB_LIMIT", "too many; close one first", limit=8, actual=8)
        return self.lend(caller), {"url": url, "status": 200}

    async def close(self, session: Session) -> None:
        del self._live[session.id]


def services_of(sessions: StubSessions, listen: Listener, access: Callable[[Caller, str], Decision]) -> Services:
    """The services of a host whose browser is not there; its one run has one file."""
    return Services(
        sessions,
        LIMITS,
        RULES,
        listen,
        Redactor(RedactorConfig(EngineConfig())),
        entries=ENTRIES,
        access=access,
        run_of=lambda caller: RunFacts({"app.toml": b"id = 'shop'"}, "noopen"),
    )
