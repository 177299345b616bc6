"""Attempts 19 to 22 and 25: files of this machine, streams of the browser, downloads and the viewer of PDFs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from host.app import browser_uid
from tests.attacks.counting import attempt
from tests.attacks.lab import Lab, Mark
from tests.support.origin_sites import Answer
from tests.support.origin_world import until

pytestmark = pytest.mark.asyncio(loop_scope="package")

DROP = (
    "<body style='height: 300px' ondragover='event.preventDefault()' ondrop='event.preventDefault();"
    ' document.title = event.dataTransfer.files.length + event.dataTransfer.getData("text/plain")\'>'
)
PDF = (
    "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n"
    "3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>> endobj\ntrailer <</Root 1 0 R>>\n"
)


def readable(lab: Lab, name: str, text: str = "") -> Path:
    """A file of this machine that the browser's own user could read."""
    path = lab.folder / name
    path.write_text(text)
    path.chmod(0o644)
    return path


async def node(mark: Mark, selector: str) -> int:
    root = (await mark.cdp("DOM.getDocument"))["root"]["nodeId"]
    return int((await mark.cdp("DOM.querySelector", nodeId=root, selector=selector))["nodeId"])


@attempt(19, "Fetch.takeResponseBodyAsStream, IO.read, Network.loadNetworkResource")
async def test_no_stream_of_the_browser_is_read(lab: Lab) -> None:
    mark = await lab.tab()
    lab.sites.put("{shop}/held", "secret")
    await mark.cdp("Fetch.enable", patterns=[{"urlPattern": "*held*", "requestStage": "Response"}])
    await mark.later("fetch('/held')")
    request = (await mark.told("Fetch.requestPaused"))[0]["requestId"]
    frame = (await mark.cdp("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    options = {"disableCache": False, "includeCredentials": True}
    await mark.refused("Fetch.takeResponseBodyAsStream", requestId=request)
    for handle in ("1", "2", "3"):
        await mark.refused("IO.read", handle=handle)
    await mark.refused("IO.close", handle="1")
    await mark.refused("IO.resolveBlob", objectId="1")
    for url in ("file:///etc/passwd", "http://shop.example/held"):
        await mark.refused("Network.loadNetworkResource", frameId=frame, url=url, options=options)
    stream = (await mark.raw("Fetch.takeResponseBodyAsStream", requestId=request))["stream"]  # the control
    assert "secret" in (await mark.raw("IO.read", handle=stream))["data"]
    await mark.stands()


@attempt(20, "DOM.setFileInputFiles, drags with files, DOM.getFileInfo, the file chooser")
async def test_no_file_of_this_machine_is_given_to_a_page(lab: Lab) -> None:
    mark = await lab.page(f"<input type=file id=f>{DROP}")
    secret = readable(lab, "secret.txt", "secret")
    chosen = {"nodeId": await node(mark, "#f"), "files": [str(secret)]}
    drag: dict[str, Any] = {"items": [{"mimeType": "text/plain", "data": "-text"}], "dragOperationsMask": 1}
    at = {"x": 200, "y": 200}
    await mark.refused("DOM.setFileInputFiles", **chosen)
    await mark.refused("DOM.getFileInfo", objectId="1")
    await mark.refused("Page.setInterceptFileChooserDialog", enabled=False)
    for kind in ("dragEnter", "dragOver", "drop"):
        await mark.refused("Input.dispatchDragEvent", type=kind, **at, data={**drag, "files": [str(secret)]})
        await mark.cdp("Input.dispatchDragEvent", type=kind, **at, data=drag)  # text may be dragged
    await until(lambda: same(mark, "document.title", "0-text"), "the drop")
    assert await mark.js("f.files.length") == 0
    await mark.raw("DOM.setFileInputFiles", **chosen)  # the control: the page could have read it
    assert await mark.js("f.files[0].text()") == "secret"
    await mark.stands()


async def same(mark: Mark, expression: str, wanted: Any, handle: str | None = None) -> bool:
    return bool(await mark.js(expression, handle) == wanted)


@attempt(21, "a page that opens its own file input", "cancelled")
async def test_a_page_that_asks_for_a_file_is_told_that_nobody_chose_one(lab: Lab) -> None:
    mark = await lab.page("<input type=file id=f>")
    chosen = (
        "new Promise(ok => { f.oncancel = () => ok('cancelled'); f.onchange = () => ok('chosen');"
        " setTimeout(ok, 1500, 'waits'); f.click() })"
    )
    assert await mark.gesture(chosen) == "cancelled"
    await mark.raw("Page.setInterceptFileChooserDialog", enabled=True, cancel=False)  # the control: nobody answers
    await guard(mark, "Page.setInterceptFileChooserDialog", enabled=True, cancel=False)
    assert await mark.gesture(chosen) == "waits"
    await mark.stands()


async def guard(mark: Mark, method: str, **params: Any) -> None:
    """Take away what the host's own CDP session has set up."""
    session = mark.talker.host.sessions.owned(mark.talker.who, mark.id)
    await session.connection.call(method, params, session.page.guard, timeout_s=5.0)


@attempt(22, "Page.setDownloadBehavior, Browser.setDownloadBehavior, then a download", "refused, nothing on disk")
async def test_nothing_is_downloaded(lab: Lab) -> None:
    attached = Answer("landed", kind="application/octet-stream", headers=(("Content-Disposition", "attachment"),))
    url = lab.sites.put("{shop}/file.bin", attached)
    mark, landing = await lab.tab(), lab.folder / "landing"
    landing.mkdir()
    if (uid := browser_uid()) is not None:
        os.chown(landing, uid, uid)
    allowed = {"behavior": "allow", "downloadPath": str(landing)}
    for method in ("Page.setDownloadBehavior", "Browser.setDownloadBehavior"):
        for behavior in ({}, {"behavior": "allowAndName"}, {"behavior": "default"}, {"browserContextId": ""}):
            await mark.refused(method, **{**allowed, **behavior})
    for method in ("Browser.cancelDownload", "Page.setDownloadBehavior "):
        await mark.refused(method, guid="0")
    assert (await mark.cdp("Page.navigate", url=url))["errorText"] == "net::ERR_ABORTED"
    await mark.js(f"Object.assign(document.createElement('a'), {{href: '{url}', download: 'x.bin'}}).click()")
    await asyncio.sleep(0.3)
    assert os.listdir(landing) == []
    async with downloading(lab, allowed):  # the control: it would have landed
        await mark.raw("Page.navigate", url=url)
        await until(lambda: landed(landing), "the download")
    await mark.stands()


async def landed(folder: Path) -> bool:
    return [(folder / name).read_text() for name in os.listdir(folder)] == ["landed"]


@contextlib.asynccontextmanager
async def downloading(lab: Lab, allowed: dict[str, str]) -> AsyncIterator[None]:
    """A browser that downloads, for the time of a `with`."""
    connection = await lab.host.browser.connection()
    await connection.call("Browser.setDownloadBehavior", allowed, timeout_s=5.0)
    try:
        yield
    finally:
        denied = {"behavior": "deny", "eventsEnabled": True}
        await connection.call("Browser.setDownloadBehavior", denied, timeout_s=5.0)


@attempt(25, "a PDF, at the top, in an embed and in a frame", "no viewer, no chrome.tabs")
async def test_no_viewer_of_pdfs_is_lent(lab: Lab) -> None:
    pdf = lab.sites.put("{shop}/a.pdf", Answer(PDF, kind="application/pdf"))
    other = lab.put("inner", "mail", path="/inner")
    mark = await lab.page(f"<embed src='{pdf}' width=99 height=99><iframe src='{pdf}'></iframe><embed src='{other}'>")
    handle = await mark.child()  # the control: a frame that is one is told
    await until(lambda: same(mark, "location.href", other, handle), "the other site's frame")
    assert (await mark.cdp("Page.navigate", url=pdf))["errorText"] == "net::ERR_ABORTED"
    bare = await lab.page(f"<object data='{pdf}' type='application/pdf'></object>")
    await asyncio.sleep(0.5)
    for one, count in ((mark, 1), (bare, 0)):
        attached = await one.events("Target.attachedToTarget")
        assert len(attached) == count
        contexts = [event["params"]["context"] for event in await one.events("Runtime.executionContextCreated")]
        assert [context["origin"] for context in contexts if "chrome" in context["origin"]] == []
        assert await one.js("typeof chrome === 'undefined' || !chrome.tabs") is True
        await one.stands()
    assert [info["url"] for info in await lab.targets() if "extension" in info["url"]] == []
