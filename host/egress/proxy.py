"""The proxy itself: takes Chromium's connections and judges by the table; the rules are in core."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from host.core.egress import (
    Destination,
    Table,
    Verdict,
    judge_address,
    judge_name,
    read_authority,
)
from host.core.urls import Address
from host.egress.channel import Channel
from host.egress.client import Client
from host.egress.exchange import Upstream
from host.egress.forward import forwarded
from host.egress.limits import Limits
from host.egress.reach import Reach, Reached
from host.egress.wire import Memory

ACCEPTS_AT_ONCE = 64
NO_DESCRIPTOR_S = 0.2  # how long nothing is accepted when there is no descriptor left
MOST_COMPLAINTS = 20
FAILURES = {
    "connection_refused": "refused the connection",
    "reset": "broke the connection off",
    "timed_out": "did not answer in time",
    "unreachable": "cannot be reached from this machine",
}


class Proxy:
    """All connections, and what they share."""

    def __init__(self, listener: socket.socket, channel: socket.socket, limits: Limits) -> None:
        self.loop = asyncio.get_running_loop()
        self.limits = limits
        self.memory = Memory(limits)
        self.over = asyncio.Event()
        self._forward_to: Destination | None = None
        self._table: Table | None = None
        self._listener = listener
        self._clients: set[Client] = set()
        self._reach = Reach(self.loop, limits, self._judge_address)
        self._complaints = 0
        self.loop.set_exception_handler(self._complain)
        self._channel = Channel(self.loop, channel, limits, self._take, self.over.set)

    # --- the table

    def _take(self, line: dict[str, Any]) -> None:
        """A line of the host: the whole table, or only the opened places."""
        first = self._table is None
        own_ports = frozenset(line["own"]) if "own" in line else (self._table or Table()).own_ports
        self._table = Table(frozenset(line["open"]), own_ports)
        if first:
            if line["upstream"] is not None:
                self._forward_to = read_authority(line["upstream"], None)
                if self._forward_to is None:
                    sys.exit(f"the other proxy is no HOST:PORT: {line['upstream']!r}")  # rather than go direct
            self._listener.setblocking(False)
            self.loop.add_reader(self._listener, self._accept)
            self.loop.call_later(self.limits.sweep_s, self._sweep)
            self._channel.send({"ready": True})
        else:
            self._channel.forget()
            for client in list(self._clients):
                client.rejudge()

    @property
    def table(self) -> Table:
        """The newest table that was taken in."""
        assert self._table is not None  # nobody is a client before the first
        return self._table

    def judge(self, wanted: Destination) -> Verdict:
        """The rule for a name or literal address; before a refusal the newest table is looked for."""
        verdict = judge_name(wanted, self.table)
        if not verdict.allowed:
            self._channel.poll()
            verdict = judge_name(wanted, self.table)
        return verdict

    def _judge_address(self, wanted: Destination, address: Address, assigned: bool) -> Verdict:
        verdict = judge_address(wanted, address, self.table, assigned=assigned)
        if not verdict.allowed:
            self._channel.poll()
            verdict = judge_address(wanted, address, self.table, assigned=assigned)
        return verdict

    def judge_again(self, upstream: Upstream) -> Verdict:
        """The rule for a connection that was checked before, by the newest table."""
        verdict = judge_name(upstream.wanted, self.table)
        if verdict.allowed and upstream.address is not None:
            verdict = judge_address(upstream.wanted, upstream.address, self.table, assigned=upstream.assigned)
        return verdict

    async def reach(self, wanted: Destination, *, tunnel: bool) -> Reached:
        """A checked connection for the destination. Raises RefusedByRule or NetworkFailure."""
        if self._forward_to is None or wanted.here:  # what is opened on this machine is no matter of the other proxy
            return await self._reach.connect(wanted)
        return await forwarded(self.loop, self._reach, self.limits, self._forward_to, wanted, tunnel=tunnel)

    # --- telling the host

    def refused(self, verdict: Verdict) -> None:
        """Tell the host of a refusal."""
        self._channel.tell(verdict.place, verdict.kind, verdict.reason, verdict.flag)

    def failed(self, place: str, kind: str) -> None:
        """Tell the host of a failure of the network."""
        self._channel.tell(place, kind, FAILURES[kind], "")

    def _complain(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """A fault of ours: on standard error, which the host keeps; without what was on the line."""
        self._complaints += 1
        if self._complaints <= MOST_COMPLAINTS:
            problem = context.get("exception")
            where = problem.__traceback__ if isinstance(problem, BaseException) else None
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            line = f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where is not None else ""
            print(f"{context.get('message')}: {type(problem).__name__} {line}", file=sys.stderr, flush=True)

    # --- connections

    def _accept(self) -> None:
        for _ in range(ACCEPTS_AT_ONCE):
            try:
                sock, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                self.loop.remove_reader(self._listener)
                self.loop.call_later(NO_DESCRIPTOR_S, self.loop.add_reader, self._listener, self._accept)
                return
            if len(self._clients) >= self.limits.connections:
                sock.close()
                continue
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._clients.add(Client(self, sock))

    def gone(self, client: Client) -> None:
        """The client is no more."""
        self._clients.discard(client)

    def _sweep(self) -> None:
        now_s = self.loop.time()
        for client in list(self._clients):
            client.expired(now_s)
        self.loop.call_later(self.limits.sweep_s, self._sweep)


async def serve(listener: socket.socket, channel: socket.socket, limits: Limits) -> None:
    """Be the proxy until the host is gone; then end the process, with whatever is still open."""
    await Proxy(listener, channel, limits).over.wait()
    os._exit(0)  # lookups under way cannot be stopped otherwise
