"""A whole run: a host, all pages, then times and memory; what was found, as data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.path import load
from bench.redaction.pages import Page
from bench.redaction.peer import Peer
from bench.redaction.product import tab
from bench.redaction.run import Outcome, Say, measure, one_thread
from bench.redaction.site import site
from bench.redaction.times import Samples, masking, timed
from capsdk.errors import CapError


@dataclass(slots=True)
class Whole:
    """What a run found, and under which load. `faults` are the parts that could not be measured, and why."""

    outcome: Outcome
    samples: Samples | None
    load_before: list[float]
    load_after: list[float]
    took_s: float
    ocr: str
    faults: list[str]


async def measured(
    chosen: Sequence[Page], peer: Peer | None, say: Say, *, keep: Path | None = None, times: bool = True
) -> Whole:
    """Run all of it. Raises CapError when there is no tab to be had, or no picture at all."""
    one_thread()
    began, before = time.monotonic(), load()
    faults: list[str] = []
    samples = Samples() if times else None
    with site() as served:
        async with tab(served.places) as lent:
            if samples is not None:
                say("times")
                try:
                    await timed(lent, served, samples)
                    await masking(lent, served, samples)
                except (CapError, RuntimeError, TimeoutError) as problem:
                    faults.append(f"times: {type(problem).__name__}: {problem}")
                    say(faults[-1])
            say(f"{len(chosen)} pages")
            outcome = await measure(lent, served, chosen, peer, say, keep)
            ocr = str(lent.host.redactor.about.get("ocr", ""))
    return Whole(outcome, samples, before, load(), time.monotonic() - began, ocr, faults)
