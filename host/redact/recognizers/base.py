"""What our recognizers share: the page they look at, how a hit becomes Presidio's result. No rules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from presidio_analyzer import EntityRecognizer, LocalRecognizer, RecognizerResult
from presidio_analyzer.context_aware_enhancers import ContextAwareEnhancer
from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

from host.core.pii import labels

LANGUAGE = "en"  # Presidio asks for one; every recognizer here knows all of its languages at once


class Hit(NamedTuple):
    """One find: characters `start` to `end`, its type, how sure (0 to 1), and by which rule."""

    start: int
    end: int
    type: str
    score: float
    rule: str


class Page(NlpArtifacts):
    """What recognizers know beside the text: its hint, how it was read, and what the name model said."""

    def __init__(self, hint: str = "", kind: str = "text", model: Iterable[Hit] = ()) -> None:
        nothing: Any = []  # Presidio would have spaCy's tokens here
        super().__init__([], nothing, [], [], nothing, LANGUAGE)
        self.hint = hint
        self.kind = kind
        self.promised = labels.promised(hint)
        self.ruled_out = bool(hint) and labels.ruled_out(hint)
        self.model = tuple(model)


class Rules(LocalRecognizer):
    """A recognizer whose rules are one generator."""

    types: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__(supported_entities=list(self.types), supported_language=LANGUAGE)

    def load(self) -> None:
        """Nothing: the rules are part of the module."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """Presidio's entry; raises nothing of its own."""
        page = nlp_artifacts if isinstance(nlp_artifacts, Page) else Page()
        return [self._result(hit) for hit in self.hits(text, page) if hit.end > hit.start]

    def _result(self, hit: Hit) -> RecognizerResult:
        metadata = {
            RecognizerResult.RECOGNIZER_NAME_KEY: hit.rule,
            RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
        }
        return RecognizerResult(hit.type, hit.start, hit.end, hit.score, recognition_metadata=metadata)

    @abstractmethod
    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """What the rules find in `text`, in any order, overlapping or not."""


class BlankNlp(NlpEngine):
    """Presidio's place for a language model, left empty: ours is a recognizer, and nothing is ever fetched."""

    def load(self) -> None:
        """Nothing to load."""

    def is_loaded(self) -> bool:
        """Always."""
        return True

    def process_text(self, text: str, language: str) -> Page:
        """A page without hint."""
        return Page()

    def process_batch(
        self, texts: Iterable[str], language: str, batch_size: int = 1, n_process: int = 1, **_more: Any
    ) -> Iterator[tuple[str, Page]]:
        """A page without hint for each."""
        return ((text, Page()) for text in texts)

    def is_stopword(self, word: str, language: str) -> bool:
        """None is."""
        return False

    def is_punct(self, word: str, language: str) -> bool:
        """None is."""
        return False

    def get_supported_entities(self) -> list[str]:
        """None by itself."""
        return []

    def get_supported_languages(self) -> list[str]:
        """The one name under which all languages go."""
        return [LANGUAGE]


class Nearby(ContextAwareEnhancer):
    """Raises the score of an owner's find when one of its context words stands within 60 characters or in the hint."""

    reach = 60

    def __init__(self) -> None:
        super().__init__(
            context_similarity_factor=0.35,
            min_score_with_context_similarity=0.4,
            context_prefix_count=5,
            context_suffix_count=5,
        )

    def enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        nlp_artifacts: NlpArtifacts,
        recognizers: list[EntityRecognizer],
        context: list[str] | None = None,
    ) -> list[RecognizerResult]:
        """Presidio's entry: the same results, some with a higher score."""
        words = {recognizer.id: recognizer.context for recognizer in recognizers if recognizer.context}
        if not words:
            return raw_results
        hint = nlp_artifacts.hint if isinstance(nlp_artifacts, Page) else ""
        for result in raw_results:
            near = words.get(result.recognition_metadata[RecognizerResult.RECOGNIZER_IDENTIFIER_KEY])
            around = f"{hint}\n{text[max(0, result.start - self.reach) : result.end + self.reach]}".lower()
            if near and any(word.lower() in around for word in near):
                raised = max(result.score + self.context_similarity_factor, self.min_score_with_context_similarity)
                result.score = min(raised, 1.0)
        return raw_results
