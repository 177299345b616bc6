"""Lines that hold so many values that reading them would keep everybody waiting: refused before they are read."""

from __future__ import annotations

import json

import pytest

from host.core.jsonscan import over_parts
from host.core.wire import DEAR_BYTES, MAX_PARTS, Notice, Request, Unreadable, read_line


def line(filling: bytes, head: bytes = b'{"id":7,"method":"x","args":{"a":') -> bytes:
    return head + b"[" + filling + b"]}}"


REFUSED = (
    pytest.param(line(b"{}," * 100_000 + b"0"), 7, id="objects"),
    pytest.param(line(b"[]," * 100_000 + b"0"), 7, id="arrays"),
    pytest.param(line(b"1," * 100_000 + b"1"), 7, id="numbers"),
    pytest.param(line(b'"a",' * 100_000 + b'"a"'), 7, id="texts"),
    pytest.param(line(b"{}," * 100_000 + b"0", b'{"method":"x","id":7,"args":{"a":'), None, id="id-not-first"),
)


@pytest.mark.parametrize(("refused", "number"), REFUSED)
def test_a_line_of_very_many_values_is_refused_with_limit_and_number(refused: bytes, number: int | None) -> None:
    told = read_line(refused)
    assert isinstance(told, Unreadable)
    assert (told.id, told.error.code) == (number, "PARAMS_TOO_LARGE")
    assert told.error.details["limit"] == MAX_PARTS < told.error.details["actual"]


def test_as_many_values_as_may_be_are_read() -> None:
    told = read_line(line(b"12," * (MAX_PARTS - 10) + b"1"))
    assert isinstance(told, Request)
    assert len(told.args["a"]) == MAX_PARTS - 9


ROWS = json.dumps([{"a": [1, 2, 3], "b": '"{[,'}] * 30_000)


def test_what_stands_in_a_text_is_not_counted() -> None:
    result = json.dumps({"notice": "result", "data": {"rowsJson": ROWS}}).encode()
    assert len(result) > DEAR_BYTES
    told = read_line(result)
    assert isinstance(told, Notice)
    assert told.data == {"rowsJson": ROWS}
    assert over_parts(ROWS.encode(), MAX_PARTS) == 30_000 * 6  # the control: bare, they are


COUNTS = (  # text, limit, what is told
    pytest.param(b"[1,2]", 2, 0, id="just-so-many"),
    pytest.param(b"[1,2]", 1, 2, id="one-more"),
    pytest.param(b'["a,b","\\",{"]', 2, 0, id="in-texts"),
    pytest.param(b'["a,b","\\",{",{}]', 2, 4, id="beside-texts"),
)


@pytest.mark.parametrize(("text", "limit", "told"), COUNTS)
def test_values_are_counted_outside_of_texts(text: bytes, limit: int, told: int) -> None:
    assert over_parts(text, limit) == told
