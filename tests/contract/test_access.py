"""Every entry with every kind of caller and every grant, through the real path and a real store."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import pytest

from host.core.grants import Caller, Kind, Level, subject_for
from host.dispatch.entry import Entry
from host.entries.catalogue import ENTRIES
from host.store.sqlite import SqliteStore
from tests.contract.conftest import Host

LEVELS = (None, "off", "ask", "allow")
REFUSAL = {None: "APPROVAL_PENDING", "off": "GRANT_OFF", "ask": "APPROVAL_PENDING", "allow": ""}
ALL = sorted(ENTRIES)
GUARDED = [name for name in ALL if ENTRIES[name].capability is not None]


def someone(kind: Kind, *, run: str = "run-1", app: str = "shop", declared: frozenset[str] | None = None) -> Caller:
    return Caller(app, "r1", kind, run, subject_for(kind, app), declared=declared)


def example(entry: Entry, host: Host, owner: Caller) -> dict[str, Any]:
    """The entry's example; a session that it names is lent to `owner` first."""
    args: dict[str, Any] = entry.example.model_dump(mode="json", exclude_none=True)
    if "sessionId" in args:
        session = host.sessions.lend(owner)
        session.add_event("Network.responseReceived", b"{}")
        args["sessionId"] = session.id
    return args


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("name", ALL)
async def test_each_grant_has_its_answer(host: Host, name: str, kind: Kind) -> None:
    entry, caller = ENTRIES[name], someone(kind)
    for level in LEVELS:
        if entry.capability is not None:
            await host.grant(caller, entry.capability, level)
        needs = entry.capability is not None and kind is not Kind.OWNER
        expected = (REFUSAL[level] if needs else "") or "ok"
        assert await host.code(caller, name, example(entry, host, caller)) == expected, level


@pytest.mark.parametrize("kind", [Kind.SCRIPT, Kind.CHAT, Kind.VIEW])
@pytest.mark.parametrize("name", GUARDED)
async def test_what_the_manifest_does_not_declare_is_refused_whatever_the_grant(
    host: Host, name: str, kind: Kind
) -> None:
    caller = someone(kind, declared=frozenset())
    for level in LEVELS:
        await host.grant(caller, ENTRIES[name].capability or "", level)
        assert await host.code(caller, name, example(ENTRIES[name], host, caller)) == "CAPABILITY_NOT_DECLARED", level


@pytest.mark.parametrize("ceiling", ["off", "ask", "allow"])
@pytest.mark.parametrize("name", GUARDED)
async def test_a_ceiling_caps_every_kind_and_every_grant(store: SqliteStore, name: str, ceiling: str) -> None:
    capability = ENTRIES[name].capability or ""
    host = Host(store, {capability: Level(ceiling)})
    rank = {"off": 0, "ask": 1, "allow": 2}
    for kind, level in product(Kind, ("off", "ask", "allow")):
        caller = someone(kind)
        await host.grant(caller, capability, level)
        given = "allow" if kind is Kind.OWNER else level
        holds = min(given, ceiling, key=rank.__getitem__)
        code = await host.code(caller, name, example(ENTRIES[name], host, caller))
        assert code == (REFUSAL[holds] or "ok"), (kind, level)
    await host.dispatcher.close()


@pytest.mark.parametrize("name", GUARDED)
async def test_the_owners_word_for_a_connection_is_that_connections_only(host: Host, name: str) -> None:
    capability = ENTRIES[name].capability or ""
    given = Caller("shop", "r1", Kind.SCRIPT, "run-1", "app:shop", granted={capability: Level.ALLOW})
    other = someone(Kind.SCRIPT, run="run-2")
    assert await host.code(given, name, example(ENTRIES[name], host, given)) == "ok"
    assert await host.code(other, name, example(ENTRIES[name], host, other)) == "APPROVAL_PENDING"


WITH_SESSION = [name for name in ALL if "sessionId" in ENTRIES[name].args.model_fields]
OTHERS = (
    pytest.param(someone(Kind.SCRIPT, run="run-2"), id="another-run"),
    pytest.param(someone(Kind.SCRIPT, app="other"), id="another-app"),
    pytest.param(someone(Kind.CHAT), id="another-kind"),
    pytest.param(Caller("shop", "r2", Kind.SCRIPT, "run-1", "app:shop"), id="another-revision"),
    pytest.param(someone(Kind.OWNER), id="the-owner"),
)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", WITH_SESSION)
async def test_a_session_of_somebody_else_is_not_owned(host: Host, name: str, other: Caller) -> None:
    await host.grant(other, ENTRIES[name].capability or "", "allow")
    args = example(ENTRIES[name], host, someone(Kind.SCRIPT))
    assert await host.code(other, name, args) == "SESSION_NOT_OWNED"
    assert host.sessions.sent == []


@pytest.mark.parametrize("name", WITH_SESSION)
async def test_an_unknown_session_is_closed_and_closing_it_is_fine(host: Host, name: str) -> None:
    caller = someone(Kind.SCRIPT)
    args = {**example(ENTRIES[name], host, caller), "sessionId": "never-there"}
    expected = "ok" if name == "browser.closeSession" else "SESSION_CLOSED"
    await host.grant(caller, ENTRIES[name].capability or "", "allow")
    assert await host.code(caller, name, args) == expected


@pytest.mark.parametrize("level", LEVELS)
async def test_closing_what_is_released_needs_no_grant_and_nothing_but_the_owner_of_a_live_one(
    host: Host, level: str | None
) -> None:
    caller = someone(Kind.SCRIPT)
    await host.grant(caller, "browser.debug", level)
    assert await host.code(caller, "browser.closeSession", {"sessionId": "released"}) == "ok"


async def test_one_question_is_kept_in_the_store_for_each_entry(host: Host, store: SqliteStore) -> None:
    caller = someone(Kind.CHAT)
    for _ in range(3):
        for name in GUARDED:
            await host.call(caller, name, example(ENTRIES[name], host, caller))
    kept = await store.approvals("pending")
    assert sorted(question.entry for question in kept) == GUARDED
    assert {question.subject for question in kept} == {"chat:shop"}


async def test_every_call_is_in_the_ledger_before_and_after(host: Host, store: SqliteStore) -> None:
    caller = someone(Kind.OWNER)
    for name in ALL:
        await host.call(caller, name, example(ENTRIES[name], host, caller))
    await store.flush()
    rows = await store.ledger()
    assert [(row.kind, row.entry) for row in rows] == [(kind, name) for name in ALL for kind in ("call", "outcome")]
    assert await store.verify() == len(rows)


async def test_odd_names_and_methods_do_not_harm_the_ledger(host: Host, store: SqliteStore) -> None:
    caller = someone(Kind.OWNER)
    session = host.sessions.lend(caller)
    for method in ("Page.\x00navigate\n", "\u202egnp.egaP", "x" * 256):
        assert (
            await host.code(caller, "browser.cdp", {"sessionId": session.id, "method": method})
            == "BROWSER_POLICY_DENIED"
        )
    for name in ("\ud800", "a\nb", "x" * 500_000):
        assert await host.code(caller, name, {}) == "UNKNOWN_ENTRY"
    await store.flush()
    rows = await store.ledger()
    assert len(rows) == 6
    assert max(len(row.entry) + len(row.method) + len(row.reason) for row in rows) < 1000
    assert await store.verify() == 6


async def test_a_store_that_is_closed_refuses_every_call(host: Host, store: SqliteStore) -> None:
    caller = someone(Kind.OWNER)
    store.close()
    codes = {name: await host.code(caller, name, example(ENTRIES[name], host, caller)) for name in ALL}
    assert set(codes.values()) == {"STORE_UNAVAILABLE"}
    assert host.sessions.sent == []


async def test_a_revoked_grant_ends_a_long_poll_at_once(host: Host) -> None:
    caller = someone(Kind.SCRIPT)
    await host.grant(caller, "browser.debug", "allow")
    session = host.sessions.lend(caller)
    poll = asyncio.ensure_future(host.code(caller, "browser.events", {"sessionId": session.id, "waitMs": 20_000}))
    await asyncio.sleep(0.01)
    await host.grant(caller, "browser.debug", "off")
    assert await asyncio.wait_for(poll, 2) == "GRANT_OFF"
