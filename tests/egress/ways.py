"""The ways out of a page (`pages/ways.html`), where they lead to, and the site that serves a page for each."""

from __future__ import annotations

import re
import ssl
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

from tests.support.forbidden import MAIN

PAGES = Path(__file__).parent / "pages"
SECTION = re.compile(r"^<!-- ([a-z0-9-]+)(?:: ([a-z ]+))?((?:\n +[A-Z][A-Za-z-]*: .*)*) -->$", re.MULTILINE)
NEEDS = frozenset({"alone", "click", "maybe", "own", "some", "tls", "top"})
CERTIFICATE = PAGES / "site.pem"
CERTIFICATE_SPKI = "hJfhA0cwShMMq8HokFCuNayhLJRTeawOyTLxCj4ePmI="  # SHA-256 of its public key
HTML = "text/html; charset=utf-8"
ALLOWED = "; ".join(  # what a page may let the frames of another origin do
    f"{feature} *"
    for feature in (
        "attribution-reporting",
        "deferred-fetch",
        "geolocation",
        "identity-credentials-get",
        "join-ad-interest-group",
        "payment",
        "run-ad-auction",
    )
)


@dataclass(frozen=True, slots=True)
class Way:
    """One section of `ways.html`; what it `needs` is told there."""

    name: str
    needs: frozenset[str]
    headers: tuple[tuple[str, str], ...]
    page: str

    @property
    def has_tab(self) -> bool:
        """Does it need a tab of its own?"""
        return not self.needs.isdisjoint({"click", "top"})

    @property
    def is_alone(self) -> bool:
        """Has each target a page of its own?"""
        return not self.needs.isdisjoint({"alone", "click"})


@dataclass(frozen=True, slots=True)
class Target:
    """A place that is not opened: `host` as in a URL, `name` as the report shows it."""

    key: str
    host: str

    @property
    def name(self) -> str:
        """The host, or what it stands for where that differs from machine to machine."""
        return "own address" if self.key == "own" else self.host


@dataclass(frozen=True, slots=True)
class Page:
    """A page of one way, for one `target`, or for all when that is empty."""

    way: Way
    target: str
    path: str


def read_ways(path: Path = PAGES / "ways.html") -> tuple[Way, ...]:
    """All ways, in the order of the file."""
    text = path.read_text(encoding="utf-8")
    marks = list(SECTION.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    ways = []
    for mark, end in zip(marks, ends, strict=True):
        headers = tuple((name, value) for name, _, value in (_header(line) for line in mark[3].strip().splitlines()))
        ways.append(Way(mark[1], frozenset((mark[2] or "").split()), headers, text[mark.end() : end].strip() + "\n"))
    assert len({way.name for way in ways}) == len(ways) == text.count("\n<!-- ")
    assert all(way.needs <= NEEDS for way in ways)
    return tuple(ways)


def _header(line: str) -> tuple[str, str, str]:
    return line.strip().partition(": ")


def own_ports(ways: Iterable[Way], targets: Iterable[Target]) -> list[str]:
    """The names of the ports that ways without a path need, one for each target."""
    return [f"{way.name}/{target.key}" for way in ways if "own" in way.needs for target in targets]


class WaySite:
    """Serves a page for each way on two ports of 127.0.0.1, which are all that is open: by http and by https.

    `/frames` holds all ways that work in a frame, `/way/NAME/TARGET` is one; `loads` counts what was served.
    """

    def __init__(self, ways: Iterable[Way], targets: Iterable[Target], ports: Mapping[str, int]) -> None:
        self.ways = {way.name: way for way in ways}
        self.targets = {target.key: target for target in targets}
        self.ports = ports
        self.loads: Counter[str] = Counter()
        self._servers = [_Server(("127.0.0.1", 0), _Handler) for _ in range(2)]
        for server in self._servers:
            server.site = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        secure = self._servers[1]
        secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
        self._threads = [threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True) for one in self._servers]
        self.places = tuple(f"127.0.0.1:{server.server_address[1]}" for server in self._servers)
        self.origin = f"http://{self.places[0]}"
        self.secure_origin = f"https://{self.places[1]}"

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

    @property
    def pages(self) -> list[Page]:
        """Every page there is."""
        found = []
        for way in self.ways.values():
            for key in self.targets if way.is_alone else ("",):
                found.append(Page(way, key, f"/way/{way.name}/{key}" if key else f"/way/{way.name}"))
        return found

    @property
    def frames(self) -> list[str]:
        """The URLs of the pages that `/frames` holds."""
        origins = {True: self.secure_origin, False: self.origin}
        return [origins["tls" in page.way.needs] + page.path for page in self.pages if not page.way.has_tab]

    @property
    def forbidden_places(self) -> list[str]:
        """All places that no page may reach."""
        return sorted({self.place_of(way, key) for way in self.ways for key in self.targets})

    def place_of(self, way: str, target: str) -> str:
        """HOST:PORT where a hit of this way to this target would be counted."""
        port = self.ports[f"{way}/{target}" if "own" in self.ways[way].needs else MAIN]
        return f"{self.targets[target].host}:{port}"

    def fill(self, text: str, way: str, target: str) -> str:
        """Put a target where a text has its marks."""
        place = self.place_of(way, target)
        hit = f"http://{place}/{way}/{target}"
        host, _, port = place.rpartition(":")
        marks = {
            "hit": hit,
            "code": quote(hit, safe=""),
            "place": place,
            "bare": host.strip("[]"),
            "port": port,
            "name": way,
            "target": target,
        }
        return re.sub(r"\{\{(\w+)\}\}", lambda mark: marks[mark[1]], text)

    def answer(self, path: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and body for a path with its query."""
        parts = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        url = asked.get("url", "")
        if parts.path == "/frames":
            rows = (
                f'<iframe src="{page}" width="90" height="40" allow="{ALLOWED}"></iframe>\n' for page in self.frames
            )
            return 200, {"Content-Type": HTML}, f"<!doctype html><title>frames</title>\n{''.join(rows)}"
        if parts.path.startswith("/way/"):
            return self._way(*parts.path.split("/")[2:])
        if parts.path == "/to":
            hops = int(asked.get("hops", "1"))
            again = f"/to?status={asked['status']}&hops={hops - 1}&url={quote(url, safe='')}"
            return int(asked["status"]), {"Location": again if hops > 1 else url}, ""
        made = {
            "/import.css": ("text/css", f'@import url("{url}");'),
            "/import.xsl": ("text/xsl", XSL.replace("URL", url)),
            "/list.m3u8": ("application/vnd.apple.mpegurl", PLAYLIST.replace("URL", url)),
            "/manifest.json": ("application/manifest+json", MANIFEST.replace("URL", url)),
            "/worker-module.js": ("text/javascript", f'import "{url}";'),
            "/worker.js": ("text/javascript", (PAGES / "worker.js").read_text(encoding="utf-8")),
        }
        if parts.path in made:
            kind, body = made[parts.path]
            return 200, {"Content-Type": kind, "Service-Worker-Allowed": "/"}, body
        found = parts.path == "/blank" or parts.path.startswith("/scope/")
        return 200 if found else 404, {"Content-Type": HTML}, "<!doctype html><title>blank</title>"

    def _way(self, name: str, target: str = "") -> tuple[int, dict[str, str], str]:
        way = self.ways[name]
        keys = [target] if target else list(self.targets)
        headers = {"Content-Type": HTML}
        style = "<style>a { position: fixed; inset: 0 }</style>\n" if "click" in way.needs else ""
        for header, value in way.headers:
            headers[header] = ", ".join(self.fill(value, name, key) for key in keys)
        head = f"<!doctype html><title>{name}</title>\n{style}" if headers["Content-Type"] == HTML else ""
        return 200, headers, head + "".join(self.fill(way.page, name, key) for key in keys)


XSL = (
    '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">'
    '<xsl:import href="URL"/></xsl:stylesheet>'
)
PLAYLIST = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.0,\nURL\n#EXT-X-ENDLIST\n"
MANIFEST = (
    '{"name": "a", "short_name": "a", "start_url": "/blank", "display": "standalone",'
    ' "icons": [{"src": "URL", "sizes": "192x192", "type": "image/png"}]}'
)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    site: WaySite

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves in the middle is nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        """Any method."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, body = self.server.site.answer(self.path)
        self.server.site.loads[self.path] += 1
        self.send_response(status)
        for name, value in ({"Cache-Control": "no-store", "Content-Length": str(len(body.encode()))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    do_POST = do_GET
