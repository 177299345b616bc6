"""The shapes of keys, tokens and passwords: those that vendors gave them, and those behind words that tell. A table."""

from __future__ import annotations

import re
from typing import NamedTuple


class Shape(NamedTuple):
    """What a vendor's secret looks like; `group` is the part that is secret."""

    name: str
    type: str
    pattern: re.Pattern[str]
    group: int = 0


def shape(name: str, kind: str, pattern: str, group: int = 0) -> Shape:
    return Shape(name, kind, re.compile(pattern), group)


# Prefixes as their vendors document them (secret-scanning pages of GitHub, GitLab, AWS, Stripe, Slack, Google …).
SHAPES: tuple[Shape, ...] = (
    shape("age", "KEY", r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    shape("anthropic-openai", "KEY", r"\bsk-(?:[a-z]{3,8}[\d-]{0,4}-)?[\w-]{16,}"),
    shape("atlassian", "KEY", r"\bAT(?:ATT|BB|CTT)[\w=-]{16,}"),
    shape("aws-id", "KEY", r"\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,}"),
    shape("azure-key", "KEY", r"(?i)\b(?:AccountKey|SharedAccessKey)=([\w+/=]{20,})", 1),
    shape("azure-sas", "TOKEN", r"[?&;]sig=([\w%+/=-]{20,})", 1),
    shape("databricks", "KEY", r"\bdapi[0-9a-f]{24,}"),
    shape("digitalocean", "KEY", r"\bdo[opr]_v1_[0-9a-f]{20,}"),
    shape("discord-hook", "KEY", r"/api/webhooks/\d{8,}/([\w-]{20,})", 1),
    shape("docker", "KEY", r"\bdckr_pat_[\w-]{10,}"),
    shape("doppler", "KEY", r"\bdp\.(?:pt|st|sa|ct)\.[\w.-]{20,}"),
    shape("facebook", "TOKEN", r"\bEAA[A-Za-z0-9]{30,}"),
    shape("github", "KEY", r"\bgh[pousr]_\w{16,}|\bgithub_pat_\w{16,}"),
    shape("gitlab", "KEY", r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt)-[\w-]{12,}"),
    shape("google-key", "KEY", r"\bAIza[\w-]{20,}|\bGOCSPX-[\w-]{16,}"),
    shape("google-token", "TOKEN", r"\bya29\.[\w-]{10,}|\b1//0[\w-]{20,}"),
    shape("grafana", "KEY", r"\bgl(?:c|sa)_[\w=]{20,}"),
    shape("hashicorp", "TOKEN", r"\bhv[sbr]\.[\w-]{20,}"),
    shape("heroku", "KEY", r"\bHRKU-[\w-]{20,}"),
    shape("huggingface", "KEY", r"\bhf_[A-Za-z0-9]{16,}"),
    shape("jwt", "TOKEN", r"\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}"),
    shape("linear", "KEY", r"\blin_api_\w{16,}"),
    shape("mailchimp", "KEY", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    shape("mailgun", "KEY", r"\bkey-[0-9a-f]{24,}"),
    shape("notion", "KEY", r"\b(?:secret_[A-Za-z0-9]{32,}|ntn_\w{20,})"),
    shape("npm", "KEY", r"\bnpm_[A-Za-z0-9]{20,}"),
    shape("pem", "KEY", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END[A-Z ]{0,40}-----)?"),
    shape("perplexity-groq", "KEY", r"\b(?:pplx-|gsk_|xai-|r8_|fw_)[A-Za-z0-9]{20,}"),
    shape("postman", "KEY", r"\bPMAK-[\w-]{20,}"),
    shape("pypi", "KEY", r"\bpypi-[\w-]{16,}"),
    shape("sendgrid", "KEY", r"\bSG\.[\w-]{10,}\.[\w-]{10,}"),
    shape("sentry", "KEY", r"\bsntry[su]_[\w=+/-]{20,}"),
    shape("shopify", "KEY", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{16,}"),
    shape("slack", "TOKEN", r"\bxox[abceoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}"),
    shape("slack-hook", "KEY", r"hooks\.slack\.com/(?:services|workflows)/([\w/]{16,})", 1),
    shape("square", "KEY", r"\b(?:sq0(?:atp|csp)-[\w-]{16,}|EAAA[\w-]{50,})"),
    shape("ssh-public", "KEY", r"\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-nistp\d+) (AAAA[\w+/=]{30,})", 1),
    shape("stripe", "KEY", r"\b(?:sk|pk|rk)_(?:test|live)_\w{8,}|\bwhsec_[\w+/=]{16,}"),
    shape("supabase", "KEY", r"\bsb[ps]_(?:secret_|publishable_)?\w{20,}"),
    shape("telegram", "KEY", r"\b\d{8,10}:AA[\w-]{30,}"),
    shape("twilio", "KEY", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    shape("url-login", "PASSWORD", r"(?i)[a-z][a-z0-9+.-]{1,20}://[^\s/@:]{0,200}:([^\s@\"'<>]{1,200})@(?=[\w\[])", 1),
    shape(
        "user-option",
        "PASSWORD",
        r"(?<!\S)(?:-u|--user|--proxy-user|--auth|(?<=http )-a|(?<=https )-a)[ =][\"']?[\w.@-]{1,64}:([^\s\"']{2,200})",
        1,
    ),
    shape(
        "secret-option",
        "PASSWORD",
        r"(?<!\S)--?(?:password|passwd|pass|pwd|token|secret|api-?key|auth-token"
        r"|access-token)[ =][\"']?([^\s\"'-][^\s\"']{3,200})",
        1,
    ),
    shape(
        "login-pair",
        "PASSWORD",
        r"(?i)\b(?:log[ -]?in|wi-?fi|wlan|zugang(?:sdaten)?|anmeldung|credentials?|acceso|identifiants?|accesso"
        r"|user(?:name)?\s?/\s?pass(?:word)?)"
        r"\s?:\s{0,3}\S{2,64}\s?/\s?(\S{3,64})",
        1,
    ),
    shape(  # links that let in whoever has them
        "link",
        "TOKEN",
        r"(?i)://[^\s\"'<>]{1,200}?/(?:ical|calendars?|feeds?|private|invit\w{1,4}|join|reset\w{0,12}"
        r"|password_resets?|confirm\w{0,7}"
        r"|verify|verification|activate|activation|magic\w{0,5}|unsubscribe|shared?|auth|login|sign-?in|tokens?|hooks?"
        r"|webhooks?|access)"
        r"/(?:[\w-]{1,20}/)?((?=[A-Za-z_]{0,40}\d)[A-Za-z0-9_]{16,200})(?![\w-])",
        1,
    ),
    shape("wireguard", "KEY", r"(?i)\b(?:privatekey|presharedkey)\s{0,3}=\s{0,3}([\w+/]{42,44}=?)", 1),
)
TELLTALE = re.compile(  # one pass that says whether any shape is worth a look
    r"AGE-|sk-|ATATT|ATBB|ATCTT|A[KSRIBC][IOC][ADC]|Key=|sig=|dapi|do[opr]_v|/webhooks/|dckr|dp\.|EAA|gh[pousr]_"
    r"|github_|gl|AIza"
    r"|GOCSPX|ya29|1//0|hv[sbr]\.|HRKU|hf_|eyJ|lin_|-us\d|key-|secret_|ntn_|npm_|PRIVATE|pplx|gsk_|xai-|r8_|fw_|PMAK"
    r"|pypi-"
    r"|SG\.|sntry|shp|xox|xapp|hooks\.|sq0|AAAA|[spr]k_|whsec|sb[ps]_|:AA|SK|AC|://|-u |--|/|(?i:privatekey"
    r"|presharedkey)"
)

_OPEN = r"[\"'“”]?"
_GAP = r"[\"']?\s{0,3}(?::=|=>|[:=])\s{0,3}" + _OPEN
_KEY_WORDS = (
    r"api[ _-]?(?:key|token|secret)|apikey|access[ _-]?key(?:[ _-]?id)?|secret[ _-]?(?:access[ _-]?)?key"
    r"|client[ _-]?secret"
    r"|private[ _-]?key|signing[ _-]?(?:key|secret)|encryption[ _-]?key|webhook[ _-]?secret|app[ _-]?secret"
    r"|license[ _-]?key"
    r"|master[ _-]?key|deploy[ _-]?key|shared[ _-]?secret|consumer[ _-]?(?:key|secret)|api[ -]?schl[uü]ssel"
    r"|clave[ _-]api"
    r"|cl[eé] api|secret"
)
_TOKEN_WORDS = (
    r"(?:access|auth|refresh|bearer|id|session|csrf|xsrf|api|personal[ _-]access|security|device|push|bot"
    r"|oauth)[ _-]?token"
    r"|token|bearer|session[ _-]?(?:id|key)?|sid|sessid|jsessionid|phpsessid|csrf(?:middlewaretoken)?|xsrf"
    r"|nonce[ _-]?key"
    r"|auth(?:orization)?[ _-]?code|otp|one[ -]time (?:code|password)|magic[ _-]?link|jeton|ficha de acceso"
)
_PASSWORD_WORDS = (
    r"(?:(?:pg|db|my|mysql|sql|root|admin|user|ftp|smtp|ssh|vault|wifi|initial|einmal|start|wlan"
    r"|standard|master|haupt|benutzer|ger[äa]te|router|konto|gast|zugangs)?(?:password"
    r"|passwd|passphrase|passcode|passwort|kennwort|contrase[nñ]a|mot de passe"
    r"|wachtwoord"
    r"|senha|palavra[- ]passe|has[lł]o|parola|l[oö]senord|adgangskode|passord|salasana|[sş]ifre|heslo|jelsz[oó]"
    r"|lozinka|пароль|pwd|pass|pw)"
    r"|clave|mdp)"
)
_SECRET_WORDS = (
    r"(?:card |sim |app |debit |geheim)?pin(?:[ -]?(?:code|number|nummer))?|puk|cvv2?|cvc2?|csc|cvn|security (?:code"
    r"|answer|number)"
    r"|sicherheits(?:code|frage|antwort)|pr[uü]f(?:nummer|ziffer)|c[oó]digo de seguridad|code de s[eé]curit[eé]"
    r"|cryptogramme"
    r"|codice di sicurezza|c[oó]digo de seguran[cç]a|recovery (?:code|key|phrase)|backup code|seed phrase"
    r"|mother'?s maiden name"
    r"|wiederherstellungs(?:code|schlüssel)|c[oó]digo de recuperaci[oó]n|code de (?:récupération|secours)"
    r"|codice di recupero|herstelcode|återställningskod|ersatzcode"
    r"|(?:door|gate|alarm|safe|entry|lock|unlock|building|garage|key ?box|tür|haustür|tor|pairing|setup|delivery"
    r"|pick-?up"
    r"|collection|activation|freischalt|aktivierungs|abhol|kopplungs|tresor)[ -]?code"
    r"|secret answer|answer|verification code|best[aä]tigungscode|2fa(?: code)?|totp(?: secret)?|mnemonic|tan\b"
)
_VALUE = (  # what is quoted ends with its quote; "&" ends it only where another name follows
    r"((?<=\")[^\"\n]{2,512}(?=\")|(?<=')[^'\n]{2,512}(?=')"
    r"|(?:[^\s\"'“”,;<>&|]|&(?![\w.-]{1,40}=|(?:amp|quot|lt|gt|#39);)){2,512})"
)
_MIXED = (  # letters and digits (or signs) mixed as words never are; no version, no number with a unit
    r"[\"'(]?((?=[^\s\"'<>]{0,40}\d)(?=[^\s\"'<>]{0,40}[A-Za-z])(?!v?\d+(?:\.\d+)*[a-z]{0,3}(?!\S))"
    r"(?![A-Za-z]{2,5}-?\d{1,3}(?!\S))(?:[^\s\"'<>,;|()]|[()](?=[^\s\"'<>,;|().:!?])){6,200})"
)
_SIGNED = (  # a word with a digit or a sign within
    r"[\"'(]?((?=[^\s\"'<>]{0,40}[\d!#$%&*+=?@^_~-])(?=[^\s\"'<>]{0,40}[^\W\d_])(?:[^\s\"'<>,;|()]|[()](?=[^\s\"'<>,;|().:!?])){5,80})"
)
_FOR_NOW = (
    r" (?:provisional|temporal|inicial|temporary|initial|provisoire|temporaire|initiale?|provvisoria|temporanea"
    r"|tijdelijke?)"
)
_CODE_SENT = (
    r"(?i)(?<!\w)(?:(?:verification|verify|security|login|log-?in|sign-?in|access|one-?time|sms|otp|auth\w*|2fa"
    r"|your|ihr|dein"
    r"|sicherheits|bestätigungs|verifizierungs|einmal|zugangs|freischalt|tu|su|votre|(?:il )?tuo|uw|je|seu|twój"
    r"|din)[ -]?"
    r"(?:(?:verification|security|login|access|one-?time|sms|pin|auth\w*|[\w.]{2,12})[ -])?(?:pass)?"
    r"(?:code|kode|código|codice|kod|pin|tan|otp)"
    r"|(?:código|code|codice|kod)(?: (?:de|di|d')[ ]?(?:verificaci[óo]n|vérification|verifica|seguridad"
    r"|sécurité|sicurezza|acceso"
    r"|accès|accesso|confirmación|confirmation|verificação|segurança|acesso|uso)| (?:sms|pin|otp|weryfikacyjny"
    r"|dostępu))+)"
    r"(?: (?:is|ist|lautet|es|est|è|é|to|är|er|for [\w.]{2,20} is|für [\w.]{2,20} (?:ist|lautet)))?[ :]{1,3}"
    r"((?:[a-z]-)?\d{2,4}(?:[ -]\d{2,4}){1,3}|\d{4,8})(?![\w.]\w)"
)
_IS = r"(?:is|ist|es|est|lautet|è|é|jest|är|er|was|war|era)"
LABELLED: tuple[Shape, ...] = (
    shape("label:key", "KEY", rf"(?i)(?<![a-z])(?:{_KEY_WORDS}){_GAP}{_VALUE}", 1),
    shape("label:token", "TOKEN", rf"(?i)(?<![a-z])(?:{_TOKEN_WORDS}){_GAP}{_VALUE}", 1),
    shape("bearer", "TOKEN", r"(?i)\b(?:bearer|basic|digest|token|apikey)\s{1,3}([\w.~+/=-]{12,4096})", 1),
    shape(
        "label:password",
        "PASSWORD",
        rf"(?i)(?<![a-z])(?:{_PASSWORD_WORDS})(?:[ _-](?:is|ist|es|hash))?(?:{_GAP}|'s\s{{1,2}}"
        rf"|\s{{1,3}}{_IS}\s{{1,3}})"
        rf"{_VALUE}",
        1,
    ),
    shape(
        "label:secret",
        "SECRET",
        rf"(?i)(?<![\w-])(?:{_SECRET_WORDS})(?:\s?(?:code|no\.?|nr\.?|#))?(?:{_GAP}|'s\s{{1,2}}|\s{{1,3}}{_IS}\s{{1,3}}"
        rf"|\s{{1,2}}(?=\d))(\d{{2,4}}(?:[ -]\d{{2,4}}){{1,3}}(?![\w./-])|{_VALUE[1:]}",
        1,
    ),
    shape(  # no sign between the word and its value: the value has to look like one
        "word:password",
        "PASSWORD",
        rf"(?i)(?<![a-z])(?:(?:{_PASSWORD_WORDS}|wi-?fi key|wpa2? key)(?:{_FOR_NOW})?\??\s{{1,3}}"
        rf"|(?:wi-?fi|wlan)(?: ?code)?\s?:\s{{1,2}}(?!\S{{0,40}}(?:[25]G|guest|gast)\b)){_MIXED}",
        1,
    ),
    shape(  # "login is jdoe / …": the pair behind one word
        "password of a pair",
        "PASSWORD",
        rf"(?i)(?<![a-z])(?:log-?in|credentials|creds|zugangsdaten|zugang|anmeldung|inloggning|inloggegevens)"
        rf"(?:[ ](?:{_IS}|are|sind|zijn))?:?[ ][\w.@-]{{3,40}}[ ]?(?:/|\|)[ ]?{_MIXED}",
        1,
    ),
    shape(  # "the password for the guest network is …": words between, so the value has to look like one
        "password of something",
        "PASSWORD",
        rf"(?i)(?<![a-z])(?:pass(?:word|wort|phrase|code)|kennwort|contrase[nñ]a|clave|mot de passe|wachtwoord|senha"
        rf"|parola|has[lł]o|l[oö]senord)(?:(?:[ ][\w'-]{{1,20}}){{1,5}}[ ](?:{_IS}|are|:)|(?:[ ][\w'-]{{1,20}}){{0,4}}"
        r"[ ](?:(?:re)?set|changed|updated|gesetzt|zurückgesetzt|geändert|gewijzigd|ingesteld|ändrat|återställt|now)"
        rf"[ ](?:to|auf|zu|in|naar|op|till|is))[ :]{{1,2}}{_SIGNED}",
        1,
    ),
    shape(  # "el wifi de casa es …": said of much else, so digits and letters have to be mixed
        "network's",
        "PASSWORD",
        rf"(?i)(?<![a-z])(?:wi-?fi|wlan)(?:[ ][\w'-]{{1,20}}){{0,4}}[ ](?:{_IS}|c'est|:)[ :]{{1,2}}{_MIXED}",
        1,
    ),
    shape("word:token", "TOKEN", rf"(?i)(?<![a-z])(?:{_TOKEN_WORDS}|{_KEY_WORDS})\s{{1,3}}{_MIXED}", 1),
    shape("word:secret", "SECRET", rf"(?i)(?<![\w-])(?:{_SECRET_WORDS}|totp secret|backup codes?)\s{{1,3}}{_MIXED}", 1),
    shape("code", "SECRET", _CODE_SENT, 1),
    shape(
        "code's",
        "SECRET",
        r"(?i)(?<!promo )(?<!discount )(?<!voucher )(?<!error )\bcode's (\d{3}[ -]?\d{3}|\d{4,8})(?![\w.]\w"
        r"|[ ][a-z]{3,}s\b)",
        1,
    ),
    shape(
        "code first",
        "SECRET",
        r"(?i)(?<![\w.])(?:[a-z]-)?(\d{3}[ -]\d{3}|\d{4,8}) (?:is your|ist (?:ihr|dein)|es (?:tu|su)|est votre|è il tuo"
        r"|is (?:je|uw)|é (?:o )?seu|to twój) [^.\n]{0,40}?(?:code|código|codice|kod|pin|otp|passwor[dt]|passcode)",
        1,
    ),
    shape(
        "code to use",
        "SECRET",
        r"(?i)\b(?:use|enter|usa|utiliza|introduce|verwenden sie|verwende|geben sie|saisissez"
        r"|utilisez)(?: (?:the |den |el |le )?"
        r"(?:code|código|pin))? (\d{3}[ -]?\d{3}|\d{4,8}) [^.\n]{0,24}?(?:verif|log|sign|confirm|authent|anmeld"
        r"|bestätig|ingres"
        r"|inici|acced|vérif|connect)",
        1,
    ),
    shape(
        "code of a place",
        "SECRET",
        r"(?i)\b(?:code|código|codice) (?:de|du|d'|del|della|do|da)(?: ?(?:la|el|l'|le))? ?"
        r"(?!(?:produ|prodo|postal|promo|barr|artic|err|pa[iíy]s|vol|descu|sconto|réd|rés|reser|comm|pedido|suivi|tax))"
        rf"[^\W\d]{{3,16}}(?: (?:d\w{{1,3}} )?[^\W\d]{{3,16}})? {_IS} ((?=\w{{0,8}}\d)[\w#*-]{{3,12}})",
        1,
    ),
    shape("digest", "TOKEN", r"(?i)\bauthorization[\"']?\s?[:=]\s?digest ([^\n]{4,2000})", 1),
    shape(
        "identified",
        "PASSWORD",
        r"(?i)\bidentified (?:with \S{1,40} )?(?:by|as)(?: password)?\s{1,3}'([^'\n]{2,200})'",
        1,
    ),
    shape(
        "options",
        "PASSWORD",
        r"(?<!\S)-u[ =]?\S{2,64}[ ](?:\S{1,40} ){0,3}?-p[ =]?[\"']?((?=\S{0,40}[A-Za-z])[^\s\"'-][^\s\"']{2,100})",
        1,
    ),
    shape(
        "pair",
        "PASSWORD",
        r"(?i)\b(?:basic auth|auth|creds?|access|try|use|acceso|accès)\s?:?\s(?-i:[a-z])[\w.@-]{1,63}[ ]?/[ ]?"
        r"((?=\S{0,40}\d)(?=\S{0,40}[A-Za-z])[^\s\"'<>,;|()]{6,80}|[^\s\"'<>,;|()]{0,20}[!$%*=?@^_~.][^\s\"'<>,;"
        r"|()]{1,40})",
        1,
    ),
    shape(
        "door",
        "SECRET",
        r"(?i)\b(?:gate|door|front door|alarm|safe|lock|garage|key ?box|lockbox)(?:'s| is| code is"
        r"|:)[ ]{1,2}([#*]?\d{3,8}[#*]?)(?![\w.:,]\d|\w|\s?(?:x|mm|cm|m|kg|€|\$|%)(?!\w))",
        1,
    ),
    shape(
        "for the network",
        "PASSWORD",
        rf"(?i)(?:^|\s)(?:it's |is |use |: )?{_SIGNED} (?:for|für|para|pour|per) (?:the |our |das |el |la |le "
        rf"|il )?(?:guest )?(?:wi-?fi|wlan|router)\b",
        1,
    ),
    shape("netrc", "PASSWORD", r"\blogin\s{1,3}\S{1,64}\s{1,3}password\s{1,3}(\S{2,200})", 1),
    shape(
        "client option",
        "PASSWORD",
        r"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|docker login|redis-cli|mongo(?:sh)?)\b[^\n|;]{0,80}?\s"
        r"-[pa][ ]?[\"']?([^\s\"'-][^\s\"']{2,100})",
        1,
    ),
    shape(
        "query",
        "TOKEN",
        r"(?i)[?&#;](?:[a-z_]{0,20}(?:token|key|secret|signature|session|passw(?:or)?d|auth)|code|sig|sid|jwt"
        r"|otp)=([^&#\s\"'<>]{4,2048})",
        1,
    ),
)
