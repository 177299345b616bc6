"""Pictures and other bytes that hide in text: found by their first bytes, and replaced by a note of what was there."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

KIB = 1024
MAGIC: tuple[tuple[bytes, str], ...] = (  # the first bytes of a file; sorted by media type
    (b"%PDF-", "application/pdf"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"BM", "image/bmp"),
    (b"GIF8", "image/gif"),
    (b"\x00\x00\x00\x0cJXL ", "image/jxl"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG", "image/png"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)
SVG = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,200}-->\s*)?(?:<!DOCTYPE svg[^>]{0,300}>\s*)?<svg\b", re.I
)
RUN = re.compile(r"[A-Za-z0-9+/_-]{40,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}")
HEX = re.compile(r"(?<![0-9A-Za-z])(?:89504e47|ffd8ff|47494638|25504446|52494646)[0-9a-f]{64,}", re.I)
DATA_URL = re.compile(r"data:((?:image|video|audio|font)/[\w.+-]{1,60}|application/pdf)([^,\"'()<>\s]{0,120}),", re.I)
BASE64_BODY = re.compile(r"[A-Za-z0-9+/=_%\\\r\n-]*")
PLAIN_BODY = re.compile(r"[^\"'()<>\s]*")
RAW_IMAGE = re.compile(
    r"(?:\x89|\ufffd)PNG\r?\n|\xff\xd8\xff|\ufffd\ufffd\ufffd\ufffd\x00\x10JFIF|GIF8[79]a|%PDF-\d|RIFF.{4}WEBP"
)
NOTE = re.compile(r"\[\w+ removed: \d+ KB(?: of [\w.+/*-]+)?(?:; use browser\.screenshot)?\]")
BINARY_CHARS = 256  # shorter runs are ids, hashes and signatures
BINARY_NUMBERS = 1024  # a longer list of bytes is data that nobody can look through
PRINTABLE = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f\ufffd]*")


class Run(NamedTuple):
    """Characters `start` to `end` of a text are base64 of `text`."""

    start: int
    end: int
    text: str


def media_type(head: bytes) -> str | None:
    """What a file is by its first bytes (at least 32 of them); None for what is no picture, video or document."""
    for magic, name in MAGIC:
        if head.startswith(magic):
            return name if _is_plausible(head, name) else None
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"AVI "):
        return "image/webp" if head[8:12] == b"WEBP" else "video/x-msvideo"
    if head[4:8] == b"ftyp":
        return "image/avif" if head[8:12] in (b"avif", b"avis", b"heic", b"mif1") else "video/mp4"
    return "image/svg+xml" if SVG.match(head) else None


def _is_plausible(head: bytes, name: str) -> bool:
    """Two of the beginnings are so short that other data has them, too; then the fields behind them count."""
    if name == "image/bmp":
        return head[6:10] == bytes(4)
    return name != "image/x-icon" or (0 < head[4] < 32 and head[5] == 0 and head[9] == 0)


def note(media: str, size_bytes: int) -> str:
    """What stands where encoded bytes were."""
    kib = f"{max(1, round(size_bytes / KIB))} KB"
    if media.startswith("image/"):
        return f"[image removed: {kib} of {media}; use browser.screenshot]"
    return f"[{media.partition('/')[0]} removed: {kib} of {media}]" if media else f"[bytes removed: {kib}]"


def decoded(text: str) -> bytes | None:
    """The bytes of base64 in either alphabet, with or without padding or line ends; None when it is none."""
    plain = text.translate(_ALPHABET).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


_ALPHABET = {ord("-"): "+", ord("_"): "/", ord("\r"): None, ord("\n"): None}


def readable(data: bytes) -> str | None:
    """The bytes as text, None when they are none that can be read."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if PRINTABLE.fullmatch(text) else None


def without_bytes(text: str) -> tuple[str, list[str]]:
    """The text with notes where pictures and unreadable bytes were encoded in it, and the media types of those."""
    if RAW_IMAGE.match(text):
        return note("image/*", len(text)), ["image/*"]
    removed: list[str] = []
    if "data:" in text or "DATA:" in text or "Data:" in text:
        text = _without_data_urls(text, removed)
    if len(text) >= 40:
        text = RUN.sub(lambda found: _instead_of_run(found[0], removed), text)
        text = HEX.sub(
            lambda found: _instead(found[0], bytes.fromhex(found[0][:64]), len(found[0]) // 2, removed), text
        )
    return text, removed


def _without_data_urls(text: str, removed: list[str]) -> str:
    parts, at = [], 0
    while (head := DATA_URL.search(text, at)) is not None:
        end = _end_of_data(text, head)
        removed.append(media := head[1].lower())
        size = (end - head.end()) * 3 // 4 if ";base64" in head[2].lower() else end - head.end()
        parts += [text[at : head.start()], note(media, size)]
        at = end
    return "".join((*parts, text[at:]))


def _end_of_data(text: str, head: re.Match[str]) -> int:
    """Where a data URL ends: base64 by its alphabet, what stands in quotes at the quote, any other at a space."""
    before = text[head.start() - 1] if head.start() else ""
    body = BASE64_BODY if ";base64" in head[2].lower() else PLAIN_BODY
    if body is PLAIN_BODY and not head.start():
        return len(text)
    if body is PLAIN_BODY and before in ("'", '"', "`"):
        end = text.find(before, head.end())
        return len(text) if end < 0 else end
    found = body.match(text, head.end())
    return found.end() if found else head.end()


def _instead_of_run(run: str, removed: list[str]) -> str:
    head = decoded(run[:64].replace("\n", "").replace("\r", "")[:48])
    if head is None:
        return run
    if media_type(head) is None:
        data = decoded(run) if len(run) >= BINARY_CHARS and _looks_encoded(run) else None
        if data is None or readable(data) is not None:
            return run
    return _instead(run, head, len(run) * 3 // 4, removed)


def _instead(run: str, head: bytes, size: int, removed: list[str]) -> str:
    media = media_type(head) or ""
    removed.append(media)
    return note(media, size)


def _looks_encoded(run: str) -> bool:
    """Base64 of bytes mixes everything; a long path or a long word does not."""
    kinds = (any(map(str.isupper, run)), any(map(str.islower, run)), any(map(str.isdigit, run)))
    return all(kinds) and len(set(run)) > 40


def encoded_texts(text: str) -> Iterator[Run]:
    """Runs of base64 in a text that are readable text when they are decoded."""
    for found in RUN.finditer(text):
        data = decoded(found[0])
        plain = readable(data) if data is not None else None
        if plain is not None and len(plain) >= 8:
            yield Run(found.start(), found.end(), plain)


def bytes_of(value: Sequence[Any] | Mapping[str, Any]) -> bytes | None:
    """The bytes that a list of numbers, or an object of numbered numbers, stands for; None for any other list."""
    items = list(value.values()) if isinstance(value, Mapping) else value
    if len(items) < 64 or not all(type(one) is int and 0 <= one < 256 for one in items[:64]):
        return None
    if isinstance(value, Mapping) and list(value)[:8] != [str(number) for number in range(8)]:
        return None
    if not all(type(one) is int and 0 <= one < 256 for one in items):
        return None
    return bytes(items)


def instead_of_bytes(data: bytes) -> tuple[str, str] | None:
    """The note for a list of bytes and its media type; None when the list may stay."""
    media = media_type(data[:400])
    if media is None and len(data) < BINARY_NUMBERS:
        return None
    return note(media or "", len(data)), media or ""
