"""What stands where a private detail stood: `<EMAIL_1>`, the same for the same value as long as a chat lasts."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MOST_VALUES = 4096
DIGITS_OF_A_NUMBER = 6
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
BETWEEN = re.compile(r"[\s\u2010-\u2015\u2212_-]+")
NOT_ALNUM = re.compile(r"[\W_]+")


class Placeholders:
    """Those of one chat. It keeps no value, only a keyed digest of each: nobody can read it back out of here.

    `key` is random and the chat's own. At most `most` values are remembered: the one not seen for longest is
    forgotten first and gets another number when it comes again. A number is never used for two values.
    """

    def __init__(self, key: bytes, most: int = MOST_VALUES) -> None:
        self._key = key
        self._most = most
        self._known: dict[bytes, str] = {}
        self._last: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, type_: str, value: str) -> str:
        """The placeholder of a value; the type under which it came first stays its type."""
        digest = self._digest(value)
        placeholder = self._known.pop(digest, None)
        if placeholder is None:
            self._last[type_] = number = self._last.get(type_, 0) + 1
            placeholder = f"<{type_}_{number}>"
            if len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
        self._known[digest] = placeholder  # now the newest
        return placeholder

    def type_of(self, value: str) -> str:
        """The type of a value that has a placeholder; empty when it has none."""
        return self._known.get(self._digest(value), "")[1:].rpartition("_")[0]

    def _digest(self, value: str) -> bytes:
        spelled = normal(value).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(spelled, key=self._key[:64], digest_size=16).digest()


def normal(value: str) -> str:
    """A value without what only spells it another way: case, width, invisible signs, separators."""
    plain = INVISIBLE.sub("", unicodedata.normalize("NFKC", value)).casefold().strip()
    if "@" not in plain and sum(map(str.isdigit, plain)) >= DIGITS_OF_A_NUMBER:
        return NOT_ALNUM.sub("", plain)
    return BETWEEN.sub(" ", plain)
