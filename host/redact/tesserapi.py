"""Tesseract inside of this process, through `tesserocr` where that is installed: no program to start for a picture."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from PIL import Image

from host.redact.failure import NotChecked, time_left
from host.redact.reader import Word, lanes_of
from host.redact.tesseract import HEAD, LANES, LANGUAGES, parsed

# Where distributions keep Tesseract's data; its wheel brings none.
DATA_FOLDERS: Final = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
)
SINGLE_LINE: Final = 7  # the page segmentation mode
INSTALL_DATA: Final = "install its data with `apt-get install tesseract-ocr-eng`"


class TesserocrReader:
    """Reads strips with two instances of Tesseract's library. Safe to use from several threads."""

    name = "tesserocr"

    def __init__(self) -> None:
        self._module: Any = importlib.import_module("tesserocr")
        folder = _data_folder()
        languages = [name for name in LANGUAGES if (folder / f"{name}.traineddata").exists()]
        self.languages = tuple(languages)
        try:
            self._engines = [self._engine(str(folder), "+".join(languages)) for _ in range(LANES)]
        except RuntimeError as problem:
            raise NotChecked("ocr", f"tesserocr does not start ({type(problem).__name__}); {INSTALL_DATA}") from None
        self._locks = [threading.Lock() for _ in range(LANES)]
        self._pool = ThreadPoolExecutor(LANES, "ocr")

    def _engine(self, folder: str, languages: str) -> Any:
        engine = self._module.PyTessBaseAPI(path=folder, lang=languages, psm=SINGLE_LINE)
        engine.SetVariable("tessedit_do_invert", "0")
        return engine

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        """The words of each strip; raises `NotChecked` when the library fails, or is not ready by `deadline`."""
        lanes = lanes_of(strips, LANES)
        waiting = [
            self._pool.submit(self._read_lane, number, [strips[index] for index in lane], deadline)
            for number, lane in enumerate(lanes)
        ]
        words: list[list[Word]] = [[] for _ in strips]
        problems: list[BaseException] = []
        for lane, future in zip(lanes, waiting, strict=True):
            try:
                for index, found in zip(lane, future.result(), strict=True):
                    words[index] = found
            except BaseException as problem:
                problems.append(problem)
        if problems:
            raise problems[0]
        return words

    def _read_lane(self, number: int, strips: list[Image.Image], deadline: float) -> list[list[Word]]:
        with self._locks[number]:
            return [self._read_one(self._engines[number], strip, deadline) for strip in strips]

    def _read_one(self, engine: Any, strip: Image.Image, deadline: float) -> list[Word]:
        left_ms = int(time_left(deadline, "ocr") * 1000)
        engine.SetImage(strip)
        if not engine.Recognize(max(1, left_ms)):
            time_left(deadline, "ocr")
            raise NotChecked("ocr", "tesserocr gave up on a line; run `capsdk doctor`")
        table = HEAD + "\n" + engine.GetTSVText(0)
        return parsed(table.encode(), 1)[0]

    def close(self) -> None:
        """Give the library's memory back; closing twice is fine."""
        self._pool.shutdown(wait=True)
        engines, self._engines = self._engines, []
        for engine in engines:
            engine.End()


def _data_folder() -> Path:
    named = os.environ.get("TESSDATA_PREFIX")
    for folder in (*([named] if named else []), *DATA_FOLDERS):
        if (Path(folder) / "eng.traineddata").exists():
            return Path(folder)
    raise NotChecked("ocr", f"tesserocr has no English data; {INSTALL_DATA}")
