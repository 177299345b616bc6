"""The synthetic site over real HTTP connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from capsdk.errors import InvalidArgumentError, NotFoundError
from host.sandbox.fixture import FixtureSite, parse_routes

ROUTES = """
[[route]]
path = "/items/{id}"
query = { page = "2" }
body = "second.json"

[[route]]
path = "/items/{id}"
body = "items/{id}.json"
headers = { X-Kind = "item", Content-Type = "application/problem+json" }

[[route]]
path = "/form"
method = "POST"
status = 302
headers = { Location = "/done" }

[[route]]
path = "/slow"
body = "index.html"
delay_ms = 200

[[route]]
path = "/for-ever"
delay_ms = 30000

[[route]]
path = "/gone"
status = 410
body = "no-such-file"

[[route]]
path = "/teapot"
status = 418
"""
FILES = {
    "routes.toml": ROUTES,
    "index.html": "<p>home",
    "sub/index.html": "<p>sub",
    "style.css": "p {}",
    "second.json": "[2]",
    "items/a.json": '{"a": 1}',
    "data.bin": "x",
    "a b.txt": "spaced",
}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    for name, content in FILES.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(content)
    (tmp_path / "secret.txt").write_text("secret")
    return site


@pytest.fixture
async def site(folder: Path) -> AsyncIterator[FixtureSite]:
    async with FixtureSite(folder) as served:
        yield served


async def talk(site: FixtureSite, sent: bytes) -> bytes:
    host, port = site.origin.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(sent)
        async with asyncio.timeout(5):
            return await reader.read()
    finally:
        writer.close()


async def ask(site: FixtureSite, target: str, method: str = "GET", body: bytes = b"") -> Reply:
    head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    raw, _, content = (await talk(site, head.encode() + body)).partition(b"\r\n\r\n")
    first, *lines = raw.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    assert int(headers["Content-Length"]) == len(content) or method == "HEAD"
    return Reply(int(first.split()[1]), headers, content)


ANSWERS = (  # method, target, status, body
    pytest.param("GET", "/", 200, b"<p>home", id="index"),
    pytest.param("GET", "/sub/", 200, b"<p>sub", id="index-of-a-folder"),
    pytest.param("GET", "/style.css?v=1", 200, b"p {}", id="file-with-a-query"),
    pytest.param("GET", "/a%20b.txt", 200, b"spaced", id="encoded-name"),
    pytest.param("HEAD", "/style.css", 200, b"", id="head"),
    pytest.param("GET", "/items/a", 200, b'{"a": 1}', id="part-of-the-path-names-the-file"),
    pytest.param("GET", "/items/a?page=2&x=1", 200, b"[2]", id="query-decides"),
    pytest.param("GET", "/items/zzz", 404, None, id="named-file-missing"),
    pytest.param("GET", "/items/a/b", 404, None, id="one-segment-only"),
    pytest.param("POST", "/form", 302, b"", id="method-decides"),
    pytest.param("GET", "/form", 404, None, id="other-method"),
    pytest.param("GET", "/gone", 404, None, id="route-to-a-missing-file"),
    pytest.param("GET", "/teapot", 418, b"", id="status-alone"),
    pytest.param("GET", "/routes.toml", 404, None, id="the-table-itself-is-not-served"),
    pytest.param("GET", "/nothing", 404, None, id="unknown"),
    pytest.param("GET", "/../secret.txt", 404, None, id="dots"),
    pytest.param("GET", "/%2e%2e/secret.txt", 404, None, id="encoded-dots"),
    pytest.param("GET", "/items/..%2f..%2fsecret.txt%00", 404, None, id="dots-in-a-parameter"),
    pytest.param("GET", "//etc/passwd", 404, None, id="absolute"),
    pytest.param("GET", "http://other.example/style.css", 200, b"p {}", id="absolute-form-as-a-proxy-sends-it"),
)


@pytest.mark.parametrize(("method", "target", "status", "body"), ANSWERS)
async def test_the_site_answers_by_route_then_by_file(
    site: FixtureSite, method: str, target: str, status: int, body: bytes | None
) -> None:
    reply = await ask(site, target, method)
    assert reply.status == status
    assert body is None or reply.body == body
    assert b"secret" not in reply.body or status == 404
    assert list(site.requests) == [(method, target)]


HEADERS = (
    pytest.param("/", "Content-Type", "text/html; charset=utf-8", id="by-name"),
    pytest.param("/data.bin", "Content-Type", "application/octet-stream", id="unknown-type"),
    pytest.param("/items/a", "Content-Type", "application/problem+json", id="route-wins"),
    pytest.param("/items/a", "X-Kind", "item", id="routes-own"),
    pytest.param("/", "Cache-Control", "no-store", id="not-cached"),
)


@pytest.mark.parametrize(("target", "name", "value"), HEADERS)
async def test_headers_are_the_files_and_the_routes(site: FixtureSite, target: str, name: str, value: str) -> None:
    assert (await ask(site, target)).headers[name] == value


async def test_a_posted_body_is_taken_and_a_redirect_named(site: FixtureSite) -> None:
    assert (await ask(site, "/form", "POST", b"x" * 100_000)).headers["Location"] == "/done"


async def test_a_delay_is_kept_and_does_not_hold_up_others(site: FixtureSite) -> None:
    began = time.monotonic()
    slow = asyncio.create_task(ask(site, "/slow"))
    await ask(site, "/")
    quick_s = time.monotonic() - began
    assert (await slow).status == 200
    assert quick_s < 0.2 <= time.monotonic() - began


GARBAGE = (
    pytest.param(b"hello\r\n\r\n", id="no-request"),
    pytest.param(b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", id="negative-length"),
    pytest.param(b"GET / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", id="huge-length"),
    pytest.param(b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", id="huge-target"),
    pytest.param(b"GET http://[/ HTTP/1.1\r\n\r\n", id="unreadable-target"),
)


@pytest.mark.parametrize("sent", GARBAGE)
async def test_garbage_is_a_bad_request_and_the_site_goes_on(site: FixtureSite, sent: bytes) -> None:
    assert (await talk(site, sent)).startswith(b"HTTP/1.1 400 ")
    assert (await ask(site, "/")).status == 200


async def test_closing_ends_what_is_under_way_within_a_second_and_may_be_done_twice(folder: Path) -> None:
    async with FixtureSite(folder) as site:
        waiting = asyncio.create_task(ask(site, "/for-ever"))
        silent = asyncio.create_task(talk(site, b""))
        await ask(site, "/")  # answered after the two connections were taken
        began = time.monotonic()
        await site.aclose()
        assert time.monotonic() - began < 1
    outcomes = await asyncio.gather(waiting, silent, return_exceptions=True)
    assert isinstance(outcomes[0], Exception)
    with pytest.raises(OSError, match="Connect"):
        await talk(site, b"")


BAD_ROUTES = (
    pytest.param("[[route]]\n", "path", id="no-path"),
    pytest.param('[[route]]\npath = "x"\n', "path", id="relative-path"),
    pytest.param('[[route]]\npath = "/"\nscript = "x.py"\n', "script", id="code"),
    pytest.param('[[route]]\npath = "/"\nheaders = { A = "b\\r\\nC: d" }\n', "headers", id="header-injection"),
    pytest.param('[[route]]\npath = "/"\ndelay_ms = 60000\n', "delay_ms", id="delay-too-long"),
    pytest.param('[routes]\npath = "/"\n', "routes", id="misspelt-table"),
    pytest.param("[[route]\n", "line 1", id="not-toml"),
)


@pytest.mark.parametrize(("text", "names"), BAD_ROUTES)
def test_a_bad_route_is_refused_by_its_key(text: str, names: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_routes(text.encode())
    assert caught.value.code == "MANIFEST_INVALID"
    assert names in caught.value.message


async def test_a_path_that_names_a_part_twice_is_refused(folder: Path) -> None:
    (folder / "routes.toml").write_text('[[route]]\npath = "/{a}/{a}"\n')
    with pytest.raises(InvalidArgumentError):
        await FixtureSite(folder).__aenter__()


async def test_a_link_out_of_the_site_is_refused(folder: Path) -> None:
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    with pytest.raises(InvalidArgumentError):
        await FixtureSite(folder).__aenter__()


async def test_an_app_without_a_site_is_told_what_fixture_needs(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        await FixtureSite(tmp_path / "none").__aenter__()
    assert caught.value.code == "APP_NOT_FOUND"


async def test_a_second_folder_is_another_origin_and_pages_know_both(folder: Path) -> None:
    other = folder.parent / "site-other"
    other.mkdir()
    (other / "index.html").write_text("{{SITE}}")
    (folder / "asks.js").write_text("{{SITE}} {{OTHER}} {{ELSE}}")
    (folder / "plain.txt").write_text("{{OTHER}}")
    async with FixtureSite(folder) as site:
        assert site.other is not None
        origins = [site.origin, site.other.origin]
        assert site.places == tuple(origin.removeprefix("http://") for origin in origins)
        assert (await ask(site, "/asks.js")).body.decode() == f"{origins[0]} {origins[1]} {{{{ELSE}}}}"
        assert (await ask(site, "/plain.txt")).body == b"{{OTHER}}"
        assert (await ask(site.other, "/")).body.decode() == origins[0]
        assert list(site.other.requests) == [("GET", "/")]


async def test_without_a_second_folder_there_is_one_place(site: FixtureSite) -> None:
    assert (site.other, len(site.places)) == (None, 1)


async def test_a_second_folder_that_cannot_be_served_leaves_nothing_listening(folder: Path) -> None:
    other = folder.parent / "site-other"
    other.mkdir()
    (other / "routes.toml").write_text("[[rout]]")
    made = FixtureSite(folder)
    with pytest.raises(InvalidArgumentError):
        await made.__aenter__()
    host, port = made.origin.removeprefix("http://").split(":")
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(host, int(port))
