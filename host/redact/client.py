"""The host's side of the redactor: started on first need and anew when it dies; nobody waits for it without end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from capsdk.errors import CapError, ExhaustedError, PreconditionError, UnavailableError
from host.core.redaction import EngineConfig, Found, PictureDone, PictureJob, Text
from host.redact import wire

MAIN = Path(__file__).with_name("main.py")
READY_S = 60.0  # a cold disk reads some 300 MB of modules
GRACE_S = 3.0  # after its deadline an answer may still come; then the process hangs and is ended
TEMP_PREFIX = "capsdk-redactor-"
EXTRA = "install it with: pip install 'capsdk[pii]'"
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class RedactorConfig:
    """How it is started. `uid` is whom it becomes, None for the host's own; `program` replaces it, for tests."""

    engine: EngineConfig
    uid: int | None = None
    program: tuple[str, ...] | None = None
    ready_s: float = READY_S


def not_checked(step: str, why: str, hint: str = "") -> PreconditionError:
    """IMAGE_NOT_CHECKED: at which step, and what helps."""
    problem = PreconditionError(
        "IMAGE_NOT_CHECKED", f"the picture was not checked ({step}: {why}) and is not shown", step=step
    )
    problem.hint = hint or HINTS.get(step, "take it again; if that does not help, run `capsdk doctor`")
    return problem


HINTS = {
    "changing": "the page changes while it is read; wait until it is quiet, then take it again",
    "frame": "a frame of the page did not answer; close or reload it, or take a `clip` without it",
    "load": "run `capsdk doctor`: it tells what keeps private details from being found",
    "module": EXTRA,
    "ocr": "run `capsdk doctor`; text in pictures is read with Tesseract: apt-get install tesseract-ocr",
    "size": "take a smaller `clip`, or leave `fullPage` out",
    "time": "take a smaller `clip`, or leave `fullPage` out",
}


def redaction_unavailable(problem: Failed) -> UnavailableError:
    """Private details cannot be looked for: why, and what helps."""
    made = UnavailableError(
        "REDACTION_UNAVAILABLE", f"private details cannot be looked for: {problem.why}", step=problem.step
    )
    made.hint = HINTS.get(problem.step, HINTS["load"])
    return made


class Failed(Exception):
    """The redactor could not do it: at which step, and why."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(f"{step}: {why}")
        self.step = step
        self.why = why


class Redactor:
    """One process for the whole host. Its methods raise `Failed`; nothing that was not checked comes out of them."""

    def __init__(self, config: RedactorConfig) -> None:
        self.about: dict[str, Any] = {}
        self.pid: int | None = None
        self.starts = 0
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._temp: str | None = None
        self._starting: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[wire.Answer, bytes]]] = {}
        self._overdue: dict[int, asyncio.TimerHandle] = {}
        self._ends: set[asyncio.Future[int]] = set()
        self._closed = False

    async def find(self, texts: Sequence[Text], timeout_s: float) -> list[list[Found]]:
        """The private details of each text; names found in one of them are found in the others, too."""
        answer, _ = await self._ask(timeout_s, texts=list(texts))
        if answer.found is None or len(answer.found) != len(texts):
            raise Failed("redactor", "its answer does not fit the question")
        return answer.found

    async def picture(self, job: PictureJob, tiles: Sequence[bytes], timeout_s: float) -> tuple[PictureDone, bytes]:
        """The picture with its bars, encoded anew. `tiles` are PNG files, from the top down."""
        answer, data = await self._ask(timeout_s, picture=job, blobs=tiles)
        if answer.picture is None or not data:
            raise Failed("redactor", "its answer does not fit the question")
        return answer.picture, data

    async def start(self) -> None:
        """Have it ready; started already is fine. Raises Failed."""
        if self._closed:
            raise Failed("redactor", "the host is ending")
        if self._channel is not None:
            return
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._begin())
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._starting)

    async def close(self) -> None:
        """End it. Closing twice is fine."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            with contextlib.suppress(asyncio.CancelledError, Failed):
                await self._starting
        self._drop("the host is ending")
        reading = [self._reading] if self._reading is not None else []
        await asyncio.gather(*reading, *self._ends, return_exceptions=True)

    # --- asking

    async def _ask(
        self,
        timeout_s: float,
        *,
        texts: list[Text] | None = None,
        picture: PictureJob | None = None,
        blobs: Sequence[bytes] = (),
    ) -> tuple[wire.Answer, bytes]:
        deadline_s = time.monotonic() + timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                await self.start()
        except TimeoutError:
            raise Failed("time", f"it was not ready within {timeout_s:g} s") from None
        left_s = max(0.05, deadline_s - time.monotonic())
        number = next(self._numbers)
        ask = wire.Ask(number, left_s, texts, picture, [len(blob) for blob in blobs])
        answered: asyncio.Future[tuple[wire.Answer, bytes]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        # Also when nobody waits for the answer any more: a process that hangs is ended, or the next would wait for it.
        loop = asyncio.get_running_loop()
        self._overdue[number] = loop.call_later(left_s + GRACE_S, self._drop, "it hangs")
        try:
            async with asyncio.timeout(left_s):
                await self._send(wire.packed(ask, blobs))
                answer, data = await answered
        except TimeoutError:
            raise Failed("time", f"it took longer than {timeout_s:g} s") from None
        finally:
            self._waiting.pop(number, None)
        if answer.step == "size":
            raise too_large(answer.why, answer.limit, answer.actual)
        if answer.step:
            raise Failed(answer.step, answer.why)
        return answer, data

    async def _send(self, message: bytes) -> None:
        async with self._writing:
            channel = self._channel
            if channel is None:
                raise Failed("redactor", "it ended")
            try:
                await asyncio.get_running_loop().sock_sendall(channel, message)
            except OSError:
                self._drop("it ended")
                raise Failed("redactor", "it ended") from None

    # --- the process

    async def _begin(self) -> None:
        self._drop("it is started anew")
        try:
            channel = self._spawn()
        except OSError as problem:
            raise Failed("load", f"no process can be started: {problem.strerror}") from None
        try:
            async with asyncio.timeout(self._config.ready_s):
                answer, _ = await self._read(channel)
            if answer.step:
                raise Failed(answer.step, answer.why)
        except BaseException as problem:
            channel.close()
            self._end_process()
            if isinstance(problem, TimeoutError):
                raise Failed("load", "it did not start in time") from None
            if isinstance(problem, ConnectionError | OSError | ValueError | msgspec.MsgspecError):
                raise Failed("load", "it ended at once") from None
            raise
        self.about, self._channel = answer.about, channel
        self._reading = asyncio.ensure_future(self._read_all(channel))

    def _spawn(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        self._temp = temp_folder(self._config.uid)
        settings = {
            "path": [entry for entry in sys.path if entry],
            "channel": theirs.fileno(),
            "uid": self._config.uid,
            "engine": msgspec.to_builtins(self._config.engine),
        }
        program = self._config.program or (sys.executable, "-I", "-S", "-B", str(MAIN))
        environment = {
            "HOME": self._temp,
            "LANG": "C.UTF-8",
            "MALLOC_ARENA_MAX": "2",  # each thread's own heap keeps what it once took
            "OMP_THREAD_LIMIT": "1",  # four times as fast on two cores: measured
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),  # where Tesseract is looked for
            "TMPDIR": self._temp,
        }
        if "TESSDATA_PREFIX" in os.environ:
            environment["TESSDATA_PREFIX"] = os.environ["TESSDATA_PREFIX"]
        try:
            self._process = subprocess.Popen(
                [*program, json.dumps(settings)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env=environment,
                cwd="/",
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self.pid, self.starts = self._process.pid, self.starts + 1
        return ours

    async def _read(self, channel: socket.socket) -> tuple[wire.Answer, bytes]:
        head_bytes, blob_bytes = wire.sizes(await self._exactly(channel, wire.SIZES.size))
        answer = wire.ANSWERS.decode(await self._exactly(channel, head_bytes))
        return answer, await self._exactly(channel, blob_bytes)

    async def _exactly(self, channel: socket.socket, size: int) -> bytes:
        got, loop = bytearray(), asyncio.get_running_loop()
        while len(got) < size:
            more = await loop.sock_recv(channel, min(READ_BYTES, size - len(got)))
            if not more:
                raise ConnectionError
            got += more
        return bytes(got)

    async def _read_all(self, channel: socket.socket) -> None:
        try:
            while True:
                answer, data = await self._read(channel)
                self._in_time(answer.number)
                waiting = self._waiting.get(answer.number)
                if waiting is not None and not waiting.done():
                    waiting.set_result((answer, data))
        except (ConnectionError, OSError, ValueError, msgspec.MsgspecError):
            if channel is self._channel:
                self._drop("it ended")
        finally:
            channel.close()

    def _in_time(self, number: int) -> None:
        overdue = self._overdue.pop(number, None)
        if overdue is not None:
            overdue.cancel()

    def _drop(self, why: str) -> None:
        """The process is of no use any more: it ends, and who waits for it is told."""
        for number in list(self._overdue):
            self._in_time(number)
        channel, self._channel = self._channel, None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Failed("redactor", why))
                waiting.exception()  # who asked may be gone
        if channel is not None:
            with contextlib.suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)  # who reads it closes it
            self._end_process()

    def _end_process(self) -> None:
        process, self._process, self.pid = self._process, None, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)  # with the OCR's own processes
            self._ends.add(asyncio.ensure_future(asyncio.to_thread(process.wait)))
        if self._temp is not None:
            shutil.rmtree(self._temp, ignore_errors=True)
            self._temp = None


def too_large(why: str, limit: int, actual: int) -> CapError:
    """The picture cannot be made small enough."""
    return ExhaustedError("RESULT_TOO_LARGE", why, limit=limit, actual=actual)


def temp_folder(uid: int | None) -> str:
    """A folder in memory for the OCR's files, which hold what no bar covers yet; those of dead hosts are removed."""
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    for left in base.glob(f"{TEMP_PREFIX}*"):
        owner = left.name.removeprefix(TEMP_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(left, ignore_errors=True)
    made = tempfile.mkdtemp(prefix=f"{TEMP_PREFIX}{os.getpid()}-", dir=base)
    if uid is not None:
        os.chown(made, uid, uid)
    return made
