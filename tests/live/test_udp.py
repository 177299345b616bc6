"""No datagram leaves a page: neither WebRTC nor WebTransport goes past the proxy, and no address is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from host.browser import process
from host.browser import profile as profiles
from tests.live.framesite import FrameSites
from tests.live.walls import host_in, talker
from tests.support.forbidden import Forbidden
from tests.support.inprocess import Talker

pytestmark = pytest.mark.asyncio(loop_scope="module")

GATHERS_MS = 1000


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@dataclass(frozen=True, slots=True)
class Page:
    """A page of one host, and the ports on this machine that nobody opened to it."""

    who: Talker
    session: str
    forbidden: Forbidden


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def product(folder: Path, sites: FrameSites) -> AsyncIterator[Page]:
    with Forbidden() as forbidden:
        async with host_in(folder, "product") as host:
            who = talker(host, *sites.places)
            yield Page(who, await who.open(sites.page("a", "<title>udp</title>")), forbidden)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def control(folder: Path, sites: FrameSites) -> AsyncIterator[Page]:
    """A Chromium to which nobody has said how to go."""
    with Forbidden() as forbidden, pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "FLAGS", tuple(flag for flag in process.FLAGS if "webrtc" not in flag))
        patch.setattr(process, "PROXY_FLAGS", ())
        patch.setattr(profiles, "PREFERENCES", {})
        async with host_in(folder, "control") as host:
            who = talker(host, *sites.places)
            yield Page(who, await who.open(sites.page("a", "<title>udp</title>")), forbidden)


def gathering(servers: list[dict[str, str]]) -> str:
    """What a page's peer connection finds of ways to itself."""
    return f"""new Promise(ok => {{
        const peer = new RTCPeerConnection({{iceServers: {json.dumps(servers)}}}), found = [];
        peer.onicecandidate = event => event.candidate?.candidate && found.push(event.candidate.candidate);
        peer.createDataChannel('x');
        peer.createOffer().then(offer => peer.setLocalDescription(offer));
        setTimeout(() => ok(found), {GATHERS_MS});
    }})"""


MEETING = f"""(async () => {{
    const one = new RTCPeerConnection(), other = new RTCPeerConnection(), channel = one.createDataChannel('x');
    one.onicecandidate = event => other.addIceCandidate(event.candidate);
    other.onicecandidate = event => one.addIceCandidate(event.candidate);
    await one.setLocalDescription();
    await other.setRemoteDescription(one.localDescription);
    await other.setLocalDescription();
    await one.setRemoteDescription(other.localDescription);
    const met = new Promise(ok => {{ channel.onopen = () => ok('met') }});
    return Promise.race([met, new Promise(ok => setTimeout(ok, {GATHERS_MS}, 'never'))]);
}})()"""


HELPERS = {  # of WebRTC, that a page may name
    "stun": {"urls": "stun:{place}"},
    "turn": {"urls": "turn:{place}?transport=udp", "username": "x", "credential": "x"},
}
ADDRESSES = ("127.0.0.1", "localhost", "[::1]")


@pytest.mark.parametrize("helper", HELPERS.values(), ids=HELPERS)
async def test_a_peer_connection_sends_no_datagram_and_tells_no_address(
    product: Page, control: Page, helper: dict[str, str]
) -> None:
    ways = []
    for page in (product, control):
        page.forbidden.datagrams.clear()
        places = (f"{address}:{page.forbidden.port}" for address in ADDRESSES)
        ways.append(gathering([{**helper, "urls": helper["urls"].format(place=place)} for place in places]))
    found, seen = await asyncio.gather(
        product.who.js(product.session, ways[0]), control.who.js(control.session, ways[1])
    )
    assert any("typ host" in candidate for candidate in seen)
    assert control.forbidden.datagrams.total() > 0
    assert found == []
    assert product.forbidden.total == 0


async def test_two_ends_in_one_page_do_not_meet_past_the_proxy(product: Page, control: Page) -> None:
    assert await control.who.js(control.session, MEETING) == "met"
    assert await product.who.js(product.session, MEETING) == "never"


async def test_web_transport_sends_no_datagram(product: Page, control: Page) -> None:
    outcomes = []
    for page in (product, control):
        page.forbidden.datagrams.clear()
        call = f"new WebTransport('https://127.0.0.1:{page.forbidden.port}/').ready.then(() => 'open', e => e.name)"
        waiting = f"Promise.race([{call}, new Promise(ok => setTimeout(ok, {GATHERS_MS}, 'trying'))])"
        outcomes.append(await page.who.js(page.session, waiting))
    assert outcomes == ["WebTransportError", "trying"]
    assert control.forbidden.datagrams.total() > 0
    assert product.forbidden.total == 0
