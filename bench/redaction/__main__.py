"""How much of what is private on labelled pages a picture shows, and of what is not; beside presidio-image-redactor."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from bench.children import end_when_asked
from bench.environments import Unavailable
from bench.path import EXIT_FAILED, EXIT_INTERRUPTED, positive
from bench.redaction import ratchet
from bench.redaction.pages import Page, pages, templates
from bench.redaction.peer import Peer, peer
from bench.redaction.score import Verdict, barred, of_type, recall, structured, types
from capsdk.errors import CapError

PAGE_FILE = Path(__file__).resolve().parents[2] / "references" / "redaction.md"
DESCRIPTION = """\
Shows labelled pages in the product's own browser, asks `browser.screenshot` for a picture of each, and looks at the ink
of every labelled text: a private one counts as covered when 95 % of its ink is under bars, a harmless one as barred
when more than 25 % is. presidio-image-redactor gets the same pages without bars, in turn.
"""
READING = """\
The templates are in two halves. Of `dev` every miss may be read; of `held` only counts are told, so that they stay a
measure of layouts that nobody has worked on.

examples:
  ./dev bench redaction                             all pages, times and the peer: some minutes
  ./dev bench redaction --write                     and write references/redaction.md
  ./dev bench redaction --part dev --misses         what was missed on the half that may be read
  ./dev bench redaction --engine-only --part dev --misses
                                                    texts only, without a browser: seconds
  ./dev bench redaction --quick                     a few pages against committed bounds

exit status: 0, also when a target is missed; 1 when something could not be measured, with --quick when a bound does not
hold, and with --strict when a target is missed; 130 when interrupted.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    options = parse(arguments)
    end_when_asked()
    try:
        if options.quick:
            return ratchet.hold(say, as_json=options.json)
        chosen = pages(options.part, sets=options.sets, media_sets=options.media_sets, names=options.template)
        if options.engine_only:
            return engine_only(chosen, options)
        return whole(chosen, options)
    except (CapError, OSError, TimeoutError) as problem:
        say(f"{type(problem).__name__}: {problem}; `capsdk doctor` tells what is missing")
        return EXIT_FAILED
    except KeyboardInterrupt:
        say("interrupted; everything it started is ended")
        return EXIT_INTERRUPTED


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; argparse exits with 2 on a wrong one."""
    parser = argparse.ArgumentParser(
        prog="./dev bench redaction",
        description=DESCRIPTION,
        epilog=READING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", choices=("all", "dev", "held"), default="all", help="which half of the templates")
    parser.add_argument(
        "--template", action="append", default=[], type=known, metavar="NAME", help="only this one, repeatable"
    )
    parser.add_argument("--sets", type=positive, default=3, help="languages that each template is filled in (3)")
    parser.add_argument("--media-sets", type=positive, default=8, help="the same of templates with pictures (8)")
    parser.add_argument("--misses", action="store_true", help="list what was missed or barred; texts of `dev` only")
    parser.add_argument("--engine-only", action="store_true", help="the engine on texts, no browser, no pictures")
    parser.add_argument("--no-peer", action="store_true", help="without presidio-image-redactor")
    parser.add_argument("--no-times", action="store_true", help="without the rounds that measure time and memory")
    parser.add_argument("--keep", metavar="DIR", help="keep the pictures of each page there: plain and barred")
    parser.add_argument("--write", action="store_true", help="write references/redaction.md")
    parser.add_argument("--quick", action="store_true", help="a few pages against committed bounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a target is missed")
    return parser.parse_args(arguments)


def known(name: str) -> str:
    """The name of a template. Raises argparse's own error with those that there are."""
    names = [one.name for one in templates()]
    if name not in names:
        raise argparse.ArgumentTypeError(f"there is no template {name[:60]!r}; there are {', '.join(names)}")
    return name


def say(text: str) -> None:
    """Progress and problems: not on standard output."""
    print(f"bench redaction: {text}", file=sys.stderr, flush=True)


def engine_only(chosen: Sequence[Page], options: argparse.Namespace) -> int:
    """The engine alone."""
    from bench.redaction.engine import look  # loads the model: not for those who only want help

    looked = look(chosen)
    speed = looked.characters / 1024 / max(0.001, sum(looked.find_ms) / 1000)
    slowest = max(looked.find_ms, default=0.0)
    if options.json:
        print(json.dumps({"verdicts": [told(one) for one in looked.verdicts], "kbPerS": speed}))
        return 0
    print(f"{len(chosen)} pages, loaded in {looked.load_s:.1f} s, {speed:.0f} KB/s, slowest page {slowest:.0f} ms")
    print(summary(looked.verdicts))
    if options.misses:
        print(misses(looked.verdicts))
    return 0


def whole(chosen: Sequence[Page], options: argparse.Namespace) -> int:
    """Product and peer on real pages."""
    from bench.redaction.report import as_data, as_page, as_text, made
    from bench.redaction.whole import measured

    skipped = ""
    with ExitStack() as stack:
        beside: Peer | None = None
        if not options.no_peer:
            try:
                beside = stack.enter_context(peer(say))
            except Unavailable as reason:
                skipped = str(reason)
                say(f"without the peer: {reason}")
        keep = Path(options.keep) if options.keep else None
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
        found = asyncio.run(measured(chosen, beside, say, keep=keep, times=not options.no_times))
        run = made(found, beside, skipped)
    if options.write:
        PAGE_FILE.write_text(as_page(run), encoding="utf-8")
        say("written: references/redaction.md")
    print(json.dumps(as_data(run)) if options.json else as_text(run))
    if options.misses:
        print(misses(run.outcome.product))
    return EXIT_FAILED if options.strict and any(one.word == "missed" for one in run.targets) else 0


def told(one: Verdict) -> dict[str, object]:
    """A verdict as data; of the held half without its text."""
    row = asdict(one)
    if one.part == "held":
        row["text"] = ""
    return row


def summary(verdicts: Sequence[Verdict]) -> str:
    """Both halves in a few lines."""
    lines = []
    for part in ("dev", "held"):
        mine = [one for one in verdicts if one.part == part]
        lines += [
            f"{part:5} text {recall(mine, lambda one: not one.media).text()}  structured "
            f"{recall(mine, lambda one: not one.media and structured(one)).text()}",
            f"{'':5} pictures {recall(mine, lambda one: one.media).text()}  harmless barred {barred(mine).text()}",
        ]
        for kind in types(mine, lambda one: one.private):
            counted = recall(mine, of_type(kind))
            if counted.hits < counted.total:
                lines.append(f"{'':8}{kind:16} {counted.text()}")
    return "\n".join(lines)


def misses(verdicts: Sequence[Verdict]) -> str:
    """What was missed and what was barred: each text of `dev`, counts of `held`."""
    lines = []
    bad = [one for one in verdicts if not one.good]
    for one in sorted(bad, key=lambda one: (not one.private, one.type, one.page)):
        if one.part == "dev":
            word = "missed" if one.private else "barred"
            lines.append(f"{word} {one.type:14} {one.share:4.2f} {one.source:9} {one.page:28} {one.text!r}")
    held = Counter(("missed" if one.private else "barred", one.type) for one in bad if one.part == "held")
    lines += [f"held: {word} {kind} {number}" for (word, kind), number in sorted(held.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
