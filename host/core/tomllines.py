"""Where in a TOML text each key stands, so that a complaint can name the line. Reads only what tomllib has accepted."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\r\n]+|#[^\n]*")
_INLINE_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'", re.DOTALL
)  # https://toml.io/en/v1.0.0#string
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}


def lines_of(text: str) -> Mapping[Path, int]:
    """The line (from 1) of each table, key and array item, by its path.

    A table is where it is first named. What is not TOML gives lines up to there, and no error.
    """
    reader = _Reader(text)
    with contextlib.suppress(_Lost, RecursionError):  # better no line than a second complaint about the same file
        reader.document()
    return reader.lines


def nearest_line(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of `path`, or of the innermost table or array around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


class _Lost(Exception):
    """The text is not what tomllib would have accepted."""


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line, self._counted = 1, 0
        self._lengths: dict[Path, int] = {}
        self.lines: dict[Path, int] = {}

    def document(self) -> None:
        """All of it: headers, and the keys below each."""
        table: Path = ()
        while self._skip_space() < len(self._text):
            if self._takes("["):
                many = self._takes("[")
                table = self._header(self._key(), many=many)
                self._take("]]" if many else "]")
            else:
                self._pair(table)

    def _header(self, parts: Path, *, many: bool) -> Path:
        """The path that a header means: inside an array of tables, its last item."""
        path: Path = ()
        for number, part in enumerate(parts, start=1):
            path = (*path, part)
            if number == len(parts) and many:
                self._note(path)
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
            self._note(path)
        return path

    def _pair(self, table: Path) -> None:
        path = table
        for part in self._key():
            path = (*path, part)
            self._note(path)
        self._take("=")
        self._value(path)

    def _key(self) -> Path:
        parts: list[str | int] = [self._key_part()]
        while self._takes("."):
            parts.append(self._key_part())
        return tuple(parts)

    def _key_part(self) -> str:
        self._match(_INLINE_SPACE)
        quoted = _STRING.match(self._text, self._at)
        if quoted is None:
            return self._match(_BARE)
        raw = self._match(_STRING)
        return raw[1:-1] if raw.startswith("'") else _ESCAPE.sub(_unescaped, raw[1:-1])

    def _value(self, path: Path) -> None:
        self._match(_INLINE_SPACE)
        if self._takes("["):
            self._items(path)
        elif self._takes("{"):
            self._inline(path)
        elif _STRING.match(self._text, self._at):
            self._match(_STRING)
        else:
            self._match(_SCALAR)

    def _items(self, path: Path) -> None:
        number = 0
        self._skip_space()
        while not self._takes("]"):
            self._note((*path, number))
            self._value((*path, number))
            number += 1
            self._skip_space()
            self._takes(",")
            self._skip_space()

    def _inline(self, path: Path) -> None:
        self._skip_space()
        while not self._takes("}"):
            self._pair(path)
            self._skip_space()
            self._takes(",")
            self._skip_space()

    def _note(self, path: Path) -> None:
        if path not in self.lines:
            self._line += self._text.count("\n", self._counted, self._at)
            self._counted = self._at
            self.lines[path] = self._line

    def _skip_space(self) -> int:
        while found := _SPACE.match(self._text, self._at):
            self._at = found.end()
        return self._at

    def _takes(self, word: str) -> bool:
        self._match(_INLINE_SPACE)
        if not self._text.startswith(word, self._at):
            return False
        self._at += len(word)
        return True

    def _take(self, word: str) -> None:
        if not self._takes(word):
            raise _Lost

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise _Lost
        self._at = found.end()
        return found.group()


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _SHORT.get(found[3], found[3])
