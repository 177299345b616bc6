"""What a page that was refused sees: for http a page that names the place and its flag, for tunnels a failed one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from host.app import Host, open_host
from host.core.settings import Settings
from tests.egress.ways import WaySite
from tests.support.forbidden import Forbidden
from tests.support.inprocess import Talker, caller

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.chromium]
TUNNEL = "net::ERR_TUNNEL_CONNECTION_FAILED"
TUNNEL_WORDS = "Establishing a tunnel via proxy server failed"  # the same, as Chromium tells it of a WebSocket
OPENS = (
    "new Promise(ok => {{ const s = new WebSocket('{}'); s.onopen = () => ok('open'); s.onerror = () => ok('no') }})"
)
RUNS = """(() => {
  document.head.append(Object.assign(document.createElement('script'), {textContent: "document.title = 'ran'"}));
  return document.title;
})()"""


@pytest.fixture(scope="module")
def site() -> Iterator[WaySite]:
    with WaySite((), (), {}) as served:
        yield served


@pytest.fixture(scope="module")
def forbidden() -> Iterator[Forbidden]:
    """Opened by nobody but the controls."""
    with Forbidden() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(folder: Path) -> AsyncIterator[Host]:
    async with open_host(Settings(), ephemeral=True) as made:
        yield made


class Visitor:
    """A tab on the site's page, of a caller that was given these places."""

    def __init__(self, host: Host, site: WaySite, *places: str) -> None:
        self.talker = Talker(host, caller("control" if places else "app", places=(*site.places, *places)))
        self.site = site
        self.tab = ""

    async def __aenter__(self) -> Visitor:
        self.tab = await self.talker.open(f"{self.site.origin}/blank")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.talker.ok("browser.closeSession", sessionId=self.tab)

    async def goes(self, url: str, status: int = 302) -> dict[str, Any]:
        """The page is sent to an address of the site, which sends it on; the answer to that navigation."""
        given = {"url": f"{self.site.origin}/to?status={status}&hops=2&url={url}"}
        made = await self.talker.ok("browser.cdp", sessionId=self.tab, method="Page.navigate", params=given)
        async with asyncio.timeout(10):
            while await self.sees("document.readyState") != "complete":  # noqa: ASYNC110 - without scripts no event tells
                await asyncio.sleep(0.05)
        return dict(made["result"])

    async def sees(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return await self.talker.js(self.tab, expression)

    async def logged(self, word: str) -> str:
        """The first line of the page's log that holds this."""
        after = 0
        async with asyncio.timeout(10):
            while True:
                asked = {"sessionId": self.tab, "after": after, "methods": ["Log.entryAdded"], "waitMs": 5000}
                page = await self.talker.ok("browser.events", **asked)
                for event in page["events"]:
                    if word in event["params"]["entry"]["text"]:
                        return str(event["params"]["entry"]["text"])
                after = page["next"]


HOPS = (301, 302, 303, 307, 308)
PLACES = (  # host, flag
    pytest.param("127.0.0.1", "--allow-loopback", id="loopback"),
    pytest.param("[::1]", "--allow-loopback", id="loopback-v6"),
    pytest.param("localhost", "--allow-loopback", id="localhost"),
    pytest.param("10.1.2.3", "--allow-host", id="private"),
    pytest.param("169.254.169.254", "--allow-host", id="metadata"),
    pytest.param("printer", "--allow-host", id="single-label"),
)


@pytest.mark.parametrize(("host", "flag"), PLACES)
async def test_the_page_of_a_refusal_names_the_place_and_the_flag_that_opens_it(
    shared: Host, site: WaySite, forbidden: Forbidden, host: str, flag: str
) -> None:
    place = f"{host}:{forbidden.port}"
    async with Visitor(shared, site) as visitor:
        assert "errorText" not in await visitor.goes(f"http://{place}/page")
        assert await visitor.sees("location.href") == f"http://{place}/page"
        shown = await visitor.sees("document.body.innerText")
        assert place in shown
        assert f"{flag} {place}" in shown
    assert forbidden.total == 0


@pytest.mark.parametrize("status", HOPS)
async def test_a_redirect_of_any_kind_ends_at_that_page(
    shared: Host, site: WaySite, forbidden: Forbidden, status: int
) -> None:
    async with Visitor(shared, site) as visitor:
        await visitor.goes(f"http://127.0.0.1:{forbidden.port}/hop", status)
        assert f"--allow-loopback 127.0.0.1:{forbidden.port}" in await visitor.sees("document.body.innerText")
    assert forbidden.total == 0


async def test_where_it_is_opened_the_same_redirect_shows_what_is_there(shared: Host, site: WaySite) -> None:
    with Forbidden() as other:
        async with Visitor(shared, site, f"127.0.0.1:{other.port}") as visitor:
            await visitor.goes(f"http://127.0.0.1:{other.port}/hop")
            assert await visitor.sees("document.body.innerText") == "hit"
        assert other.hits("hop") == 1


async def test_the_page_of_a_refusal_runs_no_script_and_belongs_to_no_origin(
    shared: Host, site: WaySite, forbidden: Forbidden
) -> None:
    async with Visitor(shared, site) as visitor:
        await visitor.goes(f"http://127.0.0.1:{forbidden.port}/page")
        assert await visitor.sees(RUNS) == "Refused"
        assert await visitor.sees("origin") == "null"
        await visitor.goes(f"{site.origin}/blank")
        assert await visitor.sees(RUNS) == "ran"
    assert forbidden.total == 0


async def test_a_redirect_to_https_fails_as_a_tunnel_does(shared: Host, site: WaySite, forbidden: Forbidden) -> None:
    async with Visitor(shared, site) as visitor:
        assert (await visitor.goes(f"https://127.0.0.1:{forbidden.port}/"))["errorText"] == TUNNEL
    assert forbidden.total == 0
    with Forbidden() as other:
        async with Visitor(shared, site, f"127.0.0.1:{other.port}") as visitor:
            assert (await visitor.goes(f"https://127.0.0.1:{other.port}/"))["errorText"] != TUNNEL
        assert other.connections["main"] > 0


@pytest.mark.parametrize("scheme", ["ws", "wss"])
async def test_a_websocket_fails_as_a_tunnel_does(
    shared: Host, site: WaySite, forbidden: Forbidden, scheme: str
) -> None:
    async with Visitor(shared, site) as visitor:
        assert await visitor.sees(OPENS.format(f"{scheme}://127.0.0.1:{forbidden.port}/socket")) == "no"
        assert TUNNEL_WORDS in await visitor.logged("/socket")
    assert forbidden.total == 0
    with Forbidden() as other:
        async with Visitor(shared, site, f"127.0.0.1:{other.port}") as visitor:
            assert await visitor.sees(OPENS.format(f"{scheme}://127.0.0.1:{other.port}/socket")) == "no"
            assert TUNNEL_WORDS not in await visitor.logged("/socket")
        assert other.connections["main"] > 0


async def test_a_fetch_is_refused_at_once_and_hides_from_the_page_what_there_is(
    shared: Host, site: WaySite, forbidden: Forbidden
) -> None:
    asked = f"fetch('http://127.0.0.1:{forbidden.port}/').then(() => 'came', error => error.name)"
    async with Visitor(shared, site) as visitor:
        async with asyncio.timeout(5):
            assert await visitor.sees(asked) == "TypeError"
    assert forbidden.total == 0
    with Forbidden() as other:
        async with Visitor(shared, site, f"127.0.0.1:{other.port}") as visitor:
            assert await visitor.sees(asked.replace(str(forbidden.port), str(other.port))) == "came"
