"""The engine alone on the set's texts: seconds instead of minutes, no browser, and not the product's figures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.redaction.ink import BARRED, COVERED
from bench.redaction.pages import Page
from bench.redaction.score import Verdict
from bench.redaction.texts import Block, blocks
from host.core.redaction import EngineConfig, Found
from host.redact.engine import Engine


@dataclass(slots=True)
class Looked:
    """What the engine did, and how long it took."""

    verdicts: list[Verdict]
    load_s: float
    find_ms: list[float]
    characters: int


def look(pages: Sequence[Page]) -> Looked:
    """All pages, each one batch."""
    began = time.perf_counter()
    engine = Engine.load(EngineConfig())
    looked = Looked([], time.perf_counter() - began, [], 0)
    for page in pages:
        known = blocks(page)
        began = time.perf_counter()
        found = engine.find([one.as_text() for one in known])
        looked.find_ms.append((time.perf_counter() - began) * 1000)
        looked.characters += sum(len(one.text) for one in known)
        for block, hits in zip(known, found, strict=True):
            looked.verdicts += list(judge(page, block, hits))
    return looked


def judge(page: Page, block: Block, found: Sequence[Found]) -> Iterator[Verdict]:
    """Each labelled part, by its characters that are not blanks."""
    for mark in block.marks:
        places = [place for place in range(mark.start, mark.end) if not block.text[place].isspace()]
        if not places:
            continue
        covered = sum(any(one.start <= place < one.end for one in found) for place in places) / len(places)
        good = covered >= COVERED if mark.private else covered <= BARRED
        source = "canvas" if block.kind == "ocr" else "field" if block.kind == "field" else "dom"
        yield Verdict(
            page.key,
            page.template.name,
            page.template.part,
            page.language,
            mark.private,
            mark.type,
            block.text[mark.start : mark.end],
            source,
            covered,
            good,
        )
