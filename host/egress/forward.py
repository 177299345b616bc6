"""Connecting by way of another proxy: names are resolved there, and what they stand for is not checked here."""

from __future__ import annotations

import asyncio
import socket

import h11

from host.core.egress import Destination
from host.egress.limits import Limits
from host.egress.reach import NetworkFailure, Reach, Reached, RefusedByRule, kind_of


async def forwarded(
    loop: asyncio.AbstractEventLoop,
    reach: Reach,
    limits: Limits,
    proxy: Destination,
    wanted: Destination,
    *,
    tunnel: bool,
) -> Reached:
    """A connection to `proxy`, and for a tunnel through it. Raises RefusedByRule or NetworkFailure."""
    if wanted.address is not None:
        verdict = reach.judge(wanted, wanted.address)
        if not verdict.allowed:
            raise RefusedByRule(verdict)
    try:
        sock, _ = await reach.open(await reach.addresses(proxy), proxy.port)
    except RefusedByRule:
        raise NetworkFailure("unreachable") from None  # it is the other proxy whose name does not resolve
    if not tunnel:
        return Reached(sock, None)
    try:
        async with asyncio.timeout(limits.connect_s * 2):
            return Reached(sock, None, early=await _ask(loop, sock, wanted, limits))
    except BaseException as problem:
        sock.close()
        if isinstance(problem, OSError):
            raise NetworkFailure(kind_of(problem)) from None
        raise


async def _ask(loop: asyncio.AbstractEventLoop, sock: socket.socket, wanted: Destination, limits: Limits) -> bytes:
    """Have the tunnel opened; what came with the answer. Raises OSError or NetworkFailure."""
    talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=limits.response_head_bytes)
    place = wanted.place.encode("ascii")
    request = talk.send(h11.Request(method=b"CONNECT", target=place, headers=[(b"Host", place)])) or b""
    await loop.sock_sendall(sock, request + (talk.send(h11.EndOfMessage()) or b""))
    try:
        while not isinstance(event := talk.next_event(), h11.Response):
            if event is h11.NEED_DATA:
                talk.receive_data(await loop.sock_recv(sock, 65536))
    except h11.RemoteProtocolError:
        raise NetworkFailure("reset") from None
    if not 200 <= event.status_code < 300:
        raise NetworkFailure("unreachable")
    return bytes(talk.trailing_data[0])
