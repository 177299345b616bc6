"""Shapes of keys, tokens, cookies and passwords; hashes, ids and ordinary words are left alone."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator

from host.core.pii.checks import digits_of
from host.core.pii.secret_shapes import LABELLED, SHAPES, TELLTALE

Finds = Callable[[re.Pattern[str], str], Iterator[re.Match[str]]]
"""How a pattern is looked for in a text: `re.Pattern.finditer`, or what gives the same sooner."""


_LABEL_TELLTALE = re.compile(
    r"(?i)key|secret|token|pass|pwd|\bpw|clave|contrase|mdp|kennwort|wachtwoord|senha|has[lł]o|parola|senord"
    r"|adgangskode|salasana|ifre|pin|puk"
    r"|cvv|cvc|csc|cvn|security|sicherheit|pr[uü]f|c[oó]dig|code|codice|cryptogramme|recovery|backup|seed|maiden"
    r"|answer|2fa|totp|mnemonic"
    r"|c[oó]de|\bkod|wi-?fi|wpa|heslo|jelsz|lozinka|пароль|\s-[pa]|(?:use|enter|usa|code|código) \d|introdu"
    r"|utiliz|verwend|geben sie|saisiss"
    r"|tan\b|identified|door|gate|alarm|safe\b|lock|garage|key ?box|cred|acce|try |use |log-?in|zugang|anmeldung|inlogg"
    r"|wlan|router|-p[ =]|bearer"
    r"|basic|digest|sess|sid|csrf|xsrf|otp|magic|jeton|ficha|auth|schl[uü]ssel|sig=|jwt"
)
_ENV = re.compile(r"(?m)^(?:export )?[A-Z][A-Z0-9_]{0,40}PASS(?:WORD|WD|PHRASE)?=([^\s\"'#$][^\n#]{2,100})$")
_COOKIE = re.compile(r"(?im)(?<![\w-])(?:set-cookie2?|cookie)[\"']?\s{0,3}[:=]\s{0,3}[\"']?([^\n\"']{2,8192})")
_HEADER = re.compile(
    r"(?im)(?<![\w-])(?:(?:proxy-)?authorization|x-(?:api-key|auth-token|csrf-token|xsrf-token|amz-security-token"
    r"|access-token"
    r"|goog-api-key))[\"']?\s{0,3}[:=]\s{0,3}[\"']?([^\n\"']{4,8192})"
)
_RUN = re.compile(r"(?<![\w/.@%+-])(?:[A-Za-z_]{1,40}=)?([A-Za-z0-9+/_=.~!$%^*-]{20,4096})")
_HASH_BEFORE = re.compile(
    r"(?i)(?:sha-?\d{1,3}|md5|commit|hash|digest|integrity|checksum|etag|rev(?:ision)?|tree|blob|fingerprint|build"
    r"|version"
    r"|pr[uü]fsumme|\bbh?)\W{0,3}$"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PLAIN_VALUES = re.compile(
    r"(?i)(?:true|false|null|none|undefined|required|optional|forgotten|changed|reset|expired|missing|invalid|valid"
    r"|n/?a|yes|no|string"
    r"|here|not|your|the|a|an|is|set|unset|hidden|show|never|und|oder|and|or|for|must|should|was|has|will|incorrect"
    r"|wrong|weak|strong"
    r"|[*•·●xX.…_-]+|\$?\{.*|<.*|%[sd]|vergessen|ändern|olvidada|oublié|oublie|dimenticata)[.!?:,)]*"
)


_SENTENCE = re.compile(  # what stands in quotes behind "password" may be a message of the page
    r"(?i)\b(?:the|your|you|an?|must|please|enter|is|be|to|for|and|or|not|at least|characters|bitte|ihr|dein"
    r"|und|oder|das"
    r"|ist|muss|el|la|su|tu|debe|votre|le|les|doit|il|la tua|deve|password|passwort|contraseña)\b|[.!?…]$"
)


def entropy(text: str) -> float:
    """Shannon's bits a character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def looks_random(text: str) -> bool:
    """Whether it mixes kinds of characters as no word, path, hash or number does."""
    kinds = sum(map(bool, (re.search("[a-z]", text), re.search("[A-Z]", text), re.search(r"\d", text))))
    if kinds < 3 or len(digits_of(text)) < 2 or _UUID.search(text) or entropy(text) < 3.6:
        return False
    words = re.findall(r"[A-Z]?[a-z]{4,}", text)  # paths and camelCase are words; random text has none that long
    return sum(map(len, words)) < 0.45 * len(text)


def vendor_secrets(text: str, finds: Finds = re.Pattern.finditer) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, type and name of what has a vendor's shape."""
    if TELLTALE.search(text) is None:
        return
    for shape in SHAPES:
        for match in finds(shape.pattern, text):
            if len(match[shape.group]) >= 8 or shape.type == "PASSWORD":
                yield *match.span(shape.group), shape.type, shape.name


def labelled_secrets(text: str, finds: Finds = re.Pattern.finditer) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, type and name of values behind a credential word, headers and cookies."""
    if _LABEL_TELLTALE.search(text):
        for shape in LABELLED:
            for match in finds(shape.pattern, text):
                start, end = match.span(shape.group)
                end = start + len(match[shape.group].rstrip(").…]}" if shape.type == "PASSWORD" else ").!?:…]}"))
                if end > start and believable(text[start:end], shape.type):
                    yield start, end, shape.type, shape.name
        for match in finds(_HEADER, text):
            yield *match.span(1), "TOKEN", "header"
        for match in finds(_ENV, text) if "PASS" in text else ():
            if believable(match[1], "PASSWORD"):
                yield *match.span(1), "PASSWORD", "setting"
    for match in finds(_COOKIE, text):
        if "=" in match[1]:
            yield *match.span(1), "COOKIE", "header"


def believable(value: str, kind: str) -> bool:
    """Whether what stands behind a credential word can be the credential and not the sentence going on."""
    if _PLAIN_VALUES.fullmatch(value) or (" " in value and _SENTENCE.search(value)):
        return False
    if kind in ("KEY", "TOKEN"):
        words = sum(map(len, re.findall(r"[A-Za-z]?[a-z]{3,}", value)))  # names of methods and options are words
        return len(value) >= 8 and (
            any(c.isdigit() for c in value) or (entropy(value) > 3.4 and words < 0.6 * len(value))
        )
    if kind == "SECRET":
        return any(c.isdigit() for c in value) and len(value) <= 64
    return len(value) >= 3


def random_runs(text: str, finds: Finds = re.Pattern.finditer) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, KEY and "entropy" of long random-looking words without any label; hashes are left alone."""
    for match in finds(_RUN, text):
        word = match[1].rstrip(".")
        before = text[max(0, match.start(1) - 24) : match.start(1)]
        if len(word) < 24 or not looks_random(word) or _HASH_BEFORE.search(before):
            continue
        if re.match(r"(?i)sha\d{1,3}[-:]|(?:https?|file|ftp|data):|[a-z]+/[a-z.+-]+;", word):
            continue
        yield match.start(1), match.start(1) + len(word), "KEY", "entropy"
