"""Where a manifest's `origins` let an app's tab be: which documents, which frames, and whose cookies it is told of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

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
HANDSHAKES = frozenset(("Network.webSocketHandshakeResponseReceived", "Network.webSocketWillSendHandshakeRequest"))
COOKIE_EVENTS = frozenset(("Network.requestWillBeSentExtraInfo", "Network.responseReceivedExtraInfo", *HANDSHAKES))
OF_REQUESTS = frozenset(("Network.requestWillBeSentExtraInfo", "Network.webSocketWillSendHandshakeRequest"))


class CookieScreen:
    """Takes the cookies of other origins out of events: any image of a page brings those of its site along.

    Observed with Chromium 156: `associatedCookies` holds the values of HttpOnly and SameSite=Strict cookies too, of
    those that are not sent, and of other hosts of the site. Responses do not name their place, so a request's is
    remembered; an unknown one counts as outside.
    """

    def __init__(self, rules: UrlRules, *, remembered: int = 2000) -> None:
        self.rules = rules
        self._remembered = remembered
        self._inside: dict[str, bool] = {}

    def screened(self, method: str, params: bytes) -> bytes | None:
        """The event's parameters with no cookie that is not the app's; None for what is not told at all."""
        event: dict[str, Any] = json.loads(params)
        if self._is_inside(method, event):
            return params if _keep_own_cookies(event) else dumps(event)
        if method not in HANDSHAKES:
            return None
        for holder in (event.get("request"), event.get("response")):
            if isinstance(holder, dict):
                _drop_cookie_headers(holder)
        return dumps(event)

    def _is_inside(self, method: str, event: Mapping[str, Any]) -> bool:
        request_id = str(event.get("requestId", ""))
        if method not in OF_REQUESTS:
            return self._inside.get(request_id, False)
        host = _host_of(event.get("request", event).get("headers", {}))
        # Cookies belong to hosts, whatever the scheme: one scheme that is inside is enough.
        schemes = ("https", "http") if host else ()
        inside = any(judge_url(f"{scheme}://{host}/", self.rules).allowed for scheme in schemes)
        self._inside.pop(request_id, None)
        remember(self._inside, request_id, inside, self._remembered)
        return inside


def _host_of(headers: Mapping[str, Any]) -> str:
    """HOST or HOST:PORT of a request; "" when it is not named."""
    named = {name.lower(): str(value) for name, value in headers.items()}
    return named.get(":authority") or named.get("host") or ""


def _keep_own_cookies(event: dict[str, Any]) -> bool:
    """Leave only the cookies of the request's own host; True when there were no others."""
    listed = event.get("associatedCookies")
    if not listed:
        return True
    host = re.sub(":[0-9]*$", "", _host_of(event.get("headers", {}))).lower()
    own = [one for one in listed if _belongs(str(one.get("cookie", {}).get("domain", "")).lower(), host)]
    event["associatedCookies"] = own
    return len(own) == len(listed)


def _belongs(domain: str, host: str) -> bool:
    """RFC 6265, 5.1.3: a domain with a dot in front covers the hosts below it."""
    return host == domain.removeprefix(".") or (domain.startswith(".") and host.endswith(domain))


def _drop_cookie_headers(holder: dict[str, Any]) -> None:
    holder.pop("headersText", None)
    holder.pop("requestHeadersText", None)
    for part in ("headers", "requestHeaders"):
        headers = holder.get(part)
        if isinstance(headers, dict):
            holder[part] = {name: value for name, value in headers.items() if name.lower() not in COOKIE_FIELDS}


# --- requests to elsewhere

NAMES_FRAME_URL = frozenset(
    ("Page.frameRequestedNavigation", "Page.frameScheduledNavigation", "Page.frameStartedNavigating")
)
TELLS_URLS = frozenset(("Audits.issueAdded", "CSS.styleSheetAdded", "Log.entryAdded", "Page.downloadWillBegin"))
URL_IN_TEXT = re.compile(r"https?://[^\s\"'<>\\)]+", re.IGNORECASE)
TELLS_ANSWER = frozenset(
    ("Network.requestWillBeSentExtraInfo", "Network.responseReceived", "Network.responseReceivedExtraInfo")
)
REQUEST_EVENTS = frozenset(
    (
        *NAMES_FRAME_URL,
        *TELLS_ANSWER,
        *TELLS_URLS,
        "Network.dataReceived",
        "Network.loadingFailed",
        "Network.loadingFinished",
        "Network.requestServedFromCache",
        "Network.requestWillBeSent",
        "Network.resourceChangedPriority",
    )
)


class RequestScreen:
    """Keeps what a page could not see itself out of the events about requests to other origins.

    Of what the page asks for elsewhere its owner's script is told that it was asked and how it ended: not the answer,
    nor where it was sent on to. Of a frame that is not lent nothing is told.
    """

    def __init__(self, rules: UrlRules, *, remembered: int = 20_000) -> None:
        self.rules = rules
        self._remembered = remembered
        self._outside: dict[str, str] = {}  # by request, the URL that it goes to now; "" when that is inside
        self._of_frames: dict[str, None] = {}
        self._led_outside: dict[str, None] = {}  # URLs inside that were sent on to elsewhere

    def url_outside(self, request_id: str) -> str | None:
        """Where a request goes, when that is outside; "" inside, None for one that is not known (any more)."""
        return self._outside.get(request_id)

    def screened(self, method: str, params: bytes, main_frame: str) -> bytes | None:
        """One of REQUEST_EVENTS as it may be told, None when it may not. `main_frame` is that of the target itself."""
        event: dict[str, Any] = json.loads(params)
        foreign_frame = event.get("frameId", main_frame) != main_frame
        if method in NAMES_FRAME_URL:
            hidden = foreign_frame and not self._inside(str(event.get("url", "")))
            return None if hidden else params
        if method in TELLS_URLS:
            return params if all(map(self._inside, URL_IN_TEXT.findall(json.dumps(event)))) else None
        request_id = str(event.get("requestId", ""))
        if method == "Network.requestWillBeSent":
            return self._asked(request_id, event, params, foreign_frame)
        tells = method in TELLS_ANSWER or "data" in event  # what Network.streamResourceContent asked for
        if request_id in self._of_frames or (tells and self._outside.get(request_id)):
            return None
        return params

    def _asked(self, request_id: str, event: dict[str, Any], params: bytes, foreign_frame: bool) -> bytes | None:
        url = str((event.get("request") or {}).get("url", ""))
        was_outside = bool(self._outside.pop(request_id, ""))
        self._of_frames.pop(request_id, None)
        if self._inside(url):
            remember(self._outside, request_id, "", self._remembered)
            if was_outside and event.pop("redirectResponse", None) is not None:
                return dumps(event)
            return params
        remember(self._outside, request_id, url, self._remembered)
        if foreign_frame and event.get("type") == "Document":
            remember(self._of_frames, request_id, None, self._remembered)
            return None
        left = str((event.get("redirectResponse") or {}).get("url", ""))
        if left:
            remember(self._led_outside, left, None, self._remembered)
        return None if was_outside else params

    def is_own(self, url: str) -> bool:
        """Is what came for this URL the app's own? Scripts keep the URL that they were asked for by."""
        return self._inside(url) and url not in self._led_outside

    def _inside(self, url: str) -> bool:
        return judge_document(url, self.rules).allowed


V = TypeVar("V")


K = TypeVar("K")


def remember(known: dict[K, V], key: K, value: V, most: int) -> None:
    """Keep one more; the one known longest is forgotten first."""
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]
