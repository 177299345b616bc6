"""May a tab be sent to this URL? Judges the spelling; names are judged again where they are resolved."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from capsdk.errors import InvalidArgumentError

BLANK = "about:blank"
DEFAULT_PORTS = {"http": 80, "https": 443}
SCHEME = re.compile(r"(https?)://+", re.IGNORECASE)  # browsers skip any further slashes
FORBIDDEN = re.compile("[\x00-\x20\x7f\ud800-\udfff]")
NOT_IN_A_HOST = re.compile(r"[\x00-\x20\x7f\s/?#@:%*\\<>\[\]^|\ufffd]")  # `*` Chromium reads as another host: %2A
NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
UNICAST = ipaddress.IPv6Network("2000::/3")  # all that is handed out of IPv6; ::/8 and the rest hold odd IPv4 forms
ISATAP = frozenset((0x00005EFE, 0x02005EFE))  # RFC 5214, 6.1: the upper half of an interface id that holds IPv4
INNER = (  # not covered by `is_global` of every Python version
    ipaddress.IPv4Network("100.64.0.0/10"),  # carrier NAT, RFC 6598
    ipaddress.IPv4Network("168.63.129.16/32"),  # the metadata service of a large cloud, at a public-looking address
    ipaddress.IPv4Network("192.0.0.0/24"),  # protocol assignments, RFC 6890; a cloud's metadata service lives here
    ipaddress.IPv4Network("192.88.99.0/24"),  # 6to4 relays, RFC 7526
)
INNER_6 = (  # in UNICAST, and not covered by `is_global` of every Python version
    ipaddress.IPv6Network("2001::/23"),  # protocol assignments, RFC 2928: Teredo, ORCHID, benchmarking
    ipaddress.IPv6Network("3fff::/20"),  # documentation, RFC 9637
)
INNER_NAMES = ("home.arpa", "internal", "local", "localdomain")  # RFC 8375, 6762; resolved by inner networks only

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class UrlDecision:
    """`allowed`, or a `reason` and the `code` to refuse with; `place` is HOST:PORT, `origin` as browsers spell it."""

    allowed: bool
    reason: str
    code: str = "BROWSER_POLICY_DENIED"
    place: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class UrlRules:
    """What the owner opened (`open_places`, HOST:PORT) and what the manifest narrows (`origins`, empty: all)."""

    open_places: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()


def parse_place(text: str) -> str:
    """`HOST:PORT` in one spelling, for `--allow-loopback`. Raises InvalidArgumentError BAD_ARGUMENTS."""
    host, colon, port = text.rpartition(":")
    name = normal_host(host) if colon else None
    if not name or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        raise InvalidArgumentError("BAD_ARGUMENTS", f"{text[:80]!r} is not HOST:PORT, such as 127.0.0.1:8731")
    return f"{name}:{int(port)}"


def judge_url(url: str, rules: UrlRules) -> UrlDecision:
    """The rule for every URL that enters from a caller: http(s) or about:blank, no credentials, no inner address."""
    if url == BLANK:
        return UrlDecision(True, "blank", origin="null")
    if FORBIDDEN.search(url):
        return _no("the URL holds a space, a control character or half a surrogate; percent-encode it")
    text = url.replace("\\", "/")
    match = SCHEME.match(text)
    if match is None:
        return _no("only http and https URLs, and about:blank, may be opened")
    scheme = match[1].lower()
    authority = re.split(r"[/?#]", text[match.end() :], maxsplit=1)[0]
    if "@" in authority:
        return _no("the URL carries credentials; take the part before @ out")
    host, port = _split_port(authority, DEFAULT_PORTS[scheme])
    name = normal_host(host)
    if not name or port is None:
        return _no("the URL has no host that can be read")
    place = f"{name}:{port}"
    origin = f"{scheme}://{name}" if port == DEFAULT_PORTS[scheme] else f"{scheme}://{place}"
    if place not in rules.open_places:
        inner = inner_reason(name)
        if inner:
            return UrlDecision(False, f"{place} {inner}", place=place, origin=origin)
        if rules.origins and not any(origin_matches(origin, pattern) for pattern in rules.origins):
            reason = f"the app's manifest does not name {origin}; add it to `origins`"
            return UrlDecision(False, reason, code="ORIGIN_NOT_ALLOWED", place=place, origin=origin)
    return UrlDecision(True, "public", place=place, origin=origin)


def _no(reason: str) -> UrlDecision:
    return UrlDecision(False, reason)


def _split_port(authority: str, default: int) -> tuple[str, int | None]:
    if authority.startswith("["):
        host, bracket, rest = authority.partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return "", None
        host, port = host + "]", rest[1:]
    else:
        host, _, port = authority.partition(":")
    if not port:
        return host, default
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536 and len(port) < 7):
        return host, None
    return host, int(port)


def normal_host(host: str) -> str | None:
    """One spelling of a host as Chromium will read it; None when it is none. IPv6 comes in brackets.

    WHATWG URL, section 3.5: percent-decoding, compatibility mapping, and numbers as IPv4 in any base.
    """
    if host.startswith("[") and host.endswith("]") and "%" not in host:  # URLs know no zone ids
        return _ipv6(host[1:-1])
    name = unicodedata.normalize("NFKC", unquote(host)).lower().replace("。", ".").removesuffix(".")
    name = name.replace("\u00ad", "").replace("\u200b", "")  # ignored by IDNA mapping
    if NOT_IN_A_HOST.search(name) or len(name) > 253 or "" in name.split("."):
        return None
    plain = "".join(filter(str.isascii, name))
    if plain != name and (NUMBER.fullmatch(plain.rpartition(".")[2]) or inner_name_reason(plain)) and plain.strip("."):
        return None  # browsers ignore some characters: what may be an inner host without them is no host at all
    last = name.rpartition(".")[2]
    if not NUMBER.fullmatch(last):
        return name
    address = _ipv4(name)
    return None if address is None else str(address)


def _ipv6(text: str) -> str | None:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped
    if mapped is None:
        return f"[{address}]"
    # Python 3.13 and later would end it in dotted decimal; browsers never do (WHATWG URL, section 3.5).
    return f"[::ffff:{int(mapped) >> 16:x}:{int(mapped) & 0xFFFF:x}]"


def _ipv4(name: str) -> ipaddress.IPv4Address | None:
    parts = name.split(".")
    if len(parts) > 4 or not all(NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return None
    last = numbers.pop()
    if any(number > 255 for number in numbers) or last >= 256 ** (4 - len(numbers)):
        return None
    value = last
    for index, number in enumerate(numbers):
        value += number << (8 * (3 - index))
    return ipaddress.IPv4Address(value)


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part[0] == "0" else int(part)


def inner_reason(name: str) -> str:
    """Why a normalised host is not a public one; empty for a public one."""
    address = literal_address(name)
    if address is not None:
        return address_reason(address)
    return inner_name_reason(name)


def inner_name_reason(name: str) -> str:
    """Why a name that is no address is not a public one; empty for a public one."""
    if name == "localhost" or name.endswith(".localhost"):
        return "is this machine; the owner opens it with --allow-loopback HOST:PORT"
    if "." not in name:
        return "is a single label, which only an inner network knows"
    if name.endswith(tuple(f".{inner}" for inner in INNER_NAMES)):
        return "is a name of inner networks"
    return ""


def literal_address(name: str) -> Address | None:
    """The address that a normalised host is; None for a name."""
    try:
        return ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return None


def stands_for(address: Address) -> Address:
    """The IPv4 address that an IPv6 one is only another spelling of (mapped, 6to4, NAT64), else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_this_machine(address: Address) -> bool:
    """Loopback or unspecified, in any spelling; an address that this machine was given on a network is not meant."""
    if isinstance(address, ipaddress.IPv6Address):
        low = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if int(address) >> 32 in (0, 0xFFFF0000, 0x64FF9B0001 << 48) and int(low) > 1:
            address = low  # compatible, translated and locally translated IPv4: RFC 4291, 2765 and 8215
        elif (int(address) >> 32) & 0xFFFFFFFF in ISATAP:
            address = low
        else:
            address = stands_for(address)
    return address.is_loopback or address.is_unspecified


def address_reason(address: Address) -> str:
    """Why an address is not a public one; empty for a public one. Addresses inside addresses are judged too."""
    if is_this_machine(address):
        return "is this machine; the owner opens it with --allow-loopback HOST:PORT"
    address = stands_for(address)
    if isinstance(address, ipaddress.IPv4Address):
        inside = any(address in network for network in INNER)
    else:
        inside = address not in UNICAST or any(address in network for network in INNER_6) or _inner_isatap(address)
    if inside or not address.is_global or address.is_multicast:
        return "is a private, link-local or reserved address"
    return ""


def _inner_isatap(address: ipaddress.IPv6Address) -> bool:
    """Does the interface id hold an IPv4 address that is not a public one?"""
    inside = (int(address) >> 32) & 0xFFFFFFFF in ISATAP
    return inside and bool(address_reason(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))


def origin_matches(origin: str, pattern: str) -> bool:
    """Does `https://*.example.com` or an exact origin of a manifest cover this origin? `*.` covers subdomains only."""
    scheme, _, rest = pattern.partition("://")
    if not rest.startswith("*."):
        return origin == pattern.lower()
    return origin.startswith(scheme.lower() + "://") and origin.endswith(rest[1:].lower())


def places(texts: Iterable[str]) -> frozenset[str]:
    """The set of opened places from flags. Raises InvalidArgumentError BAD_ARGUMENTS."""
    return frozenset(parse_place(text) for text in texts)


def origin_of(url: str) -> str:
    """The origin of a URL that Chromium reported, for the ledger: scheme and authority, "null" where there is none."""
    scheme, colon, rest = url.partition("://")
    if not colon or scheme.lower() not in DEFAULT_PORTS:
        return "null"
    return f"{scheme.lower()}://{re.split(r'[/?#]', rest, maxsplit=1)[0].rpartition('@')[2][:253]}"
