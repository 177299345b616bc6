"""Frames of other sites on real Chromium: each has a handle, its first request is seen, and its end is told at once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from host.app import open_host
from host.core.settings import Settings
from tests.live.framesite import FrameSites, pause
from tests.support.inprocess import Talker, caller
from tests.support.processes import renderers, wait_until
from tests.support.stdio import GRANT, Stdio, error, opened, seconds, value

ATTACHED, DETACHED = "Target.attachedToTarget", "Target.detachedFromTarget"
AT_ONCE_S = 2.0  # ten times less than the deadline of a command, and enough on a busy machine
STOPPED_S = 1.0


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@pytest.fixture(scope="module")
def host(folder: Path, sites: FrameSites) -> Iterator[Stdio]:
    with Stdio(folder, *GRANT, *opened(sites.places)) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""
        assert made.twice == []


Open = Callable[[str], "Tab"]


class Tab:
    """A session and the handles of its frames."""

    def __init__(self, host: Stdio, url: str) -> None:
        self.host = host
        self.id = host.open(url)

    def attached(self, count: int) -> list[dict[str, Any]]:
        """The attachments so far, when there are at least so many."""
        wait_until(lambda: len(self.events(ATTACHED)) >= count, 5.0, f"{count} frames")
        return self.events(ATTACHED)

    def handle(self, number: int = 1) -> str:
        """The handle of the frame that was attached as this one."""
        return str(self.attached(number)[number - 1]["params"]["sessionId"])

    def events(self, *methods: str, **args: Any) -> list[dict[str, Any]]:
        return self.host.events(self.id, **({"methods": list(methods)} if methods else {}), **args)

    def js(self, expression: str, handle: str | None = None) -> Any:
        """The value of an expression in the page, or in the frame with this handle."""
        return value(self.host.reply(self.post(expression, handle)))

    def post(self, expression: str, handle: str | None = None, **args: Any) -> int:
        given = args if handle is None else {**args, "targetSessionId": handle}
        return self.host.post_js(self.id, expression, **given)

    def code(self, handle: str, expression: str = "1") -> str:
        """The code with which a call to a frame fails, at once."""
        start = time.monotonic()
        found = str(error(self.host.reply(self.post(expression, handle)))["code"])
        assert seconds(start) < AT_ONCE_S
        return found

    def until(self, expression: str, wanted: Any, handle: str | None = None) -> None:
        wait_until(lambda: self.js(expression, handle) == wanted, 5.0, f"{expression} is {wanted!r}")


@pytest.fixture
def tab(host: Stdio) -> Iterator[Open]:
    made: list[Tab] = []

    def open_tab(url: str) -> Tab:
        made.append(Tab(host, url))
        return made[-1]

    yield open_tab
    for one in made:
        host.close(one.id)


def frame(url: str, name: str = "f", **attributes: str) -> str:
    extra = "".join(f" {key}='{text}'" for key, text in attributes.items())
    return f"<iframe id={name} src='{url}'{extra}></iframe>"


def test_frames_three_deep_have_handles_of_their_own(tab: Open, sites: FrameSites) -> None:
    third = sites.page("a", "<title>third</title>")
    second = sites.page("c", frame(third))
    first = sites.page("b", frame(second))
    page = tab(sites.page("a", frame(first)))
    one, two, three = page.attached(3)
    handles = [event["params"]["sessionId"] for event in (one, two, three)]
    assert [event.get("targetSessionId") for event in (one, two, three)] == [None, handles[0], handles[1]]
    for handle, url in zip(handles, (first, second, third), strict=True):
        page.until("location.href", url, handle)
    assert len(set(handles)) == 3
    assert page.js("frames.length") == 1
    made = page.events("Runtime.executionContextCreated")
    assert {event.get("targetSessionId") for event in made} == {None, *handles}


def test_the_first_requests_of_a_frame_are_seen_with_what_they_post(tab: Open, sites: FrameSites) -> None:
    script = "fetch('/early', {method: 'POST', body: 'sent early'}).then(r => r.text()).then(t => document.title = t)"
    inner = sites.page("b", f"<script>{script}</script>")
    page = tab(sites.page("a", frame(inner)))
    handle = page.handle()
    page.until("document.title", "ok", handle)
    assert ("/early", "sent early") in sites.posts
    posted = [
        event
        for event in page.events("Network.requestWillBeSent")
        if event["params"]["request"]["url"].endswith("/early")
    ]
    assert [event.get("targetSessionId") for event in posted] == [handle]
    assert posted[0]["params"]["request"]["postData"] == "sent early"
    done = [event["params"]["requestId"] for event in page.events("Network.loadingFinished")]
    params = {"requestId": posted[0]["params"]["requestId"]}
    assert params["requestId"] in done
    body = page.host.cdp(page.id, "Network.getResponseBody", params, targetSessionId=handle)
    assert body["body"] == "ok"
    documents = [
        event.get("targetSessionId")
        for event in page.events("Network.requestWillBeSent")
        if event["params"]["request"]["url"] == inner
    ]
    assert documents == [None]  # Chromium tells the frame's document on its parent


def test_a_frame_made_anew_has_a_new_handle_and_the_old_one_is_gone(tab: Open, sites: FrameSites) -> None:
    inner = sites.page("b", "<title>inner</title>")
    page = tab(sites.page("a", frame(inner)))
    old = page.handle()
    assert page.js("document.title", old) == "inner"
    page.js(f"f.remove(), document.body.append(Object.assign(document.createElement('iframe'), {{src: '{inner}'}}))")
    new = page.handle(2)
    assert page.code(old) == "TARGET_GONE"
    page.until("document.title", "inner", new)
    gone = [event["params"]["sessionId"] for event in page.events(DETACHED)]
    assert (gone, old == new) == ([old], False)
    page.js("document.querySelector('iframe').remove()")
    wait_until(lambda: len(page.events(DETACHED)) == 2, 3.0, "the end of the second frame")
    assert {page.code(old), page.code(new)} == {"TARGET_GONE"}


def test_a_frame_that_goes_to_another_site_and_back(tab: Open, sites: FrameSites) -> None:
    near, far = sites.page("a", "<title>near</title>"), sites.page("b", "<title>far</title>")
    farther = sites.page("c", "<title>farther</title>")
    page = tab(sites.page("a", frame(near)))
    assert page.events(ATTACHED) == []
    page.js(f"f.src = '{far}'")
    first = page.handle()
    page.until("document.title", "far", first)
    page.js(f"f.src = '{farther}'")
    page.until("document.title", "farther", first)  # from one foreign site to another it keeps its handle
    page.js(f"f.src = '{near}'")
    wait_until(lambda: page.events(DETACHED), 3.0, "the end of the handle")
    assert page.code(first) == "TARGET_GONE"
    assert page.js("frames.length") == 1
    page.js(f"f.src = '{far}'")
    second = page.handle(2)
    page.until("document.title", "far", second)
    assert second != first


def test_origins_of_one_site_are_kept_apart(tab: Open, sites: FrameSites) -> None:
    headers = {"Origin-Agent-Cluster": "?0"}  # what a site says that wants its origins in one process
    page = tab(sites.page("a", frame(sites.page("near", "<title>near</title>", **headers)), **headers))
    assert page.js("document.title", page.handle()) == "near"


def test_a_frame_without_an_address_is_reached_by_its_execution_context(tab: Open, sites: FrameSites) -> None:
    page = tab(sites.page("a", "<iframe id=f srcdoc='<title>inside</title>'></iframe><iframe id=g></iframe>"))
    tree = page.host.cdp(page.id, "Page.getFrameTree")["frameTree"]["childFrames"]
    frames = {child["frame"]["id"]: child["frame"]["url"] for child in tree}
    assert sorted(frames.values()) == ["about:blank", "about:srcdoc"]
    contexts = {
        event["params"]["context"]["auxData"]["frameId"]: event["params"]["context"]["id"]
        for event in page.events("Runtime.executionContextCreated")
    }
    for frame_id, url in frames.items():
        params = {"expression": "location.href", "contextId": contexts[frame_id]}
        assert page.host.cdp(page.id, "Runtime.evaluate", params)["result"]["value"] == url
    assert page.events(ATTACHED) == []


def test_sandboxed_frames_are_lent_as_what_they_are(tab: Open, sites: FrameSites) -> None:
    inner = sites.page("a", "<title>boxed</title>")
    boxed = frame(inner, sandbox="allow-scripts")
    page = tab(sites.page("a", f"{boxed}<iframe sandbox='allow-scripts' srcdoc='<title>doc</title>'></iframe>"))
    handles = [event["params"]["sessionId"] for event in page.attached(2)]
    for handle in handles:
        page.until("self.origin + (document.readyState == 'complete')", "nulltrue", handle)
    assert {page.js("document.title", handle) for handle in handles} == {"boxed", "doc"}


def test_twenty_frames_at_once(tab: Open, sites: FrameSites) -> None:
    inner = [sites.page("bc"[number % 2], f"<title>frame {number}</title>") for number in range(20)]
    page = tab(sites.page("a", "".join(frame(url, f"f{number}") for number, url in enumerate(inner))))
    handles = [event["params"]["sessionId"] for event in page.attached(20)]
    calls = [page.post("location.href", handle) for handle in handles]
    assert sorted(value(page.host.reply(number)) for number in calls) == sorted(inner)
    waiting = [page.post("new Promise(() => 0)", handle) for handle in handles]
    start = time.monotonic()
    page.js("document.body.textContent = ''")
    assert {error(page.host.reply(number))["code"] for number in waiting} == {"TARGET_GONE"}
    assert seconds(start) < AT_ONCE_S
    assert page.js("frames.length") == 0


def test_a_frame_removed_in_the_middle_of_a_command_ends_it_at_once(tab: Open, sites: FrameSites) -> None:
    deep = sites.page("c", "deep")
    page = tab(sites.page("a", frame(sites.page("b", frame(deep)))))
    outer, inner = page.handle(1), page.handle(2)
    waiting = [page.post("new Promise(() => 0)", handle) for handle in (outer, inner, outer)]
    beside = page.post("new Promise(done => setTimeout(() => done('beside'), 300))")
    start = time.monotonic()
    page.js("f.remove()")
    assert [error(page.host.reply(number))["code"] for number in waiting] == ["TARGET_GONE"] * 3
    assert seconds(start) < AT_ONCE_S
    assert value(page.host.reply(beside)) == "beside"
    assert {page.code(outer), page.code(inner)} == {"TARGET_GONE"}


def test_a_frame_that_navigates_away_with_its_page_is_gone_and_comes_back_with_it(tab: Open, sites: FrameSites) -> None:
    page = tab(sites.page("a", frame(sites.page("b", "<title>inner</title>"))))
    old = page.handle()
    page.host.cdp(page.id, "Page.navigate", {"url": sites.page("c", "<title>next</title>")})
    page.until("document.title", "next")
    assert page.code(old) == "TARGET_GONE"
    page.js("history.back()")
    new = page.handle(2)
    page.until("document.title", "inner", new)


def test_a_handle_is_good_in_its_own_session_only(tab: Open, sites: FrameSites) -> None:
    url = sites.page("a", frame(sites.page("b", "inner")))
    first, second = tab(url), tab(url)
    own, other = first.handle(), second.handle()
    for page, handle in ((first, other), (second, own), (first, second.id), (first, first.id)):
        assert page.code(handle) == "SESSION_NOT_OWNED"
    for wrong in (own.upper(), own[:-1], own + " ", ""):
        assert first.code(wrong) == "SESSION_NOT_OWNED"
    assert first.host.error("browser.cdp", sessionId=own, method="DOM.enable")["code"] == "SESSION_CLOSED"


def test_workers_and_viewers_are_never_lent(tab: Open, sites: FrameSites) -> None:
    script = sites.put("self.onmessage = e => e.source && e.source.postMessage(1); 0", "text/javascript")
    pdf = sites.origins["a"] + sites.put("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF", "application/pdf")
    inner = sites.page("b", f"<script>new Worker('{script}'); new SharedWorker('{script}')</script><title>in</title>")
    page = tab(sites.page("a", f"{frame(inner)}<embed src='{pdf}'>{frame(pdf, 'g')}"))
    page.js(f"new Worker('{script}'), new SharedWorker('{script}'), 0")
    assert page.js(
        f"navigator.serviceWorker.register('{script}').then(() => navigator.serviceWorker.ready).then(() => 1)"
    )
    page.until("document.title", "in", page.handle())
    pause()
    targets = [event["params"]["targetInfo"] for event in page.events(ATTACHED)]
    assert [(info["type"], info["url"].startswith("chrome")) for info in targets] == [("iframe", False)]
    assert "chrome-extension" not in json.dumps(page.events())
    page.js("navigator.serviceWorker.getRegistrations().then(all => Promise.all(all.map(one => one.unregister())))")


# --- dialogs, loops, crashes


@pytest.mark.parametrize("sites_inward", ["b", "ba", "bc"], ids=["foreign", "own-origin-within", "foreign-within"])
def test_a_dialog_of_a_frame_stops_the_page_until_it_is_answered(
    tab: Open, sites: FrameSites, sites_inward: str
) -> None:
    text = "<title>inner</title>"
    for name in reversed(sites_inward):
        text = frame(sites.page(name, text))
    page = tab(sites.page("a", text))
    handle = page.handle(len(sites_inward))
    page.until("document.title", "inner", handle)
    start = time.monotonic()
    problem = error(page.host.reply(page.post("document.title = confirm('sure?')", handle)))
    assert problem["code"] == "DIALOG_OPEN"
    assert {"message": "sure?", "dialogOpened": True}.items() <= problem["details"].items()
    assert seconds(start) < 2.0
    for where in (None, handle):
        assert error(page.host.reply(page.post("1", where)))["code"] == "DIALOG_OPEN"
    assert page.host.cdp(page.id, "Page.handleJavaScriptDialog", {"accept": True}) == {}
    page.until("document.title", "true", handle)
    page.until("2", 2)


def test_a_busy_frame_times_out_and_its_page_does_not_notice(tab: Open, sites: FrameSites) -> None:
    page = tab(sites.page("a", frame(sites.page("b", "<title>busy</title>"))))
    handle = page.handle()
    page.until("document.title", "busy", handle)
    page.js("setTimeout(() => { while (true); }, 0), 0", handle)
    pause()
    waiting = page.post("1", handle, timeoutMs=1500)
    assert page.js("'page'") == "page"
    assert not page.host.answers(waiting, 0.0)
    problem = error(page.host.reply(waiting))
    assert (problem["code"], problem["details"]) == ("BROWSER_TIMEOUT", {"limitMs": 1500})
    assert page.js("document.title", handle) == "busy"  # its loop was ended, and it goes on
    assert page.js("'page'") == "page"


def process_of(page: Tab, handle: str | None) -> int:
    """The pid of a frame's process: while that one is stopped, the frame does not answer."""
    for pid in renderers(page.host.folder):
        with contextlib.suppress(ProcessLookupError):  # Chromium lets spare ones go
            os.kill(pid, signal.SIGSTOP)
            try:
                if not page.host.answers(page.post("1", handle), STOPPED_S):
                    return pid
            finally:
                os.kill(pid, signal.SIGCONT)
    raise AssertionError("the frame answers without any renderer")


def test_a_frame_whose_process_is_killed_says_so_at_once_and_its_page_goes_on(tab: Open, sites: FrameSites) -> None:
    inner = sites.page("c", "<title>inner</title>")
    page = tab(sites.page("a", frame(inner)))
    handle = page.handle()
    page.until("document.title", "inner", handle)
    waiting = page.post("new Promise(() => 0)", handle)
    os.kill(process_of(page, handle), signal.SIGKILL)
    start = time.monotonic()
    assert error(page.host.reply(waiting))["code"] in ("TARGET_CRASHED", "TARGET_GONE")
    assert seconds(start) < AT_ONCE_S
    assert page.code(handle) in ("TARGET_CRASHED", "TARGET_GONE")
    wait_until(lambda: page.events("Inspector.targetCrashed"), 2.0, "the event of the crash")
    assert [event["targetSessionId"] for event in page.events("Inspector.targetCrashed")] == [handle]
    assert page.js("document.querySelectorAll('iframe').length") == 1
    page.js(f"f.src = '{sites.page('c', '<title>revived</title>')}'")
    wait_until(lambda: page.events("Inspector.targetReloadedAfterCrash"), 5.0, "a new process for the frame")
    page.until("document.title", "revived", handle)
    page.js(f"f.remove(), document.body.append(Object.assign(document.createElement('iframe'), {{src: '{inner}'}}))")
    page.until("document.title", "inner", page.handle(2))
    assert page.code(handle) == "TARGET_GONE"


def test_a_frame_that_stays_deaf_costs_its_page_nothing(tab: Open, sites: FrameSites) -> None:
    page = tab(sites.page("a", frame(sites.page("c", "<title>inner</title>"))))
    handle = page.handle()
    page.until("document.title", "inner", handle)
    pid = process_of(page, handle)
    os.kill(pid, signal.SIGSTOP)
    try:
        problem = error(page.host.reply(page.post("1", handle, timeoutMs=300)))
        assert (problem["code"], problem["details"]) == ("BROWSER_TIMEOUT", {"limitMs": 300})
        assert page.js("f.remove(), 'page'") == "page"
        wait_until(lambda: page.events(DETACHED), 3.0, "the end of the frame")
        assert page.code(handle) == "TARGET_GONE"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def test_a_page_whose_process_is_killed_takes_no_other_session_with_it(tab: Open, sites: FrameSites) -> None:
    page, other = tab(sites.page("b", "<title>one</title>")), tab(sites.page("c", "<title>other</title>"))
    waiting = page.post("new Promise(() => 0)")
    os.kill(process_of(page, None), signal.SIGKILL)
    assert error(page.host.reply(waiting))["code"] == "TARGET_CRASHED"
    assert other.js("document.title") == "other"
    page.host.cdp(page.id, "Page.navigate", {"url": sites.page("b", "<title>two</title>")})
    page.until("document.title", "two")


# --- what must not be seen


async def test_chromiums_own_session_ids_are_in_no_event_and_open_no_frame(
    place: Path, sites: FrameSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place))  # where the browser's own uid can reach its profile
    deep = sites.page("c", "<title>deep</title>")
    url = sites.page("a", frame(sites.page("b", frame(deep))))
    who = caller(places=sites.places)
    async with open_host(Settings(), ephemeral=True) as host:
        own, raw = Talker(host, who), set[str]()
        session = await own.open(url)
        inner = host.sessions.owned(who, session)
        found: list[dict[str, Any]] = []
        for change in ("", "f.src = f.src", "f.remove()"):
            await own.js(session, change or "0")
            poll = {"after": 0, "methods": [ATTACHED], "waitMs": 300}
            await own.ok("browser.events", sessionId=session, **poll)
            await own.js(session, "new Promise(done => setTimeout(done, 400))")
            raw |= {cdp for channel in (inner.page, *inner.frames) for cdp in (channel.app, channel.guard)}
        after = 0
        while (page := await own.ok("browser.events", sessionId=session, after=after))["next"] != after:
            found, after = found + page["events"], page["next"]
        assert len(raw) >= 6
        assert sum(event["method"] == ATTACHED for event in found) >= 2
        text = json.dumps(found)
        assert [one for one in raw if one in text] == []
        for one in raw:
            args = {"sessionId": session, "method": "DOM.enable", "targetSessionId": one}
            assert await own.code("browser.cdp", **args) == "SESSION_NOT_OWNED"
