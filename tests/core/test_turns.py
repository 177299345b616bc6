"""Who may go on when, on a clock of the test's own."""

from __future__ import annotations

from typing import Any

import pytest

from host.core import turns
from host.core.bucket import Crowd, Share
from host.core.turns import Turns

SHARES = (  # work done and when, as (spent, now), the part allowed, how long to rest at the last of these
    pytest.param([(0.05, 1.0)], 0.25, 0.0, id="under-its-part"),
    pytest.param([(0.0625, 1.0)], 0.25, 0.0, id="just-its-part"),
    pytest.param([(0.125, 1.0)], 0.25, 0.1733, id="twice-its-part"),
    pytest.param([(0.125, 1.0), (0.0, 1.18)], 0.25, 0.0, id="rested"),
    pytest.param([(0.05, 1.0), (0.05, 1.0)], 0.25, 0.1175, id="adds-up"),
    pytest.param([(5.0, 1.0), (0.0, 9.0)], 0.25, 0.0, id="what-is-long-ago-is-forgotten"),
)


@pytest.mark.parametrize(("work", "part", "rest_s"), SHARES)
def test_who_was_worked_for_more_than_its_part_has_to_rest(
    work: list[tuple[float, float]], part: float, rest_s: float
) -> None:
    share = Share()
    for spent_s, now_s in work:
        share.spend(spent_s, now_s)
    assert share.wait_s(part, work[-1][1]) == pytest.approx(rest_s, abs=0.001)


def test_who_rests_as_long_as_it_is_told_gets_its_part_in_the_long_run() -> None:
    share, now_s, worked_s = Share(), 0.0, 0.0
    while now_s < 60:
        now_s += share.wait_s(0.25, now_s) + 0.01
        worked_s += 0.01
        share.spend(0.01, now_s)
    assert worked_s / now_s == pytest.approx(0.25, abs=0.02)


CROWDS = (  # who was served and when, who asks at 10.0, whether others are there
    pytest.param([], 1, False, id="nobody"),
    pytest.param([(1, 9.9)], 1, False, id="only-oneself"),
    pytest.param([(2, 9.9)], 1, True, id="only-another"),
    pytest.param([(2, 9.9), (1, 10.0), (1, 10.0)], 1, True, id="another-before"),
    pytest.param([(2, 9.0), (1, 10.0)], 1, False, id="another-long-ago"),
    pytest.param([(2, 9.0), (3, 9.9), (1, 9.95), (1, 10.0)], 1, True, id="three"),
    pytest.param([(1, 9.9), (2, 9.95)], 2, True, id="the-one-that-is-served-now"),
)


@pytest.mark.parametrize(("served", "who", "others"), CROWDS)
def test_one_is_alone_when_nobody_else_was_served_just_now(
    served: list[tuple[int, float]], who: int, others: bool
) -> None:
    crowd = Crowd()
    for one, now_s in served:
        crowd.served(one, now_s)
    assert crowd.others(who, 10.0) is others


HEAVY = (  # time, lines, large, more: is it a heavy turn
    pytest.param(0.00009, 50, False, True, False, id="much-in-no-time"),
    pytest.param(0.0002, 4, False, False, True, id="more-than-a-few-lines"),
    pytest.param(0.0002, 1, False, True, True, id="more-waits"),
    pytest.param(0.05, 1, False, False, False, id="one-dear-or-interrupted-line"),
    pytest.param(0.00001, 1, True, False, True, id="one-large-line"),
)


@pytest.mark.parametrize(("spent_s", "lines", "large", "more", "heavy"), HEAVY)
def test_a_turn_is_heavy_by_what_it_took_and_left(
    spent_s: float, lines: int, large: bool, more: bool, heavy: bool
) -> None:
    assert Turns(Crowd()).took(spent_s, 1.0, lines, large=large, more=more) is heavy


def flood(one: Turns, now_s: float, spent_s: float = 0.05) -> None:
    """A heavy turn that took more than a caller's part in a crowd."""
    assert one.took(spent_s, now_s, 100, large=False, more=True)


def test_a_flood_rests_while_a_modest_one_is_served_and_for_nobody_else() -> None:
    crowd = Crowd()
    first, second, modest = Turns(crowd), Turns(crowd), Turns(crowd)
    flood(first, 10.0)
    flood(second, 10.0)
    assert first.wait_s(10.0, 0, 0) == second.wait_s(10.0, 0, 0) == 0.0
    modest.took(0.00005, 10.0, 1, large=False, more=False)
    assert first.wait_s(10.0, 0, 0) > 0.0
    assert second.wait_s(10.0, 0, 0) > 0.0
    assert modest.wait_s(10.0, 0, 0) == 0.0
    assert first.wait_s(10.0 + Crowd.ALONE_S, 0, 0) == 0.0


def test_one_large_line_now_and_then_is_modest_all_the_same() -> None:
    crowd = Crowd()
    hostile, one = Turns(crowd), Turns(crowd)
    flood(hostile, 10.0)
    one.took(0.0005, 10.0, 1, large=True, more=False)
    assert hostile.wait_s(10.0, 0, 0) > 0.0


COMING: tuple[Any, ...] = (  # sizes of the answers so far, calls in flight, must it rest beside others
    pytest.param([], 32, False, id="unknown-and-few"),
    pytest.param([], 33, True, id="unknown-and-many"),
    pytest.param([200] * 40, 200, False, id="small"),
    pytest.param([1_000_000] * 40, 5, True, id="large"),
)


@pytest.mark.parametrize(("sizes", "in_flight", "rests"), COMING)
def test_what_comes_back_is_bounded_in_a_crowd(sizes: list[int], in_flight: int, rests: bool) -> None:
    crowd = Crowd()
    one, other = Turns(crowd), Turns(crowd)
    for size in sizes:
        one.answered(size, 1.0)
    assert one.wait_s(10.0, in_flight, 0) == 0.0
    other.took(0.00005, 10.0, 1, large=False, more=False)
    assert (one.wait_s(10.0, in_flight, 0) > 0.0) is rests


def test_the_ledger_is_waited_for_alone_too() -> None:
    one = Turns(Crowd())
    assert one.wait_s(10.0, 0, turns.QUEUED_ROWS) == 0.0
    assert one.wait_s(10.0, 0, turns.QUEUED_ROWS + 1) == turns.CATCH_UP_S
