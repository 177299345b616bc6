"""One lent tab: its commands, its events, its dialogs, and the truth about its state."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from capsdk.errors import CapError, UnavailableError
from host.browser.channel import Channel
from host.browser.command import Command, Done, command_timeout, crashed_error
from host.browser.deadlines import Deadlines
from host.browser.dialogs import Dialogs
from host.browser.fence import NAVIGATIONS, Fence, outside
from host.browser.frames import Frames
from host.browser.tab import Tab
from host.browser.worlds import Worlds
from host.cdp.connection import CdpFailure, ConnectionGone
from host.core.capture import Capture
from host.core.conditions import Surroundings
from host.core.grants import Caller
from host.core.limits import Limits
from host.core.ring import Ring
from host.core.urls import UrlDecision, UrlRules
from host.core.wire import dumps


@dataclass(slots=True)
class Waiter:
    """A long poll: called once, when news for it came or the session ended."""

    methods: frozenset[str] | None
    wake: Callable[[], None]


class Session:
    """A tab lent to one caller.

    `page` is the channel to the page itself, `frames` are those to its out-of-process frames. `closed`
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
        self.frames = Frames(self, new_handle)
        self.dialogs = Dialogs(self)
        self.capturing = False
        self.raw_touched = False  # a raw command went into it: later gates read that
        self.shown: tuple[str, bytes] | None = None  # how the newest picture was asked for, and what it looked like
        self.opener_id: str | None = None  # the session whose page opened this one
        self.window_url = ""  # what the newest window of the page, come or blocked, was opened with
        self.last_used = time.monotonic()
        self.urls = owner.urls  # with the places of every connection that its caller has used it through
        self.fence = Fence(self)
        self.worlds = Worlds()
        self.on_hopeless: Callable[[Session, str], None] = lambda session, why: None
        self.on_places: Callable[[Session], None] = lambda session: None
        self.on_refused: Callable[[Session, UrlDecision], None] = lambda session, decision: None
        self.crowded: Callable[[], bool] = lambda: False  # are other apps at work in this Chromium?
        self._navigation_problem: CapError | None = None
        self._deadlines = Deadlines(limits.command_timeout_s)
        self._commands: dict[int, Command] = {}
        self._waiters: list[Waiter] = []
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

    def surroundings(self, urls: UrlRules, channel: Channel | None = None) -> Surroundings:
        """What the method policy may look at for a caller with these `urls`; made anew only when one of it changed.

        Two connections of one caller may have been given different places: each is judged by its own.
        """
        channel = channel or self.page
        known = channel.around
        if known is None or known.urls is not urls:
            self._learn_places(urls)
            channels = (self.page, *self.frames)
            frames = tuple(url for one in channels for url in one.facts.frames.values())
            page_url, in_frame = self.page.facts.committed_url, channel is not self.page
            known = Surroundings(urls, page_url, frames, channel.paused, in_frame)
            channel.around = known
        return known

    def _learn_places(self, urls: UrlRules) -> None:
        if not urls.open_places <= self.urls.open_places:
            self.urls = UrlRules(self.urls.open_places | urls.open_places, self.urls.origins)
            self.on_places(self)

    def has_frame(self, frame_id: str) -> bool:
        """Is this a frame of the page, or of one of its frames in another process?"""
        return bool(frame_id) and any(frame_id in one.facts.frames for one in (self.page, *self.frames))

    def frames_changed(self) -> None:
        """A frame navigated, came or went."""
        for channel in (self.page, *self.frames):
            channel.around = None

    def channel(self, handle: str | None) -> Channel:
        """The page, or the frame with this handle.

        Raises UnavailableError TARGET_GONE for a frame that is gone, OwnershipError SESSION_NOT_OWNED for a handle that
        was never this session's, whoever's it is.
        """
        return self.page if handle is None else self.frames.by_handle(handle)

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
        if self.dialogs.open:
            return False  # it waits for an answer, and gets the default one
        probe = self.connection.start("Runtime.getIsolateId", session=channel.guard)
        done, _ = await asyncio.wait((probe,), timeout=0.25)
        if done:
            return isinstance(probe.exception(), ConnectionGone)
        self.connection.start("Runtime.terminateExecution", session=channel.guard)
        done, _ = await asyncio.wait((probe,), timeout=self.limits.deaf_after_s)
        return not done

    def commands_where(self, hit: Callable[[Command], bool]) -> list[Command]:
        """The commands under way that are hit."""
        return [command for command in self._commands.values() if hit(command)]

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

    # --- the page

    def target_crashed(self, channel: Channel) -> None:
        """A target's process is gone: its commands end now, and it says so until it is navigated."""
        self.fail_commands(crashed_error(), self.commands_where(lambda command: command.channel is channel))

    # --- origins

    async def arm(self) -> None:
        """Put the fence up, before the first navigation. Raises UnavailableError BROWSER_GONE."""
        guard = self.page.guard
        try:
            await asyncio.gather(*(self.connection.start(name, given, guard) for name, given in self.fence.enables))
        except (CdpFailure, ConnectionGone):
            raise UnavailableError("BROWSER_GONE", "Chromium ended during the call; open a new session") from None

    def navigation_refused(self, decision: UrlDecision) -> None:
        """The page was on its way outside, and stays where it is."""
        problem = self._navigation_problem = outside(decision)
        told = {"origin": decision.origin, "code": decision.code, "message": decision.reason}
        self.add_event("Host.navigationRefused", dumps(told))
        self.fail_commands(problem, self.commands_where(lambda command: command.method in NAVIGATIONS))
        self.on_refused(self, decision)

    def went_outside(self, decision: UrlDecision) -> None:
        """The page shows what the app may not have, however it came there: the session ends before anybody looks."""
        self.on_refused(self, decision)
        self.on_hopeless(self, "outside")

    def refusal(self) -> CapError | None:
        """Why nothing can be asked of the page right now."""
        return self.closed or self._standing(self.page, "Page.captureScreenshot")

    def _standing(self, channel: Channel, method: str) -> CapError | None:
        """What stands in the way of a command before it is sent."""
        blocked = self.dialogs.refusal(method)
        if blocked is not None:
            return blocked
        if channel.crashed and method != "Page.navigate":
            return crashed_error()
        return channel.refusal()

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
        self.page.unlisten()
        self.frames.end()
        self.dialogs.closed()
        self._deadlines.close()
        self.fail_commands(for_commands or reason)
        self.page.facts.commit.set()
        self.page.facts.begun.set()
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
            if error and self._navigation_problem is not None:
                raise self._navigation_problem
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
