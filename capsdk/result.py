"""What a script hands back: a state, rows, and a reason when there is less than was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["ok", "partial", "empty", "blocked", "failed"]

MAX_REASONS = 5


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a script; built by `ok`, `partial`, `empty`, `blocked`, `failed` or `of`.

    `rows_json` is a compact JSON array of objects, plain ASCII. `complete` says whether everything that was
    asked for is in it (an empty answer can be complete).
    """

    state: State
    complete: bool
    rows_json: str = "[]"
    reason: str = ""

    @classmethod
    def ok(cls, rows: Iterable[Mapping[str, Any]]) -> Result:
        """Everything that was asked for. Raises TypeError naming the row that is not a JSON object."""
        return cls("ok", True, _rows_json(rows))

    @classmethod
    def partial(cls, rows: Iterable[Mapping[str, Any]], reason: str) -> Result:
        """A part of it, and why the rest is missing. Raises TypeError like `ok`."""
        return cls("partial", False, _rows_json(rows), reason)

    @classmethod
    def empty(cls, reason: str = "") -> Result:
        """It was looked for everywhere and there is nothing."""
        return cls("empty", True, "[]", reason)

    @classmethod
    def blocked(cls, reason: str, rows: Iterable[Mapping[str, Any]] = ()) -> Result:
        """Something that only a person can remove stands in the way: a sign-in, a challenge, a refused grant.

        `rows` are what was read before that. Raises TypeError like `ok`.
        """
        return cls("blocked", False, _rows_json(rows), reason)

    @classmethod
    def failed(cls, reason: str) -> Result:
        """The site did not do what the recipe expects."""
        return cls("failed", False, "[]", reason)

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], missing: Sequence[str] = ()) -> Result:
        """What rows and reasons add up to: `ok` or `empty` when nothing is missing, else `partial` or `failed`.

        `missing` says what is not in the rows and why, one a part; the first five are told. Raises TypeError like `ok`.
        """
        if not missing:
            return cls.ok(rows) if rows else cls.empty()
        more = f"; and {len(missing) - MAX_REASONS} more" if len(missing) > MAX_REASONS else ""
        reason = "; ".join(missing[:MAX_REASONS]) + more
        return cls.partial(rows, reason) if rows else cls.failed(reason)

    def to_wire(self) -> dict[str, Any]:
        """The object `{state, complete, rowsJson}`, with `reason` when there is one."""
        wire: dict[str, Any] = {"state": self.state, "complete": self.complete, "rowsJson": self.rows_json}
        if self.reason:
            wire["reason"] = self.reason
        return wire


def _rows_json(rows: Iterable[Mapping[str, Any]]) -> str:
    return "[" + ",".join(_row_json(index, row) for index, row in enumerate(rows)) + "]"


def _row_json(index: int, row: object) -> str:
    if not isinstance(row, Mapping):
        raise TypeError(f"row {index} is {type(row).__name__}; a row is a dict such as {{'title': 'Lamp'}}")
    try:
        return json.dumps(dict(row), separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise TypeError(
            f"row {index} is not JSON ({problem}); use str, int, float, bool, None, list and dict"
        ) from None
