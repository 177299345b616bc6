"""One caller says a thousand things at once: others have their turns meanwhile, and nothing is lost or turned round."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from host.core import turns
from host.core.bucket import Crowd
from host.core.limits import KIB, MIB, Limits
from host.core.run_limits import run_limits
from host.frontends import wire_connection
from tests.frontends.talk import SLOW_S, Talk

MANY = 1000


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was served in the test before does not count."""
    monkeypatch.setattr(wire_connection, "EVERYBODY", Crowd())


def lines(method: str, count: int = MANY, first: int = 0) -> bytes:
    """So many calls in one piece."""
    return b"".join(json.dumps({"id": n, "method": method}).encode() + b"\n" for n in range(first, first + count))


def in_order(talk: Talk, count: int = MANY) -> bool:
    return talk.told == [(number, "ok") for number in range(count)]


async def test_a_thousand_lines_in_one_read_leave_turns_to_others_and_keep_their_order() -> None:
    told: list[bool] = []
    talk = Talk(on_backlog=told.append).says(lines("t.once"))
    assert 0 < len(talk.answers) < MANY
    assert told == [True]
    turns = 0
    while told[-1]:
        await asyncio.sleep(0)
        turns += 1
    assert turns > 3
    assert in_order(talk)
    assert told == [True, False]


async def test_what_comes_meanwhile_stands_behind_what_waits() -> None:
    talk = Talk().says(lines("t.once", 500), lines("t.once", 500, 500), b'{"id":"last","method":"t.once"}')
    talk.connection.feed_rest()
    answers = await talk.until(MANY + 1)
    assert [one["id"] for one in answers] == [*range(MANY), "last"]


async def test_one_line_in_a_read_is_answered_before_the_read_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SLICE_S", 1.0)
    told: list[bool] = []
    talk = Talk(on_backlog=told.append)
    for number in range(20):
        talk.says({"id": number, "method": "t.once"})
        assert len(talk.answers) == number + 1
    assert told == []


async def test_somebody_else_is_answered_in_the_middle_of_a_flood() -> None:
    flood, other = Talk(), Talk()
    flood.says(lines("t.once"))
    await asyncio.sleep(0)
    other.says({"id": 1, "method": "t.once"})
    assert other.told == [(1, "ok")]
    assert len(flood.answers) < MANY
    await flood.until(MANY)
    assert in_order(flood)


async def served_in(flood: Talk, beside: Talk | None, seconds: float) -> int:
    """How many dear calls of a flood are done in a time; `beside` makes a cheap one every few milliseconds."""
    flood.says(lines("t.slow"))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if beside is not None:
            beside.says({"id": 1, "method": "t.once"})
        await asyncio.sleep(0.003)
    count = len(flood.answers)
    await flood.connection.end()
    return count


async def test_a_flood_of_dear_calls_has_its_part_of_the_time_when_others_are_there_and_all_of_it_when_not() -> None:
    alone = await served_in(Talk(), None, 0.4)
    beside = Talk()
    crowded = await served_in(Talk(), beside, 0.4)
    most_s = 0.4 * turns.CROWDED_SHARE + 0.25 * turns.CROWDED_SHARE  # and what it may have at first
    assert alone * SLOW_S > 1.2 * most_s
    assert 0 < crowded <= most_s / SLOW_S + 2
    assert len(beside.answers) > 20


async def test_a_peer_that_does_not_read_is_not_heard_until_it_does() -> None:
    told: list[bool] = []
    talk = Talk(on_backlog=told.append)
    talk.connection.hold(True)
    talk.says(lines("t.once", 3))
    await asyncio.sleep(0.01)
    assert talk.answers == []
    talk.connection.hold(False)
    await talk.until(3)
    assert in_order(talk, 3)
    assert told == [True, False]


async def test_a_peer_that_stops_reading_in_the_middle_of_a_slice_is_answered_no_further() -> None:
    talk = Talk()
    write = talk.connection._write

    def write_and_stall(line: bytes) -> None:
        write(line)
        talk.connection.hold(len(talk.answers) == 2)

    talk.connection._write = write_and_stall
    talk.says(lines("t.once", 5))
    await asyncio.sleep(0.01)
    assert in_order(talk, 2)
    talk.connection.hold(False)
    await talk.until(5)
    assert in_order(talk, 5)


async def test_an_answer_for_which_an_unread_peer_has_no_room_is_an_error_that_says_so() -> None:
    limits = Limits(run_unread_bytes=4 * MIB)
    unread = 4 * MIB
    talk = Talk(limits=limits, run=run_limits(limits, {}), unread_bytes=lambda: unread)
    talk.says(*({"id": n, "method": "t.echo", "args": {"text": "x"}} for n in range(2)))
    talk.connection.hold(True)
    await talk.until(2)
    assert talk.told == [(0, "RESULT_TOO_LARGE"), (1, "RESULT_TOO_LARGE")]
    result = len(b'{"text":"x"}')
    details = {"what": "run_unread_bytes", "limit": 4 * MIB, "actual": 4 * MIB + result}
    assert talk.answers[0]["error"]["details"] == details
    unread -= result
    talk.connection.hold(False)
    talk.says({"id": 2, "method": "t.echo", "args": {"text": "x"}})
    talk.connection.hold(True)
    await talk.until(3)
    assert talk.told[2] == (2, "ok")


async def test_the_arguments_of_calls_under_way_may_take_so_much_and_no_more() -> None:
    limits = Limits(run_bytes_in_flight=64 * KIB)
    said = [{"id": n, "method": "t.stay", "args": {"tab": "x" * (20 * KIB)}} for n in range(5)]
    talk = Talk(limits=limits, run=run_limits(limits, {})).says(*said[:4], {"cancel": 0}, said[4])
    await talk.until(2)
    assert talk.told == [(3, "RATE_LIMITED"), (0, "CANCELLED")]
    details = talk.answers[0]["error"]["details"]
    assert (details["what"], details["limit"]) == ("run_bytes_in_flight", 64 * KIB)
    assert 80 * KIB < details["actual"] < 81 * KIB
    assert talk.connection.in_flight == 3


async def test_one_call_alone_may_be_larger_than_what_many_may_hold() -> None:
    limits = Limits(run_bytes_in_flight=KIB)
    talk = Talk(limits=limits, run=run_limits(limits, {}))
    talk.says({"id": 1, "method": "t.echo", "args": {"tab": "x" * (2 * KIB)}})
    await talk.until(1)
    assert talk.told == [(1, "ok")]


IN_FLIGHT: tuple[Any, ...] = (  # manifest, the owner's, the limit, what the message names
    pytest.param({"calls_in_flight": 2}, {}, 2, "in app.toml", id="of-the-manifest"),
    pytest.param({}, {"run_calls_in_flight": 3}, 3, "run_calls_in_flight", id="of-the-owner"),
)


@pytest.mark.parametrize(("wanted", "owners", "limit", "named"), IN_FLIGHT)
async def test_a_run_has_its_own_number_of_calls_in_flight(
    wanted: dict[str, float], owners: dict[str, Any], limit: int, named: str
) -> None:
    limits = Limits(**owners)
    talk = Talk(limits=limits, run=run_limits(limits, wanted)).says(lines("t.stay", limit + 1))
    (refused,) = await talk.until(1)
    assert (refused["id"], refused["error"]["code"]) == (limit, "RATE_LIMITED")
    assert refused["error"]["details"] == {"what": "calls_in_flight", "limit": limit, "actual": limit + 1}
    assert named in refused["error"]["message"]


async def test_a_flood_waits_for_the_ledger_and_one_who_does_not_flood_goes_on() -> None:
    flood, other = Talk(), Talk()
    for talk in (flood, other):
        talk.world.store.waiting_rows = turns.QUEUED_ROWS + 1
    flood.says(lines("t.once"))
    began = len(flood.answers)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert began <= len(flood.answers) < MANY
    other.says({"id": 1, "method": "t.once"})
    assert other.told == [(1, "ok")]
    flood.world.store.waiting_rows = 0
    await flood.until(MANY)
    assert in_order(flood)


async def test_nobody_goes_on_when_the_ledger_is_nearly_full() -> None:
    talk = Talk()
    talk.world.store.waiting_rows = turns.MOST_QUEUED_ROWS + 1
    talk.says({"id": 0, "method": "t.once"}, {"id": 1, "method": "t.once"})
    assert in_order(talk, 1)
    talk.world.store.waiting_rows = 0
    await talk.until(2)
    assert in_order(talk, 2)


async def test_the_end_drops_what_waits() -> None:
    talk = Talk().says(lines("t.once"))
    before = len(talk.answers)
    assert before < MANY  # the first test here shows that the others would be answered
    await talk.connection.end()
    await asyncio.sleep(0.02)
    assert len(talk.answers) == before


async def test_settling_waits_for_what_waits() -> None:
    talk = Talk().says(lines("t.once"))
    assert len(talk.answers) < MANY
    await talk.connection.settle(5)
    assert in_order(talk)


async def test_the_last_notice_of_a_peer_that_is_gone_is_heard_and_no_call_is_begun() -> None:
    heard: list[tuple[str, Any]] = []
    talk = Talk(notices=heard).says(lines("t.once"))
    before = len(talk.answers)
    talk.connection.hear_last(lines("t.once", 3, MANY) + b'{"notice":"result","data":7}\n{"notice":"half')
    await asyncio.sleep(0.02)
    assert heard == [("result", 7)]
    assert len(talk.answers) == before < MANY


async def test_what_a_peer_that_is_gone_said_for_the_log_is_heard() -> None:
    talk = Talk().says(lines("t.once"))
    before = len(talk.answers)
    assert before < MANY
    said = [{"id": 1000 + n, "method": "run.log", "args": {"message": f"line {n}"}} for n in range(20)]
    talk.connection.hear_last(b"".join(json.dumps(one).encode() + b"\n" for one in said))
    assert [answer["id"] for answer in talk.answers[before:]] == list(range(1011, 1020))


async def in_flight_after(flood: Talk, beside: Talk | None) -> int:
    """How many calls that stay under way a flood has begun after a while."""
    for number in range(20):
        if beside is not None:
            beside.says({"id": 1, "method": "t.once"})
        if number == 0:
            flood.says(lines("t.stay", 200))
        await asyncio.sleep(0.005)
    count = flood.connection.in_flight
    await flood.connection.end()
    return count


async def test_a_flood_has_no_more_answers_coming_than_the_others_can_bear() -> None:
    most = turns.CROWDED_RESULT_BYTES // turns.EXPECTED_BYTES
    assert await in_flight_after(Talk(), None) == 200
    assert most <= await in_flight_after(Talk(), Talk()) <= most + 20
