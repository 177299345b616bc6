"""The proxy's end of the line to the host: the table comes in, refusals go out; no paths and no page's text on it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from host.egress.limits import Limits

READ_BYTES = 65536
MOST_PLACES = 1024  # of which the telling is remembered
MOST_UNSENT_BYTES = 256 * 1024


@dataclass(slots=True)
class Told:
    """What the host was last told about one place, and how often it happened since."""

    kind: str
    reason: str
    flag: str
    at_s: float
    more: int = 0


class Channel:
    """Reads the host's lines and tells it of troubles: a place's first at once, going on at most once in `tell_s`.

    `on_line` gets each line; `on_end` is called when the host is gone.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        limits: Limits,
        on_line: Callable[[dict[str, Any]], None],
        on_end: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._limits = limits
        self._on_line = on_line
        self._on_end = on_end
        self._in = b""
        self._out = bytearray()
        self._told: dict[str, Told] = {}
        self._untold = 0
        self._timer: asyncio.TimerHandle | None = None
        sock.setblocking(False)
        loop.add_reader(sock, self.poll)

    def poll(self) -> None:
        """Take in all that is waiting."""
        while True:
            try:
                data = self._sock.recv(READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if not data:
                self._loop.remove_reader(self._sock)
                self._on_end()
                return
            *lines, self._in = (self._in + data).split(b"\n")
            for line in lines:
                self._on_line(json.loads(line))

    def tell(self, place: str, kind: str, reason: str, flag: str) -> None:
        """Tell of one trouble, before its answer goes out. What is the same as just told is counted and told later."""
        now_s = self._loop.time()
        told = self._told.get(place)
        if told is not None and told.kind == kind and now_s - told.at_s < self._limits.tell_s:
            told.more += 1
            self._wake()
            return
        if told is not None:
            self._flush_one(place, told)
            del self._told[place]  # put behind the others
        elif len(self._told) >= MOST_PLACES:
            oldest = next(iter(self._told))
            self._flush_one(oldest, self._told.pop(oldest))
        self._told[place] = Told(kind, reason, flag, now_s)
        self.send({"place": place, "kind": kind, "reason": reason, "flag": flag, "count": 1})

    def forget(self) -> None:
        """The table has changed, and the host remembers nothing of places that it opened: tell of each anew."""
        for place, told in self._told.items():
            self._flush_one(place, told)
        self._told.clear()

    def _wake(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._limits.tell_s, self._flush)

    def _flush(self) -> None:
        self._timer = None
        now_s = self._loop.time()
        for place, told in list(self._told.items()):
            if now_s - told.at_s < self._limits.tell_s:
                if told.more:
                    self._wake()
            elif told.more:
                self._flush_one(place, told)
                told.at_s = now_s
            else:
                del self._told[place]

    def _flush_one(self, place: str, told: Told) -> None:
        if told.more:
            self.send({"place": place, "kind": told.kind, "reason": told.reason, "flag": told.flag, "count": told.more})
            told.more = 0

    def send(self, line: dict[str, Any]) -> None:
        """Send one line now, or as soon as the host reads; what it does not read is counted."""
        if len(self._out) > MOST_UNSENT_BYTES:
            self._untold += int(line.get("count", 1))
            return
        waiting = bool(self._out)
        self._out += json.dumps(line).encode() + b"\n"
        if not waiting:
            self._write()

    def _write(self) -> None:
        try:
            sent = self._sock.send(self._out)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            return  # the host is gone, which reading tells
        del self._out[:sent]
        if self._out:
            self._loop.add_writer(self._sock, self._write)
            return
        self._loop.remove_writer(self._sock)
        if self._untold:
            count, self._untold = self._untold, 0
            self.send({"place": "", "kind": "many", "reason": "other refusals, not listed", "flag": "", "count": count})
