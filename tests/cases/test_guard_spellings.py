"""Many spellings of loopback: none gets through, from a caller, from a page, or at the end of a redirect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases.conftest import PAGES
from tests.support.case_site import CaseSite
from tests.support.forbidden import Forbidden
from tests.support.processes import wait_until
from tests.support.stdio import GRANT, Stdio, opened

TABLE: dict[str, Any] = json.loads((PAGES / "guard-spellings" / "urls.json").read_text(encoding="utf-8"))
SPELLINGS: list[str] = TABLE["must_be_refused"]
REDIRECT: str = TABLE["redirect_from_allowed"]
KEY = re.compile("key=(g[0-9]+)")
POLICY = "BROWSER_POLICY_DENIED"
# What the spellings stand for: opened one by one, they are reached.
HOSTS = ("127.0.0.1", "localhost", "127.255.255.254", "0.0.0.0", "[::1]", "[::]", "[::ffff:7f00:1]", "shop.localhost")
# Of which Chromium makes a request when they are a frame's, and which lead to this machine then.
REACHED_WHEN_OPENED = {f"g{number:02}" for number in (*range(1, 17), 21, 22, 23, *range(25, 29), 32, 34)}
LOADED_FRAMES = len(SPELLINGS) - 4  # Chromium makes nothing of file:, chrome:, view-source: and credentials in a frame


@pytest.fixture(scope="module")
def forbidden() -> Iterator[Forbidden]:
    """The other port: nobody opens it."""
    with Forbidden() as made:
        yield made


@pytest.fixture(scope="module")
def host(folder: Path, cases: CaseSite) -> Iterator[Stdio]:
    """Only the main place is allowed."""
    with Stdio(folder, *GRANT, *opened(cases.places[:1])) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""


def filled(text: str, cases: CaseSite, port: int) -> str:
    return text.replace("{{MAIN}}", cases.main).replace("{{OTHER_PORT}}", str(port))


def framed(host: Stdio, cases: CaseSite, port: int) -> str:
    """A session whose page has put each spelling into a frame of its own, and has seen them load or be refused."""
    session = host.open(f"{cases.main}/guard-spellings/")
    urls = json.dumps([filled(url, cases, port) for url in SPELLINGS])
    add = "document.body.append(Object.assign(document.createElement('iframe'), {src: url, onload: () => loaded += 1}))"
    host.js(session, f"window.loaded = 0; {urls}.forEach(url => {add})")
    wait_until(lambda: host.js(session, "loaded") == LOADED_FRAMES, 10.0, "the frames")
    return session


def keys(came: Forbidden) -> set[str]:
    """Of the requests that came."""
    return {key for path in list(came.requests) for key in KEY.findall(path)}


def named(url: str) -> str:
    """A name for a row of the table."""
    return "".join(KEY.findall(url)) or url.partition(":")[0]


@pytest.fixture(scope="module")
def allowed(host: Stdio, cases: CaseSite) -> str:
    """A session on the page that is allowed."""
    return host.open(f"{cases.main}/guard-spellings/")


@pytest.mark.parametrize("url", SPELLINGS, ids=named)
def test_no_spelling_is_opened_or_navigated_to(
    host: Stdio, cases: CaseSite, forbidden: Forbidden, allowed: str, url: str
) -> None:
    spelled = filled(url, cases, forbidden.port)
    problem = host.error("browser.openSession", url=spelled)
    assert (problem["code"], problem["category"]) == (POLICY, "policy")
    assert host.cdp_error(allowed, "Page.navigate", {"url": spelled})["code"] == POLICY
    assert host.js(allowed, "document.title") == "Guard table"
    assert forbidden.total == 0


def test_a_redirect_is_stopped_at_the_hop(host: Stdio, cases: CaseSite, forbidden: Forbidden) -> None:
    problem = host.error("browser.openSession", url=filled(REDIRECT, cases, forbidden.port))
    assert (problem["code"], problem["category"]) == ("EGRESS_REFUSED", "policy")
    assert problem["details"]["place"] == f"[::ffff:7f00:1]:{forbidden.port}"
    assert problem["details"]["flag"] in problem["message"]
    assert forbidden.total == 0


def test_no_frame_of_a_page_gets_through_by_any_spelling(host: Stdio, cases: CaseSite, forbidden: Forbidden) -> None:
    session = framed(host, cases, forbidden.port)
    assert (forbidden.total, keys(forbidden)) == (0, set())
    host.close(session)


def test_the_same_frames_get_through_where_the_owner_opened_what_they_stand_for(folder: Path, cases: CaseSite) -> None:
    with Forbidden() as other:
        places = (cases.places[0], *(f"{host}:{other.port}" for host in HOSTS))
        with Stdio(folder, *GRANT, *opened(places)) as host:
            framed(host, cases, other.port)
            host.open(filled(REDIRECT, cases, other.port))
            wanted = {*REACHED_WHEN_OPENED, "g40"}
            wait_until(lambda: keys(other) >= wanted, 10.0, "the control's hits")
            assert host.finish() == 0
