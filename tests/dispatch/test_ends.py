"""How calls end that nobody finished: revocation, callers that leave, a host that closes; and calls in lanes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from host.core.grants import Caller, Kind
from host.dispatch.call import Call
from host.dispatch.entry import Entry, Lane
from tests.dispatch.support import Tab, World, caller, entry


def never(call: Call) -> None:
    """Leaves its call to others."""


async def forever(call: Call) -> bytes:
    """Does not end by itself."""
    await asyncio.Event().wait()
    return b""


REVOCATIONS = (
    pytest.param("off", id="off"),
    pytest.param("ask", id="ask"),
    pytest.param(None, id="forgotten"),
)


@pytest.mark.parametrize("level", REVOCATIONS)
async def test_a_grant_taken_back_ends_running_calls_and_releases_sessions(level: str | None) -> None:
    released: list[tuple[bool, bool]] = []

    async def release(hit: Any, why: str) -> None:
        released.append((hit(caller()), hit(Caller("other", "r1", Kind.SCRIPT, "run-2", "app:other"))))

    world = World(entry(handler=forever), entry("t.open", handler=forever, capability=None))
    world.store.put("allow", subject="app:other")
    await asyncio.sleep(0)
    world.dispatcher.on_revoked = release
    other = Caller("other", "r1", Kind.SCRIPT, "run-2", "app:other")
    world.call()
    world.call(who=other)
    world.call("t.open")
    world.store.put(level)
    await asyncio.sleep(0.01)
    assert [(number, error and error.code) for number, _, error in world.answers.got] == [(1, "GRANT_OFF")]
    assert released == [(True, False)]
    await world.dispatcher.close()


async def test_a_call_waiting_in_a_lane_ends_with_its_grant_and_frees_its_place() -> None:
    world = World(entry(handler=never, lane=Lane.TAB))
    first = world.call()
    world.call()
    world.store.put("off")
    world.store.put("allow")
    assert world.answers.codes == ["GRANT_OFF", "GRANT_OFF"]
    assert first.ended
    world.call().finish(b"{}")
    assert world.answers.codes[-1] == "ok"


async def test_a_caller_that_leaves_ends_its_own_calls_only() -> None:
    left: list[Caller] = []

    async def release(who: Caller) -> None:
        left.append(who)

    world = World(entry(handler=forever))
    world.dispatcher.on_caller_end = release
    me, twin = caller(), caller()
    world.call(who=me)
    world.call(who=twin)
    world.call(who=me)
    await world.dispatcher.caller_ended(me)
    assert [(number, error and error.code) for number, _, error in world.answers.got] == [
        (1, "CANCELLED"),
        (3, "CANCELLED"),
    ]
    assert left == [me]
    await world.dispatcher.close()


async def test_closing_answers_everybody_refuses_newcomers_and_may_be_done_twice() -> None:
    world = World(entry(handler=forever), entry("t.lane", handler=never, lane=Lane.WINDOW))
    world.call()
    world.call("t.lane")
    world.call("t.lane")
    await world.dispatcher.close()
    await world.dispatcher.close()
    world.call()
    assert world.answers.codes == ["BROWSER_DISPOSING"] * 4
    world.store.put("off")
    assert len(asyncio.all_tasks()) == 1


async def test_closing_while_a_question_is_being_kept_answers_too() -> None:
    world = World(entry(), level="ask")
    world.store.answering.clear()
    world.call()
    await asyncio.sleep(0)
    await world.dispatcher.close()
    assert world.answers.codes == ["BROWSER_DISPOSING"]


async def test_two_hundred_calls_under_way_come_back_unmixed() -> None:
    async def slow(call: Call) -> bytes:
        await asyncio.sleep((call.number * 7 % 13) / 1000)
        return b'{"text":"%b"}' % call.args.text.encode()

    world = World(entry(handler=slow))
    for number in range(1, 201):
        world.call(args={"text": f"t{number}"})
    await world.answers.wait(200)
    assert sorted(world.answers.got, key=lambda one: one[0]) == [
        (number, b'{"text":"t%d"}' % number, None) for number in range(1, 201)
    ]


LANE_ENTRIES: tuple[Entry, ...] = (
    entry("t.tab", handler=never, lane=Lane.TAB, owned=lambda call: Tab(id=call.args.tab)),
    entry("t.window", handler=never, lane=Lane.WINDOW),
    entry("t.none", handler=never),
)


async def test_a_call_waits_for_the_one_before_it_in_its_tab_and_is_written_down_when_it_starts() -> None:
    world = World(*LANE_ENTRIES)
    first = world.call("t.tab", {"tab": "a"})
    second = world.call("t.tab", {"tab": "a"})
    world.call("t.tab", {"tab": "b"})
    world.call("t.none")
    assert world.store.log == ["call 1 allowed", "call 3 allowed", "call 4 allowed"]
    first.finish(b"{}")
    assert world.store.log[3:] == ["outcome 1 ok", "call 2 allowed"]
    second.finish(b"{}")
    await world.dispatcher.close()


async def test_a_handlers_own_end_does_not_keep_its_place_in_the_lane() -> None:
    def wait(call: Call) -> None:
        call.on_end = lambda: None

    world = World(entry(handler=wait, lane=Lane.TAB))
    first, _ = world.call(), world.call()
    first.finish(b"{}")
    assert world.store.log == ["call 1 allowed", "outcome 1 ok", "call 2 allowed"]


async def test_a_cancelled_call_never_starts() -> None:
    world = World(*LANE_ENTRIES)
    first, second = world.call("t.window"), world.call("t.window")
    world.dispatcher.cancel(second)
    first.finish(b"{}")
    assert world.store.log == ["call 1 allowed", "outcome 2 CANCELLED", "outcome 1 ok"]


async def test_a_thousand_waiting_calls_that_end_at_once_need_no_stack() -> None:
    def at_once(call: Call) -> None:
        call.finish(b"{}")

    world = World(*LANE_ENTRIES, entry("t.at_once", handler=at_once, lane=Lane.TAB))
    first = world.call("t.window")
    for _ in range(1000):
        world.call("t.at_once")
    first.finish(b"{}")
    assert world.answers.codes == ["ok"] * 1001
