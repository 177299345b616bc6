"""Pictures and bytes in text: taken out with a note, however they are encoded; other long words stay."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import quote

import pytest

from tests.core.masking import PROTOCOL, masked, untouched

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + hashlib.sha512(b"p").digest() * 40
FILES = (
    pytest.param(PNG, "image/png", id="png"),
    pytest.param(b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(500), "image/jpeg", id="jpeg"),
    pytest.param(b"GIF89a" + bytes(500), "image/gif", id="gif"),
    pytest.param(b"RIFF\x00\x10\x00\x00WEBPVP8 " + bytes(500), "image/webp", id="webp"),
    pytest.param(b"BM\x36\x10\x00\x00\x00\x00\x00\x00\x36" + bytes(500), "image/bmp", id="bmp"),
    pytest.param(b"\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00" + bytes(500), "image/x-icon", id="ico"),
    pytest.param(b"\x00\x00\x00\x1cftypavif" + bytes(500), "image/avif", id="avif"),
    pytest.param(b"II*\x00" + bytes(500), "image/tiff", id="tiff"),
    pytest.param(b"%PDF-1.7\n" + bytes(500), "application/pdf", id="pdf"),
    pytest.param(b"<svg xmlns='http://www.w3.org/2000/svg'>" + b"<path/>" * 80, "image/svg+xml", id="svg"),
)
PLAIN = base64.b64encode(PNG).decode()

WAYS = (  # how a file gets into a result
    pytest.param(lambda data, b64: b64, id="base64"),
    pytest.param(lambda data, b64: f"icon: {b64}; more", id="base64-in-text"),
    pytest.param(lambda data, b64: b64.replace("+", "-").replace("/", "_").rstrip("="), id="url-alphabet"),
    pytest.param(lambda data, b64: "\n".join(b64[at : at + 76] for at in range(0, len(b64), 76)), id="in-lines"),
    pytest.param(lambda data, b64: data[:600].hex() if data[:1] in b"\x89\xffG%" else b64, id="hex-or-base64"),
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("data", "media"), FILES)
def test_an_encoded_file_is_taken_out_with_a_note(data: bytes, media: str, way: Any) -> None:
    text = way(data, base64.b64encode(data).decode())
    told = untouched({"x": text})
    assert len(told.value["x"]) < 120
    assert f"KB of {media}" in told.value["x"]
    assert told.removed == {media: 1}


ADDRESSES = (
    pytest.param(f"data:image/png;base64,{PLAIN}", "", "", id="whole"),
    pytest.param(f'<img src="data:image/png;base64,{PLAIN}" alt="x">', '<img src="', '" alt="x">', id="in-html"),
    pytest.param(f"a {{ background: url(data:image/png;base64,{PLAIN}) }}", "a { background: url(", ") }", id="in-css"),
    pytest.param(
        f"a {{ background: url('data:image/png;base64,{PLAIN}') }}", "a { background: url('", "') }", id="quoted"
    ),
    pytest.param(f"u=data:image/png;base64,{quote(PLAIN, safe='')}&v=1", "u=", "&v=1", id="in-a-query"),
    pytest.param(f"DATA:image/png;charset=x;base64,{PLAIN} end", "", " end", id="with-parameters"),
    pytest.param(
        "url(\"data:image/svg+xml;utf8,<svg a='b'><text>Oda</text></svg>\") x", 'url("', '") x', id="svg-as-text"
    ),
    pytest.param("data:image/svg+xml,%3Csvg%3EOda%3C/svg%3E", "", "", id="svg-percent"),
)


@pytest.mark.parametrize(("text", "before", "after"), ADDRESSES)
def test_a_picture_in_an_address_is_taken_out_and_what_is_around_it_stays(text: str, before: str, after: str) -> None:
    told = untouched({"x": text}).value["x"]
    assert told.startswith(f"{before}[image removed: ")
    assert told.endswith(f"; use browser.screenshot]{after}")
    assert len(told) < len(before) + len(after) + 90


LISTS = (
    pytest.param(list(PNG), id="list"),
    pytest.param({str(number): one for number, one in enumerate(PNG)}, id="object"),
)


@pytest.mark.parametrize("data", LISTS)
def test_a_picture_as_a_list_of_numbers_is_taken_out(data: Any) -> None:
    assert untouched({"x": data, "y": 1}).value == {
        "x": "[image removed: 3 KB of image/png; use browser.screenshot]",
        "y": 1,
    }


def test_pixels_as_a_list_of_numbers_are_taken_out() -> None:
    assert untouched({"x": [255, 0, 7, 255] * 400}).value == {"x": "[bytes removed: 2 KB]"}


def test_a_body_that_is_a_picture_is_taken_out() -> None:
    told = untouched({"body": PLAIN, "base64Encoded": True}, asked=PROTOCOL).value
    assert told == {"body": "[image removed: 3 KB of image/png; use browser.screenshot]", "base64Encoded": False}


def test_bytes_that_nobody_can_read_are_taken_out() -> None:
    data = b"".join(hashlib.sha512(bytes([number])).digest() for number in range(30))
    told = untouched({"x": base64.b64encode(data).decode()})
    assert (told.value, told.removed) == ({"x": "[bytes removed: 2 KB]"}, {"bytes": 1})


def test_text_in_base64_is_looked_through_and_stays_when_nothing_is_in_it() -> None:
    harmless = base64.b64encode(b"nothing of anybody is in this text, however long it is").decode()
    private = base64.b64encode(b"this one was written by oda@example.test, as you can read").decode()
    assert masked({"a": harmless, "b": f"x {private} y"}).value == {"a": harmless, "b": "x <EMAIL_1> y"}


HARMLESS = (
    pytest.param("sha512-" + base64.b64encode(hashlib.sha512(b"x").digest()).decode(), id="integrity"),
    pytest.param(hashlib.sha256(b"x").hexdigest(), id="hash"),
    pytest.param("/assets/" + "folder/" * 60 + "file.js", id="long-path"),
    pytest.param("a" * 3000, id="long-word"),
    pytest.param("data: image of a cat, base64 and more", id="prose"),
    pytest.param("BM and GIF are names of formats; %PDF- as well", id="names-of-formats"),
    pytest.param(list(range(200)), id="short-list"),
    pytest.param([0, 0, 1, 0] * 30, id="histogram"),
    pytest.param([1000, 2000] * 800, id="large-numbers"),
    pytest.param({"0": "a", "1": "b"}, id="numbered-object"),
)


@pytest.mark.parametrize("value", HARMLESS)
def test_other_long_words_and_lists_stay(value: Any) -> None:
    told = untouched({"x": value})
    assert (told.value, told.removed) == ({"x": value}, {})
