"""PP-OCR through `rapidocr` where that is installed: its recognition of one line at a time, without its detection."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from PIL import Image

from host.redact.failure import time_left
from host.redact.reader import Word

THREADS: Final = 2


class RapidReader:
    """Reads strips with the recognition model that comes inside of the package. Safe to use from several threads."""

    name = "rapidocr"

    def __init__(self) -> None:
        module: Any = importlib.import_module("rapidocr")
        self._engine = module.RapidOCR(
            params={
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )
        self._lock = threading.Lock()
        self._read_one(Image.new("L", (64, 48), 255))  # loads the model, while its file can be read

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        """The words of each strip; raises `NotChecked` when it is not ready by `deadline`."""
        words = []
        for strip in strips:
            time_left(deadline, "ocr")
            words.append(self._read_one(strip))
        return words

    def _read_one(self, strip: Image.Image) -> list[Word]:
        pixels = np.asarray(strip.convert("RGB"))
        with self._lock:
            done = self._engine(pixels, use_det=False, use_cls=False, use_rec=True, return_word_box=True)
        if not done.txts or not done.txts[0] or not done.word_results:
            return []
        info = done.word_results[0]
        letters = [letter for word in info.words for letter in word]
        columns = [column for word in info.word_cols for column in word]
        return words_at(done.txts[0], letters, columns, list(info.confs), strip.width / max(1.0, info.line_txt_len))

    def close(self) -> None:
        """Give the model's memory back; closing twice is fine."""
        self._engine = None


def words_at(
    text: str, letters: Sequence[str], columns: Sequence[int], sure: Sequence[float], column_px: float
) -> list[Word]:
    """The words of a line whose letters were found in columns of `column_px` pixels; spaces have none."""
    words: list[Word] = []
    index, start = 0, 0
    for part in [*text, " "]:
        if part != " ":
            index = min(index + 1, len(letters))
            continue
        if index > start:
            where, confidences = columns[start:index], sure[start:index]
            words.append(
                Word(
                    "".join(letters[start:index]),
                    (where[0] - 0.5) * column_px,
                    (where[-1] + 1.5) * column_px,
                    sum(confidences) / max(1, len(confidences)),
                )
            )
        start = index
    return words
