"""A page that spins or eats memory: its calls end at their limit, its neighbours and the host do not notice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.case_site import CaseSite
from tests.support.processes import wait_until
from tests.support.stdio import GRANT, Stdio, error, opened, result, seconds

LIMIT_S = 3.0
BEGINS_S = 0.5
AT_ONCE_S = 2.0
CLOSES_S = 4.0


@pytest.fixture(scope="module")
def host(folder: Path, cases: CaseSite) -> Iterator[Stdio]:
    """A host with a lower limit, so that it is reached sooner, and two places."""
    limits = {"CAPSDK_LIMIT_COMMAND_TIMEOUT_S": str(LIMIT_S), "CAPSDK_LIMIT_SESSIONS_PER_CLIENT": "2"}
    with Stdio(folder, *GRANT, *opened(cases.places), env=limits) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""
        assert made.twice == []


def test_a_page_that_spins_ends_its_own_calls_and_nobody_elses(host: Stdio, cases: CaseSite) -> None:
    spinning, beside = (host.open(f"{cases.main}/busy-loop/") for _ in range(2))
    result(host.reply(host.click(spinning, "spin")))
    time.sleep(BEGINS_S)  # no call may ask: at its deadline it would end the loop
    start = time.monotonic()
    calls = [host.post_js(spinning, "1"), host.post_cdp(spinning, "Accessibility.getFullAXTree")]
    assert host.js(beside, "result.textContent") == "idle"
    assert host.cdp(beside, "Accessibility.getFullAXTree")["nodes"]
    assert seconds(start) < AT_ONCE_S
    ends = [error(host.reply(call)) for call in calls]
    assert [one["code"] for one in ends] == ["BROWSER_TIMEOUT"] * 2
    assert LIMIT_S - 0.1 < seconds(start) < LIMIT_S + CLOSES_S
    start = time.monotonic()
    host.close(spinning)
    assert seconds(start) < CLOSES_S
    again = host.open(f"{cases.main}/busy-loop/")  # of two places one is free
    assert host.js(again, "result.textContent") == "idle"
    assert [reply for reply in host.replies if reply in calls] == calls  # each was answered, and once: see the fixture
    for session in (again, beside):
        host.close(session)


def test_a_page_that_eats_memory_does_not_take_the_host_along(host: Stdio, cases: CaseSite) -> None:
    eating, beside = (host.open(f"{cases.main}/busy-loop/") for _ in range(2))
    result(host.reply(host.click(eating, "grow")))

    def ended() -> bool:
        assert host.js(beside, "result.textContent") == "idle"
        reply = host.reply(host.post_js(eating, "result.textContent"))
        if not reply["ok"]:  # the renderer died, and the session says so
            assert reply["error"]["code"] in ("TARGET_CRASHED", "BROWSER_TIMEOUT", "SESSION_CLOSED")
            return True
        return str(reply["result"]["result"]["result"]["value"]) == "MB 400"

    wait_until(ended, 30.0, "the memory")
    for session in (eating, beside):
        host.close(session)
    assert host.ok("host.info")["browser"]["product"]
