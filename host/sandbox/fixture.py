"""Serves an app's synthetic site on a loopback port: static files and a table of routes. It never runs code.

A second folder beside it, `site-other`, is served as another origin, for pages that ask elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import re
import tomllib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from capsdk.errors import InvalidArgumentError, NotFoundError

ROUTES = "routes.toml"
OTHER_FOLDER = "site-other"
FILLED = (".html", ".js", ".json")  # in these, {{SITE}} and {{OTHER}} become the two origins
HOST = "127.0.0.1"
MAX_FILES = 500
MAX_SITE_BYTES = 16 * 1024 * 1024
MAX_HEAD_BYTES = 32 * 1024
MAX_REQUEST_BODY_BYTES = 1024 * 1024
READ_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 1.0

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
STATUS_WORDS = {
    200: "OK",
    204: "No Content",
    301: "Moved Permanently",
    302: "Found",
    400: "Bad Request",
    404: "Not Found",
}


class Route(BaseModel):
    """One `[[route]]`: what is asked for, and what is answered. `{name}` in `path` is one segment, usable in `body`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    path: Annotated[str, Field(pattern=r"^/")]
    method: Annotated[str | None, Field(pattern=r"^[A-Z]+$")] = None
    query: dict[str, str] = Field(default_factory=dict)
    status: Annotated[int, Field(ge=200, le=599)] = 200
    headers: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")], Annotated[str, Field(pattern=r"^[ -~]*$")]] = (
        Field(default_factory=dict)
    )
    body: str | None = None
    delay_ms: Annotated[int, Field(ge=0, le=30_000)] = 0


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked for; `path` is decoded, `query` keeps the last value of a name."""

    method: str
    path: str
    query: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back."""

    status: int
    headers: dict[str, str]
    body: bytes
    delay_s: float = 0.0


class Site:
    """The folder in memory: a name that is not in it cannot be served, whatever a path says."""

    def __init__(self, files: dict[str, bytes], routes: list[Route]) -> None:
        self._files = files
        self._routes = [(route, _pattern(route.path)) for route in routes]

    def fill(self, origins: dict[str, str]) -> None:
        """Write the origins where `{{NAME}}` stands in pages, scripts and data; ports are not known before."""
        for name in [name for name in self._files if name.endswith(FILLED)]:
            for mark, origin in origins.items():
                self._files[name] = self._files[name].replace(b"{{%b}}" % mark.encode(), origin.encode())

    def answer(self, request: Request) -> Answer:
        """The first route that fits, else the file of that path, else 404."""
        for route, pattern in self._routes:
            found = pattern.fullmatch(request.path)
            if found and _fits(route, request):
                return self._routed(route, found.groupdict())
        name = request.path.removeprefix("/")
        if not name or name.endswith("/"):
            name += "index.html"
        if name in self._files:
            return Answer(200, {"Content-Type": _content_type(name)}, self._files[name])
        return _plain(404, f"no route and no file for {request.path}")

    def _routed(self, route: Route, values: dict[str, str]) -> Answer:
        body = b""
        headers = dict(route.headers)
        if route.body is not None:
            name = re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), route.body)
            if name not in self._files:
                return _plain(404, f"the route {route.path} names {name}, which is not in the site")
            body = self._files[name]
            headers = {"Content-Type": _content_type(name)} | headers
        return Answer(route.status, headers, body, route.delay_ms / 1000)


class FixtureSite:
    """`async with FixtureSite(folder) as site:` serves until the block ends; `site.origin` is where.

    With a folder `site-other` beside it, that one is served at `other.origin`. `places` are HOST:PORT of all that is
    served. `requests` keeps the last 1,000 as `(method, target)`. Raises NotFoundError APP_NOT_FOUND without a
    folder, InvalidArgumentError MANIFEST_INVALID for a site that cannot be served as it is.
    """

    def __init__(self, folder: Path) -> None:
        self.origin = ""
        self.other: FixtureSite | None = None
        self.requests: deque[tuple[str, str]] = deque(maxlen=1000)
        self._folder = folder
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._site = Site({}, [])

    @property
    def places(self) -> tuple[str, ...]:
        """What has to be opened for a browser to reach it."""
        return (self.origin.removeprefix("http://"), *(self.other.places if self.other else ()))

    async def __aenter__(self) -> Self:
        try:
            await self._listen()
            folder = self._folder.parent / OTHER_FOLDER
            if folder.is_dir() and self._folder.name != OTHER_FOLDER:
                self.other = FixtureSite(folder)
                await self.other._listen()
                self.other._site.fill({"SITE": self.origin, "OTHER": self.other.origin})
            self._site.fill({"SITE": self.origin, "OTHER": self.other.origin if self.other else self.origin})
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _listen(self) -> None:
        self._site = load_site(self._folder)
        self._server = await asyncio.start_server(self._connected, HOST, 0, limit=MAX_HEAD_BYTES)
        self.origin = f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}"

    async def aclose(self) -> None:
        """Stop listening and drop every connection, within a second; closing twice is fine."""
        if self.other is not None:
            await self.other.aclose()
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=CLOSE_TIMEOUT_S)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (TimeoutError, asyncio.CancelledError, OSError):
            pass  # a client that is slow or gone, or the end of the site
        finally:
            self._connections.discard(task)
            writer.transport.abort()  # what was to be sent has been sent, or has nobody to read it

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(READ_TIMEOUT_S):
            request = await self._read(reader)
        answer = (
            _plain(400, "not a request that this site understands") if request is None else self._site.answer(request)
        )
        await asyncio.sleep(answer.delay_s)
        head_only = request is not None and request.method == "HEAD"
        writer.write(_encoded(answer, head_only=head_only))
        async with asyncio.timeout(READ_TIMEOUT_S):
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader) -> Request | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return None
        first, *lines = head.split("\r\n")
        words = first.split(" ")
        length = _content_length(lines)
        if len(words) != 3 or not words[2].startswith("HTTP/1.") or length is None:
            return None
        self.requests.append((words[0], words[1]))
        try:
            await reader.readexactly(length)  # taken off the wire; a synthetic site has no use for it
            target = urlsplit(words[1])
        except (asyncio.IncompleteReadError, ValueError):
            return None
        return Request(words[0], unquote(target.path), dict(parse_qsl(target.query, keep_blank_values=True)))


def load_site(folder: Path) -> Site:
    """The site in `folder`. Raises as `FixtureSite` says."""
    if not folder.is_dir():
        raise NotFoundError(
            "APP_NOT_FOUND", f"there is no site in {folder}; --fixture needs tests/site in the app folder"
        )
    root = Path(os.path.realpath(folder))
    files: dict[str, bytes] = {}
    size_bytes = 0
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not Path(os.path.realpath(path)).is_relative_to(root):
            raise _invalid(f"tests/site/{name} is a link out of the site; copy the file")
        if path.is_file():
            size_bytes += path.stat().st_size
            if size_bytes > MAX_SITE_BYTES or len(files) >= MAX_FILES:
                raise _invalid(f"tests/site is over {MAX_SITE_BYTES} bytes or {MAX_FILES} files; make it smaller")
            files[name] = path.read_bytes()
    return Site(files, parse_routes(files.pop(ROUTES, b"")))


def parse_routes(content: bytes) -> list[Route]:
    """The routes of a `routes.toml`, in its order. Raises InvalidArgumentError MANIFEST_INVALID."""
    try:
        data = tomllib.loads(content.decode())
        unknown = sorted(set(data) - {"route"})
        if unknown:
            raise _invalid(f"routes.toml, {unknown[0]}: is not a key; write [[route]] tables")
        return [Route.model_validate(route) for route in data.get("route", [])]
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise _invalid(f"routes.toml is not TOML: {problem}; mend that line") from None
    except ValidationError as problem:
        first: Any = problem.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise _invalid(f"routes.toml, {key}: {first['msg']}; mend that route") from None


def _pattern(path: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", path)
    try:
        return re.compile(
            "".join(f"(?P<{piece}>[^/]+)" if odd % 2 else re.escape(piece) for odd, piece in enumerate(pieces))
        )
    except re.error as problem:
        raise _invalid(f"routes.toml, path {path}: {problem}; name each part once, with letters") from None


def _fits(route: Route, request: Request) -> bool:
    method = "GET" if request.method == "HEAD" else request.method
    return route.method in (None, method) and all(
        request.query.get(name) == value for name, value in route.query.items()
    )


def _content_length(lines: list[str]) -> int | None:
    for line in lines:
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            value = value.strip()
            return int(value) if value.isascii() and value.isdigit() and int(value) <= MAX_REQUEST_BODY_BYTES else None
    return 0


def _content_type(name: str) -> str:
    return CONTENT_TYPES.get(os.path.splitext(name)[1].lower(), "application/octet-stream")


def _plain(status: int, text: str) -> Answer:
    return Answer(status, {"Content-Type": CONTENT_TYPES[".txt"]}, text.encode())


def _encoded(answer: Answer, *, head_only: bool) -> bytes:
    own = {"Content-Length": str(len(answer.body)), "Cache-Control": "no-store", "Connection": "close"}
    named = {name.lower() for name in answer.headers}
    headers = answer.headers | {name: value for name, value in own.items() if name.lower() not in named}
    lines = [f"HTTP/1.1 {answer.status} {STATUS_WORDS.get(answer.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return head if head_only else head + answer.body


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError("MANIFEST_INVALID", message)
