"""Requests and bodies: of frames that live for a moment, of pages that have moved on, of every kind, and huge ones."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.case_site import PNG, CaseSite
from tests.support.processes import wait_until
from tests.support.stdio import Stdio, seconds

MIB = 1024 * 1024
SENT = "Network.requestWillBeSent"

Events = list[dict[str, Any]]


def read_until(host: Stdio, session: str, last: Any, timeout_s: float = 10.0) -> Events:
    """All events from the first on, polled until one is what `last` looks for."""
    found: Events = []
    after, start = 0, time.monotonic()
    while not any(map(last, found)):
        assert seconds(start) < timeout_s, [event["method"] for event in found]
        page = host.ok("browser.events", sessionId=session, after=after, waitMs=1000)
        assert page["lost"] is False
        found += page["events"]
        after = page["next"]
    return found


def sent(events: Events, mark: str) -> Events:
    """The requests whose address holds this."""
    return [event for event in events if event["method"] == SENT and mark in event["params"]["request"]["url"]]


def of_request(events: Events, request_id: str) -> list[str]:
    """The methods of one request's events, in order."""
    return [event["method"] for event in events if event["params"].get("requestId") == request_id]


def body(host: Stdio, session: str, request_id: str) -> dict[str, Any]:
    return host.cdp(session, "Network.getResponseBody", {"requestId": request_id})


def shows(host: Stdio, session: str, text: str) -> bool:
    """Does `#result` hold this? A page that is just being left has none."""
    params = {"expression": "document.querySelector('#result')?.textContent", "returnByValue": True}
    reply = host.reply(host.post_cdp(session, "Runtime.evaluate", params))
    return bool(reply["ok"] and reply["result"]["result"]["result"].get("value") == text)


# --- oopif-early-fetch


@pytest.fixture(scope="module")
def early(host: Stdio, cases: CaseSite) -> Iterator[tuple[str, Events]]:
    """The page whose two frames come from another site, and its events up to the going of the second."""
    session = host.open(f"{cases.main}/oopif-early-fetch/")
    yield session, read_until(host, session, lambda event: event["method"] == "Target.detachedFromTarget")
    host.close(session)


def handles(events: Events) -> list[str]:
    """The handles that frames of another process were announced under: the payment's, then the probe's."""
    return [event["params"]["sessionId"] for event in events if event["method"] == "Target.attachedToTarget"]


EARLY = (  # mark, method, which frame
    pytest.param("mark=pay-early", "POST", 0, id="while-parsing"),
    pytest.param("mark=probe-early", "GET", 1, id="frame-of-a-moment"),
)


@pytest.mark.parametrize(("mark", "method", "frame"), EARLY)
def test_the_first_request_of_an_out_of_process_frame_is_told_once_with_the_frames_handle(
    early: tuple[str, Events], mark: str, method: str, frame: int
) -> None:
    _, events = early
    (request,) = sent(events, mark)
    assert request["params"]["request"]["method"] == method
    assert request["targetSessionId"] == handles(events)[frame]


def test_what_an_out_of_process_frame_posted_can_be_read(host: Stdio, early: tuple[str, Events]) -> None:
    session, events = early
    (request,) = sent(events, "mark=pay-early")
    asked = {"requestId": request["params"]["requestId"]}
    handle = request["targetSessionId"]
    assert host.cdp(session, "Network.getRequestPostData", asked, targetSessionId=handle)["postData"] == "amount=12.40"


def test_a_frame_that_is_gone_is_told_and_its_handle_fails_at_once(host: Stdio, early: tuple[str, Events]) -> None:
    session, events = early
    _, handle = handles(events)
    gone = [event["params"]["sessionId"] for event in events if event["method"] == "Target.detachedFromTarget"]
    assert gone == [handle]
    start = time.monotonic()
    problem = host.cdp_error(session, "Runtime.evaluate", {"expression": "1"}, targetSessionId=handle)
    assert (problem["code"], problem["category"]) == ("TARGET_GONE", "unavailable")
    assert seconds(start) < 1.0


def test_no_event_of_frames_is_given_twice(early: tuple[str, Events]) -> None:
    _, events = early
    seqs = [event["seq"] for event in events]
    assert seqs == list(range(1, len(seqs) + 1))
    requests = [{**event, "seq": 0, "at": 0} for event in events if "requestId" in event["params"]]
    whole = [json.dumps(event, sort_keys=True) for event in requests]
    assert len(set(whole)) == len(whole) > 10


# --- body-after-navigation


def test_a_body_asked_for_after_the_page_moved_on_is_whole_or_a_true_error(host: Stdio, cases: CaseSite) -> None:
    session = host.open(f"{cases.main}/body-after-navigation/")
    host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired"], waitMs=5000)
    host.js(session, "void save.click()")
    wait_until(lambda: shows(host, session, "Saved"), 10.0, "Saved")
    events = host.events(session)
    (request,) = sent(events, "mark=save")
    request_id = request["params"]["requestId"]
    steps = [method for method in of_request(events, request_id) if not method.endswith("ExtraInfo")]
    assert steps[:2] == [SENT, "Network.responseReceived"]
    assert steps[-1] == "Network.loadingFinished"
    start = time.monotonic()
    reply = host.reply(host.post_cdp(session, "Network.getResponseBody", {"requestId": request_id}))
    assert seconds(start) < 5.0
    if reply["ok"]:
        assert len(reply["result"]["result"]["body"]) == 2221
    else:
        assert reply["error"]["code"] == "CDP_ERROR"
        assert "No resource with given identifier" in reply["error"]["details"]["cdp"]["message"]
    assert host.js(session, "document.title") == "Saved"
    host.close(session)


# --- body-kinds

COUNTS = {
    "redirect": 9,
    "empty204": 0,
    "error500": 12,
    "png": 70,
    "bytes": 300,
    "gzip": 44,
    "data": 12,
    "preflight": 38,
    "denied": "failed",
    "head": 0,
    "cut": "failed",
}


@pytest.fixture(scope="module")
def kinds(host: Stdio, cases: CaseSite) -> Iterator[tuple[str, Events]]:
    session = host.open(f"{cases.main}/body-kinds/")
    wait_until(lambda: host.js(session, "result.textContent") != "running", 10.0, "the page's own counts")
    yield session, host.events(session)
    host.close(session)


def test_the_page_itself_counts_what_came(host: Stdio, kinds: tuple[str, Events]) -> None:
    assert json.loads(host.js(kinds[0], "result.textContent")) == COUNTS


def test_a_redirect_is_one_request_with_the_last_body_and_the_first_answer_beside_it(
    host: Stdio, kinds: tuple[str, Events]
) -> None:
    session, events = kinds
    (first,) = sent(events, "mark=redirect")
    request_id = first["params"]["requestId"]
    hops = [event for event in events if event["method"] == SENT and event["params"]["requestId"] == request_id]
    assert [hop["params"].get("redirectResponse", {}).get("status") for hop in hops] == [None, 302]
    assert body(host, session, request_id) == {"body": "new-words", "base64Encoded": False}


TEXTS = (  # what the address holds, the body
    pytest.param("/_/status?code=204", "", id="no-content"),
    pytest.param("/_/json?bytes=500", "", id="head"),
    pytest.param("/_/status?code=500", "broken-words", id="server-error"),
    pytest.param("/_/gzip", json.dumps({"packed": True, "note": "café ☕"}), id="gzip"),
    pytest.param("data:text/plain", "inline-words", id="data"),
    pytest.param("/_/cors", json.dumps({"got": '{"a":1}', "method": "POST"}), id="behind-a-preflight"),
)


@pytest.mark.parametrize(("mark", "text"), TEXTS)
def test_a_text_comes_as_it_is_and_an_empty_one_is_no_error(
    host: Stdio, kinds: tuple[str, Events], mark: str, text: str
) -> None:
    session, events = kinds
    found = [one for one in sent(events, mark) if "deny=1" not in one["params"]["request"]["url"]]
    (request,) = [one for one in found if one["params"]["request"]["method"] != "OPTIONS"]
    assert body(host, session, request["params"]["requestId"]) == {"body": text, "base64Encoded": False}


BINARIES = (
    pytest.param("/_/png", PNG, id="png"),
    pytest.param("/_/bytes", bytes(range(256)) + bytes(range(44)), id="bytes"),
)


@pytest.mark.parametrize(("mark", "content"), BINARIES)
def test_bytes_come_as_base64(host: Stdio, kinds: tuple[str, Events], mark: str, content: bytes) -> None:
    session, events = kinds
    (request,) = sent(events, mark)
    made = body(host, session, request["params"]["requestId"])
    assert made["base64Encoded"] is True
    assert base64.b64decode(made["body"]) == content


BODILESS = (
    pytest.param("/_/cors", "OPTIONS", id="preflight"),
    pytest.param("/_/cors?deny=1", "POST", id="denied"),
    pytest.param(
        "/_/cut",
        "GET",
        id="cut-short",
    ),
)


def test_what_failed_is_told_as_failed_with_its_reason(kinds: tuple[str, Events]) -> None:
    failed = [event["params"]["errorText"] for event in kinds[1] if event["method"] == "Network.loadingFailed"]
    assert failed == ["net::ERR_FAILED", "net::ERR_CONTENT_LENGTH_MISMATCH"]


@pytest.mark.parametrize(("mark", "method"), BODILESS)
def test_what_has_no_body_is_an_error_and_not_an_empty_one(
    host: Stdio, kinds: tuple[str, Events], mark: str, method: str
) -> None:
    session, events = kinds
    request = next(event for event in sent(events, mark) if event["params"]["request"]["method"] == method)
    asked = {"requestId": request["params"]["requestId"]}
    problem = host.cdp_error(session, "Network.getResponseBody", asked)
    assert problem["code"] == "CDP_ERROR"
    assert problem["details"]["cdp"]["message"].startswith(("No resource with given", "No data found for resource"))


# --- huge-json-response


@pytest.fixture(scope="module")
def ledger(host: Stdio, cases: CaseSite) -> Iterator[str]:
    session = host.open(f"{cases.main}/huge-json-response/")
    host.ok("browser.events", sessionId=session, methods=["Page.loadEventFired"], waitMs=5000)
    yield session
    host.close(session)


def test_a_body_over_the_limit_is_refused_whole_and_a_small_one_follows(host: Stdio, ledger: str) -> None:
    host.js(ledger, "void load.click()")
    wait_until(lambda: host.js(ledger, "result.textContent") == "rows:111111", 10.0, "rows")
    (request,) = sent(host.events(ledger), "bytes=3000000")
    asked = {"requestId": request["params"]["requestId"]}
    problem = host.cdp_error(ledger, "Network.getResponseBody", asked)
    assert (problem["code"], problem["details"]["limit"]) == ("RESULT_TOO_LARGE", MIB)
    assert problem["details"]["actual"] > 3_333_331  # the body, its quotation marks escaped, and its frame
    host.js(ledger, "void small.click()")
    wait_until(lambda: host.js(ledger, "result.textContent") == "rows:200", 10.0, "rows")
    (small,) = sent(host.events(ledger), "bytes=5400")
    rows = json.loads(body(host, ledger, small["params"]["requestId"])["body"])
    assert len(rows) == 200


def test_the_size_of_a_text_is_what_is_really_sent(host: Stdio, ledger: str, cases: CaseSite) -> None:
    neighbour = host.open("about:blank")
    params = {"expression": "bigText()", "returnByValue": True}
    problem = host.cdp_error(ledger, "Runtime.evaluate", params)
    assert problem["code"] == "RESULT_TOO_LARGE"
    frame = len(b'{"result":{"type":"string","value":""}}')
    utf8, escaped = 2_400_000, 4_000_000
    assert problem["details"]["actual"] in (utf8 + frame, escaped + frame)
    assert str(problem["details"]["actual"]) in problem["message"]
    assert host.js(ledger, "bigText().length") == 1_200_000
    assert host.js(neighbour, "'beside'") == "beside"
    host.close(neighbour)
