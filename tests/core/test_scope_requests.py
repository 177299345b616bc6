"""What an app with `origins` is told of its pages' requests to elsewhere, and of frames that are not lent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from host.core.scope import REQUEST_EVENTS, RequestScreen
from host.core.urls import UrlRules

RULES = UrlRules(frozenset(), ("https://shop.example", "https://*.parts.example"))
MAIN, CHILD = "MAIN", "CHILD"
ASKED = "Network.requestWillBeSent"


def asked(number: str, url: str, **more: Any) -> dict[str, Any]:
    return {"requestId": number, "frameId": MAIN, "type": "Image", "request": {"url": url}, **more}


def seen(screen: RequestScreen, method: str, event: dict[str, Any]) -> dict[str, Any] | None:
    made = screen.screened(method, json.dumps(event).encode(), MAIN)
    return None if made is None else dict(json.loads(made))


AFTER = (
    "Network.dataReceived",
    "Network.loadingFailed",
    "Network.loadingFinished",
    "Network.requestServedFromCache",
    "Network.requestWillBeSentExtraInfo",
    "Network.resourceChangedPriority",
    "Network.responseReceived",
    "Network.responseReceivedExtraInfo",
)
ANSWER = {"Network.requestWillBeSentExtraInfo", "Network.responseReceived", "Network.responseReceivedExtraInfo"}


def after(screen: RequestScreen, number: str) -> set[str]:
    """Which of the events that follow a request are told."""
    return {method for method in AFTER if seen(screen, method, {"requestId": number}) is not None}


def test_of_a_foreign_image_is_told_that_it_was_asked_for_and_how_it_ended() -> None:
    screen = RequestScreen(RULES)
    event = asked("1", "https://mail.example/picture")
    assert seen(screen, ASKED, event) == event
    assert after(screen, "1") == set(AFTER) - ANSWER
    assert seen(screen, "Network.dataReceived", {"requestId": "1", "data": "AAAA"}) is None


def test_of_an_own_one_everything_is_told_as_it_came() -> None:
    screen = RequestScreen(RULES)
    raw = json.dumps(asked("1", "https://shop.example/picture")).encode()
    assert screen.screened(ASKED, raw, MAIN) is raw
    assert after(screen, "1") == set(AFTER)
    assert seen(screen, "Network.dataReceived", {"requestId": "1", "data": "AAAA"}) is not None


def test_of_the_document_of_a_foreign_frame_nothing_is_told() -> None:
    screen = RequestScreen(RULES)
    assert seen(screen, ASKED, asked("1", "https://mail.example/", frameId=CHILD, type="Document")) is None
    assert after(screen, "1") == set()
    own = asked("2", "https://a.parts.example/", frameId=CHILD, type="Document")
    assert (seen(screen, ASKED, own), after(screen, "2")) == (own, set(AFTER))


def test_where_a_foreign_answer_leads_on_is_not_told() -> None:
    screen = RequestScreen(RULES)
    hop = {"redirectResponse": {"url": "https://mail.example/1", "headers": {"Location": "/2?code=SECRET"}}}
    assert seen(screen, ASKED, asked("1", "https://shop.example/go")) is not None
    assert seen(
        screen, ASKED, asked("1", "https://mail.example/1", redirectResponse={"url": "https://shop.example/go"})
    )
    assert seen(screen, ASKED, asked("1", "https://mail.example/2?code=SECRET", **hop)) is None
    back = seen(screen, ASKED, asked("1", "https://shop.example/back", **hop))
    assert back == asked("1", "https://shop.example/back")
    assert after(screen, "1") == set(AFTER)


def test_a_frame_that_is_sent_on_comes_into_view_with_its_own_address() -> None:
    screen = RequestScreen(RULES)
    frame = {"frameId": CHILD, "type": "Document"}
    assert seen(screen, ASKED, asked("1", "https://mail.example/in", **frame)) is None
    back = asked("1", "https://a.parts.example/", **frame, redirectResponse={"headers": {"Location": "SECRET"}})
    assert seen(screen, ASKED, back) == asked("1", "https://a.parts.example/", **frame)
    assert after(screen, "1") == set(AFTER)


NAVIGATIONS = ("Page.frameRequestedNavigation", "Page.frameScheduledNavigation", "Page.frameStartedNavigating")


@pytest.mark.parametrize("method", NAVIGATIONS)
def test_where_a_frame_goes_is_told_when_that_is_inside(method: str) -> None:
    screen = RequestScreen(RULES)
    for frame, url, is_told in (
        (CHILD, "https://mail.example/?token=SECRET", False),
        (CHILD, "https://a.parts.example/", True),
        (CHILD, "about:blank", True),
        (MAIN, "https://mail.example/", True),  # the page's own doing, which is refused
    ):
        assert (seen(screen, method, {"frameId": frame, "url": url}) is not None) == is_told


@pytest.mark.parametrize("method", ["Audits.issueAdded", "Log.entryAdded"])
def test_a_complaint_that_names_a_foreign_address_is_not_told(method: str) -> None:
    screen = RequestScreen(RULES)
    words = (
        "Access to fetch at 'https://mail.example/2?code=SECRET' (redirected from 'https://shop.example/go') is blocked"
    )
    assert seen(screen, method, {"entry": {"text": words}}) is None
    assert seen(screen, method, {"entry": {"url": "https://mail.example/x"}}) is None
    own = {"entry": {"text": "404", "url": "https://shop.example/go?to=https://mail.example/"}}
    assert seen(screen, method, own) == own


def test_where_a_request_goes_is_known_by_its_id() -> None:
    screen = RequestScreen(RULES, remembered=2)
    seen(screen, ASKED, asked("1", "https://mail.example/1"))
    seen(screen, ASKED, asked("2", "https://shop.example/2"))
    assert [screen.url_outside(one) for one in "123"] == ["https://mail.example/1", "", None]
    seen(screen, ASKED, asked("3", "https://shop.example/3"))
    assert [screen.url_outside(one) for one in "123"] == [None, "", ""]


def test_an_event_without_what_it_usually_has_is_no_trouble() -> None:
    for method in sorted(REQUEST_EVENTS):
        assert seen(RequestScreen(RULES), method, {}) is not None or method in NAVIGATIONS
        assert seen(RequestScreen(RULES), method, {"note": "\ud800"}) == {"note": "\ud800"}
