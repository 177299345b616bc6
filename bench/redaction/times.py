"""What a checked picture takes beyond a plain one, how fast texts are masked, and how much memory that holds."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.redaction.pages import Page, document, pages
from bench.redaction.product import Tab, caller
from bench.redaction.site import Site
from bench.redaction.truth import bare, evaluate, look, shown, spans
from host.core.grants import Kind

ROUNDS = 15
TEXT_KB = (20, 60)
TEXT_ROUNDS = 3
# Chromium makes a frame each 16.7 ms, and a capture waits for the next one. Measurements begin at all moments between
# two, as calls do: else the one that follows another always waits a whole frame more.
MOMENTS = itertools.cycle([number * 0.618 % 1 / 60 for number in range(1, 60)])
PLAIN = ("order-page", "member-table", "label-above-value")
MEDIA = ("canvas-letter", "table-picture", "identity-card")
NUDGE = """(() => {
  const p = document.createElement('i'), hue = Math.random() * 360;
  p.style.cssText = `position:fixed;right:2px;bottom:2px;width:9px;height:9px;background:hsl(${hue},90%,40%)`;
  document.body.append(p);
})()"""
REDRAW = """(() => {
  const c = document.querySelector('canvas'), i = document.querySelector('img');
  const paint = g => { g.fillStyle = '#222'; g.font = '13px DejaVu Sans';
    g.fillText('run ' + Math.floor(Math.random() * 90000 + 10000), 380, 16); };
  if (c) { paint(c.getContext('2d')); return; }
  const d = document.createElement('canvas'); d.width = i.naturalWidth; d.height = i.naturalHeight;
  const g = d.getContext('2d'); g.drawImage(i, 0, 0); paint(g); i.src = d.toDataURL(); return i.decode();
})()"""


@dataclass(slots=True)
class Samples:
    """Milliseconds by kind of picture: whole calls and plain captures beside them; and what else was measured."""

    calls: dict[str, list[float]] = field(default_factory=dict)
    plain: dict[str, list[float]] = field(default_factory=dict)
    text_kb_per_s: dict[int, float] = field(default_factory=dict)
    first_ms: float = 0.0

    def added(self, kind: str) -> float | None:
        """The median call less the median plain capture, in ms."""
        if not self.calls.get(kind):
            return None
        return median(self.calls[kind]) - median(self.plain[kind])


async def timed(tab: Tab, site: Site, samples: Samples) -> None:
    """Pictures, in one tab. Raises CapError."""
    await tab.open("about:blank")
    began = time.perf_counter()
    await tab.picture()  # the first one starts the redactor
    samples.first_ms = (time.perf_counter() - began) * 1000
    for kind, names, change in (("without media", PLAIN, NUDGE), ("new media", MEDIA, REDRAW)):
        for page in chosen(names):
            await show(tab, site, page)
            await tab.picture()
            for turn in range(ROUNDS):
                await evaluate(tab.session, change)
                await both(tab, samples, kind, turn)
                if kind == "without media":
                    await both(tab, samples, "unchanged", turn)


def chosen(names: Sequence[str]) -> list[Page]:
    """The English ones, at the plainest density: so that figures of two runs may be compared."""
    found = []
    for name in names:
        one = next(page for page in pages(sets=8, media_sets=8, names=(name,)) if page.language == "en")
        found.append(Page(one.template, one.language, one.html, one.far, 1.0, one.dark))
    return found


async def show(tab: Tab, site: Site, page: Page) -> None:
    """A page, plain as the product sees it."""
    await look(tab.session, page.density)
    await tab.go(site.put(page.key, page.html, page.far))
    await shown(tab.session, 0)
    await spans(tab.session)


async def both(tab: Tab, samples: Samples, kind: str, turn: int) -> None:
    """One plain capture and one checked picture of the same; every other turn the other way round."""
    if turn % 2:
        await plain_capture(tab, samples, kind)
    await asyncio.sleep(next(MOMENTS))
    result, _, took_ms = await tab.picture()
    if bool(result.get("unchanged")) is not (kind == "unchanged"):
        raise RuntimeError(f"a picture that should be of kind {kind!r} was not")
    samples.calls.setdefault(kind, []).append(took_ms)
    if not turn % 2:
        await plain_capture(tab, samples, kind)


async def plain_capture(tab: Tab, samples: Samples, kind: str) -> None:
    """What Chromium itself takes for the picture."""
    await asyncio.sleep(next(MOMENTS))
    began = time.perf_counter()
    await bare(tab.session, "jpeg")
    samples.plain.setdefault(kind, []).append((time.perf_counter() - began) * 1000)


async def masking(script: Tab, site: Site, samples: Samples) -> None:
    """How fast texts are masked: the page hands the same kind of text to a chat and to a script, new each time."""
    chat = Tab(script.host, caller(site.places, Kind.CHAT))
    body = " ".join(plain(page.html) for page in pages(sets=8, media_sets=1))
    start = 2000  # of what was not asked for yet: what is looked through once is remembered for a while
    for one in (script, chat):
        if not one.session_id:
            await one.open(site.put("text", document("<p>text")))
    await ask_text(chat, body[:start])
    for kb in TEXT_KB:
        speeds = []
        for _ in range(TEXT_ROUNDS):
            text = body[start : start + kb * 1024]
            start += kb * 1024
            if len(text) < kb * 1024:
                raise RuntimeError("the set has too little text to measure the masking with")
            by_script_s = await ask_text(script, text)
            by_chat_s = await ask_text(chat, text)
            speeds.append(kb / max(0.001, by_chat_s - by_script_s))
        samples.text_kb_per_s[kb] = median(speeds)


async def ask_text(tab: Tab, text: str) -> float:
    """Have the page answer with this text; the seconds it took."""
    await evaluate(tab.session, f"window.told = {json.dumps(text)}; 0")
    params: dict[str, Any] = {"expression": "told", "returnByValue": True}
    began = time.perf_counter()
    await tab.call("browser.cdp", sessionId=tab.session_id, method="Runtime.evaluate", params=params)
    return time.perf_counter() - began


def plain(markup: str) -> str:
    """Letters of a page, tags left out: enough for a speed."""
    return re.sub(r"<style>.*?</style>|<script>.*?</script>|<[^>]+>", " ", markup, flags=re.DOTALL)


def resident_mb(pid: int | None) -> float:
    """A process's resident memory, pages that it shares among it; 0 when there is none, or it is gone."""
    try:
        pages_of_memory = int((Path("/proc") / str(pid) / "statm").read_text(encoding="utf-8").split()[1])
    except OSError:
        return 0.0
    return pages_of_memory * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
