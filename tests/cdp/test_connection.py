"""The connection as conversations: the host sends, the browser says."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import msgspec
import pytest

from host.cdp.connection import ENVELOPE_BYTES, CdpFailure, Connection, ConnectionGone, failure

LIMIT = 1000


class Browser:
    """The other end: what it was sent, and what it says."""

    def __init__(self, limit_bytes: int = LIMIT) -> None:
        self.sent: list[dict[str, Any]] = []
        self.connection = Connection(self._take, limit_bytes=limit_bytes)
        self.events: list[tuple[str, str, Any]] = []
        self.too_large: list[tuple[str, str, int]] = []
        self.held: list[tuple[str, float]] = []
        self.connection.on_event = lambda session, method, params: self.events.append(
            (session, method, json.loads(bytes(params)))
        )
        self.connection.on_oversize_event = lambda session, method, size: self.too_large.append((session, method, size))
        self.connection.on_held = lambda session, seconds: self.held.append((session, seconds))

    def _take(self, data: bytes) -> None:
        assert data.endswith(b"\0")
        self.sent.append(json.loads(data[:-1]))

    def says(self, *messages: dict[str, Any], step: int | None = None) -> None:
        data = b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\0" for one in messages)
        for at in range(0, len(data), step or len(data)):
            self.connection.feed(data[at : at + (step or len(data))])


class Ear:
    """Somebody who waits for a reply, and all that was told to him."""

    def __init__(self, max_bytes: int = LIMIT) -> None:
        self.max_bytes = max_bytes
        self.heard: list[tuple[str, Any]] = []

    def answered(self, result: bytes) -> None:
        self.heard.append(("answered", json.loads(result)))

    def refused(self, error: bytes) -> None:
        self.heard.append(("refused", json.loads(error)))

    def too_large(self, size_bytes: int) -> None:
        self.heard.append(("too_large", size_bytes))

    def gone(self) -> None:
        self.heard.append(("gone", None))


def ask(browser: Browser, session: str = "S1", max_bytes: int = LIMIT) -> tuple[int, Ear]:
    ear = Ear(max_bytes)
    return browser.connection.post("Runtime.evaluate", b'{"expression":"1"}', session, ear), ear


def result_of(size_bytes: int) -> dict[str, str]:
    return {"v": "x" * (size_bytes - len('{"v":""}'))}


def test_replies_find_who_waits_in_any_order() -> None:
    browser = Browser()
    first, one = ask(browser)
    second, two = ask(browser, "S2")
    assert [message["id"] for message in browser.sent] == [first, second]
    assert browser.sent[1]["sessionId"] == "S2"
    browser.says(
        {"id": second, "result": {"n": 2}, "sessionId": "S2"}, {"id": first, "result": {"n": 1}, "sessionId": "S1"}
    )
    assert (one.heard, two.heard) == ([("answered", {"n": 1})], [("answered", {"n": 2})])


def test_a_reply_of_a_session_that_just_died_carries_no_session_and_is_matched_by_its_id() -> None:
    browser = Browser()
    number, ear = ask(browser)
    browser.says({"id": number, "error": {"code": -32001, "message": "Session with given id not found."}})
    assert ear.heard == [("refused", {"code": -32001, "message": "Session with given id not found."})]


def test_a_reply_that_nobody_waits_for_is_dropped() -> None:
    browser = Browser()
    number, ear = ask(browser)
    browser.connection.forget(number)
    browser.says({"id": number, "result": {}}, {"id": 999, "result": {}})
    assert (ear.heard, browser.events) == ([], [])


def test_a_second_reply_to_one_command_is_dropped() -> None:
    browser = Browser()
    number, ear = ask(browser)
    browser.says({"id": number, "result": {"n": 1}}, {"id": number, "result": {"n": 2}})
    assert ear.heard == [("answered", {"n": 1})]


@pytest.mark.parametrize("step", [None, 7])
@pytest.mark.parametrize(
    ("size_bytes", "kind"), [(LIMIT - 1, "answered"), (LIMIT, "answered"), (LIMIT + 1, "too_large")]
)
def test_a_result_is_refused_from_one_byte_over_its_limit(size_bytes: int, kind: str, step: int | None) -> None:
    browser = Browser()
    number, ear = ask(browser)
    browser.says({"id": number, "result": result_of(size_bytes), "sessionId": "AB"}, step=step)
    assert [told for told, _ in ear.heard] == [kind]
    assert kind != "too_large" or ear.heard[0][1] == size_bytes


@pytest.mark.parametrize("step", [None, 500])
def test_a_result_far_over_its_limit_is_never_held_and_its_size_is_exact(step: int | None) -> None:
    browser = Browser()
    number, ear = ask(browser)
    _, other = ask(browser)
    size_bytes = LIMIT + ENVELOPE_BYTES + 50_000
    browser.says(
        {"id": number, "result": result_of(size_bytes), "sessionId": "AB"}, {"id": number + 1, "result": {}}, step=step
    )
    assert ear.heard == [("too_large", size_bytes)]
    assert other.heard == [("answered", {})]


def test_who_allows_more_gets_more() -> None:
    browser = Browser()
    number, ear = ask(browser, max_bytes=100_000)
    browser.says({"id": number, "result": result_of(100_000)}, step=999)
    assert [told for told, _ in ear.heard] == ["answered"]
    number, ear = ask(browser, max_bytes=100_000)
    browser.says({"id": number, "result": result_of(100_001)}, step=999)
    assert ear.heard == [("too_large", 100_001)]


def test_who_allows_less_is_refused_at_less() -> None:
    browser = Browser()
    number, ear = ask(browser, max_bytes=10)
    browser.says({"id": number, "result": result_of(11)})
    assert ear.heard == [("too_large", 11)]


def test_events_go_to_the_sink_of_their_session_or_to_the_browsers_ear() -> None:
    browser = Browser()
    seen: list[tuple[str, bytes]] = []
    browser.connection.sinks["S1"] = lambda method, params: seen.append((method, bytes(params)))
    browser.says(
        {"method": "Page.loadEventFired", "params": {"a": 1}, "sessionId": "S1"},
        {"method": "Page.loadEventFired", "params": {"a": 2}, "sessionId": "S2"},
        {"method": "Target.targetCreated", "params": {"a": 3}},
    )
    assert seen == [("Page.loadEventFired", b'{"a":1}')]
    assert browser.events == [("S2", "Page.loadEventFired", {"a": 2}), ("", "Target.targetCreated", {"a": 3})]


def test_an_event_with_a_half_surrogate_reaches_its_sink_as_it_was_sent() -> None:
    browser = Browser()
    seen: list[bytes] = []
    browser.connection.sinks["AB"] = lambda method, params: seen.append(bytes(params))
    browser.says({"method": "Page.x", "params": {"title": "\ud800"}, "sessionId": "AB"})
    assert seen == [b'{"title":"\\ud800"}']


def test_an_event_too_large_is_told_with_session_method_and_size() -> None:
    browser = Browser()
    params = result_of(LIMIT + ENVELOPE_BYTES + 1)
    browser.says(
        {"method": "Network.requestWillBeSent", "params": params, "sessionId": "AB"}, {"method": "A.b", "params": {}}
    )
    assert browser.too_large == [("AB", "Network.requestWillBeSent", LIMIT + ENVELOPE_BYTES + 1)]
    assert browser.events == [("", "A.b", {})]


def test_the_time_a_discarded_message_held_the_pipe_is_charged_to_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser()
    now = [100.0]
    monkeypatch.setattr("host.cdp.connection.time.monotonic", lambda: now[0])
    number, ear = ask(browser)
    browser.connection.feed(b'{"id":%d,"result":{"v":"' % number + b"x" * (LIMIT + ENVELOPE_BYTES))
    now[0] = 107.5
    browser.connection.feed(b'"},"sessionId":"AB"}\0')
    assert browser.held == [("AB", 7.5)]
    assert [told for told, _ in ear.heard] == ["too_large"]


def test_a_message_that_is_kept_charges_nobody() -> None:
    browser = Browser()
    number, _ = ask(browser, max_bytes=100_000)
    browser.says({"id": number, "result": result_of(90_000), "sessionId": "AB"}, step=999)
    assert browser.held == []


def test_everybody_who_waits_is_told_once_when_the_browser_is_gone() -> None:
    browser = Browser()
    lost: list[bool] = []
    browser.connection.on_lost = lambda: lost.append(True)
    browser.connection.sinks["S1"] = lambda method, params: None
    number, one = ask(browser)
    _, two = ask(browser)
    browser.says({"id": number, "result": {}})
    browser.connection.lost()
    browser.connection.lost()
    assert (one.heard, two.heard) == ([("answered", {})], [("gone", None)])
    assert (lost, browser.connection.sinks, browser.connection.closed) == ([True], {}, True)
    with pytest.raises(ConnectionGone):
        ask(browser)


def test_who_posts_again_while_being_told_of_the_end_is_refused() -> None:
    browser = Browser()

    class Stubborn(Ear):
        def gone(self) -> None:
            super().gone()
            with pytest.raises(ConnectionGone):
                browser.connection.post("A.b", b"{}", "", self)

    ear = Stubborn()
    browser.connection.post("A.b", b"{}", "", ear)
    browser.connection.lost()
    assert ear.heard == [("gone", None)]


@pytest.mark.parametrize(
    "noise",
    [b"hello\0", b'{"error":{"code":-32700,"message":"x"}}\0', b'{"id":null,"error":{}}\0', b"\xff\0", b"{}\0", b"\0"],
    ids=["text", "complaint-without-id", "null-id", "not-utf8", "empty-object", "empty-frame"],
)
def test_noise_is_survived(noise: bytes) -> None:
    browser = Browser()
    number, ear = ask(browser)
    browser.connection.feed(noise)
    browser.says({"id": number, "result": {}})
    assert ear.heard == [("answered", {})]


def test_an_unreadable_frame_over_the_limit_is_survived() -> None:
    browser = Browser()
    number, ear = ask(browser)
    browser.connection.feed(b"z" * 20_000 + b"\0")
    browser.says({"id": number, "result": {}})
    assert ear.heard == [("answered", {})]
    assert (browser.too_large, browser.held) == ([], [])


def test_a_receivers_fault_costs_one_message_and_not_the_pipe(caplog: pytest.LogCaptureFixture) -> None:
    browser = Browser()

    def broken(method: str, params: msgspec.Raw) -> None:
        raise KeyError("frame")

    browser.connection.sinks["AB"] = broken
    number, ear = ask(browser)
    with caplog.at_level(logging.CRITICAL, "capsdk.cdp"):
        browser.says({"method": "Page.x", "params": {}, "sessionId": "AB"}, {"id": number, "result": {}})
    assert ear.heard == [("answered", {})]


async def test_a_command_of_the_hosts_own_gives_its_result_decoded() -> None:
    browser = Browser()
    waiting = asyncio.ensure_future(browser.connection.call("Target.getTargets", {"x": 1}, timeout_s=5))
    await asyncio.sleep(0)
    assert browser.sent == [{"id": 1, "method": "Target.getTargets", "params": {"x": 1}}]
    browser.says({"id": 1, "result": {"title": "\ud800"}})
    assert await waiting == {"title": "\ud800"}


async def test_chromiums_refusal_of_the_hosts_own_command_is_raised() -> None:
    browser = Browser()
    future = browser.connection.start("A.b")
    browser.says({"id": 1, "error": {"code": -32000, "message": "no", "data": "x"}})
    with pytest.raises(CdpFailure) as caught:
        await future
    assert (caught.value.code, caught.value.message) == (-32000, "no")


async def test_the_hosts_own_command_ends_with_the_connection() -> None:
    browser = Browser()
    before = browser.connection.start("A.b")
    browser.connection.lost()
    after = browser.connection.start("A.b")
    for future in (before, after):
        with pytest.raises(ConnectionGone):
            await future


async def test_the_hosts_own_command_has_a_deadline_and_its_late_reply_is_nobodys() -> None:
    browser = Browser()
    with pytest.raises(TimeoutError):
        await browser.connection.call("A.b", timeout_s=0.01)
    browser.says({"id": 1, "result": {}})
    assert browser.events == []


async def test_a_reply_too_large_for_the_host_itself_is_a_failure() -> None:
    browser = Browser()
    future = browser.connection.start("A.b")
    browser.says({"id": 1, "result": result_of(LIMIT + 1)})
    with pytest.raises(CdpFailure):
        await future


@pytest.mark.parametrize("error", [b"{}", b"[]", b'{"code":"x"}', b"{", b'{"message":"\\ud800"}'], ids=repr)
def test_an_odd_error_object_is_still_a_failure(error: bytes) -> None:
    assert isinstance(failure(error), CdpFailure)
