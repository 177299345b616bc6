"""Origins: what a manifest's patterns cover, and what the ledger is told of a page."""

from __future__ import annotations

import pytest

from host.core.urls import UrlRules, judge_url, origin_matches, origin_of

ORIGIN_CASES = (  # origin, pattern, covered?
    pytest.param("https://shop.example", "https://shop.example", True, id="exact"),
    pytest.param("https://shop.example", "HTTPS://Shop.Example", True, id="pattern-uppercase"),
    pytest.param("http://shop.example", "https://shop.example", False, id="other-scheme"),
    pytest.param("https://shop.example:8443", "https://shop.example", False, id="other-port"),
    pytest.param("https://a.shop.example", "https://shop.example", False, id="subdomain-of-an-exact-one"),
    pytest.param("https://a.shop.example", "https://*.shop.example", True, id="subdomain"),
    pytest.param("https://a.b.shop.example", "https://*.shop.example", True, id="deep-subdomain"),
    pytest.param("https://shop.example", "https://*.shop.example", False, id="wildcard-is-subdomains-only"),
    pytest.param("https://evilshop.example", "https://*.shop.example", False, id="subdomain-lookalike"),
    pytest.param("https://a.shop.example.evil.test", "https://*.shop.example", False, id="suffix-lookalike"),
    pytest.param("http://a.shop.example", "https://*.shop.example", False, id="wildcard-other-scheme"),
    pytest.param("https://a.shop.example:8443", "https://*.shop.example", False, id="wildcard-other-port"),
    pytest.param("https://a.shop.example:8443", "https://*.shop.example:8443", True, id="wildcard-with-port"),
    pytest.param("null", "https://*.shop.example", False, id="no-origin"),
)


@pytest.mark.parametrize(("origin", "pattern", "covered"), ORIGIN_CASES)
def test_a_manifest_pattern_covers_what_it_says(origin: str, pattern: str, covered: bool) -> None:
    assert origin_matches(origin, pattern) is covered


MANIFEST_CASES = (  # url, code ("" is allowed)
    pytest.param("https://shop.example/x", "", id="named"),
    pytest.param("https://a.cdn.example/", "", id="by-wildcard"),
    pytest.param("https://evilcdn.example/", "ORIGIN_NOT_ALLOWED", id="subdomain-lookalike"),
    pytest.param("https://other.example/", "ORIGIN_NOT_ALLOWED", id="not-named"),
    pytest.param("http://shop.example/", "ORIGIN_NOT_ALLOWED", id="downgraded"),
    pytest.param("https://10.0.0.1/", "BROWSER_POLICY_DENIED", id="inner-is-the-stronger-reason"),
    pytest.param("file:///x", "BROWSER_POLICY_DENIED", id="so-is-the-scheme"),
    pytest.param("about:blank", "", id="blank"),
    pytest.param("http://127.0.0.1:8731/", "", id="what-the-owner-opened"),
)


@pytest.mark.parametrize(("url", "code"), MANIFEST_CASES)
def test_origins_of_the_manifest_narrow_and_never_widen(url: str, code: str) -> None:
    origins = ("https://shop.example", "https://*.cdn.example", "https://10.0.0.1")
    decision = judge_url(url, UrlRules(frozenset(("127.0.0.1:8731",)), origins))
    assert (decision.allowed, "" if decision.allowed else decision.code) == (code == "", code)


def test_the_refused_origin_is_named_so_that_it_can_be_added() -> None:
    decision = judge_url("https://other.example:8443/x", UrlRules(origins=("https://shop.example",)))
    assert decision.origin == "https://other.example:8443"
    assert decision.origin in decision.reason


REPORTED = (
    pytest.param("https://shop.example/x?y", "https://shop.example", id="https"),
    pytest.param("http://127.0.0.1:8731/", "http://127.0.0.1:8731", id="port"),
    pytest.param("https://u:p@shop.example/", "https://shop.example", id="credentials-stay-out-of-the-ledger"),
    pytest.param("HTTPS://shop.example#x", "https://shop.example", id="uppercase-scheme"),
    pytest.param("about:blank", "null", id="blank"),
    pytest.param("data:text/html,https://x", "null", id="data"),
    pytest.param("chrome-error://chromewebdata/", "null", id="error-page"),
    pytest.param("", "null", id="empty"),
)


@pytest.mark.parametrize(("url", "origin"), REPORTED)
def test_the_origin_of_a_reported_url(url: str, origin: str) -> None:
    assert origin_of(url) == origin


def test_the_origin_of_a_reported_url_is_bounded() -> None:
    assert len(origin_of("https://" + "a" * 10_000)) <= 300
