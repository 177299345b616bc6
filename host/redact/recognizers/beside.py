"""What stands beside a name: goods and firms that it only names, places that it is part of, and the rest of it."""

from __future__ import annotations

import re
from functools import lru_cache

from host.core.pii.labels import promised
from host.core.pii.words import PARTICLE, UPPER
from host.redact.names import NAMES, words_of

NAME_WORD = rf"[{UPPER}](?:[^\W\d_]|['-](?=[^\W\d_]))*"
_NEXT = re.compile(r"(?:'s)?[ ]([^\W\d_][\w'-]*)")
_FIRM_NEXT = re.compile(r"[ ]?(?:&|\+)[ ]?([^\W\d_][\w'-]*)|[ ](?:und|and|et|y)[ ](?:Söhne|Sons|Söhne|Fils|Hijos|Co)\b")
_FIRM_BEFORE = re.compile(r"([^\W\d_][\w'-]*)[ ]?(?:&|\+)[ ]?$")


_FORM_NEXT = re.compile(  # "S.A.S.", "S. Coop.", "Sp. z o.o.": forms of companies that dots part
    rf"(?:[ ]{NAME_WORD}){{0,2}},?[ ](?:S\.[ ]?(?:[ALRpCnkac]|Com|Coop)\.(?:[ ]?[A-Za-z]\.){{0,3}}(?!\w)"
    r"|[Ss]p\.[ ]?(?:z[ ]o\.|[jk]\.)|(?:SARL|SAS|SASU|EURL|SCI|SRL|SLU|SLNE|SCP|LTDA|Ltda|Lda)(?!\w))"
)


def is_form_next(text: str, end: int) -> bool:
    """Whether a form of company follows, right after `end` or behind two more words: the name is a firm's."""
    return _FORM_NEXT.match(text, end) is not None


def is_thing_next(text: str, end: int) -> bool:
    """Whether goods, a place or a form of company follows within the capitalised words after `end`, or "& Co"."""
    if is_form_next(text, end):
        return True
    firm = _FIRM_NEXT.match(text, end)
    if firm is not None:
        return firm[1] is None or not NAMES.is_surely_given(firm[1])
    for count in range(3):
        following = _NEXT.match(text, end)
        if following is None:
            return False
        if (
            (NAMES.is_thing(following[1]) or (following[1][0].isupper() and NAMES.is_street(following[1])))
            and (following[1][0].isupper() or (count == 0 and len(following[1]) > 2))
            and not NAMES.is_family(following[1])
        ):
            return True
        if not following[1][0].isupper():
            return False
        end = following.end()
    return False


def is_street_next(text: str, end: int) -> bool:
    """Whether a street's noun follows: "Walter Scott Way" is where, not who."""
    following = _NEXT.match(text, end)
    return (
        following is not None
        and following[1][0].isupper()
        and NAMES.is_street(following[1])
        and not NAMES.is_family(following[1])
    )


def is_firm_before(text: str, start: int, first: str) -> bool:
    """Whether "Marks & " stands before what is no given name."""
    match = _FIRM_BEFORE.search(text, max(0, start - 30), start)
    return match is not None and not (NAMES.is_surely_given(match[1]) or NAMES.is_surely_given(first))


_NAMELESS = re.compile(
    r"(?i)(?<!\w)(?:boats?|vessels?|ships?|yachts?|schiff|barco|bateau|reagents?|instruments?|methods?|equipment|gear"
    r"|materials?|cameras?|lenses|forklifts?|opponents?|gegner|adversaire|adversario|avversario|tegenstander"
    r"|composers?|product line|cell line|treatments?|behandlung|(?:company|business|employer|product|brand|project"
    r"|file|item)(?: name)?s?|firms?|firma|unternehmen"
    r"|arbeitgeber|empresa|empleador|société|employeur|entreprise|azienda|ditta|società|bedrijf|werkgever|företag"
    r"|arbetsgivare|şirket|make|manufacturer|marke|hersteller|marca|marque|merk|märke|marka|produkte?|artikel|producto"
    r"|artículo|produit|article|prodotto|articolo|produto|produkter|produkty|ürün|goods|ware|merchandise|mannschaft"
    r"|verein|equipo|équipe|squadra|drużyna|takım|ploeg|lag|equipe|teams?|clubs?|league|liga|ligue|squad|languages?"  # noqa: RUF001
    r"|sprache|idioma|langue|lingua|taal|språk|język|dil|category|kategorie|categoría|catégorie|categoria"
    r"|categorie|kategori|genres?|venues?|airline|hotel|restaurant|stadium|stadion|estadio|stade|stadio|arena|pub|bar"
    r"|file ?name|dateiname|dateien?|colou?rs?|farbe|kleur|couleur|colore|projekt|proyecto|projet|progetto|projeto"
    r"|books?|buch|lektüre|libro|lectura|livre|lecture|boek|livro|bok|książka|kitap"
    r"|films?|movies?|película|filme|albums?|songs?|tracks?|lied|canción|chanson|canzone|artists?"
    r"|serie|série|games?|spiel|juego|jeu|gioco|fach|schulfach|asignatura|materia|matière|vak|disciplina"
    r"|ämne|przedmiot|ders|course|kurs|school|schule|colegio|escuela|vehicles?|cars?|fahrzeuge?|vehículo|véhicule"
    r"|veicolo|voertuig|veículo|pets?(?: name)?|haustier|mascota"
    r"|animal|tier|établissement|école|scuola|liceo|szkoła|skola"
    r"|okul|university|ward|crops?|plants?|variety|sorte|pflanze|planta|plante|dish|gericht|plato|plat"
    r"|piatto|menu|speise|recipe|rezept|receta|recette|ingredients?|zutaten|wine|beer|drink|medication|medicines?"
    r"|medikamente?|drug|medicamento|médicament|farmaco|lek|diagnos[ei]s|diagnóstico|diagnostic|diagnosi|condition"
    r"|allerg(?:y|ies|ie[ns]?|ias?)|breed|rasse|raza|race|species|component|komponente|componente|composant"
    r"|sprint|epic|milestone|release|plugin|software|framework|tech(?:nology)?|tools?"
    r"|department|abteilung|departamento|département|dipartimento|afdeling|avdelning|dział|sparte|sektion"
    r"|job ?title|position|beruf|profesión|profession|occupation|role|rolle|funktion|función|fonction|funzione"
    r"|cargo|stelle|stellenbezeichnung|tätigkeit|berufsbezeichnung|functie|beroep|befattning|yrke|job"
    r"|carrier|courier company|supplier|lieferant|proveedor|fournisseur|fornitore|leverancier|vendor|merchant|händler"
    r"|bank|insurer|aseguradora|assureur|mutuelle"
    r"|assicurazione|seguradora|ubezpieczyciel|verzekeraar"
    r"|motifs?(?: de (?:la )?\w+)?|motivos?|reason|powód|publisher|verlag|editorial|éditeur|tournament|competition"
    r"|turnier|holiday|feiertag|festivo|theme|design|style|material|pattern|model|modell|modelo|modèle|modello"
    r"|collection|kollektion|colección|exhibit(?:ion)?|network|tariff|package)(?!\w)"
)
_PERSONS = re.compile(  # "Book author", "Name der Lehrerin": the head of the words is a person after all
    r"(?i)(?<!\w)(?:authors?|autor(?:a|e|in)?|auteur|writers?|artist name|contact(?:s|o|a)?|kontakt"
    r"|ansprechpartner(?:in)?"
    r"|owners?|inhaber(?:in)?|leads?|leaders?|leiter(?:in)?|managers?|organi[sz]ers?|coach|captains?|players?|members?"
    r"|teachers?|lehrer(?:in)?|trainer(?:in)?|drivers?|fahrer(?:in)?|clients?|customers?|kund(?:e|in|en)|clientes?"
    r"|mitglied(?:er)?|responsable|encargad[oa]|profesora?|professeure?|enseignante?|docente|worker|person|guests?"
    r"|holder|by|of|von|de|por|par|di|door|user|users|directors?|designers?|full name|first name|last name)(?!\w)"
)


@lru_cache(maxsize=2048)
def is_nameless(hint: str) -> bool:
    """Whether the hint is a column's head under which firms, goods or works stand, though they read like people."""
    return (
        bool(hint)
        and _NAMELESS.search(hint) is not None
        and _PERSONS.search(hint) is None
        and not any(kind.startswith("PERSON") for kind in promised(hint))
    )


_FIRM_OF_NAMES = re.compile(
    rf"\s*(?:({NAME_WORD}),[ ]({NAME_WORD}),?[ ](?:and|und|en|och|&)[ ]({NAME_WORD})|([^\W\d_]+)-([^\W\d_]+))\s*"
)


@lru_cache(maxsize=2048)
def is_firm_of_names(text: str) -> bool:
    """Whether the whole text is family names put together, as firms of partners call themselves."""
    match = _FIRM_OF_NAMES.fullmatch(text) if len(text) < 80 else None
    words = [word for word in match.groups() if word] if match is not None else []
    if not words or not all(word[0].isupper() for word in words):
        return False
    return sum(NAMES.is_family(word) for word in words) > len(words) // 2 and not any(
        NAMES.is_surely_given(word) and not NAMES.is_family(word) for word in words
    )


def is_nameless_line(text: str, start: int) -> bool:
    """Whether the line of `start` begins with such a head: "Material: …"."""
    if ":" not in text:
        return False
    match = _HEAD.match(text, text.rfind("\n", 0, start) + 1, start)
    return match is not None and is_nameless(match[1])


_HEAD = re.compile(r"[ \t]*([^\W\d_][^\n:.]{1,28}):[ ]")


def is_place_noun(word: str) -> bool:
    """Whether it makes a place of the name behind it."""
    return word.lower().rstrip(".") in _PLACE_BEFORE


def is_place_before(text: str, start: int) -> bool:
    """Whether a word right before makes a place of the name: "Hotel Adlon", "Lake Anna"."""
    match = _WORD_BEFORE.search(text, max(0, start - 32), start)
    return match is not None and is_place_noun(match[1]) and (match[2] is None or match[1][0].isupper())


_WORD_BEFORE = re.compile(r"([^\W\d_]+\.?)[ ](?:(de|del|de la|di|da|du|von|van)[ ])?$")


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
        if match is None or (_is_no_name(match[2]) and not _is_after_particle(match)):
            break
        end = match.end()
    if (
        (match := _TURNED_BEFORE.match(text, 0, start))
        and _AND_ANOTHER.fullmatch(text, end)
        and not any(map(_is_no_name, match[1].title().split()))
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
        if match is None or (_is_no_name(match[1]) or not (NAMES.is_given(match[1]) or match[1].endswith("."))):
            break
        start = match.start(1)
    if (match := _STRANGE_BEFORE.search(text, max(0, start - 48), start)) and " " in text[start:end]:
        start = match.start(1) if _is_strange(match[1]) else start
    if (match := _WHOLE_CELL.fullmatch(text)) and NAMES.is_surely_given(match[2].split()[0]):
        words = [word for word in match[1].split() if word.lower() not in PARTICLES and word != "und"]
        if words and not any(map(_is_no_name, words)):
            return match.start(1), match.end(2)  # "Freiherr von und zu Guttenthal, Ansgar"
    if _PAIR_CELL.fullmatch(text) and not any(map(_is_no_name, re.split(r"[ ]?/[ ]?", text.strip()))):
        return 0, len(text)
    if (match := _FAMILY_FIRST.fullmatch(text, 0, start)) and not text[end:].strip() and " " in text[start:end]:
        start = match.start(1) if NAMES.is_family(match[1]) and not _is_no_name(match[1]) else start
    if match := _PARTICLES_BEFORE.search(text, max(0, start - 24), start):
        start = match.start(1)
    return start, end


def _is_after_particle(match: re.Match[str]) -> bool:
    """Whether the word is a family name whatever else it means: "Mieke de Wit"."""
    return bool(match[1]) and match[1].islower() and not (match[2].isupper() or NAMES.is_place(match[2]))


def _is_strange(word: str) -> bool:
    """Whether nothing is known of a word that stands inside a sentence right before a name: it is one more of it."""
    return not (_is_no_name(word) or NAMES.is_role(word) or is_place_noun(word) or _NOUN_ENDS.search(word))


_STRANGE_BEFORE = re.compile(rf"(?:[a-zß-ÿ]|&|,)[ ]([{UPPER}][a-zß-ž]{{2,14}})[ ]$")
_NOUN_ENDS = re.compile(  # of words for what people are or do
    r"(?:ung|heit|keit|schaft|tion|ment|er|erin|or|orin|ist|istin|ant|antin|ent|entin|chef|mann|frau|ing|ed|ly|eur|euse"
    r"|ista|ero|era|dor|dora|tore|trice|iste|ier|ière|ian|ician|ness|ity|ge|te)$"
)
_PAIR_CELL = re.compile(rf"\s*{NAME_WORD}(?:[ ]?/[ ]?{NAME_WORD}){{1,3}}\s*")  # "Lüdtke/Brinkmann"
_FAMILY_FIRST = re.compile(rf"\s*({NAME_WORD})[ ]")  # "Ong Wei Jie"
_WHOLE_CELL = re.compile(
    rf"\s*((?:(?:{NAME_WORD}|{PARTICLE}|und)[ ]){{0,5}}{NAME_WORD}),[ ]({NAME_WORD}(?:[ ](?:{NAME_WORD}"
    rf"|[{UPPER}]\.))?)\s*"
)
_PARTICLES_BEFORE = re.compile(rf"(?:^|[\n\t|;,&(/:])[ ]?((?:{PARTICLE}[ ]){{1,3}})$")


_MORE_AFTER = re.compile(rf"[ ]((?:{PARTICLE}[ ]){{0,2}})({NAME_WORD}|[{UPPER}]\.)(?![\w@]|[ ]?[:=])")
_TURNED_BEFORE = re.compile(rf"\s*({NAME_WORD}(?:[ ]{NAME_WORD})?),[ ]$")
_AND_ANOTHER = re.compile(rf"(?:[ ](?:and|und|y|et|e|en|&)[ ]{NAME_WORD})?\s*")
_SLASHED = re.compile(rf"/[{UPPER}]{{2,20}}(?![\w])")
_TURNED_AFTER = re.compile(rf",[ ]({NAME_WORD})(?:[ ][{UPPER}]\.)?(?=[ ]?(?:$|[\t\n|]))")
_CELL_BEFORE = re.compile(rf"(?:^|[\n\t|])[ ]?((?:{NAME_WORD}|{PARTICLE})[ ](?:(?:{NAME_WORD}|{PARTICLE})[ ]){{0,3}})$")
_CELL_BEGINS = re.compile(r"(?:^|[\n\t|])[ ]?$")
_SLASHED_BEFORE = re.compile(rf"(?<![\w/])[{UPPER}]{{2,20}}(?:[ -][{UPPER}]{{2,20}})?/$")
_HYPHENED = re.compile(rf"[{UPPER}][a-z]{{1,6}}-[a-z]{{2,6}}")  # a Korean given name
_FAMILY_BEFORE = re.compile(rf"(?<![\w.@-])[{UPPER}][a-z]{{1,8}}[ ]$")
_MORE_BEFORE = re.compile(rf"(?<![\w.@])({NAME_WORD}|(?:[{UPPER}]\.){{1,4}})[ ]{{0,1}}$")


def _is_no_name(word: str) -> bool:
    if len(word.rstrip(".")) == 1:
        return False
    shouted = word.isupper() and len(word) > 1
    return NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_maker(word) or NAMES.is_place(word) or shouted
