"""With which characters a match of a pattern can begin, read off the pattern itself; not what it matches.

Characters go by classes: each ASCII letter has one, digits share one, all that is not ASCII is `OTHER`. What is said
here may be too much, never too little: a construct that is not understood stands for any character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]  # how Python itself reads a pattern; it has no types
from typing import Any

CLASSES = 64
OTHER = 63
DEPTH = 3
MOST_WAYS = 4000  # a pattern with more ways to begin stands for any character
_ASCII = range(128)
_SIGNS = {
    sign: 53 + place for place, signs in enumerate((" \t", "\n", ".", ":=", "@", "-", "_", "/", "+(")) for sign in signs
}


def _class_of(sign: str) -> int:
    if sign.isalpha():
        return ord(sign) - 97 if sign.islower() else ord(sign) - 65 + 26
    return 52 if sign.isdigit() else _SIGNS.get(sign, 62)


TABLE = [*(_class_of(chr(code)) for code in _ASCII), OTHER]
"""The class of each ASCII character, and last that of all others."""

_ANY = (1 << CLASSES) - 1
_WORDS = sum({1 << TABLE[code] for code in _ASCII if chr(code).isalnum() or chr(code) == "_"})
_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda sign: sign.isalnum() or sign == "_",
}

Way = tuple[int, ...]
"""For each of the first characters the classes that it can be of, as bits."""


def heads_of(pattern: re.Pattern[str]) -> list[tuple[list[int], list[int], list[int]]]:
    """All ways in which a match can begin, as classes of its first three characters."""
    ways = {way + (_ANY,) * (DEPTH - len(way)) for way in _begun(_parsed(pattern), DEPTH, pattern.flags)}
    thirds: dict[Way, int] = {}
    for first, second, third in ways:
        thirds[first, second] = thirds.get((first, second), 0) | third
    return [(_listed(first), _listed(second), _listed(third)) for (first, second), third in thirds.items()]


def previous_of(pattern: re.Pattern[str]) -> list[int]:
    """Of which classes the character before a match can be."""
    return _listed(_ANY & ~_ruled_out(list(_parsed(pattern)), pattern.flags))


def is_anchored(pattern: re.Pattern[str]) -> bool:
    """Whether a match may have to begin with the text itself: of that `heads_of` says nothing."""
    return "AT_BEGINNING" in repr(_parsed(pattern))


def _parsed(pattern: re.Pattern[str]) -> Any:
    return _parser.parse(pattern.pattern, pattern.flags)


def _listed(classes: int) -> list[int]:
    return [number for number in range(CLASSES) if classes >> number & 1]


def _begun(items: Any, depth: int, flags: int) -> set[Way]:
    """How what these items match begins; a way that is shorter than `depth` has ended there."""
    ways: set[Way] = {()}
    for item in items:
        short = [way for way in ways if len(way) < depth]
        if not short:
            break
        ways.difference_update(short)
        ways |= {way + more for way in short for more in _of_item(item, depth - len(way), flags)}
        if len(ways) > MOST_WAYS:
            return {(_ANY,) * depth}
    return ways


def _of_item(item: Any, depth: int, flags: int) -> set[Way]:
    name, value = str(item[0]), item[1]
    if name == "AT" and str(value) in ("AT_BEGINNING", "AT_BEGINNING_STRING") and not flags & re.MULTILINE:
        return set()  # the very first place, which is always tried
    if name in ("AT", "ASSERT", "ASSERT_NOT"):
        return {()}  # takes no characters
    if name in ("LITERAL", "IN"):
        return {(_classes(item, flags),)}
    if name == "SUBPATTERN":
        _group, added, removed, inner = value
        return _begun(inner, depth, (flags | added) & ~removed)
    if name == "ATOMIC_GROUP":
        return _begun(value, depth, flags)
    if name == "BRANCH":
        return {way for inner in value[1] for way in _begun(inner, depth, flags)}
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inner = value
        return _repeated(_begun(inner, depth, flags), int(least), int(most), depth)
    if name in ("ANY", "NOT_LITERAL"):
        return {(_ANY,)}
    return {(), (_ANY,) * depth}  # a group again: anything, or nothing


def _repeated(once: set[Way], least: int, most: int, depth: int) -> set[Way]:
    ways: set[Way] = {()}
    told: set[Way] = {()} if least == 0 else set()
    for count in range(1, min(most, depth) + 1):
        ways = {(way + more)[:depth] for way in ways for more in once}
        if count >= least or count == depth:
            told |= ways
    return told if told else ways


def _classes(item: Any, flags: int) -> int:
    """The classes that one character of the text can be of; `OTHER` always."""
    any_case = bool(flags & re.IGNORECASE)
    if str(item[0]) != "LITERAL":
        return _classes_of_set(_Item(item), any_case)
    sign = chr(item[1])
    return 1 << OTHER | _bit(sign) | (_bit(sign.swapcase()) if any_case and sign.isascii() else 0)


def _bit(sign: str) -> int:
    return 1 << (TABLE[ord(sign)] if sign.isascii() else OTHER)


class _Item:
    """A set of characters as Python reads it, to be remembered by how it looks."""

    def __init__(self, item: Any) -> None:
        self.item = item
        self._looks = repr(item)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Item) and self._looks == other._looks

    def __hash__(self) -> int:
        return hash(self._looks)


@lru_cache(maxsize=512)
def _classes_of_set(one: _Item, any_case: bool) -> int:
    signs = {sign for sign in map(chr, _ASCII) if _holds(one.item, sign)}
    if any_case:
        signs |= {sign for sign in map(chr, _ASCII) if sign.swapcase() in signs}
    return sum({_bit(sign) for sign in signs}) | 1 << OTHER


def _holds(item: Any, sign: str) -> bool:
    name, value = str(item[0]), item[1]
    if name == "LITERAL":
        return bool(value == ord(sign))
    if name == "RANGE":
        return bool(value[0] <= ord(sign) <= value[1])
    if name == "CATEGORY":
        category = str(value)
        known = _CATEGORIES.get(category.replace("_NOT_", "_"))
        return known is None or known(sign) is not ("_NOT_" in category)
    if name == "IN":
        negated = str(value[0][0]) == "NEGATE"
        return any(_holds(one, sign) for one in value[negated:]) is not negated
    return True


def _ruled_out(items: Sequence[Any], flags: int) -> int:
    """Classes none of whose characters can stand before a match."""
    out = 0
    for place, item in enumerate(items):
        name, value = str(item[0]), item[1]
        if name == "ASSERT_NOT" and value[0] < 0 and len(value[1]) == 1:
            out |= _wholly(value[1][0], flags)
        elif name == "AT" and str(value) == "AT_BOUNDARY" and _is_word(items[place + 1 :], flags):
            out |= _WORDS
        elif name == "AT" and str(value) == "AT_BEGINNING" and flags & re.MULTILINE:
            out |= _ANY & ~(1 << TABLE[10] | 1 << OTHER)
        elif name not in ("ASSERT_NOT", "ASSERT", "AT"):
            return out | _ruled_out_by(name, value, flags)
    return out


def _ruled_out_by(name: str, value: Any, flags: int) -> int:
    if name == "SUBPATTERN":
        return _ruled_out(list(value[3]), (flags | value[1]) & ~value[2])
    if name == "BRANCH":
        out = _ANY
        for inner in value[1]:
            out &= _ruled_out(list(inner), flags)
        return out
    return 0


def _wholly(item: Any, flags: int) -> int:
    """The classes all of whose characters the item takes."""
    if str(item[0]) not in ("LITERAL", "IN"):
        return 0
    left = {TABLE[code] for code in _ASCII if not _holds(item, chr(code))} | {OTHER}
    return _ANY & ~sum(1 << number for number in left)


def _is_word(items: Sequence[Any], flags: int) -> bool:
    """Whether what follows begins with a letter, a digit or "_", whatever way it goes."""
    for item in items:
        name, value = str(item[0]), item[1]
        if name in ("ASSERT", "ASSERT_NOT"):
            continue
        if name == "SUBPATTERN":
            return _is_word(list(value[3]), flags)
        if name == "BRANCH":
            return all(_is_word(list(inner), flags) for inner in value[1])
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            if not _is_word(list(value[2]), flags):
                return False
            if value[0] > 0:
                return True
            continue  # it may be left out: what follows has to begin so, too
        return name in ("LITERAL", "IN", "CATEGORY") and _is_word_sign(item)
    return False


def _is_word_sign(item: Any) -> bool:
    name, value = str(item[0]), item[1]
    if name == "LITERAL":
        return chr(value).isalnum() or value == ord("_")
    if name == "CATEGORY":
        return str(value) in ("CATEGORY_WORD", "CATEGORY_DIGIT")
    if name == "RANGE":
        return value[1] < 128 and all(chr(code).isalnum() for code in range(value[0], value[1] + 1))
    return name == "IN" and all(_is_word_sign(one) for one in value)
