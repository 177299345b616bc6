"""The proxy's process under faults: slow and dead upstreams, half-open clients, a kill, a host that is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

from capsdk.errors import UnavailableError
from host.egress import egress as module
from host.egress.egress import Egress, EgressConfig
from tests.support.egress import PUBLIC, Server, Talk, ok, proxied, talking, world
from tests.support.processes import alive, read, stat_fields, uids, wait_until

QUICK = {
    "head_s": 0.4,
    "idle_s": 0.4,
    "answer_s": 0.4,
    "body_s": 0.4,
    "tunnel_s": 0.4,
    "connect_s": 0.4,
    "sweep_s": 0.05,
}
PROXY_UID = 64192


async def held(server: Server, talk: Talk) -> None:
    """Takes a request and says nothing."""
    await talk.rest()


async def drips(server: Server, talk: Talk) -> None:
    """An answer of twelve bytes in 1.2 s."""
    await server.request(talk)
    await talk.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
    for _ in range(12):
        await asyncio.sleep(0.1)
        await talk.send(b".")


async def stalls(server: Server, talk: Talk) -> None:
    """Half an answer, and no more."""
    await server.request(talk)
    await talk.send("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n......")
    await talk.rest()


async def test_a_dead_upstream_ends_at_its_deadline_and_a_slow_one_is_waited_for() -> None:
    async with Server(held) as dead, Server(stalls) as stalling, Server(drips) as slow:
        places = (dead.place, stalling.place, slow.place)
        async with proxied(world(limits=QUICK), *places) as egress, asyncio.timeout(5.0):
            async with talking(egress.port) as one, talking(egress.port) as two, talking(egress.port) as three:
                await one.send(f"GET {dead.url}/ HTTP/1.1\r\nHost: x\r\n\r\n")
                await two.send(f"GET {stalling.url}/ HTTP/1.1\r\nHost: x\r\n\r\n")
                await three.send(f"GET {slow.url}/ HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await two.head()).status == 200
                assert not await one.rest()
                assert await two.rest() is None
                assert (await three.answer()).body == b"." * 12
            found = egress.explain(dead.place)
            assert found is not None
            assert found.kind == "timed_out"


async def test_an_address_that_does_not_answer_ends_at_the_deadline_and_another_is_tried_beside_it() -> None:
    async with Server(ok) as server:
        answers = {"hole.example": [[PUBLIC]], "two.example": [[PUBLIC, "93.184.216.35"]]}
        program = world(answers, {PUBLIC: "nowhere", "93.184.216.35": server.place}, QUICK)
        async with proxied(program) as egress, asyncio.timeout(5.0):
            async with talking(egress.port) as talk:
                await talk.send("GET http://hole.example/ HTTP/1.1\r\nHost: x\r\n\r\n")
                assert await talk.rest() == b""
            async with talking(egress.port) as talk:
                await talk.send("CONNECT hole.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await talk.answer()).status == 504
            for place in ("hole.example:80", "hole.example:443"):
                found = egress.explain(place)
                assert found is not None
                assert (found.kind, found.failed) == ("timed_out", True)
            async with talking(egress.port) as talk:
                assert (await talk.ask("GET http://two.example/ HTTP/1.1\r\nHost: x\r\n\r\n")).status == 200


HALF_OPEN = (
    pytest.param(b"", id="silent"),
    pytest.param(b"GET http://", id="half-a-line"),
    pytest.param(b"GET http://{place}/ HTTP/1.1\r\nHost: x\r\n", id="half-a-head"),
    pytest.param(b"POST http://{place}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf", id="half-a-body"),
    pytest.param(b"CONNECT {place} HTTP/1.1\r\nHost: x\r\n\r\n", id="silent-tunnel"),
    pytest.param(b"GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n", id="idle-after-a-refusal"),
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="does-not-close-after-a-bad-request"),
)


async def test_half_open_clients_are_closed_in_their_time_and_nothing_of_them_stays() -> None:
    limited = world(limits={**QUICK, "linger_s": 0.2})
    async with Server(held) as dead, Server(ok) as server:  # noqa: SIM117 - the places are known only inside
        async with proxied(limited, dead.place, server.place) as egress:
            folder = f"/proc/{egress.pid}/fd"
            before = len(os.listdir(folder))
            async with asyncio.timeout(6.0):
                talks = []
                for case in HALF_OPEN:
                    data = case.values[0]
                    assert isinstance(data, bytes)
                    talk = Talk(*await asyncio.open_connection("127.0.0.1", egress.port))
                    await talk.send(data.replace(b"{place}", dead.place.encode()))
                    talks.append(talk)
                slowly = Talk(*await asyncio.open_connection("127.0.0.1", egress.port))
                for byte in b"GET http://x.example/ HTTP/1.1":  # a head may not be dribbled for ever
                    try:
                        await slowly.send(bytes((byte,)))
                    except ConnectionError:
                        break
                    await asyncio.sleep(0.05)
                for talk in [*talks, slowly]:
                    await talk.rest()
                while len(os.listdir(folder)) > before:  # noqa: ASYNC110 - another process closes them
                    await asyncio.sleep(0.02)
                for talk in [*talks, slowly]:
                    talk.close()
            async with talking(egress.port) as talk:
                assert (await talk.ask(f"GET {server.url}/ HTTP/1.1\r\nHost: x\r\n\r\n")).status == 200


async def test_a_client_that_goes_takes_its_upstream_along() -> None:
    async with Server(held) as dead, proxied((), dead.place) as egress:
        async with talking(egress.port) as talk:
            await talk.send(f"GET {dead.url}/events HTTP/1.1\r\nHost: x\r\n\r\n")
            async with asyncio.timeout(2.0):
                while not dead.connections:  # noqa: ASYNC110 - counted in a callback
                    await asyncio.sleep(0.01)
        await asyncio.wait_for(dead.gone.wait(), 2.0)


async def test_connections_beyond_the_limit_are_closed_at_once() -> None:
    async with Server(ok) as server, proxied(world(limits={"connections": 20}), server.place) as egress:
        talks = [Talk(*await asyncio.open_connection("127.0.0.1", egress.port)) for _ in range(60)]
        try:
            ends = await asyncio.gather(*(ended(talk) for talk in talks))
            assert ends.count(True) == 40
            living = talks[ends.index(False)]
            assert (await living.ask(f"GET {server.url}/ HTTP/1.1\r\nHost: x\r\n\r\n")).status == 200
        finally:
            for talk in talks:
                talk.close()


async def ended(talk: Talk) -> bool:
    """Has the proxy closed it within half a second?"""
    try:
        async with asyncio.timeout(0.5):
            await talk.rest()
        return True
    except TimeoutError:
        return False


async def test_a_killed_proxy_is_started_again_on_its_port_with_its_table() -> None:
    async with Server(ok) as server, proxied((), server.place) as egress:
        port = egress.port
        async with talking(port) as talk:
            assert (await talk.ask(f"GET {server.url}/1 HTTP/1.1\r\nHost: x\r\n\r\n")).status == 200
            for _ in range(2):
                pid = egress.pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
                async with talking(port) as again, asyncio.timeout(10.0):  # it waits in the line, and nobody refuses it
                    answer = await again.ask(f"GET {server.url}/2 HTTP/1.1\r\nHost: x\r\n\r\n")
                    assert answer.status == 200
                    assert (await again.ask("GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n")).status == 403
                assert (egress.port, egress.pid != pid, alive(pid)) == (port, True, False)
            assert not await talk.rest()
        assert await egress.start() == port


async def test_what_is_opened_while_the_proxy_is_away_is_open_when_it_is_back() -> None:
    async with Server(ok) as server, proxied() as egress:
        assert egress.pid is not None
        os.kill(egress.pid, signal.SIGKILL)
        egress.set_places(frozenset((server.place,)))
        async with talking(egress.port) as talk, asyncio.timeout(10.0):
            assert (await talk.ask(f"GET {server.url}/ HTTP/1.1\r\nHost: x\r\n\r\n")).status == 200


HOST = """
import asyncio, sys
from host.egress.egress import Egress, EgressConfig
async def main():
    egress = Egress(EgressConfig())
    await egress.start()
    print(egress.pid, egress.port, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def test_a_killed_host_leaves_no_proxy() -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        pid, _ = map(int, host.stdout.readline().split())
        assert alive(pid)
        host.kill()
        assert wait_until(lambda: not alive(pid), 2.0, "the proxy outlives its host") < 2.0


async def test_the_process_holds_no_right_that_it_does_not_need() -> None:
    root = os.geteuid() == 0
    async with Server(ok) as server, proxied((), server.place, uid=PROXY_UID if root else None) as egress:
        pid = egress.pid
        assert pid is not None
        status = dict(line.split(":\t", 1) for line in read(pid, "status").decode().splitlines() if ":\t" in line)
        assert uids(pid) == {PROXY_UID if root else os.geteuid()}
        assert status["NoNewPrivs"] == "1"
        if root:
            assert status["Groups"].split() == []
            assert (int(status["CapEff"], 16), int(status["CapPrm"], 16)) == (0, 0)
        limits = read(pid, "limits").decode()
        assert [line.split()[4:6] for line in limits.splitlines() if line.startswith("Max core")] == [["0", "0"]]
        assert read(pid, "environ") == b""
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        assert stat_fields(pid)[3] == str(pid)  # a session of its own
        kinds = sorted(
            os.readlink(f"/proc/{pid}/fd/{name}").partition(":")[0] for name in os.listdir(f"/proc/{pid}/fd")
        )
        # listener, channel, and the two of asyncio's own pair; /memfd is standard error
        assert kinds == ["/dev/null", "/dev/null", "/memfd", "anon_inode", *["socket"] * 4]
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(pid, number)
        async with talking(egress.port) as talk:
            assert (await talk.ask(f"GET {server.url}/ HTTP/1.1\r\nHost: x\r\n\r\n")).status == 200
        assert egress.pid == pid
        began = time.monotonic()
        await egress.close()
        await egress.close()
        assert time.monotonic() - began < 2.0
        assert not alive(pid)
        with pytest.raises(UnavailableError):
            await egress.start()


async def test_a_proxy_that_cannot_start_is_an_error_that_holds_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    egress = Egress(EgressConfig(program=(sys.executable, "-c", "raise SystemExit('no luck today')")))
    with pytest.raises(UnavailableError) as caught:
        await egress.start()
    assert caught.value.code == "BROWSER_LAUNCH_FAILED"
    assert "no luck today" in caught.value.details["stderr"]
    await egress.close()

    monkeypatch.setattr(module, "READY_S", 0.3)
    deaf = Egress(EgressConfig(program=(sys.executable, "-c", "import time; time.sleep(60)")))
    first, second = await asyncio.gather(deaf.start(), deaf.start(), return_exceptions=True)
    assert isinstance(first, UnavailableError)
    assert isinstance(second, UnavailableError)
    assert deaf.pid is None
    await deaf.close()

    nothing = Egress(EgressConfig(program=("/nonexistent/program",)))
    with pytest.raises(UnavailableError):
        await nothing.start()
    await nothing.close()


# --- behind another proxy


async def another_proxy(server: Server, talk: Talk) -> None:
    """Answers plain requests itself; opens a tunnel that echoes, but not to refused.example."""
    while head := await server.request(talk):
        if not head.startswith("CONNECT"):
            await talk.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        elif "refused.example" in head:
            await talk.send("HTTP/1.1 407 Log in\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
        else:
            await talk.send("HTTP/1.1 200 Fine\r\nX: y\r\n\r\nwelcome ")
            await talk.send(await talk.reader.readexactly(4))
            return


async def test_behind_another_proxy_names_go_there_unresolved_and_addresses_are_still_judged() -> None:
    async with Server(another_proxy) as other:
        program = world({"inner.example": [["127.0.0.1"]]})
        async with proxied(program, upstream_proxy=other.url) as egress:
            async with talking(egress.port) as talk:
                for url in ("http://gone.example/a", "http://inner.example:81/b?c", "http://93.184.216.34/d"):
                    assert (await talk.ask(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")).body == b"ok"
                assert [head.split(" ")[1] for head in other.heads] == [
                    "http://gone.example/a",
                    "http://inner.example:81/b?c",
                    "http://93.184.216.34/d",
                ]
                assert other.connections == 3  # one for each place
                for url in ("http://127.0.0.1/", "http://10.0.0.1/", "http://printer/", "http://mtalk.google.com/"):
                    assert (await talk.ask(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")).status == 403
            for place, status in (("10.0.0.1:443", 403), ("localhost:443", 403), ("refused.example:443", 502)):
                async with talking(egress.port) as talk:
                    await talk.send(f"CONNECT {place} HTTP/1.1\r\nHost: x\r\n\r\n")
                    answer = await talk.answer()
                    assert (answer.status, answer.field("Proxy-Authenticate")) == (status, None)
            async with talking(egress.port) as talk:
                await talk.send("CONNECT gone.example:443 HTTP/1.1\r\nHost: x\r\n\r\nback")
                assert (await talk.head()).status == 200
                assert await talk.rest() == b"welcome back"
            assert len([head for head in other.heads if "10.0.0.1" in head or "localhost" in head]) == 0
        async with Server(ok) as ours, proxied(program, ours.place, upstream_proxy=other.url) as egress:  # noqa: SIM117
            # What is opened on this machine is not asked for over there.
            async with talking(egress.port) as talk:
                answer = await talk.ask(f"GET {ours.url}/a HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (answer.body, ours.connections) == (b"GET /a HTTP/1.1", 1)
        gone = other.url
    async with proxied(upstream_proxy=gone) as egress, talking(egress.port) as talk:
        await talk.send("CONNECT gone.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await talk.answer()).status == 502  # the other proxy is gone; nothing goes direct


@pytest.mark.parametrize(
    "given", ["127.0.0.1:3128", "https://127.0.0.1:3128", "http://", "http://a b:1", "socks5://x:1"]
)
async def test_another_proxy_that_cannot_be_read_is_no_reason_to_go_direct(given: str) -> None:
    egress = Egress(EgressConfig(upstream_proxy=given))
    with pytest.raises(UnavailableError):
        await egress.start()
    await egress.close()


async def test_names_that_nobody_answers_for_do_not_keep_others_waiting_for_ever() -> None:
    names = {f"dead{number}.example": [0.6] for number in range(6)}
    async with Server(ok) as server:
        program = world({**names, "good.example": [[PUBLIC]]}, {PUBLIC: server.place}, {"lookups": 1, "resolve_s": 0.3})
        async with proxied(program) as egress, asyncio.timeout(5.0):
            statuses = await asyncio.gather(*(asked(egress, name) for name in names for _ in range(2)))
            assert statuses == [403] * 12
            while await asked(egress, "good.example") != 200:  # noqa: ASYNC110 - the one that had begun ends in its time
                await asyncio.sleep(0.1)


async def asked(egress: Egress, name: str) -> int:
    """The status of a request to a name."""
    async with talking(egress.port) as talk:
        return (await talk.ask(f"GET http://{name}/ HTTP/1.1\r\nHost: x\r\n\r\n")).status


async def test_names_are_looked_up_once_for_all_who_ask_at_once() -> None:
    answers = {"slow.example": [[PUBLIC], ["127.0.0.1"]]}  # a second lookup would be refused
    async with Server(ok) as server, proxied(world(answers, {PUBLIC: server.place}, delay_s=0.5)) as egress:
        assert await asyncio.gather(*(asked(egress, "slow.example") for _ in range(10))) == [200] * 10
        assert await asked(egress, "slow.example") == 403
