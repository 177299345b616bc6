"""Sites of many names in one server, which is the proxy behind the host's own: no name has to be resolved anywhere."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

# What the app may have; what is of its site and another origin; what is of another site; two that are secure contexts.
NAMES = {
    "shop": "shop.example",
    "cdn": "cdn.example",
    "pay": "pay.shop.example",
    "mail": "mail.example",
    "lshop": "shop.localhost",
    "lpay": "pay.shop.localhost",
    "lmail": "mail.localhost",
}
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came: `host` is the name alone."""

    host: str
    path: str
    query: str
    method: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What a path is answered with. Headers are pairs: some come twice. `halfway` is waited for in the middle."""

    body: str = ""
    status: int = 200
    kind: str = HTML
    headers: tuple[tuple[str, str], ...] = field(default=())
    halfway: threading.Event | None = None


Route = Answer | Callable[[Asked], Answer]


class OriginSites:
    """`origins` by the short names of `NAMES`; `hits` counts requests and `asked` keeps them, by host and path.

    What was not put anywhere is an empty page. The `.localhost` names are reached on the server's own port.
    """

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.sites = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._routes: dict[tuple[str, str], Route] = {}
        self.port = int(self._server.server_address[1])
        self.hits: Counter[tuple[str, str]] = Counter()
        self.asked: dict[tuple[str, str], Asked] = {}
        self.places = {
            short: f"{name}:{self.port if name.endswith('localhost') else 80}" for short, name in NAMES.items()
        }
        self.origins = {short: "http://" + place.removesuffix(":80") for short, place in self.places.items()}

    @property
    def upstream(self) -> str:
        """For the setting `upstream_proxy`."""
        return f"http://127.0.0.1:{self.port}"

    def filled(self, text: str) -> str:
        """A text with `{shop}` and so on as origins."""
        for short, origin in self.origins.items():
            text = text.replace("{" + short + "}", origin)
        return text

    def put(self, url: str, answer: str | Route) -> str:
        """Serve something at a URL, which is given back; in both, `{shop}` and so on become origins."""
        url = self.filled(url)
        parts = urlsplit(url)
        if isinstance(answer, str):
            answer = Answer(answer)
        if isinstance(answer, Answer):
            headers = tuple((name, self.filled(value)) for name, value in answer.headers)
            answer = Answer(self.filled(answer.body), answer.status, answer.kind, headers)
        self._routes[str(parts.hostname), parts.path or "/"] = answer
        return url

    def redirect(self, url: str, to: str, status: int = 302) -> str:
        """Serve a redirect; its URL."""
        return self.put(url, Answer("on the way", status, headers=(("Location", to),)))

    def hit(self, url: str) -> int:
        """How often this URL was asked for, whatever its query."""
        parts = urlsplit(self.filled(url))
        return self.hits[str(parts.hostname), parts.path or "/"]

    def hits_of(self, short: str) -> int:
        """How often this host was asked for anything."""
        return sum(count for (host, _), count in list(self.hits.items()) if host == NAMES[short])

    def answer(self, asked: Asked) -> Answer:
        """Count a request, and say what comes back."""
        self.hits[asked.host, asked.path] += 1
        self.asked[asked.host, asked.path] = asked
        route = self._routes.get((asked.host, asked.path), Answer("<!doctype html>"))
        return route if isinstance(route, Answer) else route(asked)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5.0)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    sites: OriginSites

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves in the middle is nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    tunnel = ""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""

    def do_CONNECT(self) -> None:
        """What comes next on this connection is for that place, such as the handshake of a WebSocket."""
        self.tunnel = self.path
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        place = parts.netloc or self.tunnel or self.headers.get("Host", "")
        host = place.rpartition(":")[0] if place.rpartition(":")[2].isdigit() else place
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(host, parts.path or "/", parts.query, self.command, headers, body)
        self._send(self.server.sites.answer(asked))

    do_POST = do_PUT = do_OPTIONS = do_GET

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        given = {name.lower() for name, _ in answer.headers}
        for name, value in (("Content-Type", answer.kind), ("Cache-Control", "no-store")):
            if name.lower() not in given:
                self.send_header(name, value)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(ConnectionError):  # the browser may be gone by now
                if answer.halfway is not None:
                    self.wfile.write(body[: len(body) // 2])
                    answer.halfway.wait(10.0)
                    body = body[len(body) // 2 :]
                self.wfile.write(body)
