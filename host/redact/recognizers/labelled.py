"""Values that a label promises: the hint of a text, "Label: value" inside it, and a value under its label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from host.core.pii.columns import cells, is_row
from host.core.pii.fits import REPORTED, fits, starts_upper
from host.core.pii.labels import ending, promised
from host.core.pii.words import UPPER
from host.redact.names import NAMES, bare
from host.redact.quick import Near, finds, searched
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.beside import PARTICLES

TYPES = (
    "ADDRESS", "BANK_ACCOUNT", "CARD", "COOKIE", "CRYPTO", "DATE_OF_BIRTH", "DRIVER_LICENSE", "EMAIL", "HANDLE",
    "IBAN", "IP_ADDRESS", "KEY", "LOCATION", "MAC_ADDRESS", "MEDICAL_ID", "NATIONAL_ID", "PASSPORT", "PASSWORD",
    "PERSON", "PHONE", "SECRET", "TAX_ID", "TOKEN", "USERNAME", "VEHICLE",
)  # fmt: skip
_PAIR = re.compile(
    r"(?:^|[\n|·•;,\t(]|[ ]{2}|\. |[ ]/[ ])[ \t]{0,8}(?:[-*+–>][ ])?([^\W\d][^\n:|·•;\t]{0,40}?)[ ]?(?::|："  # noqa: RUF001
    r"|=)[ \t]{1,8}(?=\S)([^\n|·•\t;]{1,200})|(?:^"
    r"|\n)[ \t]{0,8}([^\W\d][^\n:|·•;\t]{0,40}?)[ ]?:\n[ \t]{0,8}([^\n]{1,160})"
)
_PAIR_SIGN = Near(re.compile(r"[:：=]"), 64)  # noqa: RUF001
_NEXT_LABEL = re.compile(
    r"[,.]?[ ]{1,3}(?=[^\W\d][^\n:,.;]{0,24}?(?<!\d)[:=](?:[ ]|$))|[ ]{3,}|[ ]<(?=[^\s<>]{1,64}@)|[ ]\(|[ ](?:-|/)[ ]"
    r"|,[ ](?=[a-z]{3,12}[ ][#\d])"
)
_QUOTED = re.compile(r"[\"']([^\"'\n:]{1,40})[\"']\s?(?::|=>|=)\s?[\"']([^\"\n]{1,200}?)[\"'](?=\s?[,}\]\n;)]|\s*$)")
_TAGGED = re.compile(r"<([A-Za-z][\w:-]{1,30})(?: [^<>]{0,200})?>([^<>\n]{1,200})</\1>")
_ASSIGNED = re.compile(r"(?<![\w?&/.-])([A-Za-z][A-Za-z0-9_.-]{1,40})=([^\s,;&\"'<>()]{2,200})")
_NAMED_VALUES = (  # the name in one attribute or key, its value in the next
    re.compile(
        r"\b(?:key|name|id|property|field"
        r"|param)=[\"']([^\"'\n]{1,60})[\"'][^<>\n]{0,80}?\bvalue=[\"']([^\"'\n]{1,400})[\"']"
    ),
    re.compile(
        r"[\"'](?:name|key|field|label|id|header|property|setting)[\"']\s?:\s?[\"']([^\"'\n]{1,60})[\"']\s?,\s{0,20}"
        r"[\"'](?:value|val|content|data|text)[\"']\s?:\s?[\"']([^\"'\n]{1,400})[\"']"
    ),
    re.compile(r"\bname:[ ]?[\"']?([\w.-]{1,60})[\"']?[ ]{0,4}\n[ ]{0,20}value:[ ]?[\"']?([^\"'\n]{1,400})"),
)
_HARD = re.compile(r"[ ]{3,}|[,.]?[ ]{1,3}(?=[^\W\d][^\n:,.;]{0,24}?(?<!\d)[:=](?:[ ]|$))")
_NEIGHBOURS = re.compile(  # two cells; the second may be the first of the next two
    r"(?:(?<=[\t|\n])|^)[ ]{0,8}([^\W\d][^\t|\n:]{1,30})[\t|](?=([^\t|\n]{2,80})(?:[\t|\n]|$))"
)
_PAIRED = re.compile(r"[:=]\s?\S")
_LINE = re.compile(r"[^\n]+")
_LABEL_NUMBER = re.compile(
    r"(?:^|[\n|·•;,\t(])[ \t]{0,8}([^\W\d_][^\n:|·•;,\t\d]{1,36}?)[.:#]?[ \t]{1,4}"
    r"((?=[\w+(./-]{0,40}\d)[\w+(][\w+()./ -]{2,40})(?=$|[\n|·•;,\t):])"
)
_NUMBER = re.compile(  # groups of digits and capitals as they stand in a sentence
    r"(?<![\w@/+&=?-])(?:[A-Z]{1,3}[ -]?)?(?=[A-Z]{0,4}\d)[A-Z\d]{1,34}(?:\([A-Z\d]\))?"
    r"(?:[./-][A-Z\d]{1,24}|[ ](?=[A-Z]{0,4}\d)[A-Z\d]{1,24}|[ ][A-Z](?![\w'°º.])){0,10}(?:\([A-Z\d]\))?(?![\w@])"
)
_CLAUSE = re.compile(r"[\n|;,·•\t(]|(?<=[^\W\d_]{4})\. |(?<=\d) ")
_BRACKETED_NO = re.compile(r"(?i)[ ]\((?=(?:nr|no|num|number|nummer|id)\b|#)")  # "insurance card (no. K1234)"
_NUMBERED = frozenset(
    "BANK_ACCOUNT CARD DRIVER_LICENSE IBAN MEDICAL_ID NATIONAL_ID PASSPORT TAX_ID VEHICLE".split()  # noqa: SIM905
)
_MOST_CHARS = 200_000
_NAME_AND_MORE = re.compile(  # "Jo Hill (spouse) 555 0100": a contact's name, then who that is or how to reach them
    rf"((?:[{UPPER}][\w'-]*\.?[ ]){{1,3}}[{UPPER}][\w'-]*)(?:[ ]\([a-zà-ÿ -]{{3,20}}\)|,|[ ][-–·|/])?[ ](?=\S)"
    r"(?=[^\n]{0,40}\d{3})"
)


class Labelled(Rules):
    """The whole value is the find; the label never is."""

    types = TYPES

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """By hint, by colon, by line."""
        if page.promised and len(text) <= 400:
            yield from self._by_hint(text, page)
        if len(text) <= _MOST_CHARS:
            if ":" in text or "=" in text:
                yield from self._by_colon(text)
                for pattern in (_QUOTED, _ASSIGNED):
                    yield from self._written(text, pattern)
            if "</" in text:
                yield from self._written(text, _TAGGED)
            if "value" in text or '"val' in text:
                for pattern in _NAMED_VALUES:
                    yield from self._written(text, pattern)
            if "\n" in text:
                yield from self._by_line(text)
            if "\n" in text or "(" in text:
                yield from self._by_column(text)
            if "\t" in text or "|" in text:
                yield from self._by_neighbour(text)
            if any(character.isdigit() for character in text):
                yield from self._by_space(text)
                yield from self._in_sentence(text)

    def _by_hint(self, text: str, page: Page) -> Iterator[Hit]:
        start = len(text) - len(text.lstrip())
        end = len(text.rstrip())
        kind = kept(page.promised, text[start:end], page.kind == "field")
        if kind:
            yield Hit(start, end, kind, 0.85, "hint")
        elif "PERSON" in page.promised and (led := _NAME_AND_MORE.match(text, start, end)):
            if kept(("PERSON",), led[1], False):
                yield Hit(*led.span(1), "PERSON", 0.8, "hint")
        elif "\n" in text[start:end]:
            for match in _LINE.finditer(text):
                line = match[0].strip()
                kind = kept(page.promised, line, False) if line else ""
                if kind:
                    at = match.start() + match[0].index(line)
                    yield Hit(at, at + len(line), kind, 0.8, "hint")

    def _by_colon(self, text: str) -> Iterator[Hit]:
        at = 0
        search = searched(_PAIR, text, _PAIR_SIGN)
        while match := search(at):
            label, (start, end) = match[1] or match[3], match.span(2 if match[1] else 4)
            at = max(match.start() + 1, start if match[1] else text.rfind("\n", 0, start))  # "user:" over "login: x"
            kinds = _promised_by(label)
            if kinds:
                yield from _value(text, start, end, kinds, "label")

    def _written(self, text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
        """Values as machines write them: "key": "value", key=value, <key>value</key>."""
        for match in finds(pattern, text):
            kind = kept(_promised_by(match[1]), match[2].strip(), False) if _promised_by(match[1]) else ""
            bare = pattern is _ASSIGNED and (kind == "PERSON" or (kind == "ADDRESS" and not re.search(r"\d", match[2])))
            if kind and not bare:
                yield Hit(*match.span(2), kind, 0.8, "label in data")

    def _by_line(self, text: str) -> Iterator[Hit]:
        lines = [(match.start(), match.end()) for match in _LINE.finditer(text)]
        for (start, end), (below, stop) in pairwise(lines):
            label = text[start:end].strip(" \t:*")
            if _PAIRED.search(label) or is_row(label):
                continue  # the label has its value beside it, or is the head of several columns
            if 1 < len(label) <= 40 and len(label.split()) <= 5 and sum(c.isdigit() for c in label) <= 2:
                kinds = _promised_by(label)
                if kinds and not _promised_by(text[below:stop].strip(" \t:*")):
                    yield from _value(text, below, stop, kinds, "label above")

    def _by_neighbour(self, text: str) -> Iterator[Hit]:
        """ "User⇥kvist⇥Group⇥staff": labels and their values in one line of cells."""
        for pair in _NEIGHBOURS.finditer(text):
            kinds = tuple(
                kind for kind in _promised_by(pair[1].strip()) if kind not in ("PERSON", "PERSON?", "ADDRESS")
            )
            value = pair[2].strip()
            kind = kept(kinds, value, False) if kinds and not _promised_by(value) else ""
            if kind and not (kind in ("USERNAME", "HANDLE", "PASSWORD", "SECRET") and value.istitle()):
                at = pair.start(2) + pair[2].index(value)
                yield Hit(at, at + len(value), kind, 0.7, "label beside")

    def _by_column(self, text: str) -> Iterator[Hit]:
        """Cells under the heads of their columns, as files and terminals have them."""
        for cell in cells(text):
            kinds = _promised_by(cell.head)
            kind = kept(kinds, text[cell.start : cell.end], False) if kinds else ""
            if kind and not (kind == "PERSON" and any(c.isdigit() for c in text[cell.start : cell.end])):
                yield Hit(cell.start, cell.end, kind, 0.75, "head of a column")

    def _by_space(self, text: str) -> Iterator[Hit]:
        """ "Passnummer K1234567": a short line that begins with a label and ends with its number."""
        for match in finds(_LABEL_NUMBER, text):
            label = match[1].strip(" .:#-")
            kinds = tuple(kind for kind in _promised_by(label) if kind in _NUMBERED)
            if kinds and len(label.split()) <= 4:
                yield from _value(text, match.start(2), match.end(2), kinds, "label before")

    def _in_sentence(self, text: str) -> Iterator[Hit]:
        """ "… with passport no. K1234567 and BSN 111222333": a number right behind the words of its kind."""
        for match in finds(_NUMBER, text):
            if match.end() - match.start() < 4:
                continue
            start = match.start()
            before = _CLAUSE.split(_BRACKETED_NO.sub(" ", text[max(0, start - 44) : start]))[-1]
            words = re.match(r"[A-Z]{2,3}[ -]", match[0])  # "SIN 046 454 286": the first letters may be the label
            for label, at in (
                (before, start),
                (before + (words[0] if words else ""), start + (words.end() if words else 0)),
            ):
                kinds = ending(label) if label.strip(" :#.") else ()
                value = text[at : match.end()]
                kind = kept(kinds, value, False) if kinds else ""
                if kind:
                    yield Hit(at, match.end(), kind, 0.75, "number behind its word")
                    break


def _promised_by(label: str) -> tuple[str, ...]:
    """What a label inside a text promises; of a longer stretch only its last words count."""
    words = label.split()
    return promised(" ".join(words[-5:])) if len(words) <= 9 else ()


def _value(text: str, start: int, end: int, kinds: tuple[str, ...], rule: str) -> Iterator[Hit]:
    """The longest beginning of the rest of the line that is what the label promises."""
    value = text[start:end].rstrip(" \t")
    cuts = [match.start() for match in _NEXT_LABEL.finditer(value)]
    hard = _HARD.search(value)
    bound = hard.start() if hard else len(value)  # where the next label stands, at the latest
    for stop in (len(value), *reversed(cuts)):
        piece = value[:stop].rstrip(" ,;.")
        quoted = piece.strip("\"'")
        kind = kept(kinds, quoted, False)
        if kind != "ADDRESS" and stop > bound:
            continue
        if kind and not (stop == len(value) and cuts and kind not in ("ADDRESS", "PHONE")):
            at = start + piece.index(quoted)
            yield Hit(at, at + len(quoted), kind, 0.8, rule)
            return


def kept(kinds: tuple[str, ...], value: str, field: bool) -> str:
    """The first of the promised types that the value keeps; "" if none."""
    for kind in kinds:
        plain = REPORTED.get(kind, kind)
        if plain == "BANK_ACCOUNT" and _is_account(value):
            return "USERNAME"
        if not fits("EXPIRY" if kind == "EXPIRY" else plain, value):
            continue
        if plain == "PERSON" and _is_account(value):
            return "USERNAME"
        if plain == "PERSON" and not is_name(value, sure=kind == "PERSON" or field):
            continue
        if plain == "ADDRESS" and not _is_place(value, kinds):
            continue
        if plain in ("SECRET", "PASSWORD") and _is_remark(value):
            continue
        if plain in ("HANDLE", "USERNAME") and (NAMES.is_common(value) or (value.isdigit() and len(value) < 6)):
            continue
        return plain
    return ""


_ACCOUNT_NAME = re.compile(r"[A-Za-z][a-z0-9]{0,30}(?:[._-][a-z0-9]{1,30}){0,3}")


def _is_account(value: str) -> bool:
    """Whether the name of an account stands where a person is promised: "kmensah", "j.doe42"."""
    if not 4 <= len(value) <= 40 or _ACCOUNT_NAME.fullmatch(value) is None:
        return False
    if value[0].isupper() and not re.search(r"[\d._]", value):
        return False
    parts = re.split(r"[._-]", value)
    if len(parts) > 1 and parts[0] in ("adm", "bot", "sa", "svc", "usr"):
        return True
    dull = [NAMES.is_common(part) or NAMES.is_thing(part) or NAMES.is_maker(part) for part in parts]
    return not (all(dull) if "_" in value else any(dull))


def _is_remark(value: str) -> bool:
    """Whether words stand where a password should: "Change", "Changed 3 months ago"."""
    words = value.split()
    first = words[0].strip(".,:!?")
    if len(words) > 2 and all(word.isalpha() and word.islower() for word in words):
        return any(NAMES.is_common(word) and len(word) <= 3 for word in words)  # else a phrase of words
    if len(words) > 1:
        return NAMES.is_common(first) or sum(NAMES.is_common(word) for word in words) > len(words) / 2
    return first[:1].isupper() and NAMES.is_common(first)


_INSTITUTIONS = frozenset((
    "fundacion", "stiftung", "fondation", "fondazione", "fundacja", "foundation", "asociacion", "association",
    "associazione", "associacao", "verein", "sociedad", "societe", "comunidad", "comune", "commune", "gemeinde",
    "gemeente", "ayuntamiento", "stadtwerke", "kirchengemeinde", "parroquia", "caja", "banco", "banca", "banque",
    "bank", "sparkasse", "volksbank", "backerei", "metzgerei", "panaderia", "boulangerie", "apotheke",
    "ministerio", "ministere", "ministero", "ministerstwo", "agence", "agencia", "agenzia", "prefecture", "mairie",
    "universidad", "universite", "universita", "universidade", "instituto", "institut", "istituto", "tribunal",
    "juzgado", "hospital", "hopital", "ospedale", "clinica", "clinique", "centro", "centre", "servicio", "service",
    "servizio", "servico", "grupo", "groupe", "gruppo", "oficina", "departamento", "departement", "consejeria",
))  # fmt: skip


def is_name(value: str, sure: bool) -> bool:
    """Whether the value reads as a person's name; `sure` when its label says that it is one."""
    words = [word.strip(".,'()") for word in re.split(r"[\s/]+", value) if word.strip(".,'()&")]
    if not words or bare(words[0]) in _INSTITUTIONS:
        return False
    if NAMES.is_known_thing(value):  # under a label for people it is somebody of the firm's name
        return sure and len(words) == 2 and NAMES.is_given(words[0]) and NAMES.is_family(words[1])
    if not starts_upper(value) and not sure:
        led = next((word for word in words if word.lower() not in PARTICLES), "")
        if not led[:1].isupper():
            return 2 <= len(words) <= 4 and NAMES.is_surely_given(words[0]) and not any(map(NAMES.is_common, words))
    if NAMES.is_place(value) and not sure:
        return False
    known = [NAMES.is_given(word) or NAMES.is_family(word) for word in words]
    dull = [
        (NAMES.is_common(word) or NAMES.is_thing(word)) and not (is_known or (word in PARTICLES and len(words) > 2))
        for word, is_known in zip(words, known, strict=True)
    ]
    if len(words) > 1 and not all(dull):
        dull = [one and (word.isascii() or len(word) > 4) for one, word in zip(dull, words, strict=True)]
    particles = sum(word.islower() for word in words)
    two_families = sure and len(words) == 3 and sum(dull) == 1 and all(word[0].isupper() for word in words)
    if all(dull) or (dull[-1] and len(words) > 1 and not any(known) and not two_families) or sum(dull) > len(words) / 2:
        return False
    if sure and len(words) == 1 and words[0].islower():
        return known[0] or len(words[0]) > 5
    if sure:
        strange = [w for w, is_known in zip(words, known, strict=True) if w.islower() and not is_known and len(w) > 3]
        return (particles <= 2 and not (strange and words[0][0].isupper())) or all(word.islower() for word in words)
    if any(known) and not (len(words) == 1 and NAMES.is_common(words[0])):
        if len(words) == 2 and NAMES.is_surely_given(words[0]) and not NAMES.is_common(words[1]):
            return not NAMES.is_maker(words[1])  # "Siobhan Kettle": goods for a family name, under a label for people
        return not any(dull)
    return (
        2 <= len(words) - particles <= 4
        and not any(dull)
        and all(word[0].isupper() for word in words if not word.islower())
    )


_COMPASS = frozenset((
    "north", "south", "east", "west", "new", "old", "upper", "lower", "great", "little", "lake", "port", "fort",
    "mount", "saint", "high", "long", "nord", "sud", "ost", "bad", "neu", "alt", "ober", "unter", "nieder", "gross",
    "klein", "sankt", "nieuw", "oud", "noord", "zuid", "norra", "sodra", "ostra", "vastra", "stora", "lilla", "nya",
))  # fmt: skip


def _dull_of(named: list[str]) -> list[str]:
    """The words of a place's name that must not be ordinary ones: in "Lake Elm" and "Elm Falls" only the other."""
    if len(named) < 2 or not all(word[0].isupper() for word in named):
        return named
    rest = named[1:] if bare(named[0]) in _COMPASS else named
    return rest[:-1] if len(rest) > 1 and NAMES.is_street(rest[-1]) else rest


def _is_place(value: str, kinds: tuple[str, ...]) -> bool:
    """Whether what fits an address is none of goods or people: headings such as "Shipping" stand above anything."""
    words = [word.strip(".,()'\"") for word in re.split(r"[\s,]+", value)]
    named = [word for word in words if word and not any(c.isdigit() for c in word)]
    if not named:
        return True
    goods = any(NAMES.is_goods(word) for word in named) and not any(NAMES.is_street(word) for word in named)
    if goods or NAMES.is_maker(named[0]) or NAMES.is_known_thing(" ".join(named)):
        return False
    if any(c.isdigit() for c in value):
        return not all(NAMES.is_common(word) for word in named)
    if kinds[-1].startswith("PERSON") and NAMES.is_given(named[0]):
        return False  # "Ship to" stands above the name more often than beside the place
    if "," in value and any(NAMES.is_street(word) for word in named[1:]):
        return len(named) <= 8  # "The Old Forge, Church Street, Wedmore": a house with a name for its number
    if NAMES.is_country(value) or any(NAMES.is_common(word) and len(word) > 3 for word in _dull_of(named)):
        return False
    return len(named) <= 5
