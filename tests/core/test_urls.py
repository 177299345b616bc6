"""Every spelling of an address that must not be opened, and the plain ones that may be."""

# ruff: noqa: RUF001 - letters and digits of other scripts are the point
from __future__ import annotations

import pytest

from capsdk.errors import InvalidArgumentError
from host.core.urls import (
    UrlRules,
    inner_reason,
    judge_url,
    normal_host,
    parse_place,
    places,
)

NOTHING_OPENED = UrlRules()

LOOPBACK_HOSTS = (
    pytest.param("127.0.0.1", id="plain"),
    pytest.param("localhost", id="name"),
    pytest.param("LOCALHOST.", id="name-uppercase-trailing-dot"),
    pytest.param("shop.localhost", id="subdomain-of-localhost"),
    pytest.param("a.b.LocalHost", id="subdomains-of-localhost"),
    pytest.param("localhost.localdomain", id="name-of-many-hosts-files"),
    pytest.param("2130706433", id="decimal"),
    pytest.param("0x7f000001", id="hexadecimal"),
    pytest.param("0X7F.1", id="hexadecimal-part-uppercase"),
    pytest.param("0177.0.0.1", id="octal"),
    pytest.param("017700000001", id="octal-whole"),
    pytest.param("127.1", id="two-parts"),
    pytest.param("127.0.1", id="three-parts"),
    pytest.param("127.255.255.254", id="end-of-the-range"),
    pytest.param("127.0.0.1.", id="trailing-dot"),
    pytest.param("0.0.0.0", id="unspecified"),
    pytest.param("0", id="zero"),
    pytest.param("0x", id="empty-hexadecimal"),
    pytest.param("0x0.0", id="zero-in-parts"),
    pytest.param("[::1]", id="ipv6"),
    pytest.param("[0:0:0:0:0:0:0:1]", id="ipv6-long"),
    pytest.param("[::]", id="ipv6-unspecified"),
    pytest.param("[::ffff:127.0.0.1]", id="mapped"),
    pytest.param("[::ffff:7f00:1]", id="mapped-hexadecimal"),
    pytest.param("[0:0:0:0:0:ffff:7f00:0001]", id="mapped-long"),
    pytest.param("[::FFFF:7F00:1]", id="mapped-uppercase"),
    pytest.param("[::127.0.0.1]", id="ipv4-compatible"),
    pytest.param("[::ffff:0:7f00:1]", id="ipv4-translated"),
    pytest.param("[64:ff9b::7f00:1]", id="nat64"),
    pytest.param("[64:ff9b::127.0.0.1]", id="nat64-dotted"),
    pytest.param("[64:ff9b:1::7f00:1]", id="nat64-local-use"),
    pytest.param("[2002:7f00:1::]", id="6to4"),
    pytest.param("１２７.0.0.1", id="full-width-digits"),
    pytest.param("①②⑦.0.0.1", id="circled-digits"),
    pytest.param("¹²⁷.0.0.1", id="superscript-digits"),
    pytest.param("𝟏𝟐𝟕.0.0.1", id="mathematical-digits"),
    pytest.param("127。0。0。1", id="ideographic-dots"),
    pytest.param("127．0．0．1", id="full-width-dots"),
    pytest.param("127｡0｡0｡1", id="half-width-ideographic-dots"),
    pytest.param("ｌｏｃａｌｈｏｓｔ", id="full-width-name"),
    pytest.param("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", id="circled-name"),
    pytest.param("localhoſt", id="long-s"),
    pytest.param("%31%32%37.0.0.1", id="percent-encoded-digits"),
    pytest.param("127%2e0%2E0%2e1", id="percent-encoded-dots"),
    pytest.param("%6cocalhost", id="percent-encoded-name"),
    pytest.param("%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", id="percent-encoded-full-width"),
    pytest.param("127.0.0.1\u00ad", id="soft-hyphen-behind"),
    pytest.param("local\u00adhost", id="soft-hyphen-inside"),
    pytest.param("127.0.0.\u200b1", id="zero-width-space"),
    pytest.param("127.0.0.1\u2060", id="word-joiner"),
    pytest.param("127.0.0.1\ufeff", id="byte-order-mark"),
    pytest.param("127.0.0.1\ufe0f", id="variation-selector"),
    pytest.param("local\u034fhost", id="grapheme-joiner"),
    pytest.param("shop.local\U000e0100host", id="variation-selector-supplement"),
    pytest.param("127.0.0.1\u3164", id="hangul-filler"),
)

INNER_HOSTS = (
    pytest.param("10.0.0.1", id="private-10"),
    pytest.param("172.16.0.1", id="private-172"),
    pytest.param("172.31.255.255", id="private-172-end"),
    pytest.param("192.168.1.1", id="private-192"),
    pytest.param("3232235777", id="private-decimal"),
    pytest.param("0xc0a80101", id="private-hexadecimal"),
    pytest.param("169.254.169.254", id="metadata"),
    pytest.param("0xa9fea9fe", id="metadata-hexadecimal"),
    pytest.param("2852039166", id="metadata-decimal"),
    pytest.param("0251.0376.0251.0376", id="metadata-octal"),
    pytest.param("[::ffff:169.254.169.254]", id="metadata-mapped"),
    pytest.param("[64:ff9b::a9fe:a9fe]", id="metadata-nat64"),
    pytest.param("[2002:a9fe:a9fe::1]", id="metadata-6to4"),
    pytest.param("[fd00:ec2::254]", id="metadata-ipv6"),
    pytest.param("100.100.100.200", id="metadata-in-carrier-nat"),
    pytest.param("168.63.129.16", id="metadata-public-looking"),
    pytest.param("192.0.0.192", id="metadata-protocol-assignments"),
    pytest.param("metadata.google.internal", id="metadata-name"),
    pytest.param("metadata", id="metadata-single-label"),
    pytest.param("100.64.0.1", id="carrier-nat"),
    pytest.param("198.18.0.1", id="benchmarking"),
    pytest.param("192.0.2.1", id="documentation"),
    pytest.param("203.0.113.9", id="documentation-3"),
    pytest.param("192.88.99.1", id="6to4-relay"),
    pytest.param("224.0.0.1", id="multicast"),
    pytest.param("240.0.0.1", id="reserved"),
    pytest.param("255.255.255.255", id="broadcast"),
    pytest.param("[fe80::1]", id="link-local-ipv6"),
    pytest.param("[fe80::1%eth0]", id="zone-id"),
    pytest.param("[fe80::1%25eth0]", id="zone-id-encoded"),
    pytest.param("[fc00::1]", id="unique-local"),
    pytest.param("[fec0::1]", id="site-local"),
    pytest.param("[ff02::1]", id="multicast-ipv6"),
    pytest.param("[2001:db8::1]", id="documentation-ipv6"),
    pytest.param("[2001::1]", id="teredo"),
    pytest.param("[100::1]", id="discard-only"),
    pytest.param("printer", id="single-label"),
    pytest.param("printer.", id="single-label-trailing-dot"),
    pytest.param("nas.local", id="multicast-dns"),
    pytest.param("router.home.arpa", id="home-network"),
    pytest.param("wiki.corp.internal", id="internal-name"),
    pytest.param("intra\u2060net", id="single-label-with-word-joiner"),
)


@pytest.mark.parametrize("host", [*LOOPBACK_HOSTS, *INNER_HOSTS])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_inner_address_is_refused_in_every_spelling(host: str, scheme: str) -> None:
    for url in (f"{scheme}://{host}/x", f"{scheme}://{host}:8080/x?y#z", f"{scheme.upper()}:\\\\{host}"):
        decision = judge_url(url, NOTHING_OPENED)
        assert (decision.allowed, decision.code) == (False, "BROWSER_POLICY_DENIED"), url


BAD_URLS = (
    pytest.param("", id="empty"),
    pytest.param("shop.example", id="no-scheme"),
    pytest.param("//shop.example/", id="scheme-relative"),
    pytest.param("http:shop.example", id="no-slashes"),
    pytest.param("http:/shop.example", id="one-slash"),
    pytest.param("http:2130706433", id="no-slashes-and-a-number"),
    pytest.param("http:///127.0.0.1/", id="three-slashes-and-loopback"),
    pytest.param("http:\\\\127.0.0.1/", id="backslashes-and-loopback"),
    pytest.param("http:/\\127.0.0.1/", id="mixed-slashes-and-loopback"),
    pytest.param("http://", id="no-host"),
    pytest.param("http:///", id="no-host-three-slashes"),
    pytest.param("http://?x", id="no-host-but-a-query"),
    pytest.param("http://:80/", id="no-host-but-a-port"),
    pytest.param("file:///etc/passwd", id="file"),
    pytest.param("FILE:///etc/passwd", id="file-uppercase"),
    pytest.param(" file:///etc/passwd", id="file-leading-space"),
    pytest.param("fi\tle:///etc/passwd", id="file-embedded-tab"),
    pytest.param("view-source:http://shop.example/", id="view-source"),
    pytest.param("view-source:file:///etc/passwd", id="view-source-file"),
    pytest.param("data:text/html,x", id="data"),
    pytest.param("javascript:alert(1)", id="javascript"),
    pytest.param("JavaScript:alert(1)", id="javascript-mixed-case"),
    pytest.param("blob:https://shop.example/1-2", id="blob"),
    pytest.param("filesystem:https://shop.example/temporary/x", id="filesystem"),
    pytest.param("chrome://settings", id="chrome"),
    pytest.param("chrome://crash", id="chrome-crash"),
    pytest.param("chrome-extension://mhjf/x", id="extension"),
    pytest.param("devtools://devtools/bundled/x", id="devtools"),
    pytest.param("about:srcdoc", id="about-srcdoc"),
    pytest.param("about:blank#x", id="about-blank-with-a-fragment"),
    pytest.param("ABOUT:BLANK", id="about-blank-uppercase"),
    pytest.param(" about:blank", id="about-blank-leading-space"),
    pytest.param("mailto:a@b", id="mailto"),
    pytest.param("ftp://shop.example/", id="ftp"),
    pytest.param("ws://shop.example/", id="websocket"),
    pytest.param("httpss://shop.example/", id="scheme-lookalike"),
    pytest.param("http+x://shop.example/", id="scheme-with-suffix"),
    pytest.param("  http://shop.example/", id="leading-spaces"),
    pytest.param("http://shop.example/ ", id="trailing-space"),
    pytest.param("ht\ntp://shop.example/", id="line-break-in-the-scheme"),
    pytest.param("http://sh\top.example/", id="tab-in-the-host"),
    pytest.param("http://shop.example/\x00", id="nul"),
    pytest.param("http://shop.example/\x7f", id="delete"),
    pytest.param("http://shop.example/a b", id="space-in-the-path"),
    pytest.param("http://shop.example/\ud800", id="half-surrogate"),
    pytest.param("http://user:pw@shop.example/", id="credentials"),
    pytest.param("http://user@shop.example/", id="user-only"),
    pytest.param("http://@shop.example/", id="empty-credentials"),
    pytest.param("http://shop.example:80@127.0.0.1/", id="credentials-lookalike"),
    pytest.param("http://user%40x@shop.example/", id="credentials-with-an-encoded-at"),
    pytest.param("http://shop.example%40127.0.0.1/", id="encoded-at"),
    pytest.param("http://shop.example%2f127.0.0.1/", id="encoded-slash"),
    pytest.param("http://shop.example%00/", id="encoded-nul"),
    pytest.param("http://127.0.0.1%00/", id="loopback-and-an-encoded-nul"),
    pytest.param("http://127.0.0.1%0a.shop.example/", id="encoded-line-break"),
    pytest.param("http://%ff.example/", id="encoded-garbage"),
    pytest.param("http://%2531.example/", id="encoded-twice"),
    pytest.param("http://shop..example/", id="empty-label"),
    pytest.param("http://.shop.example/", id="leading-dot"),
    pytest.param("http://localhost../", id="two-trailing-dots"),
    pytest.param("http://./", id="dot-only"),
    pytest.param("http://256.1.1.1/", id="number-too-large"),
    pytest.param("http://1.2.3.4.5/", id="five-numbers"),
    pytest.param("http://08.8.8.8/", id="bad-octal"),
    pytest.param("http://shop.1/", id="numeric-last-label"),
    pytest.param("http://shop.0x1/", id="hexadecimal-last-label"),
    pytest.param("http://4294967296/", id="beyond-32-bit"),
    pytest.param("http://[::1/", id="bracket-not-closed"),
    pytest.param("http://[::1]x/", id="something-behind-the-bracket"),
    pytest.param("http://[shop.example]/", id="name-in-brackets"),
    pytest.param("http://[2606:4700::1111%25eth0]/", id="public-with-a-zone-id"),
    pytest.param("http://[v1.x]/", id="future-ip-literal"),
    pytest.param("http://%5B::1%5D/", id="encoded-brackets"),
    pytest.param("http://a:b:c/", id="two-colons"),
    pytest.param("http://shop.example:0/", id="port-zero"),
    pytest.param("http://shop.example:65536/", id="port-too-large"),
    pytest.param("http://shop.example:8x/", id="port-no-number"),
    pytest.param("http://shop.example:-1/", id="port-negative"),
    pytest.param("http://shop.example:８０/", id="port-full-width"),
    pytest.param("http://shop.example:" + "9" * 5000 + "/", id="port-endless"),
    pytest.param("http://" + "a" * 250 + ".example/", id="host-too-long"),
    pytest.param("http://℀.example/", id="character-that-maps-to-a-slash"),
)


@pytest.mark.parametrize("url", BAD_URLS)
def test_a_url_that_is_no_plain_public_one_is_refused(url: str) -> None:
    decision = judge_url(url, NOTHING_OPENED)
    assert (decision.allowed, decision.code) == (False, "BROWSER_POLICY_DENIED")
    assert decision.reason


GOOD_URLS = (  # url, place, origin
    pytest.param("https://shop.example/r/1?x=a@b#c", "shop.example:443", "https://shop.example", id="https"),
    pytest.param("http://shop.example", "shop.example:80", "http://shop.example", id="no-path"),
    pytest.param("http://shop.example:80/", "shop.example:80", "http://shop.example", id="default-port-written"),
    pytest.param("https://shop.example:8443/", "shop.example:8443", "https://shop.example:8443", id="other-port"),
    pytest.param("http://shop.example:/", "shop.example:80", "http://shop.example", id="empty-port"),
    pytest.param("http://shop.example:00080/", "shop.example:80", "http://shop.example", id="port-with-zeros"),
    pytest.param("HTTPS://SHOP.Example./", "shop.example:443", "https://shop.example", id="uppercase-trailing-dot"),
    pytest.param("http:\\\\shop.example\\x", "shop.example:80", "http://shop.example", id="backslashes"),
    pytest.param("http:////shop.example/", "shop.example:80", "http://shop.example", id="many-slashes"),
    pytest.param("https://ｓｈｏｐ.example/", "shop.example:443", "https://shop.example", id="full-width-name"),
    pytest.param("https://münchen.example/", "münchen.example:443", "https://münchen.example", id="umlaut"),
    pytest.param("https://例え.テスト/", "例え.テスト:443", "https://例え.テスト", id="other-script"),
    pytest.param(
        "https://xn--mnchen-3ya.example/", "xn--mnchen-3ya.example:443", "https://xn--mnchen-3ya.example", id="a-label"
    ),
    pytest.param("https://93.184.216.34/", "93.184.216.34:443", "https://93.184.216.34", id="public-ipv4"),
    pytest.param("http://0x5db8d822/", "93.184.216.34:80", "http://93.184.216.34", id="public-ipv4-hexadecimal"),
    pytest.param("http://[2606:4700::1111]/", "[2606:4700::1111]:80", "http://[2606:4700::1111]", id="public-ipv6"),
    pytest.param(
        "http://[64:ff9b::5db8:d822]:81/",
        "[64:ff9b::5db8:d822]:81",
        "http://[64:ff9b::5db8:d822]:81",
        id="public-nat64",
    ),
    pytest.param(
        "https://localhost.example/", "localhost.example:443", "https://localhost.example", id="localhost-lookalike"
    ),
    pytest.param(
        "https://notlocalhost.example/",
        "notlocalhost.example:443",
        "https://notlocalhost.example",
        id="localhost-suffix",
    ),
    pytest.param(
        "https://127.0.0.1.shop.example/",
        "127.0.0.1.shop.example:443",
        "https://127.0.0.1.shop.example",
        id="address-as-labels",
    ),
    pytest.param(
        "https://internal.example/", "internal.example:443", "https://internal.example", id="internal-lookalike"
    ),
    pytest.param("https://a_b.example/", "a_b.example:443", "https://a_b.example", id="underscore"),
    pytest.param(
        "http://shop.example\\@127.0.0.1/", "shop.example:80", "http://shop.example", id="backslash-ends-the-host"
    ),
    pytest.param("about:blank", "", "null", id="blank"),
)


@pytest.mark.parametrize(("url", "place", "origin"), GOOD_URLS)
def test_a_plain_public_url_is_allowed_and_named_as_browsers_name_it(url: str, place: str, origin: str) -> None:
    decision = judge_url(url, NOTHING_OPENED)
    assert (decision.allowed, decision.place, decision.origin) == (True, place, origin)


OPENED_CASES = (  # opened, url, allowed?
    pytest.param("127.0.0.1:8731", "http://127.0.0.1:8731/x", True, id="the-place"),
    pytest.param("127.0.0.1:8731", "http://0x7f.1:8731/x", True, id="the-place-otherwise-spelled"),
    pytest.param("127.0.0.1:8731", "http://[::ffff:127.0.0.1]:8731/x", False, id="the-place-mapped-is-another"),
    pytest.param("127.0.0.1:8731", "http://127.0.0.1:8732/x", False, id="another-port"),
    pytest.param("127.0.0.1:8731", "http://127.0.0.1/x", False, id="the-default-port"),
    pytest.param("127.0.0.1:8731", "http://127.0.0.2:8731/x", False, id="another-address"),
    pytest.param("127.0.0.1:8731", "http://localhost:8731/x", False, id="a-name-is-another-place"),
    pytest.param("127.0.0.1:8731", "http://u@127.0.0.1:8731/x", False, id="credentials-are-refused-all-the-same"),
    pytest.param("127.0.0.1:8731", "view-source:http://127.0.0.1:8731/", False, id="so-is-view-source"),
    pytest.param("127.0.0.1:8731", "http://127.0.0.1:8731@10.0.0.1/", False, id="place-as-credentials"),
    pytest.param("localhost:80", "http://LOCALHOST./", True, id="name-with-the-default-port"),
    pytest.param("[::1]:8731", "http://[0:0::1]:8731/", True, id="ipv6"),
    pytest.param("Printer:631", "http://printer:631/", True, id="single-label"),
    pytest.param("nas.local:443", "https://nas.local/", True, id="inner-name"),
)


@pytest.mark.parametrize(("opened", "url", "allowed"), OPENED_CASES)
def test_the_owner_opens_single_places(opened: str, url: str, allowed: bool) -> None:
    assert judge_url(url, UrlRules(open_places=places([opened]))).allowed is allowed


PLACES = (
    pytest.param("127.0.0.1:8731", "127.0.0.1:8731", id="plain"),
    pytest.param("0x7f.1:08731", "127.0.0.1:8731", id="otherwise-spelled"),
    pytest.param("[::1]:80", "[::1]:80", id="ipv6"),
    pytest.param("LocalHost.:80", "localhost:80", id="name"),
)


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_a_place_has_one_spelling(text: str, place: str) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "127.0.0.1",
        ":80",
        "a:",
        "a:0",
        "a:65536",
        "a:x",
        "a:-1",
        "a:8 0",
        "::1:80",
        "http://a:80",
        "a/b:80",
        "a:८०",
        "a:" + "1" * 5000,
    ],
    ids=lambda text: text[:20] or "empty",
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_place(text)
    assert caught.value.code == "BAD_ARGUMENTS"


@pytest.mark.parametrize("host", ["shop.example", "93.184.216.34", "[2606:4700::1111]"])
def test_a_public_host_has_no_inner_reason(host: str) -> None:
    name = normal_host(host)
    assert name is not None
    assert inner_reason(name) == ""
