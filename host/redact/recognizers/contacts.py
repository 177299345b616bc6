"""E-mail addresses, phone numbers, handles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import phonenumbers

from host.core.pii.checks import digits_of
from host.core.pii.context import is_amount, is_article, is_date, is_measure, named_otherwise
from host.redact.names import words_of
from host.redact.quick import Near, finds, searched
from host.redact.recognizers.base import Hit, Page, Rules

_AT = r"(?:@|%40|&#0?64;|&#x40;|&commat;|\\u0040)"
_EMAIL = re.compile(rf"(?<![\w.+%-])[\w.+%'~-]{{1,64}}{_AT}(?:[\w-]{{1,63}}\.){{1,8}}[\w-]{{2,24}}(?!\w)")
_EMAIL_BARE = re.compile(rf"(?<![\w.+-])[\w.+-]{{1,64}}{_AT}(?=[\w-]*[a-zA-Z])[\w-]{{2,63}}(?![\w.-]*\w)")
_WORD_AT = (
    r"(?:[(\[{<]\s?(?:at|@|ät|arroba|arobase|chiocciola|apenstaartje|klammeraffe|chez)\s?[)\]}>]|\s(?:at|ät|arroba)\s)"
)
_WORD_DOT = (
    r"(?:\s?[(\[{<]\s?(?:dot|punkt|punto|point|ponto|\.)\s?[)\]}>]\s?|\s(?:dot|punkt|punto|point|ponto)\s|\s?\.\s?)"
)
_EMAIL_SPELT = re.compile(
    rf"(?i)(?<![\w.])[\w.+-]{{2,64}}(?:{_WORD_DOT}[\w-]{{2,30}}){{0,3}}\s?{_WORD_AT}\s?[\w-]{{2,63}}(?:{_WORD_DOT}[\w-]{{2,24}}){{1,4}}(?!\w)"
)
_EMAIL_APART = re.compile(  # "ann.lee @ example.com": a place in lower case with an ending, no sentence
    r"(?<![\w.+-])[\w.+-]{2,64} {0,2}@ {0,2}(?:[a-z0-9-]{2,63}\.){1,4}[a-z]{2,12}(?![\w-]|\.\w)"
)
_NEAR_AT = Near(re.compile(r"[@%&\\]"), 68)
_NEAR_WORD_AT = Near(re.compile(rf"(?i){_WORD_AT}"), 240)
_EMAIL_SPACED = re.compile(r"(?<!\S)(?:[\w.+-] ){2,40}@(?: [\w.-]){4,60}(?!\S)")
_EMAIL_LOOSE = re.compile(  # spaces around the sign, or a sign misread: only out of pixels and in fields
    r"[\w.+%'-]{2,64}\s?[@©®]\s?[\w-]{2,63}(?:\s?[.,]\s?[\w-]{2,24})+|[\w.+-]{2,64}(?:@|\(@\)|©|®"
    r"|Q)[\w-]{2,63}\.(?:com|org|net|de|es|fr|it|eu|io|test|example|co\.uk)\b"
)
_HANDLE = re.compile(r"(?<![\w/@.&=])@[A-Za-z_](?:[\w.-]{1,38}\w)(?:@[\w-]+(?:\.[\w-]+)+)?(?![\w/(@])")
_AT_RULES = words_of("at_rules.txt")

_PHONE = re.compile(
    r"(?<![\w$€£#@&=+])(?<!\d[.,:/-])(?:\+\s?|00)?\(?\+?\d(?:[ \t().·•/-]{0,3}\d){5,17}(?:,?\s?(?:x|ext\.?|extension"
    r"|durchwahl|dw|poste|int\.?|anexo)\s?\.?:?\s?\d{1,6})?"
    r"(?![\w@])(?!\.\d|,\d{1,2}\b|:\d)"
)
_PHONE_WORD = re.compile(
    r"(?i)(?:\b(?:ph|tph|mob|hp|tf|hotline|recapito|rappel\w*|notruf\w*|tele?(?:ph?one?|fon\w*|foon|fono|fax"
    r"|móvel|movel)?|phone|mob(?:ile|il\w*|iel)?|cell(?:ulare?)?|fax"
    r"|handy|rufnummer|ruf|móvil|movil|celular|portable|gsm|sms|whatsapp|signal|call(?:ed|ing)?(?: (?:me|us|back|him"
    r"|her))?"
    r"|ring(?: me)?|text(?: me)?|dial|anruf\w*|rufen sie(?: uns)?|erreichbar|reach (?:me|him|her|them|us)|llam\w+"
    r"|appel\w+|joindre|chiam\w+|bellen?|ligue|ligar|zadzwoń|ring|hotline|contact|kontakt|durchwahl|tfno?|tlf)\b"
    r"|[☎☏✆📞📱🕾]|τηλ\w*|κινητό|тел(?:ефон)?|моб\w*|звоните|电话|手机|電話|携帯|전화|휴대폰|هاتف|फ़ोन|puhelin|mobiln\w*"
    r"|komórk\w*|soita|volej\w*|hívj\w*|telefonszám)"
    r"[^\d\n+]{0,24}$|(?:wa\.me|api\.whatsapp\.com/send)[/?](?:phone=)?\+?$|\b(?:tel|sms|callto|skype|facetime"
    r"|whatsapp):/{0,2}$"
)
REGIONS = (
    "US",
    "GB",
    "DE",
    "ES",
    "FR",
    "IT",
    "NL",
    "PT",
    "SE",
    "PL",
    "IN",
    "AU",
    "CH",
    "AT",
    "BE",
    "DK",
    "NO",
    "TR",
    "BR",
    "MX",
    "CN",
    "JP",
)
_GROUPED = re.compile(  # shapes that people write phone numbers in and hardly anything else
    r"(?:1[ .-])?\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}|(?:1-)?\d{3}([.-])\d{3}\1\d{4}"  # North America
    r"|\(0?\d{1,5}\)[ /-]{0,2}\d{2,9}(?:[ -]\d{2,5}){0,3}|\(0\d{1,4}\)\.\d{2,5}\.\d{2,5}"  # area code in brackets
    r"|0\d{1,5}(?:[ ]?[/-][ ]?|[ ])\d{2,8}(?:[ -]\d{1,5}){0,5}|0\d{2,4}\.\d{2,4}(?:\.\d{2,4}){1,3}"  # trunk zero
    r"|0\d(?:[ .-]\d\d){4}"  # France
    r"|[6-9]\d{2}[ .-]\d{3}[ .-]\d{3}|[6-9]\d{2}(?:[ .-]\d\d){3}"  # Spain, Portugal, Poland
    r"|[5-8]\d{2}[ -]\d{3}[ -]\d{3}|3\d{2}[ ./-]\d{6,7}|[6-9]\d{4}[ -]\d{5}|1[3-9]\d[ -]\d{4}[ -]\d{4}"  # and more
    r"|\d\d \d\d \d\d \d\d"  # Denmark, Norway
    r"|(?:0\d{1,3}|\d{2})[ -]9?\d{4}-\d{4}"  # Japan, Brazil
    r"|001[ .-]?\(?\d{3}\)?[ .-]?\d{3}[ .-]?\d{4}"
)


_OF_A_NUMBER = re.compile(
    r"(?i)(?:\b(?:no|nr|num|number|nummer|numero|número|id|code|codice|código|kod)|#|n[º°])\.?\W{0,2}(?:$|;)"
    r"|^(?:n[º°]|codice|code|código|nr|numer)(?!\w)"
)


@lru_cache(maxsize=4096)
def is_valid_somewhere(number: str) -> bool:
    """Whether the numbering plan of one of the regions we know has it (phonenumbers' metadata)."""
    for region in REGIONS:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(number, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False


_ANYBODY = frozenset(("email", "git", "me", "name", "root", "someone", "user", "username", "you", "your"))


class Emails(Rules):
    """E-mail addresses, also spelt out, spaced out or percent-encoded."""

    types = ("EMAIL",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Addresses by shape; what only might be one needs a field or pixels."""
        if "@" in text or "%40" in text or "&" in text or "\\u0040" in text:
            for match in finds(_EMAIL, text, _NEAR_AT):
                if _MESSAGE.search(text, max(0, match.start() - 20), match.start()):
                    continue
                yield Hit(match.start() + _leading(match[0]), match.end(), "EMAIL", 1.0, "email")
            for match in finds(_EMAIL_BARE, text, _NEAR_AT):
                if match[0].split("@")[0].lower() in _ANYBODY:
                    continue
                yield Hit(*match.span(), "EMAIL", 0.6, "email without domain")
            for match in finds(_EMAIL_APART, text, _NEAR_AT):
                if " " in match[0]:
                    yield Hit(*match.span(), "EMAIL", 0.7, "email with spaces")
            for match in finds(_EMAIL_SPACED, text):
                yield Hit(*match.span(), "EMAIL", 0.9, "email spaced out")
        for match in finds(_EMAIL_SPELT, text, _NEAR_WORD_AT) if len(text) < 100_000 else ():
            if re.search(r"(?i)[(\[{<]|dot|punkt|punto|point|ponto", match[0]):
                yield Hit(*match.span(), "EMAIL", 0.9, "email spelt out")
        if page.kind != "text":
            for match in finds(_EMAIL_LOOSE, text):
                yield Hit(*match.span(), "EMAIL", 0.6, "email misread")


_MESSAGE = re.compile(r"(?i)\b(?:message-id|in-reply-to|references|content-id|cid)[ \"':=<]{1,5}$")


def _leading(address: str) -> int:
    """How many characters before the address belong to the sentence: quotes, "mailto=", brackets."""
    return len(address) - len(address.lstrip("'=/?|{}*^~.-"))


_ONE_MORE = re.compile(
    r"[+(]?\d[\d ().-]{5,20}\d ?(?:/|,|;|or|oder|o|ou|and|und|y|et|&) ?$"
)  # another number stands between
_PARTED = re.compile(r"[ ]?/[ ]?(?=\(?[+0]\d)|[ ]{2,}(?=\(?[+0]\d)|\t(?=\(?[+0]\d)|[ ][·•][ ]")


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    """Runs of digits as phones are written; two in a row with a slash or a gap between are two."""
    at = 0
    search = searched(_PHONE, text)
    while match := search(at):
        start, end = match.span()
        at = end
        for gap in _PARTED.finditer(match[0]):
            if len(digits_of(match[0][: gap.start()])) >= 7:
                end, at = start + gap.start(), start + gap.end()
                break
        yield start, end


class Phones(Rules):
    """Phone numbers by shape, numbering plan and the words before them."""

    types = ("PHONE",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Numbers that are phones; not orders, dates, prices, articles."""
        for start, end in _numbers(text):
            why = self._why(text, start, end, page)
            if why:
                yield Hit(start, end, "PHONE", 0.9 if why != "phone by plan" else 0.5, why)

    def _why(self, text: str, start: int, end: int, page: Page) -> str:
        number = text[start:end]
        core = re.split(r"(?i),?\s?[a-z]", number, maxsplit=1)[0].strip()
        digits = digits_of(core)
        if not 6 <= len(digits) <= 17 or (len(set(digits)) < 2 and len(digits) > 6):
            return ""
        before = text[max(0, start - 48) : start]
        before = _ONE_MORE.sub("", before)
        international = core.lstrip("(").startswith("+") and len(digits) >= 7
        if international and not is_measure(text, end):
            return "phone with country code"
        if is_date(core) or is_measure(text, end) or is_amount(core):
            return ""
        if _PHONE_WORD.search(before) or "PHONE" in page.promised:
            return "phone behind label"
        if len(digits) < 8 or page.ruled_out or named_otherwise(text, start):
            return ""
        if _GROUPED.fullmatch(core):
            return "phone by shape"
        if page.hint and not page.promised and core.isdigit() and _OF_A_NUMBER.search(page.hint):
            return ""  # a number of some other kind
        if is_article(core):
            return ""
        if core.startswith("00") and 10 <= len(digits) <= 15 and is_valid_somewhere("+" + digits[2:]):
            return "phone with country code"
        groups = re.findall(r"\d+", core)
        grouped = len(groups) > 2 and len(set(map(len, groups))) > 1 and not re.search(r"[./]", core)
        if 9 <= len(digits) <= 12 and (len(groups) == 1 or (grouped and min(map(len, groups)) > 1)):
            return "phone by plan" if is_valid_somewhere(core) else ""
        return ""


class Handles(Rules):
    """@handles of people in networks."""

    types = ("HANDLE",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Handles; not CSS at-rules, decorators or package scopes."""
        if "@" not in text:
            return
        for match in finds(_HANDLE, text):
            name = match[0][1:].rstrip(".-").lower()
            if name not in _AT_RULES and not re.fullmatch(r"\d*x|v?\d[\d.]*", name):
                yield Hit(match.start(), match.end(), "HANDLE", 0.6, "handle")
