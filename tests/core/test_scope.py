"""What a manifest's `origins` keep in and out: documents, and the cookies in events."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.core.conditions import Surroundings, judge_condition
from host.core.scope import COOKIE_EVENTS, CookieScreen, Paused, judge_document
from host.core.urls import UrlRules

RULES = UrlRules(
    frozenset(("127.0.0.1:8731",)), ("https://shop.example", "https://*.parts.example", "http://old.example:8080")
)
ANYWHERE = UrlRules()
ALLOWED, NOT_NAMED, DENIED = "", "ORIGIN_NOT_ALLOWED", "BROWSER_POLICY_DENIED"

DOCUMENTS = (  # URL, what Chromium says of its origin, code
    pytest.param("https://shop.example/cart", "", ALLOWED, id="named"),
    pytest.param("https://shop.example:443/", "", ALLOWED, id="named-with-its-port"),
    pytest.param("HTTPS://SHOP.EXAMPLE/", "", ALLOWED, id="named-in-capitals"),
    pytest.param("https://a.parts.example/", "", ALLOWED, id="below-a-star"),
    pytest.param("https://parts.example/", "", NOT_NAMED, id="the-star-covers-subdomains-only"),
    pytest.param("https://notparts.example/", "", NOT_NAMED, id="suffix-lookalike"),
    pytest.param("https://shop.example.evil.example/", "", NOT_NAMED, id="prefix-lookalike"),
    pytest.param("http://shop.example/", "", NOT_NAMED, id="another-scheme"),
    pytest.param("https://shop.example:8443/", "", NOT_NAMED, id="another-port"),
    pytest.param("https://pay.shop.example/", "", NOT_NAMED, id="subdomain"),
    pytest.param("http://old.example:8080/", "", ALLOWED, id="named-with-a-port"),
    pytest.param("http://127.0.0.1:8731/x", "", ALLOWED, id="opened-place-that-is-not-named"),
    pytest.param("http://127.0.0.1:8732/x", "", DENIED, id="place-that-is-not-opened"),
    pytest.param("https://user:pw@shop.example/", "", DENIED, id="credentials"),
    pytest.param("about:blank", "", ALLOWED, id="blank"),
    pytest.param("about:srcdoc", "", ALLOWED, id="srcdoc"),
    pytest.param("about:blank#x", "", ALLOWED, id="blank-with-a-fragment"),
    pytest.param("", "", ALLOWED, id="not-there-yet"),
    pytest.param("about:blank", "https://shop.example", ALLOWED, id="blank-of-its-own"),
    pytest.param("about:blank", "https://mail.example", NOT_NAMED, id="blank-of-another"),
    pytest.param("about:srcdoc", "http://127.0.0.1:8732", DENIED, id="srcdoc-of-an-inner-place"),
    pytest.param("about:blank", "://", ALLOWED, id="what-chromium-says-of-a-blank-page"),
    pytest.param("about:blank", "null", ALLOWED, id="opaque"),
    pytest.param("data:text/html,x", "null", ALLOWED, id="data"),
    pytest.param("data:text/html,x", "https://mail.example", NOT_NAMED, id="data-of-another"),
    pytest.param("blob:null/1-2", "", ALLOWED, id="blob-of-an-opaque-origin"),
    pytest.param("blob:https://shop.example/1-2", "", ALLOWED, id="own-blob"),
    pytest.param("blob:https://mail.example/1-2", "", NOT_NAMED, id="foreign-blob"),
    pytest.param("blob:blob:https://shop.example/1-2", "", DENIED, id="blob-in-a-blob"),
    pytest.param("blob:file:///etc/passwd", "", DENIED, id="blob-of-a-file"),
    pytest.param("chrome-error://chromewebdata/", "", ALLOWED, id="error-page"),
    pytest.param("https://shop.example/", "https://mail.example", NOT_NAMED, id="the-origin-has-the-last-word"),
    pytest.param("https://mail.example/", "https://shop.example", NOT_NAMED, id="and-so-has-the-address"),
    pytest.param("filesystem:https://shop.example/x", "", DENIED, id="filesystem"),
    pytest.param("chrome://settings/", "", DENIED, id="the-browsers-own"),
    pytest.param("chrome-extension://mhjf/index.html", "", DENIED, id="extension"),
    pytest.param("file:///etc/passwd", "", DENIED, id="file"),
    pytest.param("view-source:https://shop.example/", "", DENIED, id="source"),
    pytest.param("javascript:1", "", DENIED, id="javascript"),
    pytest.param("https://shop.example/\ud800", "", DENIED, id="half-surrogate"),
)


@pytest.mark.parametrize(("url", "origin", "code"), DOCUMENTS)
def test_a_document_is_judged_by_its_address_and_its_origin(url: str, origin: str, code: str) -> None:
    decision = judge_document(url, RULES, origin)
    assert (decision.allowed, "" if decision.allowed else decision.code) == (code == ALLOWED, code)
    assert decision.allowed or decision.reason


def test_a_refusal_names_the_origin_to_add() -> None:
    for url in ("https://mail.example/x?y", "blob:https://mail.example/1-2"):
        decision = judge_document(url, RULES)
        assert (decision.origin, decision.origin in decision.reason) == ("https://mail.example", True)


def test_without_origins_any_public_document_may_be_shown() -> None:
    assert judge_document("https://mail.example/", ANYWHERE).allowed
    assert judge_document("blob:https://mail.example/1-2", ANYWHERE).allowed
    assert not judge_document("http://127.0.0.1:8731/", ANYWHERE).allowed


# --- cookies

REQUEST, RESPONSE = "Network.requestWillBeSentExtraInfo", "Network.responseReceivedExtraInfo"
HANDSHAKE, SHAKEN = "Network.webSocketWillSendHandshakeRequest", "Network.webSocketHandshakeResponseReceived"
OWN, FOREIGN = "shop.example", "mail.example"


def cookie(value: str, domain: str) -> dict[str, Any]:
    return {"cookie": {"name": "n", "value": value, "domain": domain}, "blockedReasons": []}


def request(number: str, host: str | None, *, name: str = "Host", others: tuple[str, ...] = ()) -> dict[str, Any]:
    headers = {"Cookie": f"n=SENT-{host}"} | ({} if host is None else {name: host})
    listed = [cookie(f"LISTED-{one}", one) for one in ((host or "").partition(":")[0], *others)]
    return {"requestId": number, "headers": headers, "associatedCookies": listed, "connectTiming": {}}


def response(number: str, value: str) -> dict[str, Any]:
    return {
        "requestId": number,
        "blockedCookies": [{"blockedReasons": ["SameSiteLax"], "cookieLine": f"n={value}"}],
        "exemptedCookies": [cookie(value, "")],
        "headers": {"Set-Cookie": f"n={value}", "SET-cookie": value, "Content-Type": "text/html"},
        "headersText": f"HTTP/1.1 200 OK\r\nSet-Cookie: n={value}\r\n",
    }


def handshake(number: str, host: str) -> dict[str, Any]:
    return {
        "requestId": number,
        "request": {"headers": {"Host": host, "Cookie": f"n=SENT-{host}", "Upgrade": "websocket"}},
    }


def shaken(number: str, value: str) -> dict[str, Any]:
    made = {
        "status": 101,
        "headers": {"Set-Cookie": value, "Upgrade": "websocket"},
        "headersText": f"HTTP/1.1 101\r\nSet-Cookie: {value}\r\n",
        "requestHeaders": {"Cookie": value, "Host": "x"},
        "requestHeadersText": f"GET / HTTP/1.1\r\nCookie: {value}\r\n",
    }
    return {"requestId": number, "response": made}


def told(screen: CookieScreen, method: str, event: dict[str, Any]) -> str:
    made = screen.screened(method, json.dumps(event).encode())
    return "" if made is None else json.dumps(json.loads(made))


def unchanged(screen: CookieScreen, method: str, event: dict[str, Any]) -> bool:
    raw = json.dumps(event).encode()
    return screen.screened(method, raw) is raw


HOSTS = (  # the header, its value, whether its cookies are the app's
    pytest.param("Host", "shop.example", True, id="own"),
    pytest.param("host", "shop.example", True, id="small-letters"),
    pytest.param("HOST", "SHOP.EXAMPLE", True, id="capitals"),
    pytest.param(":authority", "shop.example", True, id="http-2"),
    pytest.param(":authority", "shop.example:443", True, id="with-its-port"),
    pytest.param("Host", "a.parts.example", True, id="below-a-star"),
    pytest.param("Host", "old.example:8080", True, id="a-named-port"),
    pytest.param("Host", "127.0.0.1:8731", True, id="opened-place"),
    pytest.param("Host", "mail.example", False, id="foreign"),
    pytest.param(":authority", "mail.example", False, id="foreign-http-2"),
    pytest.param("Host", "pay.shop.example", False, id="subdomain"),
    pytest.param("Host", "shop.example.evil.example", False, id="lookalike"),
    pytest.param("Host", "", False, id="empty"),
    pytest.param("X-Host", "shop.example", False, id="no-host-at-all"),
)


@pytest.mark.parametrize(("name", "host", "own"), HOSTS)
def test_a_request_shows_cookies_when_its_host_is_the_apps(name: str, host: str, own: bool) -> None:
    screen = CookieScreen(RULES)
    text = told(screen, REQUEST, request("1", host, name=name))
    assert ("SENT" in text, "LISTED" in text and bool(host)) == (own, own)
    assert ("ANSWERED" in told(screen, RESPONSE, response("1", "ANSWERED"))) == own
    where = handshake("2", host) if name.lower() == "host" else {"requestId": "2", "request": {"headers": {name: host}}}
    told(screen, HANDSHAKE, where)
    assert ("ANSWERED" in told(screen, SHAKEN, shaken("2", "ANSWERED"))) == own


def test_what_is_the_apps_goes_on_as_the_same_bytes() -> None:
    screen = CookieScreen(RULES)
    assert unchanged(screen, REQUEST, request("1", OWN))
    assert unchanged(screen, RESPONSE, response("1", "x"))
    assert unchanged(screen, HANDSHAKE, handshake("2", OWN))
    assert unchanged(screen, SHAKEN, shaken("2", "x"))


SAME_SITE = (  # the domain of a cookie that is listed with a request to shop.example, whether it is that host's
    pytest.param("shop.example", True, id="the-host"),
    pytest.param(".shop.example", True, id="the-host-and-below"),
    pytest.param("SHOP.example", True, id="capitals"),
    pytest.param("pay.shop.example", False, id="subdomain"),
    pytest.param(".pay.shop.example", False, id="below-a-subdomain"),
    pytest.param("p.example", False, id="suffix-without-a-dot"),
    pytest.param(".op.example", False, id="suffix-in-a-label"),
    pytest.param("", False, id="none"),
)


@pytest.mark.parametrize(("domain", "own"), SAME_SITE)
def test_a_request_lists_the_cookies_of_its_own_host_alone(domain: str, own: bool) -> None:
    """Observed with Chromium 156: those of other hosts of its site come along, as blocked."""
    event = request("1", OWN)
    event["associatedCookies"].append(cookie("BESIDE", domain))
    text = told(CookieScreen(RULES), REQUEST, event)
    assert ("BESIDE" in text, f"LISTED-{OWN}" in text) == (own, True)


def test_a_cookie_without_a_domain_is_nobodys() -> None:
    event = request("1", OWN)
    event["associatedCookies"] += [{"blockedReasons": []}, {"cookie": {"value": "NOBODYS"}}]
    assert "NOBODYS" not in told(CookieScreen(RULES), REQUEST, event)


def test_a_parents_cookie_is_listed_below_it_with_a_dot_alone() -> None:
    for domain, own in ((".parts.example", True), ("parts.example", False)):
        event = request("1", "a.parts.example", others=(domain,))
        assert (f"LISTED-{domain}" in told(CookieScreen(RULES), REQUEST, event).replace("LISTED-a", "")) == own


def test_redirects_share_an_id_and_each_is_judged_by_its_own_host() -> None:
    screen = CookieScreen(RULES)
    for step, host in enumerate((OWN, FOREIGN, OWN, FOREIGN, FOREIGN, OWN)):
        own = host == OWN
        assert (f"SENT-{host}" in told(screen, REQUEST, request("7", host))) == own
        assert (f"VALUE-{step}" in told(screen, RESPONSE, response("7", f"VALUE-{step}"))) == own


STEPS = (
    (REQUEST, request("1", FOREIGN)),
    (RESPONSE, response("1", f"SENT-{FOREIGN}")),
    (HANDSHAKE, handshake("2", FOREIGN)),
)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_in_no_order_is_a_foreign_cookie_told(order: tuple[int, ...]) -> None:
    screen = CookieScreen(RULES)
    steps = (*STEPS, (SHAKEN, shaken("2", f"SENT-{FOREIGN}")))
    for number in order:
        text = told(screen, *steps[number])
        assert (f"SENT-{FOREIGN}" in text, f"LISTED-{FOREIGN}" in text) == (False, False)


def test_an_answer_to_nobody_knows_what_is_not_told_its_cookies() -> None:
    screen = CookieScreen(RULES)
    for method, event in ((RESPONSE, response("9", "VALUE")), (SHAKEN, shaken("9", "VALUE"))):
        assert "VALUE" not in told(screen, method, event)
    assert "VALUE" not in told(screen, RESPONSE, {**response("9", "VALUE"), "requestId": None})


def test_it_remembers_so_many_requests_and_forgets_to_the_safe_side() -> None:
    screen = CookieScreen(RULES, remembered=3)
    for number in range(5):
        told(screen, REQUEST, request(str(number), OWN))
    kept = [number for number in range(5) if "VALUE" in told(screen, RESPONSE, response(str(number), "VALUE"))]
    assert kept == [2, 3, 4]
    told(screen, REQUEST, request("2", OWN))  # asked again, it is the newest
    told(screen, REQUEST, request("5", FOREIGN))
    kept = [number for number in range(6) if "VALUE" in told(screen, RESPONSE, response(str(number), "VALUE"))]
    assert kept == [2, 4]


def test_a_foreign_handshake_is_told_without_its_cookies() -> None:
    screen = CookieScreen(RULES)
    asked = json.loads(told(screen, HANDSHAKE, handshake("1", FOREIGN)))
    assert asked["request"]["headers"] == {"Host": FOREIGN, "Upgrade": "websocket"}
    answered = json.loads(told(screen, SHAKEN, shaken("1", "VALUE")))
    assert answered["response"] == {
        "status": 101,
        "headers": {"Upgrade": "websocket"},
        "requestHeaders": {"Host": "x"},
    }


def test_half_surrogates_of_a_page_pass_through() -> None:
    own = {**request("1", OWN), "note": "\ud800"}
    assert unchanged(CookieScreen(RULES), REQUEST, own)
    beside = {**request("1", OWN, others=(FOREIGN,)), "note": "\udfff"}
    made = CookieScreen(RULES).screened(REQUEST, json.dumps(beside).encode())
    assert made is not None
    assert json.loads(made)["note"] == "\udfff"


VALUES = (
    st.text(max_size=5) | st.none() | st.integers() | st.sampled_from([FOREIGN, f"{FOREIGN}:443", "pay.shop.example"])
)
HEADERS = st.dictionaries(st.sampled_from(["Host", "host", "hOST", ":authority", ":path", "x"]), VALUES)
PLACES = {REQUEST: (), RESPONSE: (), HANDSHAKE: ("request",), SHAKEN: ("response",)}


@given(method=st.sampled_from(sorted(COOKIE_EVENTS)), headers=HEADERS)
def test_no_headers_but_those_of_an_own_host_bring_a_cookie(method: str, headers: dict[str, Any]) -> None:
    event: dict[str, Any] = {"headers": {**headers, "Cookie": "VALUE", "set-cookie": "VALUE"}}
    for name in PLACES[method]:
        event = {name: event}
    assert "VALUE" not in told(CookieScreen(RULES), method, {"requestId": "1", **event})


# --- held requests


def test_what_a_held_document_may_be_answered_with_depends_on_its_address() -> None:
    made = {"responseCode": 200, "body": ""}
    for held, code in (
        (Paused("https://shop.example/", True), ALLOWED),
        (Paused("https://mail.example/", True), NOT_NAMED),
        (Paused("https://127.0.0.1/", True), DENIED),
    ):
        around = Surroundings(RULES, "https://shop.example/", paused={"1": held})
        for method in ("Fetch.fulfillRequest", "Fetch.continueResponse"):
            ruling = judge_condition(method, {"requestId": "1", **made}, around)
            assert (ruling.allowed, "" if ruling.allowed else ruling.code) == (code == ALLOWED, code)
