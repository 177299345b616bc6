"""The entries that describe: what `references/sdk` says, what the caller may do, what the host is."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from host.app import Host, open_host
from host.appcommands import AppCommands
from host.core.grants import BROWSER, Caller, Kind, Level
from host.core.settings import Settings
from host.entries.catalogue import ENTRIES
from host.store.port import GrantRow
from tests.support.inprocess import Talker, caller

SDK = Path(__file__).parents[2] / "references" / "sdk"
BARE = Caller("shop", "-", Kind.SCRIPT, "run", "app:shop")


def references() -> list[dict[str, Any]]:
    """What is written down, in the order of names."""
    pages = [json.loads(path.read_text(encoding="utf-8")) for path in SDK.glob("*.json")]
    return sorted(pages, key=lambda page: str(page["name"]))


def without_access(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in entry.items() if key != "access"} for entry in entries]


async def test_apps_describe_says_what_the_references_say(host: Host) -> None:
    told = await Talker(host, BARE).ok("apps.describe")
    assert told["protocol"] == 1
    assert without_access(told["entries"]) == references()
    assert {entry["name"] for entry in told["entries"]} == ENTRIES.keys()


async def test_the_command_says_what_the_references_say(settings: Settings) -> None:
    assert await AppCommands(settings).describe_entries() == references()


async def test_one_entry_can_be_asked_for_and_an_unknown_one_is_named(host: Host) -> None:
    talker = Talker(host, BARE)
    (entry,) = (await talker.ok("apps.describe", entry="browser.cdp"))["entries"]
    assert entry["name"] == "browser.cdp"
    assert await talker.code("apps.describe", entry="browser.cpd") == "UNKNOWN_ENTRY"


DEBUG = frozenset({"browser.debug"})
ACCESS: tuple[Any, ...] = (  # what the manifest declares, what is stored, what the connection was given, the access
    pytest.param(None, None, None, "ask", id="never-set"),
    pytest.param(DEBUG, None, None, "ask", id="declared"),
    pytest.param(DEBUG, "allow", None, "allow", id="stored"),
    pytest.param(DEBUG, "off", None, "off", id="stored-off"),
    pytest.param(DEBUG, "off", "allow", "allow", id="given-to-the-connection"),
    pytest.param(frozenset(), "allow", "allow", "undeclared", id="not-in-the-manifest"),
)


@pytest.mark.parametrize(("declared", "stored", "given", "access"), ACCESS)
async def test_access_is_what_a_call_would_meet(
    host: Host, declared: frozenset[str] | None, stored: str | None, given: str | None, access: str
) -> None:
    who = replace(BARE, declared=declared, granted={"browser.debug": Level(given)} if given else {})
    if stored:
        await host.store.set_grant(GrantRow(who.subject, "browser.debug", BROWSER, stored, "-", 0))
    told = {entry["name"]: entry["access"] for entry in (await Talker(host, who).ok("apps.describe"))["entries"]}
    needing = {name for name, entry in ENTRIES.items() if entry.capability == "browser.debug"}
    assert {told[name] for name in needing} == {access}
    assert {told[name] for name, entry in ENTRIES.items() if entry.capability is None} == {"allow"}
    met = {"ask": "APPROVAL_PENDING", "off": "GRANT_OFF", "undeclared": "CAPABILITY_NOT_DECLARED"}
    expected = met.get(access, "SESSION_CLOSED")
    assert await Talker(host, who).code("browser.events", sessionId="gone") == expected


async def test_a_ceiling_shows_in_the_access(settings: Settings) -> None:
    async with open_host(replace(settings, ceiling={"browser.debug": Level.ASK}), own_profile=True) as host:
        who = replace(BARE, granted={"browser.debug": Level.ALLOW})
        (entry,) = (await Talker(host, who).ok("apps.describe", entry="browser.cdp"))["entries"]
    assert entry["access"] == "ask"


async def test_host_info_starts_no_browser(host: Host, settings: Settings) -> None:
    info = await Talker(host, BARE).ok("host.info")
    assert info["protocol"] == 1
    assert info["version"][0].isdigit()
    assert info["limits"] == settings.limits.public()
    assert info["browser"] == {"product": None, "protocolVersion": None}
    assert info["sandboxTier"] is None


async def test_without_a_session_none_is_listed(host: Host, settings: Settings) -> None:
    told = await Talker(host, BARE).ok("browser.sessions")
    assert told == {
        "sessions": [],
        "limits": settings.limits.public(),
        "usage": {"sessions": 0, "sessionsOfHost": 0},
    }


@pytest.mark.chromium
async def test_sessions_are_listed_to_their_owner_with_state_and_use(host: Host) -> None:
    own, other = Talker(host, caller(run=secrets.token_hex(4))), Talker(host, caller(run=secrets.token_hex(4)))
    shell = Talker(host, Caller("owner", "-", Kind.OWNER, "owner", "owner"))
    first, second = await own.open(), await own.open()
    kept = await shell.open()
    assert (await other.ok("browser.sessions"))["sessions"] == []
    told = await own.ok("browser.sessions")
    assert [row["sessionId"] for row in told["sessions"]] == [first, second]
    assert told["usage"] == {"sessions": 2, "sessionsOfHost": 3}
    row = told["sessions"][0]
    assert (row["url"], row["state"]) == ("about:blank", "open")
    assert row["lease"] == {"holder": "app", "generation": 1, "expiresAt": None, "rawTouched": False}
    assert "openerSessionId" not in row
    await own.js(first, "document.title = 'Shop'; console.log('x')")
    waiting = own.post(
        "browser.cdp",
        sessionId=first,
        method="Runtime.evaluate",
        params={"expression": "new Promise(() => {})", "awaitPromise": True},
    )
    touched, untouched = (await own.ok("browser.sessions"))["sessions"]
    assert (touched["title"], touched["lease"]["rawTouched"]) == ("Shop", True)
    assert touched["usage"]["commandsInFlight"] == 1
    assert 0 < touched["usage"]["events"] < touched["usage"]["eventBytes"]
    assert not untouched["lease"]["rawTouched"]
    (mine,) = (await shell.ok("browser.sessions"))["sessions"]
    now_ms = (await own.ok("browser.events", sessionId=first, methods=["Runtime.consoleAPICalled"]))["events"][0]["at"]
    assert mine["sessionId"] == kept
    assert 0 < mine["lease"]["expiresAt"] - now_ms < 130_000
    await own.ok("browser.closeSession", sessionId=first)
    assert [row["sessionId"] for row in (await own.ok("browser.sessions"))["sessions"]] == [second]
    info = await own.ok("host.info")
    assert "Chrom" in info["browser"]["product"]
    assert waiting.exception() is not None
