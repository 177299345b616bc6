"""One caller's line conversation: every line has its answer, every call exactly one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core import turns
from host.core.limits import Limits
from host.core.run_limits import run_limits
from tests.frontends.talk import Talk


@pytest.fixture(autouse=True, scope="module")
def whole_talks() -> Iterator[None]:
    """Everything that is said is heard at once, on a loaded machine too; slices have a file of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "SLICE_S", 60.0)
        yield


async def test_a_call_is_answered_under_its_id() -> None:
    talk = Talk().says({"id": "a", "method": "t.echo", "args": {"text": "hé"}})
    assert await talk.until(1) == [{"id": "a", "ok": True, "result": {"text": "hé"}}]


async def test_replies_come_in_any_order() -> None:
    talk = Talk().says({"id": 1, "method": "t.stay"}, {"id": 2, "method": "t.once"}, {"cancel": 1})
    assert talk.told == [(2, "ok"), (1, "CANCELLED")]


async def test_an_answer_that_comes_at_once_leaves_nothing_under_way() -> None:
    talk = Talk().says({"id": 1, "method": "t.once"}, {"id": 1, "method": "t.once"})
    assert talk.told == [(1, "ok"), (1, "ok")]
    assert talk.connection.in_flight == 0


async def test_an_id_still_in_use_is_refused_and_the_first_call_goes_on() -> None:
    talk = Talk().says({"id": 1, "method": "t.stay"}, {"id": 1, "method": "t.once"}, {"cancel": 1})
    assert talk.told == [(1, "DUPLICATE_ID"), (1, "CANCELLED")]


async def test_a_number_and_a_text_are_two_ids() -> None:
    talk = Talk().says({"id": 1, "method": "t.stay"}, {"id": "1", "method": "t.once"}, {"cancel": "1"}, {"cancel": 1})
    assert talk.told == [("1", "ok"), (1, "CANCELLED")]


async def test_a_cancel_is_answered_once_and_for_an_unknown_id_not_at_all() -> None:
    talk = Talk().says({"cancel": 7}, {"id": 1, "method": "t.stay"}, {"cancel": 1}, {"cancel": 1}, {"cancel": "x"})
    assert talk.told == [(1, "CANCELLED")]


async def test_a_cancelled_call_in_a_lane_lets_the_next_one_start() -> None:
    talk = Talk().says({"id": 1, "method": "t.tab"}, {"id": 2, "method": "t.tab"}, {"cancel": 1}, {"cancel": 2})
    assert talk.told == [(1, "CANCELLED"), (2, "CANCELLED")]
    assert talk.world.store.log.count("call 2 allowed") == 1


async def test_more_calls_than_may_be_under_way_are_refused_one_by_one() -> None:
    talk = Talk(limits=Limits(calls_in_flight=2))
    talk.says(
        *({"id": number, "method": "t.stay"} for number in range(4)), {"cancel": 0}, {"id": 9, "method": "t.once"}
    )
    assert talk.told == [(2, "RATE_LIMITED"), (3, "RATE_LIMITED"), (0, "CANCELLED"), (9, "ok")]
    assert talk.answers[0]["error"]["details"] == {"what": "calls_in_flight", "limit": 2, "actual": 3}


async def test_two_hundred_calls_under_way_come_back_unmixed() -> None:
    talk = Talk().says(*({"id": n, "method": "t.echo", "args": {"text": f"t{n}"}} for n in range(200)))
    answers = await talk.until(200)
    assert {one["id"]: one["result"]["text"] for one in answers} == {n: f"t{n}" for n in range(200)}


LINE = b'{"id":1,"method":"t.once"}'


@pytest.mark.parametrize("over", [0, 1], ids=["exactly-the-limit", "one-over"])
@pytest.mark.parametrize("step", [1, 7, 10_000])
async def test_a_line_over_its_limit_is_skipped_to_its_newline(over: int, step: int) -> None:
    talk = Talk(limits=Limits(line_bytes=100))
    data = LINE + b" " * (100 + over - len(LINE)) + b"\n" + b'{"id":2,"method":"t.once"}\n'
    for at in range(0, len(data), step):
        talk.connection.feed(data[at : at + step])
    assert talk.told == [(None, "LINE_TOO_LONG") if over else (1, "ok"), (2, "ok")]


async def test_a_line_without_end_is_told_once_and_never_held() -> None:
    talk = Talk()
    for _ in range(40):
        talk.connection.feed(b"x" * 65_536)
    assert talk.told == [(None, "LINE_TOO_LONG")]
    assert talk.answers[0]["error"]["details"] == {"limit": 1024 * 1024}


BAD = (
    pytest.param(b"\xff\n", (None, "BAD_ARGUMENTS"), id="not-utf8"),
    pytest.param(b"{\n", (None, "BAD_ARGUMENTS"), id="no-json"),
    pytest.param(b'{"id":5,"method":"t.echo","args":{"text":"a","text":"b"}}\n', (5, "BAD_ARGUMENTS"), id="twin-keys"),
    pytest.param(b'{"id":5,"method":"t.echo","args":{"more":1}}\n', (5, "BAD_ARGUMENTS"), id="unknown-argument"),
    pytest.param(b'{"id":5,"method":"t.none"}\n', (5, "UNKNOWN_ENTRY"), id="unknown-entry"),
    pytest.param(b'{"id":5,"method":"t.echo","args":' + b"[" * 100_000 + b"\n", (5, "PARAMS_TOO_LARGE"), id="deep"),
    pytest.param(b'{"notice":"ready"}\n', (None, "BAD_ARGUMENTS"), id="a-notice-where-none-is-expected"),
)


@pytest.mark.parametrize(("line", "told"), BAD)
async def test_a_bad_line_is_answered_and_the_next_one_is_served(line: bytes, told: tuple[Any, str]) -> None:
    talk = Talk().says(line, {"id": 6, "method": "t.once"})
    await talk.until(2)
    assert talk.told == [told, (6, "ok")]


async def test_blank_lines_are_nothing() -> None:
    assert Talk().says(b"\n\r\n  \n").written == b""


async def test_a_last_line_without_newline_is_still_a_line() -> None:
    talk = Talk().says(LINE)
    assert talk.written == b""
    talk.connection.feed_rest()
    talk.connection.feed_rest()
    assert talk.told == [(1, "ok")]


async def test_notices_go_both_ways_where_they_are_expected() -> None:
    heard: list[tuple[str, Any]] = []
    talk = Talk(notices=heard).says({"notice": "result", "data": {"state": "ok"}})
    talk.connection.notify("cancel", {"reason": "x"})
    assert heard == [("result", {"state": "ok"})]
    assert talk.answers == [{"notice": "cancel", "data": {"reason": "x"}}]


async def test_the_end_answers_everybody_once_and_releases_what_the_caller_held() -> None:
    left: list[object] = []

    async def release(who: object) -> None:
        left.append(who)

    talk = Talk().says({"id": 1, "method": "t.stay"}, {"id": 2, "method": "t.tab"}, {"id": 3, "method": "t.tab"})
    talk.world.dispatcher.on_caller_end = release
    await talk.connection.end()
    await talk.connection.end()
    assert talk.told == [(1, "CANCELLED"), (2, "CANCELLED"), (3, "CANCELLED")]
    assert left == [talk.connection.caller]


async def test_after_the_end_nothing_is_heard_or_said() -> None:
    talk = Talk()
    await talk.connection.end()
    talk.says({"id": 1, "method": "t.once"}, b"bad\n")
    talk.connection.notify("x", None)
    assert talk.written == b""


async def test_what_comes_while_the_end_is_under_way_is_not_begun() -> None:
    talk = Talk()

    async def release(who: object) -> None:
        talk.says({"id": 1, "method": "t.stay"})

    talk.world.dispatcher.on_caller_end = release
    await talk.connection.end()
    assert talk.connection.in_flight == 0
    assert talk.world.store.rows == []


async def test_settling_waits_for_the_answers_and_no_longer_than_it_may() -> None:
    talk = Talk().says({"id": 1, "method": "t.stay"})
    await talk.connection.settle(0.01)
    assert talk.connection.in_flight == 1
    waiting = asyncio.ensure_future(talk.connection.settle(5))
    await asyncio.sleep(0)
    talk.says({"cancel": 1})
    await asyncio.wait_for(waiting, 1)
    assert talk.connection.in_flight == 0


@given(st.lists(st.sampled_from(["once", "stay", "bad", "cancel", "same"]), max_size=30), st.integers(1, 50))
def test_every_call_has_exactly_one_answer_whatever_the_talk(steps: list[str], step: int) -> None:
    async def run() -> None:
        talk, expected, lines = Talk(), 0, b""
        for number, kind in enumerate(steps):
            if kind in ("once", "stay"):
                lines += json.dumps({"id": number, "method": f"t.{kind}"}).encode() + b"\n"
                expected += 1
            elif kind == "bad":
                lines += b"nope\n"
                expected += 1
            elif kind == "cancel":
                lines += json.dumps({"cancel": max(0, number - 1)}).encode() + b"\n"
            else:
                lines += json.dumps({"id": "same", "method": "t.stay"}).encode() + b"\n"
                expected += 1
        for at in range(0, len(lines), step):
            talk.connection.feed(lines[at : at + step])
        await talk.connection.end()
        assert len(talk.answers) == expected
        own = [one["id"] for one in talk.answers if isinstance(one["id"], int)]
        assert len(own) == len(set(own))

    asyncio.run(run())


async def test_the_pace_of_a_manifest_is_kept() -> None:
    talk = Talk(run=run_limits(Limits(), {"calls_per_s": 2.0}))
    talk.says(*({"id": number, "method": "t.once"} for number in range(4)))
    assert [code for _, code in talk.told] == ["ok", "ok", "RATE_LIMITED", "RATE_LIMITED"]
    details = talk.answers[2]["error"]["details"]
    assert 0 < details.pop("retryAfterMs") <= 500
    assert details == {"what": "calls_per_s", "limit": 2.0}
