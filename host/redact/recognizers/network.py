"""Addresses of machines and coordinates of places."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from host.redact.quick import finds
from host.redact.recognizers.base import Hit, Page, Rules

_IP4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?![\w]|\.\d|-\d)")
_IP6 = re.compile(
    r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{0,4}"
    r"|(?:\d{1,3}\.){3}\d{1,3})(?:%\w{1,12})?(?:/\d{1,3})?(?![\w:])"
)
_IP4_ANY = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}[%*](?![\w%*])|(?<=@')(?:\d{1,3}\.){1,3}%")  # any host of a network
_MAC = re.compile(
    r"(?<![0-9A-Fa-f:.-])(?:[0-9A-Fa-f]{2}([:-]))(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:-])"
    r"|(?<![\w.])(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}(?![\w.])"
)
_MAC_BARE = re.compile(
    r"(?i)\b(?:mac(?:[ _-]?addr\w*)?|hw[ _-]?addr\w*|bssid|ether|hardware address"
    r"|lladdr)[\"']?[ :=]{1,3}[\"']?([0-9a-f]{12})\b"
)
_VERSION_WORD = re.compile(
    r"(?i)(?:\b(?:version|versión|firmware|build|release|rev(?:ision)?|ver|chrome|chromium|firefox|safari|edge|webkit"
    r"|model|kernel|driver|treiber|bluetooth|python|node|java|php|nginx|apache|openssl|update|upgrade|v|r|section"
    r"|abschnitt|chapter|kapitel|§|oid|snmp|ios|android|windows|macos|sdk|api|package|paket|assembly)|[a-z]/|[~^@]=?"
    r"|(?<!-)>|==|[<>]=|\bv)[\s:./=v]{0,4}$"
)
_COORDINATES = re.compile(
    r"(?<![\w.])[+-]?(?:[0-8]?\d|90)\.\d{4,9}\s?°?\s?[NSns]?\s?[,;/ ]\s{0,2}[+-]?(?:1[0-7]\d|\d{1,2}"
    r"|180)\.\d{4,9}\s?°?\s?[EWOewo]?(?![\w.]\d|\d)"
)
_DEGREES = re.compile(
    r"(?<!\d)\d{1,2}\s?°\s?\d{1,2}\s?['′]\s?(?:\d{1,2}(?:[.,]\d{1,4})?\s?(?:[\"″]"  # noqa: RUF001
    r"|''))?\s?[NSns]\s?[,;/]?\s{0,2}\d{1,3}\s?°\s?\d{1,2}\s?['′]\s?(?:\d{1,2}(?:[.,]\d{1,4})?\s?(?:[\"″]"  # noqa: RUF001
    r"|''))?\s?[EWOewo]\b"
)
_LAT_LNG = re.compile(
    r"(?i)\b(?:lat(?:itude?)?|lng|lon(?:gitude?)?|breite(?:ngrad)?|länge(?:ngrad)?|latitudine|longitudine|breedtegraad"
    r"|lengtegraad)[\"'\]]{0,2}\s?[:= ]\s?[\"']?([+-]?\d{1,3}[.,]\d{4,}|(?<=[:=] )[+-]?\d{1,3}\.\d{3,}"
    r"|(?<=[:=])[+-]?\d{1,3}\.\d{3,})"
)
_ARC = r"\d{1,3}\s?[°º]\s?\d{1,2}[.,]\d{1,5}\s?['′]"  # noqa: RUF001
_MINUTES = re.compile(  # degrees and decimal minutes, the letter in front or behind
    rf"\b[NS]\s?{_ARC}?[ ,;/]{{1,3}}[EWO]\s?{_ARC}?|(?<![\w.]){_ARC}\s?[NS][ ,;/]{{1,3}}{_ARC}\s?[EWO]"
    r"|\b[NS]\s?\d{1,2}[.,]\d{3,}\s?[°º]?[ ,;/]{1,3}[EWO]\s?\d{1,3}[.,]\d{3,}"
)
_PLUS_CODE = re.compile(r"(?<![\w+])[23456789CFGHJMPQRVWX]{8}\+[23456789CFGHJMPQRVWX]{2,3}(?![\w+])")


class Machines(Rules):
    """IP and MAC addresses; a version with four parts is none."""

    types = ("IP_ADDRESS", "MAC_ADDRESS")

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Loopback and unspecified addresses and masks say nothing of anybody, and may be read."""
        for match in _IP4.finditer(text):
            if self._is_ip4(match[0], text, match.start(), page):
                yield Hit(*match.span(), "IP_ADDRESS", 0.9, "ip")
        if "%" in text or "*" in text:
            for match in _IP4_ANY.finditer(text):
                yield Hit(*match.span(), "IP_ADDRESS", 0.7, "ip of a network")
        if ":" in text:
            for match in _IP6.finditer(text):
                if _is_ip6(match[0]):
                    yield Hit(*match.span(), "IP_ADDRESS", 0.9, "ip")
        for match in finds(_MAC, text):
            if len(set(match[0].lower()) - set(":-.")) < 2:
                continue  # everybody or nobody
            if re.search("[a-fA-F]", match[0]) or ":" in match[0] or "MAC_ADDRESS" in page.promised:
                yield Hit(*match.span(), "MAC_ADDRESS", 0.9, "mac")

        for match in finds(_MAC_BARE, text):
            yield Hit(*match.span(1), "MAC_ADDRESS", 0.9, "mac behind label")

    def _is_ip4(self, text: str, whole: str, start: int, page: Page) -> bool:
        try:
            address = ipaddress.IPv4Interface(text).ip
        except ValueError:
            return False
        if "IP_ADDRESS" in page.promised:
            return True
        if page.ruled_out or _VERSION_WORD.search(whole[max(0, start - 24) : start]):
            return False
        parts = [int(part) for part in text.split("/")[0].split(".")]
        dull = address.is_loopback or address.is_unspecified or text.startswith("255.") or text.endswith(".0.0.0")
        return not dull and parts[0] != 0 and not (max(parts) < 10 and not re.search(r"(?i)\bip|addr|host|from", whole))


def _is_ip6(text: str) -> bool:
    if "::" not in text and text.count(":") != 7 and "." not in text:
        return False
    if len(re.findall(r"[0-9A-Fa-f]{1,4}", text)) < 3:  # "::1", "std::", "a::b"
        return False
    try:
        return not ipaddress.IPv6Interface(text).ip.is_loopback
    except ValueError:
        return False


class Places(Rules):
    """Coordinates."""

    types = ("LOCATION",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Pairs of at least four decimals, degrees with minutes, and values behind lat and lng."""
        for pattern in (_COORDINATES, _DEGREES, _MINUTES, _PLUS_CODE):
            for match in finds(pattern, text):
                yield Hit(*match.span(), "LOCATION", 0.8, "coordinates")
        for match in finds(_LAT_LNG, text):
            yield Hit(*match.span(1), "LOCATION", 0.8, "coordinates")
