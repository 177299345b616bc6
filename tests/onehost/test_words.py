"""What a command says to the host that it joins: every word arrives, and the owner's words are written down."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

from host.commands import words_of
from host.core.grants import Level
from host.core.settings import Settings
from host.daemon import run_request, stdio_request
from host.frontends.cli import RunRequest, StdioRequest
from host.store.sqlite import SqliteStore
from tests.support.stdio import Stdio

LOOPBACK, HOSTS = ("127.0.0.1:8731", "[::1]:80"), ("router.lan:8080", "accounts.google.com:443")
CEILING = Settings(ceiling={"browser.debug": Level.ASK})


def test_every_word_of_a_run_arrives() -> None:
    said = RunRequest("/app", '{"a": 1}', True, ("browser.debug=allow",), LOOPBACK, False, (), HOSTS)
    heard = run_request(words_of(said, CEILING))
    assert heard == RunRequest(
        "/app", '{"a": 1}', True, ("browser.debug=allow",), LOOPBACK, False, ("browser.debug=ask",), HOSTS
    )


def test_every_word_of_a_stdio_arrives() -> None:
    said = StdioRequest("chat", "x", "run-1", ("browser.debug=allow",), LOOPBACK, False, (), HOSTS)
    heard = stdio_request(words_of(said, CEILING))
    assert heard == StdioRequest(
        "chat", "x", "run-1", ("browser.debug=allow",), LOOPBACK, False, ("browser.debug=ask",), HOSTS
    )


async def owner_words(place: Path) -> list[str]:
    """What the ledger has of places that the owner opened."""
    store = SqliteStore.open(place / "state", id_source=lambda: secrets.token_hex(8))
    try:
        rows = await store.tail(100)
    finally:
        store.close()
    return [row.reason for row in rows if (row.kind, row.verdict, row.app) == ("owner", "opened", "x")]


def test_places_that_a_joined_command_opened_stand_in_the_ledger(place: Path) -> None:
    words = ("--allow-loopback", "127.1:8731", "--allow-host", "Router.Lan:8080")
    with Stdio(place, *words, ephemeral=False) as client:
        assert client.ok("run.progress", done=1) == {}
        assert client.finish() == 0
    assert asyncio.run(owner_words(place)) == ["--allow-loopback 127.0.0.1:8731", "--allow-host router.lan:8080"]
