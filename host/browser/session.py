"""One lent tab: its commands, its events, its dialogs, and the truth about its state."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from capsdk.errors import CapError, OwnershipError, PreconditionError, TimeoutError, UnavailableError
from host.browser.channel import Channel
from host.browser.command import Command, Done
from host.browser.deadlines import Deadlines
from host.browser.enables import APP_ENABLES, FRAME_ENABLES
from host.browser.tab import Tab
from host.cdp.connection import CdpFailure, ConnectionGone
from host.core.capture import Capture
from host.core.conditions import Surroundings
from host.core.grants import Caller, Kind
from host.core.limits import Limits
from host.core.ring import Ring
from host.core.urls import UrlRules
from host.core.wire import dumps

DIALOG_GRACE_S = 0.25  # commands that a dialog does not block answer within it


@dataclass(slots=True)
class Dialog:
    """A dialog of the page that waits for an answer."""

    type: str
    message: str
    answer_timer: asyncio.TimerHandle | None = None

    def lets_pass(self, method: str) -> bool:
        """Is this command not stopped by the dialog? A navigation ends all but the question whether to leave."""
        return method == "Page.handleJavaScriptDialog" or (method == "Page.navigate" and self.type != "beforeunload")

    def facts(self) -> dict[str, Any]:
        """What the caller is told: `message` is page text, bounded."""
        return {"type": self.type, "message": self.message[:1000]}


@dataclass(slots=True)
class Waiter:
    """A long poll: called once, when news for it came or the session ended."""

    methods: frozenset[str] | None
    wake: Callable[[], None]


class Session:
    """A tab lent to one caller.

    `page` is the channel to the page itself, `children` are those to its out-of-process frames, by handle. `closed`
    holds the reason once the session is over. Public methods are called on the loop thread.
    """

    def __init__(
        self,
        session_id: str,
        owner: Caller,
        *,
        tab: Tab,
        limits: Limits,
        capture: Capture,
        by_cdp: dict[str, Channel],
        new_handle: Callable[[], str],
    ) -> None:
        self.id = session_id
        self.owner = owner
        self.connection = tab.connection
        self.target_id = tab.target_id
        self.by_cdp = by_cdp
        self.limits = limits
        self.capture = capture
        self.ring = Ring(
            max_events=limits.events_kept, max_bytes=limits.events_bytes, max_event_bytes=limits.event_bytes
        )
        self.closed: CapError | None = None
        self.children: dict[str, Channel] = {}
        self.capturing = False
        self.raw_touched = False  # a raw command went into it: later gates read that
        self.opener_id: str | None = None  # the session whose page opened this one
        self.last_used = time.monotonic()
        self.on_hopeless: Callable[[Session, str], None] = lambda session, why: None
        self._new_handle = new_handle
        self._gone_handles: set[str] = set()
        self._attaching: set[str] = set()
        self._surroundings: Surroundings | None = None
        self._deadlines = Deadlines(limits.command_timeout_s)
        self._commands: dict[int, Command] = {}
        self._waiters: list[Waiter] = []
        self._dialog: Dialog | None = None
        self._held: deque[tuple[float, float]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self.page = Channel(self, guard=tab.guard, app=tab.app, target_id=tab.target_id)
        self.page.listen()

    @property
    def origin(self) -> str:
        """The origin of the page it shows, "null" for a blank one."""
        return self.page.facts.origin

    @property
    def commands_in_flight(self) -> int:
        """How many commands wait for Chromium's answer."""
        return len(self._commands)

    def surroundings(self, urls: UrlRules) -> Surroundings:
        """What the method policy may look at for a caller with these `urls`; made anew only when one of it changed.

        Two connections of one caller may have been given different places: each is judged by its own.
        """
        known = self._surroundings
        if known is None or known.urls is not urls:
            channels = (self.page, *self.children.values())
            frames = tuple(url for channel in channels for url in channel.facts.frames.values())
            known = self._surroundings = Surroundings(urls, self.page.facts.committed_url, frames)
        return known

    def frames_changed(self) -> None:
        """A frame navigated, came or went."""
        self._surroundings = None

    def channel(self, handle: str | None) -> Channel:
        """The page, or the frame with this handle.

        Raises UnavailableError TARGET_GONE for a frame that is gone, OwnershipError SESSION_NOT_OWNED for a handle that
        was never this session's, whoever's it is.
        """
        if handle is None:
            return self.page
        child = self.children.get(handle)
        if child is not None:
            return child
        if handle in self._gone_handles:
            raise UnavailableError(
                "TARGET_GONE", "the frame is gone; take the handle of a newer Target.attachedToTarget"
            )
        raise OwnershipError(
            "SESSION_NOT_OWNED", "this session has no frame with that handle; leave targetSessionId out"
        )

    # --- commands

    def send(self, channel: Channel, method: str, params: bytes, done: Done, *, timeout_s: float) -> Command | None:
        """Forward one judged command; `done(result, error)` is called exactly once, from a callback."""
        refusal = self.closed or self._standing(channel, method)
        if refusal is not None:
            done(None, refusal)
            return None
        command = Command(self, channel, method, done, timeout_s=timeout_s, max_bytes=self.limits.result_bytes)
        try:
            command.number = self.connection.post(method, params, channel.app, command)
        except ConnectionGone:
            command.gone()
            return None
        self._commands[command.number] = command
        self._start_clock(command)
        if channel.crashed and method == "Page.navigate":
            channel.crashed = False
        return command

    def _start_clock(self, command: Command) -> None:
        """Almost every command has the same deadline, and those share one timer."""
        if command.timeout_s == self._deadlines.timeout_s:
            self._deadlines.add(command)
            command.stop_clock = self._deadlines.remove
        else:
            timer = asyncio.get_running_loop().call_later(command.timeout_s, command.expire)
            command.stop_clock = lambda _: timer.cancel()

    def command_ended(self, command: Command) -> None:
        """A command has its end: its late answer is nobody's."""
        if self._commands.pop(command.number, None) is not None:
            self.connection.forget(command.number)

    def command_expired(self, command: Command) -> None:
        """The deadline passed: end the script in the page, then see whether the tab still hears."""
        self.connection.forget(command.number)
        if self.closed is not None:
            command.fail(self.closed)
            return
        self.spawn(self._end_script(command))

    async def _end_script(self, command: Command) -> None:
        # A deaf frame is not a deaf tab: it has a process of its own, and the page can take it away.
        deaf = await self.deaf(command.channel) and command.channel is self.page
        if not command.ended:
            command.fail(command_timeout(command, deaf=deaf))
        if deaf:
            self.on_hopeless(self, "deaf")

    async def deaf(self, channel: Channel) -> bool:
        """Does the target's process not answer any more, even after its script was ended? Takes at most 2.5 s."""
        if self._dialog is not None:
            return False  # it waits for an answer, and gets the default one
        probe = self.connection.start("Runtime.getIsolateId", session=channel.guard)
        done, _ = await asyncio.wait((probe,), timeout=0.25)
        if done:
            return isinstance(probe.exception(), ConnectionGone)
        self.connection.start("Runtime.terminateExecution", session=channel.guard)
        done, _ = await asyncio.wait((probe,), timeout=self.limits.deaf_after_s)
        return not done

    def fail_commands(self, problem: CapError, among: list[Command] | None = None) -> None:
        """End every command under way (or those of `among` that still are) with this error."""
        for command in list(self._commands.values()) if among is None else among:
            if not command.ended:
                command.fail(problem)

    # --- events

    def add_event(self, method: str, params: bytes, handle: str | None = None) -> None:
        """Put one event of the page, or of the frame `handle`, into the ring if `capture` keeps it; wake who waits."""
        if not self.capture.keeps(method):
            return
        self.ring.append(method, params, at_ms=time.time_ns() // 1_000_000, target=handle)
        if self._waiters:
            self._wake(method)

    def lose_event(self, method: str, size_bytes: int) -> None:
        """An event too large to be read in."""
        if self.capturing and self.capture.keeps(method):
            self.ring.lose(method, size_bytes)
            self._wake(method)

    def wait(self, waiter: Waiter) -> None:
        """Have `waiter.wake` called when an event for it comes, or the session ends."""
        self._waiters.append(waiter)

    def stop_waiting(self, waiter: Waiter) -> None:
        """Forget a waiter; an unknown one is fine."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def _wake(self, method: str | None) -> None:
        for waiter in list(self._waiters):
            if method is None or waiter.methods is None or method in waiter.methods:
                self.stop_waiting(waiter)
                waiter.wake()

    # --- frames

    def child_attached(self, parent: Channel, params: dict[str, Any]) -> None:
        """The guard was given a paused out-of-process frame of `parent`."""
        guard, info = params["sessionId"], params["targetInfo"]
        self._attaching.add(guard)
        self.spawn(self._lend_child(parent, guard, info, runs=not params.get("waitingForDebugger", True)))

    async def _lend_child(self, parent: Channel, guard: str, info: dict[str, Any], *, runs: bool) -> None:
        """Attach the app's CDP session, announce the frame, enable, and let it run: in this order nothing is lost."""
        connection, target_id = self.connection, info["targetId"]
        try:
            attached = await connection.start("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        except (CdpFailure, ConnectionGone):
            connection.start("Runtime.runIfWaitingForDebugger", {}, guard)
            return
        if guard not in self._attaching or self.closed is not None:
            return  # it is gone already
        self._attaching.discard(guard)
        handle = self._new_handle()
        child = Channel(self, guard=guard, app=attached["sessionId"], target_id=target_id, handle=handle, parent=parent)
        child.facts.url = child.facts.committed_url = info.get("url", "")
        self.children[handle] = child
        self.frames_changed()
        child.listen()
        public: dict[str, Any] = {key: info[key] for key in ("targetId", "type", "title", "url") if key in info}
        told = {"sessionId": handle, "targetInfo": {**public, "attached": True}, "waitingForDebugger": False}
        self.add_event("Target.attachedToTarget", dumps(told), parent.handle)
        for method, arguments in FRAME_ENABLES:
            connection.start(method, arguments, guard)
        for method, arguments in APP_ENABLES:
            connection.start(method, arguments, child.app)
        connection.start("Runtime.runIfWaitingForDebugger", {}, guard)
        if runs:
            child.learn_frames()  # it came back from the cache with its page

    def child_detached(self, cdp_session: str) -> None:
        """Chromium dropped a frame's CDP session: its handle, and those of frames inside it, are gone."""
        self._attaching.discard(cdp_session)
        child = self.by_cdp.get(cdp_session)
        if child is not None and child.handle is not None:
            self._drop_child(child)

    def cut_off(self, child: Channel) -> None:
        """A frame shows what is not lent: its handle goes, at once."""
        self.connection.start("Target.detachFromTarget", {"sessionId": child.app})
        self._drop_child(child)

    def _drop_child(self, child: Channel) -> None:
        for inner in [one for one in self.children.values() if one.parent is child]:
            self._drop_child(inner)
        handle = child.handle or ""
        if self.children.pop(handle, None) is None:
            return
        self._gone_handles.add(handle)
        self.frames_changed()
        child.unlisten()
        self.fail_commands(frame_gone(), [c for c in self._commands.values() if c.channel is child])
        told = dumps({"sessionId": handle, "targetId": child.target_id})
        self.add_event("Target.detachedFromTarget", told, child.parent.handle if child.parent else None)

    def target_crashed(self, channel: Channel) -> None:
        """A target's process is gone: its commands end now, and it says so until it is navigated."""
        self.fail_commands(crashed_error(), [c for c in self._commands.values() if c.channel is channel])

    # --- dialogs

    def _standing(self, channel: Channel, method: str) -> CapError | None:
        """What stands in the way of a command before it is sent."""
        dialog = self._dialog
        if dialog is not None and not dialog.lets_pass(method):
            return dialog_error(dialog, opened=False)
        if channel.crashed and method != "Page.navigate":
            return crashed_error()
        return channel.refusal()

    def dialog_opening(self, params: dict[str, Any]) -> None:
        """The page shows a dialog: calls that it blocks end soon, and nobody's answer means no (*stay*)."""
        dialog = Dialog(str(params.get("type", "")), str(params.get("message", "")))
        self._dialog = dialog
        limits = self.limits
        patience_s = limits.dialog_answer_chat_s if self.owner.kind is Kind.CHAT else limits.dialog_answer_s
        loop = asyncio.get_running_loop()
        dialog.answer_timer = loop.call_later(patience_s, self._dismiss)
        under_way = [c for c in self._commands.values() if not dialog.lets_pass(c.method)]
        loop.call_later(DIALOG_GRACE_S, self._dialog_stands, dialog, under_way)

    def _dialog_stands(self, dialog: Dialog, under_way: list[Command]) -> None:
        if self._dialog is dialog:  # else it was answered meanwhile, and so are they
            self.fail_commands(dialog_error(dialog, opened=True), under_way)

    def _dismiss(self) -> None:
        """Nobody answered: cancel, or stay on the page."""
        self.connection.start("Page.handleJavaScriptDialog", {"accept": False}, self.page.guard)

    def dialog_closed(self) -> None:
        """The dialog was answered, by whomever."""
        if self._dialog is not None and self._dialog.answer_timer is not None:
            self._dialog.answer_timer.cancel()
        self._dialog = None

    # --- the end

    def hold(self, seconds: float) -> None:
        """Charge the time that a discarded message of this session held the shared pipe."""
        now = time.monotonic()
        self._held.append((now, seconds))
        while self._held and self._held[0][0] < now - self.limits.pipe_held_window_s:
            self._held.popleft()
        if sum(held_s for _, held_s in self._held) > self.limits.pipe_held_s:
            self.on_hopeless(self, "held_the_pipe")

    def end(self, reason: CapError, for_commands: CapError | None = None) -> None:
        """Drop the handles: no further command, no further event. Ending twice keeps the first reason."""
        if self.closed is not None:
            return
        self.closed = reason
        self.capturing = False
        for channel in (self.page, *self.children.values()):
            channel.unlisten()
        self.dialog_closed()
        self._deadlines.close()
        self.fail_commands(for_commands or reason)
        self.page.facts.commit.set()
        self._wake(None)

    def spawn(self, work: Any) -> None:
        """Run a coroutine as a child of the session."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish_tasks(self) -> None:
        """Cancel and collect what the session started."""
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def navigate(self, url: str, timeout_s: float) -> dict[str, Any]:
        """The first navigation: `{url, status?, errorText?}` once it committed or failed.

        Raises CapError when the session ends meanwhile, TimeoutError (the builtin one) at the deadline.
        """
        self.capturing = True
        facts = self.page.facts
        async with asyncio.timeout(timeout_s):
            try:
                reply = await self.connection.start("Page.navigate", {"url": url}, self.page.app)
            except CdpFailure as problem:
                return {"url": url, "errorText": problem.message}
            except ConnectionGone:
                raise UnavailableError("BROWSER_GONE", "Chromium ended during the call; open a new session") from None
            error = reply.get("errorText")
            loader = reply.get("loaderId", "")
            if error is None:
                while loader and facts.committed_loader != loader and self.closed is None:
                    facts.commit.clear()
                    await facts.commit.wait()
        if self.closed is not None:
            raise self.closed
        navigation: dict[str, Any] = {"url": url if error else facts.url}
        if error:
            navigation["errorText"] = error
        elif facts.status is not None:
            navigation["status"] = facts.status
        return navigation


def dialog_error(dialog: Dialog, *, opened: bool) -> PreconditionError:
    """A dialog stands in the way; `opened` tells that the call's effect happened."""
    return PreconditionError(
        "DIALOG_OPEN",
        f"the page shows {dialog.type or 'a dialog'}; answer it with Page.handleJavaScriptDialog",
        **dialog.facts(),
        dialogOpened=opened,
    )


def command_timeout(command: Command, *, deaf: bool) -> TimeoutError:
    """No answer before the deadline; a tab that was `deaf` is closed with it."""
    limit_ms = round(command.timeout_s * 1000)
    details: dict[str, Any] = {"limitMs": limit_ms, **({"sessionClosed": True} if deaf else {})}
    next_step = "the tab was deaf and is closed: open a new session" if deaf else "try a smaller step"
    return TimeoutError(
        "BROWSER_TIMEOUT", f"{command.method} had no answer within {limit_ms} ms; {next_step}", **details
    )


def frame_gone() -> UnavailableError:
    """The frame went away during a call."""
    return UnavailableError("TARGET_GONE", "the frame went away during the call; take the handle of a newer one")


def crashed_error() -> UnavailableError:
    """The page's process is gone; the session is not."""
    return UnavailableError("TARGET_CRASHED", "the page's process crashed; Page.navigate revives the session")
