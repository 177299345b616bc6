"""Names by the form of a list: passengers, who speaks in a chat; and lines of goods that begin like a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from host.core.pii.words import UPPER
from host.redact.names import NAMES
from host.redact.recognizers.beside import NAME_WORD

_SLASHED = re.compile(
    rf"(?<![\w/])([{UPPER}]{{2,20}}(?:[ -][{UPPER}]{{2,20}})?/[{UPPER}]{{2,20}}(?:[ ][{UPPER}]{{2,20}})?)"
    r"[ ]?(?:MR|MRS|MS|MISS|MSTR|DR|CHD|INF)\b"
)
_SPEAKER = re.compile(  # a line of a chat: "[09:41] Mira: ...", "<Mira> ...", "Mira: ..."
    r"(?m)^[ \t]{0,4}([\[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?[\])]?[ ]{1,2}(?:-[ ])?|<)?"
    rf"({NAME_WORD})(?::[ ]|>[ ]|(?P<dash>[ ]-[ ]))(?=\S)"
)
_GOODS_BEHIND = re.compile(rf"(?:'s)?((?:[ ][{UPPER}][^\W\d_]+){{1,3}})[ ]?(?:$|[\n,(|])")


def passengers(text: str) -> Iterator[tuple[int, int, str]]:
    """Names as tickets have them: "SURNAME/GIVEN MR"."""
    if "/" in text:
        for match in _SLASHED.finditer(text):
            yield *match.span(1), "passenger"


def speakers(text: str) -> Iterator[tuple[int, int, str]]:
    """The given name before what somebody says."""
    if ": " in text or "> " in text or " - " in text:
        for match in _SPEAKER.finditer(text):
            if (match[1] or not match["dash"]) and _speaks(match[2], timed=bool(match[1])):
                yield *match.span(2), "speaker"


def _speaks(word: str, timed: bool) -> bool:
    """Whether a single word before a colon is who says the rest: a label is no given name."""
    if NAMES.is_surely_given(word):
        return True
    dull = NAMES.is_common(word) or NAMES.is_thing(word) or NAMES.is_maker(word) or NAMES.is_place(word)
    return timed and not dull and NAMES.is_given(word)


def is_goods_line(text: str, start: int, stop: int) -> bool:
    """Whether a line begins with the name and goes on to goods and nothing else: "Herman Miller Aeron Chair"."""
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return False
    match = _GOODS_BEHIND.match(text, stop)
    last = match[1].split()[-1] if match is not None else ""
    return bool(last) and NAMES.is_goods(last) and not NAMES.is_family(last)
