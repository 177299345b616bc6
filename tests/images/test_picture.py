"""Pixels of a redacted picture: bars are opaque and where they belong, and the file holds nothing else."""

from __future__ import annotations

import functools
import io
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from host.core.redaction import Box, Mark, PictureDone, PictureJob
from host.redact import pixels
from host.redact.bars import Rect, merged, pixels_of
from host.redact.failure import NotChecked, TooLarge
from host.redact.picture import redact
from host.redact.reader import Reader
from tests.images.drawn import Drawn, nothing, opened, png_of


def no_reader() -> Reader:
    raise AssertionError("nothing in this picture has to be read")


def done(job: PictureJob, *tiles: bytes, within_s: float = 20) -> tuple[PictureDone, bytes]:
    return redact(job, tiles, nothing, no_reader, time.monotonic() + within_s)


def colours(width: int = 120, height: int = 80) -> Image.Image:
    """A picture in which no pixel is black."""
    across = np.linspace(60, 250, width)[None, :].repeat(height, axis=0)
    down = np.linspace(60, 250, height)[:, None].repeat(width, axis=1)
    return Image.fromarray(np.dstack((across, down, np.full((height, width), 200))).astype(np.uint8))


def job_of(picture: Image.Image, *boxes: Box, scale: float = 1.0, **changes: Any) -> PictureJob:
    marks = [Mark("EMAIL", "dom", box) for box in boxes]
    values: dict[str, Any] = {
        "scale": scale,
        "width": picture.width / scale,
        "height": picture.height / scale,
        "bars": marks,
        "media": [],
        "format": "png",
        "quality": 60,
        "max_width": 10_000,
        "max_bytes": 1 << 24,
    }
    return PictureJob(**{**values, **changes})


def black_box(picture: Image.Image) -> tuple[int, int, int, int] | None:
    """The box around all black pixels."""
    black = np.asarray(picture.convert("RGB")).max(axis=2) == 0
    return Image.fromarray(black).getbbox()


BARS = (  # box in CSS px, scale, the pixels that are black
    pytest.param(Box(10, 20, 30, 10), 1.0, (8, 18, 42, 32), id="two-pixels-of-padding"),
    pytest.param(Box(10.4, 20.6, 30, 10), 1.0, (8, 18, 43, 33), id="outward-to-whole-pixels"),
    pytest.param(Box(10, 10, 20, 5), 2.0, (16, 16, 64, 34), id="padding-is-in-css-pixels"),
    pytest.param(Box(10, 10, 20, 5), 1.5, (12, 12, 48, 26), id="scale-1.5"),
    pytest.param(Box(-50, -50, 60, 60), 1.0, (0, 0, 12, 12), id="clipped-at-the-corner"),
    pytest.param(Box(100, 70, 500, 500), 1.0, (98, 68, 120, 80), id="clipped-at-the-end"),
    pytest.param(Box(60, 40, 0, 0), 1.0, (58, 38, 62, 42), id="an-empty-box-keeps-its-padding"),
    pytest.param(Box(500, 500, 10, 10), 1.0, None, id="outside"),
)


@pytest.mark.parametrize(("box", "scale", "expected"), BARS)
def test_a_bar_is_black_with_its_padding_and_nothing_else_is(
    box: Box, scale: float, expected: tuple[int, int, int, int] | None
) -> None:
    picture = colours()
    facts, data = done(job_of(picture, box, scale=scale), png_of(picture))
    result = opened(data)
    assert black_box(result) == expected
    if expected is not None:
        inside = np.asarray(result.crop(expected))
        assert inside.max() == 0
    assert len(facts.redactions) == (expected is not None)
    rest = np.asarray(result).copy()
    original = np.asarray(picture).copy()
    if expected is not None:
        for pixels_ in (rest, original):
            pixels_[expected[1] : expected[3], expected[0] : expected[2]] = 0
    assert np.array_equal(rest, original)


@pytest.mark.parametrize("max_width", [119, 100, 77, 50, 31])
def test_nothing_of_what_is_under_a_bar_is_mixed_into_a_smaller_picture(max_width: int) -> None:
    white = Image.new("RGB", (120, 80), (200, 200, 200))
    secret = white.copy()
    secret.paste((255, 0, 0), (20, 20, 61, 41))
    box = Box(20, 20, 41, 21)
    shown = [done(job_of(one, box, max_width=max_width), png_of(one))[1] for one in (white, secret)]
    assert opened(shown[0]).size[0] == max_width
    assert shown[0] == shown[1]
    # The control: without a bar the two differ.
    bare = [done(job_of(one, max_width=max_width), png_of(one))[1] for one in (white, secret)]
    assert bare[0] != bare[1]


def test_a_smaller_picture_says_its_scale() -> None:
    picture = colours(300, 200)
    facts, data = done(job_of(picture, scale=2.0, max_width=100, format="jpeg"), png_of(picture))
    assert (facts.width, facts.height) == opened(data).size == (100, 67)
    assert facts.scale == pytest.approx(100 / 150)
    assert (facts.ocr, facts.media_read, facts.second_look) == ("", 0, 0)


@pytest.mark.parametrize("form", ["jpeg", "png", "webp"])
def test_a_new_file_holds_no_word_of_the_old_one(form: str) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "w.oakes@example.com")
    info.add_itxt("XML:com.adobe.xmp", "<x>w.oakes@example.com</x>")
    picture = colours()
    exif = Image.Exif()
    exif[0x010E] = "w.oakes@example.com"
    given = png_of(picture, pnginfo=info, exif=exif, icc_profile=b"w.oakes@example.com", dpi=(300, 300))
    assert b"w.oakes" in given
    facts, data = done(job_of(picture, format=form), given)
    result = opened(data)
    assert facts.mime_type == f"image/{form}" == Image.MIME[str(result.format)]
    assert b"w.oakes" not in data
    kept = set(result.info) - {
        "jfif",
        "jfif_version",
        "jfif_unit",
        "jfif_density",
        "loop",
        "background",
        "timestamp",
        "duration",
    }
    assert kept == set()


MODES = (
    pytest.param("RGBA", (10, 20, 30, 0), (255, 255, 255), id="transparent-is-white"),
    pytest.param("RGBA", (10, 20, 30, 255), (10, 20, 30), id="opaque"),
    pytest.param("L", 77, (77, 77, 77), id="grey"),
)


@pytest.mark.parametrize(("mode", "colour", "expected"), MODES)
def test_every_kind_of_png_becomes_plain_colours(mode: str, colour: Any, expected: tuple[int, int, int]) -> None:
    picture = Image.new(mode, (40, 30), colour)
    assert opened(done(job_of(picture), png_of(picture))[1]).getpixel((5, 5)) == expected


def test_tiles_become_one_picture_from_the_top_down() -> None:
    picture = colours(60, 90)
    tiles = [png_of(picture.crop((0, top, 60, top + 30))) for top in (0, 30, 60)]
    _, data = done(job_of(picture), *tiles)
    assert np.array_equal(np.asarray(opened(data)), np.asarray(picture))


def bomb() -> bytes:
    data = bytearray(png_of(Image.new("RGB", (10, 10))))
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    return bytes(data)


def lying_header() -> bytes:
    data = bytearray(png_of(colours()))
    data[20:24] = (81).to_bytes(4, "big")
    return bytes(data)


def jpeg() -> bytes:
    out = io.BytesIO()
    colours().save(out, "JPEG")
    return out.getvalue()


REFUSED = (  # changes of the job, tiles, the step that refuses
    pytest.param({}, [b""], "decode", id="no-bytes"),
    pytest.param({}, [], "decode", id="no-tiles"),
    pytest.param({}, [jpeg()], "decode", id="another-format"),
    pytest.param({}, [png_of(colours())[:-200]], "decode", id="cut-off"),
    pytest.param({"width": 60_000, "height": 60_000}, [bomb()], "decode", id="absurdly-large"),
    pytest.param({"height": 81}, [lying_header()], "decode", id="a-header-that-lies"),
    pytest.param({"width": 118.5}, [png_of(colours())], "scale", id="not-the-page's-width"),
    pytest.param({"height": 40}, [png_of(colours())], "scale", id="not-the-page's-height"),
    pytest.param({"width": 120.0, "height": 80.0, "scale": 2.0}, [png_of(colours())], "scale", id="another-scale"),
    pytest.param({"scale": math.nan}, [png_of(colours())], "scale", id="scale-not-a-number"),
    pytest.param({"scale": math.inf}, [png_of(colours())], "scale", id="scale-without-end"),
    pytest.param({"width": -120.0}, [png_of(colours())], "scale", id="negative-width"),
    pytest.param({}, [png_of(colours()), png_of(colours(100, 80))], "scale", id="tiles-of-two-widths"),
    pytest.param({"quality": 0}, [png_of(colours())], "encode", id="no-quality"),
    pytest.param({"max_width": 0}, [png_of(colours())], "encode", id="no-width"),
)


@pytest.mark.parametrize(("changes", "tiles", "step"), REFUSED)
def test_a_capture_that_is_not_what_the_job_says_is_refused(
    changes: dict[str, Any], tiles: list[bytes], step: str
) -> None:
    with pytest.raises(NotChecked) as refused:
        done(job_of(colours(), **changes), *tiles)
    assert refused.value.step == step


def test_the_same_capture_with_the_right_job_is_shown() -> None:
    assert opened(done(job_of(colours()), png_of(colours()))[1]).size == (120, 80)
    assert opened(done(job_of(colours(), width=119.2), png_of(colours()))[1]).size == (120, 80)


BAD_BOXES = (
    pytest.param(Box(math.nan, 0, 10, 10), id="nan"),
    pytest.param(Box(0, 0, math.inf, 10), id="without-end"),
    pytest.param(Box(0, -math.inf, 10, 10), id="from-nowhere"),
    pytest.param(Box(0, 0, -1, 10), id="negative-width"),
    pytest.param(Box(0, 0, 10, -0.5), id="negative-height"),
)


@pytest.mark.parametrize("box", BAD_BOXES)
@pytest.mark.parametrize("where", ["bars", "media"])
def test_a_box_that_is_no_rectangle_stops_the_picture(box: Box, where: str) -> None:
    drawn = Drawn(120, 80)
    changes: dict[str, Any] = {"media": []}
    if where == "bars":
        changes["bars"] = [Mark("EMAIL", "dom", box)]
    else:
        changes["media"] = [type(drawn.job().media[0])(box, "image")]
    with pytest.raises(NotChecked) as refused:
        redact(drawn.job(**changes), [drawn.png()], nothing, no_reader, time.monotonic() + 20)
    assert refused.value.step == "boxes"


def noise() -> Image.Image:
    values = np.random.default_rng(7).integers(0, 255, (200, 300, 3), dtype=np.uint8)
    return Image.fromarray(values)


def test_a_picture_too_large_for_its_limit_gets_a_lower_quality_first() -> None:
    job = functools.partial(job_of, noise(), format="jpeg", quality=90)
    full = len(done(job(), png_of(noise()))[1])
    smaller = done(job(max_bytes=full // 2), png_of(noise()))[1]
    assert len(smaller) <= full // 2
    assert opened(smaller).size == (300, 200)


@pytest.mark.parametrize("form", ["jpeg", "png", "webp"])
def test_a_picture_that_cannot_be_small_enough_names_a_width_that_can(form: str) -> None:
    job: Callable[..., PictureJob] = functools.partial(job_of, noise(), format=form)
    with pytest.raises(TooLarge) as refused:
        done(job(max_bytes=9_000), png_of(noise()))
    assert refused.value.limit == 9_000 < refused.value.actual
    _, data = done(job(max_bytes=9_000, max_width=refused.value.smallest_width), png_of(noise()))
    assert 0 < len(data) <= 9_000


def test_a_side_that_a_format_cannot_hold_is_refused() -> None:
    high = Image.new("RGB", (20, 17_000), "white")
    with pytest.raises(NotChecked) as refused:
        done(job_of(high, format="webp"), png_of(high))
    assert refused.value.step == "encode"
    assert opened(done(job_of(high, format="jpeg"), png_of(high))[1]).size == high.size


MERGED = (
    pytest.param([(0, 0, 10, 10), (20, 0, 30, 10)], [(0, 0, 10, 10), (20, 0, 30, 10)], id="apart"),
    pytest.param([(0, 0, 10, 10), (10, 0, 30, 10)], [(0, 0, 10, 10), (10, 0, 30, 10)], id="touching"),
    pytest.param([(0, 0, 10, 10), (5, 5, 30, 30)], [(0, 0, 30, 30)], id="overlapping"),
    pytest.param([(0, 0, 9, 9), (8, 0, 20, 9), (19, 5, 40, 50)], [(0, 0, 40, 50)], id="a-chain"),
    pytest.param([(0, 0, 50, 50), (5, 5, 9, 9)], [(0, 0, 50, 50)], id="inside"),
)


@pytest.mark.parametrize(("rects", "expected"), MERGED)
def test_places_that_overlap_are_read_as_one(
    rects: list[tuple[int, int, int, int]], expected: list[tuple[int, int, int, int]]
) -> None:
    assert sorted(merged(Rect(*rect) for rect in rects)) == [Rect(*rect) for rect in expected]


def test_a_box_that_ends_on_a_pixel_takes_no_further_one() -> None:
    assert pixels_of(Box(10.0000001, 0, 9.9999999, 5), 1.0, (100, 100)) == Rect(10, 0, 20, 5)


def test_the_largest_picture_fits_into_the_memory_of_the_process() -> None:
    assert pixels.MAX_PIXELS * 3 <= 128 << 20
