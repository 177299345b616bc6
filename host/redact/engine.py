"""The PII policy as one call: Presidio with our recognizers and the name model; slow to load, quick to ask."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from host.core.pii.again import again
from host.core.pii.labels import promised
from host.core.pii.plain import Plain, plain
from host.core.pii.spans import accounts_of, merged, name_words
from host.core.redaction import EngineConfig, Found, Text

__all__ = ["Engine", "EngineConfig"]

THRESHOLD = 0.3
CACHE_BYTES = 16 * 1024 * 1024
MOST_NAMES = 2000  # names that are looked for again in the rest of a batch
_NOTHING_IN_IT = re.compile(r"[\W_]*|[a-z]{1,3}|\d{1,3}")


class Engine:
    """Finds private details. Make one with `load`; `find` may be called from several threads."""

    def __init__(self, analyzer: Any, by_model: Any, page: Any, model: Any, off: frozenset[str]) -> None:
        self._analyzer = analyzer
        self._by_model = by_model
        self._page = page
        self._model = model
        self._off = off
        self._entities = sorted(set(analyzer.get_supported_entities("en")) - off)
        self._of_model = sorted(set(by_model.get_supported_entities("en")) - off)
        self._cache: OrderedDict[Text, list[Found]] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()
        self.about: dict[str, Any] = {}

    @classmethod
    def load(cls, config: EngineConfig) -> Engine:
        """Import Presidio and the model, and read the owner's recognizers.

        Takes seconds. Raises ImportError when a package is missing, ValueError when the owner's YAML is wrong.
        """
        from host.redact.recognizers.all import analyzer, model, model_analyzer, warm
        from host.redact.recognizers.base import Page

        names = None if {"PERSON", "ADDRESS"} <= config.off else model()
        engine = cls(analyzer(config.recognizers_yaml), model_analyzer(), Page, names, config.off)
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
        for number, one in list(again(texts, results)):
            results[number] = merged(texts[number].text, [*results[number], one])
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
        """Rules first; the model then reads only what holds words that no rule has an answer for."""
        from host.redact.quick import together

        spelt = {text: plain(text.text) for text in texts if text.hint or not _NOTHING_IN_IT.fullmatch(text.text)}
        with together(one.text for one in spelt.values()):
            found = {text: self._by_rules(text, one.text) for text, one in spelt.items()}
        for text, said in self._said(spelt, found).items():
            page = self._page(text.hint, text.kind, said)
            found[text] += self._results(self._by_model, self._of_model, spelt[text].text, page)
        return {text: _given(spelt[text], found[text]) if text in spelt else [] for text in texts}

    def _by_rules(self, text: Text, spelt: str) -> list[Found]:
        return self._results(self._analyzer, self._entities, spelt, self._page(text.hint, text.kind))

    def _results(self, analyzer: Any, entities: list[str], text: str, page: Any) -> list[Found]:
        results = analyzer.analyze(text, "en", entities=entities, score_threshold=THRESHOLD, nlp_artifacts=page)
        return [_found(text, one) for one in results]

    def _said(self, spelt: dict[Text, Plain], found: dict[Text, list[Found]]) -> dict[Text, list[Any]]:
        """What the model says of each text, its lines run together for the whole batch."""
        if self._model is None:
            return {}
        from host.redact.recognizers.base import Hit
        from host.redact.recognizers.worth import lines_worth

        worth = {text: list(lines_worth(_uncertain(one.text, found[text]))) for text, one in spelt.items()}
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

    def _repeated(self, texts: Sequence[Text], results: list[list[Found]]) -> list[list[Found]]:
        """The finds with every other place of the batch where a found name, or a part of it, comes again."""
        from host.redact.names import NAMES, bare
        from host.redact.recognizers.listed import columns

        for number, more in columns(texts, results).items():
            results[number] = merged(texts[number].text, [*results[number], *more])
        words: set[str] = set()
        accounts: set[str] = set()
        for text, found in zip(texts, results, strict=True):
            for one in found:
                if len(words) + len(accounts) >= MOST_NAMES:
                    break
                if one.type == "PERSON":
                    names = name_words(text.text[one.start : one.end])
                    strange = one.source == "name model" and len(names) == 1 and not NAMES.is_name(names[0])
                    if strange and not _is_of_people(text):
                        continue  # one unknown word that the model alone took for a name: a slip would spread
                    words |= {w for w in names if w[0].isupper() and _is_telling(w, NAMES)}
                    accounts |= accounts_of([bare(name) for name in names])
                elif one.type == "EMAIL":
                    accounts.add(text.text[one.start : one.end].split("@")[0].lower())
                elif one.type in ("USERNAME", "HANDLE"):
                    name = text.text[one.start : one.end].lstrip("@")
                    accounts |= (
                        {name} if len(name) > (5 if name.isalpha() else 4) and not NAMES.is_maker(name) else set()
                    )
        accounts = {one for one in accounts if len(one) > 4} if "USERNAME" not in self._off else set()
        if not words and not accounts:
            return results
        return [self._again(text.text, found, words, accounts) for text, found in zip(texts, results, strict=True)]

    def _again(self, text: str, found: list[Found], words: set[str], accounts: set[str]) -> list[Found]:
        from host.redact.names import NAMES
        from host.redact.recognizers.beside import extended

        places = [
            Found(start, end, "USERNAME", 0.5, "account of a name")
            for start, end in _uncovered(_AN_ACCOUNT, text, found, accounts)
            if _is_telling(text[start:end], NAMES)
        ]
        for start, end in _uncovered(_A_WORD, text, found, words):
            following = _NEXT_WORD.match(text, end)
            if following is None or not NAMES.is_thing(following[1]):
                places.append(Found(*extended(text, start, end), "PERSON", 0.5, "name again"))
        return merged(text, [*found, *places]) if places else found


def _uncovered(pattern: re.Pattern[str], text: str, found: list[Found], words: set[str]) -> Iterator[tuple[int, int]]:
    """Where one of `words` stands in `text` and no find is yet; the finds are sorted."""
    at = 0
    for match in pattern.finditer(text) if words else ():
        if match[1] not in words:
            continue
        start, end = match.span(1)
        while at < len(found) and found[at].end <= start:
            at += 1
        if at >= len(found) or found[at].start >= end:
            yield start, end


_AN_ACCOUNT = re.compile(r"(?<![\w@.-])([a-z][a-z0-9._+-]{3,60}[a-z0-9])(?![\w@-])")
_A_WORD = re.compile(r"(?<![\w@./-])([^\W\d_](?:[^\W\d_]|['’-](?=[^\W\d_]{2})){1,40})(?:['’]s)?(?![\w@-])")  # noqa: RUF001
_NEXT_WORD = re.compile(r"[ ]([^\W\d_]+)")


def _is_of_people(text: Text) -> bool:
    """Whether the hint promises a person."""
    return bool(text.hint) and any(kind.startswith("PERSON") for kind in promised(text.hint))


def _is_telling(word: str, names: Any) -> bool:
    return not names.is_common(word) and not names.is_thing(word)


def _given(spelt: Plain, found: list[Found]) -> list[Found]:
    """The finds in order, at their places in the text as it was given."""
    return [
        Found(*spelt.given(one.start, one.end), one.type, one.score, one.source) for one in merged(spelt.text, found)
    ]


_NUMBER_NEAR = re.compile(r"^[^\n;|]{0,24}\d")


def _uncertain(text: str, found: list[Found]) -> str:
    """The text with blanks where a rule is sure; addresses stay, and names that may be a street's."""
    if not found:
        return text
    pieces: list[str] = []
    at = 0
    for one in sorted(found, key=lambda one: one.start):
        streets = one.type == "PERSON" and _NUMBER_NEAR.match(text[one.end : one.end + 30]) is not None
        if one.end > at and one.type != "ADDRESS" and not streets:
            start = max(at, one.start)
            pieces += (text[at:start], " " * (one.end - start))
            at = one.end
    return "".join((*pieces, text[at:]))


def _found(text: str, result: Any) -> Found:
    from host.redact.recognizers.beside import extended

    source = str((result.recognition_metadata or {}).get("recognizer_name", ""))
    start, end = result.start, result.end
    if result.entity_type == "PERSON":
        start, end = extended(text, start, end)
    return Found(start, end, result.entity_type, round(float(result.score), 3), source)


def _weight(text: Text, found: list[Found]) -> int:
    return 300 + 2 * (len(text.text) + len(text.hint)) + 200 * len(found)
