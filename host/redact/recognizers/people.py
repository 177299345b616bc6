"""Names of people: behind forms of address, greetings and signatures, and by the lists of given and family names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.words import PARTICLE, UPPER
from host.redact.names import NAMES, bare, words_of
from host.redact.quick import finds
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.beside import (
    NAME_WORD,
    PARTICLES,
    is_firm_of_names,
    is_nameless,
    is_nameless_line,
    is_part_of_thing,
    is_street_next,
    is_thing_next,
)
from host.redact.recognizers.listed import actors, parties, passengers, sides, speakers
from host.redact.recognizers.runs import INITIAL, names_of, runs

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
_SURELY_TITLED = re.compile(rf"(?:Dr|Prof|Mrs?|Ms|Mx|Herrn?|Frau|Dhr|Mevr|Mw)\.?[ ]({NAME_WORD})\s*")  # and no more
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
    rf"|transferencia (?:a|de)|virement (?:à|de)|vir|bonifico (?:a|da)|transferência (?:para|de)|przelew (?:do|od)"
    rf"|cumpleaños de|anniversaire de|compleanno di|aniversário d[aeo]|urodziny"
    rf"|(?:cita|reunión|llamada|comida|cena|café|entrevista) con|(?:appel|déjeuner|dîner|entretien|point|rdv"
    rf"|rendez-vous) avec|(?:pranzo|cena|incontro|chiamata|colloquio) con|(?:almoço|jantar|reunião|chamada) com"
    rf"|spotkanie z|rozmowa z)[ :]{{1,2}}({NAME})"
)
_WITH_MAIL = re.compile(rf"(?<![\w'.])({NAME_WORD})[ ][(<]([\w.+-]{{3,40}})@")
_REVIEW_OF = re.compile(  # a line's whole beginning, the day or nothing behind it: no review of goods
    rf"(?m)^(?:Reseña|Opinión|Comentario|Valoración|Avis|Commentaire|Évaluation|Recensione|Commento|Avaliação"
    rf"|Comentário|Opinia|Recenzja) (?:de |di |d[ao] |d')?((?:{NAME_WORD}[ ]){{1,3}}{NAME_WORD})"
    r"(?=[ ]?[·•|,–-][ ]?(?:el |le |il )?\d|[ ](?:el|le|il|em|del|du|z) \d)"
)
_TOKEN = re.compile(
    rf"[^\W\d_](?:[^\W\d_]|'(?=[^\W\d_]))*(?:-[{UPPER}a-z](?:[^\W\d_]|'(?=[^\W\d_]))*)*\.?|[,;:.!?()\n|·•/&\"@#\d]"
)


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
        if not is_nameless(page.hint) and not (not page.hint and is_firm_of_names(text)):
            yield from self._listed(text, page)

    def _spoken_to(self, text: str) -> Iterator[Hit]:
        for match in finds(_TITLED, text):
            risky = match[1].lower().rstrip(".") in _RISKY_TITLES
            named = _SURELY_TITLED.fullmatch(text, match.start())
            if named is not None and not (NAMES.is_role(named[1]) or _A_TITLE.fullmatch(named[1])):
                yield Hit(*named.span(1), "PERSON", 0.6, "form of address")
                continue
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

        for match in finds(_WITH_MAIL, text) if "@" in text else ():
            own = match[2].lower().startswith(bare(match[1])[:4])  # "Nereida (nereida.k@example.test)"
            yield from _name_in(text, *match.span(1), "mail behind", strict=True, single=own)
        for match in finds(_REVIEW_OF, text):
            yield from _name_in(text, *match.span(1), "review of", strict=True)
        for match in finds(_CYRILLIC, text):
            yield Hit(*match.span(), "PERSON", 0.5, "name in Cyrillic")
        for start, end, rule in (*passengers(text), *actors(text), *parties(text), *speakers(text)):
            yield Hit(start, end, "PERSON", 0.6, rule)

    def _listed(self, text: str, page: Page) -> Iterator[Hit]:
        tokens = [(match[0], match.start(), match.end()) for match in finds(_TOKEN, text)]
        for run in runs(tokens, text):
            if not is_nameless_line(text, run[0][1]):
                yield from names_of(run, text, page)


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
        if word.endswith(".") and len(plain) > 2 and not INITIAL.fullmatch(word):
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
