"""Lanes: order in a tab, a barrier over the window, and random schedules against an oracle."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.dispatch.entry import Lane
from host.dispatch.lanes import Lanes, Ticket

TAB, WINDOW = Lane.TAB, Lane.WINDOW


class Yard:
    """Lanes and the names of what was started, in order. A name is `a1` (tab a) or `W1` (window)."""

    def __init__(self) -> None:
        self.lanes = Lanes()
        self.started: list[str] = []
        self.tickets: dict[str, Ticket] = {}

    def enter(self, *names: str) -> None:
        for name in names:
            lane = WINDOW if name.startswith("W") else TAB
            session = "" if lane is WINDOW else name[0]
            self.tickets[name] = Ticket(lane, session, lambda name=name: self.started.append(name))  # type: ignore[misc]  # bound now
            self.lanes.enter(self.tickets[name])

    def leave(self, *names: str) -> None:
        for name in names:
            self.lanes.leave(self.tickets[name])


SCHEDULES = (  # enter, then leave these one by one, started in the end
    pytest.param("a1 a2 a3", "", "a1", id="one-at-a-time-in-a-tab"),
    pytest.param("a1 a2 a3", "a1", "a1 a2", id="the-next-when-it-leaves"),
    pytest.param("a1 b1 c1", "", "a1 b1 c1", id="tabs-side-by-side"),
    pytest.param("a1 a2 b1 b2", "", "a1 b1", id="a-waiting-one-holds-up-only-its-tab"),
    pytest.param("a1 a2 b1 b2", "b1", "a1 b1 b2", id="each-tab-on-its-own"),
    pytest.param("a1 W1 b1", "", "a1", id="nothing-passes-a-waiting-window"),
    pytest.param("a1 W1 b1", "a1", "a1 W1", id="the-window-is-alone"),
    pytest.param("a1 W1 b1 c1", "a1 W1", "a1 W1 b1 c1", id="and-lets-all-behind-it-go"),
    pytest.param("W1 W2 W3", "W1", "W1 W2", id="windows-one-by-one"),
    pytest.param("a1 W1 b1", "W1", "a1 b1", id="a-window-that-gives-up-is-no-barrier"),
    pytest.param("a1 a2 a3", "a2 a1", "a1 a3", id="a-waiting-one-that-gives-up-is-passed"),
    pytest.param("a1 b1 W1", "a1", "a1 b1", id="the-window-waits-for-all"),
    pytest.param("a1 a2", "a1 a1 a1", "a1 a2", id="leaving-twice-is-fine"),
)


@pytest.mark.parametrize(("enter", "leave", "started"), SCHEDULES)
def test_who_starts_when(enter: str, leave: str, started: str) -> None:
    yard = Yard()
    yard.enter(*enter.split())
    yard.leave(*leave.split())
    assert yard.started == started.split()


def test_a_call_that_ends_while_it_is_being_started_gives_its_place_at_once() -> None:
    lanes = Lanes()
    started: list[str] = []

    def make(name: str) -> Ticket:
        def start() -> None:
            started.append(name)
            lanes.leave(ticket)

        ticket = Ticket(TAB, "a", start)
        return ticket

    for name in ("one", "two", "three"):
        lanes.enter(make(name))
    assert started == ["one", "two", "three"]


def test_two_tickets_alike_are_two_places() -> None:
    yard = Yard()

    def start() -> None:
        yard.started.append("x")

    first, second = Ticket(TAB, "a", start), Ticket(TAB, "a", start)
    yard.lanes.enter(first)
    yard.lanes.enter(second)
    yard.lanes.leave(second)
    yard.lanes.leave(first)
    assert yard.started == ["x"]


@dataclass
class Model:
    """The rule, told naively: may this waiting one run beside those before it that have not left?"""

    before: list[str]

    @staticmethod
    def may_run(name: str, earlier: list[str]) -> bool:
        if name[0] == "W":
            return not earlier
        return not any(other[0] in ("W", name[0]) for other in earlier)

    def running(self) -> set[str]:
        return {name for at, name in enumerate(self.before) if self.may_run(name, self.before[:at])}


@given(st.lists(st.one_of(st.sampled_from("abW"), st.integers(0, 30)), max_size=60))
def test_a_random_schedule_keeps_the_rule(steps: list[str | int]) -> None:
    yard, model, number = Yard(), Model([]), 0
    for step in steps:
        if isinstance(step, str):
            number += 1
            model.before.append(f"{step}{number}")
            yard.enter(f"{step}{number}")
        elif model.before:
            gone = model.before[step % len(model.before)]
            model.before.remove(gone)
            yard.leave(gone)
        assert {name for name in yard.started if name in model.before} == model.running()
    assert len(yard.started) == len(set(yard.started))
    for tab in "abW":
        order = [int(name[1:]) for name in yard.started if name[0] == tab]
        assert order == sorted(order)
