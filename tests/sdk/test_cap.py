"""`cap.call` over a real socket pair, with the host's side written out."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from capsdk import errors
from capsdk.cap import Cap, Link


class Wire:
    """A `Cap` and the other end of its socket."""

    def __init__(self, cap: Cap, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.cap = cap
        self.link = link
        self.writer = writer
        self.notices: list[tuple[str, dict[str, Any]]] = []
        self._reader = reader

    async def read(self) -> dict[str, Any]:
        """The next message of the worker."""
        async with asyncio.timeout(5):
            message: dict[str, Any] = json.loads(await self._reader.readline())
            return message

    def say(self, *messages: dict[str, Any]) -> None:
        """What the host sends, in one piece."""
        self.writer.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    notices: list[tuple[str, dict[str, Any]]] = []
    loop = asyncio.get_running_loop()
    _, link = await loop.create_connection(
        lambda: Link(lambda notice, data: notices.append((notice, data)), max_line_bytes=100_000), sock=ours
    )
    reader, writer = await asyncio.open_connection(sock=theirs, limit=4 * 1024 * 1024)
    made = Wire(Cap(link), link, reader, writer)
    made.notices = notices
    yield made
    await link.close(1)
    await link.close(1)
    writer.close()


async def test_a_call_is_one_line_and_its_reply_is_the_result(wire: Wire) -> None:
    call = asyncio.create_task(wire.cap.call("browser.cdp", {"method": "Runtime.evaluate"}))
    asked = await wire.read()
    assert asked == {"id": asked["id"], "method": "browser.cdp", "args": {"method": "Runtime.evaluate"}}
    wire.say({"id": asked["id"], "ok": True, "result": {"result": {"value": 1}}, "new": "ignored"})
    assert await call == {"result": {"value": 1}}


async def test_replies_come_in_any_order_and_are_not_mixed_up(wire: Wire) -> None:
    calls = [asyncio.create_task(wire.cap.call("x", {"n": n})) for n in range(200)]
    asked = [await wire.read() for _ in calls]
    wire.say(*({"id": one["id"], "ok": True, "result": {"n": one["args"]["n"]}} for one in reversed(asked)))
    assert [reply["n"] for reply in await asyncio.gather(*calls)] == list(range(200))


@pytest.mark.parametrize("entry", errors.CODES, ids=lambda entry: entry.code)
async def test_a_refusal_is_raised_as_its_category(wire: Wire, entry: errors.ErrorCode) -> None:
    call = asyncio.create_task(wire.cap.call("x"))
    asked = await wire.read()
    refusal = errors.error(entry.code, "no", hint="h", limit=1)
    wire.say({"id": asked["id"], "ok": False, "error": refusal.to_wire()})
    with pytest.raises(entry.kind) as caught:
        await call
    assert (caught.value.code, caught.value.hint, caught.value.details) == (entry.code, "h", {"limit": 1})


async def test_cancelling_the_awaiting_task_cancels_the_call_once(wire: Wire) -> None:
    call = asyncio.create_task(wire.cap.call("x"))
    asked = await wire.read()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await wire.read() == {"cancel": asked["id"]}
    wire.say({"id": asked["id"], "ok": False, "error": {"code": "CANCELLED"}})  # answered once, to nobody
    after = asyncio.create_task(wire.cap.call("y"))
    assert (await wire.read())["method"] == "y"
    wire.say({"id": asked["id"] + 1, "ok": True, "result": {}})
    assert await after == {}


BAD_ARGS = (
    pytest.param({"a": float("nan")}, "BAD_ARGUMENTS", id="nan"),
    pytest.param({"a": b"bytes"}, "BAD_ARGUMENTS", id="bytes"),
    pytest.param({"a": "x" * (1024 * 1024)}, "LINE_TOO_LONG", id="over-a-megabyte"),
)


@pytest.mark.parametrize(("args", "code"), BAD_ARGS)
async def test_what_cannot_be_sent_is_refused_here_and_the_next_call_works(
    wire: Wire, args: dict[str, Any], code: str
) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        await wire.cap.call("x", args)
    assert caught.value.code == code
    assert not wire.link.waiting
    call = asyncio.create_task(wire.cap.call("x", {"a": "x" * (1024 * 1024 - 100)}))
    asked = await wire.read()
    wire.say({"id": asked["id"], "ok": True, "result": {}})
    assert await call == {}


async def test_arguments_nested_beyond_reason_are_refused_here(wire: Wire) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(errors.InvalidArgumentError) as caught:
        await wire.cap.call("x", deep)
    assert caught.value.code == "BAD_ARGUMENTS"


async def test_when_the_host_leaves_every_waiting_call_fails(wire: Wire) -> None:
    calls = [asyncio.create_task(wire.cap.call("x")) for _ in range(3)]
    await wire.read()
    wire.writer.close()
    async with asyncio.timeout(5):
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        await wire.link.lost
    assert [getattr(outcome, "code", None) for outcome in outcomes] == ["OUTCOME_UNKNOWN"] * 3
    with pytest.raises(errors.AbortedError):
        await wire.cap.call("x")


NO_MESSAGES = (
    pytest.param(b"{\n", id="not-json"),
    pytest.param(b"\xff\xfe\n", id="not-utf8"),
    pytest.param(b"x" * 100_001, id="line-over-the-limit"),
)


@pytest.mark.parametrize("sent", NO_MESSAGES)
async def test_a_host_that_breaks_the_wire_leaves_no_call_waiting(wire: Wire, sent: bytes) -> None:
    call = asyncio.create_task(wire.cap.call("x"))
    await wire.read()
    wire.writer.write(sent)
    with pytest.raises(errors.AbortedError):
        async with asyncio.timeout(5):
            await call


async def test_notices_are_passed_on_and_unknown_messages_ignored(wire: Wire) -> None:
    call = asyncio.create_task(wire.cap.call("x"))
    asked = await wire.read()
    wire.say({"notice": "cancel", "data": {"reason": "r"}}, {"notice": "new"}, {"id": 999, "ok": True}, {"what": 1})
    wire.say({"id": None, "ok": False, "error": {}}, {"id": asked["id"], "ok": True, "result": {}})
    assert await call == {}
    assert wire.notices == [("cancel", {"reason": "r"}), ("new", {})]
