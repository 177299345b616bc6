"""Names by the form of a list: passengers, who speaks, line-ups, who was there; and lines of goods like a name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from host.core.pii.words import PARTICLE, UPPER
from host.core.redaction import Found, Text
from host.redact.names import NAMES
from host.redact.quick import finds
from host.redact.recognizers.beside import NAME_WORD, PARTICLES, is_nameless

_SLASHED = re.compile(
    rf"(?<![\w/])([{UPPER}]{{2,20}}(?:[ -][{UPPER}]{{2,20}})?/[{UPPER}]{{2,20}}(?:[ ][{UPPER}]{{2,20}})?)"
    r"[ ]?(?:MR|MRS|MS|MISS|MSTR|DR|CHD|INF)\b"
)
_SPEAKER = re.compile(  # a line of a chat: "[09:41] Mira: ...", "<Mira> ...", "Mira: ..."
    r"(?m)^[ \t]{0,4}([\[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?[\])]?[ ]{1,2}(?:-[ ])?|<)?"
    rf"({NAME_WORD})(?:[ \u00a0\u202f]?:[ ]|>[ ]|(?P<dash>[ ]-[ ]))(?=\S)"
)
_SMALL_GOODS = re.compile(r"((?:[ ][a-zß-ÿ]{3,}){1,2})(?=[ ]?(?:$|[\n,(|£€$]|(?:from|ab|for|now|desde|dès)\b|\d))")
_GOODS_BEHIND = re.compile(rf"(?:'s)?((?:[ ][{UPPER}][^\W\d_]+){{1,3}})[ ]?(?:$|[\n,(|])")


def passengers(text: str) -> Iterator[tuple[int, int, str]]:
    """Names as tickets have them: "SURNAME/GIVEN MR"."""
    if "/" in text:
        for match in finds(_SLASHED, text):
            yield *match.span(1), "passenger"


_SIDE = (  # who played, judged, acted or was there: only names stand behind these words
    r"goal ?scorers?|scorers?|tore|torschützen|goles|goleadores|buts|buteurs|marcatori|doelpunten(?:makers)?|strzelcy"
    r"|målskyttar|starting (?:xi|eleven|line-?up)|line-?up|aufstellung|startelf|alineación|once inicial|titulares"
    r"|composition|formazione|opstelling|escalação|substitut(?:es|ions)|subs|auswechslungen|eingewechselt|suplentes"
    r"|remplaçants|sostituzioni|wissels|referees?|umpires?|linesm[ae]n|schiedsrichter(?:in)?|linienrichter|árbitr[oa]"
    r"|arbitres?|arbitr[oa]|scheidsrechter|sędzia|domare|booked|yellow cards?|red cards?|gelbe karten?|rote karten?"
    r"|tarjetas amarillas|in attendance|attendees|attended by|apologies(?: from)?|absentees|anwesend(?:e)?"
    r"|entschuldigt|protokollant(?:in)?|protokoll|asistentes|excusan(?: su asistencia)?|excusad[oa]s|ausentes"
    r"|présents?|excusés?|absents?|presenti|assenti|aanwezig(?:en)?|afwezig(?:en)?|obecni|nieobecni|närvarande"
    r"|frånvarande|presentes|cast|starring|besetzung|darsteller(?:innen)?|regie|reparto|elenco|distribution|interpreti"
    r"|soloists?|solisten|soprano|tenor|bridesmaids?|groomsmen|pallbearers|trauzeugen|minutes taken by|minute taker"
    r"|on call|on duty|panell?ists|jurors|finalists|runners?-up"
)
_CASE = re.compile(  # "R v Surname", "Surname ./. Surname", "Affaire Surname c/ Surname"
    rf"(?<![\w.])(?:R|Regina|Rex|The (?:King|Queen|Crown|State|People))[ ]vs?\.?[ ]({NAME_WORD}(?:[ ]{NAME_WORD})?)"
    rf"|(?<![\w.])({NAME_WORD})[ ](?:\./\.|c/)[ ]({NAME_WORD})"
)
_SIDE_LINE = re.compile(rf"(?mi)^[ \t]{{0,4}}(?:{_SIDE})[ ]?:[ \t]{{1,4}}([^\n]{{2,400}})")
_SIDE_HINT = re.compile(rf"(?i)\W*(?:{_SIDE})\W*")
_SIDE_NAME = re.compile(
    rf"(?:^|(?<=[,;/&|·–—-])|(?<= (?:and|und) )|(?<= (?:y|e|i) )|(?<= (?:et|en|og) ))\s{{0,3}}"
    rf"((?:(?:{PARTICLE}|[Dd]['’]|[{UPPER}]\.?(?![^\W\d_]))[ ]?){{0,2}}{NAME_WORD}"  # noqa: RUF001
    rf"(?:[ ](?:{PARTICLE}[ ]){{0,2}}{NAME_WORD}){{0,3}}(?:[ ][{UPPER}]\.)?)"
    r"(?=[ ]?(?:$|[,;/&|·.–—]|-[ ]|\(|\[|\d|(?:and|und|y|e|i|et|en|og)[ ]))"
)


def sides(text: str, hint: str) -> Iterator[tuple[int, int, str]]:
    """Each name of "Goals: A (12'), B" and the like, known or not; the words may be the hint, too."""
    places = [match.span(1) for match in finds(_SIDE_LINE, text)] if ":" in text else []
    if hint and len(text) <= 400 and _SIDE_HINT.fullmatch(hint):
        places.append((0, len(text)))
    for start, end in places:
        for match in _SIDE_NAME.finditer(text[start:end]):
            words = match[1].split()
            real = [word for word in words if len(word) > 2 and word.lower() not in PARTICLES]
            dull = [NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_maker(word) for word in real]
            sure = any(map(NAMES.is_surely_given, words))
            if ((real and not any(dull)) or sure) and not NAMES.is_place(match[1]):
                yield start + match.start(1), start + match.end(1), "list of names"


_ACTS = re.compile(  # a line of a feed: who did what
    rf"(?m)^[ \t]{{0,4}}({NAME_WORD}(?:[ ]{NAME_WORD}){{0,2}})[ ](?:"
    r"invited|left the (?:group|chat|channel|conversation|meeting)|joined|replied|commented|liked|wrote|posted|reacted"
    r"|mentioned|approved|requested changes|assigned|is typing|uploaded|started following|sent you|added you|tagged"
    r"|accepted|declined|checked in|clocked (?:in|out)|moved this|(?:has )?(?:added|shared|closed|opened) (?:a|an"
    r"|the|this|\d)"
    r"|schrieb|kommentierte|antwortete|hat (?:[^\s.]{1,20} ){0,5}(?:kommentiert|geschrieben|hinzugefügt|hochgeladen"
    r"|verlassen"
    r"|zugewiesen|bearbeitet|eingeladen|erstellt|geteilt|geantwortet|geschlossen)"
    r"|escribió|comentó|respondió|invitó|añadió|ha (?:comentado|salido|añadido|subido|invitado|asignado|compartido)"
    r"|écrit|a (?:commenté|écrit|quitté|ajouté|invité|rejoint|répondu|partagé|aimé)"
    r"|schreef|reageerde|ha (?:scritto|commentato|aggiunto|invitato|risposto)|escreveu|comentou|convidou|saiu do"
    r"|napisała?|skomentowała?|dodała?|skrev|kommenterade)(?![\w-])"
)


def actors(text: str) -> Iterator[tuple[int, int, str]]:
    """Who did something in a feed, known or not: "Mordecai invited …"."""
    for match in _ACTS.finditer(text):
        machine = match[1].lower().endswith(("bot", "ci")) or NAMES.is_maker(match[1].split()[0]) or match[1].isupper()
        if not machine and not _is_dull(match[1]) and not NAMES.is_known_thing(match[1]):
            yield *match.span(1), "actor"


def parties(text: str) -> Iterator[tuple[int, int, str]]:
    """Who is for and against in the name of a case at court."""
    if "/" in text or " v" in text:
        for match in _CASE.finditer(text):
            for group in (1, 2, 3):
                if match[group] and not _is_dull(match[group]):
                    yield *match.span(group), "party"


def _is_dull(words: str) -> bool:
    return any(NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_place(word) for word in words.split())


def speakers(text: str) -> Iterator[tuple[int, int, str]]:
    """The given name before what somebody says."""
    if ": " in text or "> " in text or " - " in text:
        for match in finds(_SPEAKER, text):
            if (match[1] or not match["dash"]) and _speaks(match[2], timed=bool(match[1])):
                yield *match.span(2), "speaker"


_HEADERS = frozenset(("från",))  # heads of a mail that are written like given names


def _speaks(word: str, timed: bool) -> bool:
    """Whether a single word before a colon is who says the rest: a label is no given name."""
    if word.lower() in _HEADERS:
        return False
    if NAMES.is_surely_given(word):
        return True
    dull = NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_maker(word) or NAMES.is_place(word)
    return timed and not dull and NAMES.is_given(word)


def is_goods_line(text: str, start: int, stop: int) -> bool:
    """Whether a line begins with the name and goes on to goods and nothing else: "Herman Miller Aeron Chair"."""
    before = text[text.rfind("\n", 0, start) + 1 : start].strip()
    if before and before[-1] not in ",;·|":
        return False
    match = _GOODS_BEHIND.match(text, stop)
    last = match[1].split()[-1] if match is not None else ""
    if last and NAMES.is_goods(last) and not NAMES.is_family(last):
        return True
    match = _SMALL_GOODS.match(text, stop)  # "Olivia Burton watches from £90"
    return match is not None and all(NAMES.is_goods(word) for word in match[1].split())


_CELL = re.compile(
    rf"\s*(?:(?:{PARTICLE}|[{UPPER}]\.|{NAME_WORD}),?[ ]){{0,4}}(?:{NAME_WORD}"
    rf"|[{UPPER}]\.)(?:[ ]?\([^()\d]{{1,20}}\))?\s*"
)
_KOREAN = re.compile(rf"[{UPPER}][a-z]{{1,6}}-[a-z]{{2,6}}")
_SAYS = re.compile(rf"(?m)^[ \t]{{0,4}}({NAME_WORD}(?:[ ]{NAME_WORD})?)(?=[ \u00a0\u202f]?:[ ]\S)")


def columns(texts: Sequence[Text], found: Sequence[Sequence[Found]]) -> dict[int, list[Found]]:
    """Names that only their company tells: the rest of a column of names, who else speaks in a chat.

    By the number of the text. A column are the texts under one hint, a chat the lines that begin "Name: …".
    """
    cells: dict[str, list[tuple[int, int, int]]] = {}
    says: list[tuple[int, int, int]] = []
    for number, text in enumerate(texts):
        if text.hint and not is_nameless(text.hint):
            if any(map(str.isalpha, text.text)):
                start = len(text.text) - len(text.text.lstrip())
                cells.setdefault(text.hint, []).append((number, start, len(text.text.rstrip())))
        elif ": " in text.text:
            says += [(number, *match.span(1)) for match in _SAYS.finditer(text.text)]
    more: dict[int, list[Found]] = {}
    for places in (*cells.values(), says):
        if len(places) > 2:
            others = 0 if places is not says else len(places) // 2
            for number, start, end in _like_the_others(places, texts, found, others):
                more.setdefault(number, []).append(Found(start, end, "PERSON", 0.4, "among names"))
    return more


def _like_the_others(
    places: list[tuple[int, int, int]], texts: Sequence[Text], found: Sequence[Sequence[Found]], others: int
) -> list[tuple[int, int, int]]:
    """The places without a find, if two are names and no more than `others` of them cannot be: firms among people."""
    named: set[str] = set()
    rest: list[tuple[int, int, int]] = []
    for number, start, end in places:
        letters = sum(min(one.end, end) - max(one.start, start) for one in found[number] if one.type == "PERSON")
        if letters * 2 > end - start:
            named.add(texts[number].text[start:end])
        else:
            rest.append((number, start, end))
    open_places = [place for place in rest if _may_be_a_name(texts[place[0]].text[place[1] : place[2]])]
    return open_places if len(named) >= 2 and len(rest) - len(open_places) <= others else []


def _may_be_a_name(value: str) -> bool:
    if len(value) > 60 or _CELL.fullmatch(value) is None:
        return False
    words = [word.strip(".,()") for word in value.split()]
    words = [word for word in words if len(word) > 1 and word.lower() not in PARTICLES and not _KOREAN.fullmatch(word)]
    dull = any(NAMES.is_common(w) or NAMES.is_thing(w) or NAMES.is_maker(w) or NAMES.is_role(w) for w in words)
    shouted = len(words) == 1 and words[0].isupper() and len(words[0]) < 5
    return not (dull or shouted or NAMES.is_place(value) or NAMES.is_known_thing(value))
