"""What an entry is: declared once, and every door, schema and contract test comes from the declaration."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from host.dispatch.call import Call


class Args(BaseModel):
    """Arguments of an entry: unknown keys and loose types are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Result(BaseModel):
    """The shape of an entry's result, for schemas: results may gain keys."""

    model_config = ConfigDict(extra="allow")


class Lane(StrEnum):
    """What a call waits for: nothing, the calls before it in its session, or all others."""

    NONE = "none"
    TAB = "tab"
    WINDOW = "window"


class Effect(StrEnum):
    """What a call may change, as a hint for clients."""

    READ = "read"
    WRITE = "write"


class Touched(Protocol):
    """The session a call is about, as far as the dispatcher cares: for lanes and the ledger."""

    @property
    def id(self) -> str: ...

    @property
    def origin(self) -> str: ...


Handler = Callable[["Call"], Coroutine[Any, Any, bytes] | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """One callable operation.

    `handler(call)` either returns a coroutine of the result as JSON bytes, or returns None and calls `call.finish`
    or `call.fail` itself, now or later, from a callback: the hot path. `timeout_s` None says that the handler keeps
    the deadline itself. `owned(call)` finds the session the call is about and raises when it is not the caller's;
    `free(call)` tells calls that need no grant; `prepare(call)` applies the entry's own rules and limits before
    anything happens, and leaves in `call.prepared` what the handler needs of it. `page_data` False says that the result
    holds nothing of a page or a person: an AI reads it as it is.
    """

    name: str
    summary: str
    args: type[Args]
    result: type[Result]
    capability: str | None
    lane: Lane
    effect: Effect
    timeout_s: float | None
    errors: tuple[str, ...]
    example: Args
    handler: Handler
    limits: tuple[str, ...] = ()
    owned: Callable[[Call], Touched | None] = lambda call: None
    free: Callable[[Call], bool] = lambda call: False
    prepare: Callable[[Call], Any] = lambda call: None
    cdp_method: Callable[[Any], str] = lambda args: ""
    page_data: bool = True
