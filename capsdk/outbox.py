"""Log lines and progress on their way out: in order, bounded, and never a reason for a script to fail."""

from __future__ import annotations

import asyncio
import io
import re
import sys
import warnings
from collections import deque
from collections.abc import Callable, Collection, Generator
from typing import Any, TextIO

from capsdk.cap import Caller, Cap
from capsdk.errors import CapError

MAX_QUEUED = 500
"""Lines waiting to be sent; a script that never awaits can be faster than its socket."""

AHEAD = 8
"""Lines that are sent at once, before the answers to earlier ones: what is printed before a crash is still told."""

MAX_MESSAGE_BYTES = 8 * 1024
"""What `run.log` takes; a longer message is cut and says so."""

MAX_PROGRESS_CHARACTERS = 500
"""What `run.progress` takes; it is one line of a display, so the rest is left out."""

_CREATED_AT = re.compile(r'File "(.+)", line (\d+)')
_CUT = " … (cut: a log message holds 8 KB)"


class Sent:
    """What `ctx.log` and `ctx.progress` return: may be awaited (until it is sent or given up), need not be."""

    __slots__ = ("_done", "_future", "args", "name")

    def __init__(self, name: str, args: dict[str, Any]) -> None:
        self.name = name
        self.args = args
        self._done = False
        self._future: asyncio.Future[None] | None = None

    def __await__(self) -> Generator[Any, None, None]:
        if not self._done:
            if self._future is None:
                self._future = asyncio.get_running_loop().create_future()
            yield from asyncio.shield(self._future).__await__()

    def settle(self) -> None:
        """It left, or never will."""
        self._done = True
        if self._future is not None and not self._future.done():
            self._future.set_result(None)


class Outbox:
    """The queue behind `ctx.log`, `ctx.progress` and `print`. What is lost is counted and reported by `flush`."""

    def __init__(self, cap: Caller) -> None:
        self._cap = cap
        self._queue: deque[Sent] = deque()
        self._progress: Sent | None = None
        self._ahead: set[asyncio.Future[dict[str, Any]]] = set()
        self.pump: asyncio.Task[None] | None = None
        self.lost = 0

    def log(self, message: object, level: str = "info") -> Sent:
        """Queue one log line; over `MAX_QUEUED` it is counted as lost instead."""
        return self._put(Sent("run.log", {"level": level, "message": cut(str(message))}))

    def progress(self, done: float, total: float | None, message: str | None) -> Sent:
        """Queue how far the work is; one that is still waiting to be sent is replaced, as only the newest matters."""
        args: dict[str, Any] = {"done": done}
        if total is not None:
            args["total"] = total
        if message is not None:
            args["message"] = message[:MAX_PROGRESS_CHARACTERS]
        if self._progress is not None:
            self._progress.args = args
            self._start()
            return self._progress
        self._progress = item = Sent("run.progress", args)
        return self._put(item)

    async def flush(self, timeout_s: float) -> None:
        """Send what is queued, and then how many lines were lost, if any; give up after `timeout_s`."""
        self._start()
        try:
            async with asyncio.timeout(timeout_s):
                if self.pump is not None:
                    await asyncio.shield(self.pump)
                if self._ahead:
                    await asyncio.wait(self._ahead)
                if self.lost:
                    await self._send(
                        Sent("run.log", {"level": "warning", "message": f"{self.lost} log lines were lost"})
                    )
        except TimeoutError:
            if self.pump is not None:
                self.pump.cancel()

    def _put(self, item: Sent) -> Sent:
        if len(self._queue) + len(self._ahead) >= MAX_QUEUED:
            self.lost += 1
            if item is self._progress:
                self._progress = None
            item.settle()
        elif not self._sent_ahead(item):
            self._queue.append(item)
            self._start()
        return item

    def _sent_ahead(self, item: Sent) -> bool:
        """Whether a log line left right now: in its order, and not too many of them."""
        if self._queue or item is self._progress or len(self._ahead) >= AHEAD or not isinstance(self._cap, Cap):
            return False
        try:
            future = self._cap.post(item.name, item.args)
        except CapError:  # the host is gone
            self.lost += 1
            item.settle()
            return True
        self._ahead.add(future)
        future.add_done_callback(lambda future: self._answered(item, future))
        return True

    def _answered(self, item: Sent, future: asyncio.Future[dict[str, Any]]) -> None:
        self._ahead.discard(future)
        if future.cancelled() or future.exception() is not None:
            self.lost += 1
        item.settle()

    def _start(self) -> None:
        if not self._queue or (self.pump is not None and not self.pump.done()):
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # logged outside of the loop, as a unit test may: sent with the next line or by `flush`
            return
        self.pump = loop.create_task(self._run())

    async def _run(self) -> None:
        while self._queue:
            item = self._queue.popleft()
            if item is self._progress:
                self._progress = None
            await self._send(item)

    async def _send(self, item: Sent) -> None:
        try:
            await self._cap.call(item.name, item.args)
        except Exception:  # whatever the host says about a log line, the script goes on; the loss is counted
            self.lost += 1
        finally:
            item.settle()


class LogWriter(io.TextIOBase):
    """Stands in for standard output and standard error: each finished line becomes one log line."""

    def __init__(self, outbox: Outbox, level: str) -> None:
        super().__init__()
        self._outbox = outbox
        self._level = level
        self._line = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there
        """What text is sent as."""
        return "utf-8"

    def writable(self) -> bool:
        """It can be written to, which is all it can do."""
        return True

    def write(self, text: str) -> int:
        """Take text; whole lines are logged, the rest waits for its newline (at most 8 KB of it)."""
        *lines, self._line = (self._line + text).split("\n")
        if len(self._line) > MAX_MESSAGE_BYTES:
            lines.append(self._line)
            self._line = ""
        for line in lines:
            self._outbox.log(line, self._level)
        return len(text)

    def finish(self) -> None:
        """Log what has no newline yet."""
        if self._line:
            self.write("\n")


def log_warnings(outbox: Outbox, paths: Callable[[], Collection[str]]) -> Callable[[], None]:
    """Have each warning of Python's become one log line with the author's place; what is returned undoes it.

    `paths` tells the author's files. Coroutines remember from here on where they were made, so that one which nobody
    awaits is told with that line, wherever it is found.
    """
    shown, depth = warnings.showwarning, sys.get_coroutine_origin_tracking_depth()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        outbox.log(warning_line(str(message), category.__name__, f"{filename}:{lineno}", paths()), "warning")

    def undo() -> None:
        warnings.showwarning = shown
        sys.set_coroutine_origin_tracking_depth(depth)

    warnings.showwarning = show
    sys.set_coroutine_origin_tracking_depth(1)
    return undo


def warning_line(text: str, category: str, place: str, paths: Collection[str]) -> str:
    """One warning on one line; `place` is what Python says, which for a coroutine is where it was thrown away."""
    text, _, made = text.partition("\nCoroutine created at")
    if (found := _CREATED_AT.search(made)) is not None and found[1] in paths:
        place = f"{found[1]}:{found[2]}"
    where = f"{place}: " if place.rpartition(":")[0] in paths else ""
    advice = "; write `await` before the call" if "was never awaited" in text else ""
    return f"{where}{category}: {text.strip()}{advice}"


def cut(message: str) -> str:
    """`message`, or its beginning and a note when it is over `MAX_MESSAGE_BYTES`; half surrogates are spelled out."""
    encoded = message[: MAX_MESSAGE_BYTES + 1].encode("utf-8", "backslashreplace")
    if len(encoded) > MAX_MESSAGE_BYTES:
        return encoded[: MAX_MESSAGE_BYTES - len(_CUT.encode())].decode("utf-8", "ignore") + _CUT
    return message if message.isascii() else encoded.decode()
