"""Several sites on loopback ports for tests with frames: any test puts its pages there; it keeps what was posted."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

# Addresses are sites of their own for Chromium, ports are not: `a` and `near` are two origins of one site.
HOSTS = {"a": "127.0.0.1", "near": "127.0.0.1", "b": "127.0.0.2", "c": "127.0.0.3"}


class FrameSites:
    """`origins` by the names of `HOSTS`; every page is served by all of them."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[dict[str, str], bytes]] = {}
        self.hits: Counter[str] = Counter()
        self.headers: dict[str, dict[str, str]] = {}
        self.posts: list[tuple[str, str]] = []
        self.over = threading.Event()
        self._numbers = itertools.count(1)
        self._servers = {name: _Server((host, 0), _Handler) for name, host in HOSTS.items()}
        self._threads = []
        for server in self._servers.values():
            server.sites = self
            self._threads.append(threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True))
        self.places = tuple(f"{HOSTS[name]}:{server.server_address[1]}" for name, server in self._servers.items())
        self.origins = {name: f"http://{place}" for name, place in zip(HOSTS, self.places, strict=True)}

    def put(self, text: str, kind: str = "text/html; charset=utf-8", **headers: str) -> str:
        """Serve a text; its path. `{a}`, `{b}` and so on in it become origins."""
        for name, origin in self.origins.items():
            text = text.replace("{" + name + "}", origin)
        path = f"/{next(self._numbers)}"
        self.pages[path] = ({"Content-Type": kind, **headers}, text.encode())
        return path

    def page(self, site: str, text: str, **headers: str) -> str:
        """Serve a page; its URL at this site."""
        return self.origins[site] + self.put(f"<!doctype html>{text}", **headers)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        for server in self._servers.values():
            server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join(5.0)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    sites: FrameSites

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error: it gives up what it may not download."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        sites = self.server.sites
        path = self.path.partition("?")[0]
        sites.hits[path] += 1
        sites.headers[path] = dict(self.headers.items())
        if path == "/slow":
            sites.over.wait(0.4)
        headers, body = sites.pages.get(path, ({"Content-Type": "text/html"}, b"<!doctype html>nothing here"))
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the browser may be gone by now
            self.wfile.write(body)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        self.server.sites.posts.append((self.path, body))
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


def pause() -> None:
    """A moment in which something that must not happen would."""
    time.sleep(0.3)
