"""`ctx.browser` against a scripted host: closing, the CDP facade, events, and the response loop as a table."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Generator, Mapping
from typing import Any

import pytest

from capsdk import Aborted, CaptureIncomplete, LoadFailed, Shortfall, SignedOut, browser, errors
from capsdk.browser import Tab
from capsdk.context import Context
from capsdk.fake import FakeCap
from capsdk.shortfall import BodyMissing, NotSeen, PageThrew, Redirected, WrongStatus, WrongType

ORIGIN = "https://shop.example"
Event = tuple[str, dict[str, Any]]


def request(id: str, url: str, method: str = "GET", **more: Any) -> Event:
    return "Network.requestWillBeSent", {"requestId": id, "request": {"url": url, "method": method}, **more}


def answered(id: str, url: str, status: int = 200, **more: Any) -> Event:
    response = {"url": url, "status": status, "mimeType": "application/json", "headers": {"X-Id": id}}
    return "Network.responseReceived", {"requestId": id, "response": response, **more}


def finished(id: str) -> Event:
    return "Network.loadingFinished", {"requestId": id}


def failed(id: str) -> Event:
    return "Network.loadingFailed", {"requestId": id, "errorText": "net::ERR_CONNECTION_RESET"}


def whole(id: str, url: str, method: str = "GET", status: int = 200) -> list[Event]:
    return [request(id, url, method), answered(id, url, status), finished(id)]


def fake(*events: Event) -> FakeCap:
    """A host whose bodies name the request that they belong to."""
    cap = FakeCap()
    for method, params in events:
        cap.emit(method, params)
    return cap.cdp("Network.getResponseBody", lambda args: {"body": f'{{"id": "{args["params"]["requestId"]}"}}'})


def tab_of(cap: FakeCap, context: Context | None = None) -> Tab:
    context = context or Context(cap)
    return Tab(cap, context.signal, {"sessionId": "s", "navigation": {"url": ORIGIN, "status": 200}})


FOUND = (
    pytest.param(whole("1", ORIGIN + "/api"), {}, "1", id="plain"),
    pytest.param(whole("1", ORIGIN + "/api?page=2#x"), {}, "1", id="query-does-not-matter"),
    pytest.param([answered("1", ORIGIN + "/api"), finished("1")], {}, "1", id="request-before-the-capture"),
    pytest.param(whole("0", ORIGIN + "/other") + whole("1", ORIGIN + "/api"), {}, "1", id="among-others"),
    pytest.param(
        whole("0", "https://evil.example/api") + whole("1", ORIGIN + "/api"), {}, "1", id="other-origin-first"
    ),
    pytest.param(whole("0", ORIGIN + ":8443/api") + whole("1", ORIGIN + "/api"), {}, "1", id="other-port-first"),
    pytest.param(whole("0", "http://shop.example/api") + whole("1", ORIGIN + "/api"), {}, "1", id="other-scheme-first"),
    pytest.param(
        whole("0", "https://shop.example@evil.example/api") + whole("1", ORIGIN + "/api"),
        {},
        "1",
        id="userinfo-lookalike",
    ),
    pytest.param(
        whole("0", "https://shop.example.evil.example/api") + whole("1", ORIGIN + "/api"),
        {},
        "1",
        id="prefix-lookalike",
    ),
    pytest.param(whole("0", "https://[/api") + whole("1", ORIGIN + "/api"), {}, "1", id="unreadable-url"),
    pytest.param(whole("0", ORIGIN + "/api", status=401) + whole("1", ORIGIN + "/api"), {}, "1", id="first-refused"),
    pytest.param(whole("0", ORIGIN + "/api", status=404), {"status": 404}, "0", id="another-status"),
    pytest.param(whole("0", ORIGIN + "/api", status=404), {"status": None}, "0", id="any-status"),
    pytest.param(
        whole("0", ORIGIN + "/api") + whole("1", ORIGIN + "/api", "POST"), {"method": "POST"}, "1", id="by-method"
    ),
    pytest.param(
        [
            request("0", ORIGIN + "/api", "OPTIONS", type="Preflight"),
            answered("0", ORIGIN + "/api"),
            finished("0"),
            *whole("1", ORIGIN + "/api", "POST"),
        ],
        {},
        "1",
        id="preflight-is-no-answer",
    ),
    pytest.param(
        [
            request("0", ORIGIN + "/api", "OPTIONS", type="Other", initiator={"type": "preflight"}),
            answered("0", ORIGIN + "/api"),
            finished("0"),
            *whole("1", ORIGIN + "/api", "POST"),
        ],
        {},
        "1",
        id="preflight-as-chromium-156-tells-it",
    ),
    pytest.param(
        [request("1", ORIGIN + "/old"), request("1", ORIGIN + "/api"), answered("1", ORIGIN + "/api"), finished("1")],
        {},
        "1",
        id="redirected-there",
    ),
    pytest.param(
        [answered("1", ORIGIN + "/api"), answered("2", ORIGIN + "/api"), finished("2"), finished("1")],
        {},
        "1",
        id="its-own-finish-not-anothers",
    ),
)


@pytest.mark.parametrize(("events", "how", "id"), FOUND)
async def test_the_response_that_was_asked_for_is_found(events: list[Event], how: dict[str, Any], id: str) -> None:
    response = await tab_of(fake(*events)).response(origin=ORIGIN, path="/api", timeout_s=1, **how)
    assert response.json() == {"id": id}
    assert response.headers == {"x-id": id}
    assert response.mime_type == "application/json"


NOT_FOUND = (
    pytest.param([], "nothing was seen there; 0 other", id="silence"),
    pytest.param(whole("1", "https://evil.example/api"), "nothing was seen there; 1 other", id="wrong-origin"),
    pytest.param(whole("1", ORIGIN + "/api/more"), "nothing was seen there", id="longer-path"),
    pytest.param([request("1", ORIGIN + "/api")], "not answered", id="never-answered"),
    pytest.param([answered("1", ORIGIN + "/api"), finished("2")], "did not finish", id="never-finished"),
)


@pytest.mark.parametrize(("events", "tells"), NOT_FOUND)
async def test_a_timeout_tells_what_was_seen(events: list[Event], tells: str) -> None:
    with pytest.raises(errors.TimeoutError) as caught:
        await tab_of(fake(*events)).response(origin=ORIGIN, path="/api", timeout_s=0.1)
    assert caught.value.code == "BROWSER_TIMEOUT"
    assert tells in caught.value.message


INSTEAD = (  # events, what is raised
    pytest.param(whole("1", ORIGIN + "/api", status=500), WrongStatus, id="another-status"),
    pytest.param([request("1", ORIGIN + "/api"), answered("1", ORIGIN + "/api", 404)], WrongStatus, id="body-unread"),
    pytest.param(
        [request("1", ORIGIN + "/api"), answered("1", ORIGIN + "/api", 503), failed("1")],
        WrongStatus,
        id="then-aborted",
    ),
    pytest.param(
        [request("1", ORIGIN + "/api"), request("1", ORIGIN + "/new"), answered("1", ORIGIN + "/new"), finished("1")],
        Redirected,
        id="sent-on",
    ),
    pytest.param(whole("1", ORIGIN + "/api", status=401), SignedOut, id="unauthorised"),
    pytest.param(whole("1", ORIGIN + "/api", status=403), SignedOut, id="forbidden"),
    pytest.param(
        [
            request("1", ORIGIN + "/api"),
            request("1", "https://login.example/"),
            answered("1", "https://login.example/"),
        ],
        SignedOut,
        id="sent-to-sign-in",
    ),
)


@pytest.mark.parametrize(("events", "raised"), INSTEAD)
async def test_another_answer_than_wanted_is_raised_as_what_it_is(events: list[Event], raised: type[Exception]) -> None:
    with pytest.raises(raised) as caught:
        await tab_of(fake(*events)).response(origin=ORIGIN, path="/api", timeout_s=0.1)
    assert type(caught.value) is raised
    assert isinstance(caught.value, Shortfall) is (raised is not SignedOut)


async def test_another_answer_is_raised_long_before_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "SECOND_TRY_S", 0.05)
    async with asyncio.timeout(2):
        with pytest.raises(WrongStatus):
            await tab_of(fake(*whole("1", ORIGIN + "/api", status=500))).response(origin=ORIGIN, path="/api")


async def test_a_page_that_asks_again_is_not_held_to_its_first_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "SECOND_TRY_S", 0.05)
    cap = fake(*whole("0", ORIGIN + "/api", status=401), *whole("1", ORIGIN + "/api"))
    tab = tab_of(cap)
    assert (await tab.response(origin=ORIGIN, path="/api")).json() == {"id": "1"}
    following = asyncio.create_task(tab.response(origin=ORIGIN, path="/api", timeout_s=5))
    await asyncio.sleep(0.2)
    for method, params in whole("2", ORIGIN + "/api"):
        cap.emit(method, params)
    assert (await following).json() == {"id": "2"}


def looking(cap: FakeCap, url: str, password: bool = False) -> FakeCap:
    """A host whose page looks like that."""
    return cap.cdp("Runtime.evaluate", {"result": {"value": {"url": url, "password": password}}})


SIGNS = (  # what the page shows, whether that is a sign
    pytest.param(ORIGIN + "/login?next=%2F", False, "/login", id="sign-in-address"),
    pytest.param(ORIGIN + "/", True, "password", id="password-field"),
    pytest.param(ORIGIN + "/orders", False, None, id="neither"),
)


@pytest.mark.parametrize(("url", "password", "sign"), SIGNS)
async def test_a_wait_in_vain_looks_for_a_sign_in(url: str, password: bool, sign: str | None) -> None:
    tab = tab_of(looking(fake(), url, password))
    with pytest.raises(SignedOut if sign else NotSeen) as caught:
        await tab.response(origin=ORIGIN, path="/api", timeout_s=0.05)
    assert sign is None or sign in str(caught.value)
    assert "next" not in str(caught.value)
    assert sign is None or "`capsdk login https://shop.example`" in str(caught.value)


async def test_a_quiet_page_is_looked_at_before_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "LOOK_EVERY_S", 0.05)
    async with asyncio.timeout(2):
        with pytest.raises(SignedOut):
            await tab_of(looking(fake(), ORIGIN + "/", True)).response(origin=ORIGIN, path="/api")


async def test_a_page_that_cannot_be_looked_at_leaves_the_trouble_as_it_is() -> None:
    cap = fake().cdp("Page.getFrameTree", errors.error("TARGET_CRASHED", "navigate it"))
    with pytest.raises(NotSeen):
        await tab_of(cap).response(origin=ORIGIN, path="/api", timeout_s=0.05)


REFUSALS = (  # where the page was on its way to, what is raised
    pytest.param("https://pay.example", errors.PolicyError, id="another-origin"),
    pytest.param("https://login.example", SignedOut, id="sign-in"),
)


def refusal(origin: str) -> dict[str, Any]:
    return {"origin": origin, "code": "ORIGIN_NOT_ALLOWED", "message": f"add {origin} to `origins`"}


@pytest.mark.parametrize(("origin", "raised"), REFUSALS)
async def test_a_page_that_may_not_go_on_is_told_soon(
    origin: str, raised: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "SECOND_TRY_S", 0.05)
    tab = tab_of(looking(fake(("Host.navigationRefused", refusal(origin))), ORIGIN + "/"))
    async with asyncio.timeout(2):
        with pytest.raises(raised, match=origin):
            await tab.response(origin=ORIGIN, path="/api")
    with pytest.raises(NotSeen):  # what was told once is not told of the next wait
        await tab.response(origin=ORIGIN, path="/api", timeout_s=0.05)


async def test_an_answer_that_comes_counts_more_than_a_way_that_was_closed() -> None:
    events = [("Host.navigationRefused", refusal("https://login.example")), *whole("1", ORIGIN + "/api")]
    assert (await tab_of(fake(*events)).response(origin=ORIGIN, path="/api", timeout_s=1)).json() == {"id": "1"}


@pytest.mark.parametrize(("origin", "raised"), REFUSALS)
async def test_a_first_page_that_is_sent_outside_is_told(origin: str, raised: type[Exception]) -> None:
    problem = errors.error("ORIGIN_NOT_ALLOWED", f"add {origin} to `origins`", origin=origin)
    cap = FakeCap().reply("browser.openSession", problem)
    with pytest.raises(raised, match=origin):
        async with Context(cap).browser.session(ORIGIN + "/orders"):
            pytest.fail("the block was entered")


FIRST_PAGES = (  # navigation, what is raised
    pytest.param({"url": ORIGIN, "errorText": "net::ERR_NAME_NOT_RESOLVED"}, LoadFailed, id="no-page"),
    pytest.param({"url": ORIGIN, "status": 404}, WrongStatus, id="not-found"),
    pytest.param({"url": ORIGIN, "status": 401}, SignedOut, id="unauthorised"),
    pytest.param({"url": "https://accounts.example/x", "status": 200}, SignedOut, id="sent-to-sign-in"),
    pytest.param({"url": ORIGIN + "/home", "status": 200}, None, id="sent-on"),
    pytest.param({"url": ORIGIN}, None, id="status-unknown"),
)


@pytest.mark.parametrize(("navigation", "raised"), FIRST_PAGES)
async def test_a_page_that_has_to_be_there_is_there_or_its_trouble_is_raised_and_its_tab_closed(
    navigation: dict[str, Any], raised: type[Exception] | None
) -> None:
    cap = FakeCap().reply("browser.openSession", {"sessionId": "s", "navigation": navigation})
    if raised is None:
        async with Context(cap).browser.page(ORIGIN + "/orders") as tab:
            assert tab.asked_url == ORIGIN + "/orders"
    else:
        with pytest.raises(raised):
            async with Context(cap).browser.page(ORIGIN + "/orders"):
                pytest.fail("the block was entered")
    assert cap.called("browser.closeSession") == [{"sessionId": "s"}]


NO_JSON = (  # type, body, what is raised
    pytest.param("text/html", "<p>hello", WrongType, id="a-page"),
    pytest.param("application/json", "{", WrongType, id="broken"),
    pytest.param("application/json", "[" * 100_000, WrongType, id="nested-without-end"),
    pytest.param("text/html", "<form><INPUT name=p\n type='password'>", SignedOut, id="sign-in-form"),
)


@pytest.mark.parametrize(("mime_type", "body", "raised"), NO_JSON)
def test_an_answer_that_is_not_json_says_what_it_is(mime_type: str, body: str, raised: type[Exception]) -> None:
    with pytest.raises(raised):
        browser.Response(ORIGIN, 200, mime_type, {}, body.encode(), ORIGIN).json()


GONE = (
    pytest.param("CDP_ERROR", BodyMissing, id="gone-from-chromium"),
    pytest.param("RESULT_TOO_LARGE", BodyMissing, id="too-large"),
    pytest.param("DIALOG_OPEN", errors.PreconditionError, id="a-dialog-is-no-missing-body"),
    pytest.param("SESSION_CLOSED", errors.UnavailableError, id="nor-is-a-closed-session"),
)


@pytest.mark.parametrize(("code", "raised"), GONE)
async def test_a_body_that_cannot_be_had_is_a_shortfall_of_its_own(code: str, raised: type[Exception]) -> None:
    cap = fake(*whole("1", ORIGIN + "/api")).cdp("Network.getResponseBody", errors.error(code, "no"))
    with pytest.raises(raised):
        await tab_of(cap).response(origin=ORIGIN, path="/api")


async def test_an_expression_is_evaluated_in_a_world_of_its_own() -> None:
    cap = FakeCap().cdp("Runtime.evaluate", {"result": {"value": 7}})
    assert await tab_of(cap).evaluate("3+4", timeout_ms=500) == 7
    asked = cap.called("browser.cdp")
    assert [args["method"] for args in asked] == ["Page.getFrameTree", "Page.createIsolatedWorld", "Runtime.evaluate"]
    assert asked[-1]["timeoutMs"] == 500
    assert asked[-1]["params"] == {"expression": "3+4", "contextId": 1, "awaitPromise": True, "returnByValue": True}


THROWN = (
    pytest.param({"exception": {"description": "Error: no button\n    at <x>"}}, "Error: no button", id="an-error"),
    pytest.param({"exception": {"value": "turned down"}}, "turned down", id="a-text"),
    pytest.param({"text": "Uncaught"}, "Uncaught", id="nothing-else"),
)


@pytest.mark.parametrize(("details", "tells"), THROWN)
async def test_what_an_expression_throws_is_told_by_its_first_line(details: dict[str, Any], tells: str) -> None:
    cap = FakeCap().cdp("Runtime.evaluate", {"result": {}, "exceptionDetails": details})
    with pytest.raises(PageThrew) as caught:
        await tab_of(cap).evaluate("x()")
    assert tells in str(caught.value)
    assert "<x>" not in str(caught.value)


async def test_several_matches_are_handed_out_once_each_in_order() -> None:
    tab = tab_of(fake(*whole("1", ORIGIN + "/api"), *whole("2", ORIGIN + "/other"), *whole("3", ORIGIN + "/api")))
    ids = [(await tab.response(origin=ORIGIN, path="/api", timeout_s=1)).json()["id"] for _ in range(2)]
    ids.append((await tab.response(origin=ORIGIN, path="/other", timeout_s=1)).json()["id"])
    assert ids == ["1", "3", "2"]
    with pytest.raises(errors.TimeoutError):
        await tab.response(origin=ORIGIN, path="/api", timeout_s=0.05)


async def test_two_readers_at_once_get_one_response_each() -> None:
    cap = fake()
    tab = tab_of(cap)
    readers = [asyncio.create_task(tab.response(origin=ORIGIN, path="/api", timeout_s=5)) for _ in range(2)]
    await asyncio.sleep(0.02)
    for method, params in whole("1", ORIGIN + "/api") + whole("2", ORIGIN + "/api"):
        cap.emit(method, params)
    assert sorted(response.json()["id"] for response in await asyncio.gather(*readers)) == ["1", "2"]


async def test_a_response_that_comes_later_is_waited_for() -> None:
    cap = fake(request("1", ORIGIN + "/api"))
    reader = asyncio.create_task(tab_of(cap).response(origin=ORIGIN, path="/api", timeout_s=5))
    for method, params in whole("1", ORIGIN + "/api")[1:]:
        await asyncio.sleep(0.02)
        assert not reader.done()
        cap.emit(method, params)
    assert (await reader).json() == {"id": "1"}


async def test_a_failed_load_is_raised_with_chromiums_word_and_not_again() -> None:
    events = [request("1", ORIGIN + "/api"), failed("1"), *whole("2", ORIGIN + "/api")]
    tab = tab_of(fake(*events))
    with pytest.raises(LoadFailed) as caught:
        await tab.response(origin=ORIGIN, path="/api", timeout_s=1)
    assert (caught.value.url, caught.value.error_text) == (ORIGIN + "/api", "net::ERR_CONNECTION_RESET")
    assert (await tab.response(origin=ORIGIN, path="/api", timeout_s=1)).json() == {"id": "2"}


async def test_a_loss_is_raised_even_when_a_useful_response_remains() -> None:
    cap = fake()
    kept = [{"seq": 9, "method": m, "params": p, "at": 0} for m, p in whole("1", ORIGIN + "/api")]
    dropped = {"Network.responseReceived": {"count": 3, "bytes": 900, "size": 300}}
    cap.reply(
        "browser.events",
        {"events": kept, "next": 11, "lost": True, "dropped": dropped},
        {"events": [], "next": 11, "lost": False, "dropped": {}},
    )
    tab = tab_of(cap)
    with pytest.raises(CaptureIncomplete) as caught:
        await tab.response(origin=ORIGIN, path="/api", timeout_s=1)
    assert (caught.value.dropped, caught.value.next, len(caught.value.events)) == (dropped, 11, 3)
    # who goes on knowingly reads on behind the gap
    assert (await tab.response(origin=ORIGIN, path="/api", timeout_s=1)).json() == {"id": "1"}
    assert [args["after"] for args in cap.called("browser.events")] == [0]


BODIES = (
    pytest.param({"body": "aé"}, "aé".encode(), "aé", id="text"),
    pytest.param(
        {"body": base64.b64encode(b"\x00\xff").decode(), "base64Encoded": True}, b"\x00\xff", "\x00�", id="base64"
    ),
    pytest.param({"body": ""}, b"", "", id="empty"),
)


@pytest.mark.parametrize(("reply", "body", "text"), BODIES)
async def test_a_body_comes_back_as_bytes(reply: dict[str, Any], body: bytes, text: str) -> None:
    cap = fake(*whole("1", ORIGIN + "/api")).cdp("Network.getResponseBody", reply)
    response = await tab_of(cap).response(origin=ORIGIN, path="/api")
    assert (response.body, response.text, response.status, response.url) == (body, text, 200, ORIGIN + "/api")


async def test_the_body_of_a_frame_of_another_process_is_read_where_it_finished() -> None:
    cap = fake(request("1", ORIGIN + "/frame"), answered("1", ORIGIN + "/frame"))
    cap.emit("Network.loadingFinished", {"requestId": "1"}, targetSessionId="child")
    await tab_of(cap).response(origin=ORIGIN, path="/frame")
    assert cap.called("browser.cdp")[0]["targetSessionId"] == "child"


WRONG = (
    pytest.param(ORIGIN + "/", "/api", id="origin-with-slash"),
    pytest.param("shop.example", "/api", id="origin-without-scheme"),
    pytest.param(ORIGIN, "api", id="relative-path"),
)


@pytest.mark.parametrize(("origin", "path"), WRONG)
async def test_an_origin_or_path_that_can_never_match_is_refused(origin: str, path: str) -> None:
    with pytest.raises(ValueError, match=r"origin|path"):
        await tab_of(fake()).response(origin=origin, path=path)


async def test_a_run_that_was_asked_to_stop_waits_no_further() -> None:
    cap = fake()
    context = Context(cap)
    reader = asyncio.create_task(tab_of(cap, context).response(origin=ORIGIN, path="/api", timeout_s=5))
    await asyncio.sleep(0.02)
    context.signal.cancel("the owner said so")
    with pytest.raises(Aborted) as caught:
        async with asyncio.timeout(1):
            await reader
    assert caught.value.code == "CANCELLED"


async def test_memory_of_past_requests_is_bounded_and_what_is_forgotten_is_counted() -> None:
    cap = fake(*(request(str(n), f"{ORIGIN}/{n}") for n in range(2500)))
    with pytest.raises(errors.TimeoutError) as caught:
        await tab_of(cap).response(origin=ORIGIN, path="/api", timeout_s=1)
    assert caught.value.details == {"forgotten": 500}


async def test_a_session_is_closed_however_its_block_ends() -> None:
    cap = FakeCap()
    context = Context(cap)
    async with context.browser.session("https://shop.example/", capture=["Network.*"]) as tab:
        assert (tab.session_id, tab.navigation["status"]) == ("tab-1", 200)
    with pytest.raises(KeyError):
        async with context.browser.session("https://shop.example/"):
            raise KeyError
    assert cap.called("browser.openSession") == [
        {"url": "https://shop.example/", "capture": ["Network.*"]},
        {"url": "https://shop.example/"},
    ]
    assert cap.called("browser.closeSession") == [{"sessionId": "tab-1"}] * 2


async def test_a_refused_close_does_not_hide_the_scripts_own_error() -> None:
    cap = FakeCap().reply("browser.closeSession", errors.error("BROWSER_GONE", "gone"))
    with pytest.raises(KeyError):
        async with Context(cap).browser.session("https://shop.example/"):
            raise KeyError


async def test_cancelling_a_script_closes_its_session() -> None:
    cap = FakeCap()

    async def script() -> None:
        async with Context(cap).browser.session("https://shop.example/"):
            await asyncio.sleep(60)

    task = asyncio.create_task(script())
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cap.called("browser.closeSession") == [{"sessionId": "tab-1"}]


async def test_the_cdp_facade_is_only_spelling() -> None:
    cap = FakeCap().cdp("DOM.getDocument", {"root": {}}).cdp("Runtime.evaluate", {"result": {"value": 42}})
    tab = tab_of(cap)
    assert await tab.cdp.Runtime.evaluate(expression="6*7", target_session_id="c", timeout_ms=50) == {
        "result": {"value": 42}
    }
    assert await tab.cdp.DOM.getDocument() == await tab.call("DOM.getDocument") == {"root": {}}
    assert cap.called("browser.cdp") == [
        {
            "sessionId": "s",
            "method": "Runtime.evaluate",
            "params": {"expression": "6*7"},
            "targetSessionId": "c",
            "timeoutMs": 50,
        },
        {"sessionId": "s", "method": "DOM.getDocument"},
        {"sessionId": "s", "method": "DOM.getDocument"},
    ]
    assert not hasattr(tab.cdp, "__wrapped__")
    assert not hasattr(tab.cdp.Runtime, "_private")


async def test_a_command_generator_is_run_to_its_value() -> None:
    def evaluate(expression: str) -> Generator[dict[str, Any], dict[str, Any], int]:
        reply = yield {"method": "Runtime.evaluate", "params": {"expression": expression}}
        again = yield {"method": "Runtime.evaluate", "params": {"expression": "1"}}
        value: int = reply["result"]["value"] + again["result"]["value"]
        return value

    cap = FakeCap().cdp("Runtime.evaluate", {"result": {"value": 41}}, {"result": {"value": 1}})
    assert await tab_of(cap).execute(evaluate("x")) == 42


async def test_events_are_read_across_polls_until_it_is_quiet() -> None:
    cap = fake(*(("Runtime.consoleAPICalled", {"n": n}) for n in range(250)), finished("1"))
    tab = tab_of(cap)
    seen = [event["params"]["n"] async for event in tab.events(methods=["Runtime.consoleAPICalled"], wait_ms=20)]
    assert seen == list(range(250))
    later = [event["seq"] async for event in tab.events(after=249, wait_ms=0)]
    assert later == [250, 251]


async def test_events_raise_when_some_were_lost() -> None:
    dropped = {"Runtime.consoleAPICalled": {"count": 1, "bytes": 70_000, "size": 70_000}}
    cap = fake().reply("browser.events", {"events": [], "next": 4, "lost": True, "dropped": dropped})
    events = tab_of(cap).events()
    with pytest.raises(CaptureIncomplete) as caught:
        await anext(events)
    assert caught.value.dropped == dropped


async def test_polls_ask_for_no_more_than_the_host_takes() -> None:
    def poll(args: Mapping[str, Any]) -> dict[str, Any]:
        assert 0 < args["waitMs"] <= 20_000
        assert args["limit"] <= 100
        return {"events": [{"seq": 1, "method": "X.y", "params": {}, "at": 0}], "next": 1, "lost": False, "dropped": {}}

    async for event in tab_of(fake().reply("browser.events", poll)).events(wait_ms=60_000):
        assert event["seq"] == 1
        break
