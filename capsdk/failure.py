"""Turns the end of a script into what its author is told: code, place, own lines, what to do. Raises nothing."""

from __future__ import annotations

import resource
import traceback
from collections.abc import Collection, Iterator
from typing import Any

from capsdk import errors, instead
from capsdk.errors import CapError
from capsdk.ownlines import Place, place_of, trace
from capsdk.shortfall import SignedOut

MAX_MESSAGE_CHARACTERS = 2000
MAX_NAMED = 3
"""Failures of an exception group that its message tells one by one."""

MIB = 1024 * 1024
_MEMORY_HINT = "limits.memory_mb in app.toml can be raised"
_RECURSION_HINT = "the function calls itself without an end; the trace shows where"
_CANCELLED_HINT = "a task that was cancelled has been awaited; catch asyncio.CancelledError where you await it"


def describe(error: BaseException, paths: Collection[str]) -> dict[str, Any]:
    """The data of a `failed` notice. `paths` are the files whose frames are the author's."""
    try:
        if isinstance(error, MemoryError | RecursionError):
            traceback.clear_frames(error.__traceback__)  # what filled the memory hangs on those frames
        return _describe(error, only_leaf(error), paths)
    except BaseException as problem:  # an exception of the author's can do anything when it is looked at
        message = f"{type(error).__name__}, which cannot be described ({type(problem).__name__})"
        return {"code": "SCRIPT_FAILED", "type": type(error).__name__, "message": message, "trace": ""}


def failed(message: str, *, code: str = "SCRIPT_FAILED", hint: str | None = None, **place: Any) -> dict[str, Any]:
    """The data of a `failed` notice that has no exception behind it; `place` is its `file` and `line`."""
    data: dict[str, Any] = {"code": code, "type": "ScriptError", "message": message, "trace": "", **place}
    if hint is not None:
        data["hint"] = hint
    if code != "SCRIPT_FAILED":
        data["error"] = errors.error(code, message, hint=hint).to_wire()
    return data


def one_line(error: BaseException, paths: Collection[str]) -> str:
    """What and where, as `main.py:12: KeyError: 'price'`."""
    try:
        place, text = place_of(error, paths), _text(error)
        name = type(error).__name__
        return f"{f'{place}: ' if place else ''}{name}{f': {text}' if text != name else ''}"
    except BaseException as problem:
        return f"an error that cannot be described ({type(problem).__name__})"


def only_leaf(error: BaseException) -> BaseException:
    """The one failure behind `error`: a task group wraps even a single one, and several may be the same refusal."""
    leaves = list(_leaves(error))
    first = leaves[0] if leaves else error
    same = isinstance(first, CapError | MemoryError | SignedOut) and len({_kind(leaf) for leaf in leaves}) == 1
    return first if same or len(leaves) == 1 else error


def _kind(error: BaseException) -> tuple[type[BaseException], str]:
    return type(error), error.code if isinstance(error, CapError) else ""


def _leaves(error: BaseException) -> Iterator[BaseException]:
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BaseExceptionGroup):
            waiting += reversed(one.exceptions)
        else:
            yield one


def _describe(error: BaseException, cause: BaseException, paths: Collection[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"code": "SCRIPT_FAILED", "type": type(cause).__name__, "message": _message(cause, paths)}
    place, hint = place_of(cause, paths) or place_of(error, paths), _hint(cause, paths)
    if place is not None:
        told |= place._asdict()
    if hint is not None:
        told["hint"] = hint
    if isinstance(cause, CapError):
        told |= {"code": cause.code, "message": cause.message, "error": cause.to_wire()}
    elif isinstance(cause, MemoryError):
        told |= _out_of_memory(place)
    told["trace"] = trace(error if place_of(cause, paths) is None else cause, paths)
    return told


def _out_of_memory(place: Place | None) -> dict[str, Any]:
    limit_bytes = resource.getrlimit(resource.RLIMIT_AS)[0]
    details: dict[str, Any] = {"what": "memory_mb"}
    may = ""
    if limit_bytes != resource.RLIM_INFINITY:
        details["limit"] = details["actual"] = limit_bytes // MIB
        may = f": the run may use {limit_bytes // MIB} MB (memory_mb) and needs more"
    message = f"{f'{place}: ' if place else ''}out of memory{may}; keep less at once"
    wire = errors.error("RUN_LIMIT", message, hint=_MEMORY_HINT, **details).to_wire()
    return {"code": "RUN_LIMIT", "message": message, "error": wire}


def _message(error: BaseException, paths: Collection[str]) -> str:
    if isinstance(error, BaseExceptionGroup):
        leaves = list(_leaves(error))
        named = "; ".join(one_line(leaf, paths) for leaf in leaves[:MAX_NAMED])
        more = f"; and {len(leaves) - MAX_NAMED} more" if len(leaves) > MAX_NAMED else ""
        return f"{len(leaves)} errors: {named}{more}"[:MAX_MESSAGE_CHARACTERS]
    return _text(error)


def _text(error: BaseException) -> str:
    if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):
        return f"the script raised {type(error).__name__}"
    try:
        if isinstance(error, SyntaxError) and error.msg:
            return str(error.msg)  # its place is told beside it
        return str(error)[:MAX_MESSAGE_CHARACTERS] or type(error).__name__
    except BaseException:
        return f"{type(error).__name__} without a readable message"


def _hint(error: BaseException, paths: Collection[str]) -> str | None:
    if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):
        return instead.RETURN
    if isinstance(error, RecursionError):
        return _RECURSION_HINT
    try:
        advised = [instead.advice(leaf, paths) for leaf in _leaves(error)]
    except BaseException:
        return None
    return next((one for one in advised if one is not None), None)


def cancelled(error: BaseException, paths: Collection[str]) -> dict[str, Any]:
    """The data of a `failed` notice when nobody but the script itself has cancelled its `main`."""
    told = describe(error, paths)
    return told | {"message": "its main task was cancelled by the script itself", "hint": _CANCELLED_HINT}
