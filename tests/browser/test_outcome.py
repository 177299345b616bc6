"""How a first navigation ended: Chromium's word, the proxy's word, and which of them holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from capsdk.errors import PolicyError
from host.browser.outcome import explained, is_doubtful, place_of
from host.core.egress import NETWORK_KINDS

URL = "http://shop.example/"
ANSWERED = {"url": URL, "status": 403}


@dataclass(frozen=True)
class Told:
    """What the proxy told."""

    kind: str
    place: str = "shop.example:80"
    reason: str = "is a private address"
    flag: str = "--allow-host shop.example:80"


ENDS = (  # what Chromium said, whether the proxy is asked
    pytest.param({"url": URL, "status": 200}, False, id="it-came"),
    pytest.param({"url": URL, "status": 404}, False, id="the-site-has-no-such-page"),
    pytest.param({"url": URL}, False, id="blank"),
    pytest.param({"url": URL, "errorText": "net::ERR_ABORTED"}, False, id="no-content"),
    pytest.param({"url": URL, "errorText": "net::ERR_CERT_DATE_INVALID"}, False, id="certificate"),
    pytest.param(ANSWERED, True, id="refused-page-or-the-sites-own"),
    pytest.param({"url": URL, "errorText": "net::ERR_TUNNEL_CONNECTION_FAILED"}, True, id="no-tunnel"),
    pytest.param({"url": URL, "errorText": "net::ERR_EMPTY_RESPONSE"}, True, id="no-answer"),
    pytest.param({"url": URL, "errorText": "net::ERR_CONNECTION_RESET"}, True, id="reset"),
)


@pytest.mark.parametrize(("navigation", "doubtful"), ENDS)
def test_only_what_the_proxy_may_have_done_is_asked_about(navigation: dict[str, Any], doubtful: bool) -> None:
    assert is_doubtful(navigation) is doubtful


def test_what_the_proxy_knows_nothing_of_stays_as_chromium_said_it() -> None:
    assert explained(ANSWERED, None, URL) is ANSWERED


ERRORS = (  # kind of trouble, Chromium's word for it without a proxy
    pytest.param("unresolved", "net::ERR_NAME_NOT_RESOLVED", id="unresolved"),
    pytest.param("connection_refused", "net::ERR_CONNECTION_REFUSED", id="refused"),
    pytest.param("timed_out", "net::ERR_CONNECTION_TIMED_OUT", id="timed-out"),
    pytest.param("unreachable", "net::ERR_ADDRESS_UNREACHABLE", id="unreachable"),
    pytest.param("reset", "net::ERR_CONNECTION_RESET", id="reset"),
)


@pytest.mark.parametrize(("kind", "text"), ERRORS)
def test_a_failure_behind_the_proxy_has_the_word_that_it_has_without_one(kind: str, text: str) -> None:
    cut = {"url": URL, "errorText": "net::ERR_TUNNEL_CONNECTION_FAILED"}
    assert explained(cut, Told(kind), URL) == {"url": URL, "errorText": text}


def test_a_name_that_does_not_resolve_is_an_error_although_the_proxy_has_a_page_for_it() -> None:
    found = explained(ANSWERED, Told("unresolved"), URL)
    assert found == {"url": URL, "errorText": "net::ERR_NAME_NOT_RESOLVED"}


@pytest.mark.parametrize("kind", sorted(NETWORK_KINDS))
def test_a_sites_own_no_after_a_failure_of_the_network_is_the_sites(kind: str) -> None:
    assert explained(ANSWERED, Told(kind), URL) is ANSWERED


def test_every_network_failure_has_its_word() -> None:
    assert {param.values[0] for param in ERRORS} == {*NETWORK_KINDS, "unresolved"}


@pytest.mark.parametrize("kind", ["loopback", "inner", "inner_name", "own_address", "background", "of-a-later-stage"])
def test_any_other_kind_is_a_refusal_that_names_place_and_flag(kind: str) -> None:
    with pytest.raises(PolicyError) as refused:
        explained(ANSWERED, Told(kind), URL)
    problem = refused.value
    assert problem.code == "EGRESS_REFUSED"
    assert "--allow-host shop.example:80" in problem.message
    assert problem.details == {
        "place": "shop.example:80", "kind": kind, "flag": "--allow-host shop.example:80",
    }  # fmt: skip


def test_what_nothing_opens_names_no_flag() -> None:
    with pytest.raises(PolicyError) as refused:
        explained(ANSWERED, Told("own_port", flag=""), URL)
    assert refused.value.hint is None
    assert refused.value.details == {"place": "shop.example:80", "kind": "own_port"}


PLACES = (
    pytest.param("http://shop.example/a?b#c", "shop.example:80", id="http"),
    pytest.param("https://Shop.example", "shop.example:443", id="https"),
    pytest.param("http://me:word@127.1:81/", "127.0.0.1:81", id="credentials-and-odd-address"),
    pytest.param("http://[::1]:8080/", "[::1]:8080", id="six"),
    pytest.param("about:blank", "", id="blank"),
)


@pytest.mark.parametrize(("url", "place"), PLACES)
def test_the_place_of_a_url_is_spelled_as_the_proxy_spells_it(url: str, place: str) -> None:
    assert place_of(url) == place
