"""Starts workers and tells whether that works here; knows nothing of what is said to a worker after `ready`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from capsdk.errors import UnavailableError
from host.sandbox import memlib, worker
from host.sandbox.lock import Limits, LockError, check_machine

ROOTS_WORKER_UID = 64191  # of nobody: Debian gives 60000-64999 to packages on demand, systemd from 65536 on
READY_TIMEOUT_S = 10.0
SEND_BYTES = 1024 * 1024  # a large result goes out in one piece
SO_SNDBUFFORCE = 32  # socket(7); the socket module does not name it
REAP_TIMEOUT_S = 2.0
POLL_S = 0.02
MAX_READY_BYTES = 64 * 1024
MAX_STDERR_CHARACTERS = 2000
CAPSDK = Path(__file__).resolve().parents[2] / "capsdk"
HINT = "a sandbox takes Linux on x86-64 with seccomp, and no container profile that forbids it"


def default_worker_uid() -> int | None:
    """The uid a worker becomes: a dedicated one when the host is root, else None (it keeps the host's)."""
    return ROOTS_WORKER_UID if os.geteuid() == 0 else None


def default_python() -> Path:
    """The interpreter behind a virtual environment: a worker is to see nothing of the environment."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    installed = Path(sys.base_prefix, "bin", name)
    return (installed if installed.exists() else Path(sys.executable)).resolve()


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """How workers are started. `cache_dir` keeps the module blob (0700, 10 MB a file).

    `python` has to be of the host's own version. `packages` and `runtime` (a module with `serve(fd, layers)`) are
    what a worker runs besides the standard library.
    """

    cache_dir: Path
    worker_uid: int | None = field(default_factory=default_worker_uid)
    limits: Limits = field(default_factory=Limits)
    python: Path | None = None
    packages: tuple[Path, ...] = (CAPSDK,)
    runtime: str = "capsdk.runtime"


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Whether a worker really started: its tier and Landlock ABI (0: none), or each reason why not."""

    available: bool
    tier: str | None = None
    landlock_abi: int = 0
    worker_uid: int | None = None
    reasons: tuple[str, ...] = ()
    hint: str | None = None


class Worker:
    """One locked process, for one script. `sock` is the host's end, non-blocking; `pending` was read after `ready`."""

    def __init__(self, process: subprocess.Popen[bytes], sock: socket.socket) -> None:
        self._process = process
        self.sock = sock
        self.pending = b""
        self.layers: dict[str, Any] = {}

    @property
    def pid(self) -> int:
        """The process id; the kernel may give it away again once `wait` has returned."""
        return self._process.pid

    def kill(self) -> None:
        """SIGKILL; nothing happens when it has already ended."""
        self._process.kill()

    async def wait(self, timeout_s: float) -> str:
        """How it ended, in words: `exit 0`, `SIGKILL`, `SIGXCPU` (CPU limit). Raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while self._process.poll() is None:
                await self._ended()
        return _in_words(self._process.returncode)

    async def aclose(self) -> None:
        """Kill, reap, close the socket; closing twice is fine."""
        self.kill()
        try:
            await self.wait(REAP_TIMEOUT_S)
        finally:
            self.sock.close()

    async def _ended(self) -> None:
        try:
            pidfd = os.pidfd_open(self._process.pid)
        except OSError:  # before Linux 5.3, forbidden by a container, or reaped just now
            await asyncio.sleep(POLL_S)
            return
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        loop.add_reader(pidfd, ended.cancel)
        try:
            await asyncio.wait([ended])
        finally:
            loop.remove_reader(pidfd)
            os.close(pidfd)


async def launch(config: SandboxConfig) -> Worker:
    """A locked, tested worker that waits for its `start` line. Call it from a thread that lives as long as the worker:
    the kernel kills the worker when that thread ends.

    Raises UnavailableError (SANDBOX_UNAVAILABLE, `details.reasons`); nothing is left running then.
    """
    try:
        check_machine()
        blob_fd = await _open_library(config)
    except (LockError, OSError) as error:
        raise _unavailable(str(error)) from error
    stderr_fd = os.memfd_create("worker-stderr", os.MFD_CLOEXEC)
    try:
        try:
            started = _spawn(config, blob_fd, stderr_fd)
        except OSError as error:
            raise _unavailable(f"the worker cannot be started: {error}") from error
        try:
            await _ready(started, stderr_fd)
        except BaseException:
            await asyncio.shield(started.aclose())
            raise
        return started
    finally:
        os.close(blob_fd)
        os.close(stderr_fd)


async def probe(config: SandboxConfig) -> SandboxReport:
    """Really start a worker and end it again: what `capsdk doctor` says about the sandbox."""
    try:
        started = await launch(config)
    except UnavailableError as error:
        return SandboxReport(available=False, reasons=tuple(error.details["reasons"]), hint=error.hint)
    await started.aclose()
    layers = started.layers
    return SandboxReport(True, tier=layers["tier"], landlock_abi=layers["landlock"], worker_uid=layers["uid"])


async def _open_library(config: SandboxConfig) -> int:
    opening = asyncio.ensure_future(asyncio.to_thread(memlib.open_library, config.cache_dir, config.packages))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:  # the thread goes on; its descriptor has no owner then
        opening.add_done_callback(_close_result)
        raise


def _close_result(opened: asyncio.Future[int]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        os.close(opened.result())


def _widen(sock: socket.socket) -> None:
    """Room for a large result; without the privilege to go beyond net.core.wmem_max, as much as that allows."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, SEND_BYTES)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)


def _spawn(config: SandboxConfig, blob_fd: int, stderr_fd: int) -> Worker:
    ours, theirs = socket.socketpair()
    _widen(ours)
    settings = {
        "blob_fd": blob_fd,
        "limits": asdict(config.limits),
        "parent_pid": os.getpid(),
        "runtime": config.runtime,
        "uid": config.worker_uid,
    }
    python = config.python or default_python()
    try:
        process = subprocess.Popen(
            [python, "-I", "-S", "-B", worker.__file__, str(theirs.fileno()), json.dumps(settings)],
            pass_fds=(theirs.fileno(), blob_fd),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr_fd,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    ours.setblocking(False)
    return Worker(process, ours)


async def _ready(started: Worker, stderr_fd: int) -> None:
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            line, started.pending = await _first_line(started.sock)
    except TimeoutError:
        raise _unavailable(f"the worker was not ready within {READY_TIMEOUT_S:g} s") from None
    except (EOFError, OSError):
        raise _unavailable(await _last_words(started, stderr_fd)) from None
    message = json.loads(line)
    if message["notice"] != "ready":
        raise _unavailable(str(message["data"].get("why")))
    started.layers = message["data"]


async def _first_line(sock: socket.socket) -> tuple[bytes, bytes]:
    received = b""
    while b"\n" not in received:
        chunk = await asyncio.get_running_loop().sock_recv(sock, MAX_READY_BYTES)
        if not chunk or len(received) > MAX_READY_BYTES:
            raise EOFError
        received += chunk
    line, _, rest = received.partition(b"\n")
    return line, rest


async def _last_words(started: Worker, stderr_fd: int) -> str:
    started.kill()  # its socket is closed, so it is no use whatever it does
    status = "still running"
    with contextlib.suppress(TimeoutError):
        status = await started.wait(REAP_TIMEOUT_S)
    said = os.pread(stderr_fd, os.fstat(stderr_fd).st_size, 0).decode(errors="replace").strip()
    return f"the worker ended before it was ready ({status}) {said[-MAX_STDERR_CHARACTERS:]}".rstrip()


def _unavailable(reason: str) -> UnavailableError:
    reasons = [f"{worker.TIER}: {reason}"]
    message = f"no sandbox passed its self-test ({'; '.join(reasons)}); run `capsdk doctor`"
    return UnavailableError("SANDBOX_UNAVAILABLE", message, hint=HINT, reasons=reasons)


def _in_words(returncode: int) -> str:
    if returncode >= 0:
        return f"exit {returncode}"
    try:
        return signal.Signals(-returncode).name
    except ValueError:  # a real-time signal
        return f"signal {-returncode}"
