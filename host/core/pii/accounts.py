"""Where the names of accounts stand in logs, terminals, links and under posts; no list of ordinary words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.secrets import Finds

_NAME = r"[A-Za-z](?:[\w.-]{1,38}\w)"
_LOWER = r"[a-z](?:[\w.-]{1,38}\w)"
_WHOSE = r"(?:user|account|member|role|benutzer|konto|usuario|cuenta|utilisateur|compte|utente|gebruiker)"
_DONE = (
    r"(?:attempt|failed|failure|denied|granted|succeeded|success(?:ful)?|error|reset|changed|opened|closed|expired"
    r"|requested|started|ended|rejected|accepted|fehlgeschlagen|erfolgreich|gescheitert|fallid[oa]|échouée?|réussie?)"
)
_AGO = (
    r"(?=[ ](?:\d{1,3}[ ]?(?:s|m|min|h|d|w|mo|y|sec\w*|minutes?|hours?|days?|weeks?|months?|years?)\b|on[ ]\d"
    r"|on[ ](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)|yesterday|today|just[ ]now"
    r"|an?[ ](?:minute|hour|day|week|month|year)|last[ ]|vor[ ](?:\d|ein)|am[ ]\d|hace[ ]|el[ ]\d|il[ ]y[ ]a|le[ ]\d"
    r"|\d+[ ]\w+[ ]fa\b)|[ ]?[·•|,][ ]?\d|[ ]\d{1,4}[./-]\d)"
)
_MADE = (
    r"(?:photo|picture|image|video|review|comment|question|answer|recipe|playlist|story|art|artwork|mod|map|theme|list"
    r"|thread|topic|guide|post|posted|uploaded|reviewed|submitted|asked|answered|edited|modified|started|published"
    r"|shared|added|created|opened|closed|merged|approved|committed|authored|triggered|deployed"
    r"|initiated|released|resolved|locked|reported|flagged|banned|enabled|disabled|revoked|granted|blocked|suspended"
    r"|archived|restored|rejected|signed|performed|executed|scheduled|cancell?ed|exported|imported|foto|beitrag|frage"
    r"|antwort|hochgeladen"
    r"|verfasst|erstellt|gepostet|publicado|subido|escrito|creado|publié|ajouté|posté|écrit|mis en ligne)"
)
_WHEN = r"(?:[ ](?:#?\d{1,6}|an?|ago|about|just now|today|yesterday|(?:second|minute|hour|day|week|month|year)s?)){0,5}"
_WITH_PASSWORD = (
    r"(?=[ ]?(?:,|/|;|and|und|y|et|e|en|mit|with)[ ][^\n]{0,16}(?:pass|pw|kennw|contras|clave|mot de|wachtw))"
)
_MARKED = r"(?=[\w.-]{0,38}[\d_.])"  # letters alone may be any word

_ADJECTIVE = (  # ends of what follows the word for a user without being its name
    r"(?:ad[oa]|id[oa]|(?:tu|fin|rm|gin|ip|du)al|ale|iv[oa]|if|ive|able|ible|abile|ic[oa]|ique|ante?|ente?|ées?|és?|euse|(?:nc|nd|im|it)ari[oa]|aire|(?:tu|du)el|elle|at[oa]|it[oa]"
    r"|ut[oa]|ist[oa]|uev[oa]|ien|unique|autre|otr[oa]|ich|owy|owany)\b"
)
_ACTS_ROMANCE = (
    r"(?:(?:no|ne|n'|non|nie|se|s'|si|não|já|ya) ?(?:\w+)?|ha|a|est|è|foi|fue"
    r"|indica|dice|comenta|informa|reporta|inici[óa]"
    r"|cerr[óa]|solicit[óa]|accedi[óo]|cre[óo]|elimin[óo]|modific[óo]|bloque\w+|intent[óo]|cambi[óo]|dit|indique|signale"
    r"|demande|précise|s'est|vient|utilise|riferisce|segnala|chiede|dichiara|diz|relata|pede|entrou|saiu|criou|alterou"
    r"|zgłasza|zalogował\w*|usunął|zmienił|utworzył)"
)
_BEFORE = (  # words of people, in a sentence
    r"(?:by|from|to|with|for|as|of|i'?m|am|is|it's|user|member|seller|buyer|thanks|hi|hey|hello|cc|via|ask|tell|ping"
    r"|message"
    r"|dm|pm|add|follow|contact|and|von|an|für|mit|bei|bin|heiße|frag|de|del|para|por|con|soy|a|à|par|pour|avec|suis"
    r"|c'est|da|di|per|sono|door|aan|van|met|ben|av|från|till|od|dla|przez)"
)
_AFTER = (
    r"(?:asked|asks|said|says|wrote|writes|replied|replies|bought|sold|liked|likes|joined|left|posted|shared|sent"
    r"|invited"
    r"|wants|rated|reviewed|followed|started|paid|offered|answered|mentioned|tagged|added|commented|is typing|online"
    r"|schrieb|schreibt|fragt|antwortete|hat|escribió|preguntó|respondió|dijo|a écrit|a demandé|a répondu|ha scritto)"
)
_THING = (  # what identifiers are before
    r"(?:import|arg\w*|function|method|option|param\w*|field|column|flag|var\w*|class|module|package|table|property|key"
    r"|setting|attribute|command|header|event|instead|environment)\b"
)
_SHAPED = (  # words joined by "_", or letters and then digits
    r"((?=\w{5,31}(?!\w))(?=\w{0,30}[a-z])(?:[A-Za-z][A-Za-z0-9]{1,24}(?:_[A-Za-z0-9]{1,24}){1,3}"
    r"|[A-Za-z]{0,24}[a-z]{3}[A-Za-z]{0,24}\d{2,4}))"
)
_IN_PROSE = re.compile(
    rf"(?i)(?<![\w@/.=:+`-])(?:{_BEFORE}[ ](?:my |our )?\"?(?-i:{_SHAPED})(?![\w(=/@+`-]|\.\w|:\w|[ ]?=|[ ]{_THING})"
    rf"|(?-i:{_SHAPED})[ ](?:just )?{_AFTER}\b)"
)
_CLAIMED = (
    rf"(?:approved|pushed|merged|opened|closed|requested|reviewed|starred|forked|assigned|deleted|created|uploaded"
    rf"|edited|changed|updated|logged|signed|{_AFTER[3:-1]})"
)
_BY = (" by ", " By ", " von ", " par ", " por ", " da ", " door ", " av ", " przez ")
_PLACES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (  # what must be in the text, and the place
    ((" [",), re.compile(rf"(?m)^[\da-fA-F.:]{{7,45}} \S{{1,40}} ({_NAME})(?= \[)")),  # an access log
    (
        (),
        re.compile(
            r"(?i)\b(?:log-?[io]n|log-?out|sign-?in|authentication|auth|access|session|password|anmeldung|login-versuch"
            rf"|inicio de sesión|connexion|accesso)[ ]{_DONE}(?:[ ]{_DONE})?[ ](?:for|by|of|from|to|für|von|para"
            rf"|de|pour|per)"
            rf"[ ](?:{_WHOSE}[ ])?[\"']?((?-i:{_NAME}))(?![\w@/(:\\-]|\.\w)"
        ),
    ),
    (  # "el usuario nlobo inició sesión", "l'utilisateur fmorin depuis 192.0.2.1"; adjectives stand there as well
        (),
        re.compile(
            rf"(?i)\b(?:usu[aá]ri[oa]|cuenta|utilisat(?:eur|rice)|compte|utente|utilizador|użytkownika?)[ ][\"']?"
            rf"(?![\w.-]{{0,38}}{_ADJECTIVE})((?-i:{_LOWER}))[\"']?[ ](?:{_ACTS_ROMANCE}\b"
            r"|\(?(?:desde|depuis|da|de|z|from|ip)?[ ]?(?:\d{1,3}\.){3}\d)"
        ),
    ),
    (
        (),
        re.compile(
            r"(?i)\b(?:wrong|invalid|incorrect|bad|falsches|ungültiges|verkeerd|ongeldig|fel|felaktigt)[ ](?:password"
            r"|passwor[dt]|kennwort|wachtwoord|lösenord|login|credentials)[ ](?:for|für|voor|för)[ ]"
            rf"(?:{_WHOSE}[ ])?((?-i:{_LOWER}))(?![\w@/(:\\-]|\.\w|[ ][a-z])"
        ),
    ),
    (
        (),
        re.compile(
            rf"(?i)\b{_WHOSE}[ ]((?-i:{_LOWER}))[ ]\(?(?:from|via|über|von|vanaf|från|at|ip)?[ ]?(?:\d{{1,3}}\.){{3}}\d"
        ),
    ),
    (
        (),
        re.compile(
            r"(?i)\b(?:log-?in|credentials|creds|zugangsdaten|zugang|anmeldung|inloggning|inloggegevens)"
            rf"(?:[ ](?:is|are|ist|lautet|sind|zijn|är))?:?[ ]((?-i:{_LOWER}))[ ]?(?:/|\|)[ ]?"
            r"(?=\S{0,40}[\d!#$%&*+=?@^_~-])\S{6}"
        ),
    ),
    (
        (),
        re.compile(
            r"(?im)^(?:(?:re)?assigned to|zugewiesen an|toegewezen aan|tilldelad)[ ]((?-i:[a-z](?:[\w.-]{1,38}\w)))$"
        ),
    ),
    ((), re.compile(rf"(?i)\b(?:{_WHOSE}|log-?in|owner|principal)(?: name)?[ ]([\"'])({_NAME})\1")),
    (
        (),
        re.compile(
            rf"(?i)\b(?:{_WHOSE}|operator)[ ]((?-i:{_LOWER}))[ ](?:has|was|is|did|logged|signed|created|deleted|locked"
            rf"|disabled"
            r"|enabled|suspended|connected|disconnected|joined|left|changed|added|removed|not|cannot|could|unknown"
            r"|exists"
            r"|already|tried|wurde|hat|ist)\b"
        ),
    ),
    (
        (),
        re.compile(
            r"(?i)\b(?:log-?in|user(?: ?name| ?id)?|account|nick(?:name)?|handle|benutzer(?:name)?|usuario|identifiant"
            r"|utente"
            rf"|gebruikersnaam|pseudo)[ ](?:is|ist|es|est|è|war|was|lautet)[ ][\"']?(?:({_MARKED}{_NAME})(?![\w@])"
            rf"|((?-i:{_LOWER})){_WITH_PASSWORD})"
        ),
    ),
    (_BY, re.compile(rf"(?<![\w/.-])(?:by|von|par|por|da|door|av|przez)[ ]({_LOWER}){_AGO}")),
    (
        _BY,
        re.compile(
            rf"(?i)\b{_MADE}{_WHEN}[ ](?:by|von|par|por|da|door|av)[ ]((?-i:{_LOWER}|{_MARKED}{_NAME}))(?![\w@/(]|\.\w)"
        ),
    ),
    (("\\",), re.compile(rf"(?<![\w\\/-])[A-Z][A-Z0-9-]{{1,14}}\\({_NAME})(?![\w\\])")),  # a domain of Windows
    (
        (),
        re.compile(
            rf"(?m)^({_LOWER})[ ]{{1,16}}(?:pts/\d|tty\w?\d|console\b|\d{{2,7}}[ ]{{1,6}}\d{{1,3}}\.\d[ ]{{1,6}}\d)"
        ),
    ),
    (("://",), re.compile(r"://([^\s/@:]{2,64}):[^\s@/]{1,200}@(?=[\w\[])")),
    (
        (),
        re.compile(
            r"(?i)\b(?:your|my|ihr|dein|mein|tu|su|mi|votre|ton|mon|il tuo|il mio|je|jouw|uw|mijn)[ ](?:user ?name"
            r"|login|user ?id"
            r"|benutzername|anmeldename|nombre de usuario|usuario|nom d'utilisateur|identifiant|pseudo|nome utente"
            r"|gebruikersnaam)"
            rf"[ ](?:is|ist|lautet|es|est|è)[ ]?:?[ ][\"']?((?-i:{_LOWER}))(?=[\s.,;\"']|$)"
        ),
    ),
    ((" and ",), re.compile(rf"(?m)^[ \t]{{0,8}}({_LOWER})(?=(?:, {_LOWER}){{0,3}} and {_LOWER} {_CLAIMED}\b)")),
    ((" and ", ", ", "& "), re.compile(rf"(?:,| and|&) ({_LOWER}) {_CLAIMED}\b")),
    (
        (":$", ":{S"),
        re.compile(rf"(?<!\S)({_NAME}):(?=\$(?:apr1|2[aby]|[156y]|argon2\w{{1,2}})\$|\{{S?SHA\}})"),
    ),  # a file of passwords
    ((") ",), re.compile(rf"\(({_LOWER})\) (?:CMD|END|RELOAD|LIST|REPLACE)\b")),  # cron
    (
        ("/",),
        re.compile(
            r"(?i)\b(?:basic auth|auth|creds?|credentials?|log-?in|access|zugang(?:sdaten)?|try|use|acceso"
            r"|accès)\s?:?\s"
            rf"((?-i:{_LOWER}))[ ]?/[ ]?(?=(?=\S{{0,40}}\d)(?=\S{{0,40}}[A-Za-z])\S{{6,}}|\S{{0,20}}[!$%*=?@^_~.]\S)"
        ),
    ),
    (
        ("-u",),
        re.compile(
            rf"(?<!\S)-u[ =]?[\"']?({_NAME})[\"']?[ ](?:\S{{1,40}} ){{0,3}}?-p[ =]?(?=\S{{0,40}}[A-Za-z])\S{{3}}"
        ),
    ),
    (("Username for",), re.compile(rf"\bUsername for '[^'\n]{{1,200}}': ({_NAME})")),  # git asks
    ((":",), re.compile(rf"\b(?:skype|xmpp|sip|aim|tg|ymsgr):(?://)?({_NAME})(?![\w@])")),
    (
        (":",),
        re.compile(
            r"(?i)\b(?:log-?in|user(?:name)?|zugang|benutzer(?:name)?|usuario|acceso|identifiant"
            r"|accès)(?: [^\W\d]{2,14}){1,4} ?: "
            rf"((?-i:{_MARKED}{_NAME}))(?![\w@/(:])"
        ),
    ),
    (("$",), re.compile(r"(?i)\bcash ?app[ :]{1,2}(\$[a-z]\w{2,20})")),
    (("/@",), re.compile(rf"/@({_NAME})(?![\w@-]|/(?!status|posts?\b|p/|videos?\b|followers|\d|$))")),
    (("'@'",), re.compile(r"'([A-Za-z_][\w.-]{1,31})'@'")),  # MySQL's accounts
    (
        ("=",),
        re.compile(
            r"(?i)[?&](?:user(?:_?name|_?id)?|login|account|uname|handle|author|assignee|usuario|benutzer|member)"
            rf"=({_NAME})(?=[&#\s\"'<>)]|$)"
        ),
    ),
    (("git config",), re.compile(rf"(?<![\w-])git config (?:--\w+ )?user\.name [\"']?({_NAME}(?:[ ]{_NAME}){{0,2}})")),
    (
        (),
        re.compile(
            r"(?m)(?:^|[$#>] |sudo )(?:useradd|adduser|userdel|deluser|passwd|chage|finger|kinit|usermod|last|crontab)"
            rf"(?: -{{1,2}}\S{{1,20}}(?: [a-z,]{{1,30}}(?= -))?){{0,4}} ({_LOWER})(?:$|(?= &&| ;))"
        ),
    ),
)


def shaped_accounts(text: str, finds: Finds = re.Pattern.finditer) -> Iterator[tuple[int, int]]:
    """Start and end of each word that has the shape of an account and stands among words as a person would."""
    for match in finds(_IN_PROSE, text):
        yield match.span(match.lastindex or 1)


def accounts(text: str, finds: Finds = re.Pattern.finditer) -> Iterator[tuple[int, int]]:
    """Start and end of each name that stands where an account's does; ordinary words among them."""
    for needed, pattern in _PLACES:
        if not needed or any(one in text for one in needed):
            for match in finds(pattern, text):
                yield match.span(match.lastindex or 1)
