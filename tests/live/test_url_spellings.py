"""What the URL judge takes for one place, Chromium takes for the same: thousands of spellings, read by both."""

from __future__ import annotations

import ipaddress
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.core.egress import ascii_place
from host.core.urls import UrlRules, judge_url
from tests.core.test_fuzz_urls import INNER_URLS, PUBLIC, TEXTS, spelled, urls_of
from tests.support.fuzz import CALM
from tests.support.stdio import Stdio

READ = (
    "urls => urls.map(url => { try { const made = new URL(url); "
    "return [made.protocol, made.hostname, made.port, made.username + made.password] } catch { return null } })"
)
PORTS = {"http:": "80", "https:": "443"}
PUBLIC_URLS = urls_of(st.sampled_from(PUBLIC).flatmap(lambda host: spelled(int(ipaddress.IPv4Address(host)))))
EVERYTHING = UrlRules(frozenset(("127.0.0.1:80", "localhost:80", "127.0.0.1:8731")))
COUNT = 2000


@pytest.fixture(scope="module")
def urls() -> list[str]:
    """Spellings, the same each time."""
    found: dict[str, None] = {}

    @given(TEXTS | INNER_URLS | PUBLIC_URLS)
    @settings(max_examples=COUNT, deadline=None, database=None, derandomize=True, suppress_health_check=CALM)
    def collect(url: str) -> None:
        found[url] = None

    collect()
    return list(found)


def place_of(read: list[str] | None) -> str | None:
    """HOST:PORT of what Chromium read; None when it is no URL, or carries credentials."""
    if read is None or read[3]:
        return None
    scheme, host, port, _ = read
    return f"{host.rstrip('.')}:{port or PORTS[scheme]}"


def test_chromium_reads_the_same_place_in_every_url_that_is_allowed(host: Stdio, blank: str, urls: list[str]) -> None:
    judged = {url: judge_url(url, EVERYTHING) for url in urls}
    allowed = {url: ascii_place(one.place) for url, one in judged.items() if one.allowed and one.place}
    assert len(allowed) > COUNT / 8
    assert len(urls) - len(allowed) > COUNT / 8
    names, read = list(allowed), []
    for at in range(0, len(names), 200):
        read += host.js(blank, f"({READ})({json.dumps(names[at : at + 200])})")
    assert {url: place_of(one) for url, one in zip(names, read, strict=True)} == allowed
