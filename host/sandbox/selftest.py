"""What a worker tries on itself after the lock: controls that must succeed, attempts that must be refused."""

from __future__ import annotations

import errno
import importlib
import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

DENIED = (errno.EPERM, errno.EACCES)
NEVER_IMPORTED_BEFORE = "colorsys"


class SelfTestError(RuntimeError):
    """The lock is not what it should be, or useful code does not run under it."""


class Control(NamedTuple):
    """Useful work that has to succeed, else a refusal proves nothing."""

    name: str
    works: Callable[[], bool]


class Attempt(NamedTuple):
    """Something only an unlocked process can do; it has to end in EPERM or EACCES."""

    name: str
    escape: Callable[[], object]


def _socket_pair_works() -> bool:
    ours, theirs = socket.socketpair()
    with ours, theirs, select.epoll() as poll:
        theirs.setblocking(False)
        poll.register(theirs.fileno(), select.EPOLLIN)
        ours.send(b"ping")
        return bool(poll.poll(1.0)) and theirs.recv(8) == b"ping"


def _memory_import_works() -> bool:
    fresh = NEVER_IMPORTED_BEFORE not in sys.modules
    return fresh and importlib.import_module(NEVER_IMPORTED_BEFORE).rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)  # unlocked after all: the child must not go on


CONTROLS = (
    Control("arithmetic", lambda: sum(range(1000)) == 499500),
    Control("import-from-memory", _memory_import_works),
    Control("json", lambda: json.loads(json.dumps({"a": [1, "é", None]})) == {"a": [1, "é", None]}),
    Control("socketpair", _socket_pair_works),
    Control("time", lambda: time.monotonic() > 0 and time.time() > 0),
)
ATTEMPTS = (
    # Without the lock these names end in ENOENT: nothing is ever run by the attempt itself.
    Attempt("exec", lambda: os.execve("/nonexistent", ["nonexistent"], {})),
    Attempt("fork", _fork),
    Attempt("open", lambda: os.open("/etc/passwd", os.O_RDONLY)),
    Attempt("socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)),
    Attempt("stat", lambda: os.stat("/etc/passwd")),
)


def self_test(uid: int | None) -> dict[str, str]:
    """Each check's name and outcome (`ok` or the errno it was refused with). Raises SelfTestError at a surprise."""
    checks: dict[str, str] = {}
    for control in CONTROLS:
        checks[control.name] = _worked(control)
    for attempt in ATTEMPTS:
        checks[attempt.name] = _refused(attempt)
    if os.geteuid() == 0 or os.getuid() == 0 or (uid is not None and {os.getuid(), os.geteuid()} != {uid}):
        raise SelfTestError(f"runs as uid {os.getuid()}/{os.geteuid()}, not as its own user")
    return {**checks, "uid": "ok"}


def _worked(control: Control) -> str:
    try:
        worked = control.works()
    except Exception as error:
        raise SelfTestError(f"control {control.name} failed: {error!r}") from error
    if not worked:
        raise SelfTestError(f"control {control.name} gave a wrong result")
    return "ok"


def _refused(attempt: Attempt) -> str:
    try:
        attempt.escape()
    except OSError as error:
        if error.errno in DENIED:
            return errno.errorcode[error.errno]
        raise SelfTestError(f"{attempt.name} was not refused by the lock: {error}") from error
    raise SelfTestError(f"{attempt.name} succeeded inside the lock")
