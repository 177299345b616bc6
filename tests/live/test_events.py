"""The ring on real Chromium: what a reader gets, what it is told that it missed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.site import Site
from tests.support.stdio import Stdio, error, result, seconds

CONSOLE = "Runtime.consoleAPICalled"


def text(event: dict[str, Any]) -> Any:
    """What a console event says first."""
    return event["params"]["args"][0].get("value")


def poll_bytes(page: dict[str, Any]) -> int:
    """About what the events of a poll take on the wire."""
    return len(json.dumps(page["events"], separators=(",", ":"), ensure_ascii=False).encode())


def test_three_thousand_console_lines_lose_the_oldest_and_say_so(host: Stdio, blank: str) -> None:
    host.js(blank, "for (let i = 1; i <= 3000; i++) console.log('line ' + i)")
    page = host.ok("browser.events", sessionId=blank)
    assert page["lost"] is True
    assert page["dropped"][CONSOLE]["count"] >= 2500
    assert len(page["events"]) == 100
    events = page["events"] + host.events(blank, after=page["next"])
    assert text(events[-1]) == "line 3000"
    assert 490 <= len(events) <= 500
    seqs = [event["seq"] for event in events]
    assert seqs == sorted(set(seqs))
    assert host.ok("browser.events", sessionId=blank, after=page["next"])["lost"] is False


def test_a_poll_has_at_most_its_bytes(host: Stdio, blank: str) -> None:
    host.js(blank, "for (let i = 0; i < 40; i++) console.log('w'.repeat(20000))")
    after, sizes = 0, []
    while True:
        page = host.ok("browser.events", sessionId=blank, after=after)
        if not page["events"]:
            break
        sizes.append(poll_bytes(page))
        after = page["next"]
    assert len(sizes) >= 40 * 20000 // (128 * 1024)
    assert max(sizes) <= 128 * 1024


def test_an_event_over_its_size_uses_a_number_and_is_told_as_lost(host: Stdio, blank: str) -> None:
    host.js(blank, "console.log('before'); console.log('x'.repeat(90000)); console.log('after')")
    page = host.ok("browser.events", sessionId=blank)
    first, second = [event for event in page["events"] if event["method"] == CONSOLE]
    assert (text(first), text(second)) == ("before", "after")
    assert second["seq"] == first["seq"] + 2
    assert page["lost"] is True
    assert page["dropped"][CONSOLE]["count"] == 1
    assert page["dropped"][CONSOLE]["size"] > 90_000


def test_an_event_too_large_to_be_read_at_all_is_told_as_lost_too(host: Stdio, blank: str) -> None:
    host.js(blank, "console.log('y'.repeat(3000000)); console.log('after')")
    page = host.ok("browser.events", sessionId=blank, methods=[CONSOLE], waitMs=3000)
    assert page["lost"] is True
    assert page["dropped"][CONSOLE]["count"] == 1
    assert [text(event) for event in host.events(blank, methods=[CONSOLE])] == ["after"]


def test_methods_choose_and_next_passes_what_they_leave_out(host: Stdio, site: Site) -> None:
    session = host.open(site.url + "/")
    host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired"], waitMs=3000)
    everything = host.events(session)
    page = host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired", CONSOLE])
    assert {event["method"] for event in page["events"]} == {"Page.loadEventFired", CONSOLE}
    assert page["next"] >= everything[-1]["seq"]
    none = host.ok("browser.events", sessionId=session, methods=["Page.downloadWillBegin"])
    assert (none["events"], none["lost"]) == ([], False)
    assert none["next"] >= everything[-1]["seq"]
    host.close(session)


def test_a_limit_stops_a_poll_and_the_next_goes_on_there(host: Stdio, blank: str) -> None:
    host.js(blank, "for (let i = 0; i < 7; i++) console.log(i)")
    first = host.ok("browser.events", sessionId=blank, methods=[CONSOLE], limit=3)
    second = host.ok("browser.events", sessionId=blank, methods=[CONSOLE], limit=100, after=first["next"])
    assert [text(event) for event in first["events"] + second["events"]] == list(range(7))
    again = host.ok("browser.events", sessionId=blank, methods=[CONSOLE], limit=3)
    assert again["events"] == first["events"]  # reading removes nothing


def test_capture_keeps_out_what_it_does_not_name_and_that_is_not_lost(host: Stdio, site: Site) -> None:
    session = host.open(site.url + "/", capture=["Page.loadEventFired", "Network.*"])
    host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired"], waitMs=3000)
    page = host.ok("browser.events", sessionId=session)
    domains = {event["method"].partition(".")[0] for event in page["events"]}
    assert domains == {"Page", "Network"}
    assert [e["method"] for e in page["events"] if e["method"].startswith("Page.")] == ["Page.loadEventFired"]
    assert [event["seq"] for event in page["events"]] == list(range(1, len(page["events"]) + 1))
    assert (page["lost"], page["dropped"]) == (False, {})
    host.close(session)


@pytest.mark.parametrize("pattern", ["*", "Page", "page.loadEventFired", "Page.*x", "Page.load Event"])
def test_a_capture_pattern_that_is_none_is_refused(host: Stdio, pattern: str) -> None:
    problem = host.error("browser.openSession", url="about:blank", capture=[pattern])
    assert problem["code"] == "BAD_ARGUMENTS"


@pytest.fixture
def quiet(host: Stdio) -> Iterator[tuple[str, int]]:
    """A session in which nothing happens, and its newest seq."""
    session = host.open("about:blank")
    host.js(session, "0")
    yield session, host.newest(session)
    host.close(session)


def test_a_long_poll_returns_at_the_first_match(host: Stdio, quiet: tuple[str, int]) -> None:
    session, newest = quiet
    start = time.monotonic()
    poll = host.post("browser.events", sessionId=session, after=newest, methods=[CONSOLE], waitMs=10_000)
    host.js(session, "setTimeout(() => console.log('now'), 600); fetch('about:blank').catch(() => 0)")
    assert not host.answers(poll, 0.3)
    assert [text(event) for event in result(host.reply(poll))["events"]] == ["now"]
    assert 0.5 < seconds(start) < 3.0


def test_a_long_poll_that_nothing_answers_expires_empty(host: Stdio, quiet: tuple[str, int]) -> None:
    session, newest = quiet
    start = time.monotonic()
    page = host.ok("browser.events", sessionId=session, after=newest, methods=[CONSOLE], waitMs=700)
    assert 0.65 < seconds(start) < 1.6
    assert (page["events"], page["lost"]) == ([], False)


def test_a_long_poll_ends_with_its_session(host: Stdio) -> None:
    session = host.open("about:blank")
    poll = host.post("browser.events", sessionId=session, after=host.newest(session), methods=[CONSOLE], waitMs=15_000)
    start = time.monotonic()
    host.close(session)
    assert error(host.reply(poll))["code"] == "SESSION_CLOSED"
    assert seconds(start) < 3.5


def test_many_long_polls_of_one_session_all_return(host: Stdio, quiet: tuple[str, int]) -> None:
    session, newest = quiet
    polls = [
        host.post("browser.events", sessionId=session, after=newest, methods=[CONSOLE], waitMs=15_000)
        for _ in range(20)
    ]
    host.js(session, "console.log('all of you')")
    assert [len(result(host.reply(poll))["events"]) for poll in polls] == [1] * 20


BAD_POLLS = (
    pytest.param({"after": 10**9}, "BAD_CURSOR", id="above-the-newest"),
    pytest.param({"after": 10**9, "waitMs": 500}, "BAD_CURSOR", id="above-the-newest-with-a-wait"),
    pytest.param({"after": -1}, "BAD_ARGUMENTS", id="below-zero"),
    pytest.param({"after": 1.5}, "BAD_ARGUMENTS", id="a-fraction"),
    pytest.param({"after": "1"}, "BAD_ARGUMENTS", id="a-text"),
    pytest.param({"limit": 0}, "BAD_ARGUMENTS", id="none"),
    pytest.param({"limit": 101}, "BAD_ARGUMENTS", id="too-many"),
    pytest.param({"waitMs": 20_001}, "BAD_ARGUMENTS", id="too-long"),
    pytest.param({"methods": "Page.loadEventFired"}, "BAD_ARGUMENTS", id="methods-as-text"),
)


@pytest.mark.parametrize(("args", "code"), BAD_POLLS)
def test_a_poll_that_cannot_be_meant_is_refused(host: Stdio, blank: str, args: dict[str, object], code: str) -> None:
    assert host.error("browser.events", sessionId=blank, **args)["code"] == code


def marks(events: list[dict[str, Any]]) -> set[str]:
    """The marked requests among events."""
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return {url.partition("mark=")[2] for url in urls if "mark=" in url}


def flood(host: Stdio, site: Site) -> tuple[str, int]:
    """The page with its feed started, and the newest seq before that."""
    session = host.open(f"{site.url}/event-flood.html")
    host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired"], waitMs=3000)
    newest = host.newest(session)
    host.js(session, "void go.click()")
    return session, newest


def test_a_reader_that_comes_after_the_flood_is_told_and_finds_the_newest(host: Stdio, site: Site) -> None:
    session, after = flood(host, site)
    done = (
        "new Promise(ok => { const look = () => result.textContent === '60' ? ok(60) : setTimeout(look, 50); look() })"
    )
    assert host.js(session, done) == 60
    first = host.ok("browser.events", sessionId=session, after=after, limit=100)
    assert first["lost"] is True
    events = first["events"] + host.events(session, after=first["next"])
    seqs = [event["seq"] for event in events]
    assert seqs == sorted(set(seqs))
    assert [text(event) for event in events if event["method"] == CONSOLE][-1] == "feed over"
    host.close(session)


def test_a_reader_that_keeps_up_misses_nothing_unless_it_is_told(host: Stdio, site: Site) -> None:
    session, after = flood(host, site)
    found: list[dict[str, Any]] = []
    told: dict[str, int] = {}
    over = False
    start = time.monotonic()
    while not over and seconds(start) < 20:
        page = host.ok("browser.events", sessionId=session, after=after, waitMs=1000)
        assert len(page["events"]) <= 100
        assert page["next"] >= after
        assert page["lost"] is bool(page["dropped"])
        for method, dropped in page["dropped"].items():
            told[method] = told.get(method, 0) + dropped["count"]
        found += page["events"]
        after = page["next"]
        over = any(event["method"] == CONSOLE and text(event) == "feed over" for event in page["events"])
    assert over
    requests = {f"flood-{number}" for number in range(1, 61)}
    missing = requests - marks(found)
    assert len(missing) <= told.get("Network.requestWillBeSent", 0)
    lines = {text(e) for e in found if e["method"] == CONSOLE} & {f"line {number}" for number in range(1, 901)}
    wide = 1  # the line of 90,000 characters
    assert 900 - len(lines) + wide == told.get(CONSOLE, 0)
    host.close(session)
