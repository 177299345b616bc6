"""What is written down of a call: before its effect and after it, and nothing private."""

from __future__ import annotations

import asyncio
import logging

import pytest

from capsdk.errors import PreconditionError
from host.dispatch.call import Call
from tests.dispatch.support import Tab, World, caller, entry


async def test_a_call_is_written_down_before_its_effect_and_its_outcome_before_the_reply() -> None:
    async def act(call: Call) -> bytes:
        await asyncio.sleep(0)
        world.store.log.append("effect")
        return b'{"v":"secret-result"}'

    world = World(entry(handler=act, owned=lambda call: Tab(), cdp_method=lambda args: f"Page.{args.text}"))
    world.answers.reply = lambda number: lambda result, error: world.store.log.append("reply")  # type: ignore[method-assign]  # order is all
    world.call(args={"text": "navigate"})
    await asyncio.sleep(0.02)
    assert world.store.log == ["call 1 allowed", "effect", "outcome 1 ok", "reply"]
    before, after = world.store.rows
    same = {
        "app": "app", "revision": "r1", "caller_kind": "script", "run": "run-1", "entry": "t.echo",
        "method": "Page.navigate", "origin": "https://shop.example", "session": "01234567", "reason": "stored",
    }  # fmt: skip
    assert same.items() <= before.items()
    assert same.items() <= after.items()
    assert (before["bytes"], after["bytes"]) == (0, len(b'{"v":"secret-result"}'))
    assert "secret-result" not in str(world.store.rows)


async def test_a_refused_call_leaves_one_row_with_its_code() -> None:
    world = World(entry(), level="off")
    await world.answer()
    await world.answer("t.other")
    assert [(row["kind"], row["verdict"], row["entry"]) for row in world.store.rows] == [
        ("outcome", "GRANT_OFF", "t.echo"),
        ("outcome", "UNKNOWN_ENTRY", "t.other"),
    ]


async def test_rejected_values_and_chromiums_words_stay_out_of_the_ledger() -> None:
    async def refuse(call: Call) -> bytes:
        raise PreconditionError(
            "CDP_ERROR", "Chromium refused it: secret-page-text", cdp={"message": "secret-page-text"}
        )

    world = World(entry(handler=refuse))
    await world.answer(args={"text": "secret-argument-text"})
    await world.answer()
    assert world.answers.codes == ["BAD_ARGUMENTS", "CDP_ERROR"]
    assert "secret" not in str(world.store.rows)
    assert "secret" not in str(world.answers.got[0][2].to_wire() if world.answers.got[0][2] else "")


async def test_a_store_that_cannot_write_refuses_before_the_effect() -> None:
    begun: list[Call] = []
    world = World(entry(handler=begun.append))
    world.store.broken = True
    assert (await world.answer()).code == "STORE_UNAVAILABLE"
    assert begun == []


async def test_a_store_that_fails_after_the_effect_costs_no_reply(caplog: pytest.LogCaptureFixture) -> None:
    def act(call: Call) -> None:
        world.store.broken = True
        call.finish(b"{}")

    world = World(entry(handler=act))
    with caplog.at_level(logging.CRITICAL, "capsdk.dispatch"):
        assert await world.answer() == b"{}"


async def test_the_owners_words_are_written_down() -> None:
    world = World()
    world.dispatcher.note(caller(), "owner", "granted", "browser.debug=allow")
    (row,) = world.store.rows
    assert (row["kind"], row["verdict"], row["reason"], row["call"]) == ("owner", "granted", "browser.debug=allow", 0)


async def test_the_path_measures_itself() -> None:
    world = World(entry())
    for _ in range(3):
        await world.answer()
    timing = world.dispatcher.timings.by_entry["t.echo"]
    assert timing.calls == 3
    assert 0 < timing.checks_ns <= timing.total_ns
    assert timing.slowest_checks_ns <= timing.checks_ns


async def test_the_name_of_an_entry_that_does_not_exist_is_kept_short() -> None:
    world = World(entry())
    await world.answer("n" * 100_000)
    (row,) = world.store.rows
    assert (row["verdict"], row["entry"]) == ("UNKNOWN_ENTRY", "n" * 128)
