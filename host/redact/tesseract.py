"""Tesseract as a program: started before it is needed, given strips by a pipe, killed at the deadline. No files."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from PIL import Image
from pytesseract import pytesseract  # type: ignore[import-untyped]  # it has no types

from host.redact.failure import NotChecked, time_left
from host.redact.reader import Word, lanes_of

INSTALL: Final = "install it with `apt-get install tesseract-ocr`"
# English reads French and Spanish well enough to know a name or an address, but takes the German "ß" for other letters.
# Processor time for 14 lines: eng 140 ms, eng+deu 215, with fra and spa 290; to start 70, 125 and 230.
LANGUAGES: Final = ("eng", "deu")
LANES: Final = 2
LONG_PX: Final = 5_000  # of strips: to read them takes longer than to start a program
IDLE_S: Final = 20.0
READY_AGAIN_S: Final = 0.3
LIST_TIMEOUT_S: Final = 10.0
# One line a page; the strips are dark on white already, so turning them is only lost time.
OPTIONS: Final = ("--psm", "7", "-c", "tessedit_do_invert=0")
HEAD: Final = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"  # of its version 5
)
_PAGE, _WORD = "1", "5"


def environment() -> dict[str, str]:
    """What the program gets: one thread of its own (four times as fast on two cores), and where things are."""
    kept = {name: os.environ[name] for name in ("PATH", "TESSDATA_PREFIX", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "LC_ALL": "C", "OMP_THREAD_LIMIT": "1"}


def installed_languages() -> tuple[str, ...]:
    """Those of ours that the program has data for; raises `NotChecked` when it is missing, or has no English."""
    try:
        done = subprocess.run(
            (pytesseract.tesseract_cmd, "--list-langs"),
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIST_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotChecked("ocr", f"tesseract does not start ({type(problem).__name__}); {INSTALL}") from None
    there = set(done.stdout.decode("utf-8", "replace").split())
    if "eng" not in there:
        raise NotChecked("ocr", "tesseract has no English data; install it with `apt-get install tesseract-ocr-eng`")
    return tuple(name for name in LANGUAGES if name in there)


class TesseractReader:
    """Reads strips with the program that pytesseract names. Safe to use from several threads."""

    name = "pytesseract"

    def __init__(self, languages: Sequence[str] | None = None) -> None:
        self.languages = tuple(languages or installed_languages())
        self._standby: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(LANES, "ocr")
        self._timer: threading.Timer | None = None
        self._closed = False

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        """The words of each strip; raises `NotChecked` when the program fails, or is not ready by `deadline`."""
        lanes = lanes_of(strips, self._lanes(strips))
        waiting = [self._pool.submit(self._read_lane, [strips[index] for index in lane], deadline) for lane in lanes]
        words: list[list[Word]] = [[] for _ in strips]
        problems: list[BaseException] = []
        for lane, future in zip(lanes, waiting, strict=True):
            try:
                for index, found in zip(lane, future.result(), strict=True):
                    words[index] = found
            except BaseException as problem:
                problems.append(problem)
        self._warm(1)  # a second look is short; one more program now would only take its time
        self._later(READY_AGAIN_S, self.warm)
        if problems:
            raise problems[0]
        return words

    def _lanes(self, strips: Sequence[Image.Image]) -> int:
        """How many programs to use: starting one more takes as long as reading some lines."""
        with self._lock:
            ready = sum(process.poll() is None for process in self._standby)
        return LANES if sum(strip.width for strip in strips) >= LONG_PX else max(1, ready)

    def warm(self) -> None:
        """Have programs standing by: each has read its data and waits for a picture; they go when nobody comes."""
        self._warm(LANES)
        self._later(IDLE_S, self._dismiss)

    def _warm(self, count: int) -> None:
        with self._lock:
            self._standby = [process for process in self._standby if process.poll() is None]
            with contextlib.suppress(NotChecked):  # the next reading says it
                while not self._closed and len(self._standby) < count:
                    self._standby.append(self._start())

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if not self._closed:
                self._timer = threading.Timer(seconds, do)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """End what stands by; closing twice is fine."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        self._dismiss()
        self._pool.shutdown(wait=False)

    def _dismiss(self) -> None:
        with self._lock:
            standby, self._standby = self._standby, []
        for process in standby:
            _end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        command = (pytesseract.tesseract_cmd, "stdin", "stdout", "-l", "+".join(self.languages), *OPTIONS, "tsv")
        try:
            return subprocess.Popen(
                command,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as problem:
            raise NotChecked("ocr", f"tesseract does not start ({type(problem).__name__}); {INSTALL}") from None

    def _taken(self) -> subprocess.Popen[bytes]:
        with self._lock:
            while self._standby:
                process = self._standby.pop()
                if process.poll() is None:
                    return process
                _end(process)
        return self._start()

    def _read_lane(self, strips: list[Image.Image], deadline: float) -> list[list[Word]]:
        sheet = sheet_of(strips)
        left_s = time_left(deadline, "ocr")
        process = self._taken()
        try:
            out, _ = process.communicate(sheet, timeout=left_s)
        except subprocess.TimeoutExpired:
            raise NotChecked("ocr", "tesseract was not ready in time; ask for a smaller part of the page") from None
        finally:
            _end(process)
        if process.returncode != 0:
            raise NotChecked("ocr", f"tesseract ended with {process.returncode}; run `capsdk doctor`, or {INSTALL}")
        return parsed(out, len(strips))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it when it still runs, and close its pipes."""
    if process.poll() is None:
        process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                pipe.close()
    process.wait()


def sheet_of(strips: Sequence[Image.Image]) -> bytes:
    """All strips as one file: a TIFF with a page for each, so that one line cannot be taken for a part of another."""
    out = io.BytesIO()
    strips[0].save(out, "TIFF", save_all=True, append_images=list(strips[1:]))
    return out.getvalue()


def parsed(out: bytes, pages: int) -> list[list[Word]]:
    """The words of each page of Tesseract's table; raises `NotChecked` when it is not that table."""
    words: list[list[Word]] = [[] for _ in range(pages)]
    seen = set()
    try:
        lines = out.decode("utf-8").splitlines()
        if lines[0] != HEAD:
            raise ValueError
        for line in lines[1:]:
            cells = line.split("\t")
            level, page = cells[0], int(cells[1])
            if level == _PAGE:
                seen.add(page)
            elif level == _WORD and cells[11].strip():
                left, width, confidence = int(cells[6]), int(cells[8]), float(cells[10])
                words[page - 1].append(Word(cells[11].strip(), left, left + width, confidence / 100))
    except (ValueError, IndexError):
        raise NotChecked("ocr", f"what tesseract wrote cannot be read; run `capsdk doctor`, or {INSTALL}") from None
    if len(seen) != pages:
        raise NotChecked("ocr", f"tesseract gave {len(seen)} of {pages} pages; run `capsdk doctor`, or {INSTALL}")
    return words
