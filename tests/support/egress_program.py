"""The real proxy in a test's world: names have scripted answers, public addresses lead to servers of the test.

Run as `python -I -B egress_program.py WORLD SETTINGS`; `world` in egress.py writes the first, the host the last.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import sys
import time
from typing import Any

from host.core.urls import Address
from host.egress import main, reach
from host.egress.limits import Limits


class Names:
    """`socket.getaddrinfo` of this world: each lookup takes a name's next answer, the last one stays."""

    def __init__(self, answers: dict[str, list[Any]], delay_s: float) -> None:
        self.answers = answers
        self.delay_s = delay_s

    def __call__(self, host: str, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        time.sleep(self.delay_s)
        answers = self.answers.get(host)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "no such name in this world")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, int | float):
            time.sleep(answer)  # a resolver that does not answer; this is a thread of its own
            raise socket.gaierror(socket.EAI_AGAIN, "nobody answered")
        found = []
        for text in answer:
            v6 = ":" in text
            family = socket.AF_INET6 if v6 else socket.AF_INET
            found.append((family, socket.SOCK_STREAM, 6, "", (text, 0, 0, 0) if v6 else (text, 0)))
        return found


def routed(routes: dict[str, str]) -> Any:
    """`reach.connected` of this world: what would go to a routed address goes to a loopback port."""
    real = reach.connected

    async def connected(loop: asyncio.AbstractEventLoop, address: Address, port: int) -> socket.socket:
        route = routes.get(f"{address}:{port}") or routes.get(str(address))
        if route is None:
            return await real(loop, address, port)
        if route == "nowhere":
            await asyncio.sleep(3600)
        host, _, to = route.rpartition(":")
        return await real(loop, ipaddress.ip_address(host), int(to))

    return connected


if __name__ == "__main__":
    world = json.loads(sys.argv[1])
    if world["answers"] is not None:
        vars(socket)["getaddrinfo"] = Names(world["answers"], world["delay_s"])
    reach.connected = routed(world["routes"])
    really = reach.is_assigned
    reach.is_assigned = lambda address: str(address) in world["assigned"] or really(address)
    main.run(json.loads(sys.argv[-1]), Limits(**world["limits"]))
