"""One lent tab: its commands, its events, its dialogs, and the truth about its state."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from capsdk.errors import CapError, PreconditionError, TimeoutError, UnavailableError
from host.browser.command import Command, Done
from host.cdp.connection import CdpFailure, Connection, ConnectionGone
from host.core.capture import Capture
from host.core.grants import Caller, Kind
from host.core.limits import Limits
from host.core.ring import Ring
from host.core.urls import origin_of

DIALOG_GRACE_S = 0.25  # commands that a dialog does not block answer within it
PASSES_DIALOG = frozenset(("Page.handleJavaScriptDialog", "Page.navigate"))


@dataclass(slots=True)
class Dialog:
    """A dialog of the page that waits for an answer."""

    type: str
    message: str
    answer_timer: asyncio.TimerHandle | None = None

    def facts(self) -> dict[str, Any]:
        """What the caller is told: `message` is page text, bounded."""
        return {"type": self.type, "message": self.message[:1000]}


@dataclass(slots=True)
class Waiter:
    """A long poll: called once, when news for it came or the session ended."""

    methods: frozenset[str] | None
    wake: Callable[[], None]


@dataclass(slots=True)
class Facts:
    """What is known of the page from the guard's events."""

    url: str = "about:blank"
    title: str = ""
    origin: str = "null"
    main_frame: str = ""
    committed_loader: str = ""
    status: int | None = None
    commit: asyncio.Event = field(default_factory=asyncio.Event)


class Session:
    """A tab lent to one caller.

    `guard` and `app` are Chromium's ids of the two CDP sessions; neither is ever shown. `closed` holds the reason
    once the session is over. Public methods are called on the loop thread.
    """

    def __init__(
        self,
        session_id: str,
        owner: Caller,
        connection: Connection,
        *,
        target_id: str,
        guard: str,
        app: str,
        limits: Limits,
        capture: Capture,
    ) -> None:
        self.id = session_id
        self.owner = owner
        self.connection = connection
        self.target_id = target_id
        self.guard = guard
        self.app = app
        self.limits = limits
        self.capture = capture
        self.ring = Ring(
            max_events=limits.events_kept, max_bytes=limits.events_bytes, max_event_bytes=limits.event_bytes
        )
        self.facts = Facts()
        self.closed: CapError | None = None
        self.crashed = False
        self.capturing = False
        self.last_used = time.monotonic()
        self.on_hopeless: Callable[[Session, str], None] = lambda session, why: None
        self._commands: dict[int, Command] = {}
        self._waiters: list[Waiter] = []
        self._dialog: Dialog | None = None
        self._held: deque[tuple[float, float]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        connection.sinks[app] = self._app_event
        connection.sinks[guard] = self._guard_event

    @property
    def origin(self) -> str:
        """The origin of the page it shows, "null" for a blank one."""
        return self.facts.origin

    # --- commands

    def send(self, method: str, params: bytes, done: Done, *, timeout_s: float) -> Command | None:
        """Forward one judged command; `done(result, error)` is called exactly once, from a callback."""
        refusal = self.closed or self._standing_dialog(method) or self._standing_crash(method)
        if refusal is not None:
            done(None, refusal)
            return None
        command = Command(self, method, done, timeout_s=timeout_s, max_bytes=self.limits.result_bytes)
        try:
            command.number = self.connection.post(method, params, self.app, command)
        except ConnectionGone:
            command.gone()
            return None
        self._commands[command.number] = command
        if self.crashed and method == "Page.navigate":
            self.crashed = False
        return command

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
        deaf = await self.deaf()
        if not command.ended:
            command.fail(command_timeout(command, deaf=deaf))
        if deaf:
            self.on_hopeless(self, "deaf")

    async def deaf(self) -> bool:
        """Does the page's process not answer any more, even after its script was ended? Takes at most 2.5 s."""
        probe = self.connection.start("Runtime.getIsolateId", session=self.guard)
        done, _ = await asyncio.wait((probe,), timeout=0.25)
        if done:
            return isinstance(probe.exception(), ConnectionGone)
        self.connection.start("Runtime.terminateExecution", session=self.guard)
        done, _ = await asyncio.wait((probe,), timeout=self.limits.deaf_after_s)
        return not done

    def fail_commands(self, problem: CapError, among: list[Command] | None = None) -> None:
        """End every command under way (or those of `among` that still are) with this error."""
        for command in list(self._commands.values()) if among is None else among:
            if not command.ended:
                command.fail(problem)

    # --- events

    def _app_event(self, method: str, params: msgspec.Raw) -> None:
        if not self.capturing:
            return
        if method == "Network.responseReceived" and self.facts.status is None:
            self._note_status(bytes(params))
        if method == "Inspector.targetCrashed":
            self._note_crash()
        self.add_event(method, bytes(params))

    def add_event(self, method: str, params: bytes) -> None:
        """Put one event into the ring (when `capture` keeps it) and wake who waits for it."""
        if not self.capture.keeps(method):
            return
        self.ring.append(method, params, at_ms=time.time_ns() // 1_000_000)
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

    def _guard_event(self, method: str, params: msgspec.Raw) -> None:
        handler = _GUARD_HANDLERS.get(method)
        if handler is not None:
            handler(self, msgspec.json.decode(params))

    def _note_status(self, params: bytes) -> None:
        response = msgspec.json.decode(params, type=_ResponseReceived)
        if response.type == "Document" and response.frameId == self.facts.main_frame:
            self.facts.status = response.response.status

    def _note_crash(self) -> None:
        self.crashed = True
        self.fail_commands(crashed_error())

    def _frame_navigated(self, params: dict[str, Any]) -> None:
        frame = params["frame"]
        if frame.get("parentId"):
            return
        facts = self.facts
        facts.url = frame.get("unreachableUrl") or frame["url"] + frame.get("urlFragment", "")
        facts.origin = origin_of(facts.url)
        facts.committed_loader = frame.get("loaderId", "")
        facts.commit.set()

    def _same_document(self, params: dict[str, Any]) -> None:
        if params.get("frameId") == self.facts.main_frame:
            self.facts.url = params["url"]

    # --- dialogs

    def _standing_dialog(self, method: str) -> CapError | None:
        if self._dialog is None or method in PASSES_DIALOG:
            return None
        return dialog_error(self._dialog, opened=False)

    def _standing_crash(self, method: str) -> CapError | None:
        return crashed_error() if self.crashed and method != "Page.navigate" else None

    def _dialog_opening(self, params: dict[str, Any]) -> None:
        dialog = Dialog(str(params.get("type", "")), str(params.get("message", "")))
        loop = asyncio.get_running_loop()
        if dialog.type == "beforeunload":
            self._answer(accept=False)  # stay
            return
        self._dialog = dialog
        limits = self.limits
        patience_s = limits.dialog_answer_chat_s if self.owner.kind is Kind.CHAT else limits.dialog_answer_s
        dialog.answer_timer = loop.call_later(patience_s, lambda: self._answer(accept=False))
        under_way = [c for c in self._commands.values() if c.method not in PASSES_DIALOG]
        loop.call_later(DIALOG_GRACE_S, self._dialog_stands, dialog, under_way)

    def _dialog_stands(self, dialog: Dialog, under_way: list[Command]) -> None:
        if self._dialog is dialog:
            self.fail_commands(dialog_error(dialog, opened=True), under_way)

    def _answer(self, *, accept: bool) -> None:
        self.connection.start("Page.handleJavaScriptDialog", {"accept": accept}, self.guard)

    def _dialog_closed(self, params: dict[str, Any]) -> None:
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
        for handle in (self.app, self.guard):
            self.connection.sinks.pop(handle, None)
        self._dialog_closed({})
        self.fail_commands(for_commands or reason)
        self.facts.commit.set()
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
        async with asyncio.timeout(timeout_s):
            try:
                reply = await self.connection.start("Page.navigate", {"url": url}, self.app)
            except CdpFailure as problem:
                return {"url": url, "errorText": problem.message}
            except ConnectionGone:
                raise UnavailableError("BROWSER_GONE", "Chromium ended during the call; open a new session") from None
            error = reply.get("errorText")
            loader = reply.get("loaderId", "")
            if error is None:
                while loader and self.facts.committed_loader != loader and self.closed is None:
                    self.facts.commit.clear()
                    await self.facts.commit.wait()
        if self.closed is not None:
            raise self.closed
        navigation: dict[str, Any] = {"url": url if error else self.facts.url}
        if error:
            navigation["errorText"] = error
        elif self.facts.status is not None:
            navigation["status"] = self.facts.status
        return navigation


class _Status(msgspec.Struct):
    status: int = 0


class _ResponseReceived(msgspec.Struct):
    response: _Status
    type: str = ""
    frameId: str = ""


_GUARD_HANDLERS: dict[str, Callable[[Session, dict[str, Any]], None]] = {
    "Page.frameNavigated": Session._frame_navigated,
    "Page.navigatedWithinDocument": Session._same_document,
    "Page.javascriptDialogOpening": Session._dialog_opening,
    "Page.javascriptDialogClosed": Session._dialog_closed,
    "Inspector.targetCrashed": lambda session, params: session._note_crash(),
}


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


def crashed_error() -> UnavailableError:
    """The page's process is gone; the session is not."""
    return UnavailableError("TARGET_CRASHED", "the page's process crashed; Page.navigate revives the session")
