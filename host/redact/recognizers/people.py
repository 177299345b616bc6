"""Names of people: behind forms of address, greetings and signatures, and by the lists of given and family names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.words import PARTICLE, UPPER
from host.redact.names import NAMES, words_of
from host.redact.quick import finds
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.beside import (
    NAME_WORD,
    PARTICLES,
    is_firm_before,
    is_nameless,
    is_nameless_line,
    is_part_of_thing,
    is_place_before,
    is_street_next,
    is_thing_next,
)
from host.redact.recognizers.listed import actors, is_goods_line, parties, passengers, sides, speakers

NAME = rf"(?:(?:[{UPPER}]\.){{2,4}}|{NAME_WORD}\.?)(?:[ ](?:{PARTICLE}[ ]){{0,2}}{NAME_WORD}\.?){{0,4}}"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Mx|Messrs|Dr|Prof|Professor|Doctor|Sir|Dame|Lord|Lady|Rev|Reverend|Father|Sister|Brother|Capt"
    r"|Captain|Sgt|Lt|Col|Hon|Judge|Nurse|Officer|Herrn?|Hr|Frau|Fr|Familie|Señora?|Sr|Sra|Srta|Señorita|Don|Doña"
    r"|Monsieur|Madame|Mademoiselle|Mme|Mlle|Me|Maître|Signor[ea]?|Sig|Sig\.ra|Dott|Dott\.ssa|Ing|Avv|Arq|Lic"
    r"|De heer|de heer|Mevrouw|mevrouw|Dhr|Mevr|Mw|Senhora?|Exmo|Exma|Pan|Pani|Pana|Bay|Bayan|Sayın|Fröken|Fru|Shri"  # noqa: RUF001
    r"|Panie|Panu|Panią|Państwo|Smt|Sri|Sheikh|Haji|Uncle|Aunt|Tante|Onkel|Tía|Tío|Oma|Opa|Dipl\.-Ing|Dr\.-Ing|med"
    r"|rer|nat|phil|jur"
    r"|meneer|Meneer|mijnheer|señora?|senhora?|signora?|monsieur|madame|mademoiselle|doña|pani|herr"
    r"|Eheleute|Viuda de|Vda\. de|Veuve|Vve|Fam|Cllr|Jhr|Jkvr|Encik|Puan|Hanım|Ustad|Signora|Signorina|Sig\.na)"  # noqa: RUF001
)
_BEFORE_NAME = rf"(?:[dD]['’]|(?:{PARTICLE}[ ]){{1,2}})?"  # noqa: RUF001
_TITLED = re.compile(rf"(?<![\w'])({_TITLE})\b\.?[ ](?:(?:{_TITLE})\b\.?[ ]){{0,3}}({_BEFORE_NAME}{NAME})")
_COUPLE = re.compile(
    rf"(?<![\w'])(?:{_TITLE})\b\.?[ ](?:&|and|und|y|e|et|en|och)[ ](?:{_TITLE})\b\.?[ ]({_BEFORE_NAME}{NAME})"
)
_FAMILY = re.compile(rf"(?<!\w)[Tt]he[ ]({NAME_WORD}(?:[ ]{NAME_WORD})?)[ ][Ff]amily(?!\w)")
_A_TITLE = re.compile(rf"{_TITLE}\.?")
_RISKY_TITLES = words_of("risky_titles.txt")
_GREETED = re.compile(
    rf"(?<![\w'])(?i:dear|hi|hello|hey|good (?:morning|afternoon|evening)|welcome(?: back| to)?|thanks|thank you"
    rf"|cheers|congratulations|congrats|sorry|liebe[rs]?|sehr geehrte[rs]?|hallo|servus|moin|guten (?:tag|morgen"
    rf"|abend)|willkommen(?: zurück)?|danke|grüß dich|hola|estimad[oa]s?|querid[oa]s?|buen(?:os|as) (?:días|tardes"
    rf"|noches)|bienvenid[oa]|gracias"
    rf"|bonjour|bonsoir|salut|cher|chère|bienvenue|merci|ciao|car[oa]|gentile|egregi[oa]|buongiorno|benvenut[oa]"
    rf"|grazie|beste|geachte|welkom|dag|hoi|bedankt|olá|oi|prezad[oa]|car[oa]|bem-vind[oa]|obrigad[oa]|cześć"
    rf"|szanown[ya]|drog[ia]|witaj|dzień dobry|hej|kära|käre|bästa|tack|välkommen|hei|kære|merhaba|sayın|namaste)(?:,"  # noqa: RUF001
    rf"|!)?[ ]({NAME})"
)
_SIGNED = re.compile(
    rf"(?i:regards|sincerely|faithfully|cheers|best(?: wishes| regards)?|yours(?: truly)?|love|xoxo|thanks(?: again)?"
    rf"|thank you|take care|cordially|grüßen|grüße|gruß|lg|vg|mfg|hochachtungsvoll|saludos?(?: cordiales)?"
    rf"|atentamente|un abrazo|abrazos|besos|cordialement|salutations(?: distinguées)?|bien à vous|amicalement|bises"
    rf"|cordiali saluti|saluti|distinti saluti|groeten|groet|vriendelijke groet(?:en)?"
    rf"|cumprimentos|abraço|atenciosamente|pozdrawiam|z poważaniem|hälsningar|vänliga hälsningar|mvh|hilsen|terveisin"
    rf"|saygılarımla)[ ]?[,!.]?[ ]{{0,3}}(?:\n\s{{0,8}}|[ ])(?:[-~–—]\s?)?({NAME})"  # noqa: RUF001
)
_SIGN_DASH = re.compile(rf"(?m)(?:^|[.!?\"”’…]\s{{1,3}})(?:--|[-~—–])\s?({NAME})[ ]?(?=$|,)")  # noqa: RUF001
_BY = re.compile(
    rf"(?<![\w'])(?i:(?:posted|written|reviewed?|signed|created|commented|edited|updated|uploaded|approved|assigned"
    rf"|requested|reported|submitted|sent|sold|hosted|prepared|authored|published|modified|closed|opened|merged"
    rf"|invited|added|shared|photographed|photo|translated|text|story|words|article|ordered|booked|paid|received"
    rf"|delivered|served|handled)(?: on [\w ,]{{1,16}})?[ ](?:by|to|from)"
    rf"|by|from|with|von|erstellt von|bearbeitet von|verfasst von|zugewiesen an|de la part de|par|écrit par"
    rf"|rédigé par|por|escrito por|enviado por|creado por|asignado a|scritto da|inviato da|door|geschreven door"
    rf"|escrito por|av|przez|signed in as|logged in as|angemeldet als|attn:?|c/o|z\. ?hd\.(?: v\.)?|zu händen"
    rf"|à l'attention de|a/a|a la atención de"
    rf"|my name is|i am|i'm|this is|name is|called|ich bin|ich heiße|mein name ist|me llamo|soy|mi nombre es"
    rf"|je m'appelle|je suis|mi chiamo|sono|ik ben|mijn naam is|meu nome é|chamo-me|jag heter|nazywam się|spoke (?:to"
    rf"|with)|met(?: with)?|contact|ask for|cc|transfer to|pay|payment (?:to|from)|überweisung an|zahlung (?:an|von)"
    rf"|transferencia (?:a|de)|virement (?:à|de))[ :]{{1,2}}({NAME})"
)
_WEAK_BY = re.compile(
    r"(?i)^(?:by|from|with|von|por|par|av|door|przez|called|contact|cc|pay|met|i am|i'm|this is|soy|sono|je suis"
    r"|ich bin|ik ben)\b"
)
_TOKEN = re.compile(
    rf"[^\W\d_](?:[^\W\d_]|'(?=[^\W\d_]))*(?:-[{UPPER}a-z](?:[^\W\d_]|'(?=[^\W\d_]))*)*\.?|[,;:.!?()\n|·•/&\"@#\d]"
)
_INITIAL = re.compile(rf"(?:[{UPPER}]\.){{1,3}}")


class People(Rules):
    """Names by what stands around them and by the lists."""

    types = ("PERSON",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Names, never the words of address before them."""
        if text.isdigit():
            return
        yield from self._spoken_to(text)
        for start, end, rule in sides(text, page.hint):
            yield Hit(start, end, "PERSON", 0.6, rule)
        if not is_nameless(page.hint):
            yield from self._listed(text, page)

    def _spoken_to(self, text: str) -> Iterator[Hit]:
        for match in finds(_TITLED, text):
            risky = match[1].lower().rstrip(".") in _RISKY_TITLES
            yield from _name_in(text, *match.span(2), "form of address", strict=risky)
        for match in _FAMILY.finditer(text) if "amily" in text else ():
            yield from _name_in(text, *match.span(1), "family", strict=False)
        for match in finds(_COUPLE, text):
            yield from _name_in(text, *match.span(1), "form of address", strict=False)
        for match in finds(_GREETED, text):
            yield from _name_in(text, *match.span(1), "greeting", strict=True, single=True)
        for match in finds(_SIGNED, text):
            yield from _name_in(text, *match.span(1), "signature", strict=True, single=True)
        for match in finds(_SIGN_DASH, text):
            yield from _name_in(text, *match.span(1), "signature", strict=True)
        for match in finds(_BY, text):
            yield from _name_in(text, *match.span(1), "by line", strict=True)

        for match in finds(_CYRILLIC, text):
            yield Hit(*match.span(), "PERSON", 0.5, "name in Cyrillic")
        for start, end, rule in (*passengers(text), *actors(text), *parties(text), *speakers(text)):
            yield Hit(start, end, "PERSON", 0.6, rule)

    def _listed(self, text: str, page: Page) -> Iterator[Hit]:
        tokens = [(match[0], match.start(), match.end()) for match in finds(_TOKEN, text)]
        for run in _runs(tokens, text):
            if not is_nameless_line(text, run[0][1]):
                yield from _names_of(run, text, page)


def _is_known(word: str) -> bool:
    plain = word.rstrip(".")
    return NAMES.is_given(plain) or NAMES.is_family(plain)


def _name_in(text: str, start: int, end: int, rule: str, strict: bool, single: bool = False) -> Iterator[Hit]:
    """The name at the beginning of a capitalised sequence, if it is one."""
    words = [(m[0], start + m.start(), start + m.end()) for m in re.finditer(r"\S+", text[start:end])]
    while words and _A_TITLE.fullmatch(words[0][0]):
        start = words.pop(0)[2] + 1
    kept = 0
    for count, (word, _s, _e) in enumerate(words):
        plain = word.rstrip(".,")
        known = NAMES.is_given(plain) or NAMES.is_family(plain)
        if plain.lower() in PARTICLES:
            continue
        if (NAMES.is_common(plain) or NAMES.is_thing(plain)) and not (
            known and (count > 0 or not strict or NAMES.is_surely_given(plain))
        ):
            break
        if any(c.isdigit() for c in plain) or (
            len(plain) > 1 and plain.isupper() and not known and strict and len(words) == 1
        ):
            break
        kept = count + 1
        if word.endswith(".") and len(plain) > 2 and not _INITIAL.fullmatch(word):
            break
    if not kept:
        return
    last = words[kept - 1]
    stop = last[2] - (1 if last[0].endswith(".") and len(last[0]) > 2 else 0)
    name = text[start:stop]
    first = words[0][0].rstrip(".,")
    believable = kept > 1 or NAMES.is_given(first) or NAMES.is_family(first) or single or not strict
    if (
        not believable
        or is_part_of_thing(text, start, stop)
        or NAMES.is_place(name)
        or NAMES.is_known_thing(name)
        or is_thing_next(text, stop)
        or is_street_next(text, stop)
    ):
        return
    if rule == "by line" and not any(_is_known(word) for word, _start, _end in words[:kept]):
        return
    yield Hit(start, stop, "PERSON", 0.7, rule)


_CYR = r"[А-ЯЁІЇЄ][а-яёіїє]{1,20}"  # noqa: RUF001
_CYR_FAMILY = (
    r"[А-ЯЁІЇЄ][а-яёіїє]{1,20}(?:ов|ев|ёв|ин|ын|ова|ева|ёва|ина|ына|ский|ская|цкий|цкая|енко|чук|юк|ук|дзе|швили|ян)"  # noqa: RUF001
)
_CYRILLIC = re.compile(rf"(?<!\w)(?:{_CYR}[ ](?:{_CYR}[ ])?{_CYR_FAMILY}|{_CYR_FAMILY}[ ]{_CYR}(?:[ ]{_CYR})?)(?!\w)")

Token = tuple[str, int, int]


def _runs(tokens: list[Token], text: str) -> Iterator[list[Token]]:
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


def _names_of(run: list[Token], text: str, page: Page) -> Iterator[Hit]:
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
    if _INITIAL.fullmatch(word) or (len(plain) == 1 and (word.endswith(".") or bare_initial)):
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
            return (count, 0.5, "given name and initial") if sure and not thing_next else (0, 0.0, "")
        dull = all(NAMES.is_common(word) or NAMES.is_thing(word) for word in rest)
        family = all(NAMES.is_family(word) and not NAMES.is_thing(word) for word in rest)
        if NAMES.is_common(first) and not sure and NAMES.is_surely_given(rest[0]):
            return 0, 0.0, ""  # "Par Achille": the sentence's first word
        if dull and not sure and (thing_next or not family or NAMES.is_common(first)):
            return 0, 0.0, ""
        if thing_next and not (sure and known and not is_street_next(text, end)):
            return 0, 0.0, ""
        if known or (sure and not _sentence_goes_on(rest)):
            return count, 0.7 if known else 0.5, "given and family name"
        return (count, 0.35, "given and unknown name") if _plausible(rest, first) else (0, 0.0, "")
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
    if count == 1 and at > 0 and NAMES.is_role(run[at - 1][0]) and _is_only_a_name(first, thing_next):
        return (0, 0.0, "") if is_part_of_thing(text, run[at][1], end) else (1, 0.4, "role and name")
    if count == 1 and at > 0 and run[at - 1][0].lower() in _NICKS and NAMES.is_surely_given(first) and not thing_next:
        return 1, 0.4, "given name"  # "Big Dave"
    if count == 1 and not thing_next and _is_beside_a_name(text, run[at][1], end, first):
        return 1, 0.4, "given names together"
    if count == 1 and NAMES.is_surely_given(first) and not thing_next and not is_part_of_thing(text, run[at][1], end):
        quoted = text[run[at][1] - 1 : run[at][1]] in ("'", '"') and text[end : end + 1] in ("'", '"')
        alone = not text[: run[at][1]].strip(" \t\n-•·*@\"'(") and not text[end:].strip(" \t\n.:,!?)\"'")
        if _FILE_END.match(text, end):
            return 0, 0.0, ""
        prose = _is_prose(run, at, text)
        label = _LABEL_BEFORE.fullmatch(text, text.rfind("\n", 0, run[at][1]) + 1, run[at][1])
        if label is not None and (end == len(text) or text[end] in "\n,;|(") and not is_nameless(label[1]):
            return 1, 0.4, "given name behind a label"
        if alone or prose or (quoted and run[at][1] > 0):
            return 1, 0.4, "given name"
    return 0, 0.0, ""


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


_FILE_END = re.compile(r"(?:(?<=\.)|\.)[a-z]{2,4}\d?\b(?![.\w])")  # "Elisabeth.pdf"
_LABEL_BEFORE = re.compile(r"[ \t]*([^\W\d_][^\n:.]{1,28}):[ ]{1,2}")
_NICKS = frozenset(("big", "little", "old", "young", "wee", "lil", "tall", "crazy", "klein", "lange", "petit", "grand"))
_WITH = r"(?:,[ ]|[ ]?[/&+][ ]?|[ ](?:and|und|y|e|et|en|och|og|i|ve|or|o|oder|ou|of|lub|eller)[ ])"
_GIVEN_BESIDE = re.compile(rf"{_WITH}({NAME_WORD})(?![\w./@])")
_GIVEN_BEFORE = re.compile(rf"(?<![\w./@])({NAME_WORD}){_WITH}$")


def _cell_at(run: list[Token], at: int, text: str) -> tuple[int, float, str]:
    """An unknown word before a known family name: a person if the two or three are all there is."""
    words = [token[0].rstrip(".") for token in run]
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
