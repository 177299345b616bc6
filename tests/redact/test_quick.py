"""That a pattern tried only where it can begin finds what it finds when it is tried everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from bench.redaction.pages import pages
from bench.redaction.texts import blocks
from host.core.pii.plain import plain
from host.core.redaction import EngineConfig, Found, Text
from host.redact import quick
from host.redact.engine import Engine
from host.redact.heads import heads_of
from host.redact.recognizers.all import OURS
from host.redact.recognizers.base import Page

FILLER = "Nothing to see in this sentence, and it goes on for a while without a word that counts. "
PATTERNS = (  # pattern, what stands in the long text
    pytest.param(r"(?i)\b(?:iban|konto)\s?:\s?(\w+)", "Konto: 12 IBAN:DE89 xiban: 7", id="words-in-any-case"),
    pytest.param(r"(?<![\w.])\d{3}-\d{2}", "123-45 1123-45 x.123-45 999-10", id="digits-behind-no-word"),
    pytest.param(r"^Nothing|see", "see", id="only-at-the-beginning"),
    pytest.param(r"(?m)^[ \t]{0,4}user (\w+)", "\n  user anna\nuser bo user cy", id="at-each-line"),
    pytest.param(r"(?:ab|cd)?xy", "abxy cdxy xy y", id="what-may-be-left-out"),
    pytest.param(r"(['\"])q\1", "'q' \"q\" 'q\"", id="the-same-again"),
    pytest.param(r"(?:\d)+?z|[^\W\d_]{2}!", "12z ab! éü! 3z", id="few-and-negated"),
    pytest.param("(?i)straße|\u017ftr|K", "STRASSE Straße \u017ftr \u212a k", id="letters-beyond-ascii"),
    pytest.param(r"\b[+(]\d|\b7", "a+7 a(3 7 +1", id="boundary-before-a-sign"),
    pytest.param(r"(?>a|ab)c|q++r", "abc ac qqr r", id="taken-for-good"),
    pytest.param(r"x{0}y{2,}|(?-i:Q)w", "yy yyy Qw qw", id="none-and-many"),
    pytest.param(r"(?=.{0,3}9)\S+", "ab9 a9 zzz 9", id="looking-ahead"),
    pytest.param(r"\u00b7 ?(\d)", "· 5 ·7", id="a-sign-beyond-ascii"),
    pytest.param(r"ba|$", "ba", id="the-end"),
)


@pytest.mark.parametrize(("pattern", "words"), PATTERNS)
def test_a_pattern_finds_the_same_as_when_it_is_tried_everywhere(pattern: str, words: str) -> None:
    compiled = re.compile(pattern)
    text = f"{FILLER * 4}{words} {FILLER * 4}\n{words}"
    everywhere = [(match.span(), match.groups()) for match in compiled.finditer(text)]
    assert len(everywhere) > 1
    assert [(match.span(), match.groups()) for match in quick.finds(compiled, text)] == everywhere
    search = quick.searched(compiled, text)
    for start in (0, len(text) // 3, len(text) - 1):
        one, other = search(start), compiled.search(text, start)
        assert (one and one.span()) == (other and other.span())


def test_a_word_is_tried_at_few_places_and_any_letters_at_all() -> None:
    text = f"{FILLER * 9}iban: DE89"
    tried = quick.places(re.compile(r"(?i)\biban\b"), text)
    assert tried is not None
    assert text.index("iban") in tried
    assert len(tried) < 5
    assert quick.places(re.compile(r"\w+ly"), text) is None
    assert len(heads_of(re.compile("abc"))) == 1


def test_what_must_stand_near_narrows_the_places_and_loses_none() -> None:
    pattern, near = re.compile(r"[a-z]{2,9}@[a-z]{2,9}"), quick.Near(re.compile("@"), 9)
    text = f"{FILLER * 5}ann@bee {FILLER * 5}cy@dee @"
    assert [match[0] for match in quick.finds(pattern, text, near)] == ["ann@bee", "cy@dee"]
    assert len(quick.places(pattern, text, near) or ()) < 20
    assert quick.places(pattern, FILLER * 9, near) == []


def test_short_texts_that_are_looked_at_together_are_told_apart() -> None:
    pattern = re.compile(r"(?i)(?<!\w)iban\b")
    texts = ["My IBAN", "Nothing", "ibo", "n of it", "xiban"]
    list(quick.finds(pattern, FILLER * 9))  # known from now on
    with quick.together(texts):
        tried = [quick.places(pattern, text) for text in texts]
        assert [[match[0] for match in quick.finds(pattern, text)] for text in texts] == [["IBAN"], [], [], [], []]
    assert tried == [None, (), (), (), ()]
    assert quick.places(pattern, "Nothing") is None  # it ended with its block


DETAILS = (
    "Anna Müller, Hauptstraße 12, 10115 Berlin, Tel. +49 30 901820",
    "passport no. K1234567 and DOB 12.03.1984; SSN 123-45-6789",
    "card 4242 4242 4242 4242 exp 04/29, IBAN DE89 3704 0044 0532 0130 00",
    "password: hunter2!x token=abcd1234efgh5678 API_KEY='sk-test-0123456789abcdef'",
    "Cookie: session=1a2b3c4d; theme=dark\nAuthorization: Bearer abcdef0123456789",
    "oda [at] example [dot] test or oda.lind@example.test, @oda_lind",
    "Dear Ms Lindqvist,\nthanks again\nBest regards,\nPavel Novák",
    "from 203.0.113.7 (00:1a:2b:3c:4d:5e) at 52.5200, 13.4050",
    "12 Rue de la Paix, 75002 Paris\nCalle de Alcalá 45, 28014 Madrid\n221B Baker Street, London NW1 6XE",
    "sudo: kmensah : TTY=pts/0\n/home/kmensah/.ssh https://user:pw@example.test/u/kmensah",
    "Order 100-2345678, version 1.2.3.4, 12 May 2024, € 1.299,00, ISBN 978-3-16-148410-0",
    "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq VIN 1M8GDM9AXKP042788 plate B-AB 123",
    "Wohnort: 1012 AB Amsterdam; 4000-123 Porto; 00-950 Warszawa; 111 22 Stockholm",
)


def _hits(texts: Sequence[str]) -> list[list[tuple[object, ...]]]:
    pages = Page(), Page("Name", "field")
    found = [[tuple(hit) for page in pages for hit in one().hits(text, page)] for one in OURS for text in texts]
    return [sorted(hits, key=repr) for hits in found]


def test_every_recognizer_finds_the_same_in_long_texts_as_when_it_tries_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    details = [plain(text).text for text in DETAILS]
    texts = [between.join((*details, *details[::-2])) for between in (" ", "\n", "  ", " | ", ". ")]
    texts += [texts[0].upper(), texts[1].lower()]
    known = _hits(texts)
    monkeypatch.setattr(quick, "SHORT_CHARS", 1_000_000)
    assert known == _hits(texts)
    assert sum(map(len, known)) > 500


def test_every_recognizer_finds_the_same_in_short_texts_that_are_looked_at_together() -> None:
    texts = [part for text in DETAILS for part in (text, *re.split(r"[,;\n]", text))]
    apart = _hits(texts)  # so all patterns are known below
    with quick.together(texts):
        assert _hits(texts) == apart
    assert sum(map(len, apart)) > 100


def test_the_whole_engine_finds_the_same_on_the_set_of_pages_as_when_it_tries_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches = [[block.as_text() for block in blocks(page)] for page in pages(sets=1, media_sets=1)]
    batches += [[Text("\n".join(text.text for text in batch))] for batch in batches]
    known = _found(batches)
    monkeypatch.setattr(quick, "SHORT_CHARS", 1_000_000)
    monkeypatch.setattr(quick, "_cannot", lambda pattern, text: False)
    assert known == _found(batches)
    assert sum(len(found) for batch in known for found in batch) > 1000


def _found(batches: Sequence[Sequence[Text]]) -> list[list[list[Found]]]:
    engine = Engine.load(EngineConfig())
    return [engine.find(batch) for batch in batches]
