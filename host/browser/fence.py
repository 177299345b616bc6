"""Keeps one session inside its app's `origins`, and knows which requests its caller holds with Fetch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from capsdk.errors import CapError, error
from host.browser.command import cdp_error
from host.cdp.envelope import loads
from host.core.scope import COOKIE_EVENTS, REQUEST_EVENTS, CookieScreen, Paused, RequestScreen, judge_document, remember
from host.core.urls import UrlDecision

if TYPE_CHECKING:
    from host.browser.channel import Channel
    from host.browser.session import Session

# The guard holds each document before the network sees it: attached first, it is asked last, after the caller's own
# Fetch has rewritten what it likes (facts/cdp.md 3). A service worker would answer a navigation without a request, so
# none may. Observed with Chromium 156: that takes Network.enable; its buffers are as small as can be.
DOCUMENTS = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}
FENCE_ENABLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Network.enable", {"maxTotalBufferSize": 1, "maxResourceBufferSize": 1, "maxPostDataSize": 1}),
    ("Network.setBypassServiceWorker", {"bypass": True}),
    ("Runtime.enable", {}),
    ("Fetch.enable", {"patterns": [DOCUMENTS]}),
)
EVERYTHING = {"patterns": [{"urlPattern": "*"}]}
HELD_KEPT = 2000  # requests of one target that a caller may hold at a time
NAMES_HELD = frozenset(
    (
        "Fetch.continueRequest",
        "Fetch.continueResponse",
        "Fetch.failRequest",
        "Fetch.fulfillRequest",
        "Fetch.getResponseBody",
    )
)
READS_ANSWER = frozenset(("Network.getResponseBody", "Network.searchInResponseBody", "Network.streamResourceContent"))
READS_SCRIPT = frozenset(
    (
        "Debugger.disassembleWasmModule",
        "Debugger.getScriptSource",
        "Debugger.getWasmBytecode",
        "Debugger.searchInContent",
    )
)
# All but the last of a heap snapshot are too large to be told; that one holds texts of scripts from elsewhere.
HEAP_CHUNK = "HeapProfiler.addHeapSnapshotChunk"
NAMES_SOURCE = frozenset(("Debugger.scriptParsed", "Runtime.exceptionThrown"))
READS_SHEET = frozenset(("CSS.getStyleSheetText",))
READS_RESOURCE = frozenset(("Page.getResourceContent", "Page.searchInResource"))
REQUEST_ID = re.compile(rb'\{"requestId":"([^"\\]*)"')  # Chromium writes it first
NAMES_KEPT = 20_000  # of requests, scripts and style sheets of one session
DOCUMENT_DESTINATIONS = frozenset(("document", "embed", "fencedframe", "frame", "iframe", "object"))
NAVIGATIONS = frozenset(("Page.navigate", "Page.navigateToHistoryEntry", "Page.reload"))


class Fence:
    """`active` when the manifest names origins: then documents are judged before they are asked for and as they come.

    Frames of other origins load, and are not lent: no handle, no events, no cookies. Where they are out of their
    parent's process, Chromium itself keeps them apart; the flag StrictOriginIsolation makes that so for every origin.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.active = bool(session.owner.urls.origins)
        self._asked: dict[str, str] = {}  # the URL of the newest document of each frame, before it has come
        self._waiting: list[tuple[Channel, Mapping[str, Any]]] | None = None  # requests, while none may go
        self.concerns = CONCERNS_INSIDE if self.active else CONCERNS
        self._named: dict[str, None] = {}  # the requests that the caller's own events have named, oldest first
        self._sheets: dict[str, None] = {}  # the style sheets that the caller was told of
        self._scripts: dict[tuple[str | None, str], None] = {}  # the own scripts of each target
        self._cookies = CookieScreen(session.owner.urls)
        self._requests = RequestScreen(session.owner.urls)

    @property
    def enables(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """What each guard of the session gets besides the usual."""
        return FENCE_ENABLES if self.active else ()

    def judge(self, url: str, security_origin: str = "") -> UrlDecision:
        """May the session show this document? The caller asks for it to be judged: see `inside`."""
        return judge_document(url, self._session.urls, security_origin)

    def inside(self, url: str, security_origin: str = "") -> bool:
        """Is a document the app's own?"""
        return not self.active or self.judge(url, security_origin).allowed

    def expected(self, target_id: str, url: str) -> str:
        """What a new frame will show: Chromium gives its URL as "" while it waits."""
        return url or self._asked.get(target_id, "")

    # --- the guard's own Fetch

    def hold(self) -> None:
        """Let no request go, until `let_go`: what it brings would not be seen yet."""
        self._waiting = []
        self._session.connection.start("Fetch.enable", EVERYTHING, self._session.page.guard)

    def let_go(self) -> None:
        """Judge what has waited, and go on as usual. Letting go twice is fine."""
        waiting, self._waiting = self._waiting or (), None
        for channel, params in waiting:
            self.asked(channel, params)
        name, given = FENCE_ENABLES[-1] if self.active else ("Fetch.disable", {})
        self._session.connection.start(name, given, self._session.page.guard)

    def asked(self, channel: Channel, params: Mapping[str, Any]) -> None:
        """A document is about to be asked for: a page outside is refused, a frame loads."""
        if self._waiting is not None:
            self._waiting.append((channel, params))
            return
        frame_id, url = params.get("frameId", ""), params["request"]["url"]
        request = {"requestId": params["requestId"]}
        connection = self._session.connection
        if not self.active or params.get("resourceType") != "Document":
            connection.start("Fetch.continueRequest", request, channel.guard)
            return
        self._asked[frame_id] = url
        if channel.handle is None and frame_id == channel.target_id:
            decision = self.judge(url)
            if not decision.allowed:
                connection.start("Fetch.failRequest", {**request, "errorReason": "Aborted"}, channel.guard)
                self._session.navigation_refused(decision)
                return
        elif not self.inside(url):
            # Before it is asked for: what the caller has put into the frame would run in the new document, too.
            self._session.frames.leaves(frame_id, url)
        connection.start("Fetch.continueRequest", request, channel.guard)

    def context_made(self, channel: Channel, context: Mapping[str, Any]) -> None:
        """A document's scripts are about to run: a blank page has the origin of whoever sent the tab there."""
        origin = str(context.get("origin", ""))
        if not self.active or not (context.get("auxData") or {}).get("isDefault") or not origin.startswith("http"):
            return
        decision = self.judge(origin + "/")
        if decision.allowed:
            return
        if channel.handle is None:
            self._session.went_outside(decision)
        else:
            self._session.frames.cut_off(channel, channel.facts.committed_url)

    def forget(self, frame_id: str) -> None:
        """The frame is gone."""
        self._asked.pop(frame_id, None)

    # --- the caller's own events and Fetch

    def note_request(self, params: bytes) -> None:
        """One of the session's own targets asked for something: whose answer it is can be told from that alone.

        Observed with Chromium 156: bodies that are kept (`enableDurableMessages`) are kept for the whole browser, and
        `Network.getResponseBody` gives those of any tab for a request id, which can be guessed.
        """
        found = REQUEST_ID.match(params)
        request_id = found[1].decode() if found else str(loads(params).get("requestId"))
        remember(self._named, request_id, None, NAMES_KEPT)

    def passes(self, channel: Channel, method: str, params: bytes) -> bytes | None:
        """An event as the caller may have it; None when it may not. Called for what `concerns` names."""
        if method == "Fetch.requestPaused":
            return self._held(channel, params)
        if method == HEAP_CHUNK:
            return None
        if method in NAMES_SOURCE:
            return self._source_told(channel, method, params)
        told: bytes | None = params
        if method in REQUEST_EVENTS:
            told = self._requests.screened(method, params, channel.target_id)
            if method == "CSS.styleSheetAdded" and told is not None:
                remember(self._sheets, loads(told)["header"]["styleSheetId"], None, NAMES_KEPT)
        return self._cookies.screened(method, told) if told is not None and method in COOKIE_EVENTS else told

    def _source_told(self, channel: Channel, method: str, params: bytes) -> bytes | None:
        """A text that was asked for as a script is quoted in the error when it is none."""
        event = loads(params)
        if method == "Debugger.scriptParsed":
            if self._requests.is_own(event["url"]):
                remember(self._scripts, (channel.handle, event["scriptId"]), None, NAMES_KEPT)
            return params
        return params if self._requests.is_own(str(event["exceptionDetails"].get("url", ""))) else None

    def _held(self, channel: Channel, params: bytes) -> bytes | None:
        event = loads(params)
        held = Paused(event["request"]["url"], is_document(event))
        request_id = event["requestId"]
        if not self.inside(held.url):
            # Whoever holds it could read the answer, or write the headers that let the page read it. The guard is asked
            # next about documents.
            again = {"requestId": request_id}
            self._session.connection.start("Fetch.continueRequest", again, channel.app)
            return None
        channel.paused.pop(request_id, None)
        remember(channel.paused, request_id, held, HELD_KEPT)
        return params

    def refusal(self, channel: Channel, method: str, params: Mapping[str, Any]) -> CapError | None:
        """Why a command may not name its request: one that the caller was not told of might be anybody's."""
        request_id = str(params.get("requestId"))
        if method in NAMES_HELD and request_id not in channel.paused:
            return cdp_error(method, -32602, "Invalid InterceptionId.")  # as Chromium says it
        if method not in READS_ANSWER:
            return self._source_refusal(channel, method, params) if self.active else None
        if request_id not in self._named:
            return cdp_error(method, -32000, "No resource with given identifier found")
        url = self._requests.url_outside(request_id) if self.active else ""
        return outside(self.judge(url)) if url and not self.inside(url) else None

    def _source_refusal(self, channel: Channel, method: str, params: Mapping[str, Any]) -> CapError | None:
        """What the page loads from elsewhere it cannot read itself; what was redirected there has an own URL."""
        if method in READS_SCRIPT and (channel.handle, str(params.get("scriptId"))) not in self._scripts:
            return cdp_error(method, -32000, "No script for id")
        if method in READS_SHEET and str(params.get("styleSheetId")) not in self._sheets:
            return cdp_error(method, -32000, "No style sheet with given id found")
        if method in READS_RESOURCE and params.get("url") not in channel.facts.frames.values():
            hint = "Network.getResponseBody reads the answers to requests inside `origins`."
            return error("BROWSER_POLICY_DENIED", f"{method} reads only documents of the tab's frames", hint=hint)
        return None


CONCERNS = frozenset(("Fetch.requestPaused",))
CONCERNS_INSIDE = frozenset((*CONCERNS, HEAP_CHUNK, *COOKIE_EVENTS, *NAMES_SOURCE, *REQUEST_EVENTS))


def is_document(event: Mapping[str, Any]) -> bool:
    """Does a paused request ask for what a page or a frame will show?"""
    headers = event["request"].get("headers", {})
    destination = next((value for name, value in headers.items() if name.lower() == "sec-fetch-dest"), "")
    return event.get("resourceType") == "Document" or str(destination).lower() in DOCUMENT_DESTINATIONS


def outside(decision: UrlDecision) -> CapError:
    """What is not the app's: the error names the origin to add, or why the address is refused to all."""
    return error(decision.code, decision.reason, origin=decision.origin)
