"""A decoded result as texts to look through, and as the copy that an AI reads; not what counts as private."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from host.core.masking import credentials, encoded, keys
from host.core.masking.credentials import Span
from host.core.masking.html import html_views, is_html, password_values
from host.core.masking.joint import Joint, items_of, joint, nodes_of, trees_of
from host.core.masking.placeholders import Placeholders
from host.core.masking.places import REPEATED_CHARS, Place, filled, merged, repeated
from host.core.masking.slots import Nest, Slot, found_places, named_places, parted, rename
from host.core.masking.tree import Item, Node, labelled
from host.core.masking.values import Around, Leaf, leaves
from host.core.masking.views import Maker, View, plain_views, words
from host.core.redaction import Found, Text

MOST_NESTING = 4  # JSON in JSON; deeper it is looked through as plain text
TYPE = re.compile(r"[A-Z][A-Z0-9_]{0,31}")
NOTHING = re.compile(r"[\W_]*")
LITTLE = re.compile(r"[\W\d_]{0,3}|.?", re.DOTALL)  # without a word that stands for it this is nobody's
DRAWING = re.compile(r"\s*[Mm](?=[^A-Za-z]*[A-Za-z])[-MmLlHhVvCcSsQqTtAaZz0-9.,\s]{20,}")  # an SVG path's lines
NUMBER_DIGITS = range(7, 20)  # of a whole number that may be somebody's
MOST_LABELLED = 20_000  # tables in tables in tables have many heads for each text
SHORT_SECRETS = ("PASSWORD", "SECRET")
BODIES = ("body", "postData", "payloadData", "data", "content", "bytes")
KNOWN_CHARS = range(5, 200)
PASSWORD_WORD = re.compile(r"\b(?:password|passwd|pwd|pw|pass|passwort|kennwort|contrase\S+|mot de passe)\b")
SELECTOR = re.compile(
    r"(?:querySelector|getElementById|getElementsByName|closest)\(\s*([\"'`])(.{1,120}?)\1\s*\)([^;{}]{0,40})$"
)


class NonsenseError(ValueError):
    """What was found does not fit the texts that were looked through."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the result answers, as far as it tells what is in it: the `expression` that was evaluated, if any.

    `protocol` says that the result is Chromium's own object with the page's data somewhere in it.
    """

    expression: str = ""
    protocol: bool = False


@dataclass(frozen=True, slots=True)
class Masked:
    """The copy, how many places were masked by type, and what else was taken out, by media type."""

    value: Any
    counts: dict[str, int]
    removed: dict[str, int]


class Masking:
    """One result on its way to an AI. It takes `value` over: what is told is built in it.

    Look through `texts`, then call `told`, once, with what was found in each.
    """

    def __init__(self, value: Any, asked: Asked | None = None) -> None:
        asked = asked or Asked()
        self._cookies = "cookie" in asked.expression.lower()
        self._wanted, self._password = _wanted(asked.expression)
        self._slots: list[Slot] = []
        self._nests = [Nest(None, None, 0, 0, [value])]
        self._waiting = [(0, Around(protocol=asked.protocol))]
        self._numbers: dict[tuple[str, str], int] = {}
        self._beside: list[list[Item]] = []
        self._trees: list[Node] = []
        self._told_beside: set[int] = set()  # the nodes of a tree whose root was seen to
        self._removed: Counter[str] = Counter()
        self.texts: list[Text] = []
        while self._waiting:
            number, around = self._waiting.pop(0)
            inside = self._nests[number].inside
            for leaf in leaves(Leaf(inside, 0, inside[0], around), self._taken):
                self._leaf(leaf)
        self._joints = list(self._join())

    # --- what there is to look through

    def _leaf(self, leaf: Leaf) -> None:
        if type(leaf.value) is str:
            self._string(leaf)
        else:
            self._number(leaf)

    def _taken(self, leaf: Leaf) -> bool:
        """Bytes as a list of numbers are taken out; of an object the keys and what it holds as base64 are seen to."""
        data = encoded.bytes_of(leaf.value)
        instead = encoded.instead_of_bytes(data) if data is not None else None
        if instead is not None:
            self._put(leaf.holder, leaf.key, instead[0], leaf.around.nest, [instead[1]])
            return True
        self._note_beside(leaf.value, leaf.around)
        if type(leaf.value) is dict:
            self._decode(leaf.value, leaf.around)
            for name in leaf.value:
                if not keys.PLAIN_KEY.fullmatch(name) or (name[:1].isupper() and not leaf.around.protocol):
                    self._slot(Slot(leaf.value, name, name, leaf.around.nest, "key"), leaf.around.hint)
        return False

    def _string(self, leaf: Leaf) -> None:
        around = leaf.around
        if fixed := self._credential(leaf.value, around):
            slot = Slot(leaf.holder, leaf.key, leaf.value, around.nest)
            slot.places = [Place(*span, leaf.value[span.start : span.end], True) for span in fixed]
            self._slots.append(slot)
            return
        text, removed = encoded.without_bytes(leaf.value)
        if removed:
            self._put(leaf.holder, leaf.key, text, around.nest, removed)
        if not text.strip() or encoded.NOTE.fullmatch(text) or self._is_json(leaf, text):
            return
        hint = around.hint or ("" if around.protocol else self._wanted)
        self._slot(Slot(leaf.holder, leaf.key, text, around.nest), hint)

    def _credential(self, text: str, around: Around) -> list[Span]:
        """What of a string is masked for the name under which it goes."""
        if not text.strip():
            return []
        if around.type and around.how == "whole":
            return [Span(0, len(text), around.type)]
        if around.type and (around.how == "header" or credentials.is_value(text, words(around.hint), around.type)):
            return credentials.header_value(around.hint, text, around.type)
        if around.protocol or around.hint:
            return []
        if "=" in text and (self._cookies or "; " in text) and credentials.COOKIE_TEXT.fullmatch(text):
            return credentials.cookie_values(text, set_cookie=False)
        return [Span(0, len(text), "PASSWORD")] if self._password else []

    def _slot(self, slot: Slot, hint: str) -> None:
        text = slot.text
        if slot.part != "number":
            slot.places = [Place(*span, text[span.start : span.end], True) for span in credentials.in_text(text)]
            slot.places += [
                Place(start, end, "PASSWORD", text[start:end], True) for start, end in password_values(text)
            ]
        for view in views_of(text, hint):
            if view.named and slot.part != "number":
                slot.places += named_places(view, text)
            if not _is_nothing(view.text, view.hint):
                slot.views.append((self._text(view.text, view.hint), view))
        self._slots.append(slot)

    def _number(self, leaf: Leaf) -> None:
        number, hint = leaf.value, leaf.around.hint
        if type(number) is float and number.is_integer() and abs(number) < 2**63:
            number = int(number)
        text = str(number)
        slot = Slot(leaf.holder, leaf.key, text, leaf.around.nest, "number")
        sure = leaf.around.type if leaf.around.type in SHORT_SECRETS else ""
        if keys.BIRTH.search(hint) and type(number) is int:
            sure = "DATE_OF_BIRTH"
        if leaf.around.protocol and not sure:
            return  # sizes, counts and times; a page's number stands in a value of the page
        if sure:
            slot.places = [Place(0, len(text), sure, text)]
            self._slots.append(slot)
        elif self._is_somebodys(number, text, hint, leaf.key):
            self._slot(slot, hint)

    def _is_somebodys(self, number: int | float, text: str, hint: str, key: Any) -> bool:
        """May a number be a private detail?"""
        if type(number) is float:
            return keys.PLACE_KEY.search(hint) is not None
        digits = len(text.lstrip("-"))
        if digits in NUMBER_DIGITS:
            thing = digits <= keys.THING_DIGITS and keys.THING_NUMBER.fullmatch(words(hint))
            return not thing and not keys.is_time(int(number), f"{hint} {words(str(key))}")
        return 3 <= digits < NUMBER_DIGITS.start and keys.PRIVATE_NUMBER.search(hint) is not None

    def _text(self, text: str, hint: str) -> int:
        """The number of a text to look through; the same one is looked through once."""
        number = self._numbers.setdefault((text, hint), len(self.texts))
        if number == len(self.texts):
            self.texts.append(Text(text, hint))
        return number

    def _note_beside(self, value: Any, around: Around) -> None:
        items = None if id(value) in self._told_beside else items_of(value, protocol=around.protocol)
        if items is None or around.heads:
            return
        self._beside.append(list(items))
        if around.protocol:
            self._trees += trees_of(value)
        if type(value) is dict and "nodeType" in value:
            self._told_beside.update(id(one) for one in nodes_of(value))

    def _join(self) -> Iterator[tuple[int, Joint]]:
        """The texts of strings that stand beside each other, each with the number under which it is looked through."""
        strings = {
            (id(slot.holder), slot.key): (number, slot.text)
            for number, slot in enumerate(self._slots)
            if slot.part == "text" and not slot.places
        }
        text_of = {place: text for place, (_, text) in strings.items()}
        for tree in self._trees:
            for (holder, key), label in islice(labelled(tree, text_of), MOST_LABELLED):
                known = strings.get((id(holder), key))
                if known is not None:
                    view = next(plain_views(known[1], 0, len(known[1]), label))
                    self._slots[known[0]].views.append((self._text(view.text, label), view))
        for items in self._beside:
            made = joint(items, strings)
            if made is not None:
                yield self._text(made.text, ""), made

    def _is_json(self, leaf: Leaf, text: str) -> bool:
        parent = self._nests[leaf.around.nest]
        if text.lstrip()[:1] not in ("{", "[") or parent.depth >= MOST_NESTING:
            return False
        try:
            value = json.loads(text, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            return False
        self._nest(Nest(leaf.holder, leaf.key, leaf.around.nest, parent.depth + 1, [value], text), leaf.around.hint)
        return True

    def _decode(self, value: dict[str, Any], around: Around) -> None:
        """What an object holds as base64: text is looked through and encoded again, anything else is taken out."""
        said = value.get("base64Encoded") is True
        if not said and value.get("opcode") != 2 and not (around.protocol and "bytes" in value):
            return
        for key in BODIES:
            held = value.get(key)
            if type(held) is not str or not held or (key == "bytes" and not around.protocol):
                continue
            data = encoded.decoded(held)
            text = encoded.readable(data) if data is not None else None
            if text is not None:
                value[key] = None  # until it is written back
                depth = self._nests[around.nest].depth + 1
                self._nest(Nest(value, key, around.nest, depth, [text], held, is_base64=True), "")
            elif data is not None:
                media = encoded.media_type(data[:400]) or ""
                self._put(value, key, encoded.note(media, len(data)), around.nest, [media])
                if said:
                    value["base64Encoded"] = False

    def _nest(self, nest: Nest, hint: str) -> None:
        self._waiting.append((len(self._nests), Around(hint, len(self._nests))))
        self._nests.append(nest)

    def _put(self, holder: Any, key: Any, text: str, nest: int, removed: Sequence[str]) -> None:
        """Something was taken out of a value."""
        holder[key] = text
        self._nests[nest].touched = True
        self._removed.update(media or "bytes" for media in removed)

    # --- what is told

    def told(self, found: Sequence[Sequence[Found]], placeholders: Placeholders) -> Masked:
        """The copy in which what was found is masked. Raises NonsenseError when it does not fit `texts`."""
        self._check(found)
        for number, made in self._joints:
            for one in found[number]:
                for slot_number, start, end in made.places(one.start, one.end):
                    slot = self._slots[slot_number]
                    slot.places += parted(slot.text, start, end, one.type)
        for slot in self._slots:
            slot.places = merged(slot.text, (*slot.places, *found_places(slot, found)))
        more = repeated([slot.text for slot in self._slots], [slot.places for slot in self._slots])
        for number, places in more.items():
            slot = self._slots[number]
            slot.places = merged(slot.text, (*slot.places, *places))
        counts: Counter[str] = Counter()
        renamed: dict[int, dict[int, tuple[dict[str, Any], dict[str, str]]]] = {}
        for slot in self._slots:
            if slot.places:
                counts.update(place.type for place in slot.places if place.value is not None)
                self._write(slot, placeholders, renamed)
        for slot in self._slots:
            if not slot.places and (known := self._known(slot, placeholders)):
                slot.places = [known]
                counts[known.type] += 1
                self._write(slot, placeholders, renamed)
        for number in range(len(self._nests) - 1, -1, -1):
            for holder, names in renamed.get(number, {}).values():
                rename(holder, names)
            if number:
                (nest := self._nests[number]).close(self._nests[nest.parent])
        return Masked(self._nests[0].inside[0], dict(counts), dict(self._removed))

    def _known(self, slot: Slot, placeholders: Placeholders) -> Place | None:
        """Is a whole string a value that was masked in this chat before?"""
        text = slot.text.strip()
        if len(text) not in KNOWN_CHARS or (text.isdigit() and len(text) < REPEATED_CHARS):
            return None
        type_ = placeholders.type_of(text)
        start = slot.text.find(text)
        return Place(start, start + len(text), type_, text) if type_ else None

    def _check(self, found: Sequence[Sequence[Found]]) -> None:
        if len(found) != len(self.texts):
            raise NonsenseError(f"{len(self.texts)} texts were looked through and {len(found)} answers came")
        for text, ones in zip(self.texts, found, strict=True):
            for one in ones:
                if not 0 <= one.start < one.end <= len(text.text) or TYPE.fullmatch(one.type) is None:
                    raise NonsenseError("a private detail was found outside of its text, or of no known type")

    def _write(
        self,
        slot: Slot,
        placeholders: Placeholders,
        renamed: dict[int, dict[int, tuple[dict[str, Any], dict[str, str]]]],
    ) -> None:
        self._nests[slot.nest].touched = True
        if slot.part == "number":
            slot.holder[slot.key] = placeholders.of(slot.places[0].type, slot.text)
            return
        text = filled(slot.text, slot.places, placeholders.of)
        if slot.part == "key":
            renamed.setdefault(slot.nest, {}).setdefault(id(slot.holder), (slot.holder, {}))[1][slot.key] = text
        else:
            slot.holder[slot.key] = text


def _is_nothing(text: str, hint: str) -> bool:
    return (NOTHING if hint else LITTLE).fullmatch(text) is not None or DRAWING.fullmatch(text) is not None


def views_of(text: str, hint: str) -> Iterator[View]:
    """Every way in which a string is looked through; together they leave none of it out."""
    yield from html_views(text, hint) if is_html(text) else plain_views(text, 0, len(text), hint)
    for run in encoded.encoded_texts(text):
        made = Maker()
        made.add(run.text, run.start, run.end, plain=False)
        yield made.view("")


def _wanted(expression: str) -> tuple[str, bool]:
    """The words for what an expression asks of an element, and is it the value of a password field?"""
    found = SELECTOR.search(expression.strip()[-400:])
    if found is None:
        return "", False
    asked = words(found[2].replace("#", " ").replace("=", " ").replace('"', " ").replace("'", " "))
    return asked, ".value" in found[3] and PASSWORD_WORD.search(asked) is not None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice; the first of them would not be looked through")
    return made
