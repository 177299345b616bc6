"""The out-of-process frames of a session: attached while they are paused, lent under handles, taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from capsdk.errors import OwnershipError, UnavailableError
from host.browser.channel import Channel
from host.browser.command import frame_gone
from host.browser.enables import APART_ENABLES, APP_ENABLES, FRAME_ENABLES, LENT_AGAIN
from host.cdp.connection import CdpFailure, ConnectionGone, EventSink
from host.cdp.envelope import loads
from host.core.wire import dumps

if TYPE_CHECKING:
    from host.browser.session import Session


def is_site(url: str) -> bool:
    """Does a frame show a site's document, and not one of its creator's?"""
    return url.startswith(("http://", "https://"))


class Guarded(NamedTuple):
    """An out-of-process frame, lent or not: Chromium's ids of its guard, of the frame, and of the guard around it."""

    guard: str
    frame_id: str
    parent: str


class Frames:
    """`new_handle()` makes the random handles that the caller sees; one that is gone is remembered as such."""

    def __init__(self, session: Session, new_handle: Callable[[], str]) -> None:
        self._session = session
        self._new_handle = new_handle
        self._lent: dict[str, Channel] = {}
        self._gone: set[str] = set()
        self._attaching: dict[str, Guarded] = {}  # by guard, frames that are not lent, yet or at all
        self._outsiders: set[str] = set()  # frames that have shown, or were about to show, what is not the app's

    def __iter__(self) -> Iterator[Channel]:
        return iter(list(self._lent.values()))

    def guards(self) -> list[Guarded]:
        """All frames with a guard, those that are not lent, too: the host's own reading sees what a person sees."""
        lent = [
            Guarded(child.guard, child.target_id, (child.parent or self._session.page).guard)
            for child in self._lent.values()
        ]
        return lent + list(self._attaching.values())

    def by_handle(self, handle: str) -> Channel:
        """The frame with this handle.

        Raises UnavailableError TARGET_GONE for a frame that is gone, OwnershipError SESSION_NOT_OWNED for a handle that
        was never this session's, whoever's it is.
        """
        child = self._lent.get(handle)
        if child is not None:
            return child
        if handle in self._gone:
            raise UnavailableError(
                "TARGET_GONE", "the frame is gone; take the handle of a newer Target.attachedToTarget"
            )
        raise OwnershipError(
            "SESSION_NOT_OWNED", "this session has no frame with that handle; leave targetSessionId out"
        )

    def attached(self, parent: Channel, params: dict[str, Any]) -> None:
        """The guard was given a paused out-of-process frame of `parent`."""
        guard, info = params["sessionId"], params["targetInfo"]
        if info["type"] != "iframe":
            self._let_run(guard)
            return
        fence, target_id = self._session.fence, info["targetId"]
        info = {**info, "url": fence.expected(target_id, info.get("url", ""))}
        # What comes blank where a foreign page was may still be in that page's process.
        lent = is_site(info["url"]) or target_id not in self._outsiders
        if not (fence.inside(info["url"]) and lent):
            self._keep_apart(parent, guard, info)
            return
        self._attaching[guard] = Guarded(guard, target_id, parent.guard)
        self._session.spawn(self._lend_child(parent, guard, info, runs=not params.get("waitingForDebugger", True)))

    def _keep_apart(self, parent: Channel, guard: str, info: dict[str, Any]) -> None:
        """A frame of an origin outside: it runs, and nobody is told of it; it is lent once it has come inside."""
        fence, frame_id = self._session.fence, info["targetId"]

        def hear(method: str, params: msgspec.Raw) -> None:
            self._hear_inner(guard, method, params)
            if method == "Page.frameNavigated":
                frame = loads(bytes(params))["frame"]
                if frame["id"] == frame_id:
                    waits, info["url"] = is_site(info["url"]) and fence.inside(info["url"]), frame["url"]
                    came = is_site(frame["url"]) and fence.inside(frame["url"])
                    if came and not waits and self._session.closed is None:
                        self._session.spawn(self._lend_child(parent, guard, info, runs=True))

        self._outsiders.add(frame_id)
        self._hear_apart(Guarded(guard, frame_id, parent.guard), hear)

    def _hear_inner(self, guard: str, method: str, params: msgspec.Raw) -> None:
        """What the guard of a frame that is not lent tells of frames inside it."""
        if method == "Target.attachedToTarget":
            self._shut_in(guard, loads(bytes(params)))
        elif method == "Target.detachedFromTarget":
            self._attaching.pop(loads(bytes(params))["sessionId"], None)

    def _shut_in(self, around: str, params: dict[str, Any]) -> None:
        """A frame inside one that is not lent is never lent."""
        guard, info = params["sessionId"], params["targetInfo"]
        if info["type"] == "iframe":
            self._hear_apart(
                Guarded(guard, info["targetId"], around), lambda method, raw: self._hear_inner(guard, method, raw)
            )
        else:
            self._let_run(guard)

    def _hear_apart(self, guarded: Guarded, hear: EventSink) -> None:
        guard = guarded.guard
        self._attaching[guard] = guarded
        self._session.connection.sinks[guard] = hear
        for method, arguments in APART_ENABLES:
            self._session.connection.start(method, arguments, guard)

    def _let_run(self, guard: str) -> None:
        """A worker: not lent; see FRAME_ENABLES."""
        self._session.connection.start("Runtime.runIfWaitingForDebugger", {}, guard)
        self._session.connection.start("Target.detachFromTarget", {"sessionId": guard})

    async def _lend_child(self, parent: Channel, guard: str, info: dict[str, Any], *, runs: bool) -> None:
        """Attach the app's CDP session, announce the frame, enable, and let it run: in this order nothing is lost."""
        connection, target_id = self._session.connection, info["targetId"]
        try:
            attached = await connection.start("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        except (CdpFailure, ConnectionGone):
            connection.start("Runtime.runIfWaitingForDebugger", {}, guard)
            return
        if guard not in self._attaching or self._session.closed is not None:
            return  # it is gone already
        if not self._session.fence.inside(info["url"]):  # it went outside meanwhile
            connection.start("Target.detachFromTarget", {"sessionId": attached["sessionId"]})
            return
        for method, arguments in LENT_AGAIN if target_id in self._outsiders else ():
            connection.start(method, arguments, guard)
        del self._attaching[guard]
        handle = self._new_handle()
        child = Channel(
            self._session, guard=guard, app=attached["sessionId"], target_id=target_id, handle=handle, parent=parent
        )
        child.facts.url = child.facts.committed_url = info.get("url", "")
        self._lent[handle] = child
        self._session.frames_changed()
        child.listen()
        public: dict[str, Any] = {key: info[key] for key in ("targetId", "type", "title", "url") if key in info}
        told = {"sessionId": handle, "targetInfo": {**public, "attached": True}, "waitingForDebugger": False}
        self._session.add_event("Target.attachedToTarget", dumps(told), parent.handle)
        for method, arguments in (*FRAME_ENABLES, *self._session.fence.enables):
            connection.start(method, arguments, guard)
        for method, arguments in APP_ENABLES:
            connection.start(method, arguments, child.app)
        connection.start("Runtime.runIfWaitingForDebugger", {}, guard)
        if runs:
            child.learn_frames()  # it came back from the cache with its page

    def detached(self, cdp_session: str) -> None:
        """Chromium dropped a frame's CDP session: its handle, and those of frames inside it, are gone."""
        self._attaching.pop(cdp_session, None)
        child = self._session.by_cdp.get(cdp_session)
        if child is not None and child.handle is not None:
            self._drop_child(child)

    def leaves(self, frame_id: str, url: str) -> None:
        """A frame is on its way outside: if it is lent, it is no more."""
        for child in self:
            if child.target_id == frame_id:
                self.cut_off(child, url)

    def cut_off(self, child: Channel, url: str) -> None:
        """A frame shows, or will show, what is not lent: its handle goes, at once."""
        self._session.connection.start("Target.detachFromTarget", {"sessionId": child.app})
        self._drop_child(child)
        if child.parent is not None and self._session.closed is None:
            info = {"targetId": child.target_id, "type": "iframe", "title": "", "url": url}
            self._keep_apart(child.parent, child.guard, info)

    def _drop_child(self, child: Channel) -> None:
        for inner in [one for one in self._lent.values() if one.parent is child]:
            self._drop_child(inner)
        handle = child.handle or ""
        if self._lent.pop(handle, None) is None:
            return
        self._gone.add(handle)
        self._session.frames_changed()
        child.unlisten()
        self._session.fail_commands(
            frame_gone(), self._session.commands_where(lambda command: command.channel is child)
        )
        told = dumps({"sessionId": handle, "targetId": child.target_id})
        self._session.add_event("Target.detachedFromTarget", told, child.parent.handle if child.parent else None)

    def forget(self, frame_id: str) -> None:
        """The frame is gone for good."""
        self._outsiders.discard(frame_id)

    def end(self) -> None:
        """Drop every handle; what still comes is nobody's."""
        for child in self._lent.values():
            child.unlisten()
        for guard in self._attaching:
            self._session.connection.sinks.pop(guard, None)
