"""From a destination to a connected socket: one resolution, each address judged, and only those connected to."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from host.core.egress import Destination, Verdict, unresolved
from host.core.urls import Address, is_this_machine
from host.egress.limits import Limits

STAGGER_S = 0.25  # RFC 8305, 5: how long one address has to itself before the next is tried beside it
MOST_ADDRESSES = 8
LOCAL = (ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1"))  # of localhost and all below; RFC 6761, 6.3

Judge = Callable[[Destination, Address, bool], Verdict]


class RefusedByRule(Exception):
    """No address of the destination may be connected to."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict


class NetworkFailure(Exception):
    """The network did not let us: `kind` is one of NETWORK_KINDS."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def kind_of(problem: OSError) -> str:
    """The word for a failed connection."""
    if isinstance(problem, TimeoutError) or problem.errno == errno.ETIMEDOUT:
        return "timed_out"
    if isinstance(problem, ConnectionRefusedError):
        return "connection_refused"
    return "reset" if isinstance(problem, ConnectionError) else "unreachable"


def is_assigned(address: Address) -> bool:
    """Has an interface of this machine this address? The kernel then also sends from it; no packet is sent."""
    if is_this_machine(address):
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return ipaddress.ip_address(probe.getsockname()[0].partition("%")[0]) == address
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Reached:
    """A connected socket; `address` is where it goes (None: what another proxy connected to), `early` came with it."""

    sock: socket.socket
    address: Address | None
    assigned: bool = False  # an interface of this machine has the address
    early: bytes = b""


class Reach:
    """Resolves and connects. Lookups of one name at one time are one lookup."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: Limits, judge: Judge) -> None:
        self._loop = loop
        self._limits = limits
        self._judge = judge
        self._threads = ThreadPoolExecutor(limits.lookups, "lookup")
        self._lookups: dict[str, asyncio.Future[list[Address]]] = {}

    async def connect(self, wanted: Destination) -> Reached:
        """A connection to the destination. Raises RefusedByRule or NetworkFailure."""
        allowed: dict[Address, bool] = {}
        refusal = None
        for address in await self.addresses(wanted):
            assigned = is_assigned(address)
            verdict = self._judge(wanted, address, assigned)
            if verdict.allowed:
                allowed[address] = assigned
            else:
                refusal = refusal or verdict
        if not allowed:
            raise RefusedByRule(refusal or unresolved(wanted))
        sock, address = await self.open(list(allowed), wanted.port)
        return Reached(sock, address, allowed[address])

    def judge(self, wanted: Destination, address: Address) -> Verdict:
        """The rule for one address of a destination."""
        return self._judge(wanted, address, is_assigned(address))

    async def addresses(self, wanted: Destination) -> list[Address]:
        """What the name stands for now. Raises RefusedByRule of kind `unresolved`."""
        if wanted.address is not None:
            return [wanted.address]
        if wanted.local_name:
            return list(LOCAL)
        lookup = self._lookups.get(wanted.name)
        if lookup is None:
            lookup = self._loop.run_in_executor(self._threads, resolve, wanted.name)
            self._lookups[wanted.name] = lookup
            lookup.add_done_callback(lambda _: self._lookups.pop(wanted.name, None))
        try:
            async with asyncio.timeout(self._limits.resolve_s):
                return (await asyncio.shield(lookup))[:MOST_ADDRESSES]
        except asyncio.CancelledError:
            if not lookup.cancelled():
                raise
            raise RefusedByRule(unresolved(wanted)) from None  # somebody else had waited for it for too long
        except TimeoutError:
            lookup.cancel()  # one that has not begun would keep others waiting
            raise RefusedByRule(unresolved(wanted)) from None
        except (OSError, UnicodeError):
            raise RefusedByRule(unresolved(wanted)) from None

    async def open(self, addresses: list[Address], port: int) -> tuple[socket.socket, Address]:
        """A connection to the first of these that takes one. Raises NetworkFailure."""
        try:
            async with asyncio.timeout(self._limits.connect_s):
                if len(addresses) == 1:
                    return await connected(self._loop, addresses[0], port), addresses[0]
                return await self._race(addresses, port)
        except OSError as problem:
            raise NetworkFailure(kind_of(problem)) from None

    async def _race(self, addresses: list[Address], port: int) -> tuple[socket.socket, Address]:
        attempts: dict[asyncio.Task[socket.socket], Address] = {}
        waiting = list(addresses)
        problem = OSError("nothing was tried")
        try:
            while waiting or attempts:
                if waiting:
                    address = waiting.pop(0)
                    attempts[self._loop.create_task(connected(self._loop, address, port))] = address
                patience_s = STAGGER_S if waiting else None
                done, _ = await asyncio.wait(attempts, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
                for attempt in done:
                    error = attempt.exception()
                    if error is None:
                        return attempt.result(), attempts.pop(attempt)
                    attempts.pop(attempt)
                    problem = error if isinstance(error, OSError) else problem
            raise problem
        finally:
            for attempt in attempts:
                attempt.cancel()
                attempt.add_done_callback(_discard)

    def close(self) -> None:
        """No more lookups; those under way are left to end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _discard(attempt: asyncio.Task[socket.socket]) -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()


def resolve(name: str) -> list[Address]:
    """The addresses of a name, in the system's order, each once. Blocks; raises OSError or UnicodeError."""
    found: list[Address] = []
    for *_, sockaddr in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM):
        address = ipaddress.ip_address(str(sockaddr[0]).partition("%")[0])
        if address not in found:
            found.append(address)
    return found


async def connected(loop: asyncio.AbstractEventLoop, address: Address, port: int) -> socket.socket:
    """A socket connected to this very address; nothing is looked up. Raises OSError."""
    sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = sock.connect_ex((str(address), port))
        if number == errno.EINPROGRESS:
            await _writable(loop, sock)
            number = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number:
            raise OSError(number, "connect")
    except BaseException:
        sock.close()
        raise
    return sock


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


async def _writable(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    ready: asyncio.Future[None] = loop.create_future()
    fd = sock.fileno()
    loop.add_writer(fd, _set, ready)
    try:
        await ready
    finally:
        loop.remove_writer(fd)
