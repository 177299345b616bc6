"""What the name model said, after what we know of words: names that are no goods, streets that have a number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from host.core.pii.context import is_measure
from host.core.pii.words import UPPER
from host.redact.names import NAMES
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.beside import (
    PARTICLES,
    is_firm_before,
    is_firm_of_names,
    is_nameless,
    is_nameless_line,
    is_part_of_thing,
    is_place_before,
    is_place_noun,
    is_street_next,
    is_thing_next,
)


class Modelled(Rules):
    """What the model said of the page's lines, after what we know of words."""

    types = ("PERSON", "ADDRESS")

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Names that are no goods, firms or ordinary words; streets with their number."""
        said = page.model
        if not page.hint and said and is_firm_of_names(text):
            return
        for place, hit in enumerate(said):
            if hit.type == "PERSON":
                yield from _person(text, hit, page)
            elif hit.type == "STREET" and not is_nameless(page.hint):
                yield from _street(text, said, place)


def _person(text: str, hit: Hit, page: Page) -> Iterator[Hit]:
    words = [
        (m[0], hit.start + m.start(), hit.start + m.end())
        for m in re.finditer(r"[^\s,;:()\"|/]+", text[hit.start : hit.end])
    ]
    led = ""
    while words and _is_dull(words[0][0]):
        led = words.pop(0)[0]
    while len(words) > 1 and words[-1][0].islower() and words[0][0][:1].isupper() and not NAMES.is_family(words[-1][0]):
        words.pop()  # the sentence that goes on
    while words and _is_dull(words[-1][0]):
        words.pop()
    if any(word[:1].isupper() for word, _start, _end in words):
        while words[0][0].islower() and words[0][0] not in PARTICLES:
            words.pop(0)
    if words and words[0][0][:1].isupper():  # a sentence is no name: what follows its first small word is none of it
        small = (n for n, (word, _s, _e) in enumerate(words) if word.islower() and word not in PARTICLES)
        words = words[: next(small, len(words))]
    if not words or is_nameless(page.hint) or is_nameless_line(text, hit.start):
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
    if is_place_before(text, start) or _is_of_a_thing(text, start, end, plain, known, led):
        return
    if is_street_next(text, end):
        return
    if is_thing_next(text, end) and not (len(known) > 1 and all(known) and NAMES.is_surely_given(plain[0])):
        return
    parted = _PARTED.search(text, start, end)
    listed = parted is not None and " " in text[start : parted.start()] and " " in text[parted.end() : end]
    if parted is not None and (not any(known) or (listed and not NAMES.is_surely_given(plain[0]))):
        return  # "Oral-B, Corsodyl", "Ajax – Feyenoord"
    if any(is_place_noun(word) and word[1:2].isupper() for word in plain):
        return  # "TSV Bayer Dormagen": a club
    if text.startswith("'s", end) and NAMES.is_maker(plain[-1] + "s"):
        return
    maker = NAMES.is_maker(plain[0]) and not NAMES.is_role(plain[0])  # "Canon Whittle"
    if maker or is_firm_before(text, start, plain[0]) or is_part_of_thing(text, start, end):
        return
    if page.ruled_out and not (known[0] and len(known) > 1):
        return
    expected = _is_led(text, start, end) or any(kind.startswith("PERSON") for kind in page.promised)
    if hit.score >= _believed_from(plain, known, text, start, end, expected):
        yield Hit(start, end, "PERSON", max(0.3, min(hit.score, 0.85)), "name model")


def _is_of_a_thing(text: str, start: int, end: int, words: list[str], known: list[bool], led: str) -> bool:
    """Whether unknown words are the rest of a dish's or a place's name, a shop's genitive, or a German landmark."""
    if len(words) == 1 and not known[0] and led[:1].isupper():
        return True  # "Quiche Lorraine": the ordinary word before it was all that the model had beside it
    if any(word.endswith("'s") for word in words[:-1]):
        return True
    begins = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    shop = words[0].endswith("'s") or text.startswith("'s ", end)
    if len(words) == 1 and begins and shop and not NAMES.is_given(words[0].removesuffix("'s")):
        return True
    return len(words) == 2 and not any(known) and words[0].endswith("er") and words[1].lower() in _SIGHTS


_SIGHTS = frozenset(
    [
        "dom",
        "tor",
        "turm",
        "platz",
        "markt",
        "hof",
        "hafen",
        "rathaus",
        "schloss",
        "münster",
        "park",
        "garten",
        "bahnhof",
    ]
)


def _believed_from(words: list[str], known: list[bool], text: str, start: int, end: int, expected: bool) -> float:
    """From which score on the model is believed, by what the lists know of the words."""
    if not any(word[:1].isupper() for word in words):
        return 0.6 if all(known) else 2.0
    if len(words) == 1:
        if NAMES.is_surely_given(words[0]):
            return 0.2
        if expected and len(words[0]) > 2 and not words[0].isupper():
            return 0.25
        if len(words[0]) < 3 or (words[0].isupper() and not known[0]):
            return 2.0
        following = _NEXT_CAPITAL.match(text, end)
        if following is not None and (NAMES.is_common(following[1]) or NAMES.is_thing(following[1])):
            return 2.0  # "Marlowe Leather Satchel"
        if following is not None and NAMES.is_family(following[1]) and not NAMES.is_place(following[1]):
            return 0.25
        if known[0]:
            return 0.6
        if _IN_SENTENCE.search(text, max(0, start - 24), start) and not words[0].isupper():
            return 0.6
        return 0.8 if text[:start].strip() or text[end:].strip() else 0.97  # a word alone is mostly a thing
    if any(known):
        return 0.2
    if _MODEL_NUMBER.match(text, end):
        return 2.0
    line = text[text.rfind("\n", 0, start) + 1 : start].strip(), text[end:].split("\n", 1)[0].strip()
    return 0.15 if not any(line) else 0.4


def _is_led(text: str, start: int, end: int) -> bool:
    """Whether an initial or a role stands right before ("Trainer Asmussen"), or behind when it was said."""
    match = _LED.search(text, max(0, start - 24), start)
    if match is not None and (match[1] is not None or NAMES.is_role(match[2])):
        return True
    return not text[text.rfind("\n", 0, start) + 1 : start].strip() and _STAMP.match(text, end) is not None


_STAMP = re.compile(  # when a comment was made, behind who made it
    r"[ ]?[·•|–—-][ ](?:\d{1,2}[ ]?(?:s|m|min|h|hrs?|d|w|wk|mo|y|Std|Tage?|sem|j)\b|just now|yesterday|today|gestern"
    r"|heute|ayer"
    r"|hoy|hier|ieri|oggi|vor \d|hace \d|il y a|\d{1,2} (?:min|hour|day|week|month|year))"
)


_LED = re.compile(rf"(?<![\w.])(?:((?:[{UPPER}]\.[ ]?){{1,3}})|([^\W\d_]{{2,20}})[ ])$")
_PARTED = re.compile(r",[ ]|[ ][–—-][ ]")
_IN_SENTENCE = re.compile(r"(?:^|[ ])[a-zß-ÿ']{1,20}[ ]$")  # a small word right before: no heading, no list of goods
_NEXT_CAPITAL = re.compile(rf"[ ]([{UPPER}][\w'-]*)")
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
    if not any(re.fullmatch(r"(?!(?:19|20)\d\d$)\d{1,6}[a-zA-Z]?(?:[-/]\w{1,4})?", number) for number in numbers):
        return
    words = re.findall(r"[^\W\d_]{2,}", text[hit.start : hit.end])
    if len(words) == 1 and numbers[0].isdigit() and int(numbers[0]) % 50 == 0 and hit is group[0]:
        return  # "Ibuprofen 600, Voltaren": what a pill holds
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
