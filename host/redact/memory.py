"""What was read in pixels that have been seen before: a bounded memory, least recently used goes first."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Final, Generic, TypeVar

V = TypeVar("V")
MOST_ENTRIES: Final = 2_000


class Memory(Generic[V]):
    """Results by a hash of the pixels that they come from. Safe to use from several threads."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> V | None:
        """What is remembered under a key."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: bytes, value: V) -> None:
        """Remember one more; the oldest goes when there are too many."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)


def key_of(pixels: bytes, *more: object) -> bytes:
    """The key of some pixels and of what else the result depends on."""
    hashed = hashlib.blake2b(pixels, digest_size=24)
    hashed.update(repr(more).encode())
    return hashed.digest()
