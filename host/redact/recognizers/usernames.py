"""Names of accounts: by the place they stand at in logs, terminals and addresses, by words beside them, by shape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.accounts import accounts, shaped_accounts
from host.redact.names import NAMES
from host.redact.quick import finds
from host.redact.recognizers.base import Hit, Page, Rules
from host.redact.recognizers.shaped import is_shaped, is_wordy

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
    r"|(?<![\w-])(?-i:sudo -u|su -"
    r"|(?:(?m:^)|sudo |[$#>&;] )su(?= \S+(?m:$))|chown(?: -R)?|--username|usermod|useradd|adduser|ssh -l"
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
    if any(_are_both_names(name[:at], name[at:]) for at in range(4, len(name) - 3)):
        return True
    return NAMES.is_family(name[1:]) and len(name) > (5 if account != name else 7) and not NAMES.is_common(name[1:])


def _are_both_names(first: str, second: str) -> bool:
    """Whether a given and a family name stand together without a sign: "louisguillot", "saramateo"."""
    return (NAMES.is_surely_given(first) and NAMES.is_family(second)) or (
        NAMES.is_family(first) and NAMES.is_surely_given(second)
    )


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
