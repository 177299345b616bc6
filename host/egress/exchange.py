"""One request and its answer between a client's wire and an upstream's; whether it may go there was decided before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import h11

from host.core.egress import Destination
from host.core.urls import Address
from host.egress.heads import Answered, Asked, framing, informational, read_answer, request_head
from host.egress.limits import Limits
from host.egress.wire import Wire


@dataclass(slots=True)
class Upstream:
    """A connection that was checked for one place, and may be used again for that place only."""

    wire: Wire
    wanted: Destination
    address: Address | None  # None: behind another proxy
    assigned: bool = False  # an interface of this machine has the address
    used: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """How an exchange ended. `failure` is a kind of NETWORK_KINDS when nothing was answered, "" else."""

    answered: bool
    client_goes_on: bool = False
    upstream_goes_on: bool = False
    failure: str = ""
    bad_request: bool = False
    rest: bytes = b""  # what the client sent beyond this request


class Exchange:
    """Sends one request and carries its answer back; `done` hears how it ended, once."""

    def __init__(
        self, client: Wire, upstream: Upstream, asked: Asked, limits: Limits, done: Callable[[Ending], None]
    ) -> None:
        self._client = client
        self._upstream = upstream.wire
        self._reused = upstream.used
        self._asked = asked
        self._limits = limits
        self._done: Callable[[Ending], None] | None = done
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=limits.response_head_bytes)
        self._answer: Answered | None = None
        self._heard = False  # any byte of an answer
        self._sent = asked.body is None
        self._rest = bytearray()
        self._since_s = client.last_s
        upstream.used = True

    def start(self) -> None:
        """Send the request."""
        asked = self._asked
        self._client.owner = self._upstream.owner = self
        # The parser needs what frames answer and body; h11 read all of the fields before, on their way in.
        self._parser.send(h11.Request(method=asked.method, target=b"/", headers=framing(asked)))
        self._upstream.write(request_head(asked))
        if asked.body is None:
            self._parser.send(h11.EndOfMessage())
        else:
            self._forward_body()

    def expired(self, now_s: float) -> bool:
        """Was there no answer, or silence, for too long? The exchange has then been ended."""
        last_s = max(self._since_s, self._client.last_s)
        if self._answer is not None:
            last_s = max(last_s, self._upstream.last_s)  # until then its bytes do not count: a head may be dribbled
        waiting = self._answer is None and self._sent
        if self._done is None or now_s - last_s < (self._limits.answer_s if waiting else self._limits.body_s):
            return False
        self._fail("timed_out")
        return True

    # --- the owner of two wires

    def received(self, wire: Wire, data: memoryview) -> None:
        """Bytes of the request's body, or of the answer."""
        if wire is self._upstream:
            self._heard = True
            if self._answer is not None and self._answer.left_bytes is not None:
                self._carry(data)
            else:
                self._parser.receive_data(bytes(data))
                self._read_answer()
        elif self._sent:
            self._rest += data
            if len(self._rest) > self._limits.request_head_bytes:
                wire.pause()
        else:
            assert self._asked.body is not None
            self._asked.body.receive_data(bytes(data))
            self._forward_body()

    def ended(self, wire: Wire) -> None:
        """The client is gone; or the upstream sent all it had."""
        if wire is self._client:
            self._finish(Ending(False))
        elif self._answer is not None and self._answer.left_bytes == -1:
            self._finish(Ending(True, client_goes_on=False))
        elif self._answer is None:
            self._fail("reset")
        else:
            if self._asked.http_10 and self._answer.left_bytes is None:
                self._client.abort()
            self._finish(Ending(True))  # cut short: the client counts, or misses the last chunk

    def lost(self, wire: Wire) -> None:
        """One side broke."""
        if wire is self._client:
            self._finish(Ending(False))
        else:
            self._fail("reset")

    def drained(self, wire: Wire) -> None:
        """A reader caught up."""
        (self._upstream if wire is self._client else self._client).resume()

    # --- the request's body

    def _forward_body(self) -> None:
        body = self._asked.body
        assert body is not None
        out = []
        try:
            while not self._sent:
                event = body.next_event()
                if isinstance(event, h11.Data):
                    out.append(self._parser.send(event) or b"")
                elif isinstance(event, h11.EndOfMessage):
                    out.append(self._parser.send(h11.EndOfMessage()) or b"")
                    self._sent = True
                    self._rest += body.trailing_data[0]
                else:
                    break
        except h11.ProtocolError:
            if self._answer is not None:
                self._client.abort()
            self._finish(Ending(self._answer is not None, bad_request=True))
            return
        if not self._upstream.write(b"".join(out)):
            self._client.pause()

    # --- the answer

    def _read_answer(self) -> None:
        out: list[bytes] = []
        over = False
        try:
            while not over:
                event = self._parser.next_event()
                if isinstance(event, h11.Data):
                    out.append(self._framed(bytes(event.data)))
                elif isinstance(event, h11.Response):
                    self._answer = read_answer(event, self._asked)
                    if len(self._answer.head) > self._limits.response_head_bytes:
                        self._answer = None
                        self._fail("reset")
                        return
                    out.append(self._answer.head)
                    if self._answer.left_bytes is not None:
                        break
                elif isinstance(event, h11.InformationalResponse):
                    if not self._asked.http_10:
                        out.append(informational(event))
                elif isinstance(event, h11.EndOfMessage):
                    out.append(b"" if self._asked.http_10 else b"0\r\n\r\n")
                    over = True
                else:
                    break
        except h11.ProtocolError:
            self._fail("reset")
            return
        if over:
            self._write(b"".join(out))
            self._complete(clean=not self._parser.trailing_data[0])
        elif self._answer is not None and self._answer.left_bytes is not None:
            self._carry(bytes(self._parser.trailing_data[0]), b"".join(out))
        elif out:
            self._write(b"".join(out))

    def _framed(self, data: bytes) -> bytes:
        return data if self._asked.http_10 else b"%x\r\n%b\r\n" % (len(data), data)

    def _carry(self, data: memoryview | bytes, head: bytes = b"") -> None:
        """Bytes of a body that needs no reading: counted, or up to the end of the connection."""
        answer = self._answer
        assert answer is not None
        assert answer.left_bytes is not None
        if answer.left_bytes < 0:
            self._write(head + data if head else data)
            return
        size = min(len(data), answer.left_bytes)
        extra = len(data) > size
        if extra:
            data = data[:size]
        answer.left_bytes -= size
        self._write(head + data if head else data)
        if not answer.left_bytes:
            self._complete(clean=not extra)

    def _write(self, data: memoryview | bytes) -> None:
        if not self._client.write(data):
            self._upstream.pause()

    def _complete(self, *, clean: bool) -> None:
        assert self._answer is not None
        self._finish(
            Ending(
                True,
                client_goes_on=self._sent and not self._answer.close,
                upstream_goes_on=clean and self._sent and self._answer.keep_alive,
            )
        )

    # --- the end

    def _fail(self, kind: str) -> None:
        if self._answer is not None:
            self._client.abort()
            self._finish(Ending(True))
        elif self._reused and not self._heard and kind == "reset":
            self._finish(Ending(False))  # it was closed while idle: the client asks again by itself
        else:
            self._finish(Ending(False, failure=kind))

    def _finish(self, ending: Ending) -> None:
        done, self._done = self._done, None
        if done is not None:
            if ending.client_goes_on and self._rest:
                ending = Ending(True, True, ending.upstream_goes_on, rest=bytes(self._rest))
            done(ending)
