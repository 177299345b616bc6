"""One host a profile: a living owner is named, what a dead one left behind is taken over with its data."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import command_line, started_for, wait_until
from tests.support.site import Site
from tests.support.stdio import GRANT, LOADED, Stdio, opened, seconds


def start(place: Path, site: Site, state: str = "state") -> Stdio:
    """A client of the host on the profile of this place; another `state` makes it another host."""
    return Stdio(place, *GRANT, *opened(site.places), ephemeral=False, env={"CAPSDK_STATE_DIR": f"{place}/{state}"})


def hosts(place: Path) -> list[int]:
    """The processes that hold the browser."""
    return [pid for pid in started_for(place) if "host.daemon" in command_line(pid)]


def keep_a_cookie(place: Path, site: Site, value: str) -> None:
    """Sign in, so to say, and leave."""
    with start(place, site) as host:
        session = host.open(f"{site.url}/cookie?value={value}")
        assert host.js(session, "document.cookie") == f"kept={value}"
        assert host.finish() == 0
    wait_until(lambda: not hosts(place), 6.0, "the host's end")


def leave_locks(profile: Path, owner: str) -> None:
    """What a Chromium that crashed leaves in its folder."""
    for name, target in (
        ("SingletonLock", owner),
        ("SingletonCookie", "1234567890"),
        ("SingletonSocket", str(profile / "gone" / "SingletonSocket")),
    ):
        link = profile / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def gone_pid() -> int:
    """The number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    return child.pid


@pytest.mark.parametrize(
    "machine", [pytest.param(socket.gethostname(), id="dead"), pytest.param("old-box", id="elsewhere")]
)
def test_a_stale_lock_is_taken_over_and_the_profiles_data_is_kept(place: Path, site: Site, machine: str) -> None:
    keep_a_cookie(place, site, "plum")
    leave_locks(place / "profiles" / "default", f"{machine}-{gone_pid()}")
    with start(place, site) as host:
        assert host.js(host.open(site.url + "/"), "document.cookie") == "kept=plum"
        assert host.finish() == 0


def test_a_second_host_is_refused_naming_the_first_which_goes_on(place: Path, site: Site) -> None:
    with start(place, site) as first, start(place, site, "elsewhere") as second:
        session = first.open(site.url + "/")
        (owner,) = [pid for pid in hosts(place) if f"{place}/state".encode() in environ(pid)]
        began = time.monotonic()
        problem = second.error("browser.openSession", url="about:blank")
        assert problem["code"] == "PROFILE_LOCKED"
        assert problem["details"]["pid"] == owner
        assert str(owner) in problem["message"]
        assert seconds(began) < 2.0
        assert first.js(session, "1") == 1
        assert (first.finish(), second.finish()) == (0, 0)


def environ(pid: int) -> bytes:
    """With which settings a process was started."""
    return Path(f"/proc/{pid}/environ").read_bytes()


def test_a_host_that_was_refused_gets_the_profile_when_it_is_free(place: Path, site: Site) -> None:
    with start(place, site, "elsewhere") as second:
        with start(place, site) as first:
            first.open("about:blank")
            assert second.error("browser.openSession", url="about:blank")["code"] == "PROFILE_LOCKED"
            assert first.finish() == 0
        wait_until(lambda: second.call("browser.openSession", url="about:blank")["ok"], 6.0, "the profile")
        assert second.finish() == 0


def test_a_chromium_of_somebody_else_on_the_profile_is_named(place: Path, site: Site) -> None:
    profile = place / "profiles" / "default"
    keep_a_cookie(place, site, "pear")
    words = [sys.executable, "-c", "import time; time.sleep(60)", f"--user-data-dir={profile}"]
    with subprocess.Popen(words) as other:
        try:
            leave_locks(profile, f"{socket.gethostname()}-{other.pid}")
            with start(place, site) as host:
                problem = host.error("browser.openSession", url="about:blank")
                assert (problem["code"], problem["details"]["pid"]) == ("PROFILE_LOCKED", other.pid)
                assert host.finish() == 0
        finally:
            other.kill()


def test_the_lock_of_a_host_that_was_killed_is_taken_over(place: Path, site: Site) -> None:
    with start(place, site) as first:
        first.open(site.url + "/")
        (owner,) = hosts(place)
        os.kill(owner, signal.SIGKILL)
        first.wait()
        assert b"Traceback" not in first.errors
    began = time.monotonic()
    with start(place, site) as second:
        session = second.open(site.url + "/")
        second.js(session, LOADED)
        assert second.js(session, "document.title") == "Hello"
        assert seconds(began) < 8.0
        assert second.finish() == 0


def test_a_second_command_on_the_profile_joins_its_host_and_sees_none_of_the_others_sessions(
    place: Path, site: Site
) -> None:
    with start(place, site) as first, start(place, site) as second:
        session = first.open(site.url + "/")
        own = second.open(site.url + "/")
        assert len(hosts(place)) == 1
        assert second.cdp_error(session, "DOM.enable")["code"] == "SESSION_NOT_OWNED"
        assert first.finish() == 0
        assert second.js(own, "2") == 2
        assert second.cdp_error(session, "DOM.enable")["code"] == "SESSION_CLOSED"
        assert second.finish() == 0
    wait_until(lambda: not hosts(place), 6.0, "the host's end with its last client")
