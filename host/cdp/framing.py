"""NUL-ended frames out of a byte stream, without I/O; a frame over its limit is thrown away while it arrives."""

from __future__ import annotations

from collections.abc import Callable

HEAD_BYTES = 256
TAIL_BYTES = 256


class FrameSplitter:
    """Feed it what was read; it calls back with each frame, less its NUL.

    `on_frame(frame)` gets a whole frame. `limit_of(head)` is asked once when a frame grows past `limit_bytes`
    and says how large this one may be. A frame over that is not buffered any further: `on_discard(head)` tells
    when the discarding starts and `on_oversize(head, tail, size_bytes)` when the frame has ended.
    """

    def __init__(
        self,
        on_frame: Callable[[bytes], None],
        on_oversize: Callable[[bytes, bytes, int], None],
        *,
        limit_bytes: int,
        limit_of: Callable[[bytes], int] | None = None,
        on_discard: Callable[[bytes], None] | None = None,
    ) -> None:
        self._on_frame = on_frame
        self._on_oversize = on_oversize
        self._on_discard = on_discard
        self._limit_bytes = limit_bytes
        self._limit_of = limit_of
        self._parts: list[bytes] = []
        self._size_bytes = 0
        self._frame_limit = limit_bytes
        self._asked = False
        self._discarding = False
        self._head = b""
        self._tail = b""

    @property
    def buffered_bytes(self) -> int:
        """How much of an unfinished frame is held."""
        return sum(map(len, self._parts)) + len(self._head) + len(self._tail)

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        start = 0
        while (end := data.find(b"\0", start)) >= 0:
            if self._size_bytes or end - start > self._frame_limit:
                self._take(data[start:end])
                self._finish()
            elif end > start:
                self._on_frame(data[start:end])
            start = end + 1
        if start < len(data):
            self._take(data[start:] if start else data)

    def _take(self, piece: bytes) -> None:
        self._size_bytes += len(piece)
        if self._discarding:
            self._tail = (self._tail + piece)[-TAIL_BYTES:]
            return
        self._parts.append(piece)
        if self._size_bytes > self._frame_limit and not self._raise_limit():
            self._discard()

    def _raise_limit(self) -> bool:
        if self._asked or self._limit_of is None:
            return False
        self._asked = True
        self._frame_limit = max(self._limit_bytes, self._limit_of(self._start()))
        return self._size_bytes <= self._frame_limit

    def _start(self) -> bytes:
        head = b""
        for part in self._parts:
            head += part[: HEAD_BYTES - len(head)]
            if len(head) >= HEAD_BYTES:
                break
        return head

    def _discard(self) -> None:
        self._head = self._start()
        tail = b""
        for part in reversed(self._parts):
            tail = part[-(TAIL_BYTES - len(tail)) :] + tail
            if len(tail) >= TAIL_BYTES:
                break
        self._tail = tail
        self._parts = []
        self._discarding = True
        if self._on_discard is not None:
            self._on_discard(self._head)

    def _finish(self) -> None:
        if self._discarding:
            head, tail, size_bytes = self._head, self._tail, self._size_bytes
            self._reset()
            self._on_oversize(head, tail, size_bytes)
        else:
            frame = b"".join(self._parts)
            self._reset()
            self._on_frame(frame)

    def _reset(self) -> None:
        self._parts = []
        self._size_bytes = 0
        self._frame_limit = self._limit_bytes
        self._asked = self._discarding = False
        self._head = self._tail = b""
