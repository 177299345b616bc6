"""Places in a string: merged without a gap, filled in order, and the same value found again as a word of its own."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.masking.places import Place, filled, merged, repeated

TEXT = "0123456789" * 3

MERGED = (  # places, merged
    pytest.param([(5, 8, "A", "x"), (0, 2, "B", "y")], [(0, 2, "B", "y"), (5, 8, "A", "x")], id="in-order"),
    pytest.param([(0, 8, "A", "x"), (2, 4, "B", "y")], [(0, 8, "A", "x")], id="one-in-another"),
    pytest.param([(0, 4, "A", "x"), (2, 9, "B", "y")], [(0, 9, "B", TEXT[:9])], id="overlapping-the-longer-type"),
    pytest.param([(0, 6, "A", "x"), (4, 8, "B", "y")], [(0, 8, "A", TEXT[:8])], id="overlapping-the-other-way"),
    pytest.param([(0, 4, "A", "x"), (4, 8, "B", "y")], [(0, 4, "A", "x"), (4, 8, "B", "y")], id="beside-each-other"),
    pytest.param([(0, 4, "A", None), (0, 4, "A", "x")], [(0, 4, "A", "x")], id="with-a-value-first"),
    pytest.param(
        [(0, 9, "COOKIE", "x"), (2, 4, "COOKIE", "y", True)], [(2, 4, "COOKIE", "y", True)], id="a-name-tells-better"
    ),
    pytest.param(
        [(0, 9, "PERSON", "x"), (2, 4, "COOKIE", "y", True)], [(0, 9, "PERSON", "x")], id="but-not-of-something-else"
    ),
    pytest.param(
        [(0, 2, "COOKIE", "x"), (2, 4, "COOKIE", "y", True)],
        [(0, 2, "COOKIE", "x"), (2, 4, "COOKIE", "y", True)],
        id="but-not-of-what-is-beside-it",
    ),
)


@pytest.mark.parametrize(("places", "expected"), MERGED)
def test_places_are_merged(places: list[tuple[int, int, str, str]], expected: list[tuple[int, int, str, str]]) -> None:
    assert merged(TEXT, [Place(*one) for one in places]) == [Place(*one) for one in expected]


SPANS = st.tuples(st.integers(0, 29), st.integers(1, 10)).map(lambda pair: (pair[0], min(30, pair[0] + pair[1])))


@given(st.lists(SPANS, max_size=8))
def test_merging_covers_just_what_was_covered(spans: list[tuple[int, int]]) -> None:
    made = merged(TEXT, [Place(start, end, "X", "v") for start, end in spans])
    covered = {at for start, end in spans for at in range(start, end)}
    assert {at for one in made for at in range(one.start, one.end)} == covered
    assert all(before.end <= after.start for before, after in pairwise(made))


def test_places_are_filled_and_what_has_no_value_goes() -> None:
    places = [Place(0, 2, "A", "x"), Place(4, 5, "A", None), Place(8, 10, "B", "y")]
    assert filled(TEXT[:10], places, lambda type_, value: f"<{type_}:{value}>") == "<A:x>23567<B:y>"


AGAIN = (  # text, where the value stands again
    pytest.param("so Lindqvist said", [(3, 12)], id="word"),
    pytest.param("Lindqvist, Lindqvist!", [(0, 9), (11, 20)], id="twice"),
    pytest.param("NameLindqvist", [(4, 13)], id="behind-a-label-without-a-space"),
    pytest.param("Lindqvistson Alindqvist", [], id="inside-of-words"),
    pytest.param("XLindqvist", [], id="behind-a-capital"),
    pytest.param("nobody", [], id="not-at-all"),
)


@pytest.mark.parametrize(("text", "places"), AGAIN)
def test_a_value_is_found_again(text: str, places: list[tuple[int, int]]) -> None:
    more = repeated(["Lindqvist", text], [[Place(0, 9, "PERSON", "Lindqvist")], []])
    assert [(one.start, one.end) for one in more.get(1, [])] == places


def test_a_short_value_is_not_looked_for_again() -> None:
    assert repeated(["Oda", "Oda"], [[Place(0, 3, "PERSON", "Oda")], []]) == {}
