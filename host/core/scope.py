"""Where a manifest's `origins` let an app's tab be: which documents, which frames, and whose cookies it is told of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from host.core.urls import SCHEME, UrlDecision, UrlRules, judge_url
from host.core.wire import dumps

# Documents that are their creator's: what made them decides. An error page is Chromium's own, of an opaque origin.
OF_THEIR_CREATOR = ("about:", "blob:null", "chrome-error:", "data:")
INSIDE = UrlDecision(True, "of its creator")


@dataclass(frozen=True, slots=True)
class Paused:
    """A request that Fetch holds, as the caller was told of it."""

    url: str
    is_document: bool = False


def judge_document(url: str, rules: UrlRules, security_origin: str = "") -> UrlDecision:
    """May a tab of this caller show the document? `security_origin` is what Chromium says of one that has come.

    `blob:` counts as the origin that made it. A blank page has its creator's, which only `security_origin` tells.
    """
    if SCHEME.match(security_origin):
        decision = judge_url(security_origin + "/", rules)
        if not decision.allowed:
            return decision
    if not url or url.startswith(OF_THEIR_CREATOR):
        return INSIDE
    return judge_url(url.removeprefix("blob:"), rules)


# --- cookies in events

COOKIE_FIELDS = frozenset(("cookie", "set-cookie"))
COOKIE_EVENTS = frozenset(
    (
        "Network.requestWillBeSentExtraInfo",
        "Network.responseReceivedExtraInfo",
        "Network.webSocketHandshakeResponseReceived",
        "Network.webSocketWillSendHandshakeRequest",
    )
)


class CookieScreen:
    """Takes the cookies of other origins out of events: any image of a page brings those of its site along.

    Observed with Chromium 156: `associatedCookies` holds the values of HttpOnly and SameSite=Strict cookies too, which
    are not even sent. Responses do not name their place, so a request's is remembered; an unknown one is screened.
    """

    def __init__(self, rules: UrlRules, *, remembered: int = 2000) -> None:
        self.rules = rules
        self._remembered = remembered
        self._inside: dict[str, bool] = {}

    def screened(self, method: str, params: bytes) -> bytes:
        """The event's parameters without cookies that are not the app's; the same bytes when there is none."""
        event: dict[str, Any] = json.loads(params)
        inside = self._is_inside(method, event)
        if inside:
            return params
        event.pop("headersText", None)
        for name in ("associatedCookies", "blockedCookies", "exemptedCookies"):
            if event.get(name):
                event[name] = []
        for holder in (event, event.get("request"), event.get("response")):
            if isinstance(holder, dict):
                _drop_cookie_headers(holder)
        return dumps(event)

    def _is_inside(self, method: str, event: Mapping[str, Any]) -> bool:
        request_id = str(event.get("requestId", ""))
        headers = event.get("request", event).get("headers", {})
        if method not in ("Network.requestWillBeSentExtraInfo", "Network.webSocketWillSendHandshakeRequest"):
            return self._inside.get(request_id, False)
        inside = self._host_inside(headers)
        self._inside.pop(request_id, None)
        self._inside[request_id] = inside
        if len(self._inside) > self._remembered:
            del self._inside[next(iter(self._inside))]
        return inside

    def _host_inside(self, headers: Mapping[str, Any]) -> bool:
        """Cookies belong to hosts, whatever the scheme: one scheme that is inside is enough."""
        named = {name.lower(): str(value) for name, value in headers.items()}
        host = named.get(":authority") or named.get("host")
        if not host:
            return False
        return any(judge_url(f"{scheme}://{host}/", self.rules).allowed for scheme in ("https", "http"))


# --- frames that are not lent, in the events of their parents

NAMES_FRAME_URL = frozenset(
    ("Page.frameRequestedNavigation", "Page.frameScheduledNavigation", "Page.frameStartedNavigating")
)
NAMES_REQUEST_URL = frozenset(("Network.requestWillBeSent", "Network.responseReceived"))
FRAME_EVENTS = frozenset(
    (
        *NAMES_FRAME_URL,
        *NAMES_REQUEST_URL,
        "Network.dataReceived",
        "Network.loadingFailed",
        "Network.loadingFinished",
        "Network.requestServedFromCache",
        "Network.requestWillBeSentExtraInfo",
        "Network.resourceChangedPriority",
        "Network.responseReceivedExtraInfo",
    )
)


class FrameScreen:
    """Tells which events of a target are about the document of a frame that is not lent.

    Chromium tells the parent of a frame's document: where it was redirected to, and what came with it.
    """

    def __init__(self, rules: UrlRules, *, remembered: int = 2000) -> None:
        self.rules = rules
        self._remembered = remembered
        self._outside: dict[str, None] = {}  # ids of requests

    def hides(self, method: str, event: Mapping[str, Any], main_frame: str) -> bool:
        """Is this event, one of FRAME_EVENTS, about a frame outside? `main_frame` is the frame of the target itself."""
        foreign_frame = event.get("frameId", main_frame) != main_frame
        if method in NAMES_FRAME_URL:
            return foreign_frame and not judge_document(str(event.get("url", "")), self.rules).allowed
        request_id = str(event.get("requestId", ""))
        if method in NAMES_REQUEST_URL:
            asked = event.get("request") or event.get("response") or {}
            is_document = foreign_frame and event.get("type") == "Document"
            if is_document and not judge_document(str(asked.get("url", "")), self.rules).allowed:
                self._outside[request_id] = None
                if len(self._outside) > self._remembered:
                    del self._outside[next(iter(self._outside))]
            else:
                self._outside.pop(request_id, None)
        return request_id in self._outside


def _drop_cookie_headers(holder: dict[str, Any]) -> None:
    holder.pop("headersText", None)
    holder.pop("requestHeadersText", None)
    for part in ("headers", "requestHeaders"):
        headers = holder.get(part)
        if isinstance(headers, dict):
            holder[part] = {name: value for name, value in headers.items() if name.lower() not in COOKIE_FIELDS}
