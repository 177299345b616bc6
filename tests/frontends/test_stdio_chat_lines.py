"""The lines that a chat is written: masked results beside who wrote them, one a call, in any order, nothing after."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from host.core.grants import Caller, Kind
from host.core.limits import Limits
from host.core.redaction import Found, Text
from host.dispatch.call import Call
from host.frontends.wire_connection import WireConnection
from tests.dispatch.support import Tab, World, entry

MAIL = "oda@example.test"
RULE = re.compile(r"[\w.]+@[\w.]+\w")
CHAT = Caller("app", "r1", Kind.CHAT, "run-1", "app:app")
SCRIPT = Caller("app", "r1", Kind.SCRIPT, "run-1", "app:app")


class Chat:
    """A connection whose one entry tells an address."""

    def __init__(self, who: Caller = CHAT) -> None:
        async def answer(call: Call) -> bytes:
            return json.dumps({"mail": MAIL}).encode()

        self.world = World(entry(handler=answer, capability=None, owned=lambda call: Tab()))
        self.world.dispatcher.for_ai.find = self._find
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self.asked = asyncio.Event()
        self.lines: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.connection = WireConnection(
            self.world.dispatcher, who, lambda line: self.lines.put_nowait(json.loads(line)), Limits()
        )

    async def _find(self, texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        if not texts:
            return []  # it is only to be started
        self.asked.set()
        await self.may_go_on.wait()
        return [[Found(one.start(), one.end(), "EMAIL", 1, "x") for one in RULE.finditer(text.text)] for text in texts]

    def say(self, *lines: dict[str, Any]) -> None:
        """What comes in."""
        self.connection.feed(b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    async def hear(self) -> dict[str, Any]:
        """The next line that goes out."""
        return await asyncio.wait_for(self.lines.get(), 5)


async def test_a_chat_is_written_the_masked_result_and_whose_words_it_holds() -> None:
    chat = Chat()
    chat.say({"id": "a", "method": "t.echo"})
    line = await chat.hear()
    assert (line["id"], line["ok"], line["result"]) == ("a", True, {"mail": "<EMAIL_1>"})
    assert (line["untrusted"]["origin"], line["untrusted"]["masked"]) == ("https://shop.example", {"EMAIL": 1})
    await chat.connection.end()


async def test_a_script_is_written_the_result_alone() -> None:
    script = Chat(SCRIPT)
    script.say({"id": 1, "method": "t.echo"})
    assert await script.hear() == {"id": 1, "ok": True, "result": {"mail": MAIL}}
    await script.connection.end()


async def test_what_is_cancelled_while_it_is_looked_through_is_answered_once() -> None:
    chat = Chat()
    chat.may_go_on.clear()
    chat.say({"id": 1, "method": "t.echo"}, {"id": 2, "method": "t.echo"})
    await chat.asked.wait()
    chat.say({"cancel": 1}, {"cancel": 1})
    first = await chat.hear()
    chat.may_go_on.set()
    second = await chat.hear()
    assert (first["id"], first["error"]["code"], second["id"], second["ok"]) == (1, "CANCELLED", 2, True)
    assert chat.lines.empty()
    await chat.connection.end()


async def test_a_chat_that_leaves_is_not_written_what_is_still_looked_through() -> None:
    chat = Chat()
    chat.may_go_on.clear()
    chat.say({"id": 1, "method": "t.echo"})
    await chat.asked.wait()
    await chat.connection.end()
    chat.may_go_on.set()
    await asyncio.sleep(0.01)
    assert (await chat.hear())["error"]["code"] == "CANCELLED"
    assert chat.lines.empty()


async def test_an_id_is_in_use_until_its_answer_was_looked_through() -> None:
    chat = Chat()
    chat.may_go_on.clear()
    chat.say({"id": 1, "method": "t.echo"})
    await chat.asked.wait()
    chat.say({"id": 1, "method": "t.echo"})
    assert (await chat.hear())["error"]["code"] == "DUPLICATE_ID"
    chat.may_go_on.set()
    assert (await chat.hear())["result"] == {"mail": "<EMAIL_1>"}
    await chat.connection.end()


@pytest.mark.parametrize(("who", "told"), [(CHAT, "<EMAIL_1>"), (SCRIPT, MAIL)], ids=["chat", "script"])
async def test_a_notice_is_masked_for_a_chat_alone(who: Caller, told: str) -> None:
    chat = Chat(who)
    chat.world.dispatcher.tell(who, "log", {"message": MAIL})
    assert await chat.hear() == {"notice": "log", "data": {"message": told}}
    await chat.connection.end()
