"""The one path of a call: its checks in their order, its one reply, and what is written down of it."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from capsdk.errors import OwnershipError, PolicyError
from host.core.grants import Level
from host.dispatch.call import Call
from host.dispatch.entry import Lane
from tests.dispatch.support import Tab, World, caller, entry

STEPS = ("validate", "free", "owned", "prepare", "handler")


class Path:
    """An entry that notes each step it is asked about; `stop` makes one of them refuse."""

    def __init__(self, stop: str = "", *, free: bool = False) -> None:
        self.steps: list[str] = []
        self.stop = stop
        self.is_free = free
        self.entry = entry(free=self._free, owned=self._owned, prepare=self._prepare, handler=self._handler)

    def _note(self, step: str) -> None:
        self.steps.append(step)
        if step == self.stop:
            raise (
                OwnershipError("SESSION_NOT_OWNED", "not yours")
                if step == "owned"
                else PolicyError("BROWSER_POLICY_DENIED", "not this")
            )

    def _free(self, call: Call) -> bool:
        self._note("free")
        return self.is_free

    def _owned(self, call: Call) -> Tab:
        self._note("owned")
        return Tab()

    def _prepare(self, call: Call) -> str:
        self._note("prepare")
        return "prepared"

    def _handler(self, call: Call) -> None:
        self._note("handler")
        assert (call.prepared, isinstance(call.session, Tab)) == ("prepared", True)
        call.finish(b"{}")


ORDER = (  # method, args, level, the step that refuses, code, the steps that were reached
    pytest.param("t.other", {"bad": 1}, "off", "", "UNKNOWN_ENTRY", [], id="unknown-entry-comes-first"),
    pytest.param("t.echo", {"bad": 1}, "off", "", "BAD_ARGUMENTS", [], id="then-the-arguments"),
    pytest.param("t.echo", {}, "off", "owned", "GRANT_OFF", ["free"], id="then-the-grant"),
    pytest.param("t.echo", {}, "ask", "owned", "APPROVAL_PENDING", ["free"], id="then-the-question"),
    pytest.param("t.echo", {}, "allow", "owned", "SESSION_NOT_OWNED", ["free", "owned"], id="then-ownership"),
    pytest.param(
        "t.echo",
        {},
        "allow",
        "prepare",
        "BROWSER_POLICY_DENIED",
        ["free", "owned", "prepare"],
        id="then-rules-and-limits",
    ),
    pytest.param("t.echo", {}, "allow", "", "ok", ["free", "owned", "prepare", "handler"], id="then-the-handler"),
)


@pytest.mark.parametrize(("method", "args", "level", "stop", "code", "reached"), ORDER)
async def test_the_checks_come_in_their_order(
    method: str, args: dict[str, Any], level: str, stop: str, code: str, reached: list[str]
) -> None:
    path = Path(stop)
    world = World(path.entry, level=level)
    await world.answer(method, args)
    assert (world.answers.codes, path.steps) == ([code], reached)


@pytest.mark.parametrize("level", ["off", "ask", None])
async def test_a_free_call_needs_no_grant_and_is_still_owned_and_judged(level: str | None) -> None:
    path = Path(free=True)
    world = World(path.entry, level=level)
    await world.answer()
    assert (world.answers.codes, path.steps) == (["ok"], ["free", "owned", "prepare", "handler"])


async def test_an_entry_without_a_capability_is_open_to_all() -> None:
    world = World(entry(capability=None), level="off")
    assert await world.answer() == b'{"text":""}'


GRANTS = (  # declared, level, ceiling, code
    pytest.param(None, None, {}, "APPROVAL_PENDING", id="never-set"),
    pytest.param(None, "off", {}, "GRANT_OFF", id="off"),
    pytest.param(None, "allow", {"browser.debug": Level.OFF}, "GRANT_OFF", id="ceiling-off"),
    pytest.param(None, "allow", {"browser.debug": Level.ASK}, "APPROVAL_PENDING", id="ceiling-ask"),
    pytest.param(frozenset(), "allow", {}, "CAPABILITY_NOT_DECLARED", id="undeclared"),
    pytest.param(frozenset({"browser.debug"}), "allow", {}, "ok", id="declared-and-allowed"),
)


@pytest.mark.parametrize(("declared", "level", "ceiling", "code"), GRANTS)
async def test_the_grant_decides(
    declared: frozenset[str] | None, level: str | None, ceiling: dict[str, Level], code: str
) -> None:
    world = World(entry(), level=level, ceiling=ceiling)
    await world.answer(who=caller(declared=declared))
    assert world.answers.codes == [code]


async def test_one_question_is_kept_however_often_it_is_asked() -> None:
    world = World(entry(), entry("t.other"), level="ask")
    errors = [await world.answer() for _ in range(3)]
    await world.answer("t.other")
    assert {error.details["approvalId"] for error in errors} == {world.store.questions[0].id}
    assert [question.entry for question in world.store.questions] == ["t.echo", "t.other"]
    (question, _) = world.store.questions
    assert (question.subject, question.capability, question.resource) == ("app:app", "browser.debug", "browser:default")
    assert (question.state, question.expires_at_ms - question.asked_at_ms) == ("pending", 24 * 3600 * 1000)


async def test_a_store_that_cannot_keep_the_question_refuses_the_call() -> None:
    world = World(entry(), level="ask")
    world.store.broken = True
    assert (await world.answer()).code == "STORE_UNAVAILABLE"


async def test_a_fault_while_asking_is_answered_too(caplog: pytest.LogCaptureFixture) -> None:
    world = World(entry(), level="ask")
    world.store.fault = RuntimeError("broken")
    with caplog.at_level(logging.CRITICAL, "capsdk.dispatch"):
        assert (await world.answer()).code == "INTERNAL"


async def test_a_grant_that_changes_while_a_question_is_kept_does_not_turn_it_into_a_refusal() -> None:
    world = World(entry(), level="ask")
    world.store.answering.clear()
    world.call()
    await asyncio.sleep(0)
    world.store.put("allow", subject="app:somebody-else")
    world.store.answering.set()
    await world.answers.wait(1)
    assert world.answers.codes == ["APPROVAL_PENDING"]


# --- exactly one reply


def twice(call: Call) -> None:
    """Ends its call again and again."""
    call.finish(b'{"n":1}')
    call.finish(b'{"n":2}')
    call.fail(PolicyError("EGRESS_REFUSED", "late"))


async def test_only_the_first_end_of_a_call_is_told() -> None:
    world = World(entry(handler=twice))
    world.call()
    assert world.answers.got == [(1, b'{"n":1}', None)]
    assert [row["kind"] for row in world.store.rows] == ["call", "outcome"]


async def test_a_handler_that_answers_and_then_fails_has_answered(caplog: pytest.LogCaptureFixture) -> None:
    def both(call: Call) -> None:
        call.finish(b"{}")
        raise RuntimeError("afterwards")

    world = World(entry(handler=both))
    with caplog.at_level(logging.CRITICAL, "capsdk.dispatch"):
        world.call()
    assert world.answers.codes == ["ok"]


def sync_fault(call: Call) -> None:
    """Breaks at once."""
    raise ZeroDivisionError("secret-value")


async def async_fault(call: Call) -> bytes:
    """Breaks a little later."""
    await asyncio.sleep(0)
    raise ZeroDivisionError("secret-value")


FAULTS = (
    pytest.param({"handler": sync_fault}, id="in-the-handler"),
    pytest.param({"handler": async_fault}, id="in-its-coroutine"),
    pytest.param({"owned": sync_fault}, id="in-the-ownership-check"),
    pytest.param({"prepare": sync_fault}, id="in-the-rules"),
    pytest.param({"free": sync_fault}, id="in-the-free-check"),
    pytest.param({"handler": sync_fault, "lane": Lane.TAB}, id="in-a-lane"),
)


@pytest.mark.parametrize("changes", FAULTS)
async def test_a_fault_of_ours_is_internal_with_an_id_that_the_log_knows(
    changes: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    world = World(entry(**changes))
    error = await world.answer()
    assert (error.code, error.category) == ("INTERNAL", "internal")
    told = json.dumps(error.to_wire())
    assert [word for word in ("secret-value", "Traceback", "ZeroDivision", ".py") if word in told] == []
    assert error.details["id"] in caplog.text
    assert "ZeroDivisionError: secret-value" in caplog.text


async def test_an_error_of_a_handler_is_told_as_it_is() -> None:
    async def refuse(call: Call) -> bytes:
        raise PolicyError("EGRESS_REFUSED", "not there", hint="h", place="x")

    error = await World(entry(handler=refuse)).answer()
    assert error.to_wire() == {
        "code": "EGRESS_REFUSED", "category": "policy", "message": "not there", "hint": "h", "details": {"place": "x"},
    }  # fmt: skip


def never(call: Call) -> None:
    """Leaves its call to others."""


async def forever(call: Call) -> bytes:
    """Does not end by itself."""
    await asyncio.Event().wait()
    return b""


@pytest.mark.parametrize("handler", [never, forever])
async def test_a_deadline_ends_a_call(handler: Any) -> None:
    world = World(entry(handler=handler, timeout_s=0.02))
    error = await world.answer()
    assert (error.code, error.details) == ("BROWSER_TIMEOUT", {"limitMs": 20})


async def test_the_deadline_of_a_finished_call_never_comes() -> None:
    world = World(entry(timeout_s=0.01))
    await world.answer()
    await asyncio.sleep(0.03)
    assert world.answers.codes == ["ok"]


async def test_a_cancelled_call_is_answered_once_and_its_work_is_stopped() -> None:
    stopped: list[str] = []

    async def work(call: Call) -> bytes:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("work")
        return b""

    world = World(entry(handler=work))
    call = world.call()
    await asyncio.sleep(0)
    world.dispatcher.cancel(call)
    world.dispatcher.cancel(call)
    await asyncio.sleep(0.01)
    assert (world.answers.codes, stopped) == (["CANCELLED"], ["work"])


async def test_what_a_handler_left_to_be_done_at_the_end_is_done_once_however_it_ends() -> None:
    ended: list[int] = []

    def wait(call: Call) -> None:
        call.on_end = lambda: ended.append(call.number)

    world = World(entry(handler=wait), entry("t.slow", handler=wait, timeout_s=0.01))
    finished, cancelled, _ = world.call(), world.call(), world.call("t.slow")
    finished.finish(b"{}")
    world.dispatcher.cancel(cancelled)
    await world.answers.wait(3)
    assert (ended, world.answers.codes) == ([1, 2, 3], ["ok", "CANCELLED", "BROWSER_TIMEOUT"])


async def test_a_fault_in_the_tidying_up_costs_no_reply(caplog: pytest.LogCaptureFixture) -> None:
    def wait(call: Call) -> None:
        call.on_end = lambda: [][0]

    world = World(entry(handler=wait, lane=Lane.TAB), entry("t.next", lane=Lane.TAB))
    with caplog.at_level(logging.CRITICAL, "capsdk.dispatch"):
        world.call().finish(b"{}")
    assert await world.answer("t.next") == b'{"text":""}'
    assert world.answers.codes == ["ok", "ok"]
