"""The doctor's line about the proxy: a real one works, and one that does not do its work is found out."""

from __future__ import annotations

import sys

import pytest

from host import doctor
from host.app import egress_config
from host.core.settings import Settings
from host.egress.egress import EgressConfig

LETS_ALL_PASS = """
import json, socket, sys
given = json.loads(sys.argv[1])
channel = socket.socket(fileno=given["channel"])
channel.sendall(b'{"ready": true}\\n')
listener = socket.socket(fileno=given["listen"])
listener.setblocking(True)
while True:
    client, _ = listener.accept()
    place = client.recv(4096).split()[1].removeprefix(b"http://").rstrip(b"/").decode()
    name, _, port = place.partition(":")
    server = socket.create_connection((name, int(port)))
    server.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    client.sendall(server.recv(4096))
    client.close()
"""
BROKEN = (  # another program in the proxy's place, what is seen of it
    pytest.param(("/bin/false",), "cannot start", id="ends-at-once"),
    pytest.param((sys.executable, "-c", LETS_ALL_PASS), "NOT refused", id="lets-all-pass"),
)


async def test_a_proxy_that_refuses_and_reaches_works() -> None:
    found = await doctor.check_egress(Settings())
    assert (found.name, found.works, found.needed, found.mend) == ("egress proxy", True, True, "")


@pytest.mark.parametrize(("program", "seen"), BROKEN)
async def test_a_proxy_that_does_not_do_its_work_is_found_out(
    program: tuple[str, ...], seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "egress_config", lambda settings: EgressConfig(program=program))
    found = await doctor.check_egress(Settings())
    assert (found.works, found.needed) == (False, True)
    assert seen in found.seen
    assert found.mend != ""


async def test_an_upstream_proxy_is_handed_on_and_named() -> None:
    settings = Settings(upstream_proxy="http://proxy.corp.example:3128")
    assert egress_config(settings).upstream_proxy == "http://proxy.corp.example:3128"
    found = await doctor.check_egress(settings)  # which is not there: the proxy itself works all the same
    assert found.works
    assert "http://proxy.corp.example:3128" in found.seen
