"""However a host ends, by a signal or killed at once, nothing that it started is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.processes import (
    alive,
    chromium_of,
    command_line,
    pids,
    started_for,
    stat_fields,
    uids,
    wait_until,
)
from tests.support.site import Site
from tests.support.stdio import GRANT, Stdio, opened, seconds

Moment = Callable[[Stdio, Site], object]


def just_started(host: Stdio, site: Site) -> None:
    host.ok("run.progress", done=1)


def starting_chromium(delay_s: float) -> Moment:
    def moment(host: Stdio, site: Site) -> None:
        host.ok("run.progress", done=1)
        host.post("browser.openSession", url=site.url + "/")
        time.sleep(delay_s)

    return moment


def idle(host: Stdio, site: Site) -> None:
    host.open(site.url + "/")


def opening(host: Stdio, site: Site) -> None:
    host.open("about:blank")
    for number in range(3):
        host.post("browser.openSession", url=f"{site.url}/never?{number}")
    time.sleep(0.3)


def in_a_call(host: Stdio, site: Site) -> None:
    host.post_js(host.open("about:blank"), "new Promise(() => 0)")
    time.sleep(0.1)


def busy_page(host: Stdio, site: Site) -> None:
    host.js(host.open(f"{site.url}/busy-loop.html"), "spin.click()")
    time.sleep(0.3)


def dialog_open(host: Stdio, site: Site) -> None:
    host.reply(host.post_js(host.open(site.url + "/"), "confirm('stay?')"))


def unsaved_text(host: Stdio, site: Site) -> None:
    session = host.open(f"{site.url}/beforeunload-guard.html")
    host.reply(host.click(session, "note"))
    host.cdp(session, "Input.insertText", {"text": "half a note"})


MOMENTS = (
    pytest.param(just_started, id="before-chromium"),
    pytest.param(starting_chromium(0.0), id="the-profile-is-made"),
    pytest.param(starting_chromium(0.01), id="the-keeper-starts"),
    pytest.param(starting_chromium(0.02), id="chromium-is-forked"),
    pytest.param(starting_chromium(0.15), id="chromium-starts"),
    pytest.param(starting_chromium(0.4), id="the-first-tab-is-made"),
    pytest.param(idle, id="idle"),
    pytest.param(opening, id="during-opens"),
    pytest.param(in_a_call, id="in-a-call"),
    pytest.param(busy_page, id="busy-page"),
    pytest.param(dialog_open, id="dialog-open"),
    pytest.param(unsaved_text, id="unsaved-text"),
)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_host_that_is_killed_leaves_no_chromium_no_keeper_and_no_profile(
    place: Path, site: Site, moment: Moment
) -> None:
    with Stdio(place, *GRANT, *opened(site.places)) as host:
        moment(host, site)
        os.kill(host.process.pid, signal.SIGKILL)
        host.process.wait(5.0)
        wait_until(lambda: not started_for(place), 2.0, "processes were left behind")
        assert list(place.glob("capsdk-profile-*")) == []


def proxy_of(host: Stdio) -> int:
    """The process of the host through which Chromium's traffic goes; it names no folder of the test."""
    children = [pid for pid in pids() if stat_fields(pid)[1:2] == [str(host.process.pid)]]
    (found,) = [pid for pid in children if any(word.endswith("egress/main.py") for word in command_line(pid))]
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_however_a_host_ends_its_proxy_ends_with_it(place: Path, site: Site, number: signal.Signals) -> None:
    with Stdio(place, *GRANT, *opened(site.places)) as host:
        idle(host, site)
        proxy = proxy_of(host)
        assert alive(proxy)
        assert 0 not in uids(proxy)
        os.kill(host.process.pid, number)
        host.process.wait(5.0)
        wait_until(lambda: not alive(proxy), 2.0, "the proxy's end")


SIGNALS = (
    pytest.param(signal.SIGINT, 130, id="SIGINT"),
    pytest.param(signal.SIGTERM, 130, id="SIGTERM"),
)
SOME_MOMENTS = [MOMENTS[index] for index in (0, 4, 7, 9)]


@pytest.mark.parametrize("moment", SOME_MOMENTS)
@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_a_signal_ends_a_host_cleanly(place: Path, site: Site, number: int, status: int, moment: Moment) -> None:
    with Stdio(place, *GRANT, *opened(site.places)) as host:
        moment(host, site)
        start = time.monotonic()
        os.kill(host.process.pid, number)
        assert host.wait() == status
        assert seconds(start) < 3.0
        assert b"Traceback" not in host.errors
        assert host.errors.count(b"\n") == 1
        assert started_for(place) == []
        assert list(place.glob("capsdk-*")) == []


def test_a_second_signal_does_not_leave_chromium_behind(place: Path, site: Site) -> None:
    with Stdio(place, *GRANT, *opened(site.places)) as host:
        idle(host, site)
        for _ in range(3):
            os.kill(host.process.pid, signal.SIGINT)
            time.sleep(0.02)
        assert host.wait() == 130
        assert b"Traceback" not in host.errors
        wait_until(lambda: not started_for(place), 2.0, "processes were left behind")


def test_a_keeper_that_is_killed_takes_chromium_with_it(place: Path, site: Site) -> None:
    with Stdio(place, *GRANT, *opened(site.places)) as host:
        session = host.open(site.url + "/")
        (keeper,) = {
            int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[3]) for pid in chromium_of(place)
        } & set(started_for(place))
        os.kill(keeper, signal.SIGKILL)
        wait_until(lambda: not chromium_of(place), 2.0, "Chromium was left behind")
        assert host.cdp_error(session, "DOM.enable")["code"] in ("SESSION_CLOSED", "BROWSER_GONE")
        assert host.js(host.open("about:blank"), "8") == 8
        assert host.finish() == 0
