"""Which addresses look like a sign-in, and what an owner is given to paste."""

from __future__ import annotations

import pytest

from capsdk import signin

ADDRESSES = (
    pytest.param("https://shop.example/login", True, id="login"),
    pytest.param("https://shop.example/en/Log-In.php?next=/x", True, id="case-dash-ending-query"),
    pytest.param("https://shop.example/users/sign_in", True, id="underscore"),
    pytest.param("https://shop.example/ap/signin/123", True, id="in-the-middle"),
    pytest.param("https://shop.example/app#/login?x=1", True, id="route-behind-the-hash"),
    pytest.param("https://shop.example/app#!/sign-in", True, id="route-behind-the-old-hash"),
    pytest.param("https://login.shop.example/", True, id="host"),
    pytest.param("https://accounts.example.com/v3", True, id="accounts-host"),
    pytest.param("https://idp.example/oauth2/authorize", True, id="authorize"),
    pytest.param("https://shop.example/", False, id="home"),
    pytest.param("https://shop.example/blog/login-problems", False, id="about-logins"),
    pytest.param("https://shop.example/authors", False, id="authors"),
    pytest.param("https://shop.example/orders?from=login", False, id="in-the-query"),
    pytest.param("https://shop.example/page#login", False, id="anchor"),
    pytest.param("https://blogin.example/", False, id="part-of-a-host"),
    pytest.param("https://login/", False, id="a-host-of-one-label"),
    pytest.param("about:blank", False, id="no-address"),
    pytest.param("https://[/login", False, id="unreadable"),
)


@pytest.mark.parametrize(("url", "is_sign_in"), ADDRESSES)
def test_the_address_of_a_sign_in_is_known_by_its_words(url: str, is_sign_in: bool) -> None:
    assert signin.is_sign_in(url) is is_sign_in


def test_being_sent_from_one_sign_in_to_another_is_what_was_asked_for() -> None:
    assert signin.sign_of_url("https://shop.example/login", "https://login.shop.example/") is None
    assert signin.sign_of_url("https://shop.example/", "https://login.shop.example/") is not None


LOOKS = (
    pytest.param({"url": "https://a.example/", "password": True}, True, id="password"),
    pytest.param({"url": "https://a.example/", "password": "yes"}, False, id="only-true-is-true"),
    pytest.param({}, False, id="nothing"),
    pytest.param("forged", False, id="text"),
    pytest.param(None, False, id="null"),
)


@pytest.mark.parametrize(("look", "sign"), LOOKS)
def test_a_look_gives_a_sign_or_none_whatever_came(look: object, sign: bool) -> None:
    assert (signin.sign_of_look("https://a.example/", look) is not None) is sign


PLACES = (
    pytest.param("https://shop.example/r/1?token=secret#x", "https://shop.example/r/1", id="no-query"),
    pytest.param("https://kim:pear@shop.example/", "https://shop.example/", id="no-user"),
    pytest.param(
        "https://shop.example/$(touch x);`id`'&", "https://shop.example/%24%28touch%20x%29%3B%60id%60%27%26", id="shell"
    ),
    pytest.param("https://shop.example/a%20b", "https://shop.example/a%20b", id="encoded-already"),
    pytest.param("http://[::1]:8080/x", "http://[::1]:8080/x", id="port"),
    pytest.param("about:blank", "", id="none"),
)


@pytest.mark.parametrize(("url", "place"), PLACES)
def test_an_address_to_paste_has_no_secret_and_no_meaning_to_a_shell(url: str, place: str) -> None:
    assert signin.place(url) == place
