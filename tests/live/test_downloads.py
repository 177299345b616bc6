"""Nothing that a site has lands on this machine as a file, and a PDF is no page that sees other tabs."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from host.app import Host, browser_uid
from host.browser import profile as profiles
from tests.live.framesite import FrameSites
from tests.live.walls import asked, host_in, soon, talker
from tests.support.inprocess import Talker
from tests.support.stdio import LOADED

pytestmark = pytest.mark.asyncio(loop_scope="module")

BEGAN = time.time()
SHARED = Path("/tmp")  # where Chromium puts temporary files, as it gets no TMPDIR
# What any browser keeps of a site for itself, under names of its own.
STORES = ("Cache", "Code Cache", "Service Worker")
OCTETS = "application/octet-stream"
PDF = """%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>> endobj
trailer <</Root 1 0 R>>
% """


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@dataclass(frozen=True, slots=True)
class Desk:
    """A host, and the folder into which its Chromium would put files."""

    host: Host
    who: Talker
    session: str
    sites: FrameSites
    profile: Path
    landing: Path

    def found(self, mark: str) -> list[Path]:
        """Files that hold these bytes, apart from Chromium's own stores."""
        trees = [Path(folder) / name for folder, _, names in os.walk(self.profile.parent) for name in names]
        places = (*(path for path in trees if not set(STORES) & set(path.parts)), *_new_in(SHARED))
        return [path for path in places if mark.encode() in _bytes(path)]

    def landed(self, mark: str) -> list[Path]:
        """Files with these bytes where downloads go when there are any."""
        return [path for path in self.landing.iterdir() if mark.encode() in _bytes(path)]

    async def cdp(self, method: str, **params: Any) -> dict[str, Any]:
        """One CDP command that has to succeed."""
        made = await self.who.ok("browser.cdp", sessionId=self.session, method=method, params=params)
        found: dict[str, Any] = made["result"]
        return found


def _new_in(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime > BEGAN:
                    yield Path(entry.path)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@contextlib.asynccontextmanager
async def desk(folder: Path, name: str, sites: FrameSites) -> AsyncIterator[Desk]:
    landing = folder / f"{name}-landing"
    landing.mkdir()
    uid = browser_uid()
    if uid is not None:
        os.chown(landing, uid, uid)
    async with host_in(folder, name) as host:
        who = talker(host, *sites.places)
        yield Desk(host, who, await who.open(), sites, folder / name, landing)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def product(folder: Path, sites: FrameSites) -> AsyncIterator[Desk]:
    async with desk(folder, "product", sites) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def control(folder: Path, sites: FrameSites) -> AsyncIterator[Desk]:
    """All the same, but Chromium may download."""
    async with desk(folder, "control", sites) as made:
        connection = await made.host.browser.connection()
        behavior = {"behavior": "allow", "downloadPath": str(made.landing)}
        await connection.call("Browser.setDownloadBehavior", behavior, timeout_s=5.0)
        yield made


# --- ways: what a page holds, with `{url}` for what is downloaded and `{near}` for the same at another origin

ATTACHED = {"Content_Disposition": "attachment; filename=landed.bin"}
SAVE = (
    "const save = (url, name) => { const a = document.createElement('a'); a.href = url; a.download = name; a.click() };"
)
WAYS = {
    "navigated": "",
    "navigated-octets": "",
    "navigated-extension": "",
    "made-by-the-script": "",
    "location": "location = '{url}'",
    "link": "const a = document.createElement('a'); a.href = '{url}'; document.body.append(a); a.click()",
    "link-with-a-name": SAVE + "save('{url}', 'landed.txt')",
    "link-to-another-origin": SAVE + "save('{near}', 'landed.txt')",
    "many": SAVE + "for (const n of [1, 2, 3, 4, 5]) save('{url}?' + n, 'landed')",
    "blob": SAVE + "save(URL.createObjectURL(new Blob(['{mark}'])), 'landed.txt')",
    "blob-navigated": f"location = URL.createObjectURL(new Blob(['{{mark}}'], {{type: '{OCTETS}'}}))",
    "data": SAVE + f"save('data:{OCTETS};base64,{{base64}}', 'landed.txt')",
    "frame": "document.body.appendChild(document.createElement('iframe')).src = '{url}'",
    "frame-of-another-origin": "document.body.appendChild(document.createElement('iframe')).src = '{near}'",
    "form": "const f = document.createElement('form'); f.action = '{url}'; document.body.append(f); f.submit()",
    "service-worker": "navigator.serviceWorker.register('{worker}').then(() => navigator.serviceWorker.ready)"
    ".then(() => { location = '/made-by-the-worker' })",
    "pdf-navigated": "",
    "pdf-attached": "",
    "pdf-link": "location = '{url}'",
    "pdf-blob": "location = URL.createObjectURL(new Blob([`{pdf}`], {type: 'application/pdf'}))",
}
WORKER = """
addEventListener('install', () => skipWaiting());
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => {
    if (event.request.url.endsWith('/made-by-the-worker'))
        event.respondWith(new Response('{mark}', {headers: {'Content-Disposition': 'attachment; filename=x.bin'}}));
});"""


def served(sites: FrameSites, way: str, mark: str) -> str:
    """Put what is to be downloaded on the sites: its path."""
    if way == "pdf-attached":
        return sites.put(PDF + mark, "application/pdf", **ATTACHED)
    if way.startswith("pdf"):
        return sites.put(PDF + mark, "application/pdf")
    if way == "navigated-octets":
        return sites.put(mark, OCTETS)
    if way == "navigated-extension":
        return sites.put(mark, "application/x-chrome-extension")
    return sites.put(mark, OCTETS, **ATTACHED)


async def go(desk: Desk, way: str, mark: str) -> None:
    """Download in this way."""
    sites, path = desk.sites, served(desk.sites, way, mark)
    await desk.cdp("Page.navigate", url=sites.page("a", "<title>desk</title><body>"))
    await desk.who.js(desk.session, LOADED)
    call = WAYS[way]
    if way == "made-by-the-script":
        await _made(desk, mark)
    elif call:
        for name, value in {
            "{url}": sites.origins["a"] + path,
            "{near}": sites.origins["near"] + path,
            "{mark}": mark,
            "{base64}": base64.b64encode(mark.encode()).decode(),
            "{pdf}": PDF + mark,
            "{worker}": sites.put(WORKER.replace("{mark}", mark), "text/javascript"),
        }.items():
            call = call.replace(name, value)
        await asked(desk.who, desk.session, f"(async () => {{ {call} }})()")
    else:
        await desk.cdp("Page.navigate", url=sites.origins["a"] + path)


async def _made(desk: Desk, mark: str) -> None:
    """The script answers the page's request itself, with a download."""
    after = (await desk.who.ok("browser.events", sessionId=desk.session, methods=[], after=0))["next"]
    await desk.cdp("Fetch.enable", patterns=[{"resourceType": "Document"}])
    params = {"url": desk.sites.page("a", "held")}
    going = desk.who.post("browser.cdp", sessionId=desk.session, method="Page.navigate", params=params)
    going.add_done_callback(lambda done: done.exception())
    poll = {"after": after, "methods": ["Fetch.requestPaused"], "waitMs": 5000}
    found = await desk.who.ok("browser.events", sessionId=desk.session, **poll)
    await desk.cdp(
        "Fetch.fulfillRequest",
        requestId=found["events"][0]["params"]["requestId"],
        responseCode=200,
        responseHeaders=[{"name": "Content-Disposition", "value": "attachment; filename=landed.bin"}],
        body=base64.b64encode(mark.encode()).decode(),
    )
    await desk.cdp("Fetch.disable")


@pytest.mark.parametrize("way", WAYS)
async def test_no_way_to_download_leaves_a_file(product: Desk, control: Desk, way: str) -> None:
    ours, theirs = f"mark-{secrets.token_hex(16)}", f"mark-{secrets.token_hex(16)}"
    await asyncio.gather(go(product, way, ours), go(control, way, theirs))
    assert await soon(lambda: control.landed(theirs))
    # For some milliseconds Chromium has a draft, of which it is then told that there is to be none.
    drafts = product.profile / profiles.DOWNLOADS
    assert {path.parent for path in product.found(ours)} <= {drafts}
    assert await soon(lambda: not product.found(ours))
    assert await soon(lambda: list(drafts.iterdir()) == [])
    assert list(product.landing.iterdir()) == []
    assert await product.who.js(product.session, "1 + 1") == 2


KINDS = {"attached": "link", "octets": "navigated-octets", "extension": "navigated-extension", "pdf": "pdf-navigated"}


@pytest.mark.parametrize("way", KINDS.values(), ids=KINDS)
async def test_opening_a_download_lends_the_tab_and_says_that_nothing_came(product: Desk, way: str) -> None:
    mark = f"mark-{secrets.token_hex(16)}"
    url = product.sites.origins["a"] + served(product.sites, way, mark)
    async with asyncio.timeout(5.0):
        opened = await product.who.ok("browser.openSession", url=url)
    assert opened["navigation"] == {"url": url, "errorText": "net::ERR_ABORTED"}
    session = opened["sessionId"]
    states = await downloads(product, session)
    assert states == ["inProgress", "canceled"]
    there = replace(product, session=session)
    assert "errorText" not in await there.cdp("Page.navigate", url=product.sites.page("a", "<title>next</title>"))
    assert await soon(lambda: not product.found(mark))
    await product.who.ok("browser.closeSession", sessionId=session)


async def downloads(desk: Desk, session: str) -> list[str]:
    """What Chromium tells of a download's progress."""
    states: list[str] = []
    after = 0
    while "canceled" not in states:
        poll = {"after": after, "methods": ["Page.downloadProgress"], "waitMs": 5000}
        found = await desk.who.ok("browser.events", sessionId=session, **poll)
        assert found["events"], states
        states += [event["params"]["state"] for event in found["events"]]
        after = found["next"]
    return states


VIEWS = {
    "page": "location = '{url}'",
    "frame": WAYS["frame"],
    "embed": "document.body.appendChild(document.createElement('embed')).src = '{url}'",
    "object": "document.body.appendChild(document.createElement('object')).data = '{url}'",
    "blob-frame": "document.body.appendChild(document.createElement('iframe')).src ="
    "URL.createObjectURL(new Blob([`{pdf}`], {type: 'application/pdf'}))",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def viewer(folder: Path, sites: FrameSites) -> AsyncIterator[Desk]:
    """A Chromium that shows PDFs as it does when nobody tells it not to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "PREFERENCES", {})
        async with desk(folder, "viewer", sites) as made:
            yield made


async def extensions(desk: Desk) -> list[str]:
    """Targets of extensions, which see and open all tabs."""
    connection = await desk.host.browser.connection()
    targets = (await connection.call("Target.getTargets", {"filter": [{}]}, timeout_s=5.0))["targetInfos"]
    return [target["url"] for target in targets if target["url"].startswith("chrome-extension:")]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
async def test_a_pdf_brings_no_page_of_an_extension(product: Desk, viewer: Desk, view: str) -> None:
    mark = f"mark-{secrets.token_hex(16)}"
    for desk in (product, viewer):
        url = desk.sites.origins["a"] + desk.sites.put(PDF + mark, "application/pdf")
        await desk.cdp("Page.navigate", url=desk.sites.page("a", "<title>desk</title><body>"))
        await desk.who.js(desk.session, LOADED)
        assert await soon(lambda desk=desk: gone(desk))  # type: ignore[misc] # mypy cannot infer a lambda with a default
        await asked(desk.who, desk.session, f"{view.replace('{url}', url).replace('{pdf}', PDF)}; 1")
    assert await soon(lambda: extensions(viewer))  # so the product has had as long for it
    assert await extensions(product) == []
    children = await product.who.ok("browser.events", sessionId=product.session, methods=["Target.attachedToTarget"])
    assert children["events"] == []
    assert await soon(lambda: not product.found(mark))
    assert await product.who.js(product.session, "1 + 1") == 2


async def gone(desk: Desk) -> bool:
    """Is no page of an extension left?"""
    return not await extensions(desk)
