"""Which OCR engine reads pictures here: chosen by what is installed; and how `doctor` names it.

In this order, measured on 66 drawn pictures with 597 details on a busy machine (median of a picture with both looks):

1. `tesserocr`, 225 ms: Tesseract's own library inside of the process; the same words as the program, nothing to start.
2. `rapidocr`, 593 ms: PP-OCR; surer of small writing and long keys, and needs 150 MB more memory.
3. `pytesseract`, 401 ms: Tesseract as a program, which comes with the product.

All three gave 596 of the 597, so the order is one of speed, then of what is known of whole pages.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from host.redact.failure import NotChecked
from host.redact.rapid import RapidReader
from host.redact.reader import Reader, control_strip
from host.redact.tesseract import TesseractReader
from host.redact.tesserapi import TesserocrReader


class Engine(NamedTuple):
    """A reader, and the module that has to be there for it."""

    module: str
    make: Callable[[], Reader]


ENGINES: Final = (
    Engine("tesserocr", TesserocrReader),
    Engine("rapidocr", RapidReader),
    Engine("pytesseract", TesseractReader),
)

_ready: list[Reader] = []
_lock = threading.Lock()


def choose(engines: Sequence[Engine] = ENGINES) -> Reader:
    """The first reader that is installed and starts; raises `NotChecked` of the last one when none does."""
    with _lock:
        if _ready and engines is ENGINES:
            return _ready.pop()
    problem = NotChecked("ocr", "no OCR engine is installed; install one with `apt-get install tesseract-ocr`")
    for engine in engines:
        if not _installed(engine.module):
            continue
        try:
            return engine.make()
        except NotChecked as reason:
            problem = reason
        except Exception as reason:
            problem = NotChecked("ocr", f"{engine.module} does not start ({type(reason).__name__}); reinstall it")
    raise problem


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def described() -> str:
    """The reader's name and languages, or why there is none.

    The reader is kept for the next `choose`: whoever gives its rights away afterwards may not read its files then.
    """
    try:
        reader = choose()
    except NotChecked as problem:
        return f"none: {problem.why}"
    with _lock:
        _ready.append(reader)
    control_strip()
    languages = "+".join(getattr(reader, "languages", ()))
    return f"{reader.name} ({languages})" if languages else reader.name
