"""Raw commands on real Chromium: many at once, large and odd results, pages that do not answer."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.processes import memory_kib
from tests.support.site import Site
from tests.support.stdio import Stdio, error, result, seconds, value

MIB = 1024 * 1024
QUOTES_BYTES = len(b'{"result":{"type":"string","value":""}}')


@pytest.fixture
def neighbour(host: Stdio) -> Iterator[str]:
    session = host.open("about:blank")
    yield session
    host.close(session)


def test_two_hundred_calls_in_flight_come_back_unmixed(host: Stdio, blank: str, neighbour: str) -> None:
    calls = [(n, host.post_js((blank, neighbour)[n % 2], str(n))) for n in range(200)]
    assert [value(host.reply(number)) for _, number in calls] == [n for n, _ in calls]


def test_calls_of_one_session_do_not_wait_for_one_another(host: Stdio, blank: str) -> None:
    slow = host.post_js(blank, "new Promise(done => setTimeout(() => done('slow'), 700))")
    start = time.monotonic()
    assert host.js(blank, "'quick'") == "quick"
    assert seconds(start) < 0.6
    assert value(host.reply(slow)) == "slow"


RESULTS = (  # bytes of the result, whether it passes
    pytest.param(900 * 1024, True, id="900-KB"),
    pytest.param(MIB, True, id="one-megabyte"),
    pytest.param(MIB + 1, False, id="one-byte-more"),
    pytest.param(30 * MIB, False, id="thirty-megabytes"),
)


@pytest.mark.parametrize(("size_bytes", "passes"), RESULTS)
def test_a_result_passes_up_to_one_megabyte_and_is_refused_whole_above(
    host: Stdio, blank: str, neighbour: str, size_bytes: int, passes: bool
) -> None:
    params = {"expression": f"'x'.repeat({size_bytes - QUOTES_BYTES})", "returnByValue": True}
    before_kib = memory_kib(host.process.pid, "VmHWM")
    number = host.post_cdp(blank, "Runtime.evaluate", params)
    beside = host.post_js(neighbour, "'beside'")
    reply = host.reply(number)
    if passes:
        assert len(result(reply)["result"]["result"]["value"]) == size_bytes - QUOTES_BYTES
    else:
        problem = error(reply)
        assert (problem["code"], problem["details"]) == ("RESULT_TOO_LARGE", {"limit": MIB, "actual": size_bytes})
        assert memory_kib(host.process.pid, "VmHWM") - before_kib < 16 * 1024
    assert value(host.reply(beside)) == "beside"
    assert host.js(blank, "'next'") == "next"
    assert host.js(neighbour, "'next'") == "next"


ODD_VALUES = (  # name on the page, what the remote object or the exception holds
    pytest.param("nan", {"unserializableValue": "NaN"}, id="nan"),
    pytest.param("minusZero", {"unserializableValue": "-0"}, id="minus-zero"),
    pytest.param("infinity", {"unserializableValue": "-Infinity"}, id="infinity"),
    pytest.param("big", {"unserializableValue": "12345678901234567890n"}, id="big"),
    pytest.param("undef", {"type": "undefined"}, id="undefined"),
    pytest.param("nul", {"type": "object", "subtype": "null", "value": None}, id="null"),
    pytest.param("fn", {"value": {}}, id="function"),
    pytest.param("date", {"type": "object"}, id="date"),
    pytest.param("sparse", {"type": "object"}, id="sparse"),
    pytest.param("node", {"type": "object"}, id="node"),
    pytest.param("map", {"type": "object"}, id="map"),
    pytest.param("loneHalf", {"value": "left\ud83d|right"}, id="half-a-surrogate-pair"),
    pytest.param("proto", {"value": {"__proto__": {"x": 1}, "a": 2}}, id="proto"),
)


@pytest.fixture(scope="module")
def odd(host: Stdio, site: Site) -> Iterator[str]:
    session = host.open(f"{site.url}/odd-evaluate-results.html")
    yield session
    host.close(session)


@pytest.mark.parametrize(("name", "holds"), ODD_VALUES)
def test_a_value_that_json_cannot_spell_keeps_what_chromium_says_of_it(
    host: Stdio, odd: str, name: str, holds: dict[str, object]
) -> None:
    made = result(host.reply(host.post_js(odd, f"odd.{name}()")))["result"]
    assert "exceptionDetails" not in made
    assert made["result"].items() >= holds.items()


@pytest.mark.parametrize("name", ["bigInside", "symbol", "circular", "getter", "proxy", "win", "deep"])
def test_a_value_that_cannot_be_given_is_chromiums_error_each_time_and_the_session_lives(
    host: Stdio, odd: str, name: str
) -> None:
    problems = [error(host.reply(host.post_js(odd, f"odd.{name}()"))) for _ in range(2)]
    assert problems[0] == problems[1]
    assert problems[0]["code"] == "CDP_ERROR"
    assert problems[0]["details"]["cdp"].keys() == {"code", "message"}
    assert host.js(odd, "1") == 1


@pytest.mark.parametrize("name", ["throwsString", "throwsNull", "rejects"])
def test_what_the_page_throws_is_a_result_with_its_details(host: Stdio, odd: str, name: str) -> None:
    assert "exceptionDetails" in result(host.reply(host.post_js(odd, f"odd.{name}()")))["result"]


def test_a_promise_that_never_ends_is_a_timeout_and_others_are_answered_meanwhile(host: Stdio, odd: str) -> None:
    start = time.monotonic()
    never = host.post_js(odd, "odd.never()", timeoutMs=1500)
    assert [host.js(odd, str(number)) for number in range(5)] == list(range(5))
    assert not host.answers(never, 0.0)
    problem = error(host.reply(never))
    assert (problem["code"], problem["details"]) == ("BROWSER_TIMEOUT", {"limitMs": 1500})
    assert 1.4 < seconds(start) < 2.5
    assert host.js(odd, "'still here'") == "still here"


def test_a_late_answer_is_given_to_nobody(host: Stdio, blank: str) -> None:
    late = host.post_js(blank, "new Promise(done => setTimeout(() => done('late'), 900))", timeoutMs=300)
    assert error(host.reply(late))["code"] == "BROWSER_TIMEOUT"
    time.sleep(0.8)
    assert [host.js(blank, str(number)) for number in range(20)] == list(range(20))
    assert host.twice == []


def test_half_surrogates_pass_both_ways(host: Stdio, blank: str) -> None:
    assert host.js(blank, "'\ud800x'") == "\ud800x"
    assert host.js(blank, r"'\udfff' + 'é漢😀'") == "\udfffé漢😀"


def test_an_endless_loop_of_a_call_ends_at_its_deadline_and_the_session_goes_on(
    host: Stdio, blank: str, neighbour: str
) -> None:
    start = time.monotonic()
    loop = host.post_js(blank, "while (true);", timeoutMs=800)
    assert host.js(neighbour, "'beside'") == "beside"
    assert seconds(start) < 0.7
    problem = error(host.reply(loop))
    assert (problem["code"], problem["details"]) == ("BROWSER_TIMEOUT", {"limitMs": 800})
    assert seconds(start) < 2.5
    assert host.js(blank, "'goes on'") == "goes on"


def test_a_loop_of_the_page_itself_is_a_timeout_and_the_session_can_be_closed(
    host: Stdio, site: Site, neighbour: str
) -> None:
    session = host.open(f"{site.url}/busy-loop.html")
    host.js(session, "spin.click()")
    time.sleep(0.3)
    start = time.monotonic()
    waiting = host.post_js(session, "result.textContent", timeoutMs=1000)
    assert host.js(neighbour, "1") == 1
    assert seconds(start) < 0.9
    problem = error(host.reply(waiting))
    assert problem["code"] == "BROWSER_TIMEOUT"
    assert seconds(start) < 4.0
    start = time.monotonic()
    host.close(session)
    assert seconds(start) < 3.5


def test_a_busy_tab_is_closed_promptly_and_its_slot_is_free(host: Stdio, site: Site) -> None:
    session = host.open(f"{site.url}/busy-loop.html")
    host.js(session, "spin.click()")
    time.sleep(0.3)
    waiting = host.post_js(session, "1")
    start = time.monotonic()
    host.close(session)
    assert seconds(start) < 3.5
    assert error(host.reply(waiting))["code"] == "SESSION_CLOSED"
    opened = [host.open("about:blank") for _ in range(7)]  # `odd` is the eighth
    for one in opened:
        host.close(one)


def test_a_page_that_is_paused_in_the_debugger_still_ends_its_calls(host: Stdio, site: Site) -> None:
    session = host.open(site.url + "/")
    host.cdp(session, "Debugger.enable")
    stopped = host.post_js(session, "debugger; 7", timeoutMs=1000)
    assert error(host.reply(stopped))["code"] == "BROWSER_TIMEOUT"
    host.cdp(session, "Debugger.resume")
    assert host.js(session, "'runs'") == "runs"
    host.close(session)


def test_a_cancelled_call_is_answered_once_and_the_session_goes_on(host: Stdio, blank: str) -> None:
    number = host.post_js(blank, "new Promise(() => 0)")
    host.send(b'{"cancel": %d}\n' % number)
    assert error(host.reply(number))["code"] == "CANCELLED"
    host.send(b'{"cancel": %d}\n{"cancel": 987654}\n' % number)
    assert host.js(blank, "2") == 2
    assert host.twice == []


COMMAND_REFUSALS = (  # arguments beside the session, code
    pytest.param({"method": "Page.captureScreenshot"}, "BROWSER_POLICY_DENIED", id="pixels"),
    pytest.param(
        {"method": "page.navigate", "params": {"url": "about:blank"}}, "BROWSER_POLICY_DENIED", id="other-case"
    ),
    pytest.param({"method": "Runtime.evaluate ", "params": {}}, "BROWSER_POLICY_DENIED", id="space-behind"),
    pytest.param({"method": "Target.getTargets"}, "BROWSER_POLICY_DENIED", id="other-tabs"),
    pytest.param({"method": "Page.crash"}, "BROWSER_POLICY_DENIED", id="crash"),
    pytest.param({"method": "Browser.close"}, "BROWSER_POLICY_DENIED", id="the-whole-browser"),
    pytest.param({"method": ["Page.navigate"]}, "BAD_ARGUMENTS", id="method-as-a-list"),
    pytest.param({"method": "DOM.enable", "params": []}, "BAD_ARGUMENTS", id="params-as-a-list"),
    pytest.param({"method": "DOM.enable", "params": "{}"}, "BAD_ARGUMENTS", id="params-as-text"),
    pytest.param({"method": "DOM.enable", "timeoutMs": 0}, "BAD_ARGUMENTS", id="no-time"),
    pytest.param({"method": "DOM.enable", "timeoutMs": 20001}, "BAD_ARGUMENTS", id="too-much-time"),
    pytest.param({"method": "DOM.enable", "timeoutMs": "5"}, "BAD_ARGUMENTS", id="time-as-text"),
    pytest.param({"method": "DOM.enable", "extra": 1}, "BAD_ARGUMENTS", id="unknown-key"),
    pytest.param(
        {"method": "DOM.enable", "params": {"a": "x" * (64 * 1024)}}, "PARAMS_TOO_LARGE", id="params-over-64-KB"
    ),
    pytest.param(
        {"method": "DOM.describeNode", "params": {"nodeId": "one"}}, "CDP_ERROR", id="wrong-type-for-chromium"
    ),
    pytest.param({"method": "DOM.enable", "targetSessionId": "0" * 32}, "SESSION_NOT_OWNED", id="made-up-frame"),
)


@pytest.mark.parametrize(("args", "code"), COMMAND_REFUSALS)
def test_a_command_that_may_not_pass_is_refused_and_the_session_goes_on(
    host: Stdio, blank: str, args: dict[str, object], code: str
) -> None:
    assert host.error("browser.cdp", sessionId=blank, **args)["code"] == code
    assert host.js(blank, "3") == 3


def nested(depth: int) -> object:
    """Lists in lists."""
    made: object = 1
    for _ in range(depth):
        made = [made]
    return made


def test_parameters_may_nest_a_hundred_levels_and_no_more(host: Stdio, blank: str) -> None:
    assert host.cdp(blank, "DOM.enable", {"a": nested(99)}) == {}
    assert host.cdp_error(blank, "DOM.enable", {"a": nested(100)})["code"] == "PARAMS_TOO_LARGE"


def test_a_session_id_among_the_parameters_reaches_no_other_tab(host: Stdio, blank: str, neighbour: str) -> None:
    host.js(neighbour, "window.mark = 'neighbour'")
    host.js(blank, "window.mark = 'own'")
    params = {"expression": "window.mark", "returnByValue": True, "sessionId": neighbour}
    reply = host.reply(host.post_cdp(blank, "Runtime.evaluate", params))
    assert value(reply) == "own"
    assert "sessionId" not in reply["result"]
