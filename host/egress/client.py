"""One connection of Chromium: reads a request, has it judged, sends it off, and takes the next one."""

from __future__ import annotations

import asyncio
import socket
from typing import Protocol

from host.core.egress import Destination, Verdict
from host.egress.exchange import Ending, Exchange, Upstream
from host.egress.heads import Asked, BadRequest, own_answer, read_request, refusal_page
from host.egress.limits import Limits
from host.egress.reach import NetworkFailure, Reached, RefusedByRule
from host.egress.tunnel import Tunnel
from host.egress.wire import Memory, Wire

END_OF_HEAD = b"\r\n\r\n"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Proxy(Protocol):
    """What a client needs of the proxy that it is a client of."""

    loop: asyncio.AbstractEventLoop
    limits: Limits
    memory: Memory

    def judge(self, wanted: Destination) -> Verdict:
        """The rule for a name or literal address, by the newest table."""

    def judge_again(self, upstream: Upstream) -> Verdict:
        """The rule for a connection that was checked before, by the newest table."""

    async def reach(self, wanted: Destination, *, tunnel: bool) -> Reached:
        """A checked connection for the destination. Raises RefusedByRule or NetworkFailure."""

    def refused(self, verdict: Verdict) -> None:
        """Tell the host of a refusal."""

    def failed(self, place: str, kind: str) -> None:
        """Tell the host of a failure of the network."""

    def gone(self, client: Client) -> None:
        """The client is no more."""


class Client:
    """Owns its wire while no exchange or tunnel does."""

    def __init__(self, proxy: Proxy, sock: socket.socket) -> None:
        self._proxy = proxy
        self._buffer = bytearray()
        self._searched = 0
        self._upstream: Upstream | None = None
        self._active: Exchange | Tunnel | None = None
        self._task: asyncio.Task[None] | None = None
        self._lingering = False
        self._fresh = True
        self.since_s = proxy.loop.time()  # of what it waits for
        self.wire = Wire(proxy.loop, proxy.memory, sock, self)

    # --- waiting for a request

    def received(self, wire: Wire, data: memoryview) -> None:
        """Bytes of a head; or of an idle upstream, which has nothing to say."""
        if wire is not self.wire:
            self._drop_upstream()
            return
        if self._lingering:
            return
        if not self._buffer:
            self.since_s = self._proxy.loop.time()
        self._buffer += data
        if self._task is None:
            self._next_request()
        elif len(self._buffer) > self._proxy.limits.request_head_bytes:
            wire.pause()

    def ended(self, wire: Wire) -> None:
        """The client is gone, or its idle upstream."""
        if wire is self.wire:
            self.close()
        else:
            self._drop_upstream()

    def lost(self, wire: Wire) -> None:
        """As `ended`."""
        self.ended(wire)

    def drained(self, wire: Wire) -> None:
        """Nothing waits for it: answers of our own are small."""

    def _next_request(self) -> None:
        end = self._buffer.find(END_OF_HEAD, max(0, self._searched - 3))
        limit = self._proxy.limits.request_head_bytes
        if end < 0 or end > limit:
            self._searched = len(self._buffer)
            if self._searched > limit or end > limit:
                self._answer_bad(431, "the head of the request is too large")
            return
        head = bytes(self._buffer[: end + 4])
        del self._buffer[: end + 4]
        self._searched = 0
        self._fresh = False
        try:
            asked = read_request(head, limit)
        except BadRequest as problem:
            self._answer_bad(problem.status, str(problem))
            return
        if asked.body is not None and self._buffer:
            asked.body.receive_data(bytes(self._buffer))
            self._buffer.clear()
        self._judge(asked)

    def _judge(self, asked: Asked) -> None:
        proxy = self._proxy
        verdict = proxy.judge(asked.destination)
        if self.wire.closed:  # the newest table, which was looked for, closed the place of the request before
            return
        if not verdict.allowed:
            self._refuse(asked, verdict)
            return
        upstream = self._upstream
        if not asked.tunnel and upstream is not None:
            if upstream.wanted == asked.destination and proxy.judge_again(upstream).allowed:
                self._exchange(asked, upstream)
                return
            self._drop_upstream()
        if asked.body is not None:
            self.wire.pause()
        self._task = proxy.loop.create_task(self._reach(asked))

    async def _reach(self, asked: Asked) -> None:
        """Connect, then go on; the one part of a request that has to wait."""
        try:
            reached = await self._proxy.reach(asked.destination, tunnel=asked.tunnel)
        except RefusedByRule as refusal:
            self._task = None
            self._refuse(asked, refusal.verdict)
            return
        except NetworkFailure as failure:
            self._task = None
            self._fail(asked, failure.kind)
            return
        self._task = None
        wire = Wire(self._proxy.loop, self._proxy.memory, reached.sock, self)
        self._upstream = Upstream(wire, asked.destination, reached.address, reached.assigned)
        verdict = self._proxy.judge_again(self._upstream)
        if not verdict.allowed:  # closed again meanwhile
            self._refuse(asked, verdict)
        elif asked.tunnel:
            self._open_tunnel(self._upstream, reached.early)
        else:
            self._exchange(asked, self._upstream)

    # --- what a request comes to

    def _exchange(self, asked: Asked, upstream: Upstream) -> None:
        self.wire.resume()
        if upstream.address is None:  # it is another proxy
            asked.target = b"http://%b%b" % (asked.headers[0][1], asked.target)
        self._active = Exchange(self.wire, upstream, asked, self._proxy.limits, self._exchanged)
        self._active.start()

    def _exchanged(self, ending: Ending) -> None:
        wanted = self._upstream.wanted.place if self._upstream else ""
        self._active = None
        self._take_back()
        if not ending.upstream_goes_on:
            self._drop_upstream()
        if ending.failure:
            self._proxy.failed(wanted, ending.failure)
        if ending.bad_request and not ending.answered:
            self._answer_bad(400, "the body of the request cannot be read")
        elif ending.client_goes_on:
            self.wire.resume()
            self._buffer += ending.rest
            self.since_s = self._proxy.loop.time()
            if self._buffer:
                self._next_request()
        elif ending.answered and not self.wire.closed:
            self._linger()
        else:
            self.close()

    def _take_back(self) -> None:
        self.wire.owner = self
        if self._upstream is not None:
            self._upstream.wire.owner = self
            self._upstream.wire.resume()

    def _open_tunnel(self, upstream: Upstream, early: bytes) -> None:
        self.wire.resume()
        self._active = Tunnel(self.wire, upstream.wire, self._proxy.limits, self.close)
        self.wire.write(ESTABLISHED + early)
        if self._buffer:
            sent, self._buffer = self._buffer, bytearray()
            self._active.received(self.wire, memoryview(sent))

    def _refuse(self, asked: Asked, verdict: Verdict) -> None:
        self._proxy.refused(verdict)  # before the answer: who sees the answer can ask why
        close = asked.tunnel or asked.body is not None or not asked.keep_alive
        head_only = asked.method == b"HEAD"
        self.wire.write(own_answer(403, verdict.kind, refusal_page(verdict), close=close, head_only=head_only))
        if close:
            self._linger()
        else:
            self.since_s = self._proxy.loop.time()
            self.wire.resume()
            if self._buffer:
                self._proxy.loop.call_soon(self._go_on)  # not from here: a long row of refusals would nest

    def _go_on(self) -> None:
        if not self.wire.closed and self._task is None and self._active is None and not self._lingering:
            self._next_request()

    def _fail(self, asked: Asked, kind: str) -> None:
        self._proxy.failed(asked.destination.place, kind)
        if asked.tunnel:
            self.wire.write(own_answer(504 if kind == "timed_out" else 502, kind, b"", close=True))
            self._linger()
        else:
            self.close()  # no answer: Chromium shows an error of the network, and fetch() rejects

    def _answer_bad(self, status: int, text: str) -> None:
        self.wire.write(own_answer(status, "", f"<!doctype html><title>{text}</title>".encode(), close=True))
        self._linger()

    # --- the end

    def _linger(self) -> None:
        """Let the client take the answer: with bytes of its own unread, a close would destroy it (RFC 9112, 9.6)."""
        self._drop_upstream()
        self._lingering = True
        self._buffer.clear()
        self.since_s = self._proxy.loop.time()
        self.wire.finish()
        self.wire.resume()

    def _drop_upstream(self) -> None:
        if self._upstream is not None:
            self._upstream.wire.close()
            self._upstream = None

    def expired(self, now_s: float) -> None:
        """End it when it waited too long."""
        limits = self._proxy.limits
        if self._active is not None:
            self._active.expired(now_s)
        elif self._lingering:
            self._close_after(limits.body_s if self.wire.held else limits.linger_s, now_s)
        elif self._task is None:
            self._close_after(limits.head_s if self._buffer or self._fresh else limits.idle_s, now_s)

    def _close_after(self, most_s: float, now_s: float) -> None:
        if now_s - self.since_s >= most_s:
            self.close()

    def rejudge(self) -> None:
        """The table has changed: a connection to a place that is no longer open ends."""
        if self._upstream is not None and not self._proxy.judge_again(self._upstream).allowed:
            self.wire.abort()
            self.close()

    def close(self) -> None:
        """End it and what it started. Closing twice is fine."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._active = None
        self._drop_upstream()
        self.wire.close()
        self._proxy.gone(self)
