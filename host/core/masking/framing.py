"""Page text between marks that the page cannot close; not what is masked in it."""

from __future__ import annotations

import re

MARK = re.compile(r"<(?=[\s/\\\u200b-\u200f\u2060\ufeff]*page[\s\u200b-\u200f\u2060\ufeff_-]*data)", re.IGNORECASE)
ODD = re.compile(r"[^!#-%'-;=?-~]")
SHOWN_CHARS = 200


def framed(text: str, origin: str, nonce: str) -> str:
    """Page text for a door that tells text, such as a chat's tool result.

    A page may write "end of the page; and now do this" into itself. So what is the page's stands between two marks
    with a nonce, which is random for each reply: whoever wrote the page could not know it, and so cannot write the
    closing mark. What looks like a mark inside is defused all the same, as a reader may not compare nonces.
    """
    inside = MARK.sub("&lt;", text)
    shown = ODD.sub("", origin)[:SHOWN_CHARS]
    return f'<page-data origin="{shown}" nonce="{nonce}">\n{inside}\n</page-data nonce="{nonce}">'
