"""What stands before a number and says whose it is; dates, prices and article numbers that look like private ones."""

from __future__ import annotations

import re

from host.core.pii.checks import digits_of, ean, isbn

_OTHER = re.compile(
    r"(?i)(?:\b(?:order|bestell\w*|auftrag\w*|pedido|commande|ordine|bestelling|invoice|inv|rechnung\w*|re|factura"
    r"|facture|fattura|factuur|rg|best|auftr|vorg|lief|pn|mpn|fall|akte"
    r"|ticket|case|issue|tracking|track|sendung\w*|shipment|parcel|paket\w*|seguimiento|suivi|ref(?:erence|erenz"
    r"|erencia)?|referentie|sku|isbn(?:-1[03])?|issn|ean|upc|gtin|asin|art(?:icle|ikel\w*)?"
    r"|prod(?:uct|ukt)\w*|item|model|modell|modelo|mod|serial|serie\w*|imei|sn|s/n|p/n|part|version|ver|build|rev"
    r"|release|firmware|kernel|batch|lot|charge|transaction|txn|trx|transaktion\w*|confirmation|booking|buchung\w*"
    r"|reservation|reserva|vorgang\w*|aktenzeichen|vertrag\w*|contract|contrato|po|quote|angebot\w*|receipt|beleg\w*"
    r"|bon|kasse|recibo|doi|pmid|arxiv|rfc|port|pid|size|id|seq|row|line|zeile|page|seite|seed|hash|epoch|timestamp"
    r"|unix|bytes?|delivery|lieferschein\w*|ups|usps|dhl|fedex|dpd|gls|hermes|colissimo|postnl|totals?|sub ?total"
    r"|sums?|summe|gesamt\w*|amount|betrag|balance|saldo|count|anzahl|elapsed|duration|dauer|offset|revenue|umsatz)"
    r"(?:[ ._-]{0,2}(?:no|nr|number|num|nummer|numero|número|id|code|count|#))?\.?|#|№|nº"
    r"|n°)[\s:#.=\"'(]{0,4}(?:[A-Z]{1,4}[- ]?)?$"
)
_PARCEL = re.compile(r"\b1Z ?(?:[0-9A-Z]{2,4} ?){1,5}$")  # a parcel number of UPS that goes on
_UNIT_AFTER = re.compile(
    r"(?i)\s?(?:[€$£¥₹%°](?!\s?\d)|(?:eur|usd|gbp|chf|sek|nok|dkk|pln|inr|jpy|kr|zł|px|em|rem|pt|mm|cm|m|km|kg"
    r"|g|mg|ml|l|kb|mb"
    r"|gb|tb|kib|mib|gib|kwh|wh|w|v|mah|hz|khz|mhz|ghz|ms|s|min|h|bytes?|views?|likes?|followers?|aufrufe"
    r"|points?|punkte|items?|pcs|stk|stück|users?|downloads?|results?|treffer|resultados|résultats|einwohner|people"
    r"|times|reviews?|rows?|tokens?|ns|µs|us|sec(?:onds)?|million(?:en)?|bn|mrd|requests?|lines|hits|visits)\b)"
)
_MONEY_BEFORE = re.compile(r"(?:[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|SEK|PLN|INR|Rs))\.?\s?-?$")
_DATE = re.compile(
    r"(?:19|20)\d\d([-./ ])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])(?!\d)(?:[T ,]{0,2}\d{1,2}(?:[:.]\d\d){0,2})?"
    r"|(?:0?[1-9]|[12]\d|3[01])([-./ ])(?:0?[1-9]|1[0-2])\2(?:19|20)?\d\d(?!\d)(?:[T ,]{0,2}\d{1,2}(?:[:.]\d\d){0,2})?"
    r"|(?:0?[1-9]|1[0-2])([-./ ])(?:0?[1-9]|[12]\d|3[01])\3(?:19|20)?\d\d(?!\d)"
    r"|(?:19|20)\d\d\s?[-/]\s?(?:19|20)?\d\d|(?:19|20)\d{6}(?:\d{6})?"
)
_AMOUNT = re.compile(r"\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?|\d{1,3}(?: \d{3})+[.,]\d{1,2}|\d+[.,]\d{1,2}")


def named_otherwise(text: str, start: int) -> bool:
    """Whether the words right before `start` name an order, a version, an article: a number of no person."""
    before = text[max(0, start - 40) : start].rsplit("\n", 1)[-1]
    parcel = _PARCEL.search(before) is not None
    return parcel or _OTHER.search(before) is not None or _MONEY_BEFORE.search(before) is not None


def is_measure(text: str, end: int) -> bool:
    """Whether what follows `end` makes the number before it an amount."""
    return _UNIT_AFTER.match(text, end) is not None


def is_date(number: str) -> bool:
    """Whether the whole of it reads as a date, with a time or without, or as a span of years."""
    return _DATE.fullmatch(number.strip()) is not None


def is_amount(number: str) -> bool:
    """Whether it is written as a sum with thousands or cents."""
    return _AMOUNT.fullmatch(number.strip()) is not None


def is_article(number: str) -> bool:
    """Whether its check digit makes it an ISBN-13 or an EAN-13; ten digits are too often one by chance."""
    digits = digits_of(number)
    return len(digits) == 13 and (isbn(digits) or (ean(digits) and number.isdigit()))
