"""What gives somebody's login away whatever a detector says: headers, cookies, tokens, by the names they go under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

HEADERS: Mapping[str, str] = {  # header in lower case: the type that its value is masked as
    "api-key": "KEY",
    "apikey": "KEY",
    "authorization": "TOKEN",
    "cookie": "COOKIE",
    "cookie2": "COOKIE",
    "dpop": "TOKEN",
    "ocp-apim-subscription-key": "KEY",
    "private-token": "TOKEN",
    "proxy-authorization": "TOKEN",
    "set-cookie": "COOKIE",
    "set-cookie2": "COOKIE",
    "x-amz-security-token": "TOKEN",
    "x-api-key": "KEY",
    "x-apikey": "KEY",
    "x-auth": "TOKEN",
    "x-auth-key": "KEY",
    "x-auth-token": "TOKEN",
    "x-authorization": "TOKEN",
    "x-csrf-token": "TOKEN",
    "x-csrftoken": "TOKEN",
    "x-firebase-appcheck": "TOKEN",
    "x-functions-key": "KEY",
    "x-goog-api-key": "KEY",
    "x-goog-iap-jwt-assertion": "TOKEN",
    "x-ms-authorization-auxiliary": "TOKEN",
    "x-rapidapi-key": "KEY",
    "x-session": "TOKEN",
    "x-session-id": "TOKEN",
    "x-xsrf-token": "TOKEN",
}
LIKELY_HEADER = re.compile(
    r"(?:^|[-_])(?:access[-_]?key|api[-_]?key|auth|credentials?|csrf(?:token)?|jwt|passw(?:or)?d|secret|session(?:id)?"
    r"|signature|token|xsrf(?:token)?)(?:[-_]|$)"
)
HARMLESS_HEADERS = frozenset(("access-control-allow-credentials", "sec-fetch-storage-access"))

KEYS: tuple[tuple[re.Pattern[str], str], ...] = tuple(  # the words of a key, the most telling first: its value's type
    (re.compile(rf"\b(?:{names})$"), type_)
    for names, type_ in (
        (r"(?:password|passwd|pwd|passphrase|passcode|kennwort|passwort|contraseña|mot de passe)\d?", "PASSWORD"),
        (r"pin|pin code|cvc2?|cvv2?|csc|otp|totp|mfa code|security answer|card security code", "SECRET"),
        (r"(?:(?:api|private|secret|access|signing|encryption|subscription|license) ?key|apikey)(?: id)?", "KEY"),
        (r"(?:(?:client|shared|app|webhook|totp|consumer|jwt|signing) ?)?secret", "KEY"),
        (r"cookies|cookie line|set cookie|session cookie|cookie header", "COOKIE"),
        (r"bearer|jwt|authorization|auth|csrf|xsrf|session ?id|sid|session key|phpsessid|jsessionid", "TOKEN"),
        (r"(?<!page )(?<!next )(?<!continuation )(?<!cancel )(?<!sync )(?<!cursor )token", "TOKEN"),
    )
)
NO_VALUE = frozenset(
    (
        "", "-", "basic", "bearer", "boolean", "disabled", "enabled", "false", "hidden", "n/a", "no", "none", "null",
        "number", "object", "optional", "required", "string", "text", "true", "undefined", "yes",
    )
)  # fmt: skip
ABOUT_PASSWORDS = re.compile(r"passw|pass ?phrase|kennwort|contrase|mot de passe", re.I)
COOKIE_ATTRIBUTES = frozenset(
    ("domain", "expires", "httponly", "max-age", "partitioned", "path", "priority", "samesite", "secure", "version")
)
SCHEME = re.compile(
    r"\s*(?:(?:Basic|Bearer|Digest|DPoP|GNAP|HOBA|JWT|Mutual|Negotiate|NTLM|OAuth|SCRAM-\S+|token|vapid|AWS4-\S+)\s+)?",
    re.I,
)
COOKIE_PAIR = re.compile(r"\s*([^\s=;,\"']{1,256})=\s*([^;\r\n]*)")
COOKIE_TEXT = re.compile(r"\s*[\w!#$%&'*+.^`|~-]{1,128}=[^;\s]*(?:;\s*[\w!#$%&'*+.^`|~-]{1,128}=[^;\s]*)*;?\s*")
MASKED = re.compile(r"[\s*\u2022\u25cf\u00b7xX#.]*")


class Span(NamedTuple):
    """Characters `start` to `end` of a text are a private detail of this type."""

    start: int
    end: int
    type: str


def header_type(name: str) -> str | None:
    """As what a header's value is masked, None for a header that carries no credential."""
    plain = name.strip().lower()
    known = HEADERS.get(plain)
    if known is not None or plain in HARMLESS_HEADERS or len(plain) > 128:
        return known
    return "TOKEN" if LIKELY_HEADER.search(plain) else None


def key_type(words: str) -> str | None:
    """As what the value under a key is masked, by the key's words in lower case; None for a key that tells nothing."""
    for pattern, type_ in KEYS:
        if pattern.search(words):
            return type_
    return None


def is_value(text: str, words: str, type_: str) -> bool:
    """Is this the credential that its key speaks of, and not its label, its name in another language, or nothing?"""
    plain = text.strip()
    lower = plain.casefold()
    if (
        lower in NO_VALUE
        or MASKED.fullmatch(plain)
        or lower.replace("-", "").replace(" ", "") == words.replace(" ", "")
    ):
        return False
    if type_ == "COOKIE":
        return "=" in plain
    if type_ == "PASSWORD":  # "Forgot your password?" is what a page says, not what somebody types
        return not (ABOUT_PASSWORDS.search(plain) and (" " in plain or plain.isalpha()))
    if type_ == "SECRET":
        return any(map(str.isdigit, plain)) or words.endswith("answer")
    return len(plain) >= 6 and not any(map(str.isspace, SCHEME.sub("", plain, count=1)))


def header_value(name: str, value: str, type_: str) -> list[Span]:
    """What of a credential header's value is masked: cookies' values, what follows the scheme of an authorization."""
    if type_ == "COOKIE":
        return cookie_values(value, set_cookie="set" in name.lower())
    scheme = SCHEME.match(value)
    start, end = scheme.end() if scheme else 0, len(value.rstrip())
    return [Span(start, end, type_)] if start < end else []


def cookie_values(text: str, *, set_cookie: bool) -> list[Span]:
    """The values in a Cookie or Set-Cookie header; the names and a Set-Cookie's attributes stay."""
    spans: list[Span] = []
    at = 0
    for line in text.splitlines(keepends=True):
        spans += _cookies_of_line(line, at, set_cookie)
        at += len(line)
    if not spans and text.strip():
        return [Span(0, len(text), "COOKIE")]
    return spans


def _cookies_of_line(line: str, at: int, set_cookie: bool) -> Iterator[Span]:
    start = 0
    for number, part in enumerate(line.split(";")):
        pair = COOKIE_PAIR.match(part)
        name = pair[1].lower() if pair else part.strip().lower()
        if number and set_cookie and name in COOKIE_ATTRIBUTES:
            pass
        elif pair and pair[2].strip():
            yield Span(at + start + pair.start(2), at + start + len(part.rstrip()), "COOKIE")
        elif not pair and part.strip():  # a cookie without a name
            yield Span(at + start + len(part) - len(part.lstrip()), at + start + len(part.rstrip()), "COOKIE")
        start += len(part) + 1


# --- credentials in free text

_NAMES = "|".join(sorted(map(re.escape, HEADERS), key=len, reverse=True))
HEADER_LINE = re.compile(
    rf"(?<![\w-])({_NAMES}|x-[\w-]{{1,60}}(?:token|key|secret|auth|session|csrf|xsrf))(\\?[\"'])?[ \t]*[:=][ \t]*", re.I
)
QUERY = re.compile(
    r"(?<![\w-])((?:access|auth|id|refresh|api|csrf|xsrf|session|oauth|bearer|security|sas|user)?[_-]?token|api[_-]?key"
    r"|access[_-]?key|client[_-]?secret|secret|passw(?:or)?d|pwd|pin|otp|session[_-]?id|(?:php|j)sessionid|sid|jwt"
    r"|sig|signature|hmac|x-amz-(?:signature|credential|security-token)|code_verifier)=([^&\s\"'<>#;,]{4,})",
    re.I,
)
USER_INFO = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://([^\s/?#@\"'<>]{1,200})@(?=[^\s/@])", re.I)
CURL = re.compile(r"(?<!\S)(?:-b|--cookie|-u|--user|--proxy-user|--oauth2-bearer)[ =]+(?:'([^']+)'|\"([^\"]+)\"|(\S+))")
MOST_VALUE_CHARS = 16 * 1024
"""No server takes longer headers; without an end a page could have every line looked through for each of its words."""


def in_text(text: str) -> Iterator[Span]:
    """Credentials in free text: header lines, curl commands, parameters and user names in URLs."""
    if ":" not in text and "=" not in text and "curl" not in text:
        return
    yield from _header_lines(text)
    for found in QUERY.finditer(text):
        if found[2].casefold() not in NO_VALUE:
            yield Span(found.start(2), found.end(2), _type_of_parameter(found[1].lower()))
    if "://" in text:
        for found in USER_INFO.finditer(text):
            yield Span(found.start(1), found.end(1), "PASSWORD" if ":" in found[1] else "USERNAME")
    if "curl" in text:
        for found in CURL.finditer(text):
            group = found.lastindex or 0
            if "cookie" in found[0][:10] or found[0].startswith("-b"):
                start = found.start(group)
                yield from (
                    Span(one.start + start, one.end + start, one.type)
                    for one in cookie_values(found[group], set_cookie=False)
                )
            else:
                yield Span(found.start(group), found.end(group), "PASSWORD")


def _header_lines(text: str) -> Iterator[Span]:
    end = 0
    for found in HEADER_LINE.finditer(text):
        name, start = found[1], found.end()
        if start < end:
            continue  # a word inside of the value before
        end = _end_of_value(text, found)
        if text[start : start + 1] in ("'", '"'):
            start += 1
        elif text[start : start + 2] in ("\\'", '\\"'):
            start += 2
        value, type_ = text[start:end], header_type(name) or "TOKEN"
        if not _is_header_value(value, type_):
            end = 0
            continue
        for span in header_value(name, value, type_):
            yield Span(start + span.start, start + span.end, type_)


def _end_of_value(text: str, head: re.Match[str]) -> int:
    """A value ends at its own closing quote, at that which was opened before its name, or with its line."""
    start = head.end()
    escaped = text.startswith("\\", start)
    first = text[start + escaped : start + escaped + 1]
    before = text[head.start() - 1 : head.start()]
    quote = first if first in ("'", '"') else before if before in ("'", '"') and not head[2] else ""
    most = min(len(text), start + MOST_VALUE_CHARS)
    line = min((at for at in (text.find("\n", start, most), text.find("\r", start, most)) if at >= 0), default=most)
    if not quote:
        stop = text.find("\\n", start, line) if "\\n" in text[start:line] else -1  # the line end of a text in a text
        return line if stop < 0 else stop
    close = text.find(("\\" if escaped else "") + quote, start + escaped + (quote == first), line)
    return line if close < 0 else close


def _is_header_value(value: str, type_: str) -> bool:
    """In free text a name may stand before other words than its value."""
    plain = value.strip()
    if type_ == "COOKIE":
        return COOKIE_PAIR.match(plain) is not None
    rest = SCHEME.sub("", plain, count=1)
    if rest.casefold() in NO_VALUE or not rest:
        return False
    return len(rest) >= 4 and (not any(map(str.isspace, rest)) or "=" in rest)


def _type_of_parameter(name: str) -> str:
    if "pass" in name or name == "pwd":
        return "PASSWORD"
    if name in ("pin", "otp"):
        return "SECRET"
    return "KEY" if "key" in name or "secret" in name else "TOKEN"
