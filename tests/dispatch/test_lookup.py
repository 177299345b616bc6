"""Many texts are looked through in small batches: nothing is left out, seams hide nothing, and time is kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.redaction import Found, Text
from host.dispatch import lookup
from host.dispatch.lookup import BATCH_CHARS, MisfitError, TooSlowError, batches, look_up, pieces

SIZES = (
    pytest.param([], [], id="none"),
    pytest.param([10, 10], [2], id="together"),
    pytest.param([15_000, 15_000, 10], [1, 2], id="full"),
    pytest.param([10, BATCH_CHARS, 10], [1, 1, 1], id="one-that-fills-a-batch"),
    pytest.param([60_000], [1, 1, 1], id="one-in-parts"),
)


@pytest.mark.parametrize(("sizes", "lengths"), SIZES)
def test_texts_go_out_in_batches_in_their_order(sizes: list[int], lengths: list[int]) -> None:
    texts = [Text("x" * size, str(number)) for number, size in enumerate(sizes)]
    made = list(batches(texts))
    assert [len(batch) for batch in made] == lengths
    assert sorted({part.number for batch in made for part in batch}) == list(range(len(sizes)))
    assert all(part.text.hint == str(part.number) for batch in made for part in batch)


@given(st.text(alphabet="ab \n", min_size=1, max_size=60).map(lambda text: text * 1500))
def test_the_pieces_of_a_text_leave_nothing_out_and_overlap(text: str) -> None:
    made = list(pieces(text))
    assert (made[0][0], made[-1][1]) == (0, len(text))
    assert all(end - start <= BATCH_CHARS for start, end in made)
    assert all(before[0] < after[0] < before[1] < after[1] for before, after in pairwise(made))


RULE = re.compile(r"Oda Lindqvist")


class Finder:
    """Finds one name, and its surname alone in a batch that knows the name; takes its time."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.asked: list[int] = []
        self.begun = asyncio.Event()
        self.seconds = seconds

    async def __call__(self, texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        self.asked.append(sum(len(text.text) for text in texts))
        self.begun.set()
        await asyncio.sleep(self.seconds)
        known = any(RULE.search(text.text) for text in texts)
        rule = re.compile("Oda Lindqvist|Lindqvist") if known else RULE
        return [[Found(one.start(), one.end(), "PERSON", 1, "x") for one in rule.finditer(text.text)] for text in texts]


def soon(seconds: float = 30.0) -> float:
    """A point in time on the loop's clock."""
    return asyncio.get_running_loop().time() + seconds


async def test_what_is_found_in_a_part_stands_where_it_stood_in_the_whole() -> None:
    text = "some words " * 3000 + "Oda Lindqvist" + " more words" * 3000
    found = await look_up(Finder(), [Text("first"), Text(text)], soon())
    assert found[0] == []
    assert {text[one.start : one.end] for one in found[1]} == {"Oda Lindqvist"}


@pytest.mark.parametrize("before", range(BATCH_CHARS - 30, BATCH_CHARS + 10, 7))
async def test_a_seam_does_not_hide_what_stands_over_it(before: int) -> None:
    for filler in ("x", "x ", "x\n"):
        text = (filler * before)[:before] + " Oda Lindqvist " + "y" * BATCH_CHARS
        found = await look_up(Finder(), [Text(text)], soon())
        assert {text[one.start : one.end] for one in found[0]} == {"Oda Lindqvist"}


async def test_a_name_that_was_found_is_known_in_the_batches_behind() -> None:
    texts = [Text("Oda Lindqvist"), Text("z" * BATCH_CHARS), Text("Lindqvist called")]
    found = await look_up(Finder(), texts, soon())
    assert [[(one.start, one.end) for one in ones] for ones in found] == [[(0, 13)], [], [(0, 9)]]
    alone = await look_up(Finder(), texts[1:], soon())
    assert alone == [[], []]  # the control


async def test_what_would_take_far_too_long_is_not_begun_to_its_end() -> None:
    finder = Finder(0.1)
    with pytest.raises(TooSlowError) as told:
        await look_up(finder, [Text("x " * (BATCH_CHARS * 10))], soon(1.0))
    assert len(finder.asked) == 2
    assert told.value.chars is not None
    assert BATCH_CHARS < told.value.chars < BATCH_CHARS * 12


async def test_a_slow_first_batch_tells_nothing_of_the_others() -> None:
    finder = Finder(0.3)
    looking = asyncio.ensure_future(look_up(finder, [Text("x" * BATCH_CHARS)] * 3, soon(2.0)))
    await finder.begun.wait()
    finder.seconds = 0.01
    assert await looking == [[], [], []]


async def test_who_looks_is_given_less_time_than_there_is() -> None:
    given: list[float] = []

    async def finder(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        given.append(timeout_s)
        return [[] for _ in texts]

    await look_up(finder, [Text("x")], soon(2.0))
    await look_up(finder, [Text("x")], soon(0.1))
    assert 1.5 < given[0] < 1.9
    assert 0 < given[1] <= 0.1


async def test_after_its_time_nobody_is_asked() -> None:
    finder = Finder()
    with pytest.raises(TooSlowError):
        await look_up(finder, [Text("x")], soon(-1.0))
    assert finder.asked == []


@pytest.mark.parametrize("start", [-1, 2, 5])
async def test_an_answer_that_does_not_fit_is_refused(start: int) -> None:
    async def finder(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        return [[Found(start, 2, "X", 1, "x")] for _ in texts]

    with pytest.raises(MisfitError):
        await look_up(finder, [Text("some")], soon())


async def test_too_many_answers_are_refused() -> None:
    async def finder(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        return [[] for _ in (*texts, None)]

    with pytest.raises(MisfitError):
        await look_up(finder, [Text("some")], soon())


def test_the_overlap_is_longer_than_an_address_and_shorter_than_a_batch() -> None:
    assert 100 < lookup.OVERLAP_CHARS < BATCH_CHARS // 10
