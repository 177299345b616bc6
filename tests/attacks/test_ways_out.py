"""Attempts 32 and 34: a page that goes to this machine by itself, by requests of every kind and by datagrams."""

from __future__ import annotations

import asyncio
import json
import socket
import time

import pytest

from host.store.port import LedgerRow
from tests.attacks.counting import attempt
from tests.attacks.lab import LOOPS, Lab, Mark
from tests.support.forbidden import Forbidden, has_ipv6
from tests.support.origin_sites import Answer
from tests.support.origin_world import until

pytestmark = pytest.mark.asyncio(loop_scope="package")

HOSTS = {
    "v4": "127.0.0.1",
    "localhost": "localhost",
    "any": "0.0.0.0",
    "decimal": "2130706433",
    "loops": LOOPS,
    **({"v6": "[::1]"} if has_ipv6() else {}),
}
WAYS = {  # how a page asks for `url`; each puts its own name before the target's
    "fetch": "fetch(url, {mode: 'no-cors'})",
    "websocket": "new WebSocket(url.replace('http', 'ws'))",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${url}', {mode: 'no-cors'})`])))",
    "beacon": "navigator.sendBeacon(url, 'x')",
    "iframe": "document.body.appendChild(document.createElement('iframe')).src = url",
    "image": "new Image().src = url",
    "eventsource": "new EventSource(url)",
    "service-worker": "navigator.serviceWorker.register('/worker.js?' + encodeURIComponent(url), {scope: '/' + key})",
}
WORKER = "const url = decodeURIComponent(location.search.slice(1)); fetch(url, {mode: 'no-cors'})"
HELD_S = 1.0


def paths() -> set[str]:
    """What a port is asked for when every way reaches every host."""
    return {f"/{way}/{key}" for way in WAYS for key in HOSTS}


async def go(mark: Mark, port: int) -> None:
    """Ask in every way for every host."""
    hosts = json.dumps({key: f"http://{name}:{port}" for key, name in HOSTS.items()})
    ways = ",".join(f"'{way}': (url, key) => {call}" for way, call in WAYS.items())
    await mark.js(
        f"const ways = {{{ways}}}, hosts = {hosts}; for (const way in ways) for (const key in hosts)"
        " try { Promise.resolve(ways[way](`${hosts[key]}/${way}/${key}`, key)).catch(() => 0) } catch {} 1"
    )


@attempt(32, "fetch, WebSocket, Worker, beacon, iframe, … to every spelling of this machine")
async def test_no_request_of_a_page_reaches_this_machine(lab: Lab) -> None:
    worker = Answer(WORKER, kind="text/javascript", headers=(("Service-Worker-Allowed", "/"),))
    lab.sites.put("{lshop}/worker.js", worker)
    url = lab.put("here", "lshop")
    with Forbidden() as opened, Forbidden() as closed:
        names = {**HOSTS, "decimal": "127.0.0.1"}  # as an owner would write it
        given = await lab.tab(url, places=tuple(f"{name}:{opened.port}" for name in names.values()))
        start = time.monotonic()
        await go(given, opened.port)
        await until(lambda: reached(opened), "every way to every host", within_s=20.0)  # the control
        took_s = time.monotonic() - start
        mark = await lab.tab(url)
        await go(mark, closed.port)
        await asyncio.sleep(max(HELD_S, took_s))
        assert (closed.total, dict(closed.requests)) == (0, {})
    rows = [row.reason for row in await egress_rows(lab) if f":{closed.port}" in row.reason]
    assert all(any(f"{name}:{closed.port}" in reason for reason in rows) for name in names.values())
    await mark.stands()


async def reached(port: Forbidden) -> bool:
    return {path.partition("?")[0] for path in list(port.requests)} >= paths()


async def egress_rows(lab: Lab) -> list[LedgerRow]:
    """What the ledger has of the proxy's refusals, once they are written."""
    await asyncio.sleep(0.5)
    await lab.host.store.flush()
    return [row for row in await lab.host.store.tail(1000) if row.kind == "egress"]


GATHER = """new Promise(ok => {
    const servers = PORTS.map(port => ({urls: `stun:127.0.0.1:${port}`})).concat({urls: 'stun:localhost:PORT'},
        {urls: 'turn:127.0.0.1:PORT', username: 'a', credential: 'b'});
    const peer = new RTCPeerConnection({iceServers: servers}), found = [];
    peer.createDataChannel('x');
    peer.onicecandidate = e => e.candidate ? found.push(e.candidate.candidate) : ok(found.join());
    peer.createOffer().then(offer => peer.setLocalDescription(offer));
    setTimeout(() => ok(found.join()), 1500);
})"""


@attempt(34, "RTCPeerConnection with a STUN server on this machine", "no datagram")
async def test_no_datagram_of_a_page_reaches_this_machine(lab: Lab) -> None:
    mark = await lab.page("here", "lshop")
    with Forbidden() as forbidden:
        port = forbidden.port
        script = GATHER.replace("PORTS", f"[{port}]").replace("PORT'", f"{port}'")
        assert await mark.js(script) == ""
        assert forbidden.total == 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:  # the control: one would have been counted
            control.sendto(b"x", ("127.0.0.1", port))
        await until(lambda: counted(forbidden), "the control's datagram")
    await mark.stands()


async def counted(port: Forbidden) -> bool:
    return port.datagrams.total() == 1
