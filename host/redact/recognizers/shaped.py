"""Words with the shape of an account's name ("quilt_fan", "tarn4417"), told from identifiers and things by lists."""

from __future__ import annotations

import re

from host.redact.names import NAMES

_CODE_WORDS = {
    "api", "arg", "args", "arr", "cfg", "col", "config", "conf", "ctx", "csv", "cur", "def", "dir", "doc", "env",
    "err", "fn", "foo", "func", "html", "http", "https", "idx", "img", "init", "int", "json", "len", "lib", "lst",
    "max", "min", "msg", "mysql", "np", "num", "obj", "params", "pg", "ptr", "pkg", "pwd", "py", "ref", "req", "res",
    "repo", "sql", "src", "std", "str", "sys", "test", "tmp", "url", "utf", "utils", "uuid", "val", "var", "xml",
    "yaml",
}  # fmt: skip


_WORDY = re.compile(  # letters alone with the end of a verb, an adverb or a noun
    r"[a-zà-ÿ]+(?:ing|ous|[^m]ed|ly|ions?|ments?|ness|ables?|ibles?|ical|ives?|ungs?|ungen|keit|heit|lich\w{0,2}"
    r"|isch\w{0,2}|ieren|ci[oó]n|mente|ando|iendo|dades|tés?)"
)


def is_wordy(account: str) -> bool:
    """Whether what stands where an account may stand is rather a word that no list has."""
    return _WORDY.fullmatch(account) is not None


def is_shaped(account: str) -> bool:
    """Whether a word with "_" or with digits behind it is rather an account than an identifier or a thing."""
    parts = [part.lower() for part in re.split(r"[\d_]+", account) if part]
    if any(part in _CODE_WORDS or (len(part) > 2 and (NAMES.is_goods(part) or NAMES.is_maker(part))) for part in parts):
        return False
    if "_" in account:
        return any(len(part) > 3 and not NAMES.is_common(part) for part in parts)
    year = re.search(r"(?:20[1-3]\d|\D(?:8|16|32|64|86|128|256|512))$", account) is not None  # or a width in bits
    return len(parts[0]) > 4 and not year and not NAMES.is_common(parts[0]) and not NAMES.is_thing(parts[0])
