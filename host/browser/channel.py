"""One target of a session as its caller reaches it: the page, or an out-of-process frame under a handle of ours."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from capsdk.errors import CapError, PolicyError
from host.browser.command import cdp_error
from host.browser.fence import outside
from host.browser.pace import Flood
from host.browser.worlds import HIDING
from host.cdp.connection import ConnectionGone
from host.cdp.envelope import loads
from host.core.conditions import Surroundings
from host.core.limits import MIB
from host.core.scope import Paused
from host.core.urls import origin_of

if TYPE_CHECKING:
    from host.browser.session import Session

# A frame that shows anything else, such as an extension's page, is not the site's any more.
FRAME_SCHEMES = frozenset(("", "about", "blob", "data", "http", "https"))

FAILED_KEPT = 1000  # failed requests remembered for one target


@dataclass(slots=True)
class Facts:
    """What is known of a target from the guard's events.

    `url` is where it was sent, `committed_url` what it shows: after a failed load that is Chromium's error page.
    In its first navigation `first_url` is what the page asked for, `requested_url` the same with redirects followed.
    `frames` are the URLs that its frames show, `parents` their parents, by frame id.
    """

    url: str = "about:blank"
    committed_url: str = "about:blank"
    first_url: str = ""
    requested_url: str = ""
    title: str = ""
    origin: str = "null"
    committed_loader: str = ""
    status: int | None = None
    frames: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    commit: asyncio.Event = field(default_factory=asyncio.Event)

    def forget_frames(self, inside: str) -> None:
        """The frames below this one are gone. Chromium does not tell that of frames which go with their document."""
        for child in [child for child, parent in self.parents.items() if parent == inside]:
            self.forget_frame(child)

    def forget_frame(self, frame_id: str) -> None:
        """This frame is gone, with those below it."""
        self.frames.pop(frame_id, None)
        self.parents.pop(frame_id, None)
        self.forget_frames(frame_id)


class Channel:
    """`guard` and `app` are Chromium's ids of its two CDP sessions; neither is ever shown, `handle` is.

    The page's own channel has no handle and no parent.
    """

    def __init__(
        self,
        session: Session,
        *,
        guard: str,
        app: str,
        target_id: str,
        handle: str | None = None,
        parent: Channel | None = None,
    ) -> None:
        self.session = session
        self.guard = guard
        self.app = app
        self.target_id = target_id
        self.handle = handle
        self.parent = parent
        self.facts = Facts()
        self.crashed = False
        self.app_watches = False  # the app's CDP session tells the guard, too: see Popups.adopt
        self.paused: dict[str, Paused] = {}  # the requests that the caller holds with Fetch, oldest first
        self.around: Surroundings | None = None
        self._failed: dict[str, str] = {}
        self.flood = Flood(self)

    def listen(self) -> None:
        """Take the events of both CDP sessions."""
        sinks, by_cdp = self.session.connection.sinks, self.session.by_cdp
        sinks[self.app], sinks[self.guard] = self._app_event, self._guard_event
        by_cdp[self.app] = by_cdp[self.guard] = self

    def unlisten(self) -> None:
        """Drop both; what still comes is nobody's. Twice is fine."""
        self.flood.end()
        for cdp in (self.app, self.guard):
            self.session.connection.sinks.pop(cdp, None)
            self.session.by_cdp.pop(cdp, None)

    def refusal(self) -> CapError | None:
        """Why the caller may not reach this target right now: judged by the URL it shows, at every command."""
        fence = self.session.fence
        if fence.active and not fence.inside(self.facts.committed_url):
            return outside(fence.judge(self.facts.committed_url))
        scheme = self.facts.url.partition(":")[0].lower() if self.facts.url else ""
        if self.handle is None or scheme in FRAME_SCHEMES:
            return None
        return PolicyError(
            "BROWSER_POLICY_DENIED", f"the frame shows a {scheme[:40]}: page, which is not lent; use the page itself"
        )

    # --- events

    def _app_event(self, method: str, params: msgspec.Raw) -> None:
        session = self.session
        if not session.capturing:
            return
        self.flood.event(len(params))
        if self.app_watches and method != "Fetch.requestPaused":
            self._guard_event(method, params)
        raw = bytes(params)
        if method in HIDING and session.worlds.hides(self.guard, method, raw):
            return
        told = session.fence.passes(self, method, raw) if method in session.fence.concerns else raw
        if method == "Network.requestWillBeSent":
            session.fence.note_request(raw)
            if self.facts.status is None and self.handle is None:
                self._note_requested(raw)
        elif method == "Network.responseReceived":
            if self.facts.status is None and self.handle is None:
                self._note_status(raw)
        elif method == "Network.loadingFailed":
            self._note_failed(raw)
        elif method == "Inspector.targetCrashed":
            self._note_crash({})
        if told is not None:
            session.add_event(method, told, self.handle)

    def _guard_event(self, method: str, params: msgspec.Raw) -> None:
        handler = _HANDLERS.get(method)
        if handler is not None:
            handler(self, loads(bytes(params)))
            self.session.frames_changed()

    def _note_requested(self, params: bytes) -> None:
        request = _read(params, _RequestWillBeSent)
        if request.type == "Document" and request.frameId == self.target_id:
            self.facts.requested_url = request.request.url
            if not self.facts.begun.is_set():
                self.facts.first_url = request.request.url
                self.facts.begun.set()

    def _note_status(self, params: bytes) -> None:
        response = _read(params, _ResponseReceived)
        # Chromium names a page's target after its main frame.
        if response.type == "Document" and response.frameId == self.target_id:
            self.facts.status = response.response.status

    def _note_failed(self, params: bytes) -> None:
        failed = _read(params, _LoadingFailed)
        self._failed[failed.requestId] = failed.errorText
        if len(self._failed) > FAILED_KEPT:
            del self._failed[next(iter(self._failed))]

    def request_refusal(self, method: str, params: Mapping[str, Any]) -> CapError | None:
        """Why a command may not have the request that it names."""
        problem = self.session.worlds.refusal(self.guard, params) or self.session.fence.refusal(self, method, params)
        if problem is None and method == "Network.getResponseBody":
            problem = self._body_refusal(params.get("requestId"))
        return problem

    def _body_refusal(self, request_id: object) -> CapError | None:
        """Why a body cannot be had whole: Chromium hands out what it kept of a failed response as if it were all."""
        why = self._failed.get(request_id) if isinstance(request_id, str) else None
        if why is None:
            return None
        return cdp_error(
            "Network.getResponseBody", -32000, f"No data found for resource with given identifier: it failed ({why})"
        )

    def _note_crash(self, params: dict[str, Any]) -> None:
        self.crashed = True
        self.session.target_crashed(self)

    def _note_revival(self, params: dict[str, Any]) -> None:
        self.crashed = False  # its parent gave a crashed frame a new page: the handle is good again

    def _frame_navigated(self, params: dict[str, Any]) -> None:
        frame = params["frame"]
        facts = self.facts
        committed_url = frame["url"] + frame.get("urlFragment", "")
        if self._is_outside(frame):
            return
        if frame["id"] != self.target_id and (self.handle is not None or frame.get("parentId")):
            facts.forget_frames(frame["id"])
            facts.frames[frame["id"]] = committed_url
            facts.parents[frame["id"]] = frame.get("parentId", "")
            return
        facts.frames, facts.parents = {frame["id"]: committed_url}, {}
        facts.committed_url = committed_url
        facts.url = frame.get("unreachableUrl") or committed_url
        facts.origin = origin_of(facts.url)
        facts.committed_loader = frame.get("loaderId", "")
        facts.commit.set()
        facts.begun.set()
        if params.get("type") == "BackForwardCacheRestore":
            self.learn_frames()
        if self.refusal() is not None:
            self.session.frames.cut_off(self, committed_url)

    def _is_outside(self, frame: dict[str, Any]) -> bool:
        """Has something come that the app may not have? It ends the session, save for a frame in its own process.

        Chromium keeps every origin in its own process; should a foreign frame ever share one with the page, nothing
        else would keep them apart.
        """
        fence = self.session.fence
        if not fence.active or (self.handle is not None and frame["id"] == self.target_id):
            return False
        decision = fence.judge(frame["url"], frame.get("securityOrigin", ""))
        if not decision.allowed:
            self.session.went_outside(decision)
        return not decision.allowed

    def learn_frames(self) -> None:
        """Ask which frames there are: of a page that comes back from the cache Chromium tells its root alone."""
        with contextlib.suppress(ConnectionGone):
            self.session.connection.post("Page.getFrameTree", b"{}", self.guard, _FrameTree(self))

    def add_frames(self, tree: dict[str, Any]) -> None:
        """The frames of a Page.FrameTree, each before those inside it."""
        frame = tree["frame"]
        self.facts.frames[frame["id"]] = frame["url"] + frame.get("urlFragment", "")
        for inner in tree.get("childFrames", ()):
            self.facts.parents[inner["frame"]["id"]] = frame["id"]
            self.add_frames(inner)

    def _same_document(self, params: dict[str, Any]) -> None:
        self.facts.frames[params["frameId"]] = params["url"]
        if params["frameId"] == self.target_id:
            self.facts.url = self.facts.committed_url = params["url"]

    def _frame_attached(self, params: dict[str, Any]) -> None:
        self.facts.parents[params["frameId"]] = params["parentFrameId"]

    def _frame_detached(self, params: dict[str, Any]) -> None:
        self.facts.forget_frame(params.get("frameId", ""))
        if params.get("reason") != "swap":  # else it goes on in another process
            self.session.fence.forget(params.get("frameId", ""))
            self.session.frames.forget(params.get("frameId", ""))

    def _window_opened(self, params: dict[str, Any]) -> None:
        self.session.window_url = str(params.get("url", ""))

    def _context_made(self, params: dict[str, Any]) -> None:
        self.session.fence.context_made(self, params["context"])

    def _document_asked(self, params: dict[str, Any]) -> None:
        self.session.fence.asked(self, params)

    def _child_attached(self, params: dict[str, Any]) -> None:
        self.session.frames.attached(self, params)

    def _child_detached(self, params: dict[str, Any]) -> None:
        self.session.frames.detached(params["sessionId"])

    def _dialog_opening(self, params: dict[str, Any]) -> None:
        if self.handle is None:  # the page's guard is told of dialogs of all its frames
            self.session.dialogs.opening(params)

    def _dialog_closed(self, params: dict[str, Any]) -> None:
        if self.handle is None:
            self.session.dialogs.closed()


class _FrameTree:
    """Takes the answer to Page.getFrameTree in the order in which it came: later events have the last word."""

    max_bytes = MIB

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def answered(self, result: bytes) -> None:
        self._channel.add_frames(loads(result)["frameTree"])
        self._channel.session.frames_changed()

    def refused(self, error: bytes) -> None:
        """The target is gone, and with it its frames."""

    def too_large(self, size_bytes: int) -> None:
        """No page has so many frames; what is not known is refused."""

    def gone(self) -> None:
        """So is everything."""


T = TypeVar("T", bound=msgspec.Struct)


def _read(params: bytes, kind: type[T]) -> T:
    """The few fields of an event that are needed; those of a page's half surrogates, which msgspec refuses, too."""
    try:
        return msgspec.json.decode(params, type=kind)
    except msgspec.DecodeError:
        return msgspec.convert(loads(params), kind)


class _LoadingFailed(msgspec.Struct):
    requestId: str = ""
    errorText: str = ""


class _Status(msgspec.Struct):
    status: int = 0


class _Request(msgspec.Struct):
    url: str = ""


class _RequestWillBeSent(msgspec.Struct):
    request: _Request
    type: str = ""
    frameId: str = ""


class _ResponseReceived(msgspec.Struct):
    response: _Status
    type: str = ""
    frameId: str = ""


_HANDLERS: dict[str, Callable[[Channel, dict[str, Any]], None]] = {
    "Fetch.requestPaused": Channel._document_asked,
    "Inspector.targetCrashed": Channel._note_crash,
    "Inspector.targetReloadedAfterCrash": Channel._note_revival,
    "Page.frameAttached": Channel._frame_attached,
    "Page.frameDetached": Channel._frame_detached,
    "Page.frameNavigated": Channel._frame_navigated,
    "Page.javascriptDialogClosed": Channel._dialog_closed,
    "Page.javascriptDialogOpening": Channel._dialog_opening,
    "Page.navigatedWithinDocument": Channel._same_document,
    "Page.windowOpen": Channel._window_opened,
    "Runtime.executionContextCreated": Channel._context_made,
    "Target.attachedToTarget": Channel._child_attached,
    "Target.detachedFromTarget": Channel._child_detached,
}
