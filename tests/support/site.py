"""A small site on loopback ports that the system chose, for tests on real Chromium; it counts what reaches it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

HELLO = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Hello</title><h1>Hello</h1>"
    "<script>console.log('hello from the page')</script>"
)


class Site:
    """Serves `pages/NAME.html` as `/NAME.html`, and the routes of `Handler`; `place` is HOST:PORT.

    `refused` is a port that is held and refuses connections; `hits` counts requests by path with query.
    """

    def __init__(self, pages: Path) -> None:
        self.pages = pages
        self.hits: Counter[str] = Counter()
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.site = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._closed_port = socket.socket()  # bound but not listening: nobody else gets it, and it refuses
        self._closed_port.bind(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._server.server_address[1]}"
        self.refused = f"127.0.0.1:{self._closed_port.getsockname()[1]}"
        self.url = f"http://{self.place}"

    @property
    def places(self) -> tuple[str, str]:
        """What `--allow-loopback` has to open."""
        return (self.place, self.refused)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._closed_port.close()
        self._thread.join(5.0)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    site: Site


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        site = self.server.site
        site.hits[self.path] += 1
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        page = site.pages / parts.path.lstrip("/")
        if parts.path == "/never":
            site.over.wait(60.0)
            self.close_connection = True
        elif parts.path == "/status":
            self._answer(int(query["code"]), f"<!doctype html><title>{query['code']}</title>")
        elif parts.path == "/redirect":
            self._answer(302, "", {"Location": query["to"]})
        elif parts.path == "/cookie":
            self._answer(200, HELLO, {"Set-Cookie": f"kept={query['value']}; Max-Age=86400; Path=/"})
        elif parts.path == "/echo":
            self._answer(200, self.path)
        elif parts.path.endswith(".html") and page.is_file():
            self._answer(200, page.read_text(encoding="utf-8"))
        elif parts.path in ("/", "/popup-target"):
            self._answer(200, HELLO)
        else:
            self._answer(404, "<!doctype html><title>Not there</title>")

    def _answer(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            with contextlib.suppress(ConnectionError):  # the browser may be gone by now
                self.wfile.write(body)
