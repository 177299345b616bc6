"""Pages whose private words are written in magenta and harmless ones in green: the picture shows what bars miss."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from host.browser.pagetext import marks, read
from host.browser.session import Session
from host.core.page.model import PageText
from host.core.redaction import Box, Found, Mark, Text
from tests.support.origin_world import Tab

PRIVATE = re.compile(r"[\w.]+@[\w.]+\w|\d[\d -]{6,}\d|SECRET[\w\s]*TERCES|2020-10-12", re.IGNORECASE)
STYLE = (
    "<style>body{margin:8px;font:16px/1.3 sans-serif;color:#fff;background:#fff}"
    "s,h{all:unset}s{color:#f0f}h{color:#080}input,select,textarea,button{border:0;background:#fff}</style>"
)


def session_of(tab: Tab) -> Session:
    return tab.talker.host.sessions.owned(tab.talker.who, tab.id)


async def show(tab: Tab, body: str, then: str = "") -> None:
    """Put a body into the page, frames and all, and wait until it is drawn."""
    script = (
        f"scrollTo(0, 0); document.documentElement.lang = 'en'; document.head.innerHTML = {json.dumps(STYLE)};"
        f"document.body.innerHTML = {json.dumps(body)};"
        "new Promise(done => setTimeout(done, document.querySelector('iframe, object') ? 150 : 0)).then(() => {"
        f"{then} }}).then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))"
    )
    await tab.js(script)


def find(texts: Sequence[Text]) -> list[list[Found]]:
    """Words with an @, long numbers and SECRET … TERCES."""
    return [
        [Found(one.start(), one.end(), "EMAIL", 1.0, "test") for one in PRIVATE.finditer(text.text)] for text in texts
    ]


@dataclass(frozen=True, slots=True)
class Ink:
    """Pixels of a picture by colour, and how many of them the bars cover."""

    private: int
    private_barred: int
    harmless: int
    harmless_barred: int
    left: tuple[int, int] | None  # a private pixel that shows


async def capture(session: Session, *, clip: Box | None = None) -> Image.Image:
    """A picture of the page as it is, or of a part of it."""
    params: dict[str, Any] = {"format": "png"}
    if clip is not None:
        params["clip"] = {"x": clip.x, "y": clip.y, "width": clip.width, "height": clip.height, "scale": 1}
        params["captureBeyondViewport"] = True
    made = await session.connection.start("Page.captureScreenshot", params, session.page.guard, limit_bytes=32 << 20)
    return Image.open(io.BytesIO(base64.b64decode(made["data"]))).convert("RGB")


def measure(picture: Image.Image, page: PageText, bars: Sequence[Mark], pad_px: float = 1.0) -> Ink:
    """What of the inks is under bars with a padding of some CSS pixels."""
    scale = picture.width / page.area.width
    covered = Image.new("1", picture.size)
    for bar in bars:
        x, y, width, height = bar.box.x, bar.box.y, bar.box.width, bar.box.height
        left, top = (x - pad_px) * scale, (y - pad_px) * scale
        right, bottom = (x + width + pad_px) * scale, (y + height + pad_px) * scale
        covered.paste(1, (int(left), int(top), int(right + 0.999), int(bottom + 0.999)))
    counts = {"private": 0, "private_barred": 0, "harmless": 0, "harmless_barred": 0}
    missed: tuple[int, int] | None = None
    bits = covered.tobytes()
    row = (picture.width + 7) // 8
    data = picture.tobytes()
    for at in range(0, len(data), 3):
        if data[at] == data[at + 1]:
            continue  # white, grey, black: no ink
        red, green, blue = data[at], data[at + 1], data[at + 2]
        private = red > 140 and blue > 140 and green < 200 and abs(red - blue) < 40
        harmless = green > red + 40 and green > blue + 40 and green > 90
        if not (private or harmless):
            continue
        x, y = (at // 3) % picture.width, (at // 3) // picture.width
        barred = bool(bits[y * row + x // 8] & (0x80 >> (x % 8)))
        name = "private" if private else "harmless"
        counts[name] += 1
        counts[f"{name}_barred"] += barred
        if private and not barred and missed is None:
            missed = (x, y)
    return Ink(**counts, left=missed)


async def inked(session: Session) -> tuple[Ink, PageText, list[Mark]]:
    """Read the page, bar what `find` finds, and look at the inks of a picture of it."""
    page = await read(session)
    bars = await marks(session, page, find(page.texts))
    return measure(await capture(session), page, bars), page, bars
