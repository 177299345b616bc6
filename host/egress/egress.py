"""The host's side of the proxy: starts it, hands it its table, hears of refusals, starts it again when it died."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11

from capsdk.errors import UnavailableError
from host.core.egress import NETWORK_KINDS, ascii_place, read_authority

MAIN = Path(__file__).with_name("main.py")
IMPORTED_FROM = (str(Path(__file__).parents[2]), str(Path(h11.__file__).parents[1]))
BACKLOG = 4096
READY_S = 10.0
END_S = 1.0
LIVED_S = 10.0  # who lived that long is started again at once
LONGEST_PAUSE_S = 5.0
REMEMBERED_S = 10.0  # of troubles, for `explain`
MOST_REMEMBERED = 1024
MOST_TOLD_A_SECOND = 20  # to `on_refused`; more places than that are summed up
STDERR_BYTES = 4096


@dataclass(frozen=True, slots=True)
class EgressConfig:
    """Who the proxy runs as (`uid` None: as the host) and what it is told once.

    `upstream_proxy` is "http://HOST:PORT"; `program` is for tests: another way to start the same proxy.
    """

    uid: int | None = None
    upstream_proxy: str | None = None
    own_ports: frozenset[int] = frozenset()
    program: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A trouble with one place (HOST:PORT), `count` times; `flag` would open it, "" when nothing does.

    `place` is "" when a flood of places was summed up.
    """

    place: str
    kind: str
    reason: str
    flag: str
    count: int = 1

    @property
    def failed(self) -> bool:
        """Was it the network? Else it was refused by rule."""
        return self.kind in NETWORK_KINDS


class Egress:
    """One proxy, which outlives its process: the port stays while the host lives."""

    def __init__(self, config: EgressConfig) -> None:
        self.on_refused: Callable[[Refusal], None] = lambda refusal: None
        self.pid: int | None = None
        self._config = config
        self._places: frozenset[str] = frozenset()
        self._listener: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._in = b""
        self._out = bytearray()
        self._stderr = -1
        self._ready: asyncio.Future[None] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._started_s = 0.0
        self._pause_s = 0.0
        self._closed = False
        self._troubles: dict[str, tuple[float, Refusal]] = {}
        self._told = _Pace()

    # --- starting

    @property
    def port(self) -> int | None:
        """The proxy's port on 127.0.0.1, from the first `bind` or `start` on."""
        return None if self._listener is None else int(self._listener.getsockname()[1])

    def bind(self) -> int:
        """Take the port without waiting for the proxy: what connects meanwhile is served when it is there."""
        if self._listener is None:
            listener = socket.socket()
            try:
                listener.bind(("127.0.0.1", 0))
                listener.listen(BACKLOG)
            except OSError as problem:
                listener.close()
                raise _launch_failed(f"no port can be opened: {problem.strerror}", "") from None
            listener.setblocking(False)
            self._listener = listener
        return int(self._listener.getsockname()[1])

    async def start(self) -> int:
        """The port, once the proxy serves. Starting twice is fine. Raises UnavailableError BROWSER_LAUNCH_FAILED."""
        if self._closed:
            raise _launch_failed("the host is ending", "")
        if self._config.upstream_proxy is not None and self._upstream() is None:
            raise _launch_failed("the other proxy is not http://HOST:PORT", "")
        port = self.bind()
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            try:
                self._spawn()
            except OSError as problem:
                self._ready = None
                raise _launch_failed(f"no process can be started: {problem.strerror}", "") from None
        ready = self._ready
        try:
            async with asyncio.timeout(READY_S):
                await asyncio.shield(ready)
        except TimeoutError:
            raise self._gave_up(f"it did not answer within {READY_S:g} s") from None
        except ConnectionError:
            raise self._gave_up("it ended at once") from None
        return port

    def _gave_up(self, why: str) -> UnavailableError:
        text = self.stderr_tail
        self._ready = None
        self._drop()
        return _launch_failed(why, text)

    def _spawn(self) -> None:
        """Start a proxy on the socket we hold. Raises OSError."""
        assert self._listener is not None
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        self._forget_stderr()
        self._stderr = os.memfd_create("egress-stderr")
        settings = {
            "path": IMPORTED_FROM,
            "listen": self._listener.fileno(),
            "channel": theirs.fileno(),
            "uid": self._config.uid,
        }
        program = self._config.program or (sys.executable, "-I", "-S", "-B", str(MAIN))
        try:
            process = subprocess.Popen(
                [*program, json.dumps(settings)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                pass_fds=(self._listener.fileno(), theirs.fileno()),
                start_new_session=True,
                env={},
                cwd="/",
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._process, self.pid, self._channel = process, process.pid, ours
        self._in, self._out = b"", bytearray()
        self._started_s = loop.time()
        loop.add_reader(ours, self._read)
        self._send({"open": sorted(self._places), "own": sorted(self._own_ports()), "upstream": self._upstream()})

    def _own_ports(self) -> frozenset[int]:
        return self._config.own_ports | {self.bind()}

    def _upstream(self) -> str | None:
        """HOST:PORT of the other proxy; None when there is none, or it cannot be read."""
        scheme, _, rest = (self._config.upstream_proxy or "").partition("://")
        found = read_authority(rest.rstrip("/"), 80) if scheme == "http" else None
        return found.place if found else None

    # --- the channel

    def set_places(self, places: frozenset[str]) -> None:
        """The opened places, the whole set; the proxy knows them before it judges what is asked from now on."""
        places = frozenset(map(ascii_place, places))
        if places == self._places:
            return
        for place in places - self._places:
            self._troubles.pop(place, None)  # what was refused before says nothing any more
        self._places = places
        self._send({"open": sorted(places)})

    def _send(self, line: dict[str, Any]) -> None:
        if self._channel is None:
            return  # who is started next gets the whole table
        waiting = bool(self._out)
        self._out += json.dumps(line).encode() + b"\n"
        if not waiting:
            self._write()

    def _write(self) -> None:
        if self._channel is None:
            return
        loop = asyncio.get_running_loop()
        try:
            sent = self._channel.send(self._out)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            return  # it died, which reading tells
        del self._out[:sent]
        if self._out:
            loop.add_writer(self._channel, self._write)
        else:
            loop.remove_writer(self._channel)

    def _read(self) -> None:
        while self._channel is not None:
            try:
                data = self._channel.recv(65536)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                self._died()
                return
            *lines, self._in = (self._in + data).split(b"\n")
            for line in lines:
                self._take(json.loads(line))

    def _take(self, line: dict[str, Any]) -> None:
        if "ready" in line:
            if self._ready is not None and not self._ready.done():
                self._ready.set_result(None)
            return
        refusal = Refusal(line["place"], line["kind"], line["reason"], line["flag"], line["count"])
        now_s = asyncio.get_running_loop().time()
        self._troubles.pop(refusal.place, None)
        self._troubles[refusal.place] = (now_s, refusal)
        while len(self._troubles) > MOST_REMEMBERED:
            del self._troubles[next(iter(self._troubles))]
        if not refusal.failed:
            for told in self._told.paced(refusal, now_s):
                self.on_refused(told)

    def explain(self, place: str) -> Refusal | None:
        """The newest trouble with HOST:PORT of the last few seconds; what the proxy told by now is known."""
        self._read()
        at_s, refusal = self._troubles.get(ascii_place(place), (0.0, None))
        return refusal if asyncio.get_running_loop().time() - at_s < REMEMBERED_S else None

    # --- ending, and starting again

    def _died(self) -> None:
        """The proxy's end of the channel is closed: it is gone, or as good as."""
        self._drop()
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(ConnectionError("the proxy ended"))
            self._ready.exception()  # somebody may have stopped waiting
            return
        if not self._closed:
            loop = asyncio.get_running_loop()
            lived = loop.time() - self._started_s >= LIVED_S
            pause_s = self._pause_s = 0.0 if lived else min(max(0.05, self._pause_s * 2), LONGEST_PAUSE_S)
            self._again = loop.call_later(pause_s, self._start_again)

    def _start_again(self) -> None:
        self._again = None
        try:
            self._spawn()
        except OSError:
            self._pause_s = LONGEST_PAUSE_S
            self._again = asyncio.get_running_loop().call_later(LONGEST_PAUSE_S, self._start_again)

    def _drop(self) -> None:
        """Let go of the process, which ends with its channel; it is made to, when it does not."""
        if self._channel is not None:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._channel)
            loop.remove_writer(self._channel)
            self._channel.close()
            self._channel = None
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)  # a killed process of ours ends at once
            self._process, self.pid = None, None

    async def close(self) -> None:
        """End the proxy and give the port back. Closing twice is fine."""
        self._closed = True
        if self._again is not None:
            self._again.cancel()
            self._again = None
        self._drop()
        self._forget_stderr()
        for told in self._told.rest():
            self.on_refused(told)
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    @property
    def stderr_tail(self) -> str:
        """The last words of the proxy that runs, or of the one that did not start; "" is good news."""
        if self._stderr < 0:
            return ""
        size = os.fstat(self._stderr).st_size
        return os.pread(self._stderr, STDERR_BYTES, max(0, size - STDERR_BYTES)).decode(errors="replace").strip()

    def _forget_stderr(self) -> None:
        if self._stderr >= 0:
            with contextlib.suppress(OSError):
                os.close(self._stderr)
            self._stderr = -1


class _Pace:
    """So many refusals a second go on one by one; the rest is summed up by kind and told with the next."""

    def __init__(self) -> None:
        self._second = -1
        self._told = 0
        self._over: dict[str, int] = {}

    def paced(self, refusal: Refusal, now_s: float) -> list[Refusal]:
        """What to tell now."""
        if int(now_s) != self._second:
            self._second, self._told = int(now_s), 0
            ready = self.rest()
        else:
            ready = []
        self._told += 1
        if self._told > MOST_TOLD_A_SECOND:
            self._over[refusal.kind] = self._over.get(refusal.kind, 0) + refusal.count
            return ready
        return [*ready, refusal]

    def rest(self) -> list[Refusal]:
        """What was summed up."""
        over, self._over = self._over, {}
        return [Refusal("", kind, "many other places, not listed", "", count) for kind, count in over.items()]


def _launch_failed(why: str, stderr: str) -> UnavailableError:
    return UnavailableError(
        "BROWSER_LAUNCH_FAILED",
        f"the proxy for the browser's traffic cannot start: {why}; run `capsdk doctor` to see what is missing",
        stderr=stderr,
    )
