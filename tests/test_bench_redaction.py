"""The benchmark of redaction: its arithmetic of ink and intervals, its set, and a few real pages against bounds."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bench.redaction import ratchet
from bench.redaction.__main__ import misses, told
from bench.redaction.checkdigits import BSN_WEIGHTS, DNI_LETTERS, NATIONAL, PESEL_WEIGHTS, ean_digit, luhn_digit
from bench.redaction.examples import CARDS, IBANS
from bench.redaction.ink import bars_in, drawn, grey, resized, share
from bench.redaction.pages import pages, templates
from bench.redaction.peer import LIST
from bench.redaction.prose import WHY
from bench.redaction.report import Run, as_data, as_page
from bench.redaction.run import Outcome
from bench.redaction.score import Count, Verdict, barred, count, recall, wilson
from bench.redaction.targets import MEMORY, STRUCTURED, TEXT, Target
from bench.redaction.texts import blocks
from bench.redaction.values import HARMLESS, PRIVATE, Values
from bench.redaction.whole import Whole

ROOT = Path(__file__).resolve().parent.parent


# --- intervals

WILSON_CASES = (  # hits, total, low, high: from the formula, worked out by hand or in the literature
    pytest.param(0, 0, 0.0, 1.0, id="nothing"),
    pytest.param(0, 10, 0.0, 0.2775, id="none-of-ten"),
    pytest.param(10, 10, 0.7225, 1.0, id="all-of-ten"),
    pytest.param(5, 10, 0.2366, 0.7634, id="half-of-ten"),
    pytest.param(81, 263, 0.2553, 0.3662, id="newcombe-1998"),
    pytest.param(261, 266, 0.9568, 0.9919, id="near-the-end"),
)


@pytest.mark.parametrize(("hits", "total", "low", "high"), WILSON_CASES)
def test_an_interval_is_wilsons(hits: int, total: int, low: float, high: float) -> None:
    assert wilson(hits, total) == pytest.approx((low, high), abs=0.0001)


def verdict(text: str, good: bool, *, private: bool = True, page: str = "p", part: str = "dev") -> Verdict:
    """Of an e-mail address."""
    return Verdict(page, "t", part, "en", private, "EMAIL", text, "dom", 1.0 if good else 0.0, good)


def test_a_text_that_is_there_twice_counts_once_and_only_when_both_are_good() -> None:
    twice = [verdict("a", True), verdict("a", False), verdict("b", True), verdict("a", True, page="q")]
    assert count(twice) == Count(2, 3)


def test_harmless_texts_count_as_barred_and_private_ones_as_covered() -> None:
    found = [
        verdict("a", True),
        verdict("b", False),
        verdict("c", False, private=False),
        verdict("d", True, private=False),
    ]
    assert (recall(found), barred(found)) == (Count(1, 2), Count(1, 2))


TARGET_CASES = (  # at least, bound, value, verdict
    pytest.param(True, 0.99, Count(99, 100), "met", id="at-the-bound"),
    pytest.param(True, 0.99, Count(98, 100), "missed", id="below"),
    pytest.param(False, 80.0, 80.5, "missed", id="slower"),
    pytest.param(False, 80.0, 12.0, "met", id="faster"),
    pytest.param(True, 0.99, Count(0, 0), "not measured", id="of-nothing"),
    pytest.param(True, 0.99, None, "not measured", id="not-measured"),
)


@pytest.mark.parametrize(("at_least", "bound", "value", "word"), TARGET_CASES)
def test_a_target_is_met_missed_or_not_measured(
    at_least: bool, bound: float, value: Count | float | None, word: str
) -> None:
    assert Target("t", at_least, bound, value).word == word


# --- ink

LINE = (10.0, 10.0, 40.0, 10.0)  # x, y, width, height of a line of strokes


def strokes(scale: int = 1, ground: int = 255, ink: int = 0) -> np.ndarray:
    """A picture of 100 by 40 CSS pixels: every fourth column of LINE's box is a stroke of one pixel."""
    picture = np.full((40 * scale, 100 * scale), ground, dtype=np.int16)
    for x in range(10, 50, 4):
        picture[10 * scale : 20 * scale, x * scale : (x + 1) * scale] = ink
    return picture


SHARE_CASES = (  # bars in pixels, share of the ink
    pytest.param([], 0.0, id="no-bar"),
    pytest.param([(8, 8, 44, 14)], 1.0, id="whole"),
    pytest.param([(8, 8, 22, 14)], 0.5, id="half"),
    pytest.param([(0, 0, 5, 40)], 0.0, id="beside"),
    pytest.param([(8, 15, 44, 30)], 0.5, id="lower-half"),
    pytest.param([(8, 8, 3, 14), (13, 8, 3, 14)], 0.2, id="two-strokes-of-ten"),
)


@pytest.mark.parametrize(("bars", "expected"), SHARE_CASES)
@pytest.mark.parametrize(("ground", "ink"), [(255, 0), (30, 220), (255, 200)], ids=["light", "dark", "faint"])
def test_what_counts_is_the_ink_under_bars(
    bars: Sequence[Sequence[float]], expected: float, ground: int, ink: int
) -> None:
    picture = strokes(ground=ground, ink=ink)
    assert share(picture, drawn(bars, picture.shape), [LINE], 1.0) == pytest.approx(expected)


def test_boxes_are_css_pixels_and_bars_are_the_pictures() -> None:
    picture = strokes(scale=2)
    assert share(picture, drawn([(16, 16, 44, 28)], picture.shape), [LINE], 2.0) == pytest.approx(0.5)


def test_a_box_without_contrast_holds_nothing_to_judge() -> None:
    picture = strokes(ground=250, ink=245)
    assert share(picture, drawn([], picture.shape), [LINE], 1.0) is None
    assert share(strokes(), drawn([], picture.shape), [LINE], 1.0) == 0.0


def test_gaps_between_words_are_no_ink() -> None:
    picture = strokes()
    picture[:, 25:40] = 255
    assert share(picture, drawn([(8, 8, 17, 14), (40, 8, 12, 14)], picture.shape), [LINE], 1.0) == 1.0


def test_a_bar_is_found_whole_and_letters_are_no_bars() -> None:
    picture = strokes()
    picture[25:35, 60:90] = 0  # a bar
    picture[2:8, 60:90] = 0  # a rule of six pixels, such as a heavy line
    found = bars_in(picture)
    assert int(found.sum()) == 10 * 30
    assert found[25:35, 60:90].all()


def test_a_picture_that_was_made_smaller_is_compared_at_the_size_of_the_other() -> None:
    encoded = io.BytesIO()
    Image.fromarray(strokes(scale=2).astype(np.uint8)).save(encoded, format="PNG")
    assert resized(grey(encoded.getvalue()), 100, 40).shape == (40, 100)
    assert resized(strokes(), 200, 80)[30, 20] == 0


# --- the set


def test_the_set_is_as_large_as_promised_and_the_same_every_time() -> None:
    private = {"dom": set[tuple[str, str]](), "drawn": set[tuple[str, str]]()}
    harmless: list[str] = []
    for page in pages():
        for block in blocks(page):
            for mark in block.marks:
                text = block.text[mark.start : mark.end]
                if mark.private:
                    private["drawn" if block.kind == "ocr" else "dom"].add((mark.type, text))
                else:
                    harmless.append(text)
    assert len(templates()) >= 40
    assert len(private["dom"]) >= 1000
    assert len(private["drawn"]) >= 250
    assert len(harmless) >= 1000
    assert [page.html for page in pages(sets=1, media_sets=1)] == [page.html for page in pages(sets=1, media_sets=1)]


def test_the_halves_are_of_a_size_and_share_no_template_and_no_name() -> None:
    parts = {part: {one.name for one in templates() if one.part == part} for part in ("dev", "held")}
    assert min(len(names) for names in parts.values()) > 0.4 * len(templates())
    assert not parts["dev"] & parts["held"]
    names: dict[str, set[str]] = {"dev": set(), "held": set()}
    for page in pages():
        found = re.findall(r'<x-p t="PERSON">([^<]+)</x-p>', page.html)
        names[page.template.part] |= {name for name in found if " " in name}
    assert min(len(shown) for shown in names.values()) > 100
    assert not names["dev"] & names["held"]


@pytest.mark.parametrize("kind", sorted({**PRIVATE, **HARMLESS}))
@pytest.mark.parametrize("language", sorted(NATIONAL))
def test_every_kind_has_values_in_every_language(kind: str, language: str) -> None:
    values = [Values(f"seed {turn}", language, turn % 2).text(kind) for turn in range(6)]
    assert all(values)
    assert values == [Values(f"seed {turn}", language, turn % 2).text(kind) for turn in range(6)]


def test_cards_and_accounts_pass_their_checks() -> None:
    for number in CARDS:
        assert luhn_digit(number[:-1]) == number[-1], number
    for number in IBANS:
        digits = "".join(str(int(char, 36)) for char in number[4:] + number[:4])
        assert int(digits) % 97 == 1, number


CHECKS: dict[str, Callable[[str], bool]] = {
    "es": lambda text: DNI_LETTERS[int(text[:-1]) % 23] == text[-1],
    "fr": lambda text: (int(text.replace(" ", "")[:13]) + int(text.replace(" ", "")[13:])) % 97 == 0,
    "nl": lambda text: sum(int(a) * b for a, b in zip(text, (*BSN_WEIGHTS, -1), strict=True)) % 11 == 0,
    "pl": lambda text: sum(int(a) * b for a, b in zip(text, (*PESEL_WEIGHTS, 1), strict=True)) % 10 == 0,
    "sv": lambda text: luhn_digit(text.replace("-", "")[:-1]) == text[-1],
}


@pytest.mark.parametrize("language", sorted(CHECKS))
def test_national_ids_pass_their_own_check(language: str) -> None:
    for turn in range(20):
        text = Values(f"{turn}", language).text("NATIONAL_ID")
        assert CHECKS[language](text), text


def test_books_and_goods_pass_theirs() -> None:
    for turn in range(20):
        for kind in ("EAN", "ISBN"):
            text = Values(f"{turn}", "en").text(kind).replace("-", "")
            assert ean_digit(text[:-1]) == text[-1]


def test_a_miss_is_told_with_its_text_only_on_the_half_that_is_worked_on() -> None:
    found = [verdict("open@example.test", False), verdict("secret@example.test", False, part="held")]
    said = misses(found)
    assert "open@example.test" in said
    assert "secret@example.test" not in said
    assert "held: missed EMAIL 1" in said
    assert [told(one)["text"] for one in found] == ["open@example.test", ""]


def test_a_report_tells_counts_targets_and_reasons_and_no_text_of_any_page() -> None:
    found = [verdict("shown@example.test", turn > 0, page=f"p{turn}", part="held") for turn in range(50)]
    outcome = Outcome(product=found, pages=50, refused={"q": "IMAGE_NOT_CHECKED ocr"}, redactor_mb=451.0)
    whole = Whole(outcome, None, [0.1, 0.1, 0.1], [0.2, 0.2, 0.2], 3.0, "pytesseract", ["times: Broken: no tab"])
    run = Run(
        whole,
        {"cpu": "A", "cores": "2", "kernel": "6", "python": "3", "capsdk": "0"},
        "2026-01-01",
        "1",
        {},
        "left out",
    )
    said = as_page(run)
    assert {one.name: one.word for one in run.targets if one.word != "not measured"} == {
        TEXT: "missed",
        STRUCTURED: "missed",
        MEMORY: "missed",
    }
    for part in (
        "0.980 (49/50; ",
        "EMAIL 1.",
        "1 of 50 pages: IMAGE_NOT_CHECKED ocr 1.",
        "Broken",
        "left out",
        WHY[TEXT],
    ):
        assert part in said, part
    assert "shown@example.test" not in said + json.dumps(as_data(run))
    assert as_data(run)["product"][0] == ["p0", "held", True, "EMAIL", "dom", 0.0, False]


# --- the ratchet

WORSE_CASES = (  # text, barred, what is worse
    pytest.param(Count(95, 100), Count(1, 100), [], id="good"),
    pytest.param(Count(90, 100), Count(5, 100), [], id="at-the-bounds"),
    pytest.param(Count(89, 100), Count(1, 100), ["text"], id="covers-less"),
    pytest.param(Count(95, 100), Count(6, 100), ["barred"], id="bars-more"),
    pytest.param(Count(0, 0), Count(0, 100), ["text"], id="measured-nothing"),
)


@pytest.mark.parametrize(("text", "harmless", "expected"), WORSE_CASES)
def test_it_holds_what_is_committed(text: Count, harmless: Count, expected: list[str]) -> None:
    assert ratchet.worse({"text": text, "barred": harmless}, {"text": 0.9, "barred": 0.05}) == expected


def test_the_committed_bounds_are_there_and_can_be_true() -> None:
    committed = ratchet.read()
    assert set(committed) == {"text", "structured", "pictures", "barred"}
    assert all(0 < committed[name] <= 1 for name in committed)
    assert {page.template.part for page in ratchet.chosen()} == {"dev", "held"}


@pytest.mark.chromium
@pytest.mark.slow
def test_no_less_is_covered_and_no_more_is_barred_than_committed() -> None:
    words = [sys.executable, "-m", "bench.redaction", "--quick", "--json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["held"] is True
    assert all(total > 0 for _, total in told["found"].values())


@pytest.mark.slow
def test_the_engine_alone_is_judged_on_the_same_labels() -> None:
    from bench.redaction.engine import look  # loads the engine

    looked = look(pages(sets=1, media_sets=1, names=("profile-list", "goods-grid", "canvas-letter")))
    assert {one.source for one in looked.verdicts} == {"canvas", "dom"}
    assert recall(looked.verdicts).rate > 0.8
    assert barred(looked.verdicts).total > 50
    assert barred(looked.verdicts).rate < 0.3


def test_the_peer_is_pinned_and_hashed() -> None:
    lines = LIST.read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if "==" in line and not line.startswith("#")]
    assert all(line.endswith(" \\") for line in pinned)
    assert {"presidio-image-redactor==0.0.62", "presidio-analyzer==2.2.366"} <= {line.split()[0] for line in pinned}
    assert sum("--hash=sha256:" in line for line in lines) >= len(pinned)
