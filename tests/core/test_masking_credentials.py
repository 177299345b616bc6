"""Headers, cookies and tokens are masked by the names they go under, also when nothing at all is found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from host.core.masking.credentials import HEADERS
from tests.core.masking import PROTOCOL, untouched

TOLD = (  # value, told
    pytest.param(
        {"headers": {"Cookie": "a=1; b=two"}}, {"headers": {"Cookie": "a=<COOKIE_1>; b=<COOKIE_2>"}}, id="cookie"
    ),
    pytest.param(
        {"headers": {"set-cookie": "sid=abc; Path=/; HttpOnly; SameSite=Lax"}},
        {"headers": {"set-cookie": "sid=<COOKIE_1>; Path=/; HttpOnly; SameSite=Lax"}},
        id="set-cookie",
    ),
    pytest.param(
        {"headers": {"Set-Cookie": "a=1; Secure\nb=2; Domain=x.test"}},
        {"headers": {"Set-Cookie": "a=<COOKIE_1>; Secure\nb=<COOKIE_2>; Domain=x.test"}},
        id="two-set-cookies",
    ),
    pytest.param({"headers": {"Cookie": "lonely"}}, {"headers": {"Cookie": "<COOKIE_1>"}}, id="cookie-without-a-name"),
    pytest.param(
        {"headers": {"Cookie": "path=secret; secure=x"}},
        {"headers": {"Cookie": "path=<COOKIE_1>; secure=<COOKIE_2>"}},
        id="cookies-named-like-attributes",
    ),
    pytest.param(
        {"headers": {"Authorization": "Bearer abc.def"}},
        {"headers": {"Authorization": "Bearer <TOKEN_1>"}},
        id="bearer",
    ),
    pytest.param(
        {"headers": {"authorization": "Basic b2RhOng="}}, {"headers": {"authorization": "Basic <TOKEN_1>"}}, id="basic"
    ),
    pytest.param(
        {"headers": {"Proxy-Authorization": 'Digest username="oda", nonce="n"'}},
        {"headers": {"Proxy-Authorization": "Digest <TOKEN_1>"}},
        id="digest",
    ),
    pytest.param({"headers": {"Authorization": "raw"}}, {"headers": {"Authorization": "<TOKEN_1>"}}, id="no-scheme"),
    pytest.param({"requestHeaders": {"X-Api-Key": "k"}}, {"requestHeaders": {"X-Api-Key": "<KEY_1>"}}, id="api-key"),
    pytest.param(
        {"headers": {"X-Shop-Session-Token": "t"}}, {"headers": {"X-Shop-Session-Token": "<TOKEN_1>"}}, id="a-shops-own"
    ),
    pytest.param(
        {"headers": [{"name": "Cookie", "value": "a=1"}, {"name": "Accept", "value": "text/html"}]},
        {"headers": [{"name": "Cookie", "value": "a=<COOKIE_1>"}, {"name": "Accept", "value": "text/html"}]},
        id="har",
    ),
    pytest.param(
        {"headers": [["authorization", "Bearer x"], ["accept", "text/html"]]},
        {"headers": [["authorization", "Bearer <TOKEN_1>"], ["accept", "text/html"]]},
        id="entries",
    ),
    pytest.param(
        {"cookies": [{"name": "sid", "value": "a=b", "domain": "x.test"}]},
        {"cookies": [{"name": "sid", "value": "<COOKIE_1>", "domain": "x.test"}]},
        id="cookies-of-chromium",
    ),
    pytest.param({"cookieLine": "a=1; Path=/"}, {"cookieLine": "a=<COOKIE_1>; Path=<COOKIE_2>"}, id="refused-cookie"),
    pytest.param(
        {"headersText": "HTTP/1.1 200 OK\r\nSet-Cookie: sid=abc; Path=/\r\nAge: 1\r\n\r\n"},
        {"headersText": "HTTP/1.1 200 OK\r\nSet-Cookie: sid=<COOKIE_1>; Path=/\r\nAge: 1\r\n\r\n"},
        id="headers-as-text",
    ),
    pytest.param(
        {"t": "curl -H 'Cookie: a=1; b=2' -H \"Authorization: Bearer xyz9\" https://x.test/"},
        {"t": "curl -H 'Cookie: a=<COOKIE_1>; b=<COOKIE_2>' -H \"Authorization: Bearer <TOKEN_1>\" https://x.test/"},
        id="curl",
    ),
    pytest.param(
        {"t": "curl -u oda:secret -b 'a=1' https://x.test/"},
        {"t": "curl -u <PASSWORD_1> -b 'a=<COOKIE_1>' https://x.test/"},
        id="curl-user-and-cookie",
    ),
    pytest.param(
        {"t": 'fetch("/x", {headers: {"authorization": "Bearer xyz9", "accept": "*/*"}})'},
        {"t": 'fetch("/x", {headers: {"authorization": "Bearer <TOKEN_1>", "accept": "*/*"}})'},
        id="fetch",
    ),
    pytest.param(
        {"u": "https://x.test/?access_token=abcd1234&page=2"},
        {"u": "https://x.test/?access_token=<TOKEN_1>&page=2"},
        id="url",
    ),
    pytest.param({"u": "https://oda:pw@x.test/"}, {"u": "https://<PASSWORD_1>@x.test/"}, id="user-info"),
    pytest.param({"accessToken": "abcdef"}, {"accessToken": "<TOKEN_1>"}, id="key-token"),
    pytest.param(
        {"s": '{"refresh_token":"abcdef"}'}, {"s": '{"refresh_token":"<TOKEN_1>"}'}, id="key-token-in-storage"
    ),
    pytest.param({"user": {"newPassword": "tr0ub4dor"}}, {"user": {"newPassword": "<PASSWORD_1>"}}, id="key-password"),
    pytest.param({"client_secret": "abcdef"}, {"client_secret": "<KEY_1>"}, id="key-secret"),
    pytest.param(
        {"card": {"cvv": 123}, "pin": "0421"}, {"card": {"cvv": "<SECRET_1>"}, "pin": "<SECRET_2>"}, id="cvv-pin"
    ),
    pytest.param(
        {"headers": {"Cookie": "sid=0a1b2c3d4e"}, "note": "logged 0a1b2c3d4e in"},
        {"headers": {"Cookie": "sid=<COOKIE_1>"}, "note": "logged <COOKIE_1> in"},
        id="the-same-secret-elsewhere",
    ),
)


@pytest.mark.parametrize(("value", "told"), TOLD)
def test_a_credential_is_masked_whatever_is_found(value: Any, told: Any) -> None:
    assert untouched(value).value == told


@pytest.mark.parametrize(("value", "told"), TOLD)
def test_in_an_object_of_the_protocol_it_is_masked_just_so(value: Any, told: Any) -> None:
    assert untouched({"params": value}, asked=PROTOCOL).value == {"params": told}


HARMLESS = (
    pytest.param({"headers": {"Content-Type": "text/html", "Age": "17"}}, id="other-headers"),
    pytest.param({"headers": {"Access-Control-Allow-Credentials": "true"}}, id="credentials-allowed"),
    pytest.param({"t": "Cookie: we use them to keep you signed in"}, id="cookie-in-prose"),
    pytest.param({"t": "Authorization: required for all pages"}, id="authorization-in-prose"),
    pytest.param({"password": "Forgot your password?"}, id="a-page-speaks-of-passwords"),
    pytest.param({"password": "Password"}, id="label"),
    pytest.param({"password": "••••••••"}, id="dots"),
    pytest.param({"password": True, "token": None, "secret": 7}, id="no-strings"),
    pytest.param({"nextPageToken": "abcdefgh"}, id="cursor"),
    pytest.param({"cookies": "We use cookies."}, id="words-under-cookies"),
    pytest.param({"pin": "Pin to the top"}, id="pin-of-a-board"),
    pytest.param({"name": "sid", "value": "x"}, id="no-cookie"),
    pytest.param({"u": "https://x.test/?page=abcd1234&sort=desc"}, id="other-parameters"),
    pytest.param({"u": "https://x.test/@oda:1/"}, id="at-sign-in-a-path"),
)


@pytest.mark.parametrize("value", HARMLESS)
def test_what_is_no_credential_stays(value: Any) -> None:
    assert untouched(value).value == value


@pytest.mark.parametrize("name", HEADERS)
def test_each_known_header_is_masked_in_objects_lists_and_text(name: str) -> None:
    title = name.title()
    value = {
        "headers": {title: "a=b0123456"},
        "list": [{"name": name, "value": "a=b0123456"}],
        "t": f"{title}: a=b0123456\r\nX: y",
    }
    told = json.dumps(untouched(value).value)
    assert "b0123456" not in told
    assert title in told
    assert "X: y" in told
