"""Serves the set's pages, each frame from another origin, on two loopback ports of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from bench.page import Server
from bench.redaction.pages import FAR


class Site:
    """What is served now: `documents` by path. `near` and `far` are the two places, as HOST:PORT."""

    def __init__(self) -> None:
        self.documents: dict[str, bytes] = {}
        self.near = self.far = ""

    @property
    def places(self) -> tuple[str, str]:
        """What `--allow-loopback` has to open."""
        return (self.near, self.far)

    def put(self, key: str, document: str, far: str = "") -> str:
        """Serve a document, and one from elsewhere for its frame; the URL."""
        frame = f"http://{self.far}/frame-{key}"
        self.documents = {
            f"/{key}": document.replace(FAR, frame).encode(),
            f"/frame-{key}": far.encode(),
        }
        return f"http://{self.near}/{key}"


@contextlib.contextmanager
def site() -> Iterator[Site]:
    """One for the time of a `with`."""
    served = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            body = served.documents.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    servers = [Server(("127.0.0.1", 0), Handler) for _ in range(2)]
    threads = [threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True) for one in servers]
    for thread in threads:
        thread.start()
    served.near, served.far = (f"127.0.0.1:{one.server_address[1]}" for one in servers)
    try:
        yield served
    finally:
        for one in servers:
            one.shutdown()
            one.server_close()
        for thread in threads:
            thread.join(5.0)
