"""Plain HTTP through the proxy's process: what goes on, what is taken out, and how a cut looks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from host.egress.egress import Egress
from tests.support.egress import Answer, Server, Talk, ok, proxied, talking

pytestmark = pytest.mark.asyncio(loop_scope="module")
MIB = 1024 * 1024


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def egress() -> AsyncIterator[Egress]:
    """One proxy for all tests here; each opens the places it needs."""
    async with proxied() as made:
        yield made


def playing(answer: bytes, *, close: bool = False) -> Callable[[Server, Talk], Awaitable[None]]:
    """A server that answers every request with these bytes."""

    async def play(server: Server, talk: Talk) -> None:
        while await server.request(talk):
            await talk.send(answer)
            if close:
                return

    return play


def request(server: Server, method: str = "GET", fields: str = "", path: str = "/") -> str:
    return f"{method} {server.url}{path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n"


async def test_what_is_meant_for_one_hop_is_taken_out_and_the_rest_goes_on_as_it_was_spelled(egress: Egress) -> None:
    fields = (
        "User-Agent: one\r\nX-b: 2\r\nx-A: 1\r\nX-b: 3\r\nConnection: keep-alive, X-Hop\r\nX-Hop: no\r\n"
        "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nKeep-Alive: 5\r\nTE: trailers\r\n"
        "Upgrade: h2c\r\nTrailer: x\r\nUpgrade-Insecure-Requests: 1\r\nCookie: a=1; b=2\r\n"
    )
    answer = (
        b"HTTP/1.1 200 Very Well\r\nX-b: 2\r\nx-A: 1\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\nConnection: X-Hop\r\n"
        b"X-Hop: no\r\nKeep-Alive: 5\r\nProxy-Authenticate: Basic\r\nProxy-Status: lie\r\nContent-Length: 2\r\n\r\nok"
    )
    async with Server(playing(answer)) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        got = await talk.ask(request(server, fields=fields, path="/p?q=%2e#"[:-1]))
        assert server.heads == [
            f"GET /p?q=%2e HTTP/1.1\r\nHost: {server.place}\r\nUser-Agent: one\r\nX-b: 2\r\nx-A: 1\r\nX-b: 3\r\n"
            "Upgrade-Insecure-Requests: 1\r\nCookie: a=1; b=2\r\n\r\n"
        ]
        assert got.fields == [
            ("X-b", "2"),
            ("x-A", "1"),
            ("set-cookie", "a=1"),
            ("Set-Cookie", "b=2"),
            ("Content-Length", "2"),
        ]
        assert got.body == b"ok"


ANSWERS = (  # method, what the server sends, status, body, whole?, is the client's connection used again?
    pytest.param("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", True, True, id="counted"),
    pytest.param("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, b"", True, True, id="empty"),
    pytest.param("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 200, b"", True, True, id="head"),
    pytest.param("HEAD", b"HTTP/1.1 200 OK\r\n\r\n", 200, b"", True, True, id="head-of-no-length"),
    pytest.param(
        "HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, b"", True, True, id="head-chunked"
    ),
    pytest.param("GET", b"HTTP/1.1 204 No\r\n\r\n", 204, b"", True, True, id="no-content"),
    pytest.param("GET", b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", 204, b"", True, True, id="no-content-lying"),
    pytest.param("GET", b"HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n", 304, b"", True, True, id="not-modified"),
    pytest.param(
        "GET",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n1\r\n!\r\n0\r\nX-Trailer: 1\r\n\r\n",
        200,
        b"ok!",
        True,
        True,
        id="chunked",
    ),
    pytest.param(
        "GET",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        200,
        b"ok",
        True,
        True,
        id="chunked-and-counted",
    ),
    pytest.param("GET", b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", True, True, id="http-1.0"),
    pytest.param(
        "GET", b"HTTP/1.1 407 Log in\r\nContent-Length: 0\r\n\r\n", 502, b"", True, True, id="asks-for-a-password"
    ),
    pytest.param(
        "GET",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        103,
        b"",
        True,
        True,
        id="early-hints",
    ),
    pytest.param(
        "GET", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 more", 200, b"ok", True, True, id="too-much"
    ),
)
CLOSING = (  # what the server sends before it closes, body, whole?
    pytest.param(b"HTTP/1.1 200 OK\r\n\r\nup to the end", b"up to the end", True, id="ended-by-the-close"),
    pytest.param(b"HTTP/1.0 200 OK\r\n\r\n", b"", True, id="empty-ended-by-the-close"),
    pytest.param(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", b"ok", True, id="counted"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", None, False, id="counted-cut"),
    pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ncut", None, False, id="chunk-cut"),
    pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ncut\r\n", None, False, id="chunks-cut"),
)


@pytest.mark.parametrize(("method", "sent", "status", "body", "whole", "again"), ANSWERS)
async def test_an_answer_arrives_as_it_was_meant(
    egress: Egress, method: str, sent: bytes, status: int, body: bytes, whole: bool, again: bool
) -> None:
    async with Server(playing(sent, close=sent.startswith(b"HTTP/1.0"))) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        for _ in range(2 if again else 1):  # the second over the same connection
            got = await talk.ask(request(server, method))
            assert (got.status, got.body, got.whole) == (status, body, whole)
            if status == 103:
                assert (await talk.answer()).body == b"ok"
        assert len(server.heads) == 2


@pytest.mark.parametrize(("sent", "body", "whole"), CLOSING)
async def test_an_answer_that_ends_with_the_connection_looks_whole_only_when_it_is(
    egress: Egress, sent: bytes, body: bytes | None, whole: bool
) -> None:
    async with Server(playing(sent, close=True)) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        got = await talk.ask(request(server))
        assert (got.status, got.whole) == (200, whole)
        if body is not None:
            assert got.body == body


async def test_a_reset_upstream_is_a_reset_for_the_client_even_where_the_close_is_the_end(egress: Egress) -> None:
    async def reset(server: Server, talk: Talk) -> None:
        await server.request(talk)
        await talk.send("HTTP/1.1 200 OK\r\n\r\nhalf")
        await asyncio.sleep(0.05)
        talk.reset()

    async with Server(reset) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        await talk.send(request(server))
        assert (await talk.head()).status == 200
        assert await talk.rest() is None


NO_ANSWERS = (
    pytest.param(b"", id="nothing"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-", id="half-a-head"),
    pytest.param(b"hello\r\n\r\n", id="no-http"),
    pytest.param(b"HTTP/1.1 200 OK\r\nbad line\r\n\r\n", id="a-line-without-a-colon"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", id="two-lengths"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nxx", id="negative-length"),
    pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", id="another-coding"),
    pytest.param(b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n", id="an-upgrade-nobody-asked-for"),
    pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300 * 1024 + b"\r\n\r\n", id="a-head-too-large"),
    pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300 * 1024, id="a-head-without-an-end"),
)


@pytest.mark.parametrize("sent", NO_ANSWERS)
async def test_an_upstream_that_gives_no_answer_gives_the_client_none(egress: Egress, sent: bytes) -> None:
    async with Server(playing(sent, close=True)) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        await talk.send(request(server))
        assert not await talk.rest()
        found = egress.explain(server.place)
        assert found is not None
        assert (found.kind, found.failed) == ("reset", True)


async def test_a_large_head_of_an_answer_goes_through(egress: Egress) -> None:
    sent = b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200 * 1024 + b"\r\nContent-Length: 2\r\n\r\nok"
    async with Server(playing(sent)) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        assert (await talk.ask(request(server))).body == b"ok"


async def test_a_closed_port_gives_no_answer_and_the_host_knows_why(egress: Egress) -> None:
    async with Server(ok) as server:
        place = server.place
    egress.set_places(frozenset((place,)))
    async with talking(egress.port) as talk, talking(egress.port) as other:
        await talk.send(f"GET http://{place}/ HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await talk.rest() == b""
        await other.send(f"CONNECT {place} HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await other.answer()).status == 502
        found = egress.explain(place)
        assert found is not None
        assert (found.kind, found.failed, found.flag) == ("connection_refused", True, "")


async def test_a_connection_that_the_upstream_closed_while_idle_is_not_told_as_a_failure(egress: Egress) -> None:
    async def one_then_gone(server: Server, talk: Talk) -> None:
        await server.request(talk)
        await talk.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        if server.connections == 1:
            await server.request(talk)  # reads the second request, and ends without an answer

    async with Server(one_then_gone) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        assert (await talk.ask(request(server))).body == b"ok"
        await talk.send(request(server))
        assert await talk.rest() == b""  # Chromium asks again, as with any connection it used before
        assert egress.explain(server.place) is None
        async with talking(egress.port) as again:
            assert (await again.ask(request(server))).body == b"ok"
            await asyncio.wait_for(server.gone.wait(), 2.0)
            assert (await again.ask(request(server))).body == b"ok"  # closed before it was asked: connected anew


SENT_BODIES = (
    pytest.param("Content-Length: 5\r\n", b"hello", id="counted"),
    pytest.param("Transfer-Encoding: chunked\r\n", b"2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\nX: y\r\n\r\n", id="chunked"),
)


@pytest.mark.parametrize(("fields", "body"), SENT_BODIES)
async def test_a_body_arrives_and_the_next_request_behind_it_too(egress: Egress, fields: str, body: bytes) -> None:
    async def echo(server: Server, talk: Talk) -> None:
        for _ in range(2):
            head = await server.request(talk)
            chunked = "Transfer-Encoding: chunked\r\n" in head
            got = b""
            if chunked:
                while size := int(await talk.reader.readuntil(b"\r\n"), 16):
                    got += (await talk.reader.readexactly(size + 2))[:-2]
                await talk.reader.readexactly(2)
            elif "Content-Length: 5" in head:
                got = await talk.reader.readexactly(5)
            await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(got), got))

    async with Server(echo) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        await talk.send(request(server, "POST", fields).encode() + body + request(server).encode())
        assert [(await talk.answer()).body for _ in range(2)] == [b"hello", b""]
        assert [head.split(" ")[0] for head in server.heads] == ["POST", "GET"]


async def test_an_answer_may_come_before_the_body_was_sent(egress: Egress) -> None:
    async def hasty(server: Server, talk: Talk) -> None:
        await server.request(talk)
        await talk.send("HTTP/1.1 100 Continue\r\n\r\n")
        assert await talk.reader.readexactly(3) == b"abc"
        await talk.send("HTTP/1.1 413 Enough\r\nContent-Length: 4\r\n\r\nmuch")
        await talk.rest()

    async with Server(hasty) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        assert (await talk.ask(request(server, "POST", "Content-Length: 10\r\nExpect: 100-continue\r\n"))).status == 100
        await talk.send(b"abc")
        got = await talk.answer()
        assert (got.status, got.body) == (413, b"much")
        assert await talk.rest() == b""


async def test_an_upload_that_is_cut_is_cut_for_the_upstream(egress: Egress) -> None:
    got: list[bytes | None] = []

    async def reads(server: Server, talk: Talk) -> None:
        await server.request(talk)
        got.append(await talk.rest())

    async with Server(reads) as server:
        egress.set_places(frozenset((server.place,)))
        async with talking(egress.port) as talk:
            await talk.send(request(server, "POST", "Transfer-Encoding: chunked\r\n").encode() + b"5\r\nhel")
            await asyncio.sleep(0.05)
        await asyncio.wait_for(server.gone.wait(), 2.0)
        assert not (got[0] or b"").endswith(b"0\r\n\r\n")


SMUGGLED = (  # what stands behind "POST http://PLACE/ HTTP/1.1\r\n", the status
    pytest.param(
        b"Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, id="both-lengths"
    ),
    pytest.param(
        b"Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400, id="both-other-order"
    ),
    pytest.param(b"Host: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", 400, id="two-lengths"),
    pytest.param(b"Host: x\r\nContent-Length: 5, 6\r\n\r\nhello!", 400, id="two-lengths-in-one"),
    pytest.param(b"Host: x\r\nContent-Length: +5\r\n\r\nhello", 400, id="length-with-a-sign"),
    pytest.param(b"Host: x\r\nContent-Length: 0x5\r\n\r\nhello", 400, id="length-in-hexadecimal"),
    pytest.param(b"Host: x\r\nContent-Length: \r\n\r\nhello", 400, id="length-empty"),
    pytest.param(b"Host: x\r\nContent-Length : 5\r\n\r\nhello", 400, id="space-before-the-colon"),
    pytest.param(b"Host: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, id="space-before-the-colon-chunked"),
    pytest.param(b"Host: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 501, id="two-codings"),
    pytest.param(b"Host: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501, id="coding-lookalike"),
    pytest.param(
        b"Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n", 501, id="coding-twice"
    ),
    pytest.param(b"Host: x\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", 400, id="coding-behind-a-vertical-tab"),
    pytest.param(b"Host: x\r\nX: a\r\n Content-Length: 5\r\n\r\nhello", 400, id="folded-line"),
    pytest.param(b"Host: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400, id="folded-coding"),
    pytest.param(b"Host: x\r\nX: a\rContent-Length: 5\r\n\r\nhello", 400, id="bare-cr"),
    pytest.param(b"Host: x\r\nX: a\nContent-Length: 5\r\n\r\nhello", 400, id="bare-lf"),
    pytest.param(b"Host: x\nContent-Length: 0\n\r\n\r\n", 400, id="bare-lf-everywhere"),
    pytest.param(b"Host: x\r\nX: a\x00b\r\n\r\n", 400, id="nul"),
    pytest.param(b"Host: x\r\nX\r\n\r\n", 400, id="line-without-a-colon"),
    pytest.param(b"Host: x\r\n: a\r\n\r\n", 400, id="field-without-a-name"),
    pytest.param(b"Host: x\r\nX y: a\r\n\r\n", 400, id="space-in-a-name"),
    pytest.param(b"Host: x\r\nHost: y\r\n\r\n", 400, id="two-hosts"),
    pytest.param(b"X: a\r\n\r\n", 400, id="no-host"),
)
HIDDEN_LENGTHS = (
    pytest.param("Connection: Content-Length\r\nContent-Length: 5\r\n", b"hello", id="counted"),
    pytest.param(
        "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n", id="chunked"
    ),
)


@pytest.mark.parametrize(("fields", "body"), HIDDEN_LENGTHS)
async def test_the_length_of_a_body_cannot_be_taken_away(egress: Egress, fields: str, body: bytes) -> None:
    async with Server(ok) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        await talk.send(request(server, "POST", fields).encode() + body)
        assert (await talk.answer()).status == 200
        assert "\r\nContent-Length: 5\r\n" in server.heads[0] or "Transfer-Encoding: chunked" in server.heads[0]


BAD_LINES = (  # the first line, the status
    pytest.param("GET / HTTP/1.1", 400, id="origin-form"),
    pytest.param("OPTIONS * HTTP/1.1", 400, id="asterisk-form"),
    pytest.param("GET https://{place}/ HTTP/1.1", 400, id="https"),
    pytest.param("GET ftp://{place}/ HTTP/1.1", 400, id="ftp"),
    pytest.param("GET ws://{place}/ HTTP/1.1", 400, id="ws"),
    pytest.param("GET //{place}/ HTTP/1.1", 400, id="no-scheme"),
    pytest.param("GET {place} HTTP/1.1", 400, id="authority-form"),
    pytest.param("GET http://user:pw@{place}/ HTTP/1.1", 400, id="credentials"),
    pytest.param("GET http://@{place}/ HTTP/1.1", 400, id="empty-credentials"),
    pytest.param("GET http://{place}\\@x.example/ HTTP/1.1", 400, id="backslash"),
    pytest.param("GET http://{place}/#fragment HTTP/1.1", 400, id="fragment"),
    pytest.param("GET http:/{place}/ HTTP/1.1", 400, id="one-slash"),
    pytest.param("GET http:///{place}/ HTTP/1.1", 400, id="three-slashes"),
    pytest.param("GET http:// HTTP/1.1", 400, id="no-host"),
    pytest.param("GET  http://{place}/ HTTP/1.1", 400, id="two-spaces"),
    pytest.param("GET http://{place}/ x HTTP/1.1", 400, id="space-in-the-target"),
    pytest.param("GET http://{place}/", 400, id="http-0.9"),
    pytest.param("GET http://{place}/ HTTP/2.0", 400, id="http-2.0"),
    pytest.param("GET http://{place}/ HTTP/1.2", 400, id="http-1.2"),
    pytest.param("GET http://{place}/ HTTP/1.1 ", 400, id="space-behind"),
    pytest.param("G(T http://{place}/ HTTP/1.1", 400, id="method"),
    pytest.param("\r\nGET http://{place}/ HTTP/1.1", 400, id="empty-line-before"),
    pytest.param("CONNECT http://{place}/ HTTP/1.1", 400, id="connect-to-a-url"),
    pytest.param("CONNECT 127.0.0.1 HTTP/1.1", 400, id="connect-without-a-port"),
    pytest.param("CONNECT {place} HTTP/1.1\r\nContent-Length: 5", 400, id="connect-with-a-body"),
    pytest.param("CONNECT {place} HTTP/1.1\r\nTransfer-Encoding: chunked", 400, id="connect-chunked"),
    pytest.param("POST http://{place}/ HTTP/1.0\r\nTransfer-Encoding: chunked", 400, id="http-1.0-chunked"),
    pytest.param("GET http://{place}/" + "a" * 70_000 + " HTTP/1.1", 431, id="target-too-long"),
    pytest.param("GET http://{place}/ HTTP/1.1\r\nX: " + "a" * 70_000, 431, id="field-too-long"),
    pytest.param("GET http://{place}/ HTTP/1.1" + "\r\nX: a" * 12_000, 431, id="too-many-fields"),
)


async def refused_and_closed(talk: Talk, data: bytes) -> Answer:
    talk.writer.write(data)
    answer = await talk.answer()
    assert not await talk.rest()
    return answer


@pytest.mark.parametrize(("rest", "status"), SMUGGLED)
async def test_a_request_that_two_readers_may_read_differently_is_not_sent_on(
    egress: Egress, rest: bytes, status: int
) -> None:
    async with Server(ok) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        hidden = request(server, path="/hidden").encode()
        got = await refused_and_closed(talk, b"POST %s/ HTTP/1.1\r\n" % server.url.encode() + rest + hidden)
        assert (got.status, server.connections) == (status, 0)


@pytest.mark.parametrize(("line", "status"), BAD_LINES)
async def test_a_request_that_is_none_for_a_proxy_is_refused(egress: Egress, line: str, status: int) -> None:
    async with Server(ok) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        first = line.replace("{place}", server.place)
        got = await refused_and_closed(talk, f"{first}\r\nHost: x\r\n\r\n".encode())
        assert (got.status, server.connections) == (status, 0)


ODD_BODIES = (
    pytest.param(b"5 \nhello\r\n0\r\n\r\n", id="bare-lf"),
    pytest.param(b"0x5\r\nhello\r\n0\r\n\r\n", id="hexadecimal-with-a-prefix"),
    pytest.param(b"-5\r\nhello\r\n0\r\n\r\n", id="negative"),
    pytest.param(b"5\r\nhello!\r\n0\r\n\r\n", id="longer-than-told"),
    pytest.param(b"5\r\nhelloXX0\r\n\r\n", id="no-end-of-chunk"),
    pytest.param(b"\r\nhello\r\n0\r\n\r\n", id="no-size"),
    pytest.param(b"5" * 30 + b"\r\nhello\r\n0\r\n\r\n", id="endless-size"),
    pytest.param(b"5;" + b"x" * 70_000, id="endless-extension"),
)


@pytest.mark.parametrize("body", ODD_BODIES)
async def test_a_body_in_odd_chunks_is_cut_off_and_nothing_behind_it_is_sent(egress: Egress, body: bytes) -> None:
    async def silent(server: Server, talk: Talk) -> None:
        while await server.request(talk):
            pass

    async with Server(silent) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        await talk.send(request(server, "POST", "Transfer-Encoding: chunked\r\n").encode() + body)
        assert (await talk.answer()).status == 400
        await asyncio.wait_for(server.gone.wait(), 2.0)
        assert [head.split(" ")[0] for head in server.heads] == ["POST"]


async def test_an_http_1_0_client_gets_an_answer_it_can_read(egress: Egress) -> None:
    sent = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    async with Server(playing(sent)) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        got = await talk.ask(f"GET {server.url}/ HTTP/1.0\r\nHost: x\r\n\r\n")
        assert (got.status, got.field("Transfer-Encoding"), got.body) == (200, None, b"ok")


@pytest.mark.parametrize("chunked", [False, True], ids=["counted", "chunked"])
async def test_a_body_of_200_mb_goes_through_and_a_slow_reader_stops_the_sender(egress: Egress, chunked: bool) -> None:
    size, block = 200 * MIB, bytes(range(256)) * 1024
    sent = 0

    async def large(server: Server, talk: Talk) -> None:
        nonlocal sent
        await server.request(talk)
        field = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size}"
        await talk.send(f"HTTP/1.1 200 OK\r\n{field}\r\n\r\n")
        for _ in range(size // len(block)):
            await talk.send(b"%x\r\n%b\r\n" % (len(block), block) if chunked else block)
            sent += len(block)
        await talk.send(b"0\r\n\r\n" if chunked else b"")

    async with Server(large) as server, talking(egress.port) as talk:
        egress.set_places(frozenset((server.place,)))
        await talk.send(request(server))
        held = -1
        while not sent or held != sent:  # nobody reads: the sender is stopped
            held = sent
            await asyncio.sleep(0.2)
        assert held < 24 * MIB
        got = 0
        while got < size and (data := await talk.reader.read(MIB)):
            got += len(data)
        assert (got >= size, sent) == (True, size)
