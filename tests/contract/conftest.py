"""A real dispatcher on a real store, with services that need no browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from capsdk.errors import CapError
from host.core.grants import BROWSER, Caller, Level
from host.core.redaction import Found, Text
from host.core.wire import Request, dumps
from host.dispatch.dispatcher import Dispatcher
from host.entries.catalogue import ENTRIES
from host.store.port import GrantRow
from host.store.sqlite import SqliteStore
from tests.contract.support import StubSessions, services_of

WITHOUT_CHROMIUM = {"browser.screenshot": "IMAGE_NOT_CHECKED"}


class Host:
    """All that a door needs, without Chromium."""

    def __init__(self, store: SqliteStore, ceiling: Mapping[str, Level]) -> None:
        self.store = store
        self.sessions = StubSessions()
        self.heard: list[tuple[str, str, dict[str, Any]]] = []
        services = services_of(self.sessions, self._listen, lambda *asked: self.dispatcher.level_of(*asked))
        self.dispatcher = Dispatcher(ENTRIES, services, store, ceiling)
        self.dispatcher.for_ai.find = _nothing_private
        self._number = 0

    def _listen(self, caller: Caller, kind: str, data: dict[str, Any]) -> None:
        self.heard.append((caller.run, kind, data))

    async def grant(self, caller: Caller, capability: str, level: str | None) -> None:
        """The owner's stored answer; None forgets it."""
        if level is None:
            await self.store.revoke_grant(caller.subject, capability, BROWSER)
        else:
            await self.store.set_grant(GrantRow(caller.subject, capability, BROWSER, level, "-", 1))

    async def call(self, caller: Caller, name: str, args: dict[str, Any]) -> tuple[bytes | None, CapError | None]:
        """One call through the whole path."""
        self._number += 1
        answer: asyncio.Future[tuple[bytes | None, CapError | None]] = asyncio.get_running_loop().create_future()
        request = Request(self._number, name, args, dumps(args))
        self.dispatcher.submit(caller, request, lambda result, error: answer.set_result((result, error)))
        return await asyncio.wait_for(answer, 5)

    async def code(self, caller: Caller, name: str, args: dict[str, Any]) -> str:
        """The error code of a call, "ok" for a result, and for what a call comes to that needs a real Chromium."""
        _, error = await self.call(caller, name, args)
        return "ok" if error is None or error.code == WITHOUT_CHROMIUM.get(name) else error.code


async def _nothing_private(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
    return [[] for _ in texts]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    numbers = iter(range(1, 10_000))
    store = SqliteStore.open(tmp_path / "state", id_source=lambda: f"approval-{next(numbers)}")
    yield store
    store.close()


@pytest.fixture
async def host(store: SqliteStore) -> AsyncIterator[Host]:
    host = Host(store, {})
    yield host
    await host.dispatcher.close()
