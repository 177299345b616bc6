"""One target of a session as its caller reaches it: the page, or an out-of-process frame under a handle of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from capsdk.errors import CapError, PolicyError
from host.cdp.envelope import loads
from host.core.urls import origin_of

if TYPE_CHECKING:
    from host.browser.session import Session

# A frame that shows anything else, such as an extension's page, is not the site's any more.
FRAME_SCHEMES = frozenset(("", "about", "blob", "data", "http", "https"))


@dataclass(slots=True)
class Facts:
    """What is known of a target from the guard's events; `frames` are the URLs of all its frames, by frame id."""

    url: str = "about:blank"
    title: str = ""
    origin: str = "null"
    committed_loader: str = ""
    status: int | None = None
    frames: dict[str, str] = field(default_factory=dict)
    commit: asyncio.Event = field(default_factory=asyncio.Event)


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

    def listen(self) -> None:
        """Take the events of both CDP sessions."""
        sinks, by_cdp = self.session.connection.sinks, self.session.by_cdp
        sinks[self.app], sinks[self.guard] = self._app_event, self._guard_event
        by_cdp[self.app] = by_cdp[self.guard] = self

    def unlisten(self) -> None:
        """Drop both; what still comes is nobody's. Twice is fine."""
        for cdp in (self.app, self.guard):
            self.session.connection.sinks.pop(cdp, None)
            self.session.by_cdp.pop(cdp, None)

    def refusal(self) -> CapError | None:
        """Why the caller may not reach this target right now: judged by the URL it shows, at every command."""
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
        if method == "Network.responseReceived" and self.facts.status is None and self.handle is None:
            self._note_status(bytes(params))
        elif method == "Inspector.targetCrashed":
            self._note_crash({})
        session.add_event(method, bytes(params), self.handle)

    def _guard_event(self, method: str, params: msgspec.Raw) -> None:
        handler = _HANDLERS.get(method)
        if handler is not None:
            handler(self, loads(bytes(params)))

    def _note_status(self, params: bytes) -> None:
        response = msgspec.json.decode(params, type=_ResponseReceived)
        # Chromium names a page's target after its main frame.
        if response.type == "Document" and response.frameId == self.target_id:
            self.facts.status = response.response.status

    def _note_crash(self, params: dict[str, Any]) -> None:
        self.crashed = True
        self.session.target_crashed(self)

    def _frame_navigated(self, params: dict[str, Any]) -> None:
        frame = params["frame"]
        url = frame.get("unreachableUrl") or frame["url"] + frame.get("urlFragment", "")
        self.facts.frames[frame["id"]] = url
        if frame["id"] != self.target_id and (self.handle is not None or frame.get("parentId")):
            return
        self.facts.url, self.facts.origin = url, origin_of(url)
        self.facts.committed_loader = frame.get("loaderId", "")
        self.facts.commit.set()
        if self.refusal() is not None:
            self.session.cut_off(self)

    def _same_document(self, params: dict[str, Any]) -> None:
        self.facts.frames[params["frameId"]] = params["url"]
        if params["frameId"] == self.target_id:
            self.facts.url = params["url"]

    def _frame_detached(self, params: dict[str, Any]) -> None:
        self.facts.frames.pop(params.get("frameId", ""), None)

    def _child_attached(self, params: dict[str, Any]) -> None:
        self.session.child_attached(self, params)

    def _child_detached(self, params: dict[str, Any]) -> None:
        self.session.child_detached(params["sessionId"])

    def _dialog_opening(self, params: dict[str, Any]) -> None:
        if self.handle is None:  # the page's guard is told of dialogs of all its frames
            self.session.dialog_opening(params)

    def _dialog_closed(self, params: dict[str, Any]) -> None:
        if self.handle is None:
            self.session.dialog_closed()


class _Status(msgspec.Struct):
    status: int = 0


class _ResponseReceived(msgspec.Struct):
    response: _Status
    type: str = ""
    frameId: str = ""


_HANDLERS: dict[str, Callable[[Channel, dict[str, Any]], None]] = {
    "Inspector.targetCrashed": Channel._note_crash,
    "Page.frameDetached": Channel._frame_detached,
    "Page.frameNavigated": Channel._frame_navigated,
    "Page.javascriptDialogClosed": Channel._dialog_closed,
    "Page.javascriptDialogOpening": Channel._dialog_opening,
    "Page.navigatedWithinDocument": Channel._same_document,
    "Target.attachedToTarget": Channel._child_attached,
    "Target.detachedFromTarget": Channel._child_detached,
}
