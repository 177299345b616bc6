"""The conditional rules: what each lets pass, refuses and writes anew, by table and against an oracle."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from host.core.conditions import CONDITIONS, Ruling, Surroundings, judge_condition
from host.core.policy import Verdict, load_rules
from host.core.scope import Paused
from host.core.urls import UrlRules
from tests.core.oracle_conditions import ANSWERED, CLOSES, OPEN_PLACE, ORACLE, Outcome

PAGE = "https://shop.example/cart"
FRAMES = (
    PAGE,
    "https://pay.example/frame",
    "http://127.0.0.1:8731/x",
    "about:srcdoc",
    "https://xn--mnich-kva.example/",
)
OWN_URLS = [url for url in FRAMES if url.startswith("http")]
RULES = UrlRules(frozenset((OPEN_PLACE,)))
AROUND = Surroundings(RULES, PAGE, FRAMES)
SAME = "the same parameters go on"
MIB = 1024 * 1024


def outcome(method: str, params: dict[str, Any], around: Surroundings = AROUND) -> Outcome:
    """What the rule makes of it, in the oracle's words."""
    before = copy.deepcopy(params)
    ruling = judge_condition(method, params, around)
    assert params == before  # judged, not changed in place
    if not ruling.allowed:
        assert ruling.code in ("BROWSER_POLICY_DENIED", "ORIGIN_NOT_ALLOWED")
        assert (ruling.params, ruling.answer) == (None, None)
        assert ruling.reason != ""
        return None
    if ruling.answer is not None:
        assert (ruling.answer, ruling.params) == (b'{"cookies":[]}' if method == "Network.getCookies" else b"{}", None)
        return CLOSES if ruling.closes else ANSWERED
    assert ruling.params is not None
    made: dict[str, Any] = json.loads(ruling.params)
    return made


def binary(text: str) -> dict[str, Any]:
    """Response headers as Fetch takes them in binary."""
    return {"binaryResponseHeaders": base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()}


def location(value: str, name: str = "Location") -> dict[str, Any]:
    return {"requestId": "r", "responseCode": 302, "responseHeaders": [{"name": name, "value": value}]}


def cookie(**fields: Any) -> dict[str, Any]:
    return {"name": "n", "value": "v", **fields}


def keys(**fields: Any) -> dict[str, Any]:
    return {"type": "rawKeyDown", **fields}


NETWORK = {"maxPostDataSize": 16384, "maxResourceBufferSize": 8 * MIB, "maxTotalBufferSize": 32 * MIB}
SIZE = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
Case = tuple[str, dict[str, Any], Any]

CASES: dict[str, tuple[Case, ...]] = {  # by method: id, parameters, what goes on (None: refused)
    "Audits.getEncodedResponse": (
        ("size-only", {"requestId": "1", "encoding": "png", "sizeOnly": True}, SAME),
        ("an-image", {"requestId": "1", "encoding": "png", "sizeOnly": False}, None),
        ("absent", {"requestId": "1", "encoding": "png"}, None),
        ("one", {"sizeOnly": 1}, None),
        ("text", {"sizeOnly": "true"}, None),
        ("other-case", {"sizeonly": True}, None),
        ("in-a-list", {"sizeOnly": [True]}, None),
    ),
    "Emulation.setDeviceMetricsOverride": (
        ("ordinary", SIZE, SAME),
        ("off", {"width": 0, "height": 0, "deviceScaleFactor": 0, "mobile": False}, SAME),
        ("the-limits", {**SIZE, "width": 4096, "height": 4096, "deviceScaleFactor": 4, "scale": 4}, SAME),
        ("wide", {**SIZE, "width": 4097}, None),
        ("high", {**SIZE, "height": 10_000_000}, None),
        ("negative", {**SIZE, "width": -1}, None),
        ("sharp", {**SIZE, "deviceScaleFactor": 4.01}, None),
        ("scaled", {**SIZE, "scale": 5}, None),
        ("the-screens-limit", {**SIZE, "screenWidth": 8192, "screenHeight": 8192}, SAME),
        ("a-large-screen", {**SIZE, "screenWidth": 8193}, None),
        ("true-is-no-number", {**SIZE, "width": True}, None),
        ("text-is-no-number", {**SIZE, "width": "1"}, None),
        ("null-is-no-number", {**SIZE, "scale": None}, None),
        ("list-is-no-number", {**SIZE, "height": [1]}, None),
        ("huge", {**SIZE, "width": 10**400}, None),
        ("a-viewport", {**SIZE, "viewport": {"x": -5, "y": 0, "width": 10, "height": 10, "scale": 1}}, SAME),
        ("a-large-viewport", {**SIZE, "viewport": {"width": 99_999, "height": 1, "scale": 1}}, None),
        ("a-scaled-viewport", {**SIZE, "viewport": {"width": 1, "height": 1, "scale": 40}}, None),
        ("viewport-as-a-list", {**SIZE, "viewport": [99_999]}, None),
        ("others-are-kept", {**SIZE, "viewportMeta": "enable", "textLayoutMode": "\ud800", "positionX": 9}, SAME),
    ),
    "Emulation.setVisibleSize": (
        ("ordinary", {"width": 800, "height": 600}, SAME),
        ("the-limit", {"width": 4096, "height": 4096}, SAME),
        ("wide", {"width": 4096.5, "height": 1}, None),
        ("high", {"width": 1, "height": 4097}, None),
        ("true-is-no-number", {"width": 1, "height": True}, None),
    ),
    "Fetch.continueRequest": (
        ("as-it-is", {"requestId": "r"}, SAME),
        ("a-public-url", {"requestId": "r", "url": "https://other.example/x"}, SAME),
        ("an-opened-place", {"requestId": "r", "url": f"http://{OPEN_PLACE}/"}, SAME),
        ("a-file", {"requestId": "r", "url": "file:///etc/passwd"}, None),
        ("mail", {"requestId": "r", "url": "mailto:a@b"}, None),
        ("another-port", {"requestId": "r", "url": "http://127.0.0.1:1/"}, None),
        ("blank", {"requestId": "r", "url": "about:blank"}, None),
        ("url-as-a-list", {"requestId": "r", "url": ["https://other.example/"]}, None),
        ("url-false", {"requestId": "r", "url": False}, None),
        ("headers", {"requestId": "r", "headers": [{"name": "Cookie", "value": "a=b"}]}, SAME),
        ("host", {"requestId": "r", "headers": [{"name": "hOST", "value": "x"}]}, None),
        ("host-among-others", {"headers": [{"name": "A", "value": "b"}, {"name": "Host", "value": "x"}]}, None),
        ("proxy", {"headers": [{"name": "Proxy-Authorization", "value": "x"}]}, None),
        ("headers-as-an-object", {"headers": {"Host": "x"}}, None),
        ("headers-null", {"headers": None}, None),
        ("header-without-value", {"headers": [{"name": "A"}]}, None),
        ("header-name-as-a-list", {"headers": [{"name": ["Host"], "value": "x"}]}, None),
        ("post-data-is-kept", {"requestId": "r", "method": "POST", "postData": "AA==", "x": "\udfff"}, SAME),
    ),
    "Fetch.continueResponse": (
        ("as-it-is", {"requestId": "r"}, SAME),
        ("relative", location("/next"), SAME),
        ("mail", location("mailto:a@b"), None),
        ("mail-in-binary", binary("Location: mailto:a@b"), None),
    ),
    "Fetch.enable": (
        ("nothing", {}, {"handleAuthRequests": False}),
        ("auth", {"handleAuthRequests": True}, {"handleAuthRequests": False}),
        ("auth-as-a-list", {"handleAuthRequests": [True]}, {"handleAuthRequests": False}),
        (
            "patterns-are-kept",
            {"patterns": [{"urlPattern": "*\ud800"}], "handleAuthRequests": False},
            {"patterns": [{"urlPattern": "*\ud800"}], "handleAuthRequests": False},
        ),
        (
            "another-case-is-another-key",
            {"HandleAuthRequests": 1},
            {"HandleAuthRequests": 1, "handleAuthRequests": False},
        ),
    ),
    "Fetch.fulfillRequest": (
        ("a-body", {"requestId": "r", "responseCode": 200, "body": "AA=="}, SAME),
        ("no-headers", {"requestId": "r", "responseCode": 200, "responseHeaders": []}, SAME),
        ("public", location("https://other.example/x?y#z"), SAME),
        ("opened-place", location(f"http://{OPEN_PLACE}/"), SAME),
        ("relative", location("next?to=mailto:a@b"), SAME),
        ("absolute-path", location("/next"), SAME),
        ("query", location("?next"), SAME),
        ("empty", location(""), SAME),
        ("host-only", location("//other.example/"), SAME),
        ("mail", location("mailto:a@b"), None),
        ("mail-in-capitals", location("MAILTO:a@b"), None),
        ("mail-behind-a-space", location(" mailto:a@b"), None),
        ("mail-with-a-tab-inside", location("ma\tilto:a@b"), None),
        ("mail-with-a-line-break-inside", location("ma\nilto:a@b"), None),
        ("mail-behind-a-control-character", location("\x01mailto:a@b"), None),
        ("name-in-capitals", location("mailto:a@b", "LOCATION"), None),
        ("name-with-a-space", location("mailto:a@b", "location "), None),
        ("another-header", location("mailto:a@b", "X-Location"), SAME),
        (
            "the-second-one",
            {"responseHeaders": location("/")["responseHeaders"] + location("x:y")["responseHeaders"]},
            None,
        ),
        ("file", location("file:///etc/passwd"), None),
        ("chrome", location("chrome://settings"), None),
        ("script", location("javascript:alert(1)"), None),
        ("data", location("data:text/html,x"), None),
        ("no-slashes", location("https:other.example"), None),
        ("credentials", location("https://u:p@other.example/"), None),
        ("loopback", location("http://127.0.0.1:1/"), None),
        ("host-only-loopback", location("//127.0.0.1:1/"), None),
        ("host-only-with-backslashes", location("\\\\127.0.0.1:1/"), None),
        ("host-only-three-slashes", location("/\\/127.0.0.1:1/"), None),
        ("host-only-with-a-tab", location("/\t/127.0.0.1:1/"), None),
        ("enclosed-digit", location("http://127.0.0.\u2461:1/"), None),
        ("headers-as-an-object", {"responseHeaders": {"Location": "mailto:a@b"}}, None),
        ("value-as-a-list", {"responseHeaders": [{"name": "Location", "value": ["mailto:a@b"]}]}, None),
        ("binary", binary("A: b\0Location: /next\0"), SAME),
        ("binary-public", binary("location:https://other.example/"), SAME),
        ("binary-mail", binary("A: b\0lOCATION :mailto:a@b"), None),
        ("binary-line-break-in-the-scheme", binary("Location: ma\nilto:a@b"), None),
        ("binary-return-in-the-scheme", binary("Location: ma\rilto:a@b"), None),
        ("binary-line-break-between-headers", binary("A: b\nLocation: /next"), None),
        ("binary-tab-in-the-scheme", binary("Location: ma\tilto:a@b"), None),
        ("binary-enclosed-digit", binary("Location: http://127.0.0.\u2461:1/"), None),
        ("binary-full-width", binary("Location: http://\uff11\uff12\uff17.0.0.1:1/"), None),
        ("binary-half-a-surrogate", binary("Location: http://\ud800.example/"), None),
        ("binary-not-base64", {"binaryResponseHeaders": "Location: x"}, None),
        ("binary-base64-with-a-line-break", {"binaryResponseHeaders": "QTog\nYg=="}, None),
        ("binary-as-a-number", {"binaryResponseHeaders": 1}, None),
        ("binary-as-a-list", {"binaryResponseHeaders": [76]}, None),
        ("binary-null", {"binaryResponseHeaders": None}, SAME),
    ),
    "Input.dispatchDragEvent": (
        ("no-files", {"type": "drop", "x": 1, "y": 1, "data": {"items": [], "dragOperationsMask": 1}}, SAME),
        ("empty-files", {"type": "drop", "data": {"items": [], "files": []}}, SAME),
        ("a-file", {"type": "drop", "data": {"items": [], "files": ["/etc/passwd"]}}, None),
        ("an-empty-name", {"data": {"files": [""]}}, None),
        ("a-list-in-the-list", {"data": {"files": [[]]}}, None),
        ("files-as-text", {"data": {"files": "/etc/passwd"}}, None),
        ("files-as-an-object", {"data": {"files": {}}}, None),
        ("files-null", {"data": {"files": None}}, None),
        ("files-false", {"data": {"files": False}}, None),
        ("data-as-a-list", {"data": [{"files": ["/etc/passwd"]}]}, None),
        ("data-null", {"data": None}, None),
        ("files-elsewhere-mean-nothing", {"files": ["/etc/passwd"], "data": {"items": [{"files": ["x"]}]}}, SAME),
    ),
    "Input.dispatchKeyEvent": (
        ("a-letter", keys(key="v", code="KeyV", windowsVirtualKeyCode=86, text="v"), SAME),
        ("shift-v", keys(key="V", code="KeyV", modifiers=8), SAME),
        ("alt-v", keys(key="v", code="KeyV", modifiers=1), SAME),
        ("ctrl-a", keys(key="a", code="KeyA", modifiers=2, windowsVirtualKeyCode=65), SAME),
        ("insert", keys(key="Insert", code="Insert", windowsVirtualKeyCode=45), SAME),
        ("ctrl-insert-copies", keys(key="Insert", code="Insert", modifiers=2), SAME),
        ("ctrl-v-by-key", keys(key="v", modifiers=2), None),
        ("ctrl-v-by-key-in-capitals", keys(key="V", modifiers=2), None),
        ("ctrl-v-by-code", keys(code="KeyV", modifiers=2), None),
        ("ctrl-v-by-number", keys(windowsVirtualKeyCode=86, modifiers=2), None),
        ("ctrl-v-by-a-broken-number", keys(windowsVirtualKeyCode=86.0, modifiers=2.0), None),
        ("ctrl-v-by-native-number", keys(nativeVirtualKeyCode=86, modifiers=2), None),
        ("ctrl-v-by-identifier", keys(keyIdentifier="u+0056", modifiers=2), None),
        ("ctrl-v-by-text", keys(unmodifiedText="v", modifiers=2), None),
        ("meta-v", keys(key="v", modifiers=4), None),
        ("ctrl-shift-v", keys(code="KeyV", modifiers=10), None),
        ("all-modifiers-and-more", keys(code="KeyV", modifiers=255), None),
        ("negative-modifiers", keys(code="KeyV", modifiers=-1), None),
        ("a-huge-modifier", keys(code="KeyV", modifiers=2**70 + 2), None),
        ("shift-insert", keys(key="Insert", modifiers=8), None),
        ("shift-insert-by-number", keys(windowsVirtualKeyCode=45, modifiers=8), None),
        ("shift-insert-by-code", keys(code="Insert", modifiers=9), None),
        ("the-paste-key", keys(key="Paste"), None),
        ("the-paste-key-in-capitals", keys(key=" PASTE"), None),
        ("the-paste-key-by-code", keys(code="Paste"), None),
        ("modifiers-as-text", keys(key="a", modifiers="2"), None),
        ("modifiers-true", keys(key="a", modifiers=True), None),
        ("modifiers-null", keys(key="a", modifiers=None), None),
        ("half-a-modifier", keys(key="a", modifiers=2.5), None),
        ("editing", keys(commands=["selectAll", "moveLeft", "deleteBackward", "insertTab", "undo", "redo"]), SAME),
        ("editing-as-a-mac-spells-it", keys(commands=["moveToBeginningOfLine:"]), SAME),
        ("paste", keys(commands=["paste"]), None),
        ("paste-in-capitals", keys(commands=["Paste"]), None),
        ("paste-among-others", keys(commands=["selectAll", "pasteAndMatchStyle"]), None),
        ("paste-behind-a-space", keys(commands=[" paste"]), None),
        ("paste-behind-another", keys(commands=["moveLeft paste"]), None),
        ("yank", keys(commands=["yank"]), None),
        ("copy", keys(commands=["copy"]), None),
        ("undo-and-more", keys(commands=["undopaste"]), None),
        ("look-alike", keys(commands=["m\u043evePaste"]), None),
        ("commands-as-text", keys(commands="paste"), None),
        ("commands-as-an-object", keys(commands={"0": "paste"}), None),
        ("command-as-a-list", keys(commands=[["paste"]]), None),
        ("commands-null", keys(commands=None), None),
    ),
    "Network.configureDurableMessages": (
        ("off", {}, {}),
        ("smaller", {"maxTotalBufferSize": 5, "maxResourceBufferSize": 4}, SAME),
        ("larger", {"maxTotalBufferSize": 10**12}, {"maxTotalBufferSize": 32 * MIB}),
        ("one-over", {"maxResourceBufferSize": 8 * MIB + 1}, {"maxResourceBufferSize": 8 * MIB}),
        ("negative", {"maxTotalBufferSize": -1}, {"maxTotalBufferSize": 0}),
        ("text", {"maxTotalBufferSize": "5"}, None),
        ("true", {"maxTotalBufferSize": True}, None),
        ("others-are-kept", {"x": [None]}, SAME),
    ),
    "Network.deleteCookies": (
        ("own-url", cookie(url="https://shop.example/a"), SAME),
        ("own-domain", cookie(domain="shop.example"), SAME),
        ("other", cookie(url="https://other.example/"), None),
        ("neither", cookie(path="/"), None),
    ),
    "Network.emulateNetworkConditionsByRule": (
        ("absent", {"matchedNetworkConditions": []}, SAME),
        ("off", {"emulateOfflineServiceWorker": False, "matchedNetworkConditions": []}, SAME),
        ("on", {"emulateOfflineServiceWorker": True, "matchedNetworkConditions": []}, None),
        ("zero", {"emulateOfflineServiceWorker": 0}, None),
        ("null", {"emulateOfflineServiceWorker": None}, None),
    ),
    "Network.enable": (
        ("nothing", {}, NETWORK),
        ("larger", {"maxPostDataSize": 65536, "maxTotalBufferSize": 1e300}, NETWORK),
        ("smaller", {"maxPostDataSize": 0}, {**NETWORK, "maxPostDataSize": 0}),
        ("a-fraction", {"maxPostDataSize": 9.9}, {**NETWORK, "maxPostDataSize": 9}),
        ("others-are-kept", {"enableDurableMessages": True}, {**NETWORK, "enableDurableMessages": True}),
        ("direct-sockets", {"reportDirectSocketTraffic": True}, None),
        ("direct-sockets-as-text", {"reportDirectSocketTraffic": "false"}, None),
        ("true-is-no-number", {"maxPostDataSize": True}, None),
    ),
    "Network.getCookies": (
        ("own", {}, {"urls": OWN_URLS}),
        ("null-is-own", {"urls": None, "x": 1}, {"urls": OWN_URLS, "x": 1}),
        ("none", {"urls": []}, SAME),
        ("the-page", {"urls": ["https://shop.example/other/path?q"]}, SAME),
        ("a-frame", {"urls": ["https://pay.example/", "http://127.0.0.1:8731/"]}, SAME),
        ("a-frame-in-other-words", {"urls": ["HTTPS:\\\\PAY.example:443\\x"]}, SAME),
        ("another-scheme", {"urls": ["http://shop.example/"]}, None),
        ("another-port", {"urls": ["https://shop.example:444/"]}, None),
        ("a-subdomain", {"urls": ["https://www.shop.example/"]}, None),
        ("the-parent-domain", {"urls": ["https://example/"]}, None),
        ("a-dot-behind", {"urls": ["https://shop.example./"]}, None),
        ("an-encoded-dot-behind", {"urls": ["https://shop.example%2E/"]}, None),
        ("one-foreign-among-own", {"urls": ["https://shop.example/", "https://bank.example/"]}, None),
        ("credentials", {"urls": ["https://u@shop.example/"]}, None),
        ("a-file", {"urls": ["file:///"]}, None),
        ("blank", {"urls": ["about:blank"]}, None),
        ("srcdoc", {"urls": ["about:srcdoc"]}, None),
        ("an-empty-url", {"urls": [""]}, None),
        ("text", {"urls": "https://bank.example/"}, None),
        ("a-list-inside", {"urls": [["https://shop.example/"]]}, None),
        ("null-inside", {"urls": [None]}, None),
    ),
    "Network.setCookie": (
        ("own-url", cookie(url="https://shop.example/"), SAME),
        ("own-url-plain-http", cookie(url="http://shop.example:8080/"), SAME),
        ("own-domain", cookie(domain="shop.example", path="/x", secure=True), SAME),
        ("own-domain-with-a-dot", cookie(domain=".shop.example"), SAME),
        ("own-domain-in-capitals", cookie(domain="Shop.Example"), SAME),
        ("both", cookie(url="https://shop.example/", domain="shop.example"), SAME),
        ("others-are-kept", cookie(domain="shop.example", expires=1.5, sameSite="\ud800", partitionKey=None), SAME),
        ("neither", cookie(), None),
        ("both-null", cookie(url=None, domain=None), None),
        ("other-url", cookie(url="https://other.example/"), None),
        ("own-url-other-domain", cookie(url="https://shop.example/", domain="example"), None),
        ("own-domain-other-url", cookie(url="https://other.example/", domain="shop.example"), None),
        ("the-parent-domain", cookie(domain="example"), None),
        ("the-parent-domain-with-a-dot", cookie(domain=".example"), None),
        ("a-subdomain", cookie(domain="www.shop.example"), None),
        ("two-dots", cookie(domain="..shop.example"), None),
        ("a-dot-behind", cookie(domain="shop.example."), None),
        ("url-with-a-dot-behind", cookie(url="https://shop.example./"), None),
        ("look-alike", cookie(domain="shop.example.evil.example"), None),
        ("empty-domain", cookie(url="https://shop.example/", domain=""), None),
        ("a-public-suffix", cookie(domain="co.uk"), None),
        ("a-file", cookie(url="file:///shop.example"), None),
        ("a-web-socket", cookie(url="wss://shop.example/"), None),
        ("credentials", cookie(url="https://shop.example@other.example/"), None),
        ("partitioned", cookie(url="https://shop.example/", partitionKey={"topLevelSite": "https://x"}), None),
        ("partitioned-emptily", cookie(url="https://shop.example/", partitionKey={}), None),
        ("url-as-a-list", cookie(url=["https://shop.example/"]), None),
        ("url-false", cookie(url=False, domain="shop.example"), None),
        ("domain-as-a-list", cookie(domain=["shop.example"]), None),
        ("domain-with-a-space", cookie(domain="shop.example "), None),
    ),
    "Network.setCookies": (
        ("own", {"cookies": [cookie(domain="shop.example"), cookie(url="https://shop.example/")]}, SAME),
        ("none", {"cookies": []}, SAME),
        ("one-foreign", {"cookies": [cookie(domain="shop.example"), cookie(domain="other.example")]}, None),
        ("absent", {}, None),
        ("an-object", {"cookies": {"0": cookie(domain="other.example")}}, None),
        ("null-inside", {"cookies": [None]}, None),
        ("a-list-inside", {"cookies": [[cookie(domain="shop.example")]]}, None),
    ),
    "Network.setExtraHTTPHeaders": (
        ("ordinary", {"headers": {"X-A": "b", "Cookie": "c", "Origin": "https://x"}}, SAME),
        ("none", {"headers": {}}, SAME),
        *(
            (f"{name}", {"headers": {"X-A": "b", name: "x"}}, None)
            for name in (
                "Host",
                "hOSt",
                " host",
                "Host\t",
                "Connection",
                "Content-Length",
                "Keep-Alive",
                "TE",
                "Transfer-Encoding",
                "Upgrade",
                "Proxy-Authorization",
                "PROXY-",
                "proxy-connection",
            )
        ),
        ("starts-like-one", {"headers": {"Hostess": "x", "Te-st": "x", "X-Proxy-": "x"}}, SAME),
        ("a-list", {"headers": [{"name": "Host", "value": "x"}]}, None),
        ("null", {"headers": None}, None),
    ),
    "Overlay.setInspectMode": (
        ("nodes", {"mode": "searchForNode", "highlightConfig": {"showInfo": True}}, SAME),
        ("shadow", {"mode": "searchForUAShadowDOM"}, SAME),
        ("off", {"mode": "none"}, SAME),
        ("an-area", {"mode": "captureAreaScreenshot"}, None),
        ("other-case", {"mode": "None"}, None),
        ("absent", {}, None),
        ("null", {"mode": None}, None),
        ("list", {"mode": ["none"]}, None),
        ("object", {"mode": {"none": 1}}, None),
    ),
    "Page.bringToFront": (("answered", {}, ANSWERED), ("whatever-it-holds", {"x": [{}]}, ANSWERED)),
    "Page.close": (("answered", {}, CLOSES), ("whatever-it-holds", {"runBeforeUnload": True}, CLOSES)),
    "Page.deleteCookie": (
        ("own", {"cookieName": "n", "url": "https://shop.example/"}, SAME),
        ("other", {"cookieName": "n", "url": "https://other.example/"}, None),
        ("none", {"cookieName": "n"}, None),
    ),
    "Page.navigate": (
        ("public", {"url": "https://other.example/"}, SAME),
        ("blank", {"url": "about:blank"}, SAME),
        ("transition-type-is-dropped", {"url": "about:blank", "transitionType": "typed"}, {"url": "about:blank"}),
        ("others-are-kept", {"url": "about:blank", "referrer": "\ud800", "frameId": "F", "n": 10**40}, SAME),
        ("another-blank", {"url": "about:blank#"}, None),
        ("file-in-a-frame", {"url": "FILE:///etc/passwd", "frameId": "F"}, None),
        ("a-tab-inside", {"url": "ht\ttps://other.example/"}, None),
        ("a-space-before", {"url": " https://other.example/"}, None),
        ("half-a-surrogate", {"url": "https://other.example/\ud800"}, None),
        ("source", {"url": "view-source:https://other.example/"}, None),
        ("list", {"url": ["https://other.example/"]}, None),
        ("absent", {"URL": "https://other.example/"}, None),
    ),
    "Page.setDeviceMetricsOverride": (
        ("ordinary", SIZE, SAME),
        ("wide", {**SIZE, "width": 4097}, None),
        ("a-large-viewport", {**SIZE, "viewport": {"width": 5000}}, None),
    ),
    "Runtime.evaluate": (
        ("absent", {"expression": "1"}, {"expression": "1", "timeout": 20_000}),
        ("short", {"expression": "1", "timeout": 5}, SAME),
        ("long", {"expression": "\ud800", "timeout": 1e9}, {"expression": "\ud800", "timeout": 20_000}),
        ("zero", {"timeout": 0}, {"timeout": 1}),
        ("true", {"timeout": True}, None),
        ("null", {"timeout": None}, None),
        ("text", {"timeout": "5"}, None),
    ),
    "Runtime.setMaxCallStackSizeToCapture": (
        ("none", {"size": 0}, SAME),
        ("the-limit", {"size": 1000}, SAME),
        ("one-over", {"size": 1001}, None),
        ("negative", {"size": -1}, None),
        ("true-is-no-number", {"size": True}, None),
        ("list", {"size": [1]}, None),
    ),
}
TABLE = [
    pytest.param(method, params, wanted, id=f"{method}-{name}")
    for method, cases in CASES.items()
    for name, params, wanted in cases
]


def test_every_conditional_method_has_its_rule_its_cases_and_its_oracle() -> None:
    conditional = {rule.method for rule in load_rules().values() if rule.verdict is Verdict.CONDITIONAL}
    assert len(conditional) == 25
    assert set(CONDITIONS) == set(CASES) == set(ORACLE) == conditional


@pytest.mark.parametrize(("method", "params", "wanted"), TABLE)
def test_a_rule_lets_pass_refuses_or_writes_anew(method: str, params: dict[str, Any], wanted: Any) -> None:
    assert outcome(method, params) == (params if wanted == SAME else wanted)


PAGES_WITHOUT_COOKIES = (
    "about:blank",
    "about:srcdoc",
    "chrome-error://chromewebdata/",
    "blob:https://shop.example/1",
    "data:text/html,x",
    "https://shop.example./",
    "",
)


@pytest.mark.parametrize("page", PAGES_WITHOUT_COOKIES)
@pytest.mark.parametrize("method", ["Network.setCookie", "Network.setCookies", "Network.deleteCookies"])
def test_a_tab_that_shows_no_site_has_no_cookies_to_write(page: str, method: str) -> None:
    around = Surroundings(RULES, page, ("https://shop.example/",))
    own = cookie(url="https://shop.example/", domain="shop.example")
    assert outcome(method, {**own, "cookies": [own]}, around) is None


@pytest.mark.parametrize("page", [page for page in PAGES_WITHOUT_COOKIES if not page.startswith("http")])
def test_a_tab_that_shows_no_site_has_no_cookies_to_read(page: str) -> None:
    assert outcome("Network.getCookies", {}, Surroundings(RULES, page, (page,))) == ANSWERED


NARROW = UrlRules(frozenset((OPEN_PLACE,)), ("https://shop.example",))


def test_cookies_of_frames_that_are_not_lent_are_not_read() -> None:
    around = Surroundings(NARROW, PAGE, FRAMES)
    own = [PAGE, f"http://{OPEN_PLACE}/x"]
    assert outcome("Network.getCookies", {}, around) == {"urls": own}
    assert outcome("Network.getCookies", {"urls": own}, around) == {"urls": own}
    assert outcome("Network.getCookies", {"urls": ["https://pay.example/"]}, around) is None


@pytest.mark.parametrize(("rules", "allowed"), [(RULES, True), (NARROW, False)], ids=["no-origins", "origins"])
def test_headers_for_every_request_are_not_for_a_tab_with_origins(rules: UrlRules, allowed: bool) -> None:
    params = {"headers": {"Accept-Language": "de"}}
    assert judge_condition("Network.setExtraHTTPHeaders", params, Surroundings(rules, PAGE)).allowed is allowed
    assert judge_condition("Network.setExtraHTTPHeaders", {"headers": {}}, Surroundings(rules, PAGE)).allowed


HELD = {
    "own": Paused("https://shop.example/cart", is_document=True),
    "foreign": Paused("https://mail.example/", is_document=True),
    "inner": Paused("http://127.0.0.1:9/", is_document=True),
    "library": Paused("https://cdn.example/lib.js"),
}


@pytest.mark.parametrize("method", ["Fetch.fulfillRequest", "Fetch.continueResponse"])
@pytest.mark.parametrize(
    ("rules", "held", "code"),
    [
        (NARROW, "own", None),
        (NARROW, "foreign", "ORIGIN_NOT_ALLOWED"),
        (NARROW, "inner", "BROWSER_POLICY_DENIED"),
        (NARROW, "library", None),
        (NARROW, "unknown", None),
        (RULES, "foreign", None),
        (RULES, "inner", "BROWSER_POLICY_DENIED"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_document_is_made_up_only_where_the_app_may_be(
    method: str, rules: UrlRules, held: str, code: str | None
) -> None:
    ruling = judge_condition(method, {"requestId": held, "responseCode": 200}, Surroundings(rules, paused=HELD))
    assert (None if ruling.allowed else ruling.code) == code


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Fetch.continueRequest", {"requestId": "own", "url": "https://mail.example/inbox"}),
        ("Fetch.fulfillRequest", location("https://mail.example/", "location")),
        ("Page.navigate", {"url": "https://mail.example/"}),
    ],
    ids=["rewritten", "redirected", "navigated"],
)
def test_the_error_names_the_origin_that_the_manifest_lacks(method: str, params: dict[str, Any]) -> None:
    ruling = judge_condition(method, params, Surroundings(NARROW, PAGE, FRAMES, HELD))
    assert (ruling.allowed, ruling.code) == (False, "ORIGIN_NOT_ALLOWED")
    assert "https://mail.example" in ruling.reason


@pytest.mark.parametrize("page", PAGES_WITHOUT_COOKIES)
def test_the_cookies_of_no_site_cannot_be_named(page: str) -> None:
    around = Surroundings(RULES, page, (page,))
    urls = ([page], ["null"], ["https://shop.example/"])
    assert [outcome("Network.getCookies", {"urls": one}, around) for one in urls] == [None] * 3


def test_an_inner_place_that_the_owner_opened_has_cookies_of_its_own() -> None:
    around = Surroundings(RULES, "http://[::1]:8731/x")
    own, other = {"cookies": [cookie(domain="[::1]")]}, {"cookies": [cookie(domain="127.0.0.1")]}
    assert outcome("Network.setCookies", own, around) == own
    assert outcome("Network.setCookies", other, around) is None


def test_a_place_outside_the_manifest_has_the_manifests_code_only_when_navigating() -> None:
    around = Surroundings(UrlRules(origins=("https://shop.example",)), PAGE)
    assert judge("Page.navigate", {"url": "https://other.example/"}, around).code == "ORIGIN_NOT_ALLOWED"
    assert judge("Fetch.fulfillRequest", location("https://other.example/"), around).allowed is False
    assert judge("Fetch.continueRequest", {"url": "https://other.example/"}, around).allowed is False
    assert judge("Fetch.continueRequest", {"url": "https://shop.example/"}, around).allowed is True


def judge(method: str, params: dict[str, Any], around: Surroundings) -> Ruling:
    return judge_condition(method, params, around)


# --- against the oracle

JUNK: st.SearchStrategy[Any] = st.sampled_from(
    (None, True, False, 0, 1, -1, 2, 1.5, 1000, 4096, 4097, 10**12, 10**400, "", "none", "true", "\ud800", [], {}, [1])
)
URLS = st.sampled_from(
    (
        "https://shop.example/",
        "http://shop.example/x",
        "HTTPS://shop.example",
        "https:\\\\shop.example\\x",
        "https://www.shop.example/",
        "https://other.example/a?b#c",
        f"http://{OPEN_PLACE}/",
        "http://127.0.0.1:1/",
        "http://localhost/",
        "https://shop.example/\x7f",
        " https://shop.example/",
        "ht\ntp://shop.example/",
        "https://u@shop.example/",
        "https:shop.example",
        "about:blank",
        "about:srcdoc",
        "file:///etc/passwd",
        "mailto:a@shop.example",
        "javascript:1",
        "chrome://settings",
    )
)
LOCATIONS = URLS | st.sampled_from(("/x", "x/y", "?q", "", "//other.example/", "/\\127.0.0.1:1/", "\\\\shop.example"))
DOMAINS = st.sampled_from(
    ("shop.example", ".shop.example", "SHOP.example", "..shop.example", "example", "www.shop.example", "")
)
NAMES = st.sampled_from(("Location", "LOCATION", "location ", "Host", "hOst", "Proxy-X", "TE", "X-A", "", "\ud800"))
HEADER = st.fixed_dictionaries({"name": NAMES | JUNK, "value": LOCATIONS | JUNK}) | JUNK
HEADERS = st.lists(HEADER, max_size=3) | st.dictionaries(NAMES, JUNK, max_size=2) | JUNK
GOOD_HEADERS = st.lists(st.fixed_dictionaries({"name": NAMES, "value": LOCATIONS}), max_size=3)
BINARY = st.lists(st.tuples(NAMES, LOCATIONS), max_size=2).map(
    lambda lines: base64.b64encode(
        "\0".join(f"{name}: {value}" for name, value in lines).encode("utf-8", "replace")
    ).decode()
)
SIZES = st.integers(-1, 9000) | st.floats(-1, 9, width=16) | JUNK
BYTES = st.integers(-1, 64 * MIB) | JUNK
COMMANDS = st.lists(
    st.sampled_from(("selectAll", "moveLeft:", "insertX", "undo", "redo", "undo:", "paste", "Paste", "yank", "move-"))
    | JUNK,
    max_size=2,
)
KEYS = st.sampled_from(("v", "V", "a", "Insert", "insert", "Paste", "KeyV", "U+0056", "u+0056")) | JUNK
COOKIE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "url": URLS | JUNK,
    "domain": DOMAINS | JUNK,
    "partitionKey": st.just({"topLevelSite": "x"}) | st.none(),
    "name": JUNK,
}
COOKIES = st.fixed_dictionaries({}, optional=COOKIE_FIELDS)
VIEWPORTS = st.fixed_dictionaries({}, optional={"width": SIZES, "height": SIZES, "scale": SIZES}) | JUNK
FIELDS: dict[str, st.SearchStrategy[Any]] = {  # of all methods together: each meets the others' parameters as well
    **COOKIE_FIELDS,
    "binaryResponseHeaders": BINARY | JUNK,
    "code": KEYS,
    "commands": COMMANDS | JUNK,
    "cookies": st.lists(COOKIES | JUNK, max_size=2) | JUNK,
    "data": st.fixed_dictionaries({}, optional={"files": st.lists(JUNK, max_size=1) | JUNK, "items": JUNK}) | JUNK,
    "deviceScaleFactor": SIZES,
    "emulateOfflineServiceWorker": JUNK,
    "handleAuthRequests": JUNK,
    "headers": HEADERS | GOOD_HEADERS | st.dictionaries(NAMES, JUNK, max_size=3),
    "height": SIZES,
    "key": KEYS,
    "keyIdentifier": KEYS,
    "maxPostDataSize": BYTES,
    "maxResourceBufferSize": BYTES,
    "maxTotalBufferSize": BYTES,
    "mode": st.sampled_from(("searchForNode", "searchForUAShadowDOM", "none", "captureAreaScreenshot")) | JUNK,
    "modifiers": st.integers(-1, 16) | JUNK,
    "nativeVirtualKeyCode": st.sampled_from((86, 45, 86.0, 65)) | JUNK,
    "reportDirectSocketTraffic": JUNK,
    "responseHeaders": HEADERS | GOOD_HEADERS,
    "scale": SIZES,
    "screenHeight": SIZES,
    "screenWidth": SIZES,
    "size": SIZES,
    "sizeOnly": JUNK,
    "text": KEYS,
    "timeout": st.integers(-5, 30_000) | st.floats(-5, 3e4) | JUNK,
    "transitionType": JUNK,
    "unmodifiedText": KEYS,
    "urls": st.lists(URLS | JUNK, max_size=2) | JUNK,
    "viewport": VIEWPORTS,
    "width": SIZES,
    "windowsVirtualKeyCode": st.sampled_from((86, 45, 86.0, 65)) | JUNK,
}
OWN_FIELDS: dict[str, tuple[str, ...]] = {
    method: tuple(sorted({name for _, params, _ in cases for name in params if name in FIELDS}))
    for method, cases in CASES.items()
}
SHOWN = st.sampled_from(
    (*FRAMES, "http://shop.example:8080/", "chrome-error://chromewebdata/")
)  # as Chromium says them
PAGES = st.sampled_from((PAGE, "http://127.0.0.1:8731/", "about:blank", "chrome-error://chromewebdata/"))


def parameters(method: str) -> st.SearchStrategy[dict[str, Any]]:
    """Often the method's own parameters, sometimes another's, and a key that nobody knows."""
    own = {name: FIELDS[name] for name in OWN_FIELDS[method]}
    some = st.fixed_dictionaries({}, optional={**own, "unknown": JUNK})
    return some | st.fixed_dictionaries({}, optional=FIELDS)


@pytest.mark.parametrize("method", sorted(CONDITIONS))
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_rule_agrees_with_the_tables_text(method: str, data: st.DataObject) -> None:
    params = data.draw(parameters(method))
    page, frames = data.draw(PAGES), tuple(data.draw(st.lists(SHOWN, max_size=2)))
    assert outcome(method, params, Surroundings(RULES, page, frames)) == ORACLE[method](params, page, frames)
