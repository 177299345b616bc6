"""What callers see of the proxy: refusals and failures of a first page, and for how long a place is open."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import CapError, UnavailableError
from host.app import Host, open_host
from host.core.settings import Settings
from tests.support.inprocess import Talker, caller
from tests.support.processes import wait_until
from tests.support.site import Site
from tests.support.stdio import LOADED

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOWHERE = "no-such-name.invalid"  # RFC 2606: it never resolves
SOON_S = 5.0


@pytest.fixture(scope="module")
def second_site(site: Site) -> Iterator[Site]:
    """Another place, that only some callers are given."""
    with Site(site.pages) as served:
        yield served


@pytest.fixture(scope="module")
def _temporary(folder: Path) -> Iterator[None]:
    before, tempfile.tempdir = tempfile.tempdir, str(folder)  # where the browser's own uid can reach its profile
    yield
    tempfile.tempdir = before


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(_temporary: None) -> AsyncIterator[Host]:
    async with open_host(Settings(), ephemeral=True) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def talker(shared: Host, site: Site) -> AsyncIterator[Talker]:
    """A caller that was given the first site; its sessions are given back."""
    made = Talker(shared, caller("first", "run-1", places=site.places))
    yield made
    await shared.dispatcher.caller_ended(made.who)


async def refusal(talker: Talker, url: str) -> CapError:
    """Why an open was refused."""
    with pytest.raises(CapError) as refused:
        await talker.ok("browser.openSession", url=url)
    return refused.value


async def written(host: Host, place: str) -> list[Any]:
    """The ledger's rows about what the proxy refused at this place."""
    await host.store.flush()
    return [row for row in await host.store.tail(200) if row.kind == "egress" and place in row.reason]


async def test_a_redirect_to_this_machine_is_refused_before_it_is_asked_and_names_the_flag(
    shared: Host, talker: Talker, site: Site, second_site: Site
) -> None:
    url = f"{site.url}/redirect?to={second_site.url}/echo?landed"
    problem = await refusal(talker, url)
    flag = f"--allow-loopback {second_site.place}"
    assert problem.code == "EGRESS_REFUSED"
    assert problem.details == {"place": second_site.place, "kind": "loopback", "flag": flag}
    assert flag in problem.message
    assert second_site.hits["/echo?landed"] == 0
    assert len(shared.sessions.of(talker.who)) == 0
    (row,) = await written(shared, second_site.place)
    assert (row.app, row.verdict) == ("host", "EGRESS_REFUSED")
    assert "/echo" not in row.reason
    control = Talker(shared, caller("control", "run-1", places=(*site.places, second_site.place)))
    opened = await control.ok("browser.openSession", url=url)
    assert opened["navigation"] == {"url": f"{second_site.url}/echo?landed", "status": 200}
    assert second_site.hits["/echo?landed"] == 1
    await control.ok("browser.closeSession", sessionId=opened["sessionId"])


async def test_a_refusal_that_cannot_be_written_down_is_one_all_the_same(
    shared: Host, talker: Talker, site: Site, second_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, url = shared.store.append, f"{site.url}/redirect?to={second_site.url}/"
    failed = []

    def broken(*row: Any) -> None:
        if row[1] == "egress" and second_site.place in row[12]:
            failed.append(row)
            raise UnavailableError("STORE_UNAVAILABLE", "the disk is full; free some")
        append(*row)

    monkeypatch.setattr(shared.store, "append", broken)
    await asyncio.sleep(1.1)  # the same place is told once a second
    assert (await refusal(talker, url)).code == "EGRESS_REFUSED"
    assert failed  # more than one where it goes on for longer than that second
    opened = await talker.ok("browser.openSession", url=site.url + "/")
    assert opened["navigation"]["status"] == 200


async def test_a_sites_own_no_is_not_the_proxys_even_right_after_one(
    shared: Host, talker: Talker, site: Site, second_site: Site
) -> None:
    own_no = f"{second_site.url}/status?code=403"
    assert (await refusal(talker, f"{site.url}/redirect?to={own_no}")).code == "EGRESS_REFUSED"
    given = Talker(shared, caller("given", "run-1", places=(second_site.place,)))
    opened = await given.ok("browser.openSession", url=own_no)
    assert opened["navigation"] == {"url": own_no, "status": 403}
    await given.ok("browser.closeSession", sessionId=opened["sessionId"])


FAILURES = (  # scheme and place, Chromium's word; `{refused}` is a port that refuses
    pytest.param("http://{refused}/", "net::ERR_CONNECTION_REFUSED", id="http-refused"),
    pytest.param("https://{refused}/", "net::ERR_CONNECTION_REFUSED", id="https-refused"),
    pytest.param(f"http://{NOWHERE}/", "net::ERR_NAME_NOT_RESOLVED", id="http-no-such-name"),
    pytest.param(f"https://{NOWHERE}/", "net::ERR_NAME_NOT_RESOLVED", id="https-no-such-name"),
)


@pytest.mark.parametrize(("url", "text"), FAILURES)
async def test_a_failure_behind_the_proxy_is_told_as_chromium_tells_it_and_the_tab_is_lent(
    shared: Host, talker: Talker, site: Site, url: str, text: str
) -> None:
    url = url.format(refused=site.refused)
    opened = await talker.ok("browser.openSession", url=url)
    assert opened["navigation"] == {"url": url, "errorText": text}
    assert await talker.js(opened["sessionId"], "6 * 7") == 42
    assert len(await written(shared, site.refused)) == 0  # a failure of the network is no refusal


async def test_a_host_of_chromiums_own_is_refused_and_says_how_to_open_it(talker: Talker) -> None:
    problem = await refusal(talker, "https://accounts.google.com/")
    assert problem.code == "EGRESS_REFUSED"
    assert problem.details == {
        "place": "accounts.google.com:443", "kind": "background", "flag": "--allow-host accounts.google.com:443",
    }  # fmt: skip


async def test_the_proxys_own_port_is_opened_by_nothing(shared: Host, site: Site) -> None:
    own = f"127.0.0.1:{shared.browser.egress.port}"
    bold = Talker(shared, caller("bold", "run-1", places=(*site.places, own)))
    problem = await refusal(bold, f"http://{own}/")
    assert (problem.code, problem.details) == ("EGRESS_REFUSED", {"place": own, "kind": "own_port"})


async def until(test: Callable[[], object], what: str) -> None:
    """Look, beside the host on this loop, until it holds."""
    await asyncio.to_thread(wait_until, test, SOON_S, what)


async def fetched(talker: Talker, session: str, site: Site, name: str) -> int:
    """How often a page's own request reached a site: 1 or 0."""
    path = f"/echo?{name}"
    await talker.js(session, f"fetch('{site.url}{path}', {{mode: 'no-cors'}}).then(() => 1, () => 0)")
    return site.hits[path]


async def test_a_place_is_open_while_a_session_lives_whose_caller_was_given_it(
    shared: Host, talker: Talker, site: Site, second_site: Site
) -> None:
    page = await talker.open(site.url + "/")
    assert await fetched(talker, page, second_site, "nobody-was-given-it") == 0
    given = Talker(shared, caller("given", "run-1", places=(second_site.place,)))
    holder = await given.open()
    assert await fetched(talker, page, second_site, "while-another-holds-it") == 1
    await given.ok("browser.closeSession", sessionId=holder)
    assert await fetched(talker, page, second_site, "given-back") == 0
    assert await talker.js(page, "document.title") == "Hello"


async def test_another_connection_of_the_same_run_brings_its_places_to_the_session(
    shared: Host, talker: Talker, site: Site, second_site: Site
) -> None:
    page = await talker.open(site.url + "/")
    again = Talker(shared, caller("first", "run-1", places=(second_site.place,)))
    url = f"{second_site.url}/echo?second-connection"
    assert await talker.code("browser.cdp", sessionId=page, method="Page.navigate", params={"url": url}) == (
        "BROWSER_POLICY_DENIED"
    )
    await again.ok("browser.cdp", sessionId=page, method="Page.navigate", params={"url": url})
    await until(lambda: second_site.hits["/echo?second-connection"], "the page of the second connection's place")


@pytest.mark.usefixtures("_temporary")
async def test_with_an_upstream_proxy_all_goes_there_with_its_name() -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>Far</title>")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as upstream:
        settings = Settings(upstream_proxy=f"http://127.0.0.1:{upstream.sockets[0].getsockname()[1]}")
        async with open_host(settings, ephemeral=True) as host:
            talker = Talker(host, caller("far", "run-1"))
            opened = await talker.ok("browser.openSession", url=f"http://{NOWHERE}:8080/page")
            assert opened["navigation"] == {"url": f"http://{NOWHERE}:8080/page", "status": 200}
            await talker.js(opened["sessionId"], LOADED)
            assert await talker.js(opened["sessionId"], "document.title") == "Far"
    assert f"GET http://{NOWHERE}:8080/page HTTP/1.1\r\n".encode() in asked


async def test_a_proxy_that_is_killed_is_there_again_for_the_next_page(
    shared: Host, talker: Talker, site: Site
) -> None:
    first = await talker.open(site.url + "/")
    egress = shared.browser.egress
    before, port = egress.pid, egress.port
    assert before is not None
    os.kill(before, signal.SIGKILL)
    await until(lambda: egress.pid not in (before, None), "the next proxy")
    assert egress.port == port
    second = await talker.ok("browser.openSession", url=site.url + "/")
    assert second["navigation"] == {"url": site.url + "/", "status": 200}
    await talker.js(first, LOADED)
    assert await talker.js(first, "document.title") == "Hello"
