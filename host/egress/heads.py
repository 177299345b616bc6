"""Heads of requests and answers: read strictly by h11, judged for odd framing, and written anew; no socket here."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import h11

from host.core.egress import Destination, Verdict, read_authority

Items = list[tuple[bytes, bytes]]
Fields = list[tuple[bytes, tuple[bytes, bytes]]]  # each with its name in lower case first, then as it was spelled
Event = h11.Request | h11.Response | h11.InformationalResponse
ABSOLUTE = re.compile(rb"http://([^/?#]*)(/[^#]*|\?[^#]*)?", re.IGNORECASE)
HOP = frozenset(  # RFC 9110, 7.6.1; and Host, which is made from the address
    (b"connection", b"host", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade")
)
FIELD = b"%s: %s\r\n"
NO_BODY = frozenset((204, 304))
REASONS = {
    400: b"Bad Request",
    403: b"Forbidden",
    431: b"Request Header Fields Too Large",
    501: b"Not Implemented",
    502: b"Bad Gateway",
    504: b"Gateway Timeout",
}
ERRORS = {  # of the Proxy-Status field, RFC 9209, 2.3
    "unresolved": b"dns_error",
    "connection_refused": b"connection_refused",
    "reset": b"connection_terminated",
    "timed_out": b"connection_timeout",
    "unreachable": b"destination_ip_unroutable",
}


class BadRequest(Exception):
    """A request that is not taken: `status` to answer with; the connection is closed after it."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(slots=True)
class Asked:
    """One request as it goes on. `body` reads what follows its head; None when nothing follows."""

    method: bytes
    target: bytes
    destination: Destination
    headers: Items
    keep_alive: bool
    http_10: bool
    body: h11.Connection | None

    @property
    def tunnel(self) -> bool:
        """Is it a CONNECT?"""
        return self.method == b"CONNECT"


def is_odd(head: bytes) -> bool:
    """May two readers read it differently? A bare CR or LF, a NUL, a folded line (RFC 9112, 5.2), no first line."""
    lines = head.count(b"\r\n")
    bare = lines != head.count(b"\r") or lines != head.count(b"\n")
    return bare or b"\0" in head or b"\n " in head or b"\n\t" in head or head.startswith(b"\r\n")


def read_request(head: bytes, most_bytes: int) -> Asked:
    """A request's head, up to and with its empty line. Raises BadRequest."""
    if is_odd(head):
        raise BadRequest(400, "the head of the request has lines that two readers may read differently")
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=most_bytes)
    try:
        parser.receive_data(head)
        event = parser.next_event()
        following = parser.next_event()
    except h11.RemoteProtocolError as problem:
        raise BadRequest(problem.error_status_hint, "the request cannot be read") from None
    if not isinstance(event, h11.Request):
        raise BadRequest(400, "there is no request")
    return _asked(event, None if isinstance(following, h11.EndOfMessage) else parser)


def _asked(event: h11.Request, body: h11.Connection | None) -> Asked:
    fields = fields_of(event)
    named = connection_names(fields)
    names = {name for name, _ in fields}
    version = bytes(event.http_version)
    if version not in (b"1.0", b"1.1"):
        raise BadRequest(400, "only HTTP/1.0 and HTTP/1.1 are spoken here")
    chunked = b"transfer-encoding" in names
    if chunked and (b"content-length" in names or version == b"1.0"):
        raise BadRequest(400, "the length of the request is given in two ways")
    method = bytes(event.method)
    if method == b"CONNECT":
        if body is not None or chunked:
            raise BadRequest(400, "a CONNECT has no body")
        destination, target = read_authority(bytes(event.target).decode("ascii"), None), bytes(event.target)
    else:
        destination, target = _absolute(bytes(event.target))
    if destination is None:
        raise BadRequest(400, "the request names no host that can be read")
    headers = [(b"Host", host_field(destination)), *kept(fields, named)]
    if chunked:
        headers.append((b"Transfer-Encoding", b"chunked"))
    keep_alive = version == b"1.1" and b"close" not in named
    return Asked(method, target, destination, headers, keep_alive, version == b"1.0", body)


def _absolute(target: bytes) -> tuple[Destination | None, bytes]:
    """Destination and origin form of an absolute http URI. Raises BadRequest."""
    match = ABSOLUTE.fullmatch(target)
    if match is None:
        raise BadRequest(400, "this is a proxy: it takes absolute http addresses, and CONNECT")
    path = match[2] or b"/"
    if not path.startswith(b"/"):
        path = b"/" + path
    return read_authority(match[1].decode("ascii"), 80), path


def framing(asked: Asked) -> Items:
    """The fields of a request that say how long its body is, and the one that h11 asks for."""
    if asked.body is None:
        return asked.headers[:1]
    lengths = (b"content-length", b"transfer-encoding")
    return [asked.headers[0], *(item for item in asked.headers if item[0].lower() in lengths)]


def request_head(asked: Asked) -> bytes:
    """The head on the line to the upstream."""
    lines = [b"%s %s HTTP/1.1\r\n" % (asked.method, asked.target), *map(FIELD.__mod__, asked.headers), b"\r\n"]
    return b"".join(lines)


def host_field(destination: Destination) -> bytes:
    """The Host field for a destination of plain http."""
    return (destination.name if destination.port == 80 else destination.place).encode("ascii")


def fields_of(event: Event) -> Fields:
    """The fields of a head; going through h11's own more than once is slow."""
    return list(zip([name for name, _ in event.headers], event.headers.raw_items(), strict=True))


def connection_names(fields: Fields) -> frozenset[bytes]:
    """What the Connection fields name, in lower case."""
    values = [value.lower() for name, (_, value) in fields if name in (b"connection", b"proxy-connection")]
    words = {word.strip(b" \t") for value in values for word in value.split(b",")}
    return frozenset(words - {b"content-length"})  # the length of a body is not for one hop


def kept(fields: Fields, named: frozenset[bytes], *others: bytes) -> Items:
    """The fields that go on, as they were spelled: none that is for one hop, nor Host, nor `others`."""
    drop = HOP | named | frozenset(others)
    return [item for name, item in fields if name not in drop and not name.startswith(b"proxy-")]


@dataclass(slots=True)
class Answered:
    """The head of an answer as it goes to the client, and how its body ends.

    `left_bytes` is the length of a counted body; None for a chunked one, -1 for one that the connection's end ends.
    """

    head: bytes
    left_bytes: int | None
    keep_alive: bool  # the upstream's connection
    close: bool  # the client's connection ends with this answer


def read_answer(event: h11.Response, asked: Asked) -> Answered:
    """The answer to `asked`, its head written anew."""
    fields = fields_of(event)
    named = connection_names(fields)
    lengths = [value for name, (_, value) in fields if name == b"content-length"]
    chunked = any(name == b"transfer-encoding" for name, _ in fields)
    status = 502 if event.status_code == 407 else event.status_code  # no site may make the browser ask for a password
    items = kept(fields, named, b"content-length")
    left_bytes: int | None = None
    if asked.method == b"HEAD" or status in NO_BODY:
        left_bytes = 0
        if lengths and not chunked and status != 204:
            items.append((b"Content-Length", lengths[0]))
    elif chunked:
        if not asked.http_10:
            items.append((b"Transfer-Encoding", b"chunked"))
    elif lengths:
        left_bytes = int(lengths[0])
        items.append((b"Content-Length", lengths[0]))
    else:
        left_bytes = -1
    keep_alive = event.http_version == b"1.1" and b"close" not in named and left_bytes != -1
    close = left_bytes == -1 or not asked.keep_alive
    if close:
        items.append((b"Connection", b"close"))
    return Answered(head_bytes(status, bytes(event.reason), items), left_bytes, keep_alive, close)


def informational(event: h11.InformationalResponse) -> bytes:
    """The head of a 1xx answer, such as 100 and 103."""
    fields = fields_of(event)
    return head_bytes(event.status_code, bytes(event.reason), kept(fields, connection_names(fields)))


def head_bytes(status: int, reason: bytes, items: Items) -> bytes:
    """A head on the line; the fields have been read by h11, or are ours."""
    return b"".join([b"HTTP/1.1 %d %s\r\n" % (status, reason), *map(FIELD.__mod__, items), b"\r\n"])


def refusal_page(verdict: Verdict) -> bytes:
    """The page for a person who sees why a place was not opened; no scripts, nothing from elsewhere."""
    place, reason = html.escape(verdict.place), html.escape(verdict.reason)
    how = f"<p>The owner opens it with <code>{html.escape(verdict.flag)}</code></p>" if verdict.flag else ""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Refused</title>"
        f"<h1>Refused</h1><p><b>{place}</b> {reason}.</p>{how}\n"
    ).encode()


def own_answer(status: int, kind: str, body: bytes, *, close: bool, head_only: bool = False) -> bytes:
    """An answer of the proxy's own: `body` is HTML."""
    error = ERRORS.get(kind, b"http_request_denied")
    items = [
        (b"Content-Type", b"text/html; charset=utf-8"),
        (b"Content-Length", b"%d" % len(body)),
        (b"Content-Security-Policy", b"default-src 'none'; sandbox"),
        (b"X-Content-Type-Options", b"nosniff"),
        (b"Cache-Control", b"no-store"),
        (b"Proxy-Status", b"capsdk; error=%s" % error),
    ]
    if close:
        items.append((b"Connection", b"close"))
    return head_bytes(status, REASONS[status], items) + (b"" if head_only else body)
