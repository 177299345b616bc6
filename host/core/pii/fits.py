"""Whether a value can be what its label promises; loosely, for a label is strong evidence."""

from __future__ import annotations

import re
from collections.abc import Callable

from host.core.pii.checks import digits_of
from host.core.pii.context import is_amount, is_date
from host.core.pii.secrets import believable
from host.core.pii.words import MONTH, UPPER

_NO_VALUE = re.compile(
    r"(?i)[\s\W_]*|(?:none|n/?a|null|undefined|unknown|unbekannt|desconocido|inconnu|not (?:set|provided|available"
    r"|given|specified)|keine?(?: angabe)?|nicht (?:angegeben|gesetzt|hinterlegt)|no (?:disponible|indicado"
    r"|registrado)|non renseigné|ninguno|aucune?|nessuno|geen|brak|add|edit|change|update|show|hide|view|copy|reset"
    r"|verified|unverified|pending|required|optional|yes|no|ja|nein|sí|oui|non|on|off|true|false|enabled|disabled"
    r"|active|inactive"
    r"|aktiv|inaktiv|hinzufügen|bearbeiten|ändern|anzeigen|kopieren|añadir|editar|cambiar|mostrar|copiar|ajouter"
    r"|modifier|afficher|copier|select|choose|auswählen|wählen|seleccionar|choisir|total|all|alle|todos|tous"
    r"|same as (?:above|billing|shipping)|pickup|see (?:below|above)|hidden|private|public|personal|business|default"
    r"|primary|home|work|mobile|visa|mastercard|paypal|cash|new|expired|valid)[.…!]?"
)
_MASKED = re.compile(r"[\s\W_]*(?:[•*●∙·xX#…]{2,}[\s-]{0,3}){1,6}\d{0,4}[\s\W]*")
_ENDING = re.compile(
    r"(?i).{0,30}\b(?:ending|ends|endet|endend|endung|terminada|termina|finit|finissant|se terminant|che termina"
    r"|eindigend)\b.{0,12}\d{2,5}"
)
_DATE_LIKE = re.compile(
    r"(?i)\d{1,4}\s?[./ -]\s?(?:\d{1,2}|[a-zà-ÿ]{3,12}\.?)\s?[./ ,-]{1,2}\s?\d{2,4}|\d{1,2}(?:st|nd|rd|th|\."
    r"|º)?\s(?:de\s|of\s)?[a-zà-ÿ]{3,12}\.?,?\s(?:de[l]?\s)?\d{4}|[a-zà-ÿ]{3,12}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4}"
    r"|\d{8}|\d{4}|\d{1,2}[./-]\d{1,2}\.?"
)
_NAME_LIKE = re.compile(
    r"[^\W\d_][\w'.-]*(?:(?:,?[ ](?:&[ ])?|/)[^\W\d_][\w'.-]*){0,6}(?:[ ]?\([^\W\d_][\w'. -]{0,20}\))?,?"
)
_CODE = re.compile(r"[A-Za-z0-9ÄÖÜ][A-Za-z0-9ÄÖÜ ./<·•-]{2,34}")
_COMPANY = re.compile(
    r"(?i)\b(?:gmbh|mbh|ag|kg|ohg|ug|e\.?\s?v|ltd|limited|llc|inc|corp|plc|llp|co|group|holdings?|s\.?a\.?s?"
    r"|s\.?l\.?u?|s\.?r\.?l|s\.?p\.?a|sarl|b\.?v|n\.?v|ab|oy|aps|sp\. z o\.o|pty|bank|sparkasse|insurance"
    r"|versicherung|university|universität|college|hospital|klinik|school|department|team|support|service|services"
    r"|shop|store|solutions|systems|technologies|logistics|foundation|verein|stadt|city of|ministry|agency|agentur"
    r"|studio|labs?|club|hotel|restaurant|airlines|media|verlag|company|partners)\b\.?"
)


_MEASURE = re.compile(r"\d[\d.,]*\s?%|\d[\d.,]*\s[A-Za-z€$£]{1,4}")


def _is_day(value: str) -> bool:
    return is_date(value) and re.search(r"\d[./-]\d", value) is not None


def _birth(value: str) -> bool:
    short = re.fullmatch(r"(\d{1,2})[./-](\d{1,2})\.?", value)
    if short is not None:
        first, second = sorted((int(short[1]), int(short[2])))
        return 1 <= first <= 12 and second <= 31
    return len(value) <= 40 and _DATE_LIKE.search(value) is not None


_EMAIL_SPELT = re.compile(
    r"(?i)\S{2,64}(?:\s?\(?(?:at|\[at\])\)?\s?)\S+(?:\s?\(?dot\)?\s?)\S+|[\w.+-]+\.[\w-]+\.\w{2,8}|\S+\s?@\s?\S+"
)


def _email(value: str) -> bool:
    return len(value) <= 254 and _EMAIL_SPELT.fullmatch(value) is not None


def _phone(value: str) -> bool:
    digits = digits_of(value)
    letters = sum(c.isalpha() for c in value)
    paired = re.fullmatch(r"\d\d(?: \d\d){3,4}", value) is not None  # as in Denmark and France, though a day fits
    dull = (
        (is_date(value) and not paired)
        or is_amount(value)
        or re.search(r"\d:\d\d|[€$£%]|\d{4}-\d\d-\d\d", value) is not None
    )
    return 4 <= len(digits) <= 20 and letters <= 14 and len(value) <= 48 and not dull


_NO_ADDRESS = re.compile(  # money, links, times, thousands, dates, lists of counts
    r"(?i)[€$£¥]\s?\d|\d\s?(?:[€$£¥%]|(?:kr|zł|eur|usd|gbp|chf)\b)|://|@|\b\d{1,2}:\d\d|\d,\d{3}\b|\d[.,]\d\d?(?!\d)"
    rf"|\b\d{{1,2}}\.?\s(?:de\s)?{MONTH}(?:\s(?:de\s)?\d{{4}})?$|\b{MONTH}\s\d{{1,2}},?\s\d{{4}}"
    rf"|\b\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{2,4}}\b"
)
_PLAIN_WORD = re.compile(r"(?<![\w.'-])[a-zà-ÿ]{4,}(?![\w.'-])")
_STREET_WORD = re.compile(
    r"calle|avenida|plaza|paseo|camino|street|road|avenue|lane|drive|floor|flat|rue|boulevard|place|chemin"
    r"|allée|impasse"
    r"|quai|route|square|piso|bajo|planta|puerta|escalera|straat|plein|ulica|mieszkania|aleja|unter|dritte|stock|etage"
    r"|hinterhaus|links|rechts|sobre|entre|wohnung|apartment|suite|unit|building"
)


def _address(value: str) -> bool:
    if not 2 <= len(value) <= 240 or value.count(". ") > 4 or is_date(value) or _NO_ADDRESS.search(value):
        return False
    if not value[0].isdigit() and not value[0].isupper() and not _STREET_WORD.match(value.lower()):
        return value.islower() and len(value.split()) <= 4 and digits_of(value) != ""
    if sum(not _STREET_WORD.fullmatch(word) for word in _PLAIN_WORD.findall(value)) > 2:
        return False  # a sentence
    if digits_of(value):
        return any(c.isalpha() for c in value) or re.fullmatch(r"\d{3,6}(?:[- ]\d{2,4})?", value) is not None
    words = value.replace(",", " ").split()
    return len(words) <= 8 and words[0][:1].isupper() and not _COMPANY.search(value)


def _person(value: str) -> bool:
    if re.search(r"(?i)\.[a-z]{2,4}$", value):
        return False  # a file or a host
    return 2 <= len(value) <= 80 and _NAME_LIKE.fullmatch(value) is not None and not _COMPANY.search(value)


def _card(value: str) -> bool:
    digits = digits_of(value)
    return 12 <= len(digits) <= 19 and sum(c.isalpha() for c in value) <= 12 and not is_amount(value)


def _expiry(value: str) -> bool:
    return re.fullmatch(r"(?:0?[1-9]|1[0-2])\s?[/.-]\s?(?:20)?\d\d|20\d\d[/-](?:0[1-9]|1[0-2])", value) is not None


def _code(least: int) -> Callable[[str], bool]:
    def fits(value: str) -> bool:
        return (
            len(digits_of(value)) >= least
            and not re.search(r"[a-zà-ÿ]{3}", value)
            and _CODE.fullmatch(value) is not None
            and not is_amount(value)
            and not (_is_day(value) and re.search(r"\d{4}", value))
            and not re.fullmatch(r"(?:19|20)\d\d|.*\d (?:of|von|de|su|sur|x) \d.*", value)  # a year, "4 of 12"
            and len(value.split()) <= 8
        )

    return fits


def _account(value: str) -> bool:
    if re.fullmatch(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?", value):
        return True
    if re.fullmatch(r"\d{8}", value):
        return True  # many accounts have eight digits, which a day written without signs has, too
    return _code(5)(value) and (not is_date(value) or re.fullmatch(r"\d\d-\d\d-\d\d", value) is not None)


def _secret(value: str) -> bool:
    return len(value) <= 120 and len(value.split()) <= 24


def _single(value: str) -> bool:
    return 2 <= len(value) <= 64 and len(value.split()) == 1 and any(c.isalnum() for c in value)


FITS: dict[str, Callable[[str], bool]] = {
    "ADDRESS": _address,
    "BANK_ACCOUNT": _account,
    "CARD": _card,
    "COOKIE": lambda value: "=" in value or (len(value) >= 12 and len(value.split()) == 1),
    "CRYPTO": lambda value: len(value) >= 20 and len(value.split()) == 1,
    "DATE_OF_BIRTH": _birth,
    "DRIVER_LICENSE": _code(3),
    "EMAIL": _email,
    "EXPIRY": _expiry,
    "HANDLE": lambda value: _single(value) and "://" not in value,
    "IBAN": lambda value: re.match(r"[A-Za-z]{2}\s?[\dOIlSB]{2}", value) is not None and _code(8)(value),
    "IP_ADDRESS": lambda value: (
        re.fullmatch(r"[0-9A-Fa-f:.%/]{3,50}", value) is not None and len(digits_of(value)) >= 2
    ),
    "KEY": lambda value: len(value.split()) == 1 and believable(value, "KEY"),
    "LOCATION": lambda value: re.search(r"\d{1,3}[.,]\d{3,}", value) is not None and len(value) <= 80,
    "MAC_ADDRESS": lambda value: re.fullmatch(r"[0-9A-Fa-f:.-]{12,23}", value) is not None,
    "MEDICAL_ID": _code(3),
    "NATIONAL_ID": lambda value: _code(5)(value) or (_code(3)(value) and value.isalnum() and len(value) >= 8),
    "PASSPORT": _code(3),
    "PASSWORD": lambda value: (
        3 <= len(value) <= 128 and len(value.split()) <= 6 and not (_is_day(value) or _MEASURE.fullmatch(value))
    ),
    "PERSON": _person,
    "PHONE": _phone,
    "SECRET": _secret,
    "TAX_ID": _code(6),
    "TOKEN": lambda value: len(value.split()) == 1 and believable(value, "TOKEN") and not is_amount(value),
    "USERNAME": lambda value: _single(value) and "://" not in value and not _is_day(value),
    "VEHICLE": lambda value: _code(1)(value) and len(value) <= 24 and any(c.isalpha() for c in value),
}
REPORTED = {"EXPIRY": "CARD", "PERSON?": "PERSON"}  # how a promise is called once it is kept


def is_no_value(value: str) -> bool:
    """Whether it is empty, a word of the page's own, or already masked ("•••• 4242")."""
    return bool(
        _NO_VALUE.fullmatch(value)
        or _MASKED.fullmatch(value)
        or _ENDING.fullmatch(value)
        or re.search(r"[•●*]{3,}\s?\d{2,4}\b", value)
    )


def fits(kind: str, value: str) -> bool:
    """Whether `value` can be a `kind`."""
    return not is_no_value(value) and FITS[kind](value)


def starts_upper(value: str) -> bool:
    """Whether its first letter is a capital."""
    return re.match(rf"[^\w]*[{UPPER}]", value) is not None
