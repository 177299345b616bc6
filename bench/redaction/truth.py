"""Where the labelled texts of a shown page are, told by itself before its marks are taken out; and its picture."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from host.browser.channel import Channel
from host.browser.session import Session

DEADLINE_S = 20.0
WIDTH, HEIGHT = 1280, 800


@dataclass(frozen=True, slots=True)
class Span:
    """One labelled text: its boxes in CSS pixels of the window. `source` is where its text lies."""

    private: bool
    type: str
    text: str
    source: str
    boxes: tuple[tuple[float, float, float, float], ...]


async def ask(session: Session, method: str, params: dict[str, Any], channel: Channel | None = None) -> dict[str, Any]:
    """One command on the guard's own CDP session, past the door that is measured. Raises CdpFailure, TimeoutError."""
    guard = (channel or session.page).guard
    return await session.connection.call(method, params, guard, timeout_s=DEADLINE_S)


async def ask_as_app(session: Session, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """One command on the app's CDP session: a screen lasts while nobody captures through another than set it."""
    return await session.connection.call(method, params, session.page.app, timeout_s=DEADLINE_S)


async def evaluate(session: Session, expression: str, channel: Channel | None = None) -> Any:
    """The value of an expression in the page. Raises RuntimeError when it threw."""
    params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    reply = await ask(session, "Runtime.evaluate", params, channel)
    if "exceptionDetails" in reply:
        raise RuntimeError(str(reply["exceptionDetails"])[:500])
    return reply["result"].get("value")


async def look(session: Session, density: float) -> None:
    """Give the window its size and density."""
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": density, "mobile": False}
    await ask_as_app(session, "Emulation.setDeviceMetricsOverride", size)


async def shown(session: Session, scroll: int) -> None:
    """Wait until the page and its frames are drawn; scroll to where it is looked at."""
    async with asyncio.timeout(DEADLINE_S):
        for channel in (session.page, *session.frames):
            while not await evaluate(session, READY, channel):  # noqa: ASYNC110 # the event would be in another process
                await asyncio.sleep(0.02)
    await evaluate(session, f"scrollTo(0, {scroll}); new Promise(done => requestAnimationFrame(() => done(1)))")


async def spans(session: Session, *, whole: bool = False) -> list[Span]:
    """All labelled texts of page and frames that are in the picture; afterwards no mark is left in any of them."""
    told = await evaluate(session, MEASURE)
    found = told["found"]
    for channel in session.frames:
        inner = await evaluate(session, MEASURE, channel)
        for one in inner["found"]:
            one["boxes"] = [[x + told["far"][0], y + told["far"][1], w, h] for x, y, w, h in one["boxes"]]
        found += inner["found"]
    height = told["height"] if whole else HEIGHT
    return [span(one) for one in found if in_sight(one["boxes"], height)]


def span(told: dict[str, Any]) -> Span:
    """One of the page's words."""
    private, _, kind = told["mark"].partition(":")
    boxes = tuple((box[0], box[1], box[2], box[3]) for box in told["boxes"])
    return Span(private == "p", kind, told["text"], told["source"], boxes)


def in_sight(boxes: Sequence[Sequence[float]], height: float = HEIGHT) -> bool:
    """Is all of it in the picture? What is cut by its edge proves nothing."""
    return bool(boxes) and all(x >= 0 and y >= 0 and x + w <= WIDTH and y + h <= height for x, y, w, h in boxes)


async def bare(session: Session, form: str = "png", quality: int = 60, *, whole: bool = False) -> bytes:
    """A picture without bars, of the window or of the whole page."""
    params: dict[str, Any] = {"format": form}
    if whole:
        height = await evaluate(session, "document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
        params |= {"captureBeyondViewport": True, "clip": clip}
    if form == "jpeg":
        params |= {"quality": quality}
    return base64.b64decode((await ask_as_app(session, "Page.captureScreenshot", params))["data"])


READY = "document.readyState === 'complete' && !window.__pending && document.fonts.status === 'loaded'"
# Marked elements are unwrapped and their texts joined again, so that the page that is judged is plain; the ranges live
# through that. What is no text of the DOM has the box of its element, or that which it was drawn into.
MEASURE = """(() => {
  const found = [], marked = [];
  const box = (r, ox, oy) => [r.x + ox, r.y + oy, r.width, r.height];
  const visit = (root, ox, oy, source) => {
    for (const e of root.querySelectorAll('[data-x]')) {
      const r = e.getBoundingClientRect(), s = getComputedStyle(e);
      const field = 'value' in e && e.tagName !== 'BUTTON';
      const boxes = field
        ? [[r.x + ox + 3, r.y + oy + 3, r.width - (e.tagName === 'SELECT' ? 24 : 6), r.height - (e.rows ? 14 : 6)]]
        : [...e.getClientRects()].map(q => box(q, ox, oy));
      found.push({mark: e.dataset.x, text: field ? e.value : e.dataset.c || e.textContent, boxes,
        source: field ? 'field' : e.dataset.c ? 'pseudo' : 'vector'});
      e.removeAttribute('data-x');
    }
    const elements = [...root.querySelectorAll('x-p, x-d')], lists = [];
    for (const e of elements) {
      const nodes = [], walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) nodes.push(walk.currentNode);
      lists.push([e.tagName === 'X-P' ? 'p:' : 'd:', e.getAttribute('t'), e.textContent, nodes]);
    }
    const parents = new Set();
    for (const e of elements) {
      const parent = e.parentNode;
      while (e.firstChild) parent.insertBefore(e.firstChild, e);
      e.remove(); parents.add(parent);
    }
    for (const [letter, type, text, nodes] of lists) {
      if (!nodes.length) continue;
      const range = (root.ownerDocument || root).createRange();
      range.setStart(nodes[0], 0); range.setEnd(nodes.at(-1), nodes.at(-1).length);
      marked.push({mark: letter + type, text, range, ox, oy, source});
    }
    for (const parent of parents) parent.normalize();
    for (const frame of root.querySelectorAll('iframe')) {
      const r = frame.getBoundingClientRect(), x = r.x + frame.clientLeft + ox, y = r.y + frame.clientTop + oy;
      if (frame.contentDocument && frame.contentDocument.body) visit(frame.contentDocument, x, y, 'frame');
    }
  };
  const host = document.querySelector('[data-far]'), hr = host && host.getBoundingClientRect();
  const far = host ? [hr.x + host.clientLeft, hr.y + host.clientTop] : [0, 0];
  if (host) host.removeAttribute('data-far');
  visit(document, 0, 0, window === top ? 'dom' : 'far frame');
  for (const root of window.__roots || []) visit(root, 0, 0, 'shadow');
  for (const one of marked)
    found.push({mark: one.mark, text: one.text, source: one.source,
      boxes: [...one.range.getClientRects()].filter(r => r.width >= 1).map(r => box(r, one.ox, one.oy))});
  for (const one of window.__drawn || []) {
    const place = document.getElementById(one.id), r = (place.firstElementChild || place).getBoundingClientRect();
    found.push({mark: one.mark, text: one.text, source: one.how,
      boxes: [[one.box[0] + r.x, one.box[1] + r.y, one.box[2], one.box[3]]]});
  }
  for (const script of document.querySelectorAll('script')) script.remove();
  delete window.__drawn; delete window.__roots; delete window.draw;
  return {found, far, height: document.documentElement.scrollHeight};
})()"""
