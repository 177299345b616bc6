"""What an AI is told on the one path of a call: masked or nothing, once, in order, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from capsdk.errors import CapError, ExhaustedError, PreconditionError, UnavailableError
from host.core.grants import Caller, Kind
from host.core.limits import MIB
from host.core.masking.masking import Masking
from host.core.redaction import Found, Text
from host.dispatch import reader
from host.dispatch.ai import OWN_WORDS
from host.dispatch.call import Call
from host.dispatch.entry import Entry, Lane
from host.dispatch.lookup import Find
from host.dispatch.reader import MAX_BYTES, Reader
from tests.dispatch.support import Tab, World, caller, entry

MAIL = "oda@example.test"
SECRET = re.compile("oda|example.test|hunter2")
RULE = re.compile(r"[\w.]+@[\w.]+\w")
CHAT = Caller("app", "r1", Kind.CHAT, "run-1", "app:app")


async def good(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
    """Finds addresses."""
    return [[Found(one.start(), one.end(), "EMAIL", 1, "rule") for one in RULE.finditer(text.text)] for text in texts]


async def raises(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
    raise RuntimeError(f"it broke at {texts[0].text}")


async def refuses(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
    raise UnavailableError("REDACTION_UNAVAILABLE", f"no model for {texts[0].text}")


async def hangs(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
    await asyncio.Event().wait()
    raise AssertionError


async def too_few(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
    return []


async def beyond(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
    return [[Found(0, len(text.text) + 1, "EMAIL", 1, "x")] for text in texts]


async def not_even_lists(texts: Sequence[Text], timeout_s: float) -> Any:
    return [None for _ in texts]


class Gate:
    """A detector that waits until it is let go on."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.reached = asyncio.Event()

    async def __call__(self, texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        if not texts:
            return []  # it is only to be started
        self.asked += [text.text for text in texts]
        self.reached.set()
        await self.open.wait()
        return await good(texts, timeout_s)


def says(value: Any, **changes: Any) -> Entry:
    """An entry with this result."""

    async def answer(call: Call) -> bytes:
        return value if isinstance(value, bytes) else json.dumps(value).encode()

    return entry(handler=answer, capability=None, **changes)


def fails(problem: CapError) -> Entry:
    """An entry that is not done."""

    async def answer(call: Call) -> bytes:
        raise problem

    return entry(handler=answer, capability=None)


def world(*entries: Entry, find: Find | None = good, timeout_s: float = 5.0) -> World:
    """A dispatcher whose chats are looked through by `find`."""
    made = World(*entries)
    made.dispatcher.for_ai.find = find
    made.dispatcher.for_ai._reader = Reader(
        lambda: made.dispatcher.for_ai.find, timeout_s=timeout_s, first_timeout_s=timeout_s
    )
    return made


# --- who is told what


async def test_a_chat_reads_a_masked_result_beside_who_wrote_it() -> None:
    here = world(says({"mail": MAIL, "n": 1}, owned=lambda call: Tab(origin="https://shop.example")))
    call = here.call(who=CHAT)
    await here.answers.wait(1)
    _, result, error = here.answers.got[0]
    assert (json.loads(result or b""), error) == ({"mail": "<EMAIL_1>", "n": 1}, None)
    about = json.loads(call.untrusted or b"")
    assert (about["origin"], about["masked"]) == ("https://shop.example", {"EMAIL": 1})
    assert about["notes"] != []
    assert len(about["nonce"]) >= 16


@pytest.mark.parametrize("kind", [Kind.SCRIPT, Kind.VIEW, Kind.OWNER])
async def test_nobody_else_is_masked_or_waits_for_it(kind: Kind) -> None:
    here = world(says({"mail": MAIL}), find=hangs)
    call = here.call(who=caller(kind))
    await here.answers.wait(1)
    assert here.answers.got[0][1] == b'{"mail": "oda@example.test"}'
    assert call.untrusted is None


def test_who_is_no_chat_does_not_even_load_what_masks() -> None:
    program = """
import sys
import host.app
import host.frontends.stdio
loaded = sorted(name for name in sys.modules if "masking" in name or name == "host.dispatch.reader")
import host.dispatch.reader
assert "host.core.masking.masking" in sys.modules
print(loaded)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


async def test_the_nonce_is_another_one_in_each_reply() -> None:
    here = world(says({"mail": MAIL}))
    calls = [here.call(who=CHAT) for _ in range(3)]
    await here.answers.wait(3)
    assert len({json.loads(call.untrusted or b"")["nonce"] for call in calls}) == 3


async def test_a_value_keeps_its_placeholder_in_a_chat_and_has_another_one_in_another_chat() -> None:
    here = world(says({"a": "ida@example.test", "b": MAIL}), entry("t.two", says({"b": MAIL.upper()}).handler))
    other = Caller("app", "r1", Kind.CHAT, "run-2", "app:app")
    told = [
        await here.answer("t.echo", who=CHAT),
        await here.answer("t.two", who=CHAT),
        await here.answer("t.two", who=other),
    ]
    assert [json.loads(one)["b"] for one in told] == ["<EMAIL_2>", "<EMAIL_2>", "<EMAIL_1>"]


async def test_a_result_without_page_data_needs_nobody_to_look_through_it() -> None:
    here = world(says({"version": f"1 {MAIL}"}, page_data=False), entry("t.two", says({"x": MAIL}).handler), find=None)
    call = here.call(who=CHAT)
    await here.answers.wait(1)
    assert (here.answers.got[0][1], call.untrusted) == (b'{"version": "1 oda@example.test"}', None)
    here.call("t.two", who=CHAT)
    await here.answers.wait(2)
    assert here.answers.codes == ["ok", "REDACTION_UNAVAILABLE"]  # the control: any other does


async def test_a_checked_picture_is_told_as_it_is_and_framed() -> None:
    result = json.dumps({"mimeType": "image/png", "data": "iVBORw0KGgo" * 400_000}).encode()
    told = await Reader(lambda: None).told(CHAT, "browser.screenshot", result, "https://shop.example")
    assert told.result is result
    assert json.loads(told.untrusted)["origin"] == "https://shop.example"
    with pytest.raises(CapError):
        await Reader(lambda: None).told(CHAT, "browser.other", result, "")


async def test_what_looks_is_started_while_the_first_call_of_a_chat_is_under_way() -> None:
    asked: list[int] = []

    async def find(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        asked.append(len(texts))
        return [[] for _ in texts]

    here = world(entry(handler=lambda call: None, capability=None), find=find)
    here.call(who=caller())
    await asyncio.sleep(0.01)
    assert asked == []
    here.call(who=CHAT)
    here.call(who=CHAT)
    await asyncio.sleep(0.01)
    assert asked == [0]
    await here.dispatcher.close()


async def test_the_first_answer_may_take_longer_as_something_is_started_for_it() -> None:
    slow_s = 0.0

    async def find(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        await asyncio.sleep(slow_s)
        return [[] for _ in texts]

    masks = Reader(lambda: find, timeout_s=0.1, first_timeout_s=5.0)
    slow_s = 0.3
    assert (await masks.told(CHAT, "t.echo", b'{"a":"some words"}', "")).result == b'{"a":"some words"}'
    with pytest.raises(CapError):
        await masks.told(CHAT, "t.echo", b'{"a":"some words"}', "")


# --- what goes wrong

BROKEN = (
    pytest.param(None, "REDACTION_UNAVAILABLE", id="not-there"),
    pytest.param(raises, "REDACTION_UNAVAILABLE", id="raises"),
    pytest.param(refuses, "REDACTION_UNAVAILABLE", id="refuses"),
    pytest.param(hangs, "BROWSER_TIMEOUT", id="hangs"),
    pytest.param(too_few, "REDACTION_UNAVAILABLE", id="too-few-answers"),
    pytest.param(beyond, "REDACTION_UNAVAILABLE", id="beyond-the-text"),
    pytest.param(not_even_lists, "REDACTION_UNAVAILABLE", id="no-lists"),
    pytest.param(good, "ok", id="control"),
)


@pytest.mark.parametrize(("find", "code"), BROKEN)
async def test_what_cannot_be_looked_through_is_not_told(find: Find | None, code: str) -> None:
    here = world(says({"a": MAIL, "b": "hunter2 and more"}), find=find, timeout_s=0.2)
    call = here.call(who=CHAT)
    await here.answers.wait(1)
    assert here.answers.codes == [code]
    if code != "ok":
        _, result, error = here.answers.got[0]
        assert (result, call.untrusted) == (None, None)
        assert SECRET.search(json.dumps(error.to_wire() if error else {})) is None


class EndedError(Exception):
    """As the host's side of the process tells that it ended."""

    step = "redactor"


@pytest.mark.parametrize(("times", "code"), [(1, "ok"), (2, "REDACTION_UNAVAILABLE")], ids=["once", "again"])
async def test_a_process_that_ended_is_asked_once_more(times: int, code: str) -> None:
    asked: list[int] = []

    async def find(texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        if texts:
            asked.append(len(texts))
        if texts and len(asked) <= times:
            raise EndedError
        return await good(texts, timeout_s)

    here = world(says({"a": MAIL}), find=find)
    here.call(who=CHAT)
    await here.answers.wait(1)
    assert (here.answers.codes, len(asked)) == ([code], 2)


RESULTS = (
    pytest.param(b'{"a": "oda@example.test', id="no-json"),
    pytest.param(b"[" * 5000 + b"]" * 5000, id="too-deep"),
    pytest.param(b'{"a": ' * 3000 + b"1" + b"}" * 3000, id="too-deep-objects"),
    pytest.param(b'"' + b"x" * (MAX_BYTES + 1) + b'"', id="too-large"),
    pytest.param(b'{"a": 1e999, "b": "\xff"}', id="no-utf-8"),
)


@pytest.mark.parametrize("result", RESULTS)
async def test_a_result_that_cannot_be_walked_through_is_not_told(result: bytes) -> None:
    here = world(says(result))
    told = await here.answer(who=CHAT)
    assert isinstance(told, CapError)
    assert told.code in ("INTERNAL", "RESULT_TOO_LARGE")


async def test_a_key_that_stands_twice_does_not_hide_a_value() -> None:
    here = world(says(b'{"a": "oda@example.test", "a": "plain words"}'))
    assert await here.answer(who=CHAT) == b'{"a":"plain words"}'


async def test_half_surrogates_are_looked_through_and_told() -> None:
    here = world(says(b'{"a": "\\ud83d oda@example.test"}'))
    assert await here.answer(who=CHAT) == b'{"a":"\\ud83d <EMAIL_1>"}'


async def test_too_much_is_refused_with_what_would_pass() -> None:
    here = world(says(b'"' + b"x" * (MAX_BYTES + 1) + b'"'))
    told = await here.answer(who=CHAT)
    assert isinstance(told, ExhaustedError)
    assert (told.code, told.details) == ("RESULT_TOO_LARGE", {"limit": MAX_BYTES, "actual": MAX_BYTES + 3})


async def test_a_whole_result_of_chromium_is_not_too_much() -> None:
    here = world(says(b'{"result":"' + b"some words " * (MIB // 11) + b'"}'))
    assert len(await here.answer(who=CHAT)) > MIB - 20


async def test_a_large_result_that_takes_too_long_says_how_much_would_pass() -> None:
    here = world(says({"a": "many words " * 10_000}), find=hangs, timeout_s=0.5)
    told = await here.answer(who=CHAT)
    assert (told.code, told.category) == ("RESULT_TOO_LARGE", "exhausted")
    assert 0 < told.details["limit"] <= told.details["actual"] // 2


# --- errors

PROBLEM = PreconditionError(
    "CDP_ERROR", f"Chromium says: no node {MAIL}", hint=f"look at {MAIL}", cdp={"code": -32000, "message": f"no {MAIL}"}
)


async def test_an_error_keeps_its_code_and_its_words_are_masked() -> None:
    told = await world(fails(PROBLEM)).answer(who=CHAT)
    assert told.to_wire() == {
        "code": "CDP_ERROR",
        "category": "precondition",
        "message": "Chromium says: no node <EMAIL_1>",
        "hint": "look at <EMAIL_1>",
        "details": {"cdp": {"code": -32000, "message": "no <EMAIL_1>"}},
    }
    assert type(told) is PreconditionError


@pytest.mark.parametrize("find", [None, raises, hangs, too_few], ids=["none", "raises", "hangs", "too-few"])
async def test_an_error_whose_words_cannot_be_looked_through_has_none(find: Find | None) -> None:
    problem = PreconditionError("DIALOG_OPEN", f"a dialog: {MAIL}", message=MAIL, dialogOpened=True, limit=5)
    here = world(fails(problem), find=find, timeout_s=0.2)
    told = await here.answer(who=CHAT)
    assert (told.code, told.details) == ("DIALOG_OPEN", {"dialogOpened": True, "limit": 5})
    assert SECRET.search(json.dumps(told.to_wire())) is None


async def test_what_the_host_says_of_itself_needs_nobody_to_look_through_it() -> None:
    here = world(entry(), find=None)
    here.call("t.other", who=CHAT)
    here.call("t.echo", {"bad": 1}, who=CHAT)
    here.store.put("off")
    here.call("t.echo", who=CHAT)
    assert here.answers.codes == ["UNKNOWN_ENTRY", "BAD_ARGUMENTS", "GRANT_OFF"]


def test_errors_that_quote_a_page_are_none_of_the_hosts_own_words() -> None:
    quoting = {
        "CDP_ERROR",
        "DIALOG_OPEN",
        "ORIGIN_NOT_ALLOWED",
        "EGRESS_REFUSED",
        "SCRIPT_FAILED",
        "BROWSER_LAUNCH_FAILED",
    }
    assert quoting & OWN_WORDS == set()


# --- one end


async def reading(gate: Gate, *entries: Entry) -> tuple[World, Call]:
    """A call whose result is being looked through."""
    here = world(*(entries or (says({"a": MAIL}),)), find=gate)
    call = here.call(who=CHAT)
    await asyncio.wait_for(gate.reached.wait(), 5)
    assert here.answers.got == []
    return here, call


async def test_a_call_cancelled_meanwhile_is_answered_once() -> None:
    gate = Gate()
    here, call = await reading(gate)
    here.dispatcher.cancel(call)
    here.dispatcher.cancel(call)
    assert here.answers.codes == ["CANCELLED"]
    gate.open.set()
    await asyncio.sleep(0)
    assert (await here.answer(who=CHAT), here.answers.codes) == (b'{"a":"<EMAIL_1>"}', ["CANCELLED", "ok"])


async def test_a_caller_who_leaves_meanwhile_and_a_host_that_ends_answer_once() -> None:
    gate = Gate()
    here, _ = await reading(gate)
    await here.dispatcher.caller_ended(CHAT)
    here.call(who=CHAT)
    await here.dispatcher.close()
    gate.open.set()
    await asyncio.sleep(0.01)
    assert here.answers.codes == ["CANCELLED", "BROWSER_DISPOSING"]


async def test_a_grant_taken_back_meanwhile_takes_the_answer_back() -> None:
    gate = Gate()
    here, _ = await reading(gate, entry(handler=says({"a": MAIL}).handler))
    here.store.put("off")
    gate.open.set()
    await asyncio.sleep(0.01)
    assert here.answers.codes == ["GRANT_OFF"]


async def test_an_entry_that_ends_its_call_again_meanwhile_tells_nothing_more() -> None:
    gate = Gate()
    here, call = await reading(gate)
    call.finish(b'{"a": "oda@example.test"}')
    call.fail(PROBLEM)
    assert here.answers.got == []
    gate.open.set()
    await here.answers.wait(1)
    await asyncio.sleep(0.01)
    assert here.answers.got == [(1, b'{"a":"<EMAIL_1>"}', None)]


async def test_the_deadline_of_the_entry_is_over_when_its_work_is() -> None:
    gate = Gate()
    here, _ = await reading(gate, says({"a": MAIL}, timeout_s=0.05))
    await asyncio.sleep(0.15)
    gate.open.set()
    await here.answers.wait(1)
    assert here.answers.codes == ["ok"]


async def test_the_tab_is_free_while_its_words_are_looked_through() -> None:
    gate = Gate()
    one, two = (
        says({"a": MAIL}, lane=Lane.TAB, owned=lambda call: Tab()),
        says({"b": 1}, lane=Lane.TAB, owned=lambda call: Tab()),
    )
    here = world(one, entry("t.two", two.handler, lane=Lane.TAB, owned=two.owned), find=gate)
    here.call(who=CHAT)
    await asyncio.wait_for(gate.reached.wait(), 5)
    assert await here.answer("t.two", who=caller()) == b'{"b": 1}'


async def test_answers_come_in_the_order_in_which_the_work_ended() -> None:
    gate = Gate()
    here = world(says({"a": MAIL}), find=gate)
    for _ in range(5):
        here.call(who=CHAT)
    await asyncio.wait_for(gate.reached.wait(), 5)
    assert len(gate.asked) == 1  # one after the other
    gate.open.set()
    await here.answers.wait(5)
    assert [number for number, _, _ in here.answers.got] == [1, 2, 3, 4, 5]


async def test_a_chat_that_waits_does_not_hold_up_another_one() -> None:
    gate = Gate()
    here, _ = await reading(gate)
    for _ in range(50):
        here.call(who=CHAT)
    here.dispatcher.for_ai.find = good
    other = Caller("app", "r1", Kind.CHAT, "run-2", "app:app")
    assert await here.answer(who=other) == b'{"a":"<EMAIL_1>"}'
    assert await here.answer(who=caller()) == b'{"a": "oda@example.test"}'
    assert len(here.answers.got) == 2
    await here.dispatcher.close()


async def test_a_large_result_is_walked_through_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def noted(*args: Any) -> Any:
        threads.append(threading.current_thread().name)
        return Masking(*args)

    monkeypatch.setattr("host.dispatch.reader.Masking", noted)
    here = world(says({"a": MAIL}), entry("t.large", says({"a": [f"{MAIL} {n}" for n in range(9000)]}).handler))
    await here.answer(who=CHAT)
    assert len(await here.answer("t.large", who=CHAT)) > 100_000
    assert threads[0] == threading.main_thread().name
    assert threads[1].startswith("capsdk-masking")
    await here.dispatcher.close()


# --- the ledger, notices


async def test_the_ledger_says_how_many_were_masked_and_none_of_them() -> None:
    here = world(says({"a": [MAIL, "ida@example.test"]}))
    result = await here.answer(who=CHAT)
    row = here.store.rows[-1]
    assert (row["kind"], row["verdict"], row["bytes"]) == ("outcome", "ok", len(result))
    assert "2 masked" in row["reason"]
    assert SECRET.search(json.dumps(here.store.rows)) is None


async def test_notices_to_a_chat_are_masked_and_stay_in_order() -> None:
    here = world(entry())
    heard: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    here.dispatcher.hear(CHAT, lambda name, data: heard.put_nowait((name, data)))
    for number in range(3):
        here.dispatcher.tell(CHAT, "log", {"message": f"{number} {MAIL}"})
    for number in range(3):
        assert await asyncio.wait_for(heard.get(), 5) == ("log", {"message": f"{number} <EMAIL_1>"})


async def test_a_notice_that_cannot_be_looked_through_has_no_words() -> None:
    here = world(entry(), find=raises)
    heard: asyncio.Queue[Any] = asyncio.Queue()
    here.dispatcher.hear(CHAT, lambda name, data: heard.put_nowait(data))
    here.dispatcher.tell(CHAT, "session.closed", {"sessionId": "0a" * 16, "message": MAIL, "n": 2})
    assert await asyncio.wait_for(heard.get(), 5) == {"sessionId": "0a" * 16, "n": 2}


async def test_notices_to_a_script_are_told_at_once_as_they_are() -> None:
    here = world(entry(), find=hangs)
    heard: list[Any] = []
    here.dispatcher.hear(caller(), lambda name, data: heard.append(data))
    here.dispatcher.tell(caller(), "log", {"message": MAIL})
    assert heard == [{"message": MAIL}]


async def test_chats_are_forgotten_when_there_are_many_and_the_newest_are_kept() -> None:
    masks = Reader(lambda: good)
    callers = [Caller("app", "r1", Kind.CHAT, f"run-{number}", "app:app") for number in range(reader.MOST_CHATS + 5)]
    for one in callers:
        await masks.told(one, "t.echo", b'{"a": "ida@example.test", "b": "oda@example.test"}', "")
    assert len(masks._chats) == reader.MOST_CHATS
    again = await masks.told(callers[-1], "t.echo", b'{"b": "oda@example.test"}', "")
    assert again.result == b'{"b":"<EMAIL_2>"}'
