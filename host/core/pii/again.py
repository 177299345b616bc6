"""Where a private number or secret that a label gave away comes again without its label; no names here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from host.core.redaction import Found, Text

_TYPES = frozenset(
    (
        "BANK_ACCOUNT", "CARD", "DATE_OF_BIRTH", "DRIVER_LICENSE", "IBAN", "KEY", "MEDICAL_ID", "NATIONAL_ID",
        "PASSPORT", "PASSWORD", "PHONE", "TAX_ID", "TOKEN", "VEHICLE",
    )
)  # fmt: skip
_LEAST_CHARS = 6
_MOST_VALUES = 400


def again(texts: Sequence[Text], results: Sequence[Sequence[Found]]) -> Iterator[tuple[int, Found]]:
    """The number of the text, and the find in it, of each further place of a value that was found in the batch."""
    values: dict[str, tuple[str, int]] = {}  # type, and how often it was found
    for text, found in zip(texts, results, strict=True):
        for one in found:
            value = text.text[one.start : one.end]
            if one.type in _TYPES and len(value) >= _LEAST_CHARS and any(c.isdigit() for c in value):
                values[value] = one.type, values.get(value, ("", 0))[1] + 1
    whole = "\n\n".join(text.text for text in texts)
    for value, (kind, count) in list(values.items())[:_MOST_VALUES]:
        if whole.count(value) > count:
            for number, text in enumerate(texts):
                for start in _places(text.text, value):
                    if not any(one.start < start + len(value) and start < one.end for one in results[number]):
                        yield number, Found(start, start + len(value), kind, 0.5, "value again")


def _places(text: str, value: str) -> Iterator[int]:
    """Where the value stands by itself: no letter, no digit beside it."""
    at = text.find(value)
    while at >= 0:
        beside = text[max(0, at - 1) : at] + text[at + len(value) : at + len(value) + 1]
        if not any(c.isalnum() for c in beside):
            yield at
        at = text.find(value, at + len(value))
