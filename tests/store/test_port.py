"""What every backend of the store promises. Names no backend."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from capsdk.errors import InvalidArgumentError, UnavailableError
from host.store.port import Store
from tests.store.support import OpenStore, append, grant, ledger_fields, question


async def test_a_grant_is_there_when_set_grant_returns_and_after_reopening(open_store: OpenStore) -> None:
    store = open_store()
    await store.set_grant(grant("allow"))
    assert store.grants()[grant().key].level == "allow"
    store.close()
    assert dict(open_store().grants()) == {grant().key: grant("allow")}


async def test_setting_again_replaces_the_answer(store: Store) -> None:
    await store.set_grant(grant("allow"))
    await store.set_grant(grant("off", revision="r2"))
    assert list(store.grants().values()) == [grant("off", revision="r2")]


async def test_a_snapshot_handed_out_never_changes(store: Store) -> None:
    before = store.grants()
    await store.set_grant(grant())
    assert dict(before) == {}
    assert len(store.grants()) == 1


async def test_revoking_forgets_the_answer_and_says_whether_there_was_one(open_store: OpenStore) -> None:
    store = open_store()
    await store.set_grant(grant())
    assert await store.revoke_grant(*grant().key) is True
    assert await store.revoke_grant(*grant().key) is False
    store.close()
    assert dict(open_store().grants()) == {}


async def test_the_host_is_told_of_a_change_before_the_change_returns(store: Store) -> None:
    seen: list[str | None] = []

    def note() -> None:
        row = store.grants().get(grant().key)
        seen.append(row.level if row else None)

    store.on_grants_changed = note
    await store.set_grant(grant("ask"))
    assert seen == ["ask"]
    await store.set_grant(grant("ask"))
    assert seen == ["ask"], "nothing changed"
    await store.revoke_grant(*grant().key)
    assert seen == ["ask", None]


BAD_GRANTS = (
    pytest.param(grant("always"), id="unknown-level"),
    pytest.param(grant(subject="path:\udcff"), id="half-surrogate"),
    pytest.param(replace(grant(), set_at_ms=2**70), id="number-too-large"),
)


@pytest.mark.parametrize("bad", BAD_GRANTS)
async def test_a_value_that_cannot_be_stored_fails_alone(store: Store, bad: object) -> None:
    results = await asyncio.gather(
        store.set_grant(grant(subject="app:a")),
        store.set_grant(bad),  # type: ignore[arg-type]  # a row whose values are wrong
        store.set_grant(grant(subject="app:b")),
        return_exceptions=True,
    )
    assert results[0] is None
    assert results[2] is None
    assert isinstance(results[1], InvalidArgumentError)
    assert results[1].code == "BAD_ARGUMENTS"
    assert {row.subject for row in store.grants().values()} == {"app:a", "app:b"}
    assert store.healthy


async def test_a_question_gets_an_id_and_survives_a_restart(open_store: OpenStore) -> None:
    store = open_store()
    asked = await store.ask(question())
    assert asked == replace(question(), id="approval-1")
    store.close()
    assert await open_store().approvals() == [asked]


async def test_asking_again_returns_the_live_question(store: Store) -> None:
    first = await store.ask(question(asked_at_ms=1_000))
    assert await store.ask(question(asked_at_ms=2_000)) == first
    assert await store.approvals("pending") == [first]


async def test_two_askers_at_once_share_one_question(store: Store) -> None:
    first, second = await asyncio.gather(store.ask(question()), store.ask(question()))
    assert first == second


OTHER_QUESTIONS = (
    pytest.param({"entry": "browser.openSession"}, id="another-entry"),
    pytest.param({"revision": "r2"}, id="another-revision"),
    pytest.param({"asked_at_ms": 9_000, "expires_at_ms": 20_000}, id="the-first-expired"),
)


@pytest.mark.parametrize("changes", OTHER_QUESTIONS)
async def test_another_question_is_asked_anew(store: Store, changes: dict[str, object]) -> None:
    first = await store.ask(question())
    other = await store.ask(replace(question(), **changes))  # type: ignore[arg-type]  # fields by name
    assert other.id != first.id


async def test_an_expired_question_is_said_to_be_expired(store: Store) -> None:
    first = await store.ask(question(expires_at_ms=2_000))
    await store.ask(question(asked_at_ms=2_000))
    assert [row.id for row in await store.approvals("expired")] == [first.id]


async def test_a_question_with_a_used_id_is_refused(store: Store) -> None:
    await store.ask(question(id="q"))
    with pytest.raises(InvalidArgumentError) as caught:
        await store.ask(question(id="q", entry="browser.events"))
    assert caught.value.code == "BAD_ARGUMENTS"
    assert store.healthy


async def test_the_ledger_keeps_order_and_every_field(open_store: OpenStore) -> None:
    store = open_store()
    for call in range(1, 501):
        store.append(*ledger_fields(call))
        store.append(*ledger_fields(call, kind="outcome", took=7))
    await store.flush()
    rows = await store.ledger(limit=2_000)
    assert [row.seq for row in rows] == list(range(1, 1_001))
    assert [(row.call, row.kind) for row in rows[:3]] == [(1, "call"), (1, "outcome"), (2, "call")]
    written = rows[1]
    assert (
        written.at_ms, written.kind, written.call, written.app, written.revision, written.caller_kind, written.run,
        written.entry, written.method, written.origin, written.session, written.verdict, written.reason, written.bytes,
        written.duration_us,
    ) == ledger_fields(1, kind="outcome", took=7)  # fmt: skip
    store.close()
    again = open_store()
    append(again, 501)
    await again.flush()
    assert (await again.tail(1))[0].seq == 1_001
    assert await again.verify() == 1_001


async def test_a_cursor_reads_on_where_it_stopped(store: Store) -> None:
    append(store, *range(1, 11))
    await store.flush()
    first = await store.ledger(limit=4)
    second = await store.ledger(after=first[-1].seq, limit=4)
    assert [row.call for row in first + second] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [row.call for row in await store.tail(3)] == [8, 9, 10]
    assert await store.ledger(after=10) == []
    assert await store.ledger(limit=0) == []


async def test_an_empty_ledger_verifies(store: Store) -> None:
    assert await store.verify() == 0
    assert await store.tail(5) == []


async def test_closing_writes_what_was_appended_last(open_store: OpenStore) -> None:
    store = open_store()
    append(store, *range(1, 101))
    store.close()
    assert len(await open_store().ledger()) == 100


async def test_closing_twice_is_fine_and_a_closed_store_refuses(store: Store) -> None:
    store.close()
    store.close()
    assert not store.healthy
    assert store.failure is None, "nothing was lost"
    for refused in (store.flush(), store.tail(1), store.set_grant(grant())):
        with pytest.raises(UnavailableError) as caught:
            await refused
        assert caught.value.code == "STORE_UNAVAILABLE"
    with pytest.raises(UnavailableError) as caught:
        append(store, 1)
    assert caught.value.code == "STORE_UNAVAILABLE"


ODD_TEXTS = (
    pytest.param("x" * 5_000, "x" * 199 + "…", id="too-long"),
    pytest.param("a\nb\x00\x1b[2J", "a\\u000ab\\u0000\\u001b[2J", id="control"),
    pytest.param("gpj\u202e.exe", "gpj\\u202e.exe", id="bidi"),
    pytest.param("\ud800", "\\ud800", id="half-surrogate"),
    pytest.param("a\\u0000", "a\\\\u0000", id="backslash"),
    pytest.param("https://bücher.example", "https://bücher.example", id="plain-unicode"),
)


@pytest.mark.parametrize(("given", "kept"), ODD_TEXTS)
async def test_text_is_bounded_and_what_is_invisible_is_spelled_out(store: Store, given: str, kept: str) -> None:
    store.append(*ledger_fields(1, origin=given))
    await store.flush()
    assert [row.origin for row in await store.tail(1)] == [kept]
    assert await store.verify() == 1


async def test_numbers_out_of_range_do_not_end_the_ledger(store: Store) -> None:
    for took in (-5, 2**80, True, 1.5, None):
        store.append(*ledger_fields(1, took=took))  # type: ignore[arg-type]  # a mistake of the caller's
    await store.flush()
    assert [row.duration_us for row in await store.tail(9)] == [-1, 2**63 - 1, 1, 1, -1]
    assert await store.verify() == 5


async def test_segments_are_pruned_whole_and_the_rest_still_verifies(open_store: OpenStore) -> None:
    store = open_store(segment_rows=10)
    append(store, *range(1, 36))
    await store.flush()
    assert [row.segment for row in await store.ledger()] == [1] * 10 + [2] * 10 + [3] * 10 + [4] * 5
    assert await store.prune(2) == 2
    assert await store.prune(2) == 0
    assert [row.seq for row in await store.ledger()] == list(range(21, 36))
    assert await store.verify() == 15
    append(store, 36)
    await store.flush()
    assert await store.prune(0) == 1, "the segment in use stays"
    assert [row.seq for row in await store.ledger()] == list(range(31, 37))
    assert await store.verify() == 6


async def test_pruning_everything_but_a_full_segment_keeps_the_chain(open_store: OpenStore) -> None:
    store = open_store(segment_rows=5)
    append(store, *range(1, 11))
    await store.flush()
    assert await store.prune(1) == 1
    append(store, 11)
    await store.flush()
    assert await store.verify() == 6


async def test_a_cancelled_change_leaves_the_store_working(store: Store) -> None:
    task = asyncio.create_task(store.set_grant(grant()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.set_grant(grant("off"))
    assert store.grants()[grant().key].level == "off"
