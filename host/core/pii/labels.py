"""Words that stand beside private details, in many languages: what type a label promises, and what it rules out."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from host.core.pii import scripts
from host.core.pii.label_words import AT_WORK, DONE_BY, WORDS

# Folded: lower case, no accents, ss for sharp s, "_" and "-" as spaces, camelCase split. A leading "=" asks that the
# label is nothing else. Order matters where one label has words of two types: the first that fits the value wins.

_RULED_OUT = re.compile(  # labels of numbers and names that are nobody's
    r"\b(?:orders?|bestell\w*|pedidos?|commande|ordine|bestelling|encomenda|zamowieni\w*|invoices?"
    r"|rechnung(?:s ?(?:nummer|nr|datum))?|factura(?! ?(?:r|cion))|facture|fattura|factuur|ticket|case|tracking"
    r"|sendungs\w*|shipment|parcel|seguimiento|suivi"
    r"|sku|isbn|ean|upc|ndc|pzn|hsn|tsn|gtin|asin|parts? (?:no|number|nr)|art(?:icle|ikel\w*| nr)|product\w*"
    r"|produkt\w*|producto|produit|prodotto|item"
    r"|model\w*|brand|marke|marca|marque|version|build|release|firmware|serial|amount|betrag|importe|montant|total"
    r"|summe|price|preis|precio|prix|prezzo"
    r"|qty|quantity|menge|cantidad|quantite|date(?! of birth| naiss| de naiss)|datum|fecha(?! (?:de )?nac)|time"
    r"|uhrzeit|hora|status|stand|file|datei|archivo|fichier|folder|host ?name|domain|project|projekt|proyecto|projet"
    r"|compan(?:y|ies)|firma|empresa|entreprise|organi[sz]ation|vendor|merchant|supplier"
    r"|store|shop|event|category|kategorie|categoria|plan|team|department|abteilung|subject|betreff|asunto|objet"
    r"|title|titel|titulo|titre|course|kurs|playlist|song|movie|book|user agent|display mode|bank name"
    r"|bank(?! account|verbindung)|airline|hotel|school|country|land|pais|pays|currency"
    r"|size|colou?r|farbe|color|couleur|weight|gewicht|peso|poids|role|position title|job ?title|branch"
    r"|repo(?:sitory)?|commit|hash|checksum|package|class ?name|tag ?name|node ?name|type ?name|method|function"
    r"|variable|table ?name|column ?name|font|theme|language|sprache|idioma|langue"
    r"|reference|referenz|referencia|booking|reservation|buchung\w*|reserva|confirmation|flight|flug|vuelo|vol|seat"
    r"|gate|room|zimmer|batch|lot|charge|policy type|plan name|tariff|tarif|network name|printer|device|gerat"
    r"|dispositivo|bytes|duration|elapsed|dauer|views|hits|followers|downloads|offset|latency|app name|song"
    r"|artist|call number|sender ?id|meeting|standort name|transaction|purchase|po number|po no)\b"
)
_WEAK_PERSON = re.compile(  # words that stand before a name as often as before anything else
    r"(?:from|to|cc|bcc|by|via|with|host|user|users|people|person|contact|contacts|lead|player|winner|given|family"
    r"|von|an|mit|de|da|do|para|por|par|pour|avec|con|di|aan|van|door|od|dla|fran|till|av|til"
    r"|a|ad|adi|leiter|gast|holder|agent|manager|rep|author|authors|autor|auteur|autore|staff|participants?"
    r"|kind|speakers?|brother|sister|presidente?|president|captain|coach(?:es)?|consultant|secretary|moderator|leaders?"
    r"|nin[oa]s?|menin[oa]|bambin[oa]|enfant|dziecko|cocuk|bidder|skipper|inspector|officer|handler|responder"
    r"|trainer|tutor|docent|juge|elev|counsel+or|secretari[oa]|presidenta"
    r"|watchers?|vecin[oa]s?|maestr[oa]"
    r"|arbitr[oa]"
    r"|administrador(?:a)?|administrateur|administratrice|amministratore|amministratrice"
    rf"|{AT_WORK.replace('=', '')}|{DONE_BY}"
    r"|organi[sz]er|child|parent|partner|member|members?|mitglied|owner|owners|client|clients|customer|customers"
    r"|kunde|cliente|clientes|klant|nutzer|resident|contacto|contact name|referente|responsable|sender|seller"
    r"|sold by|hosted by|\w+ by"
    r"|utilisateur|gebruiker|anvandare|committer|uploader|submitter|ship(?:ped)? to|bill(?:ed)? to|deliver to|sold to"
    r"|enviar a|provider|prospects?|collaborators?|keeper|vardgivare|callers?|volunteers?"
    r"|attention|lieferung an"
    r"|versand an|reporter|assignee|reviewer|recipient|driver|guest|host name|technician|doctor|dr|physician)"
)


def _pattern(words: str) -> re.Pattern[str]:
    anchored = re.sub(r"(?<![^|])=([a-z0-9 ]+)", r"\\A\1\\Z", words)
    return re.compile(rf"(?<!\w)(?:{anchored})(?!\w)")


_PATTERNS: dict[str, re.Pattern[str]] = {
    kind: _pattern(f"{words}|{scripts.WORDS[kind]}" if kind in scripts.WORDS else words)
    for kind, words in WORDS.items()
}
_OF = (  # "the plate of my car is": whose it is
    r"(?: (?:of|de|del|von|vom|du|da|di|do|for|fur|van)(?: \w{1,12}){1,3}(?= (?:is|ist|es|est|e|lautet|was|war)\b))?"
)
_NUMBER_WORD = r"(?: (?:is|ist|es|est|e|lautet|no|nr|n|o|num|number|nummer|numero|numer|id|code|#))*"
_ENDINGS: dict[str, re.Pattern[str]] = {  # of what stands right before a number in a sentence
    kind: re.compile(_PATTERNS[kind].pattern + _OF + _NUMBER_WORD + r"\Z")
    for kind in (
        "NATIONAL_ID", "TAX_ID", "PASSPORT", "DRIVER_LICENSE", "VEHICLE", "MEDICAL_ID", "IBAN", "BANK_ACCOUNT", "CARD",
    )
}  # fmt: skip
_NOT_A_PERSONS_NAME = re.compile(
    r"\b(?:product|file|host|project|company|item|domain|display|model|brand|event|team|plan|bank|store|shop"
    r"|user agent|dataset|table|column|field|function|class|package|group|channel|business|firm"
    r"|network|printer|playlist|hotel|school|job|street|city|place|device|app|service|server|database|branch|repo"
    r"|produkt|datei|projekt|firmen|strassen|orts|marken|modell|gruppen|datenbank|netzwerk|vereins|user|benutzer"
    r"|login|screen|nick"
    r"|account)"
    r" ?names?\b|\b(?:nombre|nom|nome|nazwa|imie) (?:d|de|du|des|della?|dell|do|da|del) ?(?:la |el |l |las |los |les )?"
    r"(?:red(?:es)?|reseau|rete|rede|archivos?|fichiers?|ficheiro|arquivo|documentos?|dispositivos?|appareil|equipos?"
    r"|equipe|proyectos?|projets?|progetto|projeto|productos?|produits?|prodotto|produto|empresas?|entreprise|societe"
    r"|azienda|dominio|domaine|tiendas?|boutique|negozio|loja|grupos?|groupe|gruppo|plan|forfait|servicios?|service"
    r"|servizio|servico|cursos?|cours|corso|eventos?|evenement|evento|impresora|imprimante|stampante|servidor|serveur"
    r"|server|bases? de datos|base de donnees|variable|aplicacion|application|applicazione|canal|canale)\b"
    r"|\b(?:nombre comercial|nom commercial|nome commerciale|nome fantasia|nazwa handlowa)\b"
    r"|\w*(?:datenbank|netzwerk|datei|produkt|firmen|strassen|orts|marken|gruppen|vereins|benutzer)name\b"
)


def folded(label: str) -> str:
    """A label as the tables here spell it: lower case, no accents, words apart."""
    apart = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", label)
    bare = "".join(
        c
        for c in unicodedata.normalize("NFD", apart.lower().replace("ß", "ss").replace("º", "o"))
        if not "\u0300" <= c <= "\u036f"
    )
    bare = bare.replace("ł", "l").replace("ø", "o").replace("æ", "ae").replace("ı", "i").replace("đ", "d")  # noqa: RUF001
    return re.sub(r"[^\w#]+|_+", " ", unicodedata.normalize("NFC", bare)).strip()


_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")


@lru_cache(maxsize=8192)
def ending(before: str) -> tuple[str, ...]:
    """The types of numbers that the last words of `before` (at most five) promise for what follows."""
    words = " ".join(folded(before).split()[-5:])
    found = [(kind, match) for kind, pattern in _ENDINGS.items() if (match := pattern.search(words))]
    return tuple(
        kind
        for kind, match in found
        if _RULED_OUT.search(words if kind != "TAX_ID" else words[: match.start()]) is None
    )


@lru_cache(maxsize=4096)
def promised(label: str) -> tuple[str, ...]:
    """The types that a label promises, likeliest first; PERSON? is a name only if it also looks like one."""
    if not label or len(label) > 300:
        return ()
    pieces = re.split(r"[|\n;·•/>(),:]+", _BRACKETED_END.sub("", label))
    pieces += [
        piece.lower() for piece in pieces if _INNER_CAPITAL.search(piece)
    ]  # "GitHub" is one word, "firstName" two
    given = [part for part in map(folded, pieces) if part]
    parts = [spelling for part in given for spelling in _spellings(part)]
    found: list[str] = []
    for kind, pattern in _PATTERNS.items():
        for part in given if kind == "PERSON" else parts:
            match = pattern.search(part)
            if match is not None and _stands(kind, part.replace(match[0], " ") if kind == "TAX_ID" else part):
                found.append("PERSON?" if kind == "PERSON" and _WEAK_PERSON.fullmatch(match[0]) else kind)
                break
    return tuple(found)


_COUNTED = re.compile(r"\b(?:no|nr|num|number|nummer|numero|id|code|count|total|#)\Z|\A(?:numero|num|nr|n o|no|n)\b")
_NUMERO = re.compile(r"\A(?:n|no|nr|nro|num|n o|n r)(?= (?:d|de|del|della|di|da|do|du|fiscal\w*)\b)")
_TAIL = re.compile(r"(?<=\w) (?:on file|used|(?:used )?(?:for|fur|para|pour|per|voor|dla)(?= )).*\Z")


_BRACKETED_END = re.compile(r"(?<=\w)(?:\((?:e|r|n|s|es|in|a|o|as|os|ne|en)\)|/(?:e|r|n|in|a|o)(?= ))")  # "Né(e) le"
_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = (  # what a label is short for, and what may be written as one
    (re.compile(r"\b(\w) (?=\w\b)"), r"\1"),  # "D.N.I."
    (_NUMERO, "numero"),
    (re.compile(r"\A(?:n o|n|no|nr|nro|num|numer|cislo)(?= \w{4})"), "numer"),
    (re.compile(r"\A(?:n o|n|no|nr|nro|num) (?=\w{2})"), ""),
    (re.compile(r"(?<=[a-z]) (?=(?:nr|nummer)\b)"), ""),
    (re.compile(r"(?<=[a-z])( ?)nr\b"), r"\1nummer"),
)


def _spellings(part: str) -> list[str]:
    """The folded label as it is, and in the other ways in which the same label is written."""
    found = [part]
    for pattern, instead in _SPELLINGS:
        found += [other for one in found if (other := pattern.sub(instead, one)) not in found]
    return found


def _stands(kind: str, part: str) -> bool:
    if len(part.split()) > 7:
        return False  # a sentence is no label
    part = _TAIL.sub("", part)  # "card on file", "phone for this order": what the thing is comes first
    if kind == "PERSON" and (_NOT_A_PERSONS_NAME.search(part) or _COUNTED.search(part)):
        return False
    ruled_out = _RULED_OUT.search(part)
    if ruled_out is None or kind in ("EXPIRY", "PASSWORD", "KEY", "TOKEN", "SECRET"):
        return True
    return kind in ("PERSON", "ADDRESS", "EMAIL", "PHONE", "DATE_OF_BIRTH") and bool(_NAMED_ANYWAY.search(part))


_NAMED_ANYWAY = re.compile(
    r"\b(?:e ?mail|phone|tel\w*|mobile|address|adresse|direccion|name on|full name|first name|last name|surname"
    r"|contact|birth|geb|dob|nac|naiss|urodz\w*|fodelse\w*|fodsels\w*|geboorte\w*|narozeni|szuletes\w*"
    r"|geburt\w*|nacimiento|naissance|nascita|customer name|client name|patient name|recipient"
    r"|ordered by|account manager|manager|owner|lead|authors?|leader|organi[sz]er|teacher|coach|captain|worker"
    r"|assignee|reporter|requester|reviewer|approver|holder|officer|handler|autor(?:a|in)?|leiter(?:in)?|trainer(?:in)?"
    r"|verantwortliche[rn]?"
    r"|bearbeiter(?:in)?|ansprechpartner(?:in)?|responsable|auteur|organizador(?:a)?|encargad[oa])\b"
)


@lru_cache(maxsize=4096)
def ruled_out(label: str) -> bool:
    """Whether the label says that the value is a number, a time or a thing of no person."""
    return _RULED_OUT.search(folded(label)) is not None
