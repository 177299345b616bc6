"""The redactor's process: no network, everything loaded and tried, then rights dropped for good, then it serves.

Run as `python -I -S -B main.py SETTINGS`. SETTINGS is JSON: `path` (where modules are), `channel` (a descriptor),
`uid` (to become, or null), `engine` (an EngineConfig). The OCR's files lie in TMPDIR, a folder of that uid's.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from host.core.redaction import Found, Text
    from host.redact.wire import Answer, Ask

THREADS = 3
MOST_RSS_MB = 450
TRIED = "Contact: Jane Doe, jane.doe@example.com"
TRIED_TYPES = {"EMAIL", "PERSON"}


class Server:
    """Takes questions from the channel and answers each from a thread, in any order."""

    def __init__(self, channel: socket.socket, engine: Any) -> None:
        import threading
        from concurrent.futures import ThreadPoolExecutor

        self._channel = channel
        self._engine = engine
        self._pool = ThreadPoolExecutor(THREADS)
        self._writing = threading.Lock()
        self._choosing = threading.Lock()
        self._reader: Any = None

    def say(self, answer: Answer, blobs: Sequence[bytes] = ()) -> None:
        """Write one answer."""
        from host.redact.wire import packed

        with self._writing:
            self._channel.sendall(packed(answer, blobs))

    def serve(self) -> None:
        """Until the host is gone."""
        import os

        from host.redact import wire

        try:
            while True:
                head_bytes, blob_bytes = wire.sizes(self._exactly(wire.SIZES.size))
                ask = wire.ASKS.decode(self._exactly(head_bytes))
                blobs = wire.pieces(ask, self._exactly(blob_bytes))
                self._pool.submit(self._answer, ask, blobs)
        except (ConnectionError, ValueError, OSError):
            os._exit(0)

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            got = self._channel.recv(min(1 << 20, size - len(parts)))
            if not got:
                raise ConnectionError
            parts += got
        return bytes(parts)

    def _answer(self, ask: Ask, blobs: list[bytes]) -> None:
        import os

        from host.redact.failure import NotChecked, TooLarge
        from host.redact.wire import Answer

        try:
            self._do(ask, blobs)
        except NotChecked as problem:
            self.say(Answer(ask.number, step=problem.step, why=problem.why))
        except TooLarge as problem:
            self.say(Answer(ask.number, step="size", why=str(problem), limit=problem.limit, actual=problem.actual))
        except (ConnectionError, BrokenPipeError):
            os._exit(0)
        except BaseException as problem:
            self.say(Answer(ask.number, step="redactor", why=type(problem).__name__))  # its words may quote the page
        if rss_mb() > MOST_RSS_MB:
            os._exit(3)  # the host starts another one when it needs it

    def _do(self, ask: Ask, blobs: list[bytes]) -> None:
        import time

        from host.redact.picture import redact
        from host.redact.wire import Answer

        until = time.monotonic() + ask.seconds
        if ask.picture is not None:
            done, data = redact(ask.picture, blobs, self._find, self._ocr, until)
            self.say(Answer(ask.number, picture=done), [data])
        else:
            self.say(Answer(ask.number, found=self._find(ask.texts or [])))

    def _find(self, texts: Sequence[Text]) -> list[list[Found]]:
        found: list[list[Found]] = self._engine.find(texts)
        return found

    def _ocr(self) -> Any:
        """The OCR engine, chosen when the first picture needs one."""
        from host.redact.ocr import choose

        with self._choosing:
            if self._reader is None:
                self._reader = choose()
            return self._reader


def rss_mb() -> float:
    """How much memory the process holds, in MB."""
    import resource

    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / (1 << 20)


def run(settings: dict[str, Any]) -> None:
    """Be the redactor; returns never."""
    import os
    import socket

    from host.redact import quiet
    from host.redact.wire import Answer

    quiet.dies_with_the_host()
    quiet.no_network()
    import msgspec

    from host.core.redaction import Text
    from host.redact import ocr, picture
    from host.redact.engine import Engine, EngineConfig

    assert ocr, picture  # imported while files can be read
    channel = socket.socket(fileno=settings["channel"])
    try:
        engine = Engine.load(msgspec.convert(settings["engine"], EngineConfig))
        # Long and many, too: whatever Python loads late has to be loaded while files can be read.
        seen = {one.type for one in engine.find([Text(TRIED), Text(f"{TRIED}; " * 20), *map(Text, TRIED.split())])[0]}
        if missing := TRIED_TYPES - set(settings["engine"]["off"]) - seen:
            raise ValueError(f"the trial did not find {', '.join(sorted(missing))}")
        about = {"versions": engine.about, "ocr": ocr.described(), "rssMb": round(rss_mb())}
        quiet.become(settings["uid"])
    except (ImportError, OSError, ValueError) as problem:
        why = problem.name if isinstance(problem, ImportError) and problem.name else str(problem)[:300]
        step = "module" if isinstance(problem, ImportError) else "load"
        Server(channel, None).say(Answer(0, step=step, why=why or type(problem).__name__))
        os._exit(1)
    server = Server(channel, engine)
    server.say(Answer(0, about=about))
    server.serve()


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.path[:0] = given["path"]
    run(given)
