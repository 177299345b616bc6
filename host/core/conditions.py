"""The conditional rows of the method table: each a pure function that checks, rewrites or answers one command."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from host.core.scope import Paused
from host.core.urls import SCHEME, UrlRules, judge_url, normal_host, origin_of
from host.core.wire import dumps

Params = dict[str, Any]
KIB = 1024
MIB = 1024 * KIB
EVALUATE_TIMEOUT_MS = 20_000
CTRL_OR_META, SHIFT = 2 | 4, 8  # Input.dispatchKeyEvent, `modifiers`
KEY_V, KEY_INSERT = 86, 45  # windowsVirtualKeyCode


class Ruling(msgspec.Struct, frozen=True, gc=False):
    """What to do with one command.

    `params` is set when the caller's own bytes must not go on as they are. `answer` is set when the host replies
    itself; `closes` says that the session is to be closed for it.
    """

    allowed: bool
    reason: str
    params: bytes | None = None
    code: str = "BROWSER_POLICY_DENIED"
    hint: str | None = None
    answer: bytes | None = None
    closes: bool = False


class Surroundings(msgspec.Struct, frozen=True):
    """What a rule may look at besides the parameters.

    The URL rules, the page's URL, those of all its frames, the requests that Fetch holds in the target, by id, and
    whether the target is a frame of the page.
    """

    urls: UrlRules
    page_url: str = "about:blank"
    frame_urls: tuple[str, ...] = ()
    paused: Mapping[str, Paused] = {}
    in_frame: bool = False


Condition = Callable[[Params, Surroundings], Ruling]


class Refused(Exception):
    """A rule's no; the text is the reason."""

    def __init__(self, reason: str, code: str = "BROWSER_POLICY_DENIED") -> None:
        super().__init__(reason)
        self.code = code


def passed(params: Params, reason: str) -> Ruling:
    """Allowed, with the parameters written anew."""
    return Ruling(True, reason, dumps(params))


def number(params: Mapping[str, Any], name: str, default: float = 0) -> float:
    """A numeric parameter. Raises Refused."""
    value = params.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(f"`{name}` is a number")
    return value


def clamped(params: Params, limits: Iterable[tuple[str, int]]) -> Params:
    """Parameters with each named one at most its limit, added when absent. Raises Refused."""
    made = dict(params)
    for name, most in limits:
        made[name] = int(min(max(number(params, name, most), 0), most))
    return made


def within(params: Mapping[str, Any], limits: Iterable[tuple[str, float]]) -> None:
    """Each named parameter is absent or from 0 to its limit. Raises Refused."""
    for name, most in limits:
        if not 0 <= number(params, name) <= most:
            raise Refused(f"`{name}` is from 0 to {most:g}")


# --- pages


def navigate(params: Params, around: Surroundings) -> Ruling:
    """Page.navigate: the URL rule, whatever `frameId` is; `transitionType` is dropped."""
    url = params.get("url")
    if not isinstance(url, str):
        raise Refused("`url` is a string")
    decision = judge_url(url, around.urls)
    if not decision.allowed:
        return Ruling(False, decision.reason, code=decision.code)
    return passed({key: value for key, value in params.items() if key != "transitionType"}, "url_rule")


def bring_to_front(params: Params, around: Surroundings) -> Ruling:
    """Page.bringToFront: every tab has its own window, so there is nothing to do; forwarding would hide another's."""
    return Ruling(True, "answered", answer=b"{}")


def close_page(params: Params, around: Surroundings) -> Ruling:
    """Page.close: the host closes the session, as browser.closeSession does."""
    return Ruling(True, "answered", answer=b"{}", closes=True)


def evaluate(params: Params, around: Surroundings) -> Ruling:
    """Runtime.evaluate: `timeout` is at most 20,000 ms and added when absent, so that a loop ends."""
    timeout_ms = int(min(max(number(params, "timeout", EVALUATE_TIMEOUT_MS), 1), EVALUATE_TIMEOUT_MS))
    return passed({**params, "timeout": timeout_ms}, "timeout_clamped")


def call_stack_size(params: Params, around: Surroundings) -> Ruling:
    """Runtime.setMaxCallStackSizeToCapture: memory."""
    within(params, (("size", 1000),))
    return passed(params, "size_rule")


METRICS = (
    ("width", 4096),
    ("height", 4096),
    ("deviceScaleFactor", 4),
    ("scale", 4),
    ("screenWidth", 8192),
    ("screenHeight", 8192),
)
VIEWPORT = (("width", 4096), ("height", 4096), ("scale", 4))


def device_metrics(params: Params, around: Surroundings) -> Ruling:
    """Emulation.setDeviceMetricsOverride: what the GPU and the renderer have to hold."""
    within(params, METRICS)
    viewport = params.get("viewport", {})
    if not isinstance(viewport, dict):
        raise Refused("`viewport` is an object")
    within(viewport, VIEWPORT)
    return passed(params, "size_rule")


def visible_size(params: Params, around: Surroundings) -> Ruling:
    """Emulation.setVisibleSize: as for the metrics."""
    within(params, METRICS[:2])
    return passed(params, "size_rule")


INSPECT_MODES = frozenset(("searchForNode", "searchForUAShadowDOM", "none"))


def inspect_mode(params: Params, around: Surroundings) -> Ruling:
    """Overlay.setInspectMode: no area screenshots."""
    mode = params.get("mode")
    if not isinstance(mode, str) or mode not in INSPECT_MODES:
        raise Refused(f"`mode` is one of {', '.join(sorted(INSPECT_MODES))}")
    return passed(params, "mode_rule")


def encoded_response(params: Params, around: Surroundings) -> Ruling:
    """Audits.getEncodedResponse: sizes only, never an image that nothing has checked."""
    if params.get("sizeOnly") is not True:
        raise Refused("`sizeOnly` must be true")
    return passed(params, "size_only")


# --- input

EDITING = re.compile(r"(move|select|delete|insert|scroll)[A-Za-z]*(:.*)?|undo|redo", re.DOTALL)


def drag(params: Params, around: Surroundings) -> Ruling:
    """Input.dispatchDragEvent: no file of this machine is dropped on a page."""
    data = params.get("data", {})
    if not isinstance(data, dict) or data.get("files", []) != []:
        raise Refused("`data.files` must be absent or empty")
    return passed(params, "no_files")


def key(params: Params, around: Surroundings) -> Ruling:
    """Input.dispatchKeyEvent: nothing that pastes, for the clipboard is the whole browser's."""
    commands = params.get("commands", [])
    if not isinstance(commands, list) or not all(isinstance(one, str) and EDITING.fullmatch(one) for one in commands):
        raise Refused("`commands` may only move, select, delete, insert, scroll, undo or redo")
    modifiers = number(params, "modifiers")
    if modifiers != int(modifiers):
        raise Refused("`modifiers` is a whole number")
    held = int(modifiers)
    if held & CTRL_OR_META and _is_key(params, "v", "KeyV", KEY_V, "U+0056"):
        raise Refused("Ctrl+V and Meta+V paste the clipboard of the whole browser")
    if "paste" in (str(params.get(field, "")).strip().lower() for field in ("key", "code")):
        raise Refused("the Paste key pastes the clipboard of the whole browser")  # with no modifier at all
    if held & SHIFT and _is_key(params, "insert", "Insert", KEY_INSERT, ""):
        raise Refused("Shift+Insert pastes the clipboard of the whole browser")
    return passed(params, "no_paste")


def _is_key(params: Params, name: str, code: str, windows: int, identifier: str) -> bool:
    names = [str(params.get(field, "")).lower() for field in ("key", "text", "unmodifiedText")]
    codes = [params.get("windowsVirtualKeyCode"), params.get("nativeVirtualKeyCode")]
    same_identifier = bool(identifier) and str(params.get("keyIdentifier", "")).upper() == identifier
    return name in names or str(params.get("code", "")) == code or windows in codes or same_identifier


# --- network

NETWORK_CLAMPS = (
    ("maxPostDataSize", 16 * KIB),
    ("maxResourceBufferSize", 8 * MIB),
    ("maxTotalBufferSize", 32 * MIB),
)
ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
CONTROL = re.compile("[\x00-\x20\x7f]")
FORBIDDEN_HEADERS = frozenset(
    ("connection", "content-length", "host", "keep-alive", "te", "transfer-encoding", "upgrade")
)


def network_enable(params: Params, around: Surroundings) -> Ruling:
    """Network.enable: buffers are bounded (added when absent) and direct sockets are not reported."""
    if params.get("reportDirectSocketTraffic", False) is not False:
        raise Refused("`reportDirectSocketTraffic` must be absent or false")
    return passed(clamped(params, NETWORK_CLAMPS), "buffers_clamped")


def durable_messages(params: Params, around: Surroundings) -> Ruling:
    """Network.configureDurableMessages: the same bounds, on what is there: without a total it turns them off."""
    return passed(clamped(params, (limit for limit in NETWORK_CLAMPS[1:] if limit[0] in params)), "buffers_clamped")


def conditions_by_rule(params: Params, around: Surroundings) -> Ruling:
    """Network.emulateNetworkConditionsByRule: not for service workers, which other tabs share."""
    if params.get("emulateOfflineServiceWorker", False) is not False:
        raise Refused("`emulateOfflineServiceWorker` must be absent or false")
    return passed(params, "no_service_worker")


def extra_headers(params: Params, around: Surroundings) -> Ruling:
    """Network.setExtraHTTPHeaders: no header that belongs to the connection.

    They would go to every site that the page asks, and past what those sites go by to tell their own pages.
    """
    headers = params.get("headers", {})
    if around.urls.origins and headers != {}:
        raise Refused("the manifest names `origins`; set headers of own requests with Fetch.continueRequest")
    if not isinstance(headers, dict):
        raise Refused("`headers` is an object")
    _check_names(headers)
    return passed(params, "header_rule")


def _check_names(names: Iterable[str]) -> None:
    for name in names:
        plain = name.strip().lower()
        if plain in FORBIDDEN_HEADERS or plain.startswith("proxy-"):
            raise Refused(f"the header {name[:40]!r} belongs to the connection and may not be set")


# --- interception


def fetch_enable(params: Params, around: Surroundings) -> Ruling:
    """Fetch.enable: `handleAuthRequests` is cleared, as real clients set it by habit."""
    return passed({**params, "handleAuthRequests": False}, "auth_cleared")


def continue_request(params: Params, around: Surroundings) -> Ruling:
    """Fetch.continueRequest: a new `url` passes the URL rule, new headers the header rule."""
    url = params.get("url")
    if url is not None:
        _check_url(url, around)
    _check_names(name for name, _ in _header_list(params, "headers"))
    return passed(params, "url_and_header_rule")


def answer_headers(params: Params, around: Surroundings) -> Ruling:
    """Fetch.fulfillRequest and continueResponse: a Location is relative or passes the URL rule.

    So does the place that a document was asked of: what is put there has that place's cookies and storage.
    """
    held = around.paused.get(str(params.get("requestId")))
    if held is not None and held.is_document:
        decision = judge_url(held.url, around.urls)
        if not decision.allowed:
            raise Refused(f"a document of that address may not be made up: {decision.reason}", decision.code)
    headers = [*_header_list(params, "responseHeaders"), *_binary_headers(params)]
    for name, value in headers:
        if name.strip().lower() == "location":
            _check_location(value.strip("\t\n\r "), around)
    return passed(params, "location_rule")


def _check_url(url: Any, around: Surroundings) -> None:
    if not isinstance(url, str):
        raise Refused("`url` is a string")
    decision = judge_url(url, around.urls)
    if not decision.allowed:
        raise Refused(decision.reason, decision.code)
    if not decision.place:
        raise Refused("a request goes to an http(s) URL")


def _check_location(value: str, around: Surroundings) -> None:
    text = value.replace("\\", "/")
    if text.startswith("//"):
        text = "https:" + text
    elif not ABSOLUTE.match(text):
        if CONTROL.search(text):
            raise Refused("Location holds a space or control character; percent-encode it")
        return
    decision = judge_url(text, around.urls)
    if not decision.allowed:
        raise Refused(f"Location: {decision.reason}", decision.code)


def _header_list(params: Params, name: str) -> list[tuple[str, str]]:
    headers = params.get(name, [])
    if not isinstance(headers, list):
        raise Refused(f"`{name}` is a list")
    made = []
    for header in headers:
        pair = (header.get("name"), header.get("value")) if isinstance(header, dict) else (None, None)
        if not isinstance(pair[0], str) or not isinstance(pair[1], str):
            raise Refused(f"`{name}` holds objects of `name` and `value`")
        made.append((pair[0], pair[1]))
    return made


def _binary_headers(params: Params) -> list[tuple[str, str]]:
    encoded = params.get("binaryResponseHeaders")
    if encoded is None:
        return []
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise Refused("`binaryResponseHeaders` is base64") from None
    if b"\r" in raw or b"\n" in raw:
        # Chromium keeps them in the value and skips them in a Location: "ma\nilto:" would be read as relative here.
        raise Refused("`binaryResponseHeaders` are separated by zero bytes; take the line breaks out")
    lines = raw.decode("utf-8", "replace").split("\0")  # as Chromium reads a Location; what is not UTF-8 is no host
    return [(name, value) for name, _, value in (line.partition(":") for line in lines)]


# --- cookies


def get_cookies(params: Params, around: Surroundings) -> Ruling:
    """Network.getCookies: of URLs whose origin a frame of this session shows now, and may show.

    Without `urls` Chromium takes those of the page and all its frames, foreign ones too: they are written out.
    """
    shown = [url for url in (around.page_url, *around.frame_urls) if _lent(url, around.urls)]
    urls = params.get("urls")
    if urls is None:
        if not shown:
            return Ruling(True, "own_cookies", answer=b'{"cookies":[]}')
        return passed({**params, "urls": list(dict.fromkeys(shown))}, "own_cookies")
    if not isinstance(urls, list):
        raise Refused("`urls` is a list")
    origins = {origin_of(url) for url in shown}
    for url in urls:
        origin = judge_url(url, around.urls).origin if isinstance(url, str) and host_of(url) else ""
        if origin not in origins:
            raise Refused("each of `urls` has the origin of a page or frame that this session shows now")
    return passed(params, "own_cookies")


def _lent(url: str, rules: UrlRules) -> bool:
    """Does a frame with this URL count as the caller's? Its place was judged when it was loaded: origins are left."""
    decision = judge_url(url, rules)
    return bool(decision.place) and decision.allowed


def write_cookie(params: Params, around: Surroundings) -> Ruling:
    """Network.setCookie, deleteCookies: only for the host that the tab shows now."""
    check_cookie(params, around)
    return passed(params, "own_host")


def write_cookies(params: Params, around: Surroundings) -> Ruling:
    """Network.setCookies: every one of them, or none."""
    cookies = params.get("cookies")
    if not isinstance(cookies, list):
        raise Refused("`cookies` is a list")
    for cookie in cookies:
        if not isinstance(cookie, dict):
            raise Refused("each cookie is an object")
        check_cookie(cookie, around)
    return passed(params, "own_host")


def check_cookie(cookie: Mapping[str, Any], around: Surroundings) -> None:
    """One cookie to be written or deleted. Raises Refused."""
    host = host_of(around.page_url)
    if host is None:
        raise Refused("the tab shows no http(s) page, so it has no cookies of its own")
    if cookie.get("partitionKey") is not None:
        raise Refused("`partitionKey` must be absent")
    url, domain = cookie.get("url"), cookie.get("domain")
    if url is None and domain is None:
        raise Refused("`url` or `domain` is needed")
    if url is not None and (not isinstance(url, str) or host_of(url) != host):
        raise Refused(f"the host of `url` is not {host}, which the tab shows")
    if domain is not None and (not isinstance(domain, str) or _cookie_host(domain.removeprefix(".")) != host):
        raise Refused(f"`domain` is not {host}, which the tab shows")


def host_of(url: str) -> str | None:
    """The host of an http(s) URL in one spelling, None for any other and for one that has no cookies of its own."""
    if not judge_url(url, UrlRules()).place:
        return None
    text = url.replace("\\", "/")
    authority = re.split(r"[/?#]", SCHEME.sub("", text, count=1), maxsplit=1)[0]
    return _cookie_host(authority if authority.endswith("]") else re.sub(":[0-9]*$", "", authority))


def _cookie_host(host: str) -> str | None:
    """As `normal_host`, but cookies of `shop.example.` are not those of `shop.example`, so the first has none here."""
    written = unicodedata.normalize("NFKC", unquote(host)).replace("。", ".")
    return None if written.endswith(".") else normal_host(host)


CONDITIONS: Mapping[str, Condition] = {
    "Audits.getEncodedResponse": encoded_response,
    "Emulation.setDeviceMetricsOverride": device_metrics,
    "Emulation.setVisibleSize": visible_size,
    "Fetch.continueRequest": continue_request,
    "Fetch.continueResponse": answer_headers,
    "Fetch.enable": fetch_enable,
    "Fetch.fulfillRequest": answer_headers,
    "Input.dispatchDragEvent": drag,
    "Input.dispatchKeyEvent": key,
    "Network.configureDurableMessages": durable_messages,
    "Network.deleteCookies": write_cookie,
    "Network.emulateNetworkConditionsByRule": conditions_by_rule,
    "Network.enable": network_enable,
    "Network.getCookies": get_cookies,
    "Network.setCookie": write_cookie,
    "Network.setCookies": write_cookies,
    "Network.setExtraHTTPHeaders": extra_headers,
    "Overlay.setInspectMode": inspect_mode,
    "Page.bringToFront": bring_to_front,
    "Page.close": close_page,
    "Page.deleteCookie": write_cookie,
    "Page.navigate": navigate,
    "Page.setDeviceMetricsOverride": device_metrics,
    "Runtime.evaluate": evaluate,
    "Runtime.setMaxCallStackSizeToCapture": call_stack_size,
}


def judge_condition(method: str, params: Params, around: Surroundings) -> Ruling:
    """The ruling of a conditional method. KeyError for a method that is none."""
    try:
        return CONDITIONS[method](params, around)
    except Refused as refusal:
        return Ruling(False, f"{method}: {refusal}", code=refusal.code)
