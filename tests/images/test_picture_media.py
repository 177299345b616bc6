"""Writing in pictures is read and covered, in many sizes and colours and at any angle; what is harmless stays."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator

import pytest
from PIL import Image, ImageFilter

from host.core.redaction import Box, Mark, Media, PictureDone
from host.redact.ocr import choose
from host.redact.picture import Find, redact
from host.redact.reader import Reader
from host.redact.reading import Readings
from tests.images.drawn import Drawn, finder, kinds, opened

pytestmark = pytest.mark.slow

MAIL, NAME, CARD, PHONE = "w.oakes@example.com", "Wilhelmina Oakes", "4012 8888 8888 1881", "+44 7700 900461"
THEMES = (  # background, ink, pixels to a CSS pixel
    pytest.param("white", "#222222", 1.0, id="dark-on-light"),
    pytest.param("white", "#222222", 1.5, id="dark-on-light-at-1.5"),
    pytest.param("#1e1f22", "#e0e0e0", 2.0, id="light-on-dark-at-2"),
    pytest.param("#f4f4f4", "#9a9a9a", 1.0, id="faint"),
    pytest.param("#0d47a1", "#ffffff", 1.0, id="white-on-blue"),
    pytest.param("#c62828", "#2e7d32", 2.0, id="green-on-red-at-2"),
)


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    made = choose()
    yield made
    made.close()


def shown(drawn: Drawn, reader: Reader, find: Find | None = None, **changes: object) -> tuple[PictureDone, Image.Image]:
    job = drawn.job(**changes)
    done, data = redact(job, [drawn.png()], find or finder(), lambda: reader, time.monotonic() + 30, Readings())
    return done, opened(data)


def check(drawn: Drawn, reader: Reader) -> PictureDone:
    """All that is private is covered, and nothing harmless; without a policy nothing is, which is the control."""
    done, result = shown(drawn, reader)
    assert drawn.left_bare(result) == []
    assert drawn.covered_needlessly(result) == []
    return done


def test_ink_is_bare_unless_a_bar_is_over_it(reader: Reader) -> None:
    drawn = Drawn(400, 60)
    drawn.write(10, 10, f"[{MAIL}]")
    assert drawn.left_bare(drawn.picture) == [MAIL]
    _, result = shown(drawn, reader, finder("CARD"))
    assert drawn.left_bare(result) == [MAIL]


@pytest.mark.parametrize(("background", "ink", "scale"), THEMES)
def test_private_words_are_covered_in_any_colours(background: str, ink: str, scale: float, reader: Reader) -> None:
    drawn = Drawn(560, 190, background, scale)
    drawn.write(12, 8, "Contact ", f"[{NAME}]", " about ", "{the invoice}", fill=ink, size=11)
    drawn.write(12, 38, "Mail ", f"[{MAIL}]", " paid ", "{12 March 2026}", fill=ink, size=13, name="DejaVuSerif")
    drawn.write(12, 70, "Card ", f"[{CARD}]", " total ", "{1,249.00}", fill=ink, size=15, name="DejaVuSansMono")
    drawn.write(12, 108, "Tel. ", f"[{PHONE}]", " order ", "{88-10423}", fill=ink, size=19)
    drawn.write(12, 144, f"[{NAME}]", fill=ink, size=30, name="DejaVuSans-Bold")
    done = check(drawn, reader)
    assert kinds(done.redactions) == {"PERSON", "EMAIL", "CARD", "PHONE"}
    assert {mark.source for mark in done.redactions} == {"ocr"}
    assert (done.ocr, done.media_read, done.second_look) == (reader.name, 1, 1)


@pytest.mark.parametrize("degrees", [3, -7, 12, 90, -90, 180])
def test_turned_writing_is_covered_along_its_slope(degrees: float, reader: Reader) -> None:
    drawn = Drawn(600, 600)
    for number, mail in enumerate((MAIL, "casimir@example.test")):
        drawn.write(300 + 60 * number, 300 - 70 * number, f"[{mail}]", " {for} {the} {order}", turned=degrees, size=15)
    check(drawn, reader)


def test_small_badges_and_broad_headlines_are_read_as_well(reader: Reader) -> None:
    drawn = Drawn(620, 200)
    drawn.picture.paste("#2e7d32", (10, 10, 200, 28))
    drawn.write(18, 12, f"[{NAME}]", fill="white", size=11)
    drawn.picture.paste("#333", (10, 40, 600, 70))
    drawn.write(18, 46, "{Signed in as} ", f"[{MAIL}]", fill="#eee")
    drawn.write(10, 90, "[WILHELMINA OAKES]", size=44, name="DejaVuSans-Bold")
    _, result = shown(drawn, reader, finder(also=["WILHELMINA OAKES"]))
    assert drawn.left_bare(result) == []
    assert drawn.covered_needlessly(result) == []


def soft(picture: Image.Image) -> Image.Image:
    return picture.filter(ImageFilter.GaussianBlur(0.8))


def jpeg(picture: Image.Image) -> Image.Image:
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=35)
    return opened(out.getvalue()).convert("RGB")


@pytest.mark.parametrize("worse", [soft, jpeg])
def test_a_picture_of_poor_quality_is_read_as_well(worse: object, reader: Reader) -> None:
    drawn = Drawn(560, 120)
    for number, size in enumerate((14, 16, 18)):
        drawn.write(12, 10 + 34 * number, f"[{CARD}]", "  {Delivery} {Thursday}", size=size)
    drawn.picture = worse(drawn.picture)  # type: ignore[operator]
    check(drawn, reader)


def test_only_the_private_part_of_a_word_is_covered(reader: Reader) -> None:
    drawn = Drawn(600, 60)
    drawn.write(10, 16, "{site=example.test/orders/list?mail=}", f"[{MAIL}]", size=15)
    check(drawn, reader)


def test_what_the_page_covered_is_neither_read_nor_read_into_its_neighbours(reader: Reader) -> None:
    drawn = Drawn(500, 60)
    drawn.write(10, 16, f"[{MAIL}]", "  {is the address}", size=15)
    seen: list[str] = []

    def find(texts: object) -> list[list[object]]:
        seen.extend(text.text for text in texts)  # type: ignore[attr-defined]
        return [[] for _ in texts]  # type: ignore[attr-defined]

    bar = Mark("EMAIL", "dom", Box(10, 16, 170, 20))
    shown(drawn, reader, find, bars=[bar])  # type: ignore[arg-type]
    assert seen
    assert not any("oakes" in text for text in seen)
    assert any("address" in text for text in seen)
    seen.clear()
    shown(drawn, reader, find)  # type: ignore[arg-type]
    assert any("oakes" in text for text in seen)


def test_media_outside_of_the_picture_or_too_small_are_not_read(reader: Reader) -> None:
    drawn = Drawn(300, 60)
    drawn.write(10, 16, f"[{MAIL}]", size=15)
    small = [
        Media(Box(12, 20, 15, 7), "image"),
        Media(Box(500, 0, 90, 90), "image"),
        Media(Box(-90, 0, 90, 90), "image"),
    ]
    done, result = shown(drawn, reader, media=small)
    assert (done.media_read, done.redactions) == (0, [])
    assert drawn.left_bare(result) == [MAIL]
    overlapping = [Media(Box(0, 0, 200, 60), "image"), Media(Box(150, 0, 300, 90), "canvas")]
    assert shown(drawn, reader, media=overlapping)[0].media_read == 1


def test_a_high_picture_is_read_in_bands_that_overlap(reader: Reader) -> None:
    drawn = Drawn(320, 3_000)
    for y in range(10, 2_980, 110):
        drawn.write(10, y, f"[{MAIL}]" if y % 220 == 10 else "{nothing of note}", size=14)
    for y in (1_340, 1_375, 1_393, 2_720):  # at the seams
        drawn.write(10, y, f"[{CARD}]", size=14)
    done = check(drawn, reader)
    assert done.media_read == 1


def test_what_has_been_read_before_costs_no_second_reading(reader: Reader) -> None:
    class Counting:
        name = reader.name
        strips = 0

        def read(self, strips: object, deadline: float) -> object:
            self.strips += len(strips)  # type: ignore[arg-type]
            return reader.read(strips, deadline)  # type: ignore[arg-type]

        def close(self) -> None:
            pass

    counting, readings = Counting(), Readings()
    drawn = Drawn(400, 120)
    drawn.write(10, 16, "Mail ", f"[{MAIL}]")
    drawn.write(10, 60, "Card ", f"[{CARD}]")

    def look() -> Image.Image:
        job = drawn.job()
        used: Reader = counting  # type: ignore[assignment]
        return opened(redact(job, [drawn.png()], finder(), lambda: used, time.monotonic() + 30, readings)[1])

    first, cost = look(), counting.strips
    assert cost >= 4
    assert look().tobytes() == first.tobytes()
    assert counting.strips == cost
    drawn.write(10, 90, "{one more line}")
    look()
    assert cost < counting.strips <= cost + 2  # the new line, and the line that we know


FORM = (  # label, value: private in brackets, harmless in braces
    ("Name:", "[Rosalie Vandermeer]"),
    ("E-Mail:", "[r.vandermeer@example.test]"),
    ("Teléfono:", "[+34 612 345 678]"),
    ("Geburtsdatum:", "[07.09.1971]"),
    ("IBAN:", "[DE89 3704 0044 0532 0130 00]"),
    ("Card:", "[4012 8888 8888 1881]"),
    ("Adresse:", "[17 Larkspur Crescent, Leeds LS2 8QT]"),
    ("Order:", "{88-10423}"),
    ("Total:", "{$1,249.00}"),
    ("Delivery:", "{Thursday, 3 December}"),
    ("Item:", "{Noise cancelling headphones}"),
)


@pytest.mark.parametrize("size", [11, 15])
def test_a_form_in_a_canvas_is_redacted_by_the_real_policy(size: int, reader: Reader) -> None:
    from host.redact.engine import Engine, EngineConfig

    drawn = Drawn(560, len(FORM) * 2 * size + 30, "#fbfaf5")
    for row, (label, value) in enumerate(FORM):
        drawn.write(14, 12 + row * 2 * size, label, size=size, fill="#777")
        drawn.write(14 + 9 * size, 12 + row * 2 * size, value, size=size)
    _, result = shown(drawn, reader, Engine.load(EngineConfig()).find)
    assert drawn.left_bare(result) == []
    assert drawn.covered_needlessly(result) == []
