"""Names in a run of words, by the lists: where one begins, how far it reaches, and what speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.words import UPPER
from host.redact.names import NAMES
from host.redact.recognizers.base import Hit, Page
from host.redact.recognizers.beside import (
    NAME_WORD,
    PARTICLES,
    is_firm_before,
    is_form_next,
    is_nameless,
    is_part_of_thing,
    is_place_before,
    is_street_next,
    is_thing_next,
)
from host.redact.recognizers.listed import is_goods_line

INITIAL = re.compile(rf"(?:[{UPPER}]\.){{1,3}}")
Token = tuple[str, int, int]


def runs(tokens: list[Token], text: str) -> Iterator[list[Token]]:
    """Stretches of words that only single spaces, commas or particles part; cut at other signs."""
    run: list[Token] = []
    for token in tokens:
        word = token[0]
        if word[0].isalpha():
            gap = text[run[-1][2] : token[1]] if run else ""
            if run and gap.strip(" \u00a0\t"):
                yield run
                run = []
            run.append(token)
            if len(run) > 400:
                yield run
                run = run[-3:]
        elif word == "," and run:
            run.append(token)
        else:
            if run:
                yield run
            run = []
    if run:
        yield run


def names_of(run: list[Token], text: str, page: Page) -> Iterator[Hit]:
    at = 0
    while at < len(run):
        length, score, rule = _name_at(run, at, text, page)
        if length:
            end = run[at + length - 1]
            stop = end[2] - (1 if end[0].endswith(".") and len(end[0]) > 2 else 0)
            if score and not (page.kind != "ocr" and length < 4 and is_goods_line(text, run[at][1], stop)):
                yield Hit(run[at][1], stop, "PERSON", score, rule)
            at += length
        else:
            at += 1


def _capital(word: str) -> bool:
    return word[0].isupper()


def _name_at(run: list[Token], at: int, text: str, page: Page) -> tuple[int, float, str]:
    """How many words from `at` on are a name; 0 if none begins there."""
    word = run[at][0]
    plain = word.rstrip(".")
    if not _capital(word):
        return _lower_at(run, at, text, page)
    bare_initial = len(plain) == 1 and plain not in "IUX" and not text[: run[at][1]].strip()  # "J WOODHOUSE"
    if INITIAL.fullmatch(word) or (len(plain) == 1 and (word.endswith(".") or bare_initial)):
        return _initial_at(run, at, text)
    if not (NAMES.is_given(plain) or NAMES.is_family(plain)):
        return _cell_at(run, at, text)
    if _is_turned_round(run, at):
        more = 3
        while at + more < len(run) and _capital(run[at + more][0]) and NAMES.is_given(run[at + more][0].rstrip(".")):
            more += 1
        return more, 0.6, "family name, given name"
    count = _reach(run, at)
    return _judged(run, at, count, text)


def _is_turned_round(run: list[Token], at: int) -> bool:
    """Whether "Family, Given" begins here; of a list of given names ("Anna, Tom, Eva") none is."""
    if at + 2 >= len(run) or run[at + 1][0] != "," or not _capital(run[at + 2][0]):
        return False
    family, given = run[at][0].rstrip("."), run[at + 2][0].rstrip(".")
    if not (NAMES.is_family(family) and NAMES.is_given(given)) or NAMES.is_common(family):
        return False
    return not NAMES.is_given(family) or len(run) <= 4


def _reach(run: list[Token], at: int) -> int:
    """How many words the name can have: capitalised, no ordinary words or goods unless they are family names too."""
    count = 1
    real = 1
    while at + count < len(run) and real < 5:
        word = run[at + count][0]
        plain = word.rstrip(".")
        if run[at + count - 1][0].endswith(".") and len(run[at + count - 1][0]) > 3:
            break
        if plain.lower() in PARTICLES and at + count + 1 < len(run) and not (_capital(word) and NAMES.is_family(plain)):
            rest = [w[0] for w in run[at + count : at + count + 3]]
            if plain.lower() in ("e", "i", "y") and not (
                len(rest) > 1 and _capital(rest[1]) and NAMES.is_family(rest[1].rstrip("."))
            ):
                break
            if any(_capital(w) and w[0].isalpha() for w in rest[1:]):
                count += 1
                continue
            break
        if not _capital(word) or word == ",":
            break
        if len(plain) == 1:
            count += 1
            continue
        known = NAMES.is_family(plain) or NAMES.is_given(plain)
        if (NAMES.is_common(plain) or NAMES.is_thing(plain)) and not (known and real == 1):
            if (
                real == 1
                and NAMES.is_surely_given(run[at][0].rstrip("."))
                and not NAMES.is_thing(plain)
                and len(plain) > 3
            ):
                count += 1  # "Anna Good": an ordinary word in a family name's place
            break
        count += 1
        real += 1
    while (
        count > 1 and run[at + count - 1][0].lower().rstrip(".") in PARTICLES and not _capital(run[at + count - 1][0])
    ):
        count -= 1
    return count


def _judged(run: list[Token], at: int, count: int, text: str) -> tuple[int, float, str]:
    first = run[at][0].rstrip(".")
    words = [token[0].rstrip(".") for token in run[at : at + count]]
    end = run[at + count - 1][2]
    name = text[run[at][1] : end]
    thing_next = is_thing_next(text, end)
    if is_form_next(text, run[at][2]):
        return count, 0.0, ""
    if thing := NAMES.known_thing(text[run[at][1] : run[at][1] + 60]):
        return min(thing, len(run) - at), 0.0, ""  # all of its words are passed over
    if NAMES.is_maker(first) or is_firm_before(text, run[at][1], first):
        return 0, 0.0, ""
    if NAMES.is_place(name) or is_place_before(text, run[at][1]):
        return 0, 0.0, ""
    rest = [word for word in words[1:] if len(word) > 1 and word.lower() not in PARTICLES]
    if NAMES.is_given(first) and count > 1:
        known = [word for word in rest if NAMES.is_family(word) or NAMES.is_given(word)]
        sure = NAMES.is_surely_given(first)
        if not rest:  # "Anna K."
            whole = text.strip() == f"{name.rstrip('.')}." and not NAMES.is_common(first)  # "Louis R." as an author
            return (count, 0.5, "given name and initial") if (sure or whole) and not thing_next else (0, 0.0, "")
        dull = all(NAMES.is_common(word) or NAMES.is_thing(word) for word in rest)
        family = all(NAMES.is_family(word) and not NAMES.is_thing(word) for word in rest)
        if NAMES.is_common(first) and NAMES.is_surely_given(rest[0]) and not _is_also_given(first, rest):
            return 0, 0.0, ""  # "Par Achille": the sentence's first word
        if dull and not sure and (thing_next or not family or NAMES.is_common(first)):
            return 0, 0.0, ""
        if thing_next and not (sure and known and not is_street_next(text, end)):
            return 0, 0.0, ""
        if known or (sure and not _sentence_goes_on(rest)):
            return count, 0.7 if known else 0.5, "given and family name"
        cell = count == 2 and len(rest) == 1 and len(first) > 3 and _is_alone(text, run[at][1], end)
        believed = _plausible(rest, first) or (cell and _is_unheard_of(rest[0]))
        return (count, 0.35, "given and unknown name") if believed else (0, 0.0, "")
    if (
        count > 1
        and NAMES.is_family(first)
        and NAMES.is_surely_given(words[1])
        and (not NAMES.is_common(first) or "-" in words[1])
        and not thing_next
    ):
        return count, 0.5, "family and given name"
    if count == 2 and len(first) < 6 and NAMES.is_family(first) and NAMES.is_given(words[1]):
        after = run[at + 2][0] if at + 2 < len(run) else ""
        if after[:1].islower() and not NAMES.is_common(first) and not thing_next:
            return 2, 0.4, "family and short given name"
    if count == 1 and NAMES.is_given(first) and _OF_STAFF.match(text, end) is not None:
        return 1, 0.4, "given name of the staff"
    if count == 1 and at > 0 and NAMES.is_role(run[at - 1][0]) and _is_only_a_name(first, thing_next):
        return (0, 0.0, "") if is_part_of_thing(text, run[at][1], end) else (1, 0.4, "role and name")
    if count == 1 and at > 0 and run[at - 1][0].lower() in _NICKS and NAMES.is_surely_given(first) and not thing_next:
        return 1, 0.4, "given name"  # "Big Dave"
    if count == 1 and not thing_next and _is_beside_a_name(text, run[at][1], end, first):
        return 1, 0.4, "given names together"
    if count == 1 and NAMES.is_surely_given(first) and not thing_next and not is_part_of_thing(text, run[at][1], end):
        quoted = text[run[at][1] - 1 : run[at][1]] in ("'", '"') and text[end : end + 1] in ("'", '"')
        alone = _is_alone(text, run[at][1], end) or _MET.search(text, max(0, run[at][1] - 28), run[at][1]) is not None
        if _FILE_END.match(text, end):
            return 0, 0.0, ""
        prose = _is_prose(run, at, text)
        label = _LABEL_BEFORE.fullmatch(text, text.rfind("\n", 0, run[at][1]) + 1, run[at][1])
        if label is not None and (end == len(text) or text[end] in "\n,;|(") and not is_nameless(label[1]):
            return 1, 0.4, "given name behind a label"
        if alone or prose or (quoted and run[at][1] > 0):
            return 1, 0.4, "given name"
    return 0, 0.0, ""


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether there is nothing else in the text."""
    return not text[:start].strip(" \t\n-•·*@\"'(") and not text[end:].strip(" \t\n.:,!?)\"'")


def _is_also_given(first: str, rest: list[str]) -> bool:
    """Whether an ordinary word is a given name before a family name that is a given one, too: "Mark Norris"."""
    return len(first) > 3 and len(rest) == 1 and NAMES.is_family(rest[0])


def _is_unheard_of(word: str) -> bool:
    """Whether the lists know nothing of a word that is written as names are."""
    known = NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_maker(word) or NAMES.is_place(word)
    return len(word) > 3 and word[1:].islower() and not (known or NAMES.is_street(word))


_MET = re.compile(  # a line of a calendar or of a list of things to do: whom one meets, calls or asks
    r"(?i)(?:^|(?<=[\n\d.,:·•|-][ ])|(?<=\n))(?:call|ring|phone|text|email|message|meet|ask|tell|remind|visit|pick up"
    r"|1:1|1-1|1on1|one-on-one|catch-?up|lunch|coffee|dinner|meeting|sync|interview|anruf(?:en)?|treffen|termin|gespräch"
    r"|bellen met|afspraak|möte|samtal|ring)(?:[ ](?:with|mit|med|met|to|bei|back))?:?[ ]$"
)


def _is_only_a_name(word: str, thing_next: bool) -> bool:
    dull = NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_place(word)
    return NAMES.is_name(word) and len(word) > 3 and not (dull or thing_next)


def _is_beside_a_name(text: str, start: int, end: int, word: str) -> bool:
    """Whether a given name stands with another one: "Ken & Joyce", "Anna und Tom", "Eva, Jan"."""
    if not NAMES.is_given(word) or NAMES.is_common(word):
        return False
    beside = _GIVEN_BESIDE.match(text, end) or _GIVEN_BEFORE.search(text, max(0, start - 24), start)
    if beside is None or not NAMES.is_given(beside[1]) or is_part_of_thing(text, start, end):
        return False
    sure = NAMES.is_surely_given(word), NAMES.is_surely_given(beside[1])
    return all(sure) if "," in beside[0] else any(sure)


_OF_STAFF = re.compile(  # "Mark from customer service": whoever comes from there is somebody
    r"(?i)[ ](?:from|in|at|vom|von der|aus dem|aus der|im|van de|från)[ ](?:the |our |your |unserem |ihrem )?"
    r"(?:customer|support|sales|accounts?\b|accounting|hr\b|reception|billing|finance|front desk|it\b|marketing|service"
    r"|help ?desk|kunden\w+|vertrieb|buchhaltung|empfang|einkauf|personalabteilung|klantenservice|kundtjänst)"
)
_FILE_END = re.compile(r"(?:(?<=\.)|\.)[a-z]{2,4}\d?\b(?![.\w])")  # "Elisabeth.pdf"
_LABEL_BEFORE = re.compile(r"[ \t]*([^\W\d_][^\n:.]{1,28}):[ ]{1,2}")
_NICKS = frozenset(("big", "little", "old", "young", "wee", "lil", "tall", "crazy", "klein", "lange", "petit", "grand"))
_WITH = r"(?:,[ ]|[ ]?[/&+][ ]?|[ ](?:and|und|y|e|et|en|och|og|i|ve|or|o|oder|ou|of|lub|eller)[ ])"
_GIVEN_BESIDE = re.compile(rf"{_WITH}({NAME_WORD})(?![\w./@])")
_GIVEN_BEFORE = re.compile(rf"(?<![\w./@])({NAME_WORD}){_WITH}$")


def _cell_at(run: list[Token], at: int, text: str) -> tuple[int, float, str]:
    """An unknown word before a known family name: a person if the two or three are all there is."""
    words = [token[0].rstrip(".") for token in run]
    if len(run) == 2 and not at and _UNKNOWN_AND_INITIAL.fullmatch(text) and _is_unheard_of(words[0]):
        return 2, 0.4, "unknown name and initial"
    if at or not 2 <= len(words) <= 4 or not all(_capital(w) or w.lower() in PARTICLES for w in words) or "," in words:
        return 0, 0.0, ""
    first, last = words[0], words[-1]
    alone = not text[: run[0][1]].strip(" \t\n-•·*@\"'(") and not text[run[-1][2] :].strip(" \t\n.:,!?)\"'")
    dull = any(NAMES.is_common(w) or NAMES.is_thing(w) or NAMES.is_maker(w) for w in words[:-1]) or (
        first.isupper() and len(first) > 1
    )
    if (
        not alone
        or dull
        or not NAMES.is_family(last)
        or NAMES.is_thing(last)
        or NAMES.is_common(last)
        or len(first) < 3
    ):
        return 0, 0.0, ""
    return (0, 0.0, "") if NAMES.is_known_thing(" ".join(words)) else (len(run), 0.4, "unknown and family name")


_UNKNOWN_AND_INITIAL = re.compile(rf"\s*{NAME_WORD}[ ][{UPPER}]\.\s*")  # who wrote a review


def _sentence_goes_on(rest: list[str]) -> bool:
    return all(word.isupper() and len(word) > 1 for word in rest)


def _plausible(rest: list[str], first: str) -> bool:
    """Whether an ambiguous given name with an unknown word is a person: the word is no ordinary one and not shouted."""
    return (
        len(rest) <= 2
        and all(len(word) > 1 and (word[1:].islower() or first.isupper()) for word in rest)
        and not NAMES.is_common(first)
    )


def _is_prose(run: list[Token], at: int, text: str) -> bool:
    around = [token[0] for token in run[max(0, at - 2) : at + 3] if token[0] != "," and token is not run[at]]
    return any(word[0].islower() for word in around) and not any(NAMES.is_thing(word) for word in around)


def _initial_at(run: list[Token], at: int, text: str) -> tuple[int, float, str]:
    count = 1
    while at + count < len(run) and len(run[at + count][0].rstrip(".")) == 1 and _capital(run[at + count][0]):
        count += 1
    if at + count >= len(run):
        return 0, 0.0, ""
    while at + count < len(run) - 1 and run[at + count][0].lower() in PARTICLES:
        count += 1
    word = run[at + count][0].rstrip(".")
    if not _capital(word) or not NAMES.is_family(word) or is_thing_next(text, run[at + count][2]):
        return 0, 0.0, ""
    return count + 1, 0.5, "initial and family name"


def _lower_at(run: list[Token], at: int, text: str, page: Page) -> tuple[int, float, str]:
    """Names typed without capitals: a given and a family name that are nothing else, in a field or a short text."""
    if page.kind != "field" and len(run) > 8:
        return 0, 0.0, ""
    if at + 1 < len(run) and len(run[at + 1][0]) > 2 and run[at + 1][0].islower():
        first, second = run[at][0], run[at + 1][0].rstrip(".")
        if (
            NAMES.is_surely_given(first)
            and NAMES.is_family(second)
            and not NAMES.is_common(second)
            and not NAMES.is_thing(second)
        ):
            return 2, 0.5, "name without capitals"
    return 0, 0.0, ""
