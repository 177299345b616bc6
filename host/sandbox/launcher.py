"""Starts workers and tells whether that works here; knows nothing of what is said to a worker after `ready`."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from capsdk.errors import UnavailableError
from host.sandbox import bwrap, memlib, worker
from host.sandbox.lock import Limits, LockError, check_machine
from host.sandbox.process import Worker

# The best first. The contract is the same in both: what works in one works in the other (facts/sandbox.md 1).
TIERS = (worker.BWRAP, worker.NOOPEN)

ROOTS_WORKER_UID = 64191  # of nobody: Debian gives 60000-64999 to packages on demand, systemd from 65536 on
READY_TIMEOUT_S = 10.0
SEND_BYTES = 1024 * 1024  # a large result goes out in one piece
SO_SNDBUFFORCE = 32  # socket(7); the socket module does not name it
LAST_WORDS_S = 0.5
UCRED = struct.Struct("iII")  # process, user and group, see unix(7)
MAX_READY_BYTES = 64 * 1024
MAX_SHOWN_BYTES = 60
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
    what a worker runs besides the standard library. `tiers` are tried in their order; `bwrap` is the program, looked
    for where distributions put it by default. The tier `none` locks nothing: only the owner's own word names it.
    """

    cache_dir: Path
    worker_uid: int | None = field(default_factory=default_worker_uid)
    limits: Limits = field(default_factory=Limits)
    python: Path | None = None
    packages: tuple[Path, ...] = (CAPSDK,)
    runtime: str = "capsdk.runtime"
    tiers: tuple[str, ...] = TIERS
    bwrap: Path | None = None


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Whether a worker really started: its tier and Landlock ABI (0: none).

    `reasons` says of each tier that was tried and not taken why, each beginning with the tier's name; `no_cgroup` why
    workers have no cgroup around them, which is no tier.
    """

    available: bool
    tier: str | None = None
    landlock_abi: int = 0
    worker_uid: int | None = None
    reasons: tuple[str, ...] = ()
    hint: str | None = None
    no_cgroup: str = ""


async def launch(config: SandboxConfig, tier: str | None = None) -> Worker:
    """A locked, tested worker in this tier (None: the first of `config.tiers`), waiting for its `start` line.

    Call it from a thread that lives as long as the worker: the kernel kills the worker when that thread ends.
    Raises UnavailableError (SANDBOX_UNAVAILABLE, `details.reasons`); nothing is left running then.
    """
    try:
        return await _launch(config, tier or config.tiers[0])
    except TierFailed as problem:
        raise unavailable([str(problem)]) from problem


async def start(config: SandboxConfig) -> tuple[Worker, SandboxReport]:
    """A worker in the best tier that works here, found by really starting one; and what was found.

    Raises UnavailableError (SANDBOX_UNAVAILABLE, `details.reasons`) when none does.
    """
    reasons: list[str] = []
    for tier in config.tiers:
        try:
            started = await _launch(config, tier)
        except TierFailed as problem:
            reasons.append(str(problem))
            continue
        layers = started.layers
        return started, SandboxReport(True, tier, layers["landlock"], layers["uid"], tuple(reasons))
    raise unavailable(reasons)


async def choose(config: SandboxConfig) -> SandboxReport:
    """Start a worker in the best tier that works here and end it again: what `capsdk doctor` says about the sandbox."""
    try:
        started, report = await start(config)
    except UnavailableError as error:
        return SandboxReport(available=False, reasons=tuple(error.details["reasons"]), hint=error.hint)
    await started.aclose()
    return report


def after(config: SandboxConfig, report: SandboxReport) -> SandboxConfig:
    """The same without the tiers that were found not to work."""
    return config if report.tier is None else replace(config, tiers=config.tiers[config.tiers.index(report.tier) :])


class TierFailed(Exception):
    """This tier cannot be had here; the message begins with its name."""


async def _launch(config: SandboxConfig, tier: str) -> Worker:
    try:
        check_machine()
        blob_fd = await _open_library(config)
    except (LockError, OSError) as error:
        raise TierFailed(f"{tier}: {error}") from error
    stderr_fd = os.memfd_create("worker-stderr", os.MFD_CLOEXEC)
    try:
        started = _spawn(config, tier, blob_fd, stderr_fd)
        try:
            await _ready(started, tier, stderr_fd)
        except BaseException:
            await asyncio.shield(started.aclose())
            raise
        return started
    finally:
        os.close(blob_fd)
        os.close(stderr_fd)


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


def _spawn(config: SandboxConfig, tier: str, blob_fd: int, stderr_fd: int) -> Worker:
    wrapped = tier == worker.BWRAP
    ours, theirs = socket.socketpair()
    try:
        _widen(ours)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        ours.sendall(_settings(config, tier, blob_fd))  # it waits in the socket
        python = config.python or default_python()
        command = [str(python), "-I", "-S", "-B", worker.__file__, str(theirs.fileno())]
        if wrapped:
            command = bwrap.arguments(bwrap.find(config.bwrap), command, root=os.geteuid() == 0)
        process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(), blob_fd),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr_fd,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except bwrap.BwrapMissing as error:
        ours.close()
        raise TierFailed(f"{tier}: {error}") from error
    except OSError as error:
        ours.close()
        raise TierFailed(f"{tier}: the worker cannot be started: {error}") from error
    finally:
        theirs.close()
    ours.setblocking(False)
    return Worker(process, ours, wrapped=wrapped)


def _settings(config: SandboxConfig, tier: str, blob_fd: int) -> bytes:
    """The first line to a worker."""
    settings = {
        "blob_fd": blob_fd,
        "limits": asdict(config.limits),
        "parent_pid": bwrap.INSIDE_PARENT if tier == worker.BWRAP else os.getpid(),
        "runtime": config.runtime,
        "tier": tier,
        "uid": config.worker_uid,
    }
    return json.dumps(settings).encode() + b"\n"


async def _ready(started: Worker, tier: str, stderr_fd: int) -> None:
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            line, started.pending, sender = await _first_line(started)
    except TimeoutError:
        raise TierFailed(f"{tier}: the worker was not ready within {READY_TIMEOUT_S:g} s") from None
    except (EOFError, OSError):
        raise TierFailed(f"{tier}: {await _last_words(started, stderr_fd)}") from None
    try:
        message = json.loads(line)
        notice, data = message["notice"], dict(message["data"])
    except (KeyError, TypeError, ValueError):  # whatever was started as bubblewrap may have said something itself
        raise TierFailed(f"{tier}: the first line was no notice: {line[:MAX_SHOWN_BYTES]!r}") from None
    if notice != "ready":
        raise TierFailed(f"{tier}: {data.get('why')}")
    started.layers = data
    started.found(sender)  # not before: another's word must not say whom to kill


async def _first_line(started: Worker) -> tuple[bytes, bytes, int]:
    """What it says first, what came with that, and by the kernel's word who said it: a wrapped worker is no child."""
    received, sender, ready = b"", 0, asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(started.sock, ready.set)
    try:
        while b"\n" not in received:
            await ready.wait()
            ready.clear()
            chunk, attached, _, _ = started.sock.recvmsg(MAX_READY_BYTES, socket.CMSG_SPACE(UCRED.size))
            if not chunk or len(received) > MAX_READY_BYTES:
                raise EOFError
            received += chunk
            sender = _sender(attached)
    finally:
        loop.remove_reader(started.sock)
    started.sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    line, _, rest = received.partition(b"\n")
    return line, rest, sender


def _sender(attached: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in attached:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            return int(UCRED.unpack(data)[0])
    raise EOFError  # a kernel that does not say is none that we know


async def _last_words(started: Worker, stderr_fd: int) -> str:
    try:
        status = await started.wait(LAST_WORDS_S)  # its socket is closed, so it is no use whatever it does
    except TimeoutError:
        started.kill()
        status = "still running"
    said = os.pread(stderr_fd, os.fstat(stderr_fd).st_size, 0).decode(errors="replace").strip()
    return f"the worker ended before it was ready ({status}) {said[-MAX_STDERR_CHARACTERS:]}".rstrip()


def unavailable(reasons: list[str]) -> UnavailableError:
    """No tier passed its self-test; each reason is named."""
    message = f"no sandbox passed its self-test ({'; '.join(reasons)}); run `capsdk doctor`"
    return UnavailableError("SANDBOX_UNAVAILABLE", message, hint=HINT, reasons=reasons)
