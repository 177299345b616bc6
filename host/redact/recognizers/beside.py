"""What stands beside a name: goods and firms that it only names, places that it is part of, and the rest of it."""

from __future__ import annotations

import re

from host.core.pii.words import PARTICLE, UPPER
from host.redact.names import NAMES, words_of

NAME_WORD = rf"[{UPPER}](?:[^\W\d_]|['-](?=[^\W\d_]))*"
_NEXT = re.compile(r"(?:'s)?[ ]([^\W\d_][\w'-]*)")
_FIRM_NEXT = re.compile(r"[ ]?(?:&|\+)[ ]?([^\W\d_][\w'-]*)|[ ](?:und|and|et|y)[ ](?:Söhne|Sons|Söhne|Fils|Hijos|Co)\b")
_FIRM_BEFORE = re.compile(r"([^\W\d_][\w'-]*)[ ]?(?:&|\+)[ ]?$")


def is_thing_next(text: str, end: int) -> bool:
    """Whether goods, a place or a form of company follows within the capitalised words after `end`, or "& Co"."""
    firm = _FIRM_NEXT.match(text, end)
    if firm is not None:
        return firm[1] is None or not NAMES.is_surely_given(firm[1])
    for count in range(3):
        following = _NEXT.match(text, end)
        if following is None:
            return False
        if (
            NAMES.is_thing(following[1])
            and (following[1][0].isupper() or count == 0)
            and not NAMES.is_family(following[1])
        ):
            return True
        if not following[1][0].isupper():
            return False
        end = following.end()
    return False


def is_firm_before(text: str, start: int, first: str) -> bool:
    """Whether "Marks & " stands before what is no given name."""
    match = _FIRM_BEFORE.search(text, max(0, start - 30), start)
    return match is not None and not (NAMES.is_surely_given(match[1]) or NAMES.is_surely_given(first))


_NAMELESS = re.compile(
    r"(?i)\W*(?:(?:company|product|brand|team|project|file|item)(?: name)?|firm|firma|unternehmen|empresa|société"
    r"|entreprise|azienda|società|bedrijf|företag|şirket|make|manufacturer|marke|hersteller|marca|marque|merk|märke"
    r"|marka|produkt|artikel|producto|artículo|produit|article|prodotto|articolo|produto|mannschaft|verein|equipo"
    r"|équipe|squadra|drużyna|takım|language|sprache|idioma|langue|lingua|taal|språk|język|dil|category|kategorie"  # noqa: RUF001
    r"|categoría|catégorie|categoria|venue|airline|hotel|restaurant|file ?name|dateiname|dateien?|color|colour|farbe"
    r"|projekt|proyecto|projet|progetto|book|buch|film|movie|album|song|genre)\W*"
)


def is_nameless(hint: str) -> bool:
    """Whether the hint is a column's head under which firms, goods or works stand, though they read like people."""
    return bool(hint) and _NAMELESS.fullmatch(hint) is not None


def is_place_noun(word: str) -> bool:
    """Whether it makes a place of the name behind it."""
    return word.lower().rstrip(".") in _PLACE_BEFORE


def is_place_before(text: str, start: int) -> bool:
    """Whether a word right before makes a place of the name: "Hotel Adlon", "Lake Anna"."""
    match = _WORD_BEFORE.search(text, max(0, start - 24), start)
    return match is not None and is_place_noun(match[1])


_WORD_BEFORE = re.compile(r"([^\W\d_]+\.?)[ ]$")


def is_part_of_thing(text: str, start: int, end: int) -> bool:
    """Whether the span, with one or two words before it or from one of its own on, is a firm or a work we know."""
    before = re.findall(r"[^\W\d_][\w'.-]*", text[max(0, start - 30) : start])
    name = text[start : end + 24]
    if any(NAMES.known_thing(" ".join([*before[-count:], name])) > count for count in (1, 2) if len(before) >= count):
        return True
    words = name[: end - start].split()
    return any(NAMES.known_thing(" ".join(words[place:])) > 1 for place in range(1, len(words)))


_PLACE_BEFORE = words_of("place_words.txt")
PARTICLES = words_of("particles.txt")


def extended(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole of a name of which only a part was found: initials and unknown capitalised words beside it."""
    for _step in range(3):
        match = _MORE_AFTER.match(text, end)
        if match is None or _is_no_name(match[2]):
            break
        end = match.end()
    if (
        (match := _TURNED_BEFORE.match(text, 0, start))
        and not text[end:].strip()
        and not any(map(_is_no_name, match[1].split()))
    ):
        return match.start(1), end
    if (match := _TURNED_AFTER.match(text, end)) and _CELL_BEGINS.search(text, max(0, start - 4), start):
        single = " " not in text[start:end] and not _is_no_name(text[start:end])
        if single and not _is_no_name(match[1]) and NAMES.is_family(text[start:end]):
            return start, match.end()
    match = _CELL_BEFORE.search(text, max(0, start - 40), start) if "," in text[start:end] else None
    if match is not None and not any(map(_is_no_name, match[1].split())):
        start = match.start(1)  # "Ferreira da" of "Ferreira da Costa, Manuel"
    if text[start:end].isupper():  # a passenger list: "SURNAME/GIVEN MR"
        if match := _SLASHED.match(text, end):
            end = match.end()
        if match := _SLASHED_BEFORE.search(text, max(0, start - 24), start):
            start = match.start()
    if (match := _FAMILY_BEFORE.search(text, max(0, start - 24), start)) and _HYPHENED.fullmatch(text, start, end):
        start = match.start() if NAMES.is_family(match[0].strip()) else start
    for _step in range(2):
        match = _MORE_BEFORE.search(text, max(0, start - 40), start)
        if match is None or (_is_no_name(match[1]) or not (NAMES.is_given(match[1]) or len(match[1]) <= 2)):
            break
        start = match.start(1)
    return start, end


_MORE_AFTER = re.compile(rf"[ ]((?:{PARTICLE}[ ]){{0,2}})({NAME_WORD}|[{UPPER}]\.)(?![\w@]|[ ]?[:=])")
_TURNED_BEFORE = re.compile(rf"\s*({NAME_WORD}(?:[ ]{NAME_WORD})?),[ ]$")
_SLASHED = re.compile(rf"/[{UPPER}]{{2,20}}(?![\w])")
_TURNED_AFTER = re.compile(rf",[ ]({NAME_WORD})(?:[ ][{UPPER}]\.)?(?=[ ]?(?:$|[\t\n|]))")
_CELL_BEFORE = re.compile(rf"(?:^|[\n\t|])[ ]?({NAME_WORD}[ ](?:(?:{NAME_WORD}|{PARTICLE})[ ]){{0,3}})$")
_CELL_BEGINS = re.compile(r"(?:^|[\n\t|])[ ]?$")
_SLASHED_BEFORE = re.compile(rf"(?<![\w/])[{UPPER}]{{2,20}}(?:[ -][{UPPER}]{{2,20}})?/$")
_HYPHENED = re.compile(rf"[{UPPER}][a-z]{{1,6}}-[a-z]{{2,6}}")  # a Korean given name
_FAMILY_BEFORE = re.compile(rf"(?<![\w.@-])[{UPPER}][a-z]{{1,8}}[ ]$")
_MORE_BEFORE = re.compile(rf"(?<![\w.@])({NAME_WORD}|[{UPPER}]\.)[ ]{{0,1}}$")


def _is_no_name(word: str) -> bool:
    if len(word.rstrip(".")) == 1:
        return False
    shouted = word.isupper() and len(word) > 1
    return NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_maker(word) or NAMES.is_place(word) or shouted
