"""What a person sees on a terminal: a table of rows, progress that stays on one line, how a run failed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import takewhile
from types import TracebackType
from typing import Any, TextIO

from capsdk.errors import CapError

CELL_CHARS = 60
LOG_CHARS = 500
LOG_LINES = 20
TRACE_LINES = 30
TRACE_HEAD = "Traceback (most recent call last):"
INDENT = " " * 8
SPELLED_OUT = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))  # controls, directions, the unseen, line breaks


def plain(value: Any) -> str:
    """A value on one line: rows come from pages, so control and direction characters are spelled out."""
    return cut(spelled_out("" if value is None else str(value)), CELL_CHARS)


def spelled_out(text: str) -> str:
    """All of a text on one line, with nothing in it that a terminal obeys."""
    return "".join(c if unicodedata.category(c) not in SPELLED_OUT else f"\\u{ord(c):04x}" for c in text)


def cut(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis: `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def error_lines(problem: CapError) -> Iterator[str]:
    """An error for a person: what and where on one line, then what to do, then the author's lines that led there."""
    file, line = problem.details.get("file"), problem.details.get("line")
    place = f"{file}:{line}" if line else f"{file}"
    where = f"{place}: " if file and not problem.message.startswith(f"{place}:") else ""
    said = " ".join(part for part in map(str.strip, problem.message.splitlines()) if part)
    yield f"capsdk: {problem.code}: {spelled_out(where + said)}"
    if problem.hint:
        yield INDENT + spelled_out(problem.hint)
    trace = problem.details.get("trace")
    if isinstance(trace, str):
        yield from map(spelled_out, _shortened(_told_anew(trace.splitlines())))


def _told_anew(trace: list[str]) -> list[str]:
    """What a trace adds to the line that was shown already; all of it when it speaks of several errors."""
    if trace.count(TRACE_HEAD) == 1 and trace[0] == TRACE_HEAD:
        return _frames(trace[1:])
    return _frames(trace) or trace  # a syntax error of the entry has frames and no head


def _frames(lines: list[str]) -> list[str]:
    return list(takewhile(lambda line: line.startswith(" "), lines))


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= TRACE_LINES:
        return lines
    head = TRACE_LINES // 3
    tail = TRACE_LINES - head - 1
    return [*lines[:head], f"  … {len(lines) - head - tail} lines left out; --json has them …", *lines[-tail:]]


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
            self._log(f"{data.get('level', 'info')}: ", str(data.get("message", "")).splitlines() or [""])

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

    def _log(self, level: str, lines: list[str]) -> None:
        """Further lines of one message stand below its first: none can pass for something else."""
        for number, line in enumerate(lines[:LOG_LINES]):
            self._line((" " * len(level) if number else level) + cut(spelled_out(line), LOG_CHARS))
        if len(lines) > LOG_LINES:
            self._line(f"{' ' * len(level)}… {len(lines) - LOG_LINES} lines left out …")

    def _line(self, text: str) -> None:
        self._finish_line()
        self._stream.write(text + "\n")
        self._stream.flush()

    def _finish_line(self) -> None:
        if self._open:
            self._stream.write("\n")
            self._open = False
