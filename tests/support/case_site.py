"""Serves the pages of `tests/cases` as two sites, so that frames between them run in processes of their own."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, unquote, urlsplit

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
KINDS = {"js": "text/javascript"}
ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}


class CaseSite:
    """`main` is http://127.0.0.1:PORT and `other` http://localhost:PORT: two sites, for Chromium, of one folder.

    `/NAME/FILE` is a file, `/NAME/` its page.html; in it `{{MAIN}}` and `{{OTHER}}` are filled in; headers.json beside
    it holds headers by file. `/_/…` are routes.
    """

    def __init__(self, pages: Path) -> None:
        self.pages = pages
        self._servers = [_Server(("127.0.0.1", 0), Handler) for _ in range(2)]
        ports = [server.server_address[1] for server in self._servers]
        self.places = (f"127.0.0.1:{ports[0]}", f"localhost:{ports[1]}")
        self.main, self.other = (f"http://{place}" for place in self.places)
        self._threads = [threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True) for one in self._servers]
        for server in self._servers:
            server.site = self

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server, thread in zip(self._servers, self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join(5.0)

    def file(self, path: str) -> bytes | None:
        """A file with its marks filled in; None when there is none."""
        found = self._place(path)
        if not found.is_relative_to(self.pages.resolve()) or not found.is_file():
            return None
        text = found.read_text(encoding="utf-8")
        return text.replace("{{MAIN}}", self.main).replace("{{OTHER}}", self.other).encode()

    def headers(self, path: str) -> dict[str, str]:
        """What headers.json says of a file; nothing when there is none."""
        found = self._place(path)
        beside = found.with_name("headers.json")
        if not beside.is_relative_to(self.pages.resolve()) or not beside.is_file():
            return {}
        return dict(json.loads(beside.read_text(encoding="utf-8")).get(found.name, {}))

    def _place(self, path: str) -> Path:
        return (self.pages / (path.lstrip("/") + ("page.html" if path.endswith("/") else ""))).resolve()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    site: CaseSite

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves in the middle is nothing to tell."""


class Handler(BaseHTTPRequestHandler):
    """One request; routes are `/_/NAME`."""

    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        """Any method."""
        parts = urlsplit(self.path)
        self.asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(parts.path)
        route = getattr(self, f"_{path[3:]}", None) if path.startswith("/_/") else None
        if route is not None:
            route()
            return
        content = self.server.site.file(path)
        kind = KINDS.get(path.rpartition(".")[2], "text/html; charset=utf-8")
        self._answer(404 if content is None else 200, content or b"not here", kind, self.server.site.headers(path))

    do_POST = do_HEAD = do_OPTIONS = do_GET

    def _answer(
        self, status: int, body: bytes = b"", kind: str = "text/plain", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        has_body = status != 204
        length = {"Content-Type": kind, "Content-Length": str(len(body))} if has_body else {}
        for name, value in ({"Cache-Control": "no-store"} | length | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        if has_body and self.command != "HEAD":
            self.wfile.write(body)

    # --- routes

    def _status(self) -> None:
        self._answer(int(self.asked["code"]), self.asked.get("body", "").encode())

    def _redirect(self) -> None:
        """To `to`, after n=N hops in all."""
        left, to = int(self.asked.get("n", "1")), self.asked["to"]
        if left > 1:
            to = f"/_/redirect?n={left - 1}&to={quote(to, safe='')}"
        self._answer(302, self.asked.get("body", "moved").encode(), headers={"Location": to})

    def _echo(self) -> None:
        made = {"path": self.path, "method": self.command, "body": self.sent.decode()}
        self._answer(200, json.dumps(made).encode(), "application/json")

    def _json(self) -> None:
        """An array of about bytes=N characters."""
        rows = (
            f'{{"n":{n:07d},"word":"quince"}}' for n in range(1_000_000, 1_000_000 + int(self.asked["bytes"]) // 27)
        )
        self._answer(200, f"[{','.join(rows)}]".encode(), "application/json")

    def _bytes(self) -> None:
        self._answer(200, bytes(n % 256 for n in range(int(self.asked["n"]))), "application/octet-stream")

    def _png(self) -> None:
        self._answer(200, PNG, "image/png")

    def _gzip(self) -> None:
        packed = gzip.compress(json.dumps({"packed": True, "note": "café ☕"}).encode())
        self._answer(200, packed, "application/json", {"Content-Encoding": "gzip"})

    def _cors(self) -> None:
        """JSON behind a preflight; deny=1 refuses that."""
        if self.command != "OPTIONS":
            made = {"got": self.sent.decode(), "method": self.command}
            self._answer(200, json.dumps(made).encode(), "application/json", ANY_ORIGIN)
        elif "deny" in self.asked:
            self._answer(204)
        else:
            allowed = {"Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "content-type"}
            self._answer(204, headers=ANY_ORIGIN | allowed)

    def _cut(self) -> None:
        """Promises 5,000 bytes and ends after 1,000."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(b"c" * 1000)
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True
