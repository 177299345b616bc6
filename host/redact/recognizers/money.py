"""Cards, IBANs, bank accounts, wallets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.checks import digits_of, ean, isbn, luhn, mod97
from host.core.pii.context import named_otherwise
from host.redact.quick import finds
from host.redact.recognizers.base import Hit, Page, Rules

_CARD = re.compile(r"(?<![\w.#])(?<!\d[-/])\d(?:[ \t.·•-]{0,3}\d){11,18}(?![\w]|[.,-]\d)")
_FOURS = re.compile(
    r"(?<![\w-])(?<!\d[ .-])(?:\d{4}([ .-]{1,3})\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ .-]{1,3})\d{6}\2\d{5})(?![\w-]|[ .]\d)"
)
_WRAPPED = re.compile(  # broken at the end of a line, between groups
    r"(?<![\w-])\d{4}(?:[ ]\d{4}){0,2}\n\d{4}(?:[ ]\d{4}){0,2}(?![\w-]|[ ]\d)"
)
_CARD_WORD = re.compile(
    r"(?i)card|karte|tarjeta|carte|carta\b|kaart|cart[aã]o|kort|kart[ay]?\b|visa|master|amex|american express|maestro"
    r"|\bcc\b|credit|debit|kredit|pan\b|discover|diners|\bjcb\b|union ?pay|rupay|\bmir\b|\belo\b|troy|dankort"
    r"|bancontact|girocard|interac|карт|卡号|银行卡|カード|카드"
)
_ISSUERS = re.compile(  # first digits and lengths that are in use (ISO/IEC 7812 registry as the networks publish it)
    r"3[47]\d{13}|(?:2131|1800)\d{11}|3(?:0[0-59]|[689]\d)\d{11}|35\d{14}|4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d"
    r"|2[2-7]\d\d)\d{12}"
    r"|6\d{15,18}|5[06-8]\d{10,17}|9792\d{12}|220\d{13}"
)
_EXPIRY = re.compile(
    r"(?i)\b(?:exp(?:iry|ires|iration)?(?: date)?|valid (?:thru|until|through)|good thru|gültig bis|gueltig bis"
    r"|verfall\w*|cad(?:uca|ucidad)?|vence|vencimiento|válida hasta|expire(?: le| fin)?|expiration|scad(?:enza)?"
    r"|valable jusqu\w*|geldig tot|validade|ważna do|giltig till?)\.?:?\s{0,3}"
    r"((?:0?[1-9]|1[0-2])\s?[/-]\s?(?:20)?\d\d)(?![\d/-])"
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ \t.-]{0,2}[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_IBAN_LENGTHS = {  # SWIFT's IBAN registry
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24,
    "SM": 27, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "XK": 20,
}  # fmt: skip
_ACCOUNT = re.compile(
    r"(?i)\b(?:(?:bank |checking |savings |current )?(?:account|acct|a/c)(?: ?(?:no|nr|number|num))?"
    r"|routing(?: ?(?:no|number))?|aba|sort(?: ?code|(?= \d\d-\d\d-\d\d))|bsb|konto(?:nummer|[- ]?nr)?"
    r"|kto\.?(?:[- ]?nr)?|blz|bankleitzahl"
    r"|cuenta(?: n[úu]m\w*| bancaria| corriente)?|ccc|clabe|compte(?: n\w*)?|rib|conto(?: corrente)?|c/c"
    r"|rekening(?:nummer)?|conta(?: corrente)?|ag[êe]ncia|numer (?:konta|rachunku)|ifsc|bic|swift|transit"
    r"|(?:bank|plus|post)[ -]?giro(?:nummer)?|kontonr|tilinumero|nib|cbu|cvu|číslo účtu|számlaszám"
    r"|acc)\b\.?(?:\s?(?:no|nr"
    r"|n[º°o]|#|is|ist|es|est))?\.?[ \t:#]{1,4}"
    r"((?-i:(?=[A-Z0-9 .\-/]{0,30}\d)[A-Z0-9](?:[ .\-/]?[A-Z0-9]){4,27}|[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?))(?![\w-])"
)
_SORT_CODE_PAIR = re.compile(r"(?<![\d-])\d\d-\d\d-\d\d\s{1,3}\d{8}(?!\d)")
_WALLET = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:bc|tb|ltc|dgb|vtc|addr|stake|cosmos|osmo|terra|bnb|inj|sei|celestia|kava|juno|thor)"
    r"1[ac-hj-np-z02-9]{25,100}|bc1[a-z0-9]{20,70}|bitcoincash:[qp][a-z0-9]{41}|G[A-Z2-7]{55}"
    r"|tz[1-4][1-9A-HJ-NP-Za-km-z]{33}"
    r"|1[1-9A-HJ-NP-Za-km-z]{46,47}|8[0-9AB][1-9A-HJ-NP-Za-km-z]{93}|t1[1-9A-HJ-NP-Za-km-z]{33}"
    r"|[13][1-9A-HJ-NP-Za-km-z]{25,34}|0x[0-9a-fA-F]{40}"
    r"|[LM][1-9A-HJ-NP-Za-km-z]{32,33}|r[1-9A-HJ-NP-Za-km-z]{28,34}"
    r"|4[0-9AB][1-9A-HJ-NP-Za-km-z]{93}|addr1[a-z0-9]{50,100}|T[1-9A-HJ-NP-Za-km-z]{33}"
    r"|D[5-9A-HJ-NP-U][1-9A-HJ-NP-Za-km-z]{32})(?![A-Za-z0-9])"
)


class Cards(Rules):
    """Card numbers by Luhn and issuer, groups of four, expiry dates behind their words."""

    types = ("CARD",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Whole numbers only: "ending in 4242" may be read."""
        for match in finds(_CARD, text):
            if self._is_card(match[0], text, match.start(), page):
                yield Hit(*match.span(), "CARD", 1.0, "card")
        for match in finds(_FOURS, text):
            if not named_otherwise(text, match.start()) and not page.ruled_out:
                yield Hit(*match.span(), "CARD", 0.7, "card by groups")
        for match in finds(_WRAPPED, text) if "\n" in text else ():
            if len(digits_of(match[0])) == 16 and self._is_card(match[0].replace("\n", " "), text, match.start(), page):
                yield Hit(*match.span(), "CARD", 0.9, "card over two lines")
        for match in finds(_EXPIRY, text):
            yield Hit(*match.span(1), "CARD", 0.7, "card expiry")

    def _is_card(self, number: str, text: str, start: int, page: Page) -> bool:
        digits = digits_of(number)
        gaps = set(re.findall(r"\D+", number))
        if len(set(digits)) == 1 or len(gaps) > 2 or (any("." in gap for gap in gaps) and len(gaps) > 1):
            return False  # numbers in a row, such as the points of a drawing
        if len(digits) == 13 and isbn(digits):
            return False
        if "CARD" in page.promised or _CARD_WORD.search(text[max(0, start - 48) : start]):
            return len(digits) >= 13 and (luhn(digits) or _ISSUERS.fullmatch(digits) is not None)
        if isbn(digits) or (len(digits) in (13, 14) and ean(digits)):
            return False  # without a word for a card it is an article
        if named_otherwise(text, start) or page.ruled_out:
            return False
        return luhn(digits) and _ISSUERS.fullmatch(digits) is not None


class Accounts(Rules):
    """IBANs by check digits and length, account numbers behind their words."""

    types = ("IBAN", "BANK_ACCOUNT")

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """An IBAN with a slip in it counts when its country and length are right."""
        for match in finds(_IBAN, text):
            end = _iban_end(match[0])
            if end:
                yield Hit(match.start(), match.start() + end, "IBAN", 1.0, "iban")
        for match in finds(_ACCOUNT, text):
            if any(character.isdigit() for character in match[1]) or re.search(r"(?i)bic|swift", match[0]):
                yield Hit(*match.span(1), "BANK_ACCOUNT", 0.8, "account behind label")
        for match in finds(_SORT_CODE_PAIR, text):
            yield Hit(*match.span(), "BANK_ACCOUNT", 0.8, "sort code and account")


def _iban_end(text: str) -> int:
    """How many characters of `text` are the IBAN; 0 if it is none."""
    length = _IBAN_LENGTHS.get(text[:2].upper(), 0)
    count = 0
    for place, character in enumerate(text):
        count += character.isalnum()
        if length and count == length:
            body = text[: place + 1]
            rest = text[place + 1 : place + 2]
            slips = text[:2].isupper() and not rest.isalnum() and sum(c.isalpha() for c in body) <= 7
            if mod97(body) or (slips and sum(c.isdigit() for c in body) >= 10):
                return place + 1
            break
    return len(text) if length and text.isalnum() and text.isupper() and mod97(text) else 0


class Wallets(Rules):
    """Addresses of crypto wallets."""

    types = ("CRYPTO",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """By prefix, alphabet and length; a mix of letters and digits is asked for."""
        for match in finds(_WALLET, text):
            if len(digits_of(match[0])) >= 2 and any(c.isalpha() for c in match[0][1:]):
                yield Hit(*match.span(), "CRYPTO", 0.8, "wallet")
