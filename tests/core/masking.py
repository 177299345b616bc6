"""A detector of plain rules for the tests of masking; holds no assertion."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from host.core.masking.masking import Asked, Masked, Masking
from host.core.masking.placeholders import Placeholders
from host.core.redaction import Found, Text

RULES = {
    "EMAIL": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "CARD": re.compile(r"(?<!\d)\d(?:[ -]?\d){15}(?!\d)"),
    "PERSON": re.compile(r"Oda\s+Lindqvist|Oda"),
}
HINTED = {"EMAIL": "mail", "PERSON": "customer", "PHONE": "phone"}


def find(texts: Sequence[Text]) -> list[list[Found]]:
    """What the rules find; and the whole text when its hint says what it is."""
    return [_of(text) for text in texts]


def _of(text: Text) -> list[Found]:
    for type_, word in HINTED.items():
        if word in text.hint.lower().split():
            return [Found(0, len(text.text), type_, 1.0, "hint")]
    spans = sorted(
        (match.start(), match.end(), type_) for type_, rule in RULES.items() for match in rule.finditer(text.text)
    )
    return [Found(start, end, type_, 1.0, "rule") for start, end, type_ in spans]


def masked(value: Any, *, asked: Asked | None = None, placeholders: Placeholders | None = None) -> Masked:
    """The whole way of one value."""
    masking = Masking(copy.deepcopy(value), asked)
    return masking.told(find(masking.texts), Placeholders(b"key") if placeholders is None else placeholders)


def untouched(value: Any, *, asked: Asked | None = None) -> Masked:
    """The whole way when nothing is found."""
    masking = Masking(copy.deepcopy(value), asked)
    return masking.told([[] for _ in masking.texts], Placeholders(b"key"))


PROTOCOL = Asked(protocol=True)
