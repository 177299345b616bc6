"""The PII policy as one call: Presidio with our recognizers and the name model; slow to load, quick to ask."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from host.core.pii.plain import Plain, plain
from host.core.pii.spans import merged, name_words
from host.core.redaction import EngineConfig, Found, Text

__all__ = ["Engine", "EngineConfig"]

THRESHOLD = 0.3
CACHE_BYTES = 16 * 1024 * 1024
MOST_NAMES = 2000  # names that are looked for again in the rest of a batch
_NOTHING_IN_IT = re.compile(r"[\W_]*|[a-z]{1,3}|\d{1,3}")


class Engine:
    """Finds private details. Make one with `load`; `find` may be called from several threads."""

    def __init__(self, analyzer: Any, page: Any, model: Any, off: frozenset[str]) -> None:
        self._analyzer = analyzer
        self._page = page
        self._model = model
        self._off = off
        self._entities = sorted(set(analyzer.get_supported_entities("en")) - off)
        self._cache: OrderedDict[Text, list[Found]] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()
        self.about: dict[str, Any] = {}

    @classmethod
    def load(cls, config: EngineConfig) -> Engine:
        """Import Presidio and the model, and read the owner's recognizers.

        Takes seconds. Raises ImportError when a package is missing, ValueError when the owner's YAML is wrong.
        """
        from host.redact.recognizers.all import analyzer, model, warm
        from host.redact.recognizers.base import Page

        names = None if {"PERSON", "ADDRESS"} <= config.off else model()
        engine = cls(analyzer(config.recognizers_yaml), Page, names, config.off)
        engine.about = warm()
        return engine

    def find(self, texts: Sequence[Text]) -> list[list[Found]]:
        """What is private in each text: sorted spans that do not overlap.

        The texts are one page or one result: a name found in one is found in the others, too.
        """
        found = self._known(texts)
        new = [text for text in dict.fromkeys(texts) if text not in found]
        fresh = self._look(new)
        self._remember(fresh)
        found |= fresh
        results = [found[text] for text in texts]
        return results if "PERSON" in self._off else self._repeated(texts, results)

    def _known(self, texts: Sequence[Text]) -> dict[Text, list[Found]]:
        with self._lock:
            found = {text: self._cache[text] for text in texts if text in self._cache}
            for text in found:
                self._cache.move_to_end(text)
        return found

    def _remember(self, fresh: dict[Text, list[Found]]) -> None:
        with self._lock:
            for text, found in fresh.items():
                if text not in self._cache:
                    self._cache[text] = found
                    self._cached_bytes += _weight(text, found)
            while self._cached_bytes > CACHE_BYTES and self._cache:
                self._cached_bytes -= _weight(*self._cache.popitem(last=False))

    def _look(self, texts: Sequence[Text]) -> dict[Text, list[Found]]:
        spelt = {text: plain(text.text) for text in texts if text.hint or not _NOTHING_IN_IT.fullmatch(text.text)}
        said = self._said(spelt)
        found: dict[Text, list[Found]] = {}
        for text in texts:
            found[text] = self._one(text, spelt[text], said.get(text, ())) if text in spelt else []
        return found

    def _said(self, spelt: dict[Text, Plain]) -> dict[Text, list[Any]]:
        """What the model says of each text, its lines run together for the whole batch."""
        if self._model is None:
            return {}
        from host.redact.recognizers.base import Hit
        from host.redact.recognizers.model import lines_worth

        worth = {text: list(lines_worth(one.text, bool(text.hint))) for text, one in spelt.items()}
        lines = self._model.read([line for places in worth.values() for _at, line in places])
        return {
            text: [
                Hit(at + one.start, at + one.end, one.kind, one.score, "name model")
                for at, line in places
                for one in lines[line]
            ]
            for text, places in worth.items()
            if places
        }

    def _one(self, text: Text, spelt: Plain, said: Iterable[Any]) -> list[Found]:
        page = self._page(text.hint, text.kind, said)
        results = self._analyzer.analyze(
            spelt.text, "en", entities=self._entities, score_threshold=THRESHOLD, nlp_artifacts=page
        )
        found = [_found(spelt.text, one) for one in results]
        return [
            Found(*spelt.given(one.start, one.end), one.type, one.score, one.source)
            for one in merged(spelt.text, found)
        ]

    def _repeated(self, texts: Sequence[Text], results: list[list[Found]]) -> list[list[Found]]:
        """The finds with every other place of the batch where a found name, or a part of it, comes again."""
        from host.redact.names import NAMES

        words: dict[str, None] = {}
        for text, found in zip(texts, results, strict=True):
            for one in found:
                if one.type == "PERSON" and len(words) < MOST_NAMES:
                    name = text.text[one.start : one.end]
                    words |= dict.fromkeys(w for w in name_words(name) if w[0].isupper() and _is_telling(w, NAMES))
        if not words:
            return results
        again = re.compile(
            r"(?<![\w@./-])(?:"
            + "|".join(map(re.escape, sorted(words, key=lambda w: (-len(w), w))))
            + r")(?:[’']s)?(?![\w@-])"  # noqa: RUF001
        )
        return [
            merged(text.text, [*found, *_places(text.text, found, again, NAMES)]) if again.search(text.text) else found
            for text, found in zip(texts, results, strict=True)
        ]


def _is_telling(word: str, names: Any) -> bool:
    return not names.is_common(word) and not names.is_thing(word)


def _places(text: str, found: list[Found], again: re.Pattern[str], names: Any) -> list[Found]:
    places = []
    for match in again.finditer(text):
        start, end = match.span()
        end -= 2 if match[0].endswith(("'s", "’s")) else 0  # noqa: RUF001
        if any(one.start < end and start < one.end for one in found):
            continue
        following = re.match(r"[ ]([^\W\d_]+)", text[end : end + 24])
        if following is None or not names.is_thing(following[1]):
            places.append(Found(start, end, "PERSON", 0.5, "name again"))
    return places


def _found(text: str, result: Any) -> Found:
    from host.redact.recognizers.people import extended

    source = str((result.recognition_metadata or {}).get("recognizer_name", ""))
    start, end = result.start, result.end
    if result.entity_type == "PERSON":
        start, end = extended(text, start, end)
    return Found(start, end, result.entity_type, round(float(result.score), 3), source)


def _weight(text: Text, found: list[Found]) -> int:
    return 300 + 2 * (len(text.text) + len(text.hint)) + 200 * len(found)
