"""Placeholders: the same for the same value, another for another one, and nothing of the value in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.masking.placeholders import Placeholders, normal

SAME = (
    pytest.param("EMAIL", "oda@example.test", "ODA@Example.TEST", id="case"),
    pytest.param("CARD", "4111 1111 1111 1111", "4111-1111-1111-1111", id="separators-of-a-card"),
    pytest.param("PHONE", "+46 8 123 456 78", "+46 (8) 123.456.78", id="separators-of-a-phone"),
    pytest.param("PERSON", "Oda Lindqvist", "Oda\u00a0 Lindqvist", id="spaces"),
    pytest.param("IBAN", "DE89 3704 0044 0532 0130 00", "de89370400440532013000", id="iban"),
    pytest.param("EMAIL", "oda@example.test", "oda\u200b@example.test", id="invisible-signs"),
    pytest.param("CARD", "4111111111111111", "\uff14111111111111111", id="full-width-digits"),
)
OTHERS = (
    pytest.param("oda@example.test", "ida@example.test", id="another-letter"),
    pytest.param("4111 1111 1111 1111", "4111 1111 1111 1112", id="another-digit"),
    pytest.param("Oda Lindqvist", "Oda Lindquist", id="another-spelling"),
)


@pytest.mark.parametrize(("type_", "one", "other"), SAME)
def test_the_same_value_in_another_spelling_has_the_same_placeholder(type_: str, one: str, other: str) -> None:
    chat = Placeholders(b"key")
    assert chat.of(type_, one) == chat.of(type_, other) == f"<{type_}_1>"


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_another_value_has_another_placeholder(one: str, other: str) -> None:
    chat = Placeholders(b"key")
    assert (chat.of("X", one), chat.of("X", other), chat.of("X", one)) == ("<X_1>", "<X_2>", "<X_1>")


def test_each_type_counts_for_itself_and_a_value_keeps_the_type_it_came_with() -> None:
    chat = Placeholders(b"key")
    assert [chat.of("EMAIL", "a@b.test"), chat.of("PERSON", "Oda"), chat.of("EMAIL", "c@d.test")] == [
        "<EMAIL_1>",
        "<PERSON_1>",
        "<EMAIL_2>",
    ]
    assert chat.of("USERNAME", "Oda") == "<PERSON_1>"


def test_what_is_forgotten_gets_a_new_number_and_no_number_is_used_twice() -> None:
    chat = Placeholders(b"key", most=2)
    told = [chat.of("X", value) for value in ("one", "two", "one", "three", "two", "one")]
    assert told == ["<X_1>", "<X_2>", "<X_1>", "<X_3>", "<X_4>", "<X_5>"]
    assert len(chat) == 2


@given(st.lists(st.text(min_size=1), max_size=40))
def test_two_values_never_share_a_placeholder(values: list[str]) -> None:
    chat = Placeholders(b"key", most=5)
    given_to: dict[str, set[str]] = {}
    for value in values:
        given_to.setdefault(chat.of("X", value), set()).add(normal(value))
    assert all(len(shared) == 1 for shared in given_to.values())


def test_nothing_of_a_value_is_kept() -> None:
    chat = Placeholders(b"key")
    chat.of("PASSWORD", "correct-horse-battery")
    held = repr([getattr(chat, name) for name in vars(chat)])
    assert "horse" not in held
    assert "PASSWORD_1" in held  # the control: it is looked at
