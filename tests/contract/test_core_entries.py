"""The entries' own rules, by the whole path and without a browser."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from host.core.grants import Caller, Kind
from host.core.urls import UrlRules
from host.core.wire import Request
from tests.contract.conftest import Host

OWNER = Caller("shop", "r1", Kind.OWNER, "run-1", "app:shop")
KIB = 1024


async def raw_call(host: Host, name: str, raw_args: bytes) -> tuple[str, dict[str, Any]]:
    """One call with these very bytes; its code and the error's details."""
    answer: asyncio.Future[tuple[str, dict[str, Any]]] = asyncio.get_running_loop().create_future()

    def reply(result: bytes | None, error: Any) -> None:
        answer.set_result(("ok", {}) if error is None else (error.code, error.details))

    host.dispatcher.submit(OWNER, Request(1, name, json.loads(raw_args), raw_args), reply)
    return await asyncio.wait_for(answer, 5)


def padded(size_bytes: int) -> bytes:
    return b'{"expression":"' + b"x" * (size_bytes - len(b'{"expression":""}')) + b'"}'


SIZES = (  # params, code, details
    pytest.param(padded(64 * KIB), "ok", {}, id="exactly-64-kb"),
    pytest.param(padded(64 * KIB + 1), "PARAMS_TOO_LARGE", {"limit": 65536, "actual": 65537}, id="one-byte-over"),
    pytest.param(
        b'{"a":"' + "é".encode() * 32 * KIB + b'"}',
        "PARAMS_TOO_LARGE",
        {"limit": 65536, "actual": 65544},
        id="bytes-not-characters",
    ),
    pytest.param(
        b'{"a":"' + "é".encode() * 32 * KIB + b'\\ud800"}',
        "PARAMS_TOO_LARGE",
        {"limit": 65536, "actual": 65550},
        id="with-a-half-surrogate",
    ),
    pytest.param(b'{"a":"' + "é".encode() * 30_000 + b'\\ud800"}', "ok", {}, id="a-half-surrogate-costs-six-bytes"),
    pytest.param(b'{"a":' + b"[" * 99 + b"]" * 99 + b"}", "ok", {}, id="100-levels"),
    pytest.param(b'{"a":' + b"[" * 100 + b"]" * 100 + b"}", "PARAMS_TOO_LARGE", {"limit": 100}, id="101-levels"),
    pytest.param(b'{"a":"' + b"[" * 5000 + b'"}', "ok", {}, id="brackets-in-a-text"),
    pytest.param(b"[]", "BAD_ARGUMENTS", {}, id="array"),
    pytest.param(b'"x"', "BAD_ARGUMENTS", {}, id="text"),
    pytest.param(b"null", "ok", {}, id="null-is-none"),
)


@pytest.mark.parametrize(("params", "code", "details"), SIZES)
async def test_parameters_are_bounded_to_the_byte(
    host: Host, params: bytes, code: str, details: dict[str, Any]
) -> None:
    session = host.sessions.lend(OWNER)
    raw = b'{"sessionId":"%b","method":"Runtime.callFunctionOn","params":%b}' % (session.id.encode(), params)
    assert await raw_call(host, "browser.cdp", raw) == (code, details)
    assert len(host.sessions.sent) == (code == "ok")


async def test_an_allowed_commands_parameters_go_on_as_they_came(host: Host) -> None:
    session = host.sessions.lend(OWNER)
    raw = b'{"sessionId":"%b","method":"DOM.getDocument","par\\u0061ms":{ "depth" : 1e0, "\\u0041":"\\u0041" }}'
    assert await raw_call(host, "browser.cdp", raw % session.id.encode()) == ("ok", {})
    assert host.sessions.sent == [
        b'{"id":1,"method":"DOM.getDocument","params":{ "depth" : 1e0, "\\u0041":"\\u0041" },"sessionId":"01BB"}\0'
    ]


async def test_a_judged_commands_parameters_go_on_as_they_were_judged(host: Host) -> None:
    session = host.sessions.lend(OWNER)
    args = {"sessionId": session.id, "method": "Runtime.evaluate", "params": {"expression": "1", "timeout": 10**9}}
    assert await host.code(OWNER, "browser.cdp", args) == "ok"
    (frame,) = host.sessions.sent
    assert json.loads(frame[:-1])["params"] == {"expression": "1", "timeout": 20_000}


REFUSED = (
    pytest.param("Page.captureScreenshot", {}, "BROWSER_POLICY_DENIED", id="pixels"),
    pytest.param("page.enable", {}, "BROWSER_POLICY_DENIED", id="case"),
    pytest.param("Page.enable ", {}, "BROWSER_POLICY_DENIED", id="trailing-space"),
    pytest.param("", {}, "BROWSER_POLICY_DENIED", id="empty"),
    pytest.param(["Page.enable"], {}, "BAD_ARGUMENTS", id="method-as-an-array"),
    pytest.param(7, {}, "BAD_ARGUMENTS", id="method-as-a-number"),
    pytest.param("Page.navigate", {"url": "file:///etc/passwd"}, "BROWSER_POLICY_DENIED", id="file"),
    pytest.param(
        "Network.getCookies", {"urls": ["https://other.example/"]}, "BROWSER_POLICY_DENIED", id="cookies-of-others"
    ),
    pytest.param("Target.getTargets", {}, "BROWSER_POLICY_DENIED", id="targets"),
)


@pytest.mark.parametrize(("method", "params", "code"), REFUSED)
async def test_a_refused_command_never_reaches_chromium(
    host: Host, method: Any, params: dict[str, Any], code: str
) -> None:
    session = host.sessions.lend(OWNER)
    assert await host.code(OWNER, "browser.cdp", {"sessionId": session.id, "method": method, "params": params}) == code
    assert host.sessions.sent == []


@pytest.mark.parametrize("handle", ["AA", "01AA", "01BB", "handle", ""], ids=["any", "guard", "app", "guess", "empty"])
async def test_a_handle_that_is_not_this_sessions_is_not_owned(host: Host, handle: str) -> None:
    session = host.sessions.lend(OWNER)
    args = {"sessionId": session.id, "method": "DOM.enable", "targetSessionId": handle}
    assert await host.code(OWNER, "browser.cdp", args) == "SESSION_NOT_OWNED"


TIMEOUTS = ((0, "BAD_ARGUMENTS"), (1, "ok"), (20_000, "ok"), (20_001, "BAD_ARGUMENTS"), (1.5, "BAD_ARGUMENTS"))


@pytest.mark.parametrize(("timeout_ms", "code"), TIMEOUTS)
async def test_a_deadline_is_1_to_20000_ms(host: Host, timeout_ms: float, code: str) -> None:
    session = host.sessions.lend(OWNER)
    args = {"sessionId": session.id, "method": "DOM.enable", "timeoutMs": timeout_ms}
    assert await host.code(OWNER, "browser.cdp", args) == code


async def events(host: Host, session_id: str, **args: Any) -> dict[str, Any]:
    result, error = await host.call(OWNER, "browser.events", {"sessionId": session_id, **args})
    assert error is None
    assert result is not None
    page: dict[str, Any] = json.loads(result)
    return page


async def test_a_poll_gives_events_cursor_and_losses(host: Host) -> None:
    session = host.sessions.lend(OWNER)
    session.add_event("Page.a", b'{"x":1}')
    session.capturing = True
    session.lose_event("Page.b", 70_000)
    page = await events(host, session.id)
    assert [(event["seq"], event["method"], event["params"]) for event in page["events"]] == [(1, "Page.a", {"x": 1})]
    assert (page["next"], page["lost"]) == (2, True)
    assert page["dropped"] == {"Page.b": {"count": 1, "bytes": 70_000, "size": 70_000}}


async def test_a_cursor_above_the_newest_is_refused_even_when_one_would_wait(host: Host) -> None:
    session = host.sessions.lend(OWNER)
    assert (
        await host.code(OWNER, "browser.events", {"sessionId": session.id, "after": 1, "waitMs": 20_000})
        == "BAD_CURSOR"
    )


async def test_a_long_poll_ends_at_the_first_match(host: Host) -> None:
    session = host.sessions.lend(OWNER)
    poll = asyncio.ensure_future(events(host, session.id, methods=["Page.b"], waitMs=20_000))
    await asyncio.sleep(0.01)
    session.add_event("Page.a", b"{}")
    await asyncio.sleep(0.01)
    assert not poll.done()
    session.add_event("Page.b", b"{}")
    page = await asyncio.wait_for(poll, 2)
    assert ([event["method"] for event in page["events"]], page["next"]) == (["Page.b"], 2)


async def test_a_long_poll_ends_at_its_time_with_an_empty_page(host: Host) -> None:
    session = host.sessions.lend(OWNER)
    assert (await events(host, session.id, waitMs=10))["events"] == []


async def test_open_gives_a_session_and_its_navigation_and_close_takes_it_back_twice(host: Host) -> None:
    result, _ = await host.call(OWNER, "browser.openSession", {"url": "https://shop.example/"})
    opened = json.loads(result or b"")
    assert opened["navigation"] == {"url": "https://shop.example/", "status": 200}
    for _ in range(2):
        assert await host.call(OWNER, "browser.closeSession", {"sessionId": opened["sessionId"]}) == (b"{}", None)
    assert await host.code(OWNER, "browser.events", {"sessionId": opened["sessionId"]}) == "SESSION_CLOSED"


OPENS = (  # args, code
    pytest.param({"url": "file:///etc/passwd"}, "BROWSER_POLICY_DENIED", id="file"),
    pytest.param({"url": "http://127.0.0.1:1/"}, "BROWSER_POLICY_DENIED", id="loopback"),
    pytest.param({"url": "https://other.example/"}, "ORIGIN_NOT_ALLOWED", id="outside-the-manifest"),
    pytest.param({"url": "https://shop.example/", "capture": ["bad"]}, "BAD_ARGUMENTS", id="bad-capture"),
    pytest.param(
        {"url": "https://shop.example/", "capture": ["Page.*"] * 101}, "BAD_ARGUMENTS", id="too-many-patterns"
    ),
    pytest.param({"url": ""}, "BAD_ARGUMENTS", id="empty-url"),
    pytest.param({"url": "https://shop.example/" + "x" * 2048}, "BAD_ARGUMENTS", id="long-url"),
    pytest.param({"url": "https://shop.example/", "capture": ["Page.*"]}, "BROWSER_TAB_LIMIT", id="no-slot"),
)


@pytest.mark.parametrize(("args", "code"), OPENS)
async def test_a_refused_open_takes_no_slot(host: Host, args: dict[str, Any], code: str) -> None:
    host.sessions.full = True  # whoever gets as far as a slot is told so
    caller = Caller("shop", "r1", Kind.OWNER, "run-1", "app:shop", urls=UrlRules(origins=("https://shop.example",)))
    assert await host.code(caller, "browser.openSession", args) == code
    assert host.sessions.live == {}


LOGS = (  # entry, args, code, what is heard
    pytest.param("run.log", {"level": "info", "message": "x"}, "ok", {"level": "info", "message": "x"}, id="log"),
    pytest.param(
        "run.log",
        {"level": "info", "message": "x" * 8192},
        "ok",
        {"level": "info", "message": "x" * 8192},
        id="log-8-kb",
    ),
    pytest.param("run.log", {"level": "info", "message": "x" * 8193}, "BAD_ARGUMENTS", None, id="log-over-8-kb"),
    pytest.param(
        "run.log", {"level": "info", "message": "é" * 4097}, "BAD_ARGUMENTS", None, id="log-over-8-kb-in-bytes"
    ),
    pytest.param("run.log", {"level": "fatal", "message": "x"}, "BAD_ARGUMENTS", None, id="log-unknown-level"),
    pytest.param("run.progress", {"done": 1, "total": 3}, "ok", {"done": 1, "total": 3}, id="progress"),
    pytest.param("run.progress", {"done": 0.5}, "ok", {"done": 0.5}, id="progress-fraction"),
    pytest.param("run.progress", {"done": -1}, "BAD_ARGUMENTS", None, id="progress-negative"),
    pytest.param("run.progress", {"done": True}, "BAD_ARGUMENTS", None, id="progress-true"),
    pytest.param("run.progress", {"done": "1"}, "BAD_ARGUMENTS", None, id="progress-text"),
    pytest.param("run.progress", {"done": 10**400}, "BAD_ARGUMENTS", None, id="progress-absurd"),
    pytest.param("run.progress", {"done": 1, "message": "x" * 501}, "BAD_ARGUMENTS", None, id="progress-long-message"),
)


@pytest.mark.parametrize(("name", "args", "code", "heard"), LOGS)
async def test_what_a_run_says_is_heard(
    host: Host, name: str, args: dict[str, Any], code: str, heard: dict[str, Any] | None
) -> None:
    assert await host.code(OWNER, name, args) == code
    kind = name.partition(".")[2]
    assert host.heard == ([] if heard is None else [("run-1", kind, heard)])
