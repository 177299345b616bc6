"""The proxy's process judges every request by itself, and connects to the addresses that it judged and to no others."""

from __future__ import annotations

import asyncio
import socket

import pytest

from host.egress.egress import Egress, Refusal
from tests.support.egress import PUBLIC, Server, Talk, ok, proxied, talking, world

pytestmark = pytest.mark.asyncio


def get(url: str) -> str:
    return f"GET {url} HTTP/1.1\r\nHost: whatever.example\r\n\r\n"


async def status(port: int | None, url: str) -> int:
    async with talking(port) as talk:
        return (await talk.ask(get(url))).status


async def tunnel(port: int | None, place: str) -> int:
    async with talking(port) as talk:
        await talk.send(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n")
        return (await talk.head()).status


def kind(egress: Egress, place: str) -> str:
    found = egress.explain(place)
    return found.kind if found else ""


async def test_each_request_of_a_kept_alive_connection_is_judged_by_itself() -> None:
    async with Server(ok) as open_one, Server(ok) as other, proxied((), open_one.place) as egress:
        async with talking(egress.port) as talk:
            seen = [
                (await talk.ask(get(f"{url}/{number}"))).status
                for number, url in enumerate((open_one.url, other.url, open_one.url, other.url, open_one.url))
            ]
        assert seen == [200, 403, 200, 403, 200]
        assert (len(open_one.heads), open_one.connections) == (3, 1)
        assert other.connections == 0
        egress.set_places(frozenset((open_one.place, other.place)))
        assert await status(egress.port, other.url) == 200  # the control: opened, it is reached


async def test_the_address_of_the_request_decides_and_the_host_field_is_made_from_it() -> None:
    async with Server(ok) as server, proxied((), server.place) as egress, talking(egress.port) as talk:
        lying = f"GET http://127.0.0.1:{egress.port}/ HTTP/1.1\r\nHost: {server.place}\r\n\r\n"
        assert (await talk.ask(lying)).status == 403
        assert (await talk.ask(get(f"http://0x7f.1:{server.port}/x?y=1"))).status == 200
        assert server.heads == [f"GET /x?y=1 HTTP/1.1\r\nHost: {server.place}\r\n\r\n"]


async def test_a_place_that_was_just_opened_is_reached_and_one_that_was_closed_is_cut_off() -> None:
    async def slow(server: Server, talk: Talk) -> None:
        await server.request(talk)
        await talk.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        await talk.rest()

    async with Server(slow) as server, proxied() as egress, talking(egress.port) as talk, talking(egress.port) as other:
        for _ in range(20):  # the table and the request race each other, and the table has to win
            egress.set_places(frozenset())
            assert await tunnel(egress.port, server.place) == 403
            egress.set_places(frozenset((server.place,)))
            assert await tunnel(egress.port, server.place) == 200
        await talk.send(get(server.url))
        await other.send(f"CONNECT {server.place} HTTP/1.1\r\nHost: x\r\n\r\n")
        assert ((await talk.head()).status, (await other.head()).status) == (200, 200)
        assert await talk.reader.readexactly(5) == b"begun"
        egress.set_places(frozenset())
        async with asyncio.timeout(5.0):
            assert not await talk.rest()
            assert not await other.rest()


async def test_a_name_is_resolved_once_and_the_checked_address_is_connected_to() -> None:
    async with Server(ok) as server:
        answers = {"turns.example": [[PUBLIC], ["127.0.0.1"], ["10.0.0.1"], [PUBLIC]]}
        program = world(answers, {f"{PUBLIC}:{server.port}": server.place})
        async with proxied(program) as egress, talking(egress.port) as talk:
            place = f"turns.example:{server.port}"
            url = f"http://{place}/"
            first = [await talk.ask(get(url)) for _ in range(3)]  # one connection: one lookup
            assert ([one.status for one in first], server.connections) == ([200, 200, 200], 1)
            kinds = []
            for _ in range(2):
                kinds.append((await status(egress.port, url), kind(egress, place)))
            assert kinds == [(403, "loopback"), (403, "inner")]
            assert await tunnel(egress.port, place) == 200  # the fourth answer: the control
            assert (await talk.ask(get(url))).status == 200  # the checked connection is still that
            assert server.connections == 2


ANSWERS = (  # name, its addresses, status, kind
    ("loopback.example", ["127.0.0.1"], 403, "loopback"),
    ("loopback-ipv6.example", ["::1"], 403, "loopback"),
    ("unspecified.example", ["0.0.0.0"], 403, "loopback"),
    ("mapped.example", ["::ffff:127.0.0.1"], 403, "loopback"),
    ("nat64.example", ["64:ff9b::7f00:1"], 403, "loopback"),
    ("6to4.example", ["2002:7f00:1::"], 403, "loopback"),
    ("private.example", ["10.0.0.7"], 403, "inner"),
    ("metadata.example", ["169.254.169.254"], 403, "inner"),
    ("carrier.example", ["100.64.0.1"], 403, "inner"),
    ("unique-local.example", ["fd00:ec2::254"], 403, "inner"),
    ("multicast.example", ["224.0.0.251"], 403, "inner"),
    ("this-machines-own.example", ["8.8.4.4"], 403, "own_address"),
    ("all-inner.example", ["127.0.0.1", "10.0.0.1", "::1"], 403, "loopback"),
    ("public.example", [PUBLIC], 200, ""),
    ("mixed-with-a-public-one.example", ["127.0.0.1", "10.0.0.7", PUBLIC], 200, ""),
)


async def test_only_public_answers_of_a_resolver_are_connected_to() -> None:
    async with Server(ok) as server:
        program = world(
            {name: [answer] for name, answer, _, _ in ANSWERS}, {PUBLIC: server.place}, assigned=["8.8.4.4"]
        )
        # The port is the server's: were a loopback address connected to, it would be counted.
        async with proxied(program) as egress:
            for name, _, expected, why in ANSWERS:
                place, before = f"{name}:{server.port}", len(server.heads)
                assert (await status(egress.port, f"http://{place}/"), kind(egress, place)) == (expected, why), name
                assert len(server.heads) - before == (expected == 200), name
                assert (await tunnel(egress.port, place), kind(egress, place)) == (expected, why), name
            assert server.connections <= 4


async def test_a_name_that_does_not_resolve_is_refused_in_time() -> None:
    program = world({"dead.example": [30.0]}, limits={"resolve_s": 0.3})
    async with proxied(program) as egress:
        async with asyncio.timeout(3.0):
            for name in ("gone.example", "dead.example"):
                assert await status(egress.port, f"http://{name}/") == 403
                assert await tunnel(egress.port, f"{name}:443") == 403
                assert (kind(egress, f"{name}:80"), kind(egress, f"{name}:443")) == ("unresolved", "unresolved")


async def test_the_hosts_own_ports_are_refused_by_every_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
        hosts = ("127.0.0.1", "localhost", "a.localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "back.example")
        places = [f"{host}:{port}" for host in hosts]
        normal = [*places[:4], f"[::ffff:7f00:1]:{port}", places[5]]
        program = world({"back.example": [["127.0.0.1"]]})
        async with proxied(program, *normal, own_ports=frozenset((port,))) as egress:
            for place, known in zip(places, normal, strict=True):
                assert (await tunnel(egress.port, place), kind(egress, known)) == (403, "own_port"), place
        async with proxied(program, *normal) as egress:
            assert [await tunnel(egress.port, place) for place in places] == [200] * len(places)
            itself = f"127.0.0.1:{egress.port}"
            egress.set_places(frozenset((itself,)))
            assert (await tunnel(egress.port, itself), kind(egress, itself)) == (403, "own_port")


async def test_a_refusal_is_a_page_that_names_place_and_flag_and_runs_nothing() -> None:
    async with proxied() as egress, talking(egress.port) as talk:
        answer = await talk.ask(get("http://printer:631/?<script>"))
        assert answer.status == 403
        text = answer.body.decode()
        assert "<b>printer:631</b>" in text
        assert "<code>--allow-host printer:631</code>" in text
        assert "?" not in text
        assert (answer.field("Content-Security-Policy"), answer.field("Cache-Control")) == (
            "default-src 'none'; sandbox",
            "no-store",
        )
        assert (answer.field("X-Content-Type-Options"), answer.field("Access-Control-Allow-Origin")) == (
            "nosniff",
            None,
        )
        head = await talk.ask("HEAD http://printer:631/ HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (head.status, head.field("Content-Length")) == (403, str(len(text.encode())))
        assert (await talk.ask(get("http://accounts.google.com/"))).status == 403  # the connection is still good
        assert kind(egress, "accounts.google.com:80") == "background"


async def test_the_host_hears_of_a_refusal_before_the_page_does() -> None:
    told: list[Refusal] = []
    async with proxied() as egress, talking(egress.port) as talk:
        egress.on_refused = told.append
        for number in range(50):
            place = f"10.0.0.1:{1000 + number % 10}"
            await talk.ask(get(f"http://{place}/secret?token=1"))
            found = egress.explain(place)
            assert found is not None
            assert (found.place, found.kind, found.flag, found.failed) == (
                place,
                "inner",
                f"--allow-host {place}",
                False,
            )
        assert egress.explain("10.0.0.1:999") is None
        assert {refusal.place for refusal in told} == {f"10.0.0.1:{1000 + number}" for number in range(10)}
        assert not any("secret" in repr(refusal) or "token" in repr(refusal) for refusal in told)


async def test_a_flood_of_refusals_is_counted_not_listed() -> None:
    told: list[Refusal] = []
    async with proxied(world(limits={"tell_s": 0.2})) as egress, talking(egress.port) as talk:
        egress.on_refused = told.append
        many = 2000
        await talk.send(get("http://10.0.0.1/") * many)
        for _ in range(many):
            await talk.answer()
        async with asyncio.timeout(3.0):
            while sum(refusal.count for refusal in told) < many:  # noqa: ASYNC110 - the last count is told in its time
                await asyncio.sleep(0.02)
        assert sum(refusal.count for refusal in told) == many
        assert len(told) < 20
        before = len(told)
        for port in range(1, 201):
            await talk.send(get(f"http://10.0.0.2:{port}/"))
        for _ in range(200):
            await talk.answer()
        await egress.close()
        assert sum(refusal.count for refusal in told[before:]) == 200
        assert len(told) - before <= 80  # 20 a second one by one, and a sum of the rest
