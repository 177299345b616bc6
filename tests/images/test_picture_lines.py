"""Where writing stands: rows of letters are found at any slope, and photographs, icons and charts are none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PIL import Image, ImageDraw

from host.core.redaction import Box, Media, PictureJob
from host.redact.ink import inks_of, mask_of, pieces_of
from host.redact.lines import Line, lines_of
from host.redact.ocr import choose
from host.redact.picture import redact
from host.redact.reader import Reader
from host.redact.reading import Readings
from host.redact.strips import BORDER_PX, strip_of
from tests.images.drawn import Drawn, finder, nothing, opened, png_of


def lines(picture: Image.Image) -> list[Line]:
    return lines_of(pieces_of(mask_of(inks_of(picture)[0])))


def test_touching_pixels_are_one_piece_and_others_are_two() -> None:
    mask = np.zeros((8, 12), dtype=bool)
    mask[1:4, 1:3] = True
    mask[3, 3:6] = True  # joins below
    mask[1:3, 5] = True
    mask[6, 2:4] = True
    mask[5, 8] = mask[6, 9] = True  # corners do not join
    pieces = pieces_of(mask)
    boxes = sorted(zip(*(side.tolist() for side in pieces), strict=True))
    assert boxes == [(1, 1, 6, 4, 11), (2, 6, 4, 7, 2), (8, 5, 9, 6, 1), (9, 6, 10, 7, 1)]
    assert len(pieces_of(np.zeros((5, 5), dtype=bool)).left) == 0
    assert len(pieces_of(np.ones((5, 5), dtype=bool)).left) == 1


INKS = (
    pytest.param("white", "#222", id="dark-on-light"),
    pytest.param("#111", "#eee", id="light-on-dark"),
    pytest.param("#f4f4f4", "#aaa", id="faint"),
    pytest.param("#c62828", "#2e7d32", id="of-equal-lightness"),
)


@pytest.mark.parametrize(("background", "fill"), INKS)
def test_a_line_is_where_its_letters_are(background: str, fill: str) -> None:
    drawn = Drawn(300, 50, background)
    drawn.write(20, 15, "[Wilhelmina Oakes]", fill=fill)
    (line,) = lines(drawn.picture)
    box = Image.fromarray(drawn.private[0][1]).getbbox()
    assert box is not None
    assert (line.x, line.y, line.x + line.length, line.y + line.height) == pytest.approx(box, abs=2.5)
    assert (line.along_x, line.along_y) == (1.0, 0.0)


def test_words_far_apart_and_lines_below_each_other_are_their_own_lines() -> None:
    drawn = Drawn(500, 80)
    drawn.write(10, 10, "Customer")
    drawn.write(250, 10, "Wilhelmina")
    drawn.write(10, 34, "Address")
    assert sorted((round(line.x / 10), round(line.y / 10)) for line in lines(drawn.picture)) == [
        (1, 1),
        (1, 4),
        (25, 1),
    ]


FRAMES = (  # a frame around a line of letters 11 pixels high
    pytest.param((20, 8, 140, 38), id="narrow"),
    pytest.param((20, 0, 158, 44), id="high"),
    pytest.param((4, 8, 290, 38), id="wide"),
)


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_around_a_line_is_none_of_its_letters(frame: tuple[int, int, int, int]) -> None:
    drawn = Drawn(300, 50)
    drawn.write(30, 15, "[Nell Oakes]", size=14)
    framed = drawn.picture.copy()
    ImageDraw.Draw(framed).rectangle(frame, outline="#336", width=2)
    (line,) = lines(drawn.picture)
    assert [(round(one.x), one.pieces) for one in lines(framed) if one.pieces > 1] == [(round(line.x), line.pieces)]


def test_a_frame_around_small_letters_is_no_letter_of_a_larger_line() -> None:
    drawn = Drawn(400, 80)
    drawn.write(30, 30, "[Oakes]", size=11)
    draw = ImageDraw.Draw(framed := drawn.picture.copy())
    for left in (20, 120, 220):
        draw.rectangle((left, 20, left + 90, 56), outline="#336")
    assert max(one.height for one in lines(drawn.picture)) < 20
    assert [one.pieces for one in lines(framed) if one.height > 20] == [2]  # of the empty ones


@pytest.mark.parametrize("degrees", [-14, -6, -2, 2, 6, 14])
def test_a_slope_is_measured_and_the_strip_is_level(degrees: float) -> None:
    drawn = Drawn(500, 300)
    drawn.write(60, 140, "[Wilhelmina Oakes of Larkspur]", turned=degrees, size=16)
    picture = drawn.picture
    (line,) = [line for line in lines(picture) if line.pieces > 10]
    assert np.degrees(np.arctan2(line.along_y, line.along_x)) == pytest.approx(-degrees, abs=1.2)
    strip = strip_of(Image.fromarray(inks_of(picture)[0]), line)
    dark = np.asarray(strip.image) < 128
    rows = np.nonzero(np.any(dark, axis=1))[0]
    assert rows[-1] - rows[0] < 2.2 * 20
    assert strip.along(BORDER_PX) == pytest.approx(0, abs=4)


@pytest.mark.parametrize("degrees", [90, -90])
def test_upright_writing_is_found_to_be_read_both_ways(degrees: float) -> None:
    drawn = Drawn(200, 400)
    drawn.write(100, 200, "[Wilhelmina Oakes]", turned=degrees)
    found = [line for line in lines(drawn.picture) if line.pieces > 8]
    assert sorted(round(line.along_y) for line in found) == [-1, 1]


def photo(seed: int) -> Image.Image:
    """What a photograph is to the eye of a program: soft patches of all sizes."""
    draw = np.random.default_rng(seed)
    layers = np.zeros((300, 420, 3))
    for cells in (4, 9, 20, 45, 100):
        small = Image.fromarray(draw.integers(0, 255, (cells * 3 // 4, cells, 3), dtype=np.uint8))
        layers += np.asarray(small.resize((420, 300), Image.Resampling.BICUBIC), dtype=float)
    return Image.fromarray((layers / 5).astype(np.uint8))


def noise(seed: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (300, 420, 3), dtype=np.uint8))


def gradient(seed: int) -> Image.Image:
    across = np.linspace(0, 255, 420)[None, :].repeat(300, axis=0)
    return Image.fromarray(np.dstack((across, across[:, ::-1], np.full((300, 420), 40 * seed))).astype(np.uint8))


def icons(seed: int) -> Image.Image:
    picture = Image.new("RGB", (420, 300), "white")
    pen = ImageDraw.Draw(picture)
    for row in range(4):
        for column in range(7):
            x, y = 12 + column * 58, 12 + row * 70
            pen.ellipse((x, y, x + 36, y + 36), fill="#3f51b5")
            pen.line((x + 8, y + 18, x + 28, y + 18 + 4 * seed), fill="white", width=3)
    return picture


def chart(seed: int) -> Image.Image:
    picture = Image.new("RGB", (420, 300), "white")
    pen = ImageDraw.Draw(picture)
    heights = np.random.default_rng(seed).integers(20, 260, 16)
    for at in range(0, 300, 20):
        pen.line((0, at, 420, at), fill="#ccc")
    for index, height in enumerate(heights):
        pen.rectangle((8 + index * 26, 290 - int(height), 24 + index * 26, 290), fill="#4caf50")
    return picture


def chessboard(seed: int) -> Image.Image:
    cells = np.indices((300, 420)).sum(axis=0) * 0
    rows, columns = np.indices((300, 420)) // (14 + seed)
    cells = (rows + columns) % 2 * 255
    return Image.fromarray(np.dstack([cells] * 3).astype(np.uint8))


def coins(seed: int) -> Image.Image:
    picture = Image.new("RGB", (420, 300), "#555")
    pen = ImageDraw.Draw(picture)
    for row in range(5):
        for column in range(8):
            x, y, size = 8 + column * 51, 8 + row * 58, 36 + (row * column * seed) % 7
            pen.ellipse((x, y, x + size, y + size), fill="#ccc", outline="#eee")
            pen.ellipse((x + 10, y + 12, x + 20, y + 26), fill="#aaa")
    return picture


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    made = choose()
    yield made
    made.close()


def barred_share(picture: Image.Image, reader: Reader) -> float:
    size = picture.size
    media = [Media(Box(0, 0, *size), "image")]
    job = PictureJob(1.0, size[0], size[1], [], media, "png", 60, 10_000, 1 << 24)
    find = finder()
    done, data = redact(job, [png_of(picture)], find, lambda: reader, time.monotonic() + 30, Readings())
    assert done.media_read == 1
    changed = np.asarray(opened(data)) != np.asarray(picture)
    return float(changed.any(axis=2).mean())


@pytest.mark.parametrize("make", [photo, noise, gradient, icons, chart, chessboard, coins])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_picture_without_writing_is_not_barred(make: Callable[[int], Image.Image], seed: int, reader: Reader) -> None:
    assert barred_share(make(seed), reader) <= 0.005


def test_the_same_pictures_with_writing_on_them_are(reader: Reader) -> None:
    for make in (photo, gradient, chart):
        drawn = Drawn(420, 300)
        drawn.picture = make(1)
        drawn.picture.paste("#fff", (30, 100, 320, 140))
        drawn.write(40, 110, "[w.oakes@example.com]", size=16)
        done, data = redact(drawn.job(), [drawn.png()], finder(), lambda: reader, time.monotonic() + 30, Readings())
        assert drawn.left_bare(opened(data)) == []
        assert done.redactions


def test_an_empty_picture_needs_no_engine() -> None:
    drawn = Drawn(200, 100)
    read: list[int] = []

    class Never:
        name = "never"

        def read(self, strips: object, deadline: float) -> list[list[object]]:
            read.append(1)
            return []

        def close(self) -> None:
            pass

    used: Reader = Never()  # type: ignore[assignment]
    done, _ = redact(drawn.job(), [drawn.png()], nothing, lambda: used, time.monotonic() + 9, Readings())
    assert (done.redactions, read) == ([], [])
