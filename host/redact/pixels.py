"""From PNG bytes to checked pixels, and from barred pixels to a new file that holds nothing but them."""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Sequence
from typing import Final

from PIL import Image, TiffImagePlugin, WebPImagePlugin

from host.core.redaction import PictureJob
from host.redact.failure import NotChecked, TooLarge

MAX_PIXELS: Final = 40_000_000  # 120 MB decoded: 1280 x 13,000 CSS px at scale 1.5
MAX_SIDE_PX: Final = 32_000
MAX_SIDE_PX_BY_FORMAT: Final = {"jpeg": 65_000, "png": MAX_SIDE_PX, "webp": 16_383}  # libjpeg, ours, libwebp
MAX_SCALE: Final = 8.0
QUALITIES: Final = (45, 30)  # what is tried after the quality asked for
MIME_TYPES: Final = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
# Formats are modules that Pillow imports when it needs them; who gave its rights away may not read them then.
FORMATS: Final = (TiffImagePlugin.TiffImageFile, WebPImagePlugin.WebPImageFile)
Image.preinit()  # PNG and JPEG among others
_PNG: Final = b"\x89PNG\r\n\x1a\n"


def check_job(job: PictureJob) -> None:
    """Raise `NotChecked` for numbers that no capture has."""
    numbers = (job.scale, job.width, job.height)
    if not all(map(math.isfinite, numbers)) or min(numbers) <= 0 or job.scale > MAX_SCALE:
        raise NotChecked("scale", f"scale and size are not those of a picture; at most {MAX_SCALE:g} is read")
    if job.max_width < 1 or job.max_bytes < 1 or not 1 <= job.quality <= 100 or job.format not in MIME_TYPES:
        raise NotChecked("encode", "no picture can be made like that; quality is 1 to 100, width and bytes at least 1")


def decode(job: PictureJob, tiles: Sequence[bytes]) -> Image.Image:
    """The picture's pixels as RGB, of PNG files from the top down; raises `NotChecked` unless they fit the job."""
    if not tiles:
        raise NotChecked("decode", "there is no picture; take it once more")
    sizes = [_header(tile) for tile in tiles]
    width, height = sizes[0][0], sum(size[1] for size in sizes)
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE_PX:
        raise NotChecked(
            "decode", f"{width} x {height} pixels are more than {MAX_PIXELS}, or {MAX_SIDE_PX} a side; clip the page"
        )
    if any(size[0] != width for size in sizes):
        raise NotChecked("scale", "the tiles are not equally wide; take the picture once more")
    # Each tile may be rounded to whole pixels.
    if abs(width - job.width * job.scale) > 1 or abs(height - job.height * job.scale) > len(tiles):
        raise NotChecked("scale", f"{width} x {height} pixels do not match the page's size; take it once more")
    if len(tiles) == 1:
        return _pixels(tiles[0], sizes[0])
    whole, top = Image.new("RGB", (width, height)), 0
    for tile, size in zip(tiles, sizes, strict=True):
        whole.paste(_pixels(tile, size), (0, top))
        top += size[1]
    return whole


def _pixels(png: bytes, size: tuple[int, int]) -> Image.Image:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as file:
        file.load()
        if file.size != size:
            raise NotChecked("decode", "the picture is not as large as it says; take it once more")
        return _flat(file)


def _header(png: bytes) -> tuple[int, int]:
    if len(png) < 33 or png[:8] != _PNG or png[12:16] != b"IHDR":
        raise NotChecked("decode", "the capture is no PNG; take it once more")
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


def _flat(file: Image.Image) -> Image.Image:
    if file.mode == "RGB":
        bare = file.copy()
        bare.info = {}  # what else the file said
        return bare
    above = file.convert("RGBA")
    white = Image.new("RGB", file.size, (255, 255, 255))
    white.paste(above, mask=above.getchannel("A"))
    return white


def shrink(picture: Image.Image, max_width: int) -> Image.Image:
    """A picture no wider than `max_width`; the same one when it is not."""
    if picture.width <= max_width:
        return picture
    size = (max_width, max(1, round(picture.height * max_width / picture.width)))
    return picture.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)


def encode(picture: Image.Image, job: PictureJob) -> bytes:
    """A new file: pixels only, no profile, no text, no date; raises `TooLarge` when it passes `job.max_bytes`."""
    most = MAX_SIDE_PX_BY_FORMAT[job.format]
    if max(picture.size) > most:
        raise NotChecked(
            "encode", f"{max(picture.size)} pixels a side; a {job.format} has at most {most}; clip the page"
        )
    lower = () if job.format == "png" else tuple(step for step in QUALITIES if step < job.quality)
    data = b""
    for quality in (job.quality, *lower):
        data = _file(picture, job.format, quality)
        if len(data) <= job.max_bytes:
            return data
    fits = picture.width * math.sqrt(job.max_bytes / len(data)) * 0.95
    raise TooLarge(job.max_bytes, len(data), max(1, int(fits)))


def _file(picture: Image.Image, form: str, quality: int) -> bytes:
    bare = Image.frombytes("RGB", picture.size, picture.tobytes()) if picture.info else picture
    out = io.BytesIO()
    if form == "png":
        bare.save(out, "PNG", compress_level=3)
    elif form == "webp":
        bare.save(out, "WEBP", quality=quality, method=2)
    else:
        bare.save(out, "JPEG", quality=quality)
    return out.getvalue()
