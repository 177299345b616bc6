"""Shows the pages one after another, has product and peer bar each, and judges every labelled text by its ink."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.environments import Unavailable
from bench.redaction.ink import BARRED, COVERED, Grey, Mask, bars_in, drawn, grey, resized, share
from bench.redaction.pages import Page
from bench.redaction.peer import Peer
from bench.redaction.product import Tab
from bench.redaction.score import Verdict
from bench.redaction.site import Site
from bench.redaction.times import resident_mb
from bench.redaction.truth import Span, bare, look, shown, spans
from capsdk.errors import CapError

WIDEST_PX = 4096  # the pictures that are scored keep all their pixels
Say = Callable[[str], None]


@dataclass(slots=True)
class Outcome:
    """What came of all pages. `refused` are those of which no picture was given, by the step that refused."""

    product: list[Verdict] = field(default_factory=list)
    peer: list[Verdict] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    peer_ms: list[float] = field(default_factory=list)
    added_ms: list[float] = field(default_factory=list)  # of the product beyond a plain capture, by page
    unseen: int = 0  # labelled texts without ink in the window
    pages: int = 0
    redactor_mb: float = 0.0  # the most that its process held after a page
    peer_gone: str = ""


async def measure(
    tab: Tab, site: Site, pages: Sequence[Page], peer: Peer | None, say: Say, keep: Path | None = None
) -> Outcome:
    """All pages; `keep` is a folder for what was seen and shown. Raises CapError only when no tab can be had."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="capsdk-bench-") as folder:
        for number, page in enumerate(pages):
            if not tab.session_id or tab.session.closed is not None:
                await tab.open("about:blank")
            await one(tab, site, page, peer if not outcome.peer_gone else None, outcome, keep or Path(folder))
            if number % 25 == 24:
                say(f"{number + 1} of {len(pages)} pages")
    return outcome


async def one(tab: Tab, site: Site, page: Page, peer: Peer | None, outcome: Outcome, folder: Path) -> None:
    """One page."""
    await look(tab.session, page.density)
    await tab.go(site.put(page.key, page.html, page.far))
    await shown(tab.session, page.template.scroll)
    whole = page.template.whole
    truth = await spans(tab.session, whole=whole)
    began = time.perf_counter()
    before = await bare(tab.session, whole=whole)
    plain_ms = (time.perf_counter() - began) * 1000
    outcome.pages += 1
    seen = grey(before)
    (folder / f"{page.key}.png").write_bytes(before)
    try:
        told, data, took_ms = await tab.picture(format="png", maxWidth=WIDEST_PX, fullPage=whole)
    except CapError as problem:
        outcome.refused[page.key] = f"{problem.code} {problem.details.get('step', '')}".strip()
    else:
        (folder / f"{page.key}.barred.png").write_bytes(data)
        (folder / f"{page.key}.json").write_text(json.dumps(told["redactions"]), encoding="utf-8")
        outcome.added_ms.append(took_ms - plain_ms)
        bars = bars_in(resized(grey(data), seen.shape[1], seen.shape[0])) & ~bars_in(seen)
        outcome.product += list(judge(page, truth, seen, bars))
    outcome.redactor_mb = max(outcome.redactor_mb, resident_mb(tab.host.redactor.pid))
    outcome.unseen += sum(share(seen, seen > -1, span.boxes, page.density) is None for span in truth)
    if peer is not None:
        try:
            answer = peer.redact(folder / f"{page.key}.png")
        except Unavailable as problem:
            outcome.peer_gone = str(problem)
            return
        outcome.peer_ms.append(answer["ms"])
        outcome.peer += list(judge(page, truth, seen, drawn(answer["boxes"], seen.shape)))


def judge(page: Page, truth: Iterable[Span], seen: Grey, bars: Mask) -> Iterable[Verdict]:
    """What became of each labelled text that can be seen."""
    for span in truth:
        covered = share(seen, bars, span.boxes, page.density)
        if covered is None:
            continue
        good = covered >= COVERED if span.private else covered <= BARRED
        yield Verdict(
            page.key,
            page.template.name,
            page.template.part,
            page.language,
            span.private,
            span.type,
            span.text,
            span.source,
            covered,
            good,
        )


def one_thread() -> None:
    """Tesseract's threads get in each other's way on few cores: one for both sides."""
    os.environ["OMP_THREAD_LIMIT"] = "1"
