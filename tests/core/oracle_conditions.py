"""The 25 conditional rules said once more, straight from the table's texts: what the judged functions are held to."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

PUBLIC_HOSTS = ("shop.example", "www.shop.example", "other.example")  # the only public hosts that the tests draw
OPEN_PLACE = "127.0.0.1:8731"
ANSWERED, CLOSES = "answered", "answered, and the session is closed"
MIB = 1024 * 1024

Outcome = dict[str, Any] | str | None  # what goes on, one of the words above, or None: refused


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


def from_0_to(most: float, value: Any) -> bool:
    return is_number(value) and value >= 0 and value <= most


def may_open(url: Any) -> bool:
    """The URL rule of Page.navigate."""
    if not isinstance(url, str):
        return False
    if url == "about:blank":
        return True
    if any(ord(letter) <= 0x20 or ord(letter) == 0x7F or 0xD800 <= ord(letter) < 0xE000 for letter in url):
        return False
    match = re.fullmatch(r"(https?)://+([^/?#]+)([/?#].*)?", url.replace("\\", "/"), re.IGNORECASE | re.DOTALL)
    return match is not None and (match[2].lower() in PUBLIC_HOSTS or match[2] == OPEN_PLACE)


def navigate(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    return {k: v for k, v in params.items() if k != "transitionType"} if may_open(params.get("url")) else None


def evaluate(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    asked = params.get("timeout", 20_000)
    if not is_number(asked):
        return None
    return {**params, "timeout": 20_000 if asked > 20_000 else 1 if asked < 1 else math.floor(asked)}


def at_most(**limits: float) -> Callable[[dict[str, Any], str, tuple[str, ...]], Outcome]:
    """Each parameter, when it is there, is a number from 0 to its limit."""

    def rule(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
        ok = all(from_0_to(most, params[name]) for name, most in limits.items() if name in params)
        return params if ok else None

    return rule


def metrics(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    outer = at_most(width=4096, height=4096, deviceScaleFactor=4, scale=4, screenWidth=8192, screenHeight=8192)
    viewport = params.get("viewport", {})
    if not isinstance(viewport, dict) or at_most(width=4096, height=4096, scale=4)(viewport, page, frames) is None:
        return None
    return outer(params, page, frames)


def one_of(name: str, *values: Any, absent: bool) -> Callable[[dict[str, Any], str, tuple[str, ...]], Outcome]:
    """The parameter is exactly one of the values (True is not 1); it may be absent, or not."""

    def rule(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
        if name not in params:
            return params if absent else None
        return params if any(type(params[name]) is type(value) and params[name] == value for value in values) else None

    return rule


def drag(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    data = params.get("data", {})
    return params if isinstance(data, dict) and ("files" not in data or data["files"] == []) else None


def key(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    commands = params.get("commands", [])
    if not isinstance(commands, list):
        return None
    for command in commands:
        if not isinstance(command, str):
            return None
        word = command.split(":", 1)[0]
        starts = any(word.startswith(start) for start in ("move", "select", "delete", "insert", "scroll"))
        if command not in ("undo", "redo") and not (starts and word.isascii() and word.isalpha()):
            return None
    modifiers = params.get("modifiers", 0)
    if not is_number(modifiers) or modifiers % 1:
        return None
    bits = int(modifiers)
    labels = {str(params.get(name, "")).lower() for name in ("key", "text", "unmodifiedText")}
    numbers = [params.get(name) for name in ("windowsVirtualKeyCode", "nativeVirtualKeyCode")]
    is_v = "v" in labels or params.get("code") == "KeyV" or 86 in numbers
    is_v = is_v or str(params.get("keyIdentifier", "")).upper() == "U+0056"
    is_insert = "insert" in labels or params.get("code") == "Insert" or 45 in numbers
    if any(str(params.get(name, "")).strip().lower() == "paste" for name in ("key", "code")):
        return None
    control_or_meta, shift = (bits // 2) % 2 or (bits // 4) % 2, (bits // 8) % 2
    return None if (control_or_meta and is_v) or (shift and is_insert) else params


def clamp(params: dict[str, Any], limits: Mapping[str, int], *, add: bool) -> Outcome:
    made = dict(params)
    for name, most in limits.items():
        if name not in params and not add:
            continue
        value = params.get(name, most)
        if not is_number(value):
            return None
        made[name] = most if value > most else 0 if value < 0 else math.trunc(value)
    return made


BUFFERS = {"maxResourceBufferSize": 8 * MIB, "maxTotalBufferSize": 32 * MIB}


def network_enable(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    if one_of("reportDirectSocketTraffic", False, absent=True)(params, page, frames) is None:
        return None
    return clamp(params, {**BUFFERS, "maxPostDataSize": 16384}, add=True)


def header_name_ok(name: str) -> bool:
    name = name.strip().lower()
    refused = ["host", "connection", "transfer-encoding", "content-length", "upgrade", "te", "keep-alive"]
    return name not in refused and not name.startswith("proxy-")


def extra_headers(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    headers = params.get("headers", {})
    return params if isinstance(headers, dict) and all(map(header_name_ok, headers)) else None


def pairs(headers: Any) -> list[tuple[str, str]] | None:
    """The names and values of a list of Fetch.HeaderEntry; None when it is none."""
    if not isinstance(headers, list):
        return None
    for one in headers:
        if not isinstance(one, dict) or not all(isinstance(one.get(name), str) for name in ("name", "value")):
            return None
    return [(one["name"], one["value"]) for one in headers]


def continue_request(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    url, headers = params.get("url"), pairs(params.get("headers", []))
    if url is not None and (not may_open(url) or url == "about:blank"):
        return None
    return params if headers is not None and all(header_name_ok(name) for name, _ in headers) else None


def location_ok(value: str) -> bool:
    value = value.strip(" \t\r\n").replace("\\", "/")
    if value.startswith("//"):
        return may_open(f"https:{value}")
    if re.match(r"[a-z][a-z0-9+.-]*:", value, re.IGNORECASE):
        return may_open(value)
    return not any(ord(letter) <= 0x20 or ord(letter) == 0x7F for letter in value)


def response_headers(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    headers = pairs(params.get("responseHeaders", []))
    if headers is None:
        return None
    if params.get("binaryResponseHeaders") is not None:
        try:
            raw = base64.b64decode(params["binaryResponseHeaders"], validate=True)
        except (TypeError, ValueError):
            return None
        if set(raw) & {10, 13}:
            return None
        for line in raw.decode("utf-8", "replace").split("\0"):
            name, _, value = line.partition(":")
            headers = [*headers, (name, value)]
    return params if all(location_ok(value) for name, value in headers if name.strip().lower() == "location") else None


def web_host(url: Any) -> str | None:
    """The host of an http(s) URL."""
    if not isinstance(url, str) or re.search("[\0-\x20\x7f@\ud800-\udfff]", url):
        return None
    parts = urlsplit(url.replace("\\", "/"))
    return parts.hostname if parts.scheme in ("http", "https") else None


def web_origin(url: Any) -> tuple[str, str, int] | None:
    host = web_host(url)
    if host is None:
        return None
    parts = urlsplit(url.replace("\\", "/"))
    return parts.scheme, host, parts.port or {"http": 80, "https": 443}[parts.scheme]


def cookie_ok(cookie: Any, page: str) -> bool:
    host = web_host(page)
    if not isinstance(cookie, dict) or host is None or cookie.get("partitionKey") is not None:
        return False
    url, domain = cookie.get("url"), cookie.get("domain")
    if url is None and domain is None:
        return False
    if domain is not None and not isinstance(domain, str):
        return False
    domain_ok = domain is None or re.sub(r"^\.", "", domain).lower() == host
    return domain_ok and (url is None or web_host(url) == host)


def write_cookie(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    return params if cookie_ok(params, page) else None


def write_cookies(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    cookies = params.get("cookies")
    return params if isinstance(cookies, list) and all(cookie_ok(cookie, page) for cookie in cookies) else None


def get_cookies(params: dict[str, Any], page: str, frames: tuple[str, ...]) -> Outcome:
    urls = params.get("urls")
    own = [url for url in (page, *frames) if web_origin(url) is not None]
    if urls is None:
        return {**params, "urls": list(dict.fromkeys(own))} if own else ANSWERED
    shown = {web_origin(url) for url in own}
    return params if isinstance(urls, list) and all(web_origin(url) in shown for url in urls) else None


ORACLE: Mapping[str, Callable[[dict[str, Any], str, tuple[str, ...]], Outcome]] = {
    "Audits.getEncodedResponse": one_of("sizeOnly", True, absent=False),
    "Emulation.setDeviceMetricsOverride": metrics,
    "Emulation.setVisibleSize": at_most(width=4096, height=4096),
    "Fetch.continueRequest": continue_request,
    "Fetch.continueResponse": response_headers,
    "Fetch.enable": lambda params, page, frames: {**params, "handleAuthRequests": False},
    "Fetch.fulfillRequest": response_headers,
    "Input.dispatchDragEvent": drag,
    "Input.dispatchKeyEvent": key,
    "Network.configureDurableMessages": lambda params, page, frames: clamp(params, BUFFERS, add=False),
    "Network.deleteCookies": write_cookie,
    "Network.emulateNetworkConditionsByRule": one_of("emulateOfflineServiceWorker", False, absent=True),
    "Network.enable": network_enable,
    "Network.getCookies": get_cookies,
    "Network.setCookie": write_cookie,
    "Network.setCookies": write_cookies,
    "Network.setExtraHTTPHeaders": extra_headers,
    "Overlay.setInspectMode": one_of("mode", "searchForNode", "searchForUAShadowDOM", "none", absent=False),
    "Page.bringToFront": lambda params, page, frames: ANSWERED,
    "Page.close": lambda params, page, frames: CLOSES,
    "Page.deleteCookie": write_cookie,
    "Page.navigate": navigate,
    "Page.setDeviceMetricsOverride": metrics,
    "Runtime.evaluate": evaluate,
    "Runtime.setMaxCallStackSizeToCapture": at_most(size=1000),
}
