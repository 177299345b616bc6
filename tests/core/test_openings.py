"""Which of the owner's words opens which place, and that each refuses what is the other's."""

from __future__ import annotations

import pytest

from capsdk.errors import InvalidArgumentError
from host.core.openings import opened_places, opening_words
from host.core.urls import parse_place

FITTING = (  # --allow-loopback, --allow-host, what is open
    pytest.param(("127.0.0.1:8731",), (), {"127.0.0.1:8731"}, id="loopback"),
    pytest.param(("LocalHost:80", "shop.localhost:81"), (), {"localhost:80", "shop.localhost:81"}, id="local-names"),
    pytest.param(("[::1]:80", "0.0.0.0:81", "[::]:82"), (), {"[::1]:80", "0.0.0.0:81", "[::]:82"}, id="unspecified"),
    pytest.param(("2130706433:80", "127.1:81"), (), {"127.0.0.1:80", "127.0.0.1:81"}, id="odd-spellings"),
    pytest.param(("[::ffff:7f00:1]:80",), (), {parse_place("[::ffff:127.0.0.1]:80")}, id="mapped"),
    pytest.param((), ("10.0.0.7:80", "router.lan:8080"), {"10.0.0.7:80", "router.lan:8080"}, id="own-network"),
    pytest.param((), ("accounts.google.com:443",), {"accounts.google.com:443"}, id="background-host"),
    pytest.param((), ("[fd00::2]:80", "169.254.1.1:80"), {"[fd00::2]:80", "169.254.1.1:80"}, id="inner-addresses"),
    pytest.param(("localhost:80",), ("printer:631",), {"localhost:80", "printer:631"}, id="both"),
)


@pytest.mark.parametrize(("loopback", "hosts", "wanted"), FITTING)
def test_a_flag_opens_the_places_that_are_its_own(
    loopback: tuple[str, ...], hosts: tuple[str, ...], wanted: set[str]
) -> None:
    assert opened_places(loopback, hosts) == wanted


OTHERS = (  # --allow-loopback, --allow-host, the words that would have done it
    pytest.param(("10.0.0.7:80",), (), "--allow-host 10.0.0.7:80", id="network-as-loopback"),
    pytest.param(("shop.example:443",), (), "--allow-host shop.example:443", id="name-as-loopback"),
    pytest.param(("localhost.example:80",), (), "--allow-host localhost.example:80", id="lookalike-as-loopback"),
    pytest.param((), ("127.0.0.1:80",), "--allow-loopback 127.0.0.1:80", id="loopback-as-host"),
    pytest.param((), ("127.9.9.9:80",), "--allow-loopback 127.9.9.9:80", id="far-loopback-as-host"),
    pytest.param((), ("0x7f.1:80",), "--allow-loopback 127.0.0.1:80", id="odd-loopback-as-host"),
    pytest.param((), ("localhost:80",), "--allow-loopback localhost:80", id="local-name-as-host"),
    pytest.param((), ("[::ffff:127.0.0.1]:80",), "--allow-loopback [::ffff:", id="mapped-as-host"),
    pytest.param((), ("0.0.0.0:80",), "--allow-loopback 0.0.0.0:80", id="unspecified-as-host"),
)


@pytest.mark.parametrize(("loopback", "hosts", "flag"), OTHERS)
def test_a_place_of_the_other_flag_is_refused_with_the_words_that_do_it(
    loopback: tuple[str, ...], hosts: tuple[str, ...], flag: str
) -> None:
    for reading in (opened_places, opening_words):
        with pytest.raises(InvalidArgumentError) as refused:
            reading(loopback, hosts)
        assert refused.value.code == "BAD_ARGUMENTS"
        assert flag in refused.value.message


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", ":80", "a b:80", "http://a.example:80"]
)
def test_what_is_no_place_is_refused_by_both(text: str) -> None:
    for loopback, hosts in (((text,), ()), ((), (text,))):
        with pytest.raises(InvalidArgumentError) as refused:
            opened_places(loopback, hosts)
        assert refused.value.code == "BAD_ARGUMENTS"


def test_the_words_stand_in_the_ledger_in_one_spelling() -> None:
    assert opening_words(("127.1:80",), ("Router.Lan:8080",)) == (
        "--allow-loopback 127.0.0.1:80",
        "--allow-host router.lan:8080",
    )
