"""E-mail addresses, phone numbers, handles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import phonenumbers

from host.core.pii.accounts import accounts, shaped_accounts
from host.core.pii.checks import digits_of
from host.core.pii.context import is_amount, is_article, is_date, is_measure, named_otherwise
from host.redact.names import NAMES, words_of
from host.redact.quick import Near, finds, searched
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.shaped import is_shaped, is_wordy

_AT = r"(?:@|%40|&#0?64;|&#x40;|&commat;|\\u0040)"
_EMAIL = re.compile(rf"(?<![\w.+%-])[\w.+%'~-]{{1,64}}{_AT}(?:[\w-]{{1,63}}\.){{1,8}}[\w-]{{2,24}}(?!\w)")
_EMAIL_BARE = re.compile(rf"(?<![\w.+-])[\w.+-]{{1,64}}{_AT}(?=[\w-]*[a-zA-Z])[\w-]{{2,63}}(?![\w.-]*\w)")
_WORD_AT = (
    r"(?:[(\[{<]\s?(?:at|@|ät|arroba|arobase|chiocciola|apenstaartje|klammeraffe|chez)\s?[)\]}>]|\s(?:at|ät|arroba)\s)"
)
_WORD_DOT = (
    r"(?:\s?[(\[{<]\s?(?:dot|punkt|punto|point|ponto|\.)\s?[)\]}>]\s?|\s(?:dot|punkt|punto|point|ponto)\s|\s?\.\s?)"
)
_EMAIL_SPELT = re.compile(
    rf"(?i)(?<![\w.])[\w.+-]{{2,64}}(?:{_WORD_DOT}[\w-]{{2,30}}){{0,3}}\s?{_WORD_AT}\s?[\w-]{{2,63}}(?:{_WORD_DOT}[\w-]{{2,24}}){{1,4}}(?!\w)"
)
_EMAIL_APART = re.compile(  # "ann.lee @ example.com": a place in lower case with an ending, no sentence
    r"(?<![\w.+-])[\w.+-]{2,64} {0,2}@ {0,2}(?:[a-z0-9-]{2,63}\.){1,4}[a-z]{2,12}(?![\w-]|\.\w)"
)
_NEAR_AT = Near(re.compile(r"[@%&\\]"), 68)
_NEAR_WORD_AT = Near(re.compile(rf"(?i){_WORD_AT}"), 240)
_EMAIL_SPACED = re.compile(r"(?<!\S)(?:[\w.+-] ){2,40}@(?: [\w.-]){4,60}(?!\S)")
_EMAIL_LOOSE = re.compile(  # spaces around the sign, or a sign misread: only out of pixels and in fields
    r"[\w.+%'-]{2,64}\s?[@©®]\s?[\w-]{2,63}(?:\s?[.,]\s?[\w-]{2,24})+|[\w.+-]{2,64}(?:@|\(@\)|©|®"
    r"|Q)[\w-]{2,63}\.(?:com|org|net|de|es|fr|it|eu|io|test|example|co\.uk)\b"
)
_HANDLE = re.compile(r"(?<![\w/@.&=])@[A-Za-z_](?:[\w.-]{1,38}\w)(?:@[\w-]+(?:\.[\w-]+)+)?(?![\w/(@])")
_AT_RULES = words_of("at_rules.txt")

_PHONE = re.compile(
    r"(?<![\w$€£#@&=+])(?<!\d[.,:/-])(?:\+\s?|00)?\(?\+?\d(?:[ \t().·•/-]{0,3}\d){5,17}(?:,?\s?(?:x|ext\.?|extension"
    r"|durchwahl|dw|poste|int\.?|anexo)\s?\.?:?\s?\d{1,6})?"
    r"(?![\w@])(?!\.\d|,\d{1,2}\b|:\d)"
)
_PHONE_WORD = re.compile(
    r"(?i)(?:\b(?:ph|tph|mob|hp|tf|hotline|recapito|rappel\w*|notruf\w*|tele?(?:ph?one?|fon\w*|foon|fono|fax"
    r"|móvel|movel)?|phone|mob(?:ile|il\w*|iel)?|cell(?:ulare?)?|fax"
    r"|handy|rufnummer|ruf|móvil|movil|celular|portable|gsm|sms|whatsapp|signal|call(?:ed|ing)?(?: (?:me|us|back|him"
    r"|her))?"
    r"|ring(?: me)?|text(?: me)?|dial|anruf\w*|rufen sie(?: uns)?|erreichbar|reach (?:me|him|her|them|us)|llam\w+"
    r"|appel\w+|joindre|chiam\w+|bellen?|ligue|ligar|zadzwoń|ring|hotline|contact|kontakt|durchwahl|tfno?|tlf)\b"
    r"|[☎☏✆📞📱🕾]|τηλ\w*|κινητό|тел(?:ефон)?|моб\w*|звоните|电话|手机|電話|携帯|전화|휴대폰|هاتف|फ़ोन|puhelin|mobiln\w*"
    r"|komórk\w*|soita|volej\w*|hívj\w*|telefonszám)"
    r"[^\d\n+]{0,24}$|(?:wa\.me|api\.whatsapp\.com/send)[/?](?:phone=)?\+?$|\b(?:tel|sms|callto|skype|facetime"
    r"|whatsapp):/{0,2}$"
)
REGIONS = (
    "US",
    "GB",
    "DE",
    "ES",
    "FR",
    "IT",
    "NL",
    "PT",
    "SE",
    "PL",
    "IN",
    "AU",
    "CH",
    "AT",
    "BE",
    "DK",
    "NO",
    "TR",
    "BR",
    "MX",
    "CN",
    "JP",
)
_GROUPED = re.compile(  # shapes that people write phone numbers in and hardly anything else
    r"(?:1[ .-])?\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}|(?:1-)?\d{3}([.-])\d{3}\1\d{4}"  # North America
    r"|\(0?\d{1,5}\)[ /-]{0,2}\d{2,9}(?:[ -]\d{2,5}){0,3}|\(0\d{1,4}\)\.\d{2,5}\.\d{2,5}"  # area code in brackets
    r"|0\d{1,5}(?:[ ]?[/-][ ]?|[ ])\d{2,8}(?:[ -]\d{1,5}){0,5}|0\d{2,4}\.\d{2,4}(?:\.\d{2,4}){1,3}"  # trunk zero
    r"|0\d(?:[ .-]\d\d){4}"  # France
    r"|[6-9]\d{2}[ .-]\d{3}[ .-]\d{3}|[6-9]\d{2}(?:[ .-]\d\d){3}"  # Spain, Portugal, Poland
    r"|[5-8]\d{2}[ -]\d{3}[ -]\d{3}|3\d{2}[ ./-]\d{6,7}|[6-9]\d{4}[ -]\d{5}|1[3-9]\d[ -]\d{4}[ -]\d{4}"  # and more
    r"|\d\d \d\d \d\d \d\d"  # Denmark, Norway
    r"|(?:0\d{1,3}|\d{2})[ -]9?\d{4}-\d{4}"  # Japan, Brazil
    r"|001[ .-]?\(?\d{3}\)?[ .-]?\d{3}[ .-]?\d{4}"
)


_OF_A_NUMBER = re.compile(
    r"(?i)(?:\b(?:no|nr|num|number|nummer|numero|número|id|code|codice|código|kod)|#|n[º°])\.?\W{0,2}(?:$|;)"
    r"|^(?:n[º°]|codice|code|código|nr|numer)(?!\w)"
)


@lru_cache(maxsize=4096)
def is_valid_somewhere(number: str) -> bool:
    """Whether the numbering plan of one of the regions we know has it (phonenumbers' metadata)."""
    for region in REGIONS:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(number, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False


_ANYBODY = frozenset(("email", "git", "me", "name", "root", "someone", "user", "username", "you", "your"))


class Emails(Rules):
    """E-mail addresses, also spelt out, spaced out or percent-encoded."""

    types = ("EMAIL",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Addresses by shape; what only might be one needs a field or pixels."""
        if "@" in text or "%40" in text or "&" in text or "\\u0040" in text:
            for match in finds(_EMAIL, text, _NEAR_AT):
                if _MESSAGE.search(text, max(0, match.start() - 20), match.start()):
                    continue
                yield Hit(match.start() + _leading(match[0]), match.end(), "EMAIL", 1.0, "email")
            for match in finds(_EMAIL_BARE, text, _NEAR_AT):
                if match[0].split("@")[0].lower() in _ANYBODY:
                    continue
                yield Hit(*match.span(), "EMAIL", 0.6, "email without domain")
            for match in finds(_EMAIL_APART, text, _NEAR_AT):
                if " " in match[0]:
                    yield Hit(*match.span(), "EMAIL", 0.7, "email with spaces")
            for match in finds(_EMAIL_SPACED, text):
                yield Hit(*match.span(), "EMAIL", 0.9, "email spaced out")
        for match in finds(_EMAIL_SPELT, text, _NEAR_WORD_AT) if len(text) < 100_000 else ():
            if re.search(r"(?i)[(\[{<]|dot|punkt|punto|point|ponto", match[0]):
                yield Hit(*match.span(), "EMAIL", 0.9, "email spelt out")
        if page.kind != "text":
            for match in finds(_EMAIL_LOOSE, text):
                yield Hit(*match.span(), "EMAIL", 0.6, "email misread")


_MESSAGE = re.compile(r"(?i)\b(?:message-id|in-reply-to|references|content-id|cid)[ \"':=<]{1,5}$")


def _leading(address: str) -> int:
    """How many characters before the address belong to the sentence: quotes, "mailto=", brackets."""
    return len(address) - len(address.lstrip("'=/?|{}*^~.-"))


_ONE_MORE = re.compile(
    r"[+(]?\d[\d ().-]{5,20}\d ?(?:/|,|;|or|oder|o|ou|and|und|y|et|&) ?$"
)  # another number stands between
_PARTED = re.compile(r"[ ]?/[ ]?(?=\(?[+0]\d)|[ ]{2,}(?=\(?[+0]\d)|\t(?=\(?[+0]\d)|[ ][·•][ ]")


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    """Runs of digits as phones are written; two in a row with a slash or a gap between are two."""
    at = 0
    search = searched(_PHONE, text)
    while match := search(at):
        start, end = match.span()
        at = end
        for gap in _PARTED.finditer(match[0]):
            if len(digits_of(match[0][: gap.start()])) >= 7:
                end, at = start + gap.start(), start + gap.end()
                break
        yield start, end


class Phones(Rules):
    """Phone numbers by shape, numbering plan and the words before them."""

    types = ("PHONE",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Numbers that are phones; not orders, dates, prices, articles."""
        for start, end in _numbers(text):
            why = self._why(text, start, end, page)
            if why:
                yield Hit(start, end, "PHONE", 0.9 if why != "phone by plan" else 0.5, why)

    def _why(self, text: str, start: int, end: int, page: Page) -> str:
        number = text[start:end]
        core = re.split(r"(?i),?\s?[a-z]", number, maxsplit=1)[0].strip()
        digits = digits_of(core)
        if not 6 <= len(digits) <= 17 or (len(set(digits)) < 2 and len(digits) > 6):
            return ""
        before = text[max(0, start - 48) : start]
        before = _ONE_MORE.sub("", before)
        international = core.startswith("+") and len(digits) >= 7
        if international and not is_measure(text, end):
            return "phone with country code"
        if is_date(core) or is_measure(text, end) or is_amount(core):
            return ""
        if _PHONE_WORD.search(before) or "PHONE" in page.promised:
            return "phone behind label"
        if len(digits) < 8 or page.ruled_out or named_otherwise(text, start):
            return ""
        if _GROUPED.fullmatch(core):
            return "phone by shape"
        if page.hint and not page.promised and core.isdigit() and _OF_A_NUMBER.search(page.hint):
            return ""  # a number of some other kind
        if is_article(core):
            return ""
        if core.startswith("00") and 10 <= len(digits) <= 15 and is_valid_somewhere("+" + digits[2:]):
            return "phone with country code"
        groups = re.findall(r"\d+", core)
        grouped = len(groups) > 2 and len(set(map(len, groups))) > 1 and not re.search(r"[./]", core)
        if 9 <= len(digits) <= 12 and (len(groups) == 1 or (grouped and min(map(len, groups)) > 1)):
            return "phone by plan" if is_valid_somewhere(core) else ""
        return ""


_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})([A-Za-z][\w.-]{1,40})(?![\w.-])")
_LOGGED_IN = re.compile(
    r"(?i)\b(?:user(?:name)?|login|benutzer|usuario|utilisateur|utente|gebruiker|account"
    r"|password for|publickey for|session opened for user)"
    r"[ ][\"']?([a-z][a-z0-9]{0,30}(?:[._-][a-z0-9]{1,30}|\d{1,6})[a-z0-9._-]{0,20})(?![\w@/(:])"
)
_PROFILE = re.compile(
    r"(?i)(?<![\w.])(?:www\.)?(?:github|gitlab|bitbucket|twitter|x|instagram|facebook|linkedin|medium|reddit|tiktok"
    r"|twitch|youtube|threads"
    r"|pinterest|soundcloud|behance|dribbble|keybase|t)\.(?:com|org|net|io|me|tv)/(?:in/|u/|user/|users/|c/"
    r"|@)?([\w.-]{2,40})(?![\w-]|/\w)"
)
_SIGNED_IN = re.compile(
    r"(?i)\b(?:signed in as|logged in as|logged on as|(?:log|sign)(?:ging|ning|s)?[ -]?[io]n as|welcome(?: back)?,?"
    r"|angemeldet als|eingeloggt als|sesión iniciada como|conectado como|connecté en tant que"
    r"|connecté :|accesso come|ingelogd als|inloggad som|zalogowano jako|ssh|by user|as user|for user)[ ]:?[ ]?[\"']?"
    r"((?=[a-z0-9._-]{0,30}[a-z])[a-z0-9][a-z0-9._-]{2,30})(?![\w.]*@[\w-]+\.\w)(?![\w(])"
)
_PROMPT = re.compile(r"(?m)^[(\[]?([a-z][\w.-]{1,31})@[\w.-]{1,40}[: ][~/][^\n]{0,60}[$#%]")
_MENTION = re.compile(r"(?<![\w/.])(?:u|user)/([A-Za-z][\w-]{2,30})(?![\w/])")
_ACTS = (
    r"(?:commented|pushed|opened|closed|merged|approved|requested|wants to merge|reviewed|starred|forked|assigned|added"
    r"|joined|left|replied|posted|liked|followed|mentioned|created|deleted|uploaded|edited|logged (?:in|out)"
    r"|signed (?:in|out)"
    r"|committed|authored|changed|updated|removed|reacted|wrote|shared|invited|started following)"
)
_ACTED = re.compile(rf"(?m)^[ \t]{{0,8}}([a-z][\w.-]{{2,38}})[ ]{_ACTS}\b")
_ACTED_BY = re.compile(rf"\b{_ACTS}(?:[ ][\w#/-]{{1,20}}){{0,4}}[ ]by[ ]([a-z][\w.-]{{3,38}})(?![\w@])")
_SYSTEM = re.compile(
    r"\buid=\d+\(([\w.-]{2,32})\)|\b(?:for|user|user=|USER=|LOGNAME=)[ ]?([a-z][\w.-]{2,31})[ ]from[ ][\d.:a-fA-F]{3,}"
    r"|session (?:opened|closed) for user ([a-z][\w.-]{1,31})"
    r"|(?m:^)[dlcb-][rwxsStT-]{9}[.+@]?[ ]{1,3}\d{1,4}[ ]{1,3}([a-z][\w.-]{2,31})[ ]"
    r"|sudo:\s{1,8}([a-z][\w.-]{1,31})[ ]:|(?m:^)<([A-Za-z][\w.-]{1,31})>[ ]"
)
_GREETED = re.compile(
    r"(?i)\b(?:hi|hello|hey|welcome(?: back)?|hallo|hola|bonjour|salut|ciao|olá"
    r"|hej)(?:,)?[ ]((?-i:[a-z][a-z0-9]{1,30}[\d._-][\w.-]{0,20}|[a-z]{9,30}))(?=[,!.](?:\s|$)|$)"
)
_NOBODY = frozenset(
    (
        "app",
        "deploy",
        "postgres",
        "mysql",
        "guest",
        "git",
        "service",
        "public",
        "shared",
        "default",
        "runner",
        "root",
        "user",
        "ubuntu",
        "app",
        "node",
        "admin",
    )
)


_IN_URL = re.compile(
    r"(?i)[a-z][a-z0-9+.-]{1,20}://([^\s/@:]{2,64})(?::[^\s@]{1,200})?@(?=[\w\[])"  # before the host
    r"|/(?:users?|u|profiles?|people|members?|authors?|accounts?|@)/([a-z][\w.-]{2,40})(?![\w.-])|/~([a-z][\w.-]{1,40})"
    r"|\bgit@[\w.-]{1,60}:([\w.-]{2,40})/|(?<!\S)(?:-u|--user|--auth|(?<=http )-a)[ =][\"']?([\w.-]{2,64}):"
    r"|(?<![\w-])(?-i:sudo -u|su -|su|chown(?: -R)?|--username|usermod|useradd|adduser|ssh -l"
    r"|USER)[ =]([a-z][\w.-]{2,31})"
    r"|(?m:^)([a-z_][\w.-]{1,31}):[x*!]:\d{4,6}:"  # people's lines of a password file
)


_NAME_VALUE = r"([A-Za-z](?=[\w.-]{0,30}[\d._-])[\w.-]{1,30}\w)"
_NAMED = re.compile(  # the word for an account, a blank, and what no sentence would go on with
    r"(?i)\b(?:benutzername|benutzerkennung|nutzername|anmeldename|user ?name|user ?id|usuario|nombre de usuario"
    r"|nom d'utilisateur|identifiant|pseudo|nome utente|gebruikersnaam|nome de usuário|utilizador|nazwa użytkownika"
    r"|användarnamn|brukernavn|brugernavn|käyttäjätunnus|kullanıcı adı|gamertag|nick(?:name)?|screen name"  # noqa: RUF001
    r"|handle|account|psn|xbox|steam|insta(?:gram)?|snap(?:chat)?|discord|telegram|twitch|skype|kik|venmo|cash ?app)"
    rf":? (?!v\d){_NAME_VALUE}(?![\w@/(:])"
)
_CLIENTS = re.compile(
    r"\b(?:psql|pg_dump|pg_restore|mysql|mysqldump|mariadb|createdb|docker login|redis-cli|mongo(?:sh)?|ftp"
    r"|sftp|svn|smbclient)\b"
    r"[^\n|;]{0,80}?\s(?:-[uU]|--user(?:name)?)[ =]?[\"']?([A-Za-z_][\w.-]{1,31})"
    r"|\blogin\s{1,3}(\S{1,64})\s{1,3}password\s|(?i:(?:^|;)\s?(?:user ?id|uid|user"
    r"|user ?name)\s?=\s?([^;&\s]{1,64})(?=;|$))"
)
_BY = re.compile(r"(?m)(?:^|[·|] ?)(?:by|von|par|por) ([a-z]{4,20}\d{2,6})(?![\w@])")
_TILDE = re.compile(r"(?<![\w/~.])~([a-z][\w.-]{1,31})(?=/)")
_OPTION = re.compile(
    r"(?<!\S)--(?:user(?:name)?|login|http-user|ftp-user|db-user|dbuser)[ =][\"']?([A-Za-z][\w.-]{1,63})(?![\w:@])"
)
_OF_PROFILE = re.compile(
    r"(?<![\w/.-])(?:profiles?|users?|members?)/((?=[a-z.-]{0,30}[\d_])[a-z][\w.-]{2,40})(?![\w./-])"
)
_OWNED = re.compile(r"(?i)(?<![\w.])(?:github|gitlab|bitbucket|codeberg)\.(?:com|org)/([\w.-]{2,40})/")
_TAGGED = re.compile(r"(?<![\w#/.-])([A-Za-z_][\w.]{1,31}#\d{4})(?![\w#-])")
_NOT_TAGGED = re.compile(
    r"(?i)(?:order|ticket|issue|bug|case|invoice|pr|no|nr|room|lot|batch|item|task|job|build|run|bestellung"
    r"|pedido|rechnung"
    r"|story|epic|page|line|figure|gate|unit|suite|apt|box|serie|episode|part|test|sample|model|ref|id)#"
)
_ACCOUNTS = (
    _IN_URL,
    _HOME,
    _TILDE,
    _BY,
    _OPTION,
    _OF_PROFILE,
    _LOGGED_IN,
    _PROFILE,
    _SIGNED_IN,
    _PROMPT,
    _MENTION,
    _ACTED,
    _ACTED_BY,
    _SYSTEM,
    _GREETED,
    _NAMED,
    _CLIENTS,
)
_TOKEN = re.compile(r"(?<![\w@.%+-])([a-z][a-z0-9]{1,24}(?:[._-][a-z0-9]{1,24}){0,3})(?![\w@+-]|\.\w)")


def is_like_a_name(account: str) -> bool:
    """Whether an account's name is made of a person's names: "dirk_bakhuis82", "nravenscroft", "anna.k"."""
    parts = re.split(r"[._-]", account.rstrip("0123456789"))
    if any(NAMES.is_common(part) or NAMES.is_goods(part) or NAMES.is_maker(part) for part in parts):
        return False
    if "-" in account and len(parts) > 1 and not any(c.isdigit() for c in account):
        known = [NAMES.is_given(part) or NAMES.is_family(part) for part in parts]
        return all(known) and any(NAMES.is_surely_given(part) for part in parts)  # else a word with a hyphen
    if len(parts) > 1:
        return any(len(part) > 3 and (NAMES.is_surely_given(part) or NAMES.is_family(part)) for part in parts)
    name = parts[0]
    if NAMES.is_given(name) or NAMES.is_family(name):
        return account != name and len(name) > 3
    return NAMES.is_family(name[1:]) and len(name) > (5 if account != name else 7) and not NAMES.is_common(name[1:])


class Usernames(Rules):
    """Names of accounts in paths and in what machines log."""

    types = ("USERNAME",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Not those of machines' own accounts."""
        for pattern in _ACCOUNTS:
            for match in finds(pattern, text):
                group = match.lastindex or 1
                if match[group].lower() not in _NOBODY and not NAMES.is_common(match[group]):
                    yield Hit(*match.span(group), "USERNAME", 0.6, "username")
        for start, end in accounts(text, finds):
            name = text[start:end]
            known = text[max(0, start - 3) : start] == "://"  # with its password: whose it is does not matter
            if known or not (
                name.lower() in _NOBODY or NAMES.is_common(name) or NAMES.is_maker(name) or is_wordy(name)
            ):
                yield Hit(start, end, "USERNAME", 0.6, "account in its place")
        for start, end in shaped_accounts(text, finds):
            if is_shaped(text[start:end]):
                yield Hit(start, end, "USERNAME", 0.5, "account by shape")
        if "#" in text:
            for match in finds(_TAGGED, text):
                if not _NOT_TAGGED.match(match[1]) and not NAMES.is_common(match[1].split("#")[0].lower()):
                    yield Hit(*match.span(1), "USERNAME", 0.5, "name with number")
        if "/" in text:
            for match in finds(_OWNED, text):
                owner = match[1].lower()
                initial = len(owner) > 5 and NAMES.is_name(owner[:-1]) and not NAMES.is_common(owner)  # "hollowayj"
                if re.search(r"[A-Za-z]\d{2,}$", match[1]) or initial or is_like_a_name(owner):
                    yield Hit(*match.span(1), "USERNAME", 0.5, "owner of a repository")
        for match in finds(_TOKEN, text):
            if len(match[1]) > 5 and is_like_a_name(match[1]):
                yield Hit(*match.span(1), "USERNAME", 0.4, "account like a name")


class Handles(Rules):
    """@handles of people in networks."""

    types = ("HANDLE",)

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Handles; not CSS at-rules, decorators or package scopes."""
        if "@" not in text:
            return
        for match in finds(_HANDLE, text):
            name = match[0][1:].rstrip(".-").lower()
            if name not in _AT_RULES and not re.fullmatch(r"\d*x|v?\d[\d.]*", name):
                yield Hit(match.start(), match.end(), "HANDLE", 0.6, "handle")
