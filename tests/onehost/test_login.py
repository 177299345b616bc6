"""The owner signs in in a window: the host gives its profile out, nobody else has it meanwhile, and it comes back."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.onehost.support import Command, hosts
from tests.support.processes import browser_process, chromium_of, command_line, started_for, uids, wait_until
from tests.support.site import Site
from tests.support.stdio import GRANT, Stdio, opened, seconds

pytestmark = pytest.mark.chromium
STAYS, MARK = "/stays.html", "/echo?cookie-is-set"
START_S = 20.0


def login(place: Path, site: Site, display: dict[str, str], page: str, *words: str) -> Command:
    """`capsdk login`, started."""
    return Command(place, "login", site.url + page, *opened(site.places), *words, env=display)


def cookie(client: Stdio, site: Site) -> object:
    """What a tab has to tell the site."""
    session = client.open(site.url + "/")
    try:
        return client.js(session, "document.cookie")
    finally:
        client.close(session)


def has_profile(client: Stdio) -> bool:
    """Can a tab be opened?"""
    reply = client.call("browser.openSession", url="about:blank")
    if reply["ok"]:
        client.close(reply["result"]["sessionId"])
    return bool(reply["ok"])


@pytest.fixture
def window(shared: Path, site: Site, display: dict[str, str], client: Stdio) -> Iterator[Command]:
    """A window that shows a page, which has set its cookie, and that nobody has closed yet."""
    before = site.hits[MARK]
    with login(shared, site, display, STAYS) as command:
        wait_until(lambda: site.hits[MARK] > before, START_S, "the page of the window")
        yield command


def test_what_a_window_was_signed_in_to_tabs_have_when_it_is_closed(
    shared: Path, site: Site, display: dict[str, str], client: Stdio
) -> None:
    session = client.open(site.url + "/")
    assert client.js(session, "document.cookie") == ""
    with login(shared, site, display, "/signin.html", "--wait", "30") as command:
        command.line_with("waiting")
        assert chromium_of(shared) != []
        client.close(session)
        status, out, errors = command.end(START_S)
        assert (status, out, b"Traceback" in errors) == (0, b"", False)
    assert cookie(client, site) == "kept=signed-in"
    assert list(shared.glob("capsdk-xauthority-*")) == []


def test_while_the_window_is_open_it_alone_has_the_profile_and_nobody_debugs_it(
    shared: Path, site: Site, display: dict[str, str], client: Stdio, window: Command
) -> None:
    browser = browser_process(shared)
    words = command_line(browser)
    assert [word for word in words if "remote-debugging" in word or "headless" in word] == []
    assert f"--user-data-dir={shared}/profiles/default" in words
    assert [word for word in words if word.startswith("--proxy-server=http://127.0.0.1:")] != []
    assert (0 in uids(browser)) is False
    problem = client.error("browser.openSession", url="about:blank")
    assert (problem["code"], problem["details"]) == ("BROWSER_UNAVAILABLE", {"reason": "login"})
    with login(shared, site, display, STAYS) as second:
        assert second.end()[0] == 69
    assert browser_process(shared) == browser
    os.kill(window.pid, signal.SIGINT)
    start = time.monotonic()
    status, _, errors = window.end()
    assert seconds(start) < 3.0
    assert (status, b"Traceback" in errors) == (130, False)
    wait_until(lambda: not chromium_of(shared), 5.0, "the window's end")
    wait_until(lambda: has_profile(client), 5.0, "the profile")
    assert cookie(client, site) == "kept=stays"


def test_a_window_ends_with_its_command(shared: Path, client: Stdio, window: Command) -> None:
    os.kill(window.pid, signal.SIGKILL)
    wait_until(lambda: not chromium_of(shared), 5.0, "the window of a command that was killed")
    wait_until(lambda: has_profile(client), 5.0, "the profile")


def test_a_host_that_is_killed_leaves_no_window_and_its_cookies_are_kept(
    place: Path, site: Site, display: dict[str, str]
) -> None:
    before = site.hits[MARK]
    with login(place, site, display, STAYS) as command:
        wait_until(lambda: site.hits[MARK] > before, START_S, "the page of the window")
        (host,) = hosts(place)
        os.kill(host, signal.SIGKILL)
        wait_until(lambda: not chromium_of(place), 2.0, "the window of a host that was killed")
        status, _, errors = command.end()
        assert (status, b"BROWSER_GONE" in errors, b"Traceback" in errors) == (69, True, False)
    wait_until(lambda: not started_for(place), 2.0, "the keeper's end")
    assert list(place.glob("capsdk-xauthority-*")) == []
    with Stdio(place, *GRANT, *opened(site.places), ephemeral=False) as tabs:
        assert tabs.js(tabs.open(site.url + "/"), "document.cookie") == "kept=stays"
        assert tabs.finish() == 0


def test_lent_tabs_keep_the_window_closed_and_go_on(
    shared: Path, site: Site, display: dict[str, str], client: Stdio
) -> None:
    session = client.open("about:blank")
    for words in ((), ("--wait", "0.3")):
        with login(shared, site, display, STAYS, *words) as command:
            status, _, errors = command.end()
            assert (status, b"PROFILE_LOCKED" in errors) == (69, True)
    assert client.js(session, "1") == 1
    client.close(session)


def test_a_display_that_lets_nobody_in_is_said_with_what_opens_it(
    shared: Path, site: Site, display: dict[str, str], client: Stdio
) -> None:
    with login(shared, site, {**display, "XAUTHORITY": "/nonexistent"}, STAYS) as command:
        status, _, errors = command.end()
    assert (status, b"BROWSER_LAUNCH_FAILED" in errors, b"Traceback" in errors) == (69, True, False)
    assert b"xhost" in errors or os.geteuid() != 0
