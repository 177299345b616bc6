"""Turns an uncaught exception of a script into what its author is told: code, message, own lines. Raises nothing."""

from __future__ import annotations

import builtins
import errno
import socket
import traceback
from collections.abc import Collection
from typing import Any

from capsdk import errors
from capsdk.errors import CapError

MAX_MESSAGE_CHARACTERS = 4000
MAX_TRACE_CHARACTERS = 16_000
MAX_FRAMES = 40

_REFUSED_ERRNOS = frozenset((errno.EPERM, errno.EACCES, errno.ENOSYS))
_FILE_HINT = "a script cannot open files; read a file of its app folder with `await ctx.asset(path)`"
_OTHER_HINT = (
    "a script has no files, network or processes; call the browser with `ctx.cap.call` or `ctx.browser`, "
    "read files of its app folder with `ctx.asset`"
)
_THREAD_HINT = "a script cannot start threads; use asyncio tasks"
_IMPORT_HINT = "third-party packages are not available; put a pure-Python module into the app folder"
_MEMORY_HINT = "keep less at once, or raise limits.memory_mb in app.toml"


def describe(error: BaseException, paths: Collection[str]) -> dict[str, Any]:
    """The data of a `failed` notice. `paths` are the files whose frames are the author's."""
    if isinstance(error, MemoryError | RecursionError):
        traceback.clear_frames(error.__traceback__)  # what filled the memory hangs on those frames
    cause = only_leaf(error)
    if isinstance(cause, CapError):
        described = {"code": cause.code, "type": type(cause).__name__, "message": cause.message}
        described["error"] = cause.to_wire()  # type: ignore[assignment]
    else:
        described = {"code": "SCRIPT_FAILED", "type": type(cause).__name__, "message": _message(cause)}
    described["trace"] = trace(error, paths)
    return described


def failed(message: str, *, code: str = "SCRIPT_FAILED") -> dict[str, Any]:
    """The data of a `failed` notice that has no exception behind it."""
    data: dict[str, Any] = {"code": code, "type": "ScriptError", "message": message, "trace": ""}
    if code != "SCRIPT_FAILED":
        data["error"] = errors.error(code, message).to_wire()
    return data


def trace(error: BaseException, paths: Collection[str]) -> str:
    """The traceback as Python prints it, with the author's frames only; shortened in its middle when it is long."""
    try:
        told = traceback.TracebackException.from_exception(error, limit=None, compact=True)
        _keep_only(told, paths)
        text = "".join(told.format())
    except BaseException as problem:  # an author's __str__ may do anything
        return f"(the traceback could not be written: {type(problem).__name__})"
    if len(text) <= MAX_TRACE_CHARACTERS:
        return text
    half = MAX_TRACE_CHARACTERS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def _keep_only(told: traceback.TracebackException, paths: Collection[str]) -> None:
    frames = [frame for frame in told.stack if frame.filename in paths]
    if len(frames) > MAX_FRAMES:
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
    told.stack = traceback.StackSummary.from_list(frames)
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _keep_only(other, paths)


def only_leaf(error: BaseException) -> BaseException:
    """The one failure behind `error`: a task group wraps even a single one, and its cause is the news."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _message(error: BaseException) -> str:
    text = _text(error)[:MAX_MESSAGE_CHARACTERS]
    hint = _hint(error, text)
    return f"{text}; {hint}" if hint else text


def _text(error: BaseException) -> str:
    if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):
        return f"the script raised {type(error).__name__}; return a Result instead"
    try:
        return str(error) or type(error).__name__
    except BaseException:
        return f"{type(error).__name__} without a readable message"


def _hint(error: BaseException, text: str) -> str | None:
    if isinstance(error, socket.gaierror):
        return _OTHER_HINT
    if isinstance(error, builtins.OSError) and error.errno in _REFUSED_ERRNOS:
        return _FILE_HINT if error.filename is not None else _OTHER_HINT
    if isinstance(error, ModuleNotFoundError) and text == f"No module named {error.name!r}":
        return _IMPORT_HINT
    if isinstance(error, MemoryError):
        return _MEMORY_HINT
    return _THREAD_HINT if isinstance(error, RuntimeError) and "start new thread" in text else None
