"""The ring as tables: what a reader gets, and what it learns of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capsdk.errors import InvalidArgumentError
from host.core.ring import Dropped, Page, Ring

BIG = 10_000


def ring_of(*, events: int = 3, max_bytes: int = BIG, event_bytes: int = BIG, losses: int = 2000) -> Ring:
    return Ring(max_events=events, max_bytes=max_bytes, max_event_bytes=event_bytes, max_losses=losses)


def filled(ring: Ring, *methods: str) -> Ring:
    for method in methods:
        ring.append(method, b"{}", at_ms=1)
    return ring


def read(ring: Ring, after: int, *, limit: int = 100, max_bytes: int = BIG, methods: set[str] | None = None) -> Page:
    chosen = None if methods is None else frozenset(methods)
    return ring.read(after=after, limit=limit, max_bytes=max_bytes, methods=chosen)


def seqs(page: Page) -> tuple[int, ...]:
    return tuple(event["seq"] for event in json.loads(page.events))


RING_CASES = (  # appended, after, items, next, lost, dropped (a ring of three)
    pytest.param(0, 0, (), 0, False, 0, id="empty"),
    pytest.param(2, 0, (1, 2), 2, False, 0, id="all-kept"),
    pytest.param(3, 0, (1, 2, 3), 3, False, 0, id="just-full"),
    pytest.param(5, 0, (3, 4, 5), 5, True, 2, id="reader-too-slow"),
    pytest.param(5, 1, (3, 4, 5), 5, True, 1, id="one-missed"),
    pytest.param(5, 2, (3, 4, 5), 5, False, 0, id="just-in-time"),
    pytest.param(5, 3, (4, 5), 5, False, 0, id="resume"),
    pytest.param(5, 5, (), 5, False, 0, id="nothing-new"),
)


@pytest.mark.parametrize(("appended", "after", "items", "next_", "lost", "dropped"), RING_CASES)
def test_a_reader_learns_exactly_what_it_missed(
    appended: int, after: int, items: tuple[int, ...], next_: int, lost: bool, dropped: int
) -> None:
    page = read(filled(ring_of(), *["A.b"] * appended), after)
    assert (seqs(page), page.count, page.next, page.lost) == (items, len(items), next_, lost)
    assert sum(one.count for one in page.dropped.values()) == dropped


def test_an_event_goes_out_with_its_seq_method_parameters_and_time() -> None:
    ring = ring_of()
    ring.append("A.b", b'{"x":"\\ud800"}', at_ms=7)
    ring.append("A.c", b"{}", at_ms=8, target="child")
    events: list[dict[str, Any]] = json.loads(read(ring, 0).events)
    assert events == [
        {"seq": 1, "method": "A.b", "params": {"x": "\ud800"}, "at": 7},
        {"seq": 2, "method": "A.c", "params": {}, "targetSessionId": "child", "at": 8},
    ]


@pytest.mark.parametrize("after", [1, 6, 2**53 - 1])
def test_a_cursor_above_the_newest_event_is_refused(after: int) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        read(ring_of(), after)
    assert (caught.value.code, caught.value.details) == ("BAD_CURSOR", {"after": after, "newest": 0})


def test_reading_removes_nothing() -> None:
    ring = filled(ring_of(), "A.b", "A.c")
    assert read(ring, 0) == read(ring, 0)
    assert len(ring) == 2


FILTER_CASES = (  # methods, after, limit, items, next (A.x, B.y, A.x, B.y in a ring of ten)
    pytest.param({"A.x"}, 0, 9, (1, 3), 4, id="passes-the-others"),
    pytest.param({"A.x"}, 0, 1, (1,), 2, id="scans-up-to-the-next-match"),
    pytest.param({"B.y"}, 0, 1, (2,), 3, id="scans-past-the-one-given"),
    pytest.param({"C.z"}, 0, 9, (), 4, id="none-matches"),
    pytest.param({"a.x"}, 0, 9, (), 4, id="matched-to-the-letter"),
    pytest.param(set(), 0, 9, (), 4, id="no-method-at-all"),
    pytest.param(None, 1, 2, (2, 3), 3, id="no-filter"),
)


@pytest.mark.parametrize(("methods", "after", "limit", "items", "next_"), FILTER_CASES)
def test_next_is_the_last_seq_scanned(
    methods: set[str] | None, after: int, limit: int, items: tuple[int, ...], next_: int
) -> None:
    page = read(filled(ring_of(events=10), "A.x", "B.y", "A.x", "B.y"), after, limit=limit, methods=methods)
    assert (seqs(page), page.next, page.lost) == (items, next_, False)


def one_event_bytes(params: bytes = b"{}") -> int:
    ring = ring_of()
    ring.append("A.b", params, at_ms=1)
    return ring.size_bytes


def test_a_poll_holds_its_bytes_to_the_byte() -> None:
    ring = filled(ring_of(), "A.b", "A.b")
    exact = 2 + 2 * one_event_bytes() + 1
    both, one = read(ring, 0, max_bytes=exact), read(ring, 0, max_bytes=exact - 1)
    assert (both.count, len(both.events)) == (2, exact)
    assert (one.count, one.next) == (1, 1)


def test_an_event_that_no_poll_can_hold_is_passed_and_told() -> None:
    ring = filled(ring_of(), "A.b")
    ring.append("A.huge", b'{"x":"%b"}' % (b"y" * 200), at_ms=1)
    filled(ring, "A.b")
    page = read(ring, 0, max_bytes=200)
    assert (seqs(page), page.next, page.lost) == ((1, 3), 3, True)
    assert page.dropped["A.huge"].count == 1


def test_an_event_of_exactly_the_limit_is_kept_and_one_byte_more_is_lost() -> None:
    size_bytes = one_event_bytes()
    assert ring_of(event_bytes=size_bytes).append("A.b", b"{}", at_ms=1) is True
    ring = ring_of(event_bytes=size_bytes - 1)
    assert ring.append("A.b", b"{}", at_ms=1) is False
    page = read(ring, 0)
    assert (page.count, page.next, page.lost) == (0, 1, True)
    assert page.dropped == {"A.b": Dropped(1, size_bytes, size_bytes)}


def test_the_bytes_of_a_ring_are_bounded_and_the_oldest_goes_first() -> None:
    size_bytes = one_event_bytes()
    ring = filled(ring_of(events=10, max_bytes=2 * size_bytes), "A.b", "A.b", "A.b")
    page = read(ring, 0)
    assert ring.size_bytes == 2 * size_bytes
    assert (seqs(page), page.lost) == ((2, 3), True)


def test_an_event_discarded_while_it_arrived_takes_a_seq_and_is_told_with_its_size() -> None:
    ring = ring_of()
    ring.lose("Network.requestWillBeSent", 70_000)
    ring.lose("Network.requestWillBeSent", 90_000)
    page = read(ring, 0)
    assert (page.next, page.lost) == (2, True)
    assert page.dropped == {"Network.requestWillBeSent": Dropped(2, 160_000, 90_000)}


def test_a_loss_is_told_even_when_the_filter_would_have_passed_over_it() -> None:
    ring = ring_of()
    ring.lose("A.huge", 70_000)
    filled(ring, "B.y")
    assert read(ring, 0, methods={"B.y"}).lost is True


def test_a_loss_behind_the_page_is_told_by_the_poll_that_passes_it() -> None:
    ring = filled(ring_of(), "A.b")
    ring.lose("A.huge", 70_000)
    filled(ring, "A.b")
    first, second = read(ring, 0, limit=1), read(ring, 1)
    assert (first.next, first.lost, second.lost) == (1, False, True)


def test_lost_is_told_when_the_single_losses_are_only_remembered_as_sums() -> None:
    ring = ring_of(events=3, losses=2)
    filled(ring, *["A.b"] * 3)
    ring.lose("A.huge", 70_000)  # seq 4 is lost before 1 to 3 are: sums reach further than the page below
    filled(ring, *["A.b"] * 6)
    first = read(ring, 0, limit=1)
    assert (seqs(first), first.lost) == ((8,), True)
    assert sum(one.count for one in first.dropped.values()) == 7


def test_a_page_short_of_the_sums_still_says_that_something_is_lost() -> None:
    ring = filled(ring_of(events=3, losses=1), *["A.b"] * 3)
    ring.lose("A.huge", 70_000)  # seq 4
    filled(ring, "A.b")  # pushes 1 out
    ring.lose("A.huge", 70_000)  # seq 6: 4 and 1 are only a sum now, and it reaches past the page below
    page = read(ring, 0, limit=1)
    assert (seqs(page), page.next, page.lost) == ((2,), 2, True)


NEWS_CASES = (  # methods, after, news? (A.x, then a lost B.huge, then A.x)
    pytest.param(None, 0, True, id="anything"),
    pytest.param(None, 3, False, id="nothing-new"),
    pytest.param(frozenset({"A.x"}), 2, True, id="a-match"),
    pytest.param(frozenset({"B.y"}), 0, False, id="no-match"),
    pytest.param(frozenset({"B.huge"}), 0, True, id="a-loss-of-this-method"),
    pytest.param(frozenset({"B.huge"}), 2, False, id="a-loss-passed-already"),
)


@pytest.mark.parametrize(("methods", "after", "news"), NEWS_CASES)
def test_a_waiting_reader_is_woken_by_what_concerns_it(methods: frozenset[str] | None, after: int, news: bool) -> None:
    ring = filled(ring_of(), "A.x")
    ring.lose("B.huge", 70_000)
    filled(ring, "A.x")
    assert ring.has_news(after, methods) is news


def test_a_reader_in_a_long_flood_is_told_of_each_loss_about_once() -> None:
    made = ring_of(events=10, max_bytes=1 << 20)
    after = told = seen = 0
    for _ in range(8):
        for number in range(5000):
            made.append("Runtime.consoleAPICalled", b"{}", at_ms=number)
        page = made.read(after=after, limit=100, max_bytes=1 << 20)
        after, seen = page.next, seen + page.count
        told += sum(dropped.count for dropped in page.dropped.values())
    assert 8 * 5000 <= seen + told <= 8 * 5256
