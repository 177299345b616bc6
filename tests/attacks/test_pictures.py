"""Attempts 1 to 9: pixels of a page, by whatever name, spelling or frame."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.attacks.counting import attempt
from tests.attacks.lab import Lab

pytestmark = pytest.mark.asyncio(loop_scope="package")

# What is asked for, and where Chromium would put the picture.
PICTURES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("Page.captureScreenshot", {}, "data"),
    ("Page.captureSnapshot", {}, "data"),
    ("Page.getAnnotatedPageContent", {}, "content"),
    ("Page.printToPDF", {}, "data"),
    ("Page.printToPDF", {"transferMode": "ReturnAsStream"}, "stream"),
    ("Page.startScreencast", {}, ""),
    ("Page.startScreenRecording", {}, ""),
)
IMAGE = (
    "<img src='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=='>"
)


@attempt(1, "Page.captureScreenshot, printToPDF, startScreencast, startScreenRecording, …")
async def test_a_page_is_not_photographed_printed_or_recorded(lab: Lab) -> None:
    mark = await lab.page("secret")
    for method, params, _ in PICTURES:
        await mark.refused(method, **params)
    for method, params, holds in PICTURES:  # the control: every one would have worked
        made = await mark.raw(method, **params)
        assert made[holds] if holds else made == {} or "stream" in made
        if method.startswith("Page.start"):
            await mark.raw(method.replace("start", "stop"))
    await mark.stands()


@attempt(2, "LayerTree.makeSnapshot, replaySnapshot")
async def test_a_layer_is_not_drawn_anew(lab: Lab) -> None:
    mark = await lab.page("<div style='will-change: transform; background: red'>secret</div>")
    await mark.raw("LayerTree.enable")
    await mark.js("document.body.style.cssText = 'will-change: transform; background: red'")
    layers = (await mark.told("LayerTree.layerTreeDidChange"))[-1]["layers"]
    layer = next(one["layerId"] for one in layers if one["drawsContent"] and one["width"])
    snapshot = (await mark.raw("LayerTree.makeSnapshot", layerId=layer))["snapshotId"]
    assert (await mark.raw("LayerTree.replaySnapshot", snapshotId=snapshot))["dataURL"].startswith("data:image/png")
    await mark.refused("LayerTree.enable")
    await mark.refused("LayerTree.makeSnapshot", layerId=layer)
    await mark.refused("LayerTree.replaySnapshot", snapshotId=snapshot)
    await mark.refused("LayerTree.snapshotCommandLog", snapshotId=snapshot)
    await mark.stands()


@attempt(3, "Tracing.start with the category of screenshots")
async def test_no_trace_takes_pictures_along(lab: Lab) -> None:
    mark = await lab.page("secret")
    tracing = {"categories": "disabled-by-default-devtools.screenshot", "transferMode": "ReportEvents"}
    await mark.refused("Tracing.start", **tracing)
    await mark.refused("Tracing.end")
    assert await mark.raw("Tracing.start", **tracing) == {}
    assert await mark.raw("Tracing.end") == {}
    await mark.stands()


@attempt(4, "HeadlessExperimental.beginFrame")
async def test_no_frame_is_begun_for_its_picture(lab: Lab) -> None:
    mark = await lab.page("secret")
    await mark.refused("HeadlessExperimental.beginFrame", screenshot={})
    await mark.refused("HeadlessExperimental.enable")
    await mark.stands()


@attempt(5, "Overlay.setInspectMode captureAreaScreenshot")
async def test_no_area_is_chosen_for_a_picture(lab: Lab) -> None:
    mark = await lab.page("secret")
    await mark.cdp("Overlay.enable")
    mode = {"mode": "captureAreaScreenshot", "highlightConfig": {}}
    await mark.refused("Overlay.setInspectMode", **mode)
    assert await mark.raw("Overlay.setInspectMode", **mode) == {}
    assert await mark.cdp("Overlay.setInspectMode", mode="none", highlightConfig={}) == {}
    await mark.stands()


@attempt(6, "Audits.getEncodedResponse with the image itself")
async def test_of_an_image_that_came_only_the_size_is_told(lab: Lab) -> None:
    mark = await lab.page(IMAGE)
    sent = [one for one in await mark.told("Network.requestWillBeSent", 2) if one["type"] == "Image"]
    image = {"requestId": sent[0]["requestId"], "encoding": "png"}
    await mark.told("Page.loadEventFired")
    for only in ({}, {"sizeOnly": False}, {"sizeOnly": 1}):
        await mark.refused("Audits.getEncodedResponse", **image, **only)
    assert (await mark.raw("Audits.getEncodedResponse", **image))["body"]
    assert "body" not in await mark.cdp("Audits.getEncodedResponse", **image, sizeOnly=True)
    await mark.stands()


@attempt(7, "getDisplayMedia in the page", "no stream")
async def test_a_page_gets_no_stream_of_a_screen(lab: Lab) -> None:
    mark = await lab.page("secret", "lshop")
    for wanted in ("{video: true}", "{video: true, preferCurrentTab: true, selfBrowserSurface: 'include'}"):
        asked = f"navigator.mediaDevices.getDisplayMedia({wanted})"
        assert await mark.gesture(f"{asked}.then(() => 'stream', problem => problem.name)") == "NotAllowedError"
    await mark.stands()


@attempt(8, "methods in another case, with a space, or of another type")
async def test_a_method_is_matched_to_the_letter(lab: Lab) -> None:
    mark = await lab.page("secret")
    for method in (
        "page.captureScreenshot",
        "Page.captureScreenshot ",
        " Page.captureScreenshot",
        "Page.CaptureScreenshot",
        "Page.captureScreenshot\0",
        "Page.captureScreenshot\n",
        "Page..captureScreenshot",
        "Page.captureScreensh\u043et",
        "runtime.evaluate",
        "",
    ):
        await mark.refused(method)
    # What is no text is no method at all: it does not come as far as the policy.
    for other in (["Page.captureScreenshot"], 1, None, {"method": "Page.captureScreenshot"}, True):
        assert await mark.talker.code("browser.cdp", sessionId=mark.id, method=other) == "BAD_ARGUMENTS"
    assert await mark.cdp("Runtime.evaluate", expression="1") == {
        "result": {"type": "number", "value": 1, "description": "1"}
    }
    await mark.stands()


@attempt(9, "the same through a frame of one's own")
async def test_a_frame_of_the_tab_is_not_photographed_either(lab: Lab) -> None:
    mark = await lab.page(f"<iframe src='{lab.put('inner', 'mail')}'></iframe>")
    handle = await mark.child()
    refused = [mark.refused(method, handle, **params) for method, params, _ in PICTURES]
    await asyncio.gather(
        *refused,
        mark.refused("LayerTree.enable", handle),
        mark.refused("Tracing.start", handle),
        mark.refused("HeadlessExperimental.beginFrame", handle),
        mark.refused("Overlay.setInspectMode", handle, mode="captureAreaScreenshot", highlightConfig={}),
        mark.refused("page.captureScreenshot", handle),
    )
    assert await mark.js("1 + 1", handle) == 2
    await mark.stands()
