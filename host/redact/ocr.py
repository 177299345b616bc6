"""Which OCR engine reads pictures here: chosen by what is installed; and how `doctor` names it.

In this order, each measured on the same lines (see the tests of readers):

1. `tesserocr`: Tesseract's own library inside of the process; the same words as the program, nothing to start.
2. `rapidocr`: PP-OCR; it reads small and soft writing that Tesseract does not, and takes longer, and more memory.
3. `pytesseract`: Tesseract as a program, which comes with the product.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from host.redact.failure import NotChecked
from host.redact.rapid import RapidReader
from host.redact.reader import Reader
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
        if importlib.util.find_spec(engine.module) is None:
            continue
        try:
            return engine.make()
        except NotChecked as reason:
            problem = reason
        except Exception as reason:
            problem = NotChecked("ocr", f"{engine.module} does not start ({type(reason).__name__}); reinstall it")
    raise problem


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
    languages = "+".join(getattr(reader, "languages", ()))
    return f"{reader.name} ({languages})" if languages else reader.name
