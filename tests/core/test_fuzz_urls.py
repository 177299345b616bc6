"""URLs in every spelling: none is a fault, and no address that is an inner one gets through, however it is written."""

# ruff: noqa: RUF001 - digits and dots of other scripts are the point
from __future__ import annotations

import ipaddress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.scope import judge_document
from host.core.urls import UrlRules, judge_url, normal_host, origin_of, parse_place
from tests.support.fuzz import LONG, SHORT, mutated

NOTHING_OPENED = UrlRules()
OPENED = UrlRules(frozenset(("127.0.0.1:8731", "localhost:80")))
NARROW = UrlRules(origins=("https://shop.example", "https://*.cdn.example"))
INNER = (  # RFC 6890 and what came after it; both ends of each are drawn more often
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4"),
    *("240.0.0.0/4", "255.255.255.255/32"),
)
INNER_6 = (
    *("::/128", "::1/128", "100::/64", "2001:db8::/32", "2001::/32", "3fff::/20", "fc00::/7", "fe80::/10"),
    *("fec0::/10", "ff00::/8"),
)
PUBLIC = ("1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "11.0.0.0", "126.255.255.255", "128.0.0.1")
WIDE_DIGITS = dict(zip("0123456789", "０１２３４５６７８９", strict=True))
IGNORED = ("\u00ad", "\u200b", "\u2060", "\ufeff", "\ufe0f")  # what browsers leave out of a host
DOTS = (".", "。", "．", "｡", "%2e", "%2E")


@st.composite
def within(draw: st.DrawFn, network: str) -> int:
    """An address of a network, as its number."""
    inside = ipaddress.ip_network(network)
    first, last = int(inside.network_address), int(inside.broadcast_address)
    return draw(st.sampled_from((first, last)) | st.integers(first, last))


@st.composite
def number(draw: st.DrawFn, value: int) -> str:
    """A number as URLs may write one of an IPv4 address."""
    text = draw(st.sampled_from((f"{value}", f"0{value:o}", f"0x{value:x}", f"0X{value:X}", f"0x{value:012x}")))
    match draw(st.sampled_from(("", "", "wide", "percent"))):
        case "wide":
            return "".join(WIDE_DIGITS.get(char, char) for char in text)
        case "percent":
            return "".join(f"%{ord(char):02x}" if draw(st.booleans()) else char for char in text)
    return text


@st.composite
def spelled(draw: st.DrawFn, value: int) -> str:
    """An IPv4 address in one to four parts of any base."""
    octets = [(value >> shift) & 255 for shift in (24, 16, 8, 0)]
    parts = draw(st.integers(1, 4))
    rest = value & (256 ** (5 - parts) - 1)
    texts = [draw(number(octet)) for octet in octets[: parts - 1]] + [draw(number(rest))]
    made = texts[0]
    for text in texts[1:]:
        made += draw(st.sampled_from(DOTS)) + text
    return made + draw(st.sampled_from(("", "", ".")))


@st.composite
def hidden(draw: st.DrawFn, value: int) -> str:
    """The same with characters in it that nobody sees."""
    text = draw(spelled(value))
    at = draw(st.integers(0, len(text)))
    spoiled = "%" in text  # not in the middle of an escape
    return text + draw(st.sampled_from(IGNORED)) if spoiled else text[:at] + draw(st.sampled_from(IGNORED)) + text[at:]


@st.composite
def embedded(draw: st.DrawFn, value: int) -> str:
    """An IPv6 address that holds this IPv4 one."""
    high, low = value >> 16, value & 0xFFFF
    dotted = str(ipaddress.IPv4Address(value))
    forms = (
        f"::ffff:{dotted}",
        f"::ffff:{high:x}:{low:x}",
        f"0:0:0:0:0:FFFF:{high:04X}:{low:04X}",
        f"::{dotted}",
        f"::ffff:0:{high:x}:{low:x}",
        f"64:ff9b::{dotted}",
        f"64:ff9b::{high:x}:{low:x}",
        f"64:ff9b:1::{high:x}:{low:x}",
        f"2002:{high:x}:{low:x}::1",
        f"2606:4700::5efe:{high:x}:{low:x}",
    )
    return f"[{draw(st.sampled_from(forms))}]"


@st.composite
def spelled_6(draw: st.DrawFn, value: int) -> str:
    """An IPv6 address, long or short, in either case."""
    address = ipaddress.IPv6Address(value)
    text = draw(st.sampled_from((address.compressed, address.exploded, address.compressed.upper())))
    return f"[{text}]"


@st.composite
def urls_of(draw: st.DrawFn, host: st.SearchStrategy[str]) -> str:
    """A URL with this host, with what may stand around it."""
    scheme = draw(st.sampled_from(("http:", "https:", "HTTP:", "hTtPs:")))
    slashes = draw(st.sampled_from(("//", "//", "\\\\", "/\\", "////")))
    port = draw(st.sampled_from(("", "", ":", ":80", ":8731", ":0443")))
    path = draw(st.sampled_from(("", "/", "/x?y#z", "\\x", "?x@shop.example", "#@shop.example/")))
    return f"{scheme}{slashes}{draw(host)}{port}{path}"


INNER_HOSTS = st.sampled_from(INNER).flatmap(within).flatmap(
    lambda value: spelled(value) | embedded(value)
) | st.sampled_from(INNER_6).flatmap(within).flatmap(spelled_6)
NAMES = ("localhost", "a.localhost", "printer", "nas.local", "router.home.arpa", "x.internal", "localhost.localdomain")
INNER_NAMES = st.sampled_from(NAMES).flatmap(
    lambda name: st.sampled_from(
        (name, name.upper(), f"{name}.", name.replace(".", "。"), quote(name), f"%{ord(name[0]):02x}{name[1:]}")
    )
)
INNER_URLS = urls_of(INNER_HOSTS | INNER_NAMES)


def refused(url: str) -> None:
    """An inner address is no page's and no document's, whatever made it."""
    named = judge_url(url, NOTHING_OPENED)
    for decision in (
        named,
        judge_url(url, NARROW),
        judge_document(url, NOTHING_OPENED),
        judge_document(f"blob:{url}", NOTHING_OPENED),
        judge_document("about:blank", NOTHING_OPENED, named.origin or "http://localhost"),
    ):
        assert (decision.allowed, decision.code) == (False, "BROWSER_POLICY_DENIED"), url
        assert decision.reason


@given(INNER_URLS)
@SHORT
def test_an_inner_address_is_refused_however_it_is_written(url: str) -> None:
    refused(url)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "10.0.0.1", "[::1]", "localhost", "nas.local"])
def test_a_character_that_nobody_sees_hides_no_inner_host(host: str) -> None:
    for at in range(len(host) + 1):
        for ignored in (*IGNORED, "".join(IGNORED)):
            refused(f"http://{host[:at]}{ignored}{host[at:]}:8731/")


@pytest.mark.long
@given(INNER_URLS)
@LONG
def test_an_inner_address_is_refused_in_many_spellings(url: str) -> None:
    refused(url)


@given(st.data(), st.sampled_from(PUBLIC))
@SHORT
def test_the_same_spellings_of_a_public_address_are_allowed_as_one_place(data: st.DataObject, address: str) -> None:
    url = data.draw(urls_of(spelled(int(ipaddress.IPv4Address(address)))))
    decision = judge_url(url, NOTHING_OPENED)
    assert decision.allowed, url
    assert decision.place.rpartition(":")[0] == address


SEEDS = tuple(
    text.encode()
    for text in (
        "http://127.0.0.1:8731/x?y#z",
        "https://shop.example/",
        "https://a.cdn.example:8443/x",
        "http://[::ffff:127.0.0.1]/",
        "http://user:pw@shop.example\\@127.0.0.1/",
        "blob:https://shop.example/1-2",
        "https://xn--mnchen-3ya.example./",
        "http://%31%32%37.0x0.0.1/",
        "about:blank",
        "view-source:file:///etc/passwd",
        "http:\\\\ⓛocalhost。/",
    )
)
PIECES = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        *("/", "//", "\\", ":", "@", "?", "#", "%", "%00", "%2f", "%40", "%5b", "[", "]", ".", "。", "..", "*", " "),
        *("\t", "\n", "\0", "\x7f", "\u00ad", "\u200b", "\u2060", "\ufeff", "\u202e", "\ud800", "\u0130", "ß", "ﬀ"),
        *("①", "℀", "²", "0x", "0", "9" * 400, "xn--", "blob:", "http://", "https://", "localhost", "127.0.0.1"),
        *("[::1]", "::", "%25eth0", ":80", ":0", ":99999", "file:", "javascript:", "data:", "a" * 300),
    )
)


def read(raw: bytes) -> str:
    """A text from bytes: what is no UTF-8 becomes half surrogates."""
    return raw.decode("utf-8", "surrogateescape")


TEXTS = mutated(SEEDS, PIECES).map(read) | st.text(st.characters(codec=None), max_size=60)


def consistent(url: str) -> None:
    """Whatever it is, it is judged; what is allowed is plainly outside, and has one name in every judge's mouth."""
    for rules in (NOTHING_OPENED, OPENED, NARROW):
        decision = judge_url(url, rules)
        for made in (f"blob:{url}", f"data:{url}", f"about:{url}", url):
            judge_document(made, rules, url)
        if not decision.allowed:
            assert decision.reason
            continue
        if not decision.place:
            assert url == "about:blank"
            continue
        host, _, port = decision.place.rpartition(":")
        assert decision.place in rules.open_places or is_outside(host), url
        assert 0 < int(port) < 65536
        assert normal_host(host) == host  # one spelling, which does not change any more
        assert parse_place(decision.place) == decision.place
        again = judge_url(f"{decision.origin}/", rules)
        assert (again.allowed, again.place, again.origin) == (True, decision.place, decision.origin)
        assert not rules.origins or origin_of(decision.origin) == decision.origin


@pytest.mark.parametrize("host", ["a*b.example", "*.shop.example", "a%2ab.example", "a%2Ab.example"])
def test_a_star_is_in_no_host_for_chromium_reads_another_one(host: str) -> None:
    """Found by tests/live/test_url_spellings.py: it becomes `%2A` there."""
    assert not judge_url(f"https://{host}/", NOTHING_OPENED).allowed
    assert judge_url(f"https://{host.replace('*', '-').replace('%2a', '-').replace('%2A', '-')}/", OPENED).allowed


def is_outside(host: str) -> bool:
    """A public address, or a name with a dot."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return "." in host and not host.endswith(("localhost", ".local", ".internal", ".home.arpa"))


@given(TEXTS)
@SHORT
def test_any_text_is_judged_and_what_is_allowed_is_outside(url: str) -> None:
    consistent(url)


@pytest.mark.long
@given(TEXTS)
@LONG
def test_any_of_many_texts_is_judged_and_what_is_allowed_is_outside(url: str) -> None:
    consistent(url)
