"""Which words stand for a value in JSON, and which keys belong to the protocol and may stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from host.core.masking.html import NAMING
from host.core.masking.views import HEAD_CHARS, head_words, words

IDS = frozenset(  # without these a caller cannot go on; they stay when they look like such ids
    (
        "approvalId", "backendNodeId", "backendDOMNodeId", "callFrameId", "certificateId", "childIds", "contextId",
        "executionContextId", "frameId", "guid", "id", "loaderId", "navigationId", "nodeId", "nodeIds", "objectId",
        "openerSessionId", "parentFrameId", "parentId", "requestId", "scriptHash", "scriptId", "sessionId",
        "styleSheetId", "targetId", "targetSessionId", "uniqueContextId", "uniqueId", "windowId",
    )
)  # fmt: skip
COUNTERS = frozenset(("next", "seq"))
UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
ID = re.compile(rf"-?[0-9]{{1,12}}(?:\.-?[0-9]{{1,12}})*|(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{{16,64}}|{UUID}")
"""As Chromium and this host write them; twelve digits in a row are no card number."""
HARD_ID = re.compile(rf"[0-9A-Fa-f]{{32}}(?:[0-9A-Fa-f]{{32}})?|{UUID}")
PROTOCOL_WORDS = frozenset(  # values of these that are one plain word are Chromium's own, not the page's
    (
        "connectionStatus", "initialPriority", "level", "localName", "method", "mimeType", "mixedContentType",
        "nodeName", "protocol", "publicId", "referrerPolicy", "resourceType", "securityState", "shadowRootType",
        "source", "state", "subtype", "systemId", "type", "xmlVersion",
    )
)  # fmt: skip
PLAIN_WORD = re.compile(r"[#A-Za-z][A-Za-z.+/-]{0,47}\d{0,2}")
PLAIN_KEY = re.compile(r"(?=.{1,48}\Z)[A-Za-z_$@:][A-Za-z_$:.-]*+(?:\d{1,3}(?!\d)[A-Za-z_$:.-]*+){0,3}")
"""What a program calls its members; any other key may be the page's data."""
GENERIC = frozenset(  # what is only called so holds what something else names
    (
        "after", "answer", "before", "content", "current", "data", "default", "defaultvalue", "display",
        "displayvalue", "formatted", "input", "inputvalue", "new", "newvalue", "old", "oldvalue", "payload", "raw",
        "result", "selected", "text", "val", "value", "values",
    )
)  # fmt: skip
PARTS = frozenset(  # what is only a part: the key of what holds it says whose
    (
        "city", "code", "day", "family", "first", "firstname", "full", "fullname", "given", "holder",
        "label", "last", "lastname", "line", "line1", "line2", "middle", "month", "name", "no", "number", "owner",
        "postcode", "region", "state", "street", "surname", "title", "year", "zip",
    )
)  # fmt: skip
BIRTH = re.compile(r"\b(?:birth|dob|born|geburts?|geburtsdatum|geboren|naissance|nacimiento|nascita)\b")
PRIVATE_NUMBER = re.compile(
    r"\b(?:account|house|konto|licen[cs]e|member|mobile|mobil|passport|patient|phone|plate|plz|post(?:al)? ?code|ssn"
    r"|tax|tel|telefon|zip)\b"
)
"""Whole numbers under these words may be somebody's though they are short."""
LABELS = (
    "name", "label", "key", "field", "header", "placeholder", "ariaLabel", "aria-label", "caption", "question",
    "title", "autocomplete", "id", "type",
)  # fmt: skip
TIME_KEY = re.compile(
    r"\b(?:at|created|date|end|epoch|expires?|expiry|last ?modified|modified|ms|now|start|time|timestamp|ts|updated)$"
)
PLACE_KEY = re.compile(r"\b(?:lat|latitude|lng|lon|long|longitude)$")
REMOTE_TYPES = frozenset(  # of Runtime.RemoteObject, and of Accessibility.AXValue
    (
        "accessor", "bigint", "boolean", "booleanorundefined", "computedstring", "domrelation", "function", "idref",
        "idreflist", "integer", "internalrole", "node", "nodelist", "number", "object", "role", "string", "symbol",
        "token", "tokenlist", "tristate", "undefined", "valueundefined",
    )
)  # fmt: skip
PLACES = frozenset(("localAddress", "remoteIPAddress"))
IP = re.compile(r"[0-9.]{7,15}|\[?[0-9A-Fa-f:.]{2,45}\]?")
"""Of the server or its proxy: what an AI has to know of a site, and nobody's at home."""
PLAIN_HEADERS = frozenset(  # what these say is the browser's or the server's program, or of the message
    (
        "accept", "accept-encoding", "accept-language", "accept-ranges", "age", "cache-control", "connection",
        "content-encoding", "content-length", "content-type", "date", "expires", "keep-alive", "last-modified",
        "pragma", "priority", "sec-ch-ua", "sec-ch-ua-arch", "sec-ch-ua-bitness", "sec-ch-ua-full-version-list",
        "sec-ch-ua-mobile", "sec-ch-ua-model", "sec-ch-ua-platform", "sec-ch-ua-platform-version", "sec-fetch-dest",
        "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "server", "strict-transport-security",
        "transfer-encoding", "upgrade", "upgrade-insecure-requests", "user-agent", "vary", "x-content-type-options",
        "x-frame-options", "x-xss-protection",
    )
)  # fmt: skip
PLAIN_HEADER_CHARS = 256


THING_NUMBER = re.compile(
    r"(?:.* )?(?:amount|build|bytes|count|duration|followers|height|index|length|likes|limit|offset|pid|port|price|qty"
    r"|quantity|revision|seed|size|stars|total|version|views|volume|width)"
    r"|(?:(?:article|build|category|comment|event|invoice|item|job|message|order|page|post|product|repo|request|review"
    r"|run|sku|task|ticket|tracking) )?(?:id|ids|nr|no|number)"
)
"""Whole numbers under these words are of a thing, unless they are as long as a card's."""
THING_DIGITS = 12


def hint_of(key: str, around: str) -> str:
    """The words that stand for the value under `key` of an object that itself is called `around`."""
    own = words(key[:HEAD_CHARS])
    return f"{around} {own}" if own in PARTS and around else own


def label_of(members: Mapping[str, Any]) -> str:
    """What an object such as {name, value} calls its value; empty when it does not."""
    for key in LABELS if not is_remote_value(members) else LABELS[:2]:  # there `type` is JavaScript's
        said = members.get(key)
        if isinstance(said, dict):  # {type, value}, as in an accessibility tree
            said = said.get("value")
        if isinstance(said, str) and 0 < len(said.strip()) <= HEAD_CHARS:
            return said.strip()
    return ""


def is_remote_value(members: Mapping[str, Any]) -> bool:
    """Is this how Chromium tells a value of the page: {type, value}?"""
    type_ = members.get("type")
    return "value" in members and isinstance(type_, str) and type_.lower() in REMOTE_TYPES


def is_cookie(members: Mapping[str, Any]) -> bool:
    """Is this a cookie, as Network.getCookies and others tell them?"""
    return (
        isinstance(members.get("value"), str)
        and isinstance(members.get("name"), str)
        and any(key in members for key in ("domain", "httpOnly", "sameSite", "expirationDate"))
    )


def is_time(number: int, key: str) -> bool:
    """Is a whole number a point in time of our days, in seconds, milliseconds or microseconds?"""
    plain = number
    for _ in range(3):
        if 946_684_800 <= plain < 4_102_444_800:  # the years 2000 to 2100
            return TIME_KEY.search(key) is not None
        plain //= 1000
    return False


def is_protocols(name: str, value: Any) -> bool:
    """In one of the protocol's own objects: may this member stay as it is, because its caller needs it to go on?"""
    if type(value) is str:
        if name in IDS:
            return ID.fullmatch(value) is not None
        if name in PLACES:
            return IP.fullmatch(value) is not None
        return name in PROTOCOL_WORDS and PLAIN_WORD.fullmatch(value) is not None
    if type(value) is int:
        return name in IDS or name in COUNTERS
    return name in IDS and type(value) is list and all(is_protocols(name, one) for one in value)


def heads_of(members: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Which member holds the rows of a table whose columns another one names, and those names; else nothing."""
    heads = next((names for key in HEADS if (names := _head_names(members.get(key)))), [])
    for key in ROWS if heads else ():
        rows = members.get(key)
        if isinstance(rows, list) and rows and all(isinstance(row, list) and len(row) == len(heads) for row in rows):
            return key, heads
    return "", []


HEADS = ("columns", "headers", "header", "head", "heads", "fields", "cols", "columnNames", "labels")
ROWS = ("rows", "data", "values", "body", "records", "items", "result")


def _head_names(value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        return []
    names = [label_of(one) if isinstance(one, dict) else one for one in value]
    return names if all(isinstance(name, str) and len(name) <= HEAD_CHARS for name in names) else []


def head_row(rows: list[Any]) -> list[str]:
    """The first of several equally long rows when it names the columns, else nothing."""
    first = rows[0]
    if not isinstance(first, list) or len(first) < 2 or len(rows) < 2:
        return []
    if not all(isinstance(row, list) and len(row) == len(first) for row in rows):
        return []
    if len(first) == 2 and all(isinstance(row[0], str) and PLAIN_KEY.fullmatch(row[0]) for row in rows):
        return []  # pairs of a key and its value
    return head_words(first) if all(isinstance(cell, str) for cell in first) else []


def strings_of_snapshot(snapshot: Mapping[str, Any]) -> dict[int, tuple[str, bool]]:
    """For the strings of a DOMSnapshot that are values of fields: what the field is called, and is it a password's."""
    strings = snapshot["strings"]
    known: dict[int, tuple[str, bool]] = {}
    for document in snapshot["documents"]:
        nodes = document["nodes"]
        values = nodes.get("inputValue") or {}
        shown = dict(zip(values.get("index") or (), values.get("value") or (), strict=False))
        for number, flat in enumerate(nodes.get("attributes") or ()):
            names = [strings[one] for one in flat[::2]]
            of = dict(zip(names, flat[1::2], strict=True))
            if number not in shown and "value" not in of:
                continue
            password = "type" in of and str(strings[of["type"]]).lower() == "password"
            called = " ".join(words(strings[of[one]][:HEAD_CHARS]) for one in NAMING if one in of)
            for index in (shown.get(number), of.get("value")):
                if index is not None and index >= 0:
                    before = known.get(index, ("", False))
                    known[index] = (before[0] or called, before[1] or password)
    return known


def names_of_snapshot(snapshot: Mapping[str, Any]) -> set[int]:
    """The strings of a DOMSnapshot that are nothing but names of elements and computed styles."""
    names: set[int] = set()
    others: set[int] = set()
    for document in snapshot["documents"]:
        nodes, layout = document["nodes"], document.get("layout") or {}
        names.update(nodes.get("nodeName") or ())
        for styles in layout.get("styles") or ():
            names.update(styles)
        others.update(nodes.get("nodeValue") or (), layout.get("text") or ())
        for flat in nodes.get("attributes") or ():
            others.update(flat)
        for sparse in ("textValue", "inputValue", "currentSourceURL", "originURL"):
            others.update((nodes.get(sparse) or {}).get("value") or ())
        others.update(one for one in document.values() if type(one) is int)
    strings = snapshot["strings"]
    return {one for one in names - others if 0 <= one < len(strings) and STYLE.fullmatch(strings[one])}


STYLE = re.compile(r"(?!.*url\()[^@]{0,100}", re.DOTALL)
