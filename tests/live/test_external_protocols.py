"""Addresses that other programs are for start none, whichever way a page or a script goes there: a spy would tell."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from host.browser import process
from tests.live.framesite import FrameSites
from tests.live.walls import asked, host_in, soon, talker
from tests.support.inprocess import Talker
from tests.support.processes import browser_process, chromium_of, read
from tests.support.site import Site
from tests.support.stdio import LOADED

pytestmark = pytest.mark.asyncio(loop_scope="module")
POLICY = "BROWSER_POLICY_DENIED"
# What xdg-utils and desktops start, and what Chromium asks which program is whose.
PROGRAMS = (
    "exo-open",
    "gio",
    "gnome-open",
    "gvfs-open",
    "kde-open",
    "kde-open5",
    "kfmclient",
    "sensible-browser",
    "sh",
    "thunderbird",
    "x-www-browser",
    "xdg-email",
    "xdg-mime",
    "xdg-open",
    "xdg-settings",
)
ADDRESSES = (
    "mailto:a@b.example",
    "tel:123",
    "sms:123",
    "ssh://h.example",
    "vscode://file/x",
    "zoommtg://h.example/join",
    "ms-word:ofe|u|http://h.example/x",
    "intent://x#Intent;scheme=http;end",
    "steam://run/1",
    "x-made-up:1",
)


class Spy:
    """A folder of programs that write down that they were started, and with what."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "programs"
        self._notes = folder / "notes"
        self.folder.mkdir(parents=True)
        self._notes.write_text("")
        self._notes.chmod(0o666)
        for name in PROGRAMS:
            program = self.folder / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> {self._notes}\n')
            program.chmod(0o755)

    @property
    def notes(self) -> list[str]:
        """What was started, in order."""
        return self._notes.read_text().splitlines()

    async def has_seen(self, mark: str) -> bool:
        """Was something started for this?"""
        return bool(await soon(lambda: any(mark in line for line in self.notes)))


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


# How a page goes to an address by itself, once it is loaded; `to` is the address.
PAGES = {
    "location": "<script>location = to</script>",
    "location-after-a-while": "<script>setTimeout(() => location.replace(to), 100)</script>",
    "meta-refresh": "<meta http-equiv=refresh content='0;url={to}'>",
    "form": "<form id=f></form><script>f.action = to, f.submit()</script>",
    "form-post": "<form id=f method=post></form><script>f.action = to, f.submit()</script>",
    "link": "<a id=link></a><script>link.href = to, link.click()</script>",
    "frame": "<iframe src='{to}'></iframe>",
}


def page(way: str, to: str) -> str:
    """A page that goes to an address in this way."""
    return f"<script>const to = {json.dumps(to)}</script>{PAGES[way].replace('{to}', to)}"


# With a click of the user behind it.
CALLS = {
    "clicked-location": "location = to",
    "clicked-window": "void open(to)",
    "clicked-frame": "document.body.appendChild(document.createElement('iframe')).src = to",
    "clicked-object": "document.body.appendChild(document.createElement('object')).data = to",
    "clicked-top-of-a-frame": "document.querySelector('iframe').contentWindow.eval('top.location = parent.to')",
}
EMPTY = "<title>empty</title><body><iframe srcdoc=inner></iframe>"
WAYS = (*PAGES, *CALLS, "redirect", "redirect-of-a-frame", "refresh-header", "fulfilled-page", "dispatched-click")


async def moment() -> None:
    """In which something that must not happen would begin."""
    await asyncio.sleep(0.3)


class Walk:
    """Goes to addresses in every way, in one session of one host."""

    def __init__(self, who: Talker, session: str, sites: FrameSites, site: Site) -> None:
        self.who = who
        self.session = session
        self.sites = sites
        self.site = site

    async def go(self, way: str, to: str, until: Callable[[], Awaitable[object]] = moment) -> None:
        """One way to one address, and then until something; the session works afterwards."""
        await self.navigate(self.sites.page("a", EMPTY))
        await self.click()  # Chromium takes one such address after another only when the user did something
        if way in PAGES:
            await self.navigate(self.sites.page("a", page(way, to)))
        elif way in CALLS:
            await asked(self.who, self.session, f"to = {json.dumps(to)}; {CALLS[way]}; 1")
        else:
            await getattr(self, f"_{way.replace('-', '_')}")(to)
        await until()
        assert await self.who.js(self.session, "1 + 1") == 2

    async def navigate(self, url: str) -> None:
        """Page.navigate, wherever it ends."""
        await self.cdp("Page.navigate", url=url)

    async def cdp(self, method: str, **params: Any) -> dict[str, Any]:
        """One CDP command that has to succeed."""
        made = await self.who.ok("browser.cdp", sessionId=self.session, method=method, params=params)
        found: dict[str, Any] = made["result"]
        return found

    async def click(self) -> None:
        """A click of the mouse as a script makes it, once all has loaded."""
        await self.who.js(self.session, LOADED)
        at = {"x": 50, "y": 50, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            await self.cdp("Input.dispatchMouseEvent", type=kind, **at)

    async def held(self) -> str:
        """A navigation that waits for an answer of Fetch: its request."""
        after = (await self.who.ok("browser.events", sessionId=self.session, methods=[], after=0))["next"]
        await self.cdp("Fetch.enable", patterns=[{"resourceType": "Document"}])
        params = {"url": self.sites.page("a", "held")}
        going = self.who.post("browser.cdp", sessionId=self.session, method="Page.navigate", params=params)
        going.add_done_callback(lambda done: done.exception())
        poll = {"after": after, "methods": ["Fetch.requestPaused"], "waitMs": 5000}
        found = await self.who.ok("browser.events", sessionId=self.session, **poll)
        return str(found["events"][0]["params"]["requestId"])

    def _redirecting(self, to: str) -> str:
        return f"{self.site.url}/redirect?to={quote(to)}"

    async def _redirect(self, to: str) -> None:
        await self.navigate(self._redirecting(to))

    async def _redirect_of_a_frame(self, to: str) -> None:
        await self.navigate(self.sites.page("a", f"<iframe src='{self._redirecting(to)}'></iframe>"))

    async def _refresh_header(self, to: str) -> None:
        await self.navigate(self.sites.page("a", "refreshing", Refresh=f"0;url={to}"))

    async def _fulfilled_page(self, to: str) -> None:
        """The script answers the page's request itself."""
        request = await self.held()
        body = base64.b64encode(page("location", to).encode()).decode()
        headers = [{"name": "Content-Type", "value": "text/html"}]
        await self.cdp("Fetch.fulfillRequest", requestId=request, responseCode=200, responseHeaders=headers, body=body)
        await self.cdp("Fetch.disable")

    async def _dispatched_click(self, to: str) -> None:
        await self.navigate(self.sites.page("a", f"<a href='{to}' style='position: fixed; inset: 0'>link</a>"))
        await self.click()


@dataclass(frozen=True, slots=True)
class Watched:
    """A host, and the spy in the PATH that its Chromium, or only the host itself, was given."""

    walk: Walk
    spy: Spy
    profile: Path

    @contextlib.asynccontextmanager
    async def apart(self) -> AsyncIterator[Watched]:
        """The same in another tab."""
        session = await self.walk.who.open()
        yield replace(self, walk=Walk(self.walk.who, session, self.walk.sites, self.walk.site))
        await self.walk.who.ok("browser.closeSession", sessionId=session)


@contextlib.asynccontextmanager
async def watched(folder: Path, name: str, sites: FrameSites, site: Site) -> AsyncIterator[Watched]:
    """One host with a spy of its own in its PATH, as a user's host has the user's programs there."""
    spy = Spy(folder / f"{name}-spy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{spy.folder}:{os.environ['PATH']}")
        if name == "control":
            patch.setattr(process, "EMPTY_PATH", str(spy.folder))
        async with host_in(folder, name) as host:
            who = talker(host, *sites.places, *site.places)
            session = await who.open()  # Chromium has its surroundings from now on
            patch.undo()
            yield Watched(Walk(who, session, sites, site), spy, folder / name)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def product(folder: Path, sites: FrameSites, site: Site) -> AsyncIterator[Watched]:
    async with watched(folder, "product", sites, site) as made:
        yield made
        assert made.spy.notes == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def control(folder: Path, sites: FrameSites, site: Site) -> AsyncIterator[Watched]:
    """All the same, but Chromium finds the programs."""
    async with watched(folder, "control", sites, site) as made:
        yield made


@pytest.mark.parametrize("way", WAYS)
async def test_no_way_to_an_address_for_another_program_starts_it(product: Watched, control: Watched, way: str) -> None:
    to, mark = f"mailto:{way}@b.example", f"xdg-email mailto:{way}@"
    await both(product, control, way, to, mark)
    assert product.spy.notes == []


async def both(product: Watched, control: Watched, way: str, to: str, mark: str) -> None:
    """The control starts a program, and the product has had as long for it."""
    first = asyncio.create_task(product.walk.go(way, to))
    await control.walk.go(way, to, until=lambda: control.spy.has_seen(mark))
    await first
    assert await control.spy.has_seen(mark)


@pytest.mark.parametrize("to", ADDRESSES)
async def test_no_kind_of_address_starts_a_program(product: Watched, control: Watched, to: str) -> None:
    mark = f"default-url-scheme-handler {to.partition(':')[0]} "
    # In tabs of their own: the question that a control asks nobody keeps its tab from asking another.
    async with product.apart() as ours, control.apart() as theirs:
        await both(ours, theirs, "dispatched-click", to, mark)
    assert product.spy.notes == []


@dataclass(frozen=True, slots=True)
class Held:
    """A page with a frame, and a request of its that a script holds."""

    walk: Walk
    frame: str
    request: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def held(product: Watched) -> AsyncIterator[Held]:
    walk = product.walk
    await walk.navigate(walk.sites.page("a", EMPTY))
    await walk.who.js(walk.session, LOADED)
    frame = (await walk.cdp("Page.getFrameTree"))["frameTree"]["childFrames"][0]["frame"]["id"]
    request = await walk.held()
    yield Held(walk, frame, request)
    await walk.cdp("Fetch.continueRequest", requestId=request)
    await walk.cdp("Fetch.disable")
    assert await walk.who.js(walk.session, "1 + 1") == 2
    assert product.spy.notes == []


@pytest.mark.parametrize("to", ADDRESSES)
async def test_a_script_is_refused_such_an_address_before_chromium_hears_of_it(held: Held, to: str) -> None:
    made_up = {"requestId": held.request, "responseCode": 302}
    location = [{"name": "Location", "value": to}]
    binary = base64.b64encode(f"A: b\0Location: {to}".encode()).decode()
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Page.navigate", {"url": to}),
        ("Page.navigate", {"url": to, "frameId": held.frame}),
        ("Fetch.continueRequest", {"requestId": held.request, "url": to}),
        ("Fetch.fulfillRequest", {**made_up, "responseHeaders": location}),
        ("Fetch.fulfillRequest", {**made_up, "binaryResponseHeaders": binary}),
    )
    who, session = held.walk.who, held.walk.session
    for method, params in refused:
        assert await who.code("browser.cdp", sessionId=session, method=method, params=params) == POLICY
    assert await who.code("browser.openSession", url=to) == POLICY


async def test_no_process_of_chromium_has_a_program_in_its_path(product: Watched, control: Watched) -> None:
    paths = {
        word.partition(b"=")[2].decode()
        for pid in chromium_of(product.profile)
        for word in read(pid, "environ").split(b"\0")
        if word.startswith(b"PATH=")
    }
    assert paths == {process.EMPTY_PATH}
    with pytest.raises(FileNotFoundError):
        os.listdir(process.EMPTY_PATH)
    assert f"PATH={control.spy.folder}".encode() in read(browser_process(control.profile), "environ").split(b"\0")
