"""What a person sees on a terminal: a table of rows, and progress that stays on one line."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from types import TracebackType
from typing import Any, TextIO

CELL_CHARS = 60
SPELLED_OUT = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))  # controls, directions, the unseen, line breaks


def plain(value: Any) -> str:
    """A value on one line: rows come from pages, so control and direction characters are spelled out."""
    text = "" if value is None else str(value)
    made = "".join(c if unicodedata.category(c) not in SPELLED_OUT else f"\\u{ord(c):04x}" for c in text)
    return made if len(made) <= CELL_CHARS else made[: CELL_CHARS - 1] + "…"


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of equal keys as aligned columns; empty for none."""
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[plain(name) for name in names], *([plain(row.get(name)) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


class Progress:
    """Shows a run's progress and log on a stream; on a terminal progress is rewritten in place."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rewrites = stream.isatty()
        self._open = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish_line()

    def tell(self, kind: str, data: dict[str, Any]) -> None:
        """One thing the run says: `start`, `progress` or `log`."""
        if kind == "start":
            self._line(f"run {data['run']} of {plain(data['app'])} in sandbox {data['tier']}")
        elif kind == "progress":
            self._progress(data)
        elif data.get("level") != "debug":
            self._line(f"{data.get('level', 'info')}: {plain(data.get('message'))}")

    def _progress(self, data: dict[str, Any]) -> None:
        done, total = data.get("done", 0), data.get("total")
        count = f"{done:g}/{total:g}" if total else f"{done:g}"
        text = f"[{count}] {plain(data.get('message'))}"
        if not self._rewrites:
            self._line(text)
            return
        self._stream.write(f"\r\x1b[2K{text}")
        self._stream.flush()
        self._open = True

    def _line(self, text: str) -> None:
        self._finish_line()
        self._stream.write(text + "\n")
        self._stream.flush()

    def _finish_line(self) -> None:
        if self._open:
            self._stream.write("\n")
            self._open = False
