"""The page that opening is measured with: a few bytes from a thread of this process, on a loopback port of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"<!doctype html><title>t</title><link rel=icon href=data:,><p>hello"


class Handler(BaseHTTPRequestHandler):
    """Answers everything with the page."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body go out together: else the second waits for an acknowledgement of the first

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


class Server(ThreadingHTTPServer):
    """A Chromium that ends cuts its connections: no fault."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nobody reads it."""


@contextlib.contextmanager
def page_served() -> Iterator[str]:
    """The page's URL, for the time of a `with`."""
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5.0)
