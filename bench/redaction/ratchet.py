"""A change that covers less, or bars more of what is harmless, does not go in: a few fixed pages against bounds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.redaction.pages import Page, pages
from bench.redaction.score import Count, Verdict, barred, recall, structured
from bench.redaction.targets import in_pictures, in_text

FILE = Path(__file__).with_name("ratchet.json")
# Half from each half, two with pictures, frames and fields among them: some 20 s.
TEMPLATES = (
    "account-form",
    "canvas-letter",
    "contact-grid",
    "far-frame",
    "goods-grid",
    "identity-card",
    "json-document",
    "mail-thread",
    "member-table",
    "order-page",
    "release-notes",
    "transfer-list",
)
LANGUAGES = 2
Say = Callable[[str], None]


def chosen() -> list[Page]:
    """The same pages every time."""
    return pages(sets=LANGUAGES, media_sets=LANGUAGES, names=TEMPLATES)


def counts_of(verdicts: Sequence[Verdict]) -> dict[str, Count]:
    """What is held."""
    return {
        "text": recall(verdicts, in_text),
        "structured": recall(verdicts, structured),
        "pictures": recall(verdicts, in_pictures),
        "barred": barred(verdicts),
    }


def worse(found: Mapping[str, Count], committed: Mapping[str, float]) -> list[str]:
    """The shares that are on the wrong side of their bounds, or that were not measured at all."""
    return [
        name
        for name, bound in committed.items()
        if not (found[name].rate <= bound if name == "barred" else found[name].rate >= bound)
    ]


def read() -> dict[str, float]:
    """The committed bounds: shares of texts; `barred` is the most, all others the least."""
    known: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def hold(say: Say, *, as_json: bool) -> int:
    """Measure, compare, tell; the exit status. Raises CapError when there is no picture to be had."""
    from bench.redaction.whole import measured  # brings Chromium's side along: not for the arithmetic

    whole = asyncio.run(measured(chosen(), None, say, times=False))
    found = counts_of(whole.outcome.product)
    bad = worse(found, read()) + [f"no picture of {key}: {why}" for key, why in whole.outcome.refused.items()]
    if as_json:
        shares = {name: [count.hits, count.total] for name, count in found.items()}
        print(json.dumps({"held": not bad, "worse": bad, "found": shares, "tookS": round(whole.took_s, 1)}))
    else:
        for name, bound in read().items():
            print(f"{name:11} {found[name].text():32} bound {'≤' if name == 'barred' else '≥'} {bound:g}")
        print("held" if not bad else f"worse: {', '.join(bad)}")
    return 1 if bad else 0
