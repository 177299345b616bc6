"""What the proxy lets through: every spelling, every kind of address, and what the owner opened."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from host.core.egress import (
    BACKGROUND_HOSTS,
    NETWORK_KINDS,
    Destination,
    Table,
    Verdict,
    ascii_place,
    judge_address,
    judge_name,
    read_authority,
    unresolved,
)
from host.core.urls import Address, is_this_machine
from tests.core.test_urls import INNER_HOSTS, LOOPBACK_HOSTS

NOTHING = Table()
PUBLIC_4, PUBLIC_6 = ipaddress.ip_address("93.184.216.34"), ipaddress.ip_address("2606:4700::1111")


def wanted(text: str) -> Destination:
    """A destination that can be read."""
    found = read_authority(text, 80)
    assert found is not None
    return found


def named(text: str, table: Table = NOTHING) -> Verdict:
    return judge_name(wanted(text), table)


@pytest.mark.parametrize("host", [*LOOPBACK_HOSTS, *INNER_HOSTS])
def test_an_inner_host_is_refused_in_every_spelling(host: str) -> None:
    for text in (host, f"{host}:80", f"{host}:8443"):
        found = read_authority(text, 80)
        assert found is None or not judge_name(found, NOTHING).allowed


SPELLINGS = (  # what guard-spellings and the like come down to at the proxy, the place it is read as
    pytest.param("127.0.0.1:8", "127.0.0.1:8", id="plain"),
    pytest.param("localhost:8", "localhost:8", id="name"),
    pytest.param("LOCALHOST.:8", "localhost:8", id="uppercase-trailing-dot"),
    pytest.param("2130706433:8", "127.0.0.1:8", id="decimal"),
    pytest.param("0x7f000001:8", "127.0.0.1:8", id="hexadecimal"),
    pytest.param("0177.0.0.1:8", "127.0.0.1:8", id="octal"),
    pytest.param("127.1:8", "127.0.0.1:8", id="two-parts"),
    pytest.param("127.0.1:8", "127.0.0.1:8", id="three-parts"),
    pytest.param("127.255.255.254:8", "127.255.255.254:8", id="end-of-the-range"),
    pytest.param("0.0.0.0:8", "0.0.0.0:8", id="unspecified"),
    pytest.param("0:8", "0.0.0.0:8", id="zero"),
    pytest.param("[::1]:8", "[::1]:8", id="ipv6"),
    pytest.param("[::]:8", "[::]:8", id="ipv6-unspecified"),
    pytest.param("[::ffff:127.0.0.1]:8", "[::ffff:7f00:1]:8", id="mapped"),
    pytest.param("[::FFFF:7F00:1]:8", "[::ffff:7f00:1]:8", id="mapped-hexadecimal"),
    pytest.param("[0:0:0:0:0:ffff:7f00:0001]:8", "[::ffff:7f00:1]:8", id="mapped-long"),
    pytest.param("[::127.0.0.1]:8", "[::7f00:1]:8", id="compatible"),
    pytest.param("[::ffff:0:7f00:1]:8", "[::ffff:0:7f00:1]:8", id="translated"),
    pytest.param("[64:ff9b::7f00:1]:8", "[64:ff9b::7f00:1]:8", id="nat64"),
    pytest.param("[64:ff9b:1::7f00:1]:8", "[64:ff9b:1::7f00:1]:8", id="nat64-local-use"),
    pytest.param("[2002:7f00:1::]:8", "[2002:7f00:1::]:8", id="6to4"),
    pytest.param("[2001:470:1::5efe:7f00:1]:8", "[2001:470:1::5efe:7f00:1]:8", id="isatap"),
    pytest.param("[2001:470:1::200:5efe:7f00:1]:8", "[2001:470:1:0:200:5efe:7f00:1]:8", id="isatap-global-bit"),
    pytest.param("shop.localhost:8", "shop.localhost:8", id="subdomain"),
    pytest.param("%31%32%37.0.0.1:8", "127.0.0.1:8", id="percent-encoded"),
    pytest.param("printer:8", "printer:8", id="single-label"),
)


@pytest.mark.parametrize(("text", "place"), SPELLINGS)
def test_a_spelling_is_read_as_one_place_and_refused(text: str, place: str) -> None:
    verdict = named(text)
    assert (verdict.allowed, verdict.place) == (False, place)
    assert named(text, Table(frozenset((place,)))).allowed


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":80",
        "user@shop.example",
        "shop.example:80@127.0.0.1:80",
        "shop.example:0",
        "shop.example:65536",
        "shop.example:999999",
        "shop.example:-1",
        "shop.example:8x",
        "shop.example:80:80",
        "shop.example/",
        "shop.example?x",
        "shop.example#x",
        "shop.example\\x",
        "shop .example",
        "shop\t.example",
        "shop.example%00",
        "shop.example%2f127.0.0.1",
        "shop..example",
        "[::1",
        "::1",
        "[::1]x",
        "[::1%25lo]",
        "[fe80::1%lo]",
        "[v1.x]",
        "256.1.1.1",
        "1.2.3.4.5",
        "shop.1",
        "a*b.example",
        "m%C3%BCnchen.example",
        "a" * 64 + ".example",
        "a." * 130 + "example",
    ],
)
def test_what_names_no_host_is_no_destination(text: str) -> None:
    assert read_authority(text, 80) is None


def test_a_tunnel_has_to_name_its_port() -> None:
    assert read_authority("shop.example", None) is None
    assert read_authority("shop.example:", None) is None
    assert read_authority("shop.example:443", None) == Destination("shop.example", 443)


GOOD = (
    pytest.param("shop.example", "shop.example:80", id="name"),
    pytest.param("SHOP.example.:8080", "shop.example:8080", id="uppercase-trailing-dot-port"),
    pytest.param("a_b.xn--mnchen-3ya.example", "a_b.xn--mnchen-3ya.example:80", id="underscore-and-a-label"),
    pytest.param("localhost.example", "localhost.example:80", id="localhost-lookalike"),
    pytest.param("127.0.0.1.shop.example", "127.0.0.1.shop.example:80", id="address-as-labels"),
    pytest.param("93.184.216.34", "93.184.216.34:80", id="public-ipv4"),
    pytest.param("[2606:4700::1111]:443", "[2606:4700::1111]:443", id="public-ipv6"),
    pytest.param("[::ffff:93.184.216.34]", "[::ffff:5db8:d822]:80", id="public-mapped"),
    pytest.param("[64:ff9b::5db8:d822]", "[64:ff9b::5db8:d822]:80", id="public-nat64"),
    pytest.param("www.google.com:443", "www.google.com:443", id="what-people-use"),
)


@pytest.mark.parametrize(("text", "place"), GOOD)
def test_a_public_place_is_let_through(text: str, place: str) -> None:
    verdict = named(text)
    assert (verdict.allowed, verdict.kind, verdict.place) == (True, "public", place)


NAME_CASES = (  # text, kind, the flag's first word
    pytest.param("127.0.0.1", "loopback", "--allow-loopback", id="loopback"),
    pytest.param("localhost", "loopback", "--allow-loopback", id="localhost"),
    pytest.param("a.b.localhost", "loopback", "--allow-loopback", id="below-localhost"),
    pytest.param("[::]", "loopback", "--allow-loopback", id="unspecified"),
    pytest.param("[::ffff:127.9.9.9]", "loopback", "--allow-loopback", id="mapped-loopback"),
    pytest.param("10.0.0.1", "inner", "--allow-host", id="private"),
    pytest.param("169.254.169.254", "inner", "--allow-host", id="metadata"),
    pytest.param("[fe80::1]", "inner", "--allow-host", id="link-local"),
    pytest.param("printer", "inner_name", "--allow-host", id="single-label"),
    pytest.param("nas.local", "inner_name", "--allow-host", id="inner-name"),
    pytest.param("accounts.google.com:443", "background", "--allow-host", id="background"),
)


@pytest.mark.parametrize(("text", "kind", "flag"), NAME_CASES)
def test_a_refusal_says_its_kind_and_the_flag_that_opens_the_place(text: str, kind: str, flag: str) -> None:
    verdict = named(text)
    assert (verdict.allowed, verdict.kind) == (False, kind)
    assert verdict.flag == f"{flag} {verdict.place}"
    assert verdict.reason
    assert named(text, Table(frozenset((verdict.place,)))).kind == "opened"


RESOLVED = (  # an answer of the resolver, assigned to this machine, kind
    pytest.param("93.184.216.34", False, "public", id="public"),
    pytest.param("2606:4700::1111", False, "public", id="public-ipv6"),
    pytest.param("127.0.0.1", False, "loopback", id="loopback"),
    pytest.param("::ffff:127.0.0.1", False, "loopback", id="mapped-loopback"),
    pytest.param("::", False, "loopback", id="unspecified"),
    pytest.param("93.184.216.34", True, "own_address", id="public-and-ours"),
    pytest.param("10.1.2.3", False, "inner", id="private"),
    pytest.param("10.1.2.3", True, "own_address", id="private-and-ours"),
    pytest.param("169.254.169.254", False, "inner", id="metadata"),
    pytest.param("100.64.0.1", False, "inner", id="carrier"),
    pytest.param("224.0.0.251", False, "inner", id="multicast"),
    pytest.param("fe80::1", False, "inner", id="link-local"),
)


@pytest.mark.parametrize(("text", "assigned", "kind"), RESOLVED)
def test_an_answer_of_the_resolver_is_judged_by_itself(text: str, assigned: bool, kind: str) -> None:
    shop = wanted("shop.example")
    address = ipaddress.ip_address(text)
    verdict = judge_address(shop, address, NOTHING, assigned=assigned)
    assert (verdict.allowed, verdict.kind) == (kind == "public", kind)
    opened = judge_address(shop, address, Table(frozenset(("shop.example:80",))), assigned=assigned)
    assert (opened.allowed, opened.kind) == (True, "opened")
    elsewhere = Table(frozenset(("shop.example:81", "other.example:80", f"{text}:80", f"[{text}]:80")))
    assert judge_address(shop, address, elsewhere, assigned=assigned) == verdict


OWN = (  # place, address, assigned, refused as the host's own port?
    pytest.param("127.0.0.1:9", "127.0.0.1", False, True, id="loopback"),
    pytest.param("localhost:9", "::1", False, True, id="localhost"),
    pytest.param("[::ffff:127.0.0.1]:9", "::ffff:7f00:1", False, True, id="mapped"),
    pytest.param("[::127.0.0.1]:9", "::7f00:1", False, True, id="compatible"),
    pytest.param("0.0.0.0:9", "0.0.0.0", False, True, id="unspecified"),
    pytest.param("shop.example:9", "127.0.0.1", False, True, id="a-name-that-comes-back"),
    pytest.param("shop.example:9", "93.184.216.34", True, True, id="an-address-of-this-machine"),
    pytest.param("shop.example:9", "93.184.216.34", False, False, id="somebody-elses"),
    pytest.param("127.0.0.1:10", "127.0.0.1", False, False, id="another-port"),
)


@pytest.mark.parametrize(("place", "address", "assigned", "refused"), OWN)
def test_a_port_of_the_host_itself_is_opened_by_nothing(
    place: str, address: str, assigned: bool, refused: bool
) -> None:
    there = wanted(place)
    table = Table(frozenset((there.place,)), frozenset((9,)))
    verdict = judge_address(there, ipaddress.ip_address(address), table, assigned=assigned)
    assert (verdict.allowed, verdict.kind, verdict.flag) == (not refused, "own_port" if refused else "opened", "")


def test_a_local_name_with_a_port_of_the_host_is_refused_before_it_is_looked_up() -> None:
    table = Table(frozenset(("localhost:9", "localhost:10")), frozenset((9,)))
    assert (named("localhost:9", table).kind, named("localhost:10", table).kind) == ("own_port", "opened")


def test_each_background_host_is_refused_and_says_why() -> None:
    assert len(BACKGROUND_HOSTS) >= 20
    assert [host.name for host in BACKGROUND_HOSTS] == sorted(host.name for host in BACKGROUND_HOSTS)
    for host in BACKGROUND_HOSTS:
        verdict = named(f"{host.name.upper()}.:443")
        assert (verdict.allowed, verdict.kind) == (False, "background")
        assert host.why in verdict.reason


def test_a_name_without_an_address_is_refused_and_nothing_opens_it() -> None:
    verdict = unresolved(wanted("gone.example:8080"))
    assert (verdict.allowed, verdict.kind, verdict.place, verdict.flag) == (
        False,
        "unresolved",
        "gone.example:8080",
        "",
    )
    assert verdict.kind not in NETWORK_KINDS


def test_a_place_of_another_script_is_known_as_it_stands_on_the_line() -> None:
    assert ascii_place("münchen.example:80") == "xn--mnchen-3ya.example:80"
    assert ascii_place("[::1]:80") == "[::1]:80"
    assert ascii_place("ü" * 70 + ".example:80") == "ü" * 70 + ".example:80"


# --- against an oracle

NETWORKS = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
    "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
)
INNER_4 = [ipaddress.IPv4Network(text) for text in NETWORKS.split()]
IN_NETWORKS = st.sampled_from(INNER_4).flatmap(lambda network: st.ip_addresses(v=4, network=network))
ANY_4 = st.ip_addresses(v=4) | IN_NETWORKS


def inner_4(address: ipaddress.IPv4Address) -> bool:
    """The oracle: the registry of special-purpose addresses, and what a cloud put beside it."""
    return any(address in network for network in INNER_4)


def refused(address: Address) -> bool:
    verdict = judge_address(wanted("shop.example"), address, NOTHING)
    text = f"[{address}]" if address.version == 6 else str(address)
    assert named(text).allowed is verdict.allowed  # a literal is judged as an answer is
    return not verdict.allowed


@given(ANY_4)
@example(ipaddress.IPv4Address("99.255.255.255"))
@example(ipaddress.IPv4Address("100.128.0.0"))
@example(ipaddress.IPv4Address("172.32.0.0"))
def test_an_ipv4_address_is_let_through_exactly_when_it_is_public(address: ipaddress.IPv4Address) -> None:
    assert refused(address) is inner_4(address)
    assert is_this_machine(address) is (address.is_loopback or address.is_unspecified)


EMBEDDINGS = (
    pytest.param("::{}", False, id="compatible"),
    pytest.param("::ffff:{}", True, id="mapped"),
    pytest.param("::ffff:0:{}", False, id="translated"),
    pytest.param("64:ff9b::{}", True, id="nat64"),
    pytest.param("64:ff9b:1::{}", False, id="nat64-local-use"),
    pytest.param("2001:470:1::5efe:{}", True, id="isatap"),
    pytest.param("2001:470:1:0:200:5efe:{}", True, id="isatap-global-bit"),
    pytest.param("fe80::5efe:{}", False, id="isatap-link-local"),
)


@pytest.mark.parametrize(("form", "public_passes"), EMBEDDINGS)
@given(address=ANY_4)
def test_an_ipv4_address_inside_an_ipv6_one_is_judged_too(
    form: str, public_passes: bool, address: ipaddress.IPv4Address
) -> None:
    whole = ipaddress.IPv6Address(form.format(address))
    assert refused(whole) is (inner_4(address) or not public_passes)
    if address.is_loopback:
        assert is_this_machine(whole)


@given(address=ANY_4, rest=st.integers(0, 2**80 - 1))
def test_6to4_is_judged_by_its_ipv4_address(address: ipaddress.IPv4Address, rest: int) -> None:
    assert refused(ipaddress.IPv6Address(0x2002 << 112 | int(address) << 80 | rest)) is inner_4(address)


@given(
    st.ip_addresses(v=6)
    | st.sampled_from(["fc00::/7", "fe80::/10", "ff00::/8", "2001::/32", "2001:db8::/32", "3fff::/20"]).flatmap(
        lambda n: st.ip_addresses(v=6, network=n)
    )
)
def test_an_ipv6_address_that_is_let_through_is_a_global_unicast_one(address: ipaddress.IPv6Address) -> None:
    if not refused(address):
        assert address.is_global or address.sixtofour  # from 3.13 on 6to4 is not; what is inside is judged
        assert not address.is_multicast
        assert (
            address in ipaddress.IPv6Network("2000::/3")
            or address in ipaddress.IPv6Network("64:ff9b::/96")
            or address.ipv4_mapped
        )


@given(
    st.ip_addresses(v=6, network="2400::/6").filter(
        lambda address: int(address) >> 32 & 0xFFFFFFFF not in (0x5EFE, 0x2005EFE)
    )
)
def test_an_ipv6_address_of_an_ordinary_network_is_let_through(address: ipaddress.IPv6Address) -> None:
    assert not refused(address)


def spelled(number: int, draw: st.DrawFn) -> str:
    """Some spelling of an IPv4 address: one to four parts, each decimal, octal or hexadecimal."""
    parts = draw(st.integers(1, 4))
    rest_bits = 8 * (5 - parts)
    numbers = [number >> (24 - 8 * index) & 255 for index in range(parts - 1)] + [number & (1 << rest_bits) - 1]
    forms = ("{:d}", "0{:o}", "0x{:x}", "0X{:08X}", "000{:o}")
    return ".".join(draw(st.sampled_from(forms)).format(one) for one in numbers)


@given(st.data(), ANY_4)
def test_a_number_in_any_base_and_any_parts_is_the_address(data: st.DataObject, address: ipaddress.IPv4Address) -> None:
    text = data.draw(st.composite(lambda draw: spelled(int(address), draw))())
    assert wanted(f"{text}:80") == Destination(str(address), 80, address)


@given(st.text(max_size=40) | st.text("0123456789abcdefxX.:[]%-", max_size=40))
def test_whatever_is_asked_for_gets_a_verdict(text: str) -> None:
    found = read_authority(text, 80)
    if found is not None:
        assert read_authority(found.place, None) == found
        verdict = judge_name(found, NOTHING)
        assert verdict.place == found.place
        assert verdict.allowed is (verdict.reason == "")
