"""Postal addresses: a street with its number or a postcode with its town, grown over the parts around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.context import is_measure, named_otherwise
from host.core.pii.labels import ruled_out
from host.core.pii.words import CAPITALISED as C
from host.core.pii.words import UPPER
from host.redact.names import NAMES, words_of
from host.redact.quick import Near, finds
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.shapes import crossings, is_counted, is_of_a_room, whole_shapes

_NUMBER = (
    r"\d{1,5}(?:\s?[a-zA-Z](?![\w]))?(?:\s?[-/]\s?\d{1,4}[a-zA-Z]?)?(?:/\d{1,4}[a-zA-Z]?)?(?![\w.,:]?\d)(?!\s?[%€$£])"
)
_SUFFIX_EN = (
    r"(?:Street|St|Avenue|Ave|Av|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Close|Way|Place|Pl|Parade|Pde"
    r"|Crescent|Cres|Terrace|Ter|Square|Sq|Highway|Hwy|Parkway|Pkwy|Circle|Cir|Gardens|Gdns|Grove|Hill|Hills|Mews|Row"
    r"|Walk|Trail|Trl|Alley|Quay|Wharf|Esplanade|Loop|Plaza|Broadway|Turnpike|Pike"
    r"|Path|Pass|Point|Run|Ridge|Rise|View|Villas?|Heights|Meadows?|Park|Port|Freeway|Expressway|Motorway|Route|Rte"
    r"|Island|Isle|Junction|Key|Knolls?|Lakes?|Landing|Manor|Mill|Mission|Mountain|Orchard|Oval|Overpass|Plains?"
    r"|Prairie|Radial|Ramp|Ranch|Rapids|Rest|River|Roads|Shoals?|Shores?|Skyway|Springs?"
    r"|Spurs?|Station|Stravenue|Stream|Streets|Summit|Throughway|Trace|Track|Trafficway|Tunnel|Underpass|Union|Valley"
    r"|Via|Viaduct|Village|Ville|Vista|Walks|Wall|Wells?|Extension|Falls|Ferry|Fields?|Flats?|Fords?|Forest|Forges?"
    r"|Forks?|Fort|Garden|Gateway|Glens?|Greens?|Groves|Harbors?|Haven|Hollow|Inlet|Bridge|Brooks?|Burgs?|Bypass|Camp"
    r"|Canyon|Cape|Causeway|Center|Centers|Cliffs?|Club|Common|Corners?|Course|Courts|Cove|Coves|Creek|Crest|Crossing"
    r"|Crossroad|Yard|Maltings|Wynd|Brae|Paddocks?|Fold|Garth|Gate|Holt|Nook|Lea|Leas|Croft|Chase|Copse|Downs?"
    r"|Spinney|Strand|Bank|Buildings|Cottages?|Arcade|Approach|End|Woods?|Acres?|Parkside|Broadwalk|Drift|Mead|Reach"
    r"|Warren|Heath|Hythe|Lock|Moorings|Promenade|Bower|Vale|Dene|Sidings|Curve|Dale|Dam|Divide|Drives|Estates?"
    r"|Cul-de-sac|Nagar|Marg|Chowk|Colony|Layout|Cross|Main)"
)
_AMBIGUOUS_EN = words_of("street_nouns.txt")
_STREET_EN = re.compile(
    rf"(?<![\w.,$€£#-])(?:(?:No\.?|Nr\.?)\s?)?{_NUMBER},?\s(?:(?:North|South|East|West|[NSEW]{{1,2}}|NE|NW|SE|SW|Old"
    rf"|New|Upper|Lower|The)\.?\s)?(?:(?:{C}|\d{{1,3}}(?:st|nd|rd|th)"
    rf"|[A-Z]\.?)\s){{1,4}}({_SUFFIX_EN})\b\.?(?:\s(?:North|South|East|West|[NSEW]{{1,2}})\b\.?)?"
)
_STREET_EN_LOW = re.compile(
    r"(?i)(?<![\w.,$€£#-])\d{1,5}[a-z]?\s(?:[a-z'.-]{2,20}\s){1,3}(?:street|avenue|road|lane|boulevard"
    r"|crescent|terrace|st\.|ave\.?|rd\.?|blvd\.?)(?![\w])"
)
_ORDINAL_STREET = re.compile(
    rf"(?<![\w.,$€£#-])\d{{1,5}}\s(?:(?:North|South|East|West|[NSEW])\.?\s)?(?:Broadway|Main|{C}\sBroadway"
    rf"|\d{{1,3}}(?:st|nd|rd|th)\s(?:St|Ave|Avenue|Street)\.?)(?![\w])"
)
_STEM_DE = (
    r"(?:stra(?:ß|ss|B|&|f&|f3|R)e|str\.?|weg|platz|allee|gasse|gürtel|siedlung|kai|ring|damm|ufer|markt|steig|stieg"
    r"|pfad|chaussee|promenade|berg|hof"
    r"|kamp|wiese|feld|graben|brücke|tor|wall|garten|park|winkel|zeile|bogen|twiete|redder|koppel|heide|anger|leite"
    r"|rain|bach|gang|stiege|straat|laan|weg|vest|plantsoen|hoek|wal|plein|gracht|kade|dijk|singel|steeg|hof|pad"
    r"|dreef|baan|lei|gatan|vägen|gränd|gata|vej|gade|allé|veien|gaten|katu|tie|polku|utca|út)"
)
_STREET_DE = re.compile(
    rf"(?<![\w])(?:[{UPPER}][\w.'-]{{0,40}}[ -]){{0,3}}(?:[{UPPER}][\w'-]{{0,40}}?{_STEM_DE}"
    rf"|(?:[{UPPER}][\w'-]{{1,40}}[ -]){{1,3}}(?i:{_STEM_DE}))\s?(?:Nr\.?\s?)?{_NUMBER}(?:\s?,?\s?(?:bis|hs|III|II|IV"
    rf"|tr|lgh|bte|Etage|OG|EG|Hinterhaus|Vorderhaus)\b\s?\d{{0,5}})?"
)
_NEAR_STEM = Near(re.compile(rf"(?i){_STEM_DE}\s?(?:Nr\.?\s?)?\d"), 320)
_STREET_DE_PREP = re.compile(
    rf"(?<![\w])(?:Am|An der|An den|An dem|Auf der|Auf dem|Auf den|Bei der|Beim|Hinter der|Hinter dem|Im|In der"
    rf"|In den|In dem|Vor dem|Vor der|Zum|Zur|Unter den|Unter der|Alte[rn]?|Neue[rn]?|Große[rn]?|Kleine[rn]?"
    rf"|Obere[rn]?|Untere[rn]?|Lange[rn]?|Hohe[rn]?)\s(?:{C}[ -]){{0,2}}{C}\s{_NUMBER}"
)
_KIND_ROMANCE = (
    r"(?:Calle|C/|C\.|Cuesta|Acceso|Alameda|Avenida|Avda\.?|Av\.?|Callej[oó]n|Camino|Cañada|Carrer|Carretera|Ctra\.?"
    r"|Glorieta|Pasadizo|Pasaje|Paseo|P\.?º|Plaza|Pza\.?|Pl\.|Rambla|Ronda|Traves[ií]a|Urbanizaci[oó]n|Urb\.|Vial"
    r"|V[ií]a|Costanilla|Corredera|Barrio|Pol[ií]gono|Jardines|Parque|R[úu]a|Praza|Cami[ñn]o|Plaça|Passeig|Avinguda|Calz(?:ada)?\.?|Privada|Cerrada|Blvd\.?"
    r"|Boulevard|Bulevar"
    r"|[Cc]hauss[ée]e|[Rr]ue|[Aa]venue|[Bb]oulevard|[Bb]d|[Pp]lace|[Cc]hemin|[Aa]llée|[Ii]mpasse|[Qq]uai|[Cc]ours"
    r"|[Rr]oute|[Ss]quare"
    r"|[Ff]aubourg|[Pp]assage|[Ss]entier|[Rr]uelle|[Vv]illa|[Cc]ité|[Rr]ésidence|[Ll]otissement|[Hh]ameau"
    r"|Via|Viale|V\.le|Piazza|P\.zza|Piazzale|Corso|C\.so|Vicolo|Largo|Strada|Contrada|Borgo|Lungomare|Lungotevere"
    r"|Salita|Galleria|Rotonda|Canale|Stretto|Incrocio|Fondamenta|Calle"
    r"|Rua|R\.|Travessa|Praça|Pç\.?|Largo|Estrada|Rodovia|Alameda|Beco|Quinta|Bairro|ul\.|Ul\.|ulica|al\.|Al\.|aleja"
    r"|pl\.|os\.|plac|Jl\.|Jalan|Str\.|Strada|Bulevardul|ulitsa|Calea|Şoseaua|Odos)"
)
_STREET_ROMANCE = re.compile(
    rf"(?<![\w]){_KIND_ROMANCE}\s(?:(?:de|del|de la|de las|de los|d'|du|des|della|delle|dei|di|da|do|das|dos|le|la"
    rf"|les|l')\s?){{0,2}}(?:(?:{C}|[A-Z]\.|\d{{1,3}}|de|del|la|las|los|el|du|des|le|les|da|do|das|dos|di|della|delle"
    rf"|dei|degli|y|e|i|et|en|sur|sous|van|al|nad|im|św\.|gen\.|ks\.|Dr\.|S\.)[\s-]){{0,5}}?(?:{C}|\d{{1,3}}"
    rf"|[\w'.-]{{0,20}}[{UPPER}][\w'.-]{{0,40}}),?\s(?:n[.º°o]{{0,2}}\s?|núm\.?\s?|nr\.?\s?|s/n)?(?:{_NUMBER}"
    rf"|s/n)(?:,?[ ]?(?:\d{{1,2}}[ºª°]?[ ]?(?:izq|izda|dcha|dch|drcha|esq|dto|[A-Za-zª]"
    rf"(?![\w.]))?\.?|[A-Z]|bis|ter|s/n)(?![\w.]))?"
)
_STREET_FR = re.compile(
    rf"(?<![\w.,$€£#-])\d{{1,4}}\s?(?:bis|ter|quater|[A-Da-d])?,?\s(?:rue|avenue|av\.?|boulevard|bd\.?|place|chemin"
    rf"|allée|allées|impasse|quai|cours|route|square|faubourg|passage|sentier|ruelle|villa|cité|résidence|Rue|Avenue"
    rf"|Boulevard|Place|Chemin|Allée|Impasse|Quai|Cours|Route|Passage)\s(?:(?:de|du|des|d'|la|le|les|l'"
    rf"|de la)\s?){{0,3}}{C}(?:[ -](?:(?:de|du|des|la|le|et)[ -])?{C}){{0,4}}"
)
_STREET_TR = re.compile(
    rf"(?<![\w])(?:{C}\s){{1,3}}(?:Mah(?:allesi|\.)?|Cad(?:desi|\.)?|Sok(?:ak|ağı|\.)?|Sk\.|Bulvarı"  # noqa: RUF001
    rf"|Blv\.)(?:,?\s(?:(?:{C}\s){{1,3}}(?:Cad(?:desi|\.)?|Sok(?:ak|ağı|\.)?"  # noqa: RUF001
    rf"|Sk\.)))?,?\s(?:No\s?[:.]?\s?)?\d{{1,4}}(?:[/-]\w{{1,4}})?(?:,?\s(?:Kat|D(?:aire)?)\s?[:.]?\s?\d{{1,3}}){{0,2}}"
)
_BOX = re.compile(
    r"(?i)(?<!\w)(?:P\.?\s?O\.?\s?Box|Post(?:fach|bus|boks|box)|Apartado(?: de correos)?|Apdo\.?|B\.?P\."
    r"|Casella postale|C\.P\.|Caixa postal|Skrytka pocztowa|Posta kutusu|PSC|CMR|Unit)\s\d{1,7}(?:,?\s?Box\s\d{1,6})?"
)
_MILITARY = re.compile(
    r"(?:(?:USNS|USS|USNV|USCGC)\s[A-Z]\w{1,30}|(?:PSC|Unit|CMR)\s\d+,?\sBox\s\d+),?\s(?:FPO|APO"
    r"|DPO)\sA[APE]\s\d{5}(?:-\d{4})?"
)
_STATES = (
    r"(?:A[LKZRSA]|C[AOT]|D[EC]|F[LM]|G[AU]|HI|I[DLNA]|K[SY]|LA|M[EDAHINSOTP]|N[EVHJMYCD]|O[HKR]|P[ARW]|RI|S[CD]"
    r"|T[NX]|UT|V[TAI]|W[AVIY])"
)
_TOWN = (
    rf"(?:[AO]\s|L')?{C}(?:[ -](?:(?:de|del|de la|la|le|am|an der|a\.d\.|im|in|bei|ob der|upon|on|under|sur|sous|lès"
    rf"|en|di|do|da|dos|den|het|aan den)[ -])?{C}){{0,3}}"
)
_POSTCODES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "US",
        re.compile(
            rf"(?<!\w)(?:{_TOWN},?\s)?(?:{_STATES}|{C}),?\s\d{{5}}-\d{{4}}(?!\d)"
            rf"|(?<!\w)(?:{_TOWN},?\s)?{_STATES},?\s\d{{5}}(?![\d-])"
        ),
    ),
    (
        "GB",
        re.compile(
            rf"(?<!\w)(?:{_TOWN},?\s)?(?:GIR\s?0AA|[A-PR-UWYZ](?:\d{{1,2}}|[A-HK-Y]\d{{1,2}}|\d[A-HJKPSTUW]"
            rf"|[A-HK-Y]\d[ABEHMNPRVWXY])\s\d[ABD-HJLNP-UW-Z]{{2}})(?!\w)"
        ),
    ),
    (
        "CA",
        re.compile(
            rf"(?<!\w)(?:{_TOWN},?\s)?(?:(?:AB|BC|MB|NB|NL|NS|NT|NU|ON|PE|QC|SK"
            rf"|YT),?\s)?[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d(?!\w)"
        ),
    ),
    ("AU", re.compile(rf"(?<!\w)(?:{_TOWN},?\s)?(?:NSW|VIC|QLD|SA|WA|TAS|ACT|NT),?\s\d{{4}}(?!\d)")),
    ("NL", re.compile(rf"(?<![\w.])[1-9]\d{{3}}\s?(?!SA|SD|SS)[A-Z]{{2}},?\s{_TOWN}")),
    ("PT", re.compile(rf"(?<![\w.-])\d{{4}}-\d{{3}},?\s{_TOWN}")),
    ("PL", re.compile(rf"(?<![\w.-])\d\d-\d{{3}},?\s{_TOWN}")),
    ("SE", re.compile(rf"(?<![\w.-])(?:SE-)?[1-9]\d{{2}} \d\d\s{{1,2}}{_TOWN}")),
    ("BR", re.compile(rf"(?<![\w.-])(?:CEP:?\s?)?\d{{5}}-\d{{3}}(?![\d-])(?:,?[ ]{_TOWN})?")),
    (
        "IE",
        re.compile(
            rf"(?<!\w)(?:{_TOWN}(?:[ ]\d{{1,2}})?,?\s)?(?:[AC-FHKNPRTV-Y]\d\d|D6W)[ ]"
            r"(?=[A-Z\d]{0,3}\d)(?=\d{0,3}[A-Z])[AC-FHKNPRTV-Y\d]{4}(?!\w)"
        ),
    ),
    (
        "DE",
        re.compile(
            rf"(?<![\w.,/$€£#:-])(?:(?:D|DE|A|AT|CH|F|FR|I|IT|E|ES|B|BE|L|DK|N|NO"
            rf"|FIN)-\s?)?\d{{4,5}}\s(?:{_TOWN})(?:\s?\([A-Z]{{2}}\))?(?:\s[A-Z]{{2}}\b)?"
        ),
    ),
    ("ES", re.compile(rf"(?<![\w.]){_TOWN},\s?\d{{5}}(?![\d.,-])|(?<![\w.]){_TOWN}\s[1-8]\d{{5}}(?![\d.,-])")),
    (
        "JP",
        re.compile(
            rf"(?<![\w.-])(?:〒\s?)?\d{{3}}-\d{{4}},?\s(?:{C}[ -]?){{1,4}}|(?<!\w)(?:{C}(?:-(?:ku|shi|cho|machi"
            rf"|to|fu|ken|chome))?,?\s){{1,3}}〒?\d{{3}}-\d{{4}}(?![\d-])"
        ),
    ),
)
_NEEDS_COMPANY = frozenset(("DE", "ES", "JP", "SE", "BR", "PL"))  # shapes that figures in prose have as well
_PART = re.compile(
    rf"(?:(?:Apt|Apartment|Apto?|Suite|Ste|Unit|Flat|Floor|Fl|Room|Rm|Studio|Bldg|Building|Block|Tower|Wing|Level"
    rf"|Piso|Puerta|Pta|Esc(?:alera)?|Bajo|Planta|Dpto|Depto|Étage|Bât(?:iment)?|Appt?|Appartement|Appartamento"
    rf"|[Bb][âa]t(?:iment)?|[Aa]ppartement|[Aa]ppt|[Aa]partment|[Bb]te|[Bb]us|Apartamento|Bloco|Daire|Kat|kl|Interno"
    rf"|Int|Scala|Piano|Andar|Wohnung|Whg|Etage|Stock|OG|EG|m|lok|lgh|No|D)\b\.?\s?[:.]?\s?#?\d?[\w/-]{{1,5}}"
    rf"|#\s?\w{{1,6}}"
    rf"|\d{{1,2}}\.?\s?(?:Stock|OG|[Ee]tage|Obergeschoss|sal|th|tv|mf|tr|piso|andar|piano|kerros|kat|piętro|étage)\b"
    rf"|\({C}(?:[ -]{C}){{0,2}}\)|\([A-Z]{{2}}\)"
    rf"|\d{{1,2}}\.?[ºª°]\s?[\w]{{0,4}}\.?|\d{{1,2}}(?:st|nd|rd|th)\s[Ff]loor"
    rf"|(?:Piso|Bajo|Ático|Entlo)\b[ \w.ºª]{{0,8}}"
    rf"|c/o\s{_TOWN}|(?:D-|A-|CH-|F-|I-|E-)?\d{{4,6}}(?:-\d{{3,4}})?(?:\s{_TOWN})?|\d{{3}}\s\d\d\s{_TOWN}"
    rf"|\d\d-\d{{3}}\s{_TOWN}|\d{{4}}\s?[A-Z]{{2}}(?:\s{_TOWN})?"
    rf"|{_TOWN}(?:,?\s(?:{_STATES}|[A-Z]{{2,3}}))?(?:\s\d{{4,6}}(?:-\d{{3,4}})?)?(?:\s?\([A-Z]{{2}}\))?"
    rf"|{_TOWN}\s[A-Z]{{1,2}}\d[A-Z\d]?\s?\d[A-Z]{{2}}|[A-Z]{{1,2}}\d[A-Z\d]?\s?\d[A-Z]{{2}}"
    rf"|{_STATES}\s\d{{5}}(?:-\d{{4}})?|{_TOWN}\s[A-Z]\d[A-Z]\s?\d[A-Z]\d|[A-Z]{{2}}\s[A-Z]\d[A-Z]\s?\d[A-Z]\d"
    rf"|(?:Piso|Apt\.?)\s\d+)"
)
_JOINT = re.compile(r"[ \t]{0,2}(?:,|;|·|-|\||/)[ \t]{0,2}\n?|[ \t]{0,2}\n[ \t]{0,8}|[ \t]{1,2}")
_COMMON_AFTER_CODE = re.compile(
    r"(?i)(?:items?|artikel|products?|steps?|stück|pcs|people|users?|views?|likes?|reviews?|results?|euros?|dollars?"
    r"|pounds?|kilo\w*|meter\w*|points?|punkte|puntos|views|members?|followers?|jan(?:uar\w*|eiro|vier)?"
    r"|feb(?:ruar\w*|rero)?|fév\w*|m(?:är|a)r(?:z|ch|zo|s|ço)?|apr(?:il\w*)?|avril|abril|ma[iyj](?:o)?|jun[ieo]*|juin"
    r"|jul[iyo]*|juillet|aug(?:ust\w*)?|août|agosto|sep(?:t\w*)?|o[kc]t(?:ob\w*)?|nov(?:emb\w*)?|de[cz](?:emb\w*)?"
    r"|dic\w*|gennaio|giugno|luglio|maggio|hours?|stunden|days|tage|minutes|words|rows|zeilen"
    r"|bytes|tokens|downloads|seiten|pages|views|sold|verkauft|bewertungen|kunden|customers|orders|bestellungen|eur"
    r"|usd|gbp|chf|watt|volt|lumen|mah|kwh|rpm|px|dpi|fps|uhr|am|pm|the|and|und|tickets?|open|closed|total|new|free"
    r"|edition|version|build|series|serie|model|gb|mb|tb|error|not|ok|http|created|found|internal|bad|forbidden"
    r"|unauthorized|service|gateway|paid|shipped|delivered|pending|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b"
)


_NO_WORD = re.compile(r"[^\s]{100,}")
_LINE_OF_ADDRESS = re.compile(
    r"(?i)\baddress[ _-]?line[ _-]?\d|\b(?:street )?address \d\b|adresszusatz|adresszeile|\bcomplément\b"
    r"|complemento|segunda línea|\bapt\.?,? suite|apartment, suite|\b(?:nearest )?landmark\b|\bhouse name\b"
    r"|\bbuilding name\b|\bbairro\b|\bcolonia\b|\bfraccionamiento\b|\blieu-?dit\b|\btoevoeging\b"
    r"|^\W*(?:apt|apartment|flat|appartement|appartamento|piso y puerta|portal|escalera|interno|daire)\W*$"
)


_FLAT_PIECE = (
    r"(?:Hinterhaus|Vorderhaus|Quergebäude|Seitenflügel|Gartenhaus|Aufgang [A-Z\d]|Haus [A-Z]|\d{1,2}\. ?(?:OG|Stock"
    r"|Etage)"
    r"|(?:EG|DG|HP|Dachgeschoss|Erdgeschoss)|links|rechts|Mitte|[Bb]ât(?:iment)?\.? [A-Z\d]{1,3}|[Ee]sc(?:alier"
    r"|alera)?\.? [A-Z\d]{1,2}"
    r"|\d{1,2}(?:e|er|ème) étage|porte (?:gauche|droite|\d{1,3})|\d{1,2}\.?[ºª]|(?:izq|izda|dcha|izquierda|derecha)\.?"
    r"|[Pp]iso \d{1,2}|[Pp]uerta [A-Z\d]{1,3}|[Ss]cala [A-Z]|[Ii]nterno \d{1,3}|\d{1,2}(?:st|nd|rd|th) [Ff]loor"
    r"|(?:[Ff]lat|[Aa]pt\.?|[Aa]partment) \w{1,4})"
)
_DOOR = re.compile(r"[A-Z]?[-/ ]?\d{1,4}[A-Za-z]?")
_FLAT_LINE = re.compile(rf"\s*{_FLAT_PIECE}(?:,? {_FLAT_PIECE}){{1,4}}\s*")


def _reads_as_line(text: str) -> bool:
    """Whether it can be the name of a house or a floor: no button, no "Optional"."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    return bool(words) and not NAMES.is_common(words[0]) and sum(map(NAMES.is_common, words)) * 2 <= len(words)


def _is_list_of_parts(text: str) -> bool:
    """Whether a text under a label for addresses is nothing but one: short parts, no sentence."""
    parts = [part for part in re.split(r"[,;\n]", text) if part.strip()]
    small = sum(len(word) > 3 and word.islower() for word in re.findall(r"[^\W\d_]+", text))
    return len(text) <= 240 and small <= len(parts) and all(len(part.split()) <= 8 for part in parts)


class Addresses(Rules):
    """Streets with numbers, postcodes with towns, boxes; and what hangs on to them by commas or on the next lines."""

    types = ("ADDRESS",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """A find grows over the parts of an address before and after it."""
        if _LINE_OF_ADDRESS.search(page.hint) and len(text) <= 100 and (_reads_as_line(text) or _DOOR.fullmatch(text)):
            yield Hit(0, len(text), "ADDRESS", 0.7, "line of an address")
        for start, end in crossings(text):
            yield Hit(start, end, "ADDRESS", 0.7, "crossing")
        if _FLAT_LINE.fullmatch(text):
            yield Hit(0, len(text), "ADDRESS", 0.6, "floor and door")
        if len(text) < 6 or not (any(character.isdigit() for character in text) or "s/n" in text):
            return
        text = _NO_WORD.sub(lambda run: " " * len(run[0]), text)  # else each place in it is tried to its end
        found = False
        for start, end, rule in self._anchors(text, page):
            found = True
            yield Hit(_grown_back(text, start), _grown(text, end), "ADDRESS", 0.8, rule)
        if found and "ADDRESS" in page.promised and _is_list_of_parts(text):
            yield Hit(len(text) - len(text.lstrip()), len(text.rstrip()), "ADDRESS", 0.8, "all of an address")

    def _anchors(self, text: str, page: Page) -> Iterator[tuple[int, int, str]]:
        yield from whole_shapes(text)
        for match in finds(_STREET_EN, text):
            if self._is_street(text, match):
                yield *match.span(), "street and number"
        for pattern in (_STREET_EN_LOW, _ORDINAL_STREET, _STREET_DE, _STREET_DE_PREP, _STREET_FR, _STREET_TR):
            for match in finds(pattern, text, _NEAR_STEM if pattern is _STREET_DE else None):
                if pattern is _ORDINAL_STREET and is_of_a_room(text, match.start()):
                    continue
                if not is_measure(text, match.end()) and not is_counted(text, match.start()):
                    yield *match.span(), "street and number"
        for match in finds(_STREET_ROMANCE, text):
            if "\n" not in match[0] and not is_measure(text, match.end()):
                yield *match.span(), "street and number"
        for pattern in (_BOX, _MILITARY):
            for match in finds(pattern, text):
                if not match[0].startswith("Unit") or "Box" in match[0]:
                    yield *match.span(), "box"
        yield from self._postcodes(text, page)

    def _is_street(self, text: str, match: re.Match[str]) -> bool:
        if named_otherwise(text, match.start()) and not text[: match.start()].rstrip().endswith(("No", "No.", "#")):
            return False
        if is_counted(text, match.start()):
            return False
        if match[1].lower() in _AMBIGUOUS_EN and is_of_a_room(text, match.start()):
            return False
        if match[1].lower() not in _AMBIGUOUS_EN:
            return True
        words = match[0].split()
        alone = match.start() == 0 or text[match.start() - 1] == "\n"
        followed = (
            re.match(r"\s{0,2}(?:,|\n|$|·|\||(?:Apt|Suite|Ste|Unit|Flat|Apartment)\b|#)", text[match.end() :])
            is not None
        )
        if re.search(
            r"(?i)\b(?:to|at|in|near|from|of|lives?|address|live on|moved to|via)[: ]{1,2}$",
            text[max(0, match.start() - 12) : match.start()],
        ):
            return len(words) <= 5
        return len(words) <= 5 and followed and (alone or not text[: match.start()].rstrip()[-1:].isdigit())

    def _postcodes(self, text: str, page: Page) -> Iterator[tuple[int, int, str]]:
        for country, pattern in _POSTCODES:
            for match in finds(pattern, text):
                start, end = match.start(), match.end() - _labels_behind(match[0])
                if country in _NEEDS_COMPANY and not self._is_town(text, match, page):
                    continue
                if not named_otherwise(text, start):
                    yield start, end, f"postcode {country}"

    def _is_town(self, text: str, match: re.Match[str], page: Page) -> bool:
        """Whether a code with a capitalised word is a place: it stands alone, in a list, or behind a word for it."""
        code = match[0]
        words = re.sub(r"^[\dA-Z-]*\d[\d-]*\s*|,?\s*\d{5,6}$", "", code)
        if (
            _COMMON_AFTER_CODE.match(words)
            or page.ruled_out
            or ruled_out(words)
            or is_measure(text, match.start() + len(code) - len(words))
        ):
            return False
        if re.match(r"(?:19|20)\d\d\s", code) and not re.match(r"\d{5}", code):
            return False
        first = words.split(" ")[0]
        if len(first) > 1 and NAMES.is_common(first):
            return False
        before = text[: match.start()].rstrip(" \t")
        behind = match.end() - _labels_behind(code)
        after = "" if behind < match.end() else text[behind : behind + 2].lstrip(" \t")
        opened = (
            not before
            or before[-1] in ",\n·|;:("
            or bool(re.search(r"(?i)\b(?:in|nach|aus|to|at|en|a|de|à|zu|bei|near)$", before[-8:]))
        )
        closed = not after or after[0] in ",\n·|;.)!?"
        return (
            opened and (closed or bool(re.search(r"(?i)\b(?:in|nach|aus|at|near)$", before[-6:])))
        ) or "ADDRESS" in page.promised


def _labels_behind(place: str) -> int:
    """How many characters at the end of a place are ordinary words that begin what follows ("Poznań E-mail")."""
    words = place.split(" ")
    kept = len(words)
    while kept > 2 and NAMES.is_common(words[kept - 1].replace("-", "")) and not NAMES.is_country(words[kept - 1]):
        kept -= 1
    return len(place) - len(" ".join(words[:kept]))


def _grown(text: str, end: int) -> int:
    """Where the address goes on to, over parts that look like one of its lines."""
    for _step in range(6):
        joint = _JOINT.match(text, end)
        if joint is None:
            break
        part = _PART.match(text, joint.end())
        if part is None or not _belongs(text, joint[0], part):
            break
        end = part.end() - _labels_behind(part[0])
        if end < part.end():
            break
    return end


def _belongs(text: str, joint: str, part: re.Match[str]) -> bool:
    words = part[0]
    has_digit = any(character.isdigit() for character in words)
    if not joint.strip():  # only a space or a new line between
        if "\n" not in joint and not re.match(
            r"(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#|Piso|Puerta|Esc|Dpto|m\.|lok|Appt|\d{4,5}\s|\d{1,2}\.?[ºª°]"
            r"|Wohnung|Whg|D:|[Bb]te |[Bb]us \d|\()",
            words,
        ):
            return False
        if "\n" in joint and not has_digit:
            return NAMES.is_country(words) or _A_PART_ALONE.match(words) is not None
    if (
        NAMES.is_common(words.split(" ")[0].strip(",."))
        and words[0] != "("
        and not has_digit
        and not NAMES.is_country(words)
    ):
        return False
    after = text[part.end() : part.end() + 1]
    return not (after.isalnum() or (after in ":@=" and bool(after)))


_A_PART_ALONE = re.compile(
    r"(?i)(?:b[âa]t(?:iment)?|block|building|bloco|escalier|staircase|scala|aufgang|haus) [A-Z0-9]"
)
_FLAT = (
    r"(?:Flat|Apt|Apartment|Unit|Suite|Ste|Studio|Room|Rm|Block|Building|Villa|House|Floor|Level|Piso|Bajo|Wohnung|No"
    r"|Nr|Appartement|Appt|Résidence|Bât|Lot|Plot)\.?"
)
_PART_BEFORE = re.compile(  # one part of an address that ends where another begins
    rf"(?:(?:\d{{1,2}}|G)/F|{_FLAT}\s#?[\w/-]{{1,6}}|c/o\s{_TOWN}|#\w{{1,6}}"
    rf"|(?<![\w#])(?<!\d{{4}}-)\d{{1,5}}[a-zA-Z]?(?:\s[\w'.-]+){{0,4}}"
    rf"|{C}(?:[ -]{C}){{0,3}}(?:\s\d{{1,5}}[a-zA-Z]?(?:[-/]\d{{1,4}})?)?(?:\s(?:Suite|Apt\.?|Unit|Flat|Piso"
    rf"|Apto)\s\w{{1,5}})?)(?:[ \t]{{0,2}},[ \t]{{0,2}}|[ \t]{{0,2}}\n[ \t]{{0,8}})$"
)
_A_HOUSE = re.compile(  # a house with a name for its number, or the street behind it
    r"(?:^The [A-Z]|(?:Lodge|Cottages?|House|Farm|Farmhouse|Hall|Barn|Mill|Court|Manor|Grange|Vicarage|Rectory"
    r"|Gatehouse"
    r"|Croft|Villa|Street|Road|Lane|Avenue|Park|Green|Close|Row|Terrace|Yard|Way|Drive|Crescent|Estate|Place|Hill))\W*$"
)
_A_FLAT = re.compile(rf"{_FLAT}\s#?(?=[\w/-]*\d)[\w/-]{{1,6}}\s?,")
_FLAT_BEFORE = re.compile(
    rf"(?<!\w){_FLAT}\s#?$|(?<!\w){_FLAT}\s#?[\w/-]{{1,6}}[ \t]{{1,2}}$|(?<![\w.,])\d{{1,4}}[a-zA-Z]?(?:\s?[/-]\s?)$"
)


_CLAUSE_ON = re.compile(r"^\d+[a-zA-Z]?(?:\s[a-zà-ÿ'.-]+){2,}\s\d")


def _grown_back(text: str, start: int) -> int:
    """Where the address begins: parts before it that end in a comma or a line, back to the last that has a number."""
    kept = at = start
    for _step in range(4):
        match = _PART_BEFORE.search(text, max(0, at - 70), at)
        if match is None:
            break
        first = match[0].split(" ")[0].strip(",\n")
        if NAMES.is_common(first) and not match[0][0].isdigit() and not _A_FLAT.match(match[0]):
            break
        if match[0][0].isdigit() and _CLAUSE_ON.search(match[0]):
            break  # "84523728 sera livrée au 12, rue …": a sentence stands between
        at = match.start()
        if any(character.isdigit() for character in match[0]) or _A_HOUSE.search(match[0]):
            kept = at
    flat = _FLAT_BEFORE.search(text, max(0, kept - 20), kept)
    return flat.start() if flat is not None else kept
