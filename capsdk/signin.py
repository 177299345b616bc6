"""Does a page look as if its owner were signed out? Signs to go by, decided without I/O; a sign is not a proof."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, urlsplit

REFUSALS = (401, 403)
"""Statuses of an answer to nobody, or to somebody else."""

_SEGMENT = re.compile(
    r"(users?[-_])?(auth(enticate|orize|orise)?|idp|log[-_]?[io]n|oauth2?|saml2?|sign[-_]?[io]n|sso)(\.[a-z]+)?"
)
_HOST = re.compile(r"(accounts?|auth|id|idp|login|signin|sso)\..+")
_PASSWORD = re.compile(rb"<input\b[^>]*\btype\s*=\s*[\"']?password\b", re.IGNORECASE)

# Asked in a world of the host's own, where the page's globals are not. A form control named `querySelectorAll` would
# still shadow the document's own there, so the method is taken from the prototype.
LOOK = """
(() => {
  const shown = field => field.type === "password" && field.autocomplete !== "new-password"
    && field.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const fields = Document.prototype.querySelectorAll.call(document, "input");
  return { url: location.href, password: Array.prototype.some.call(fields, shown) };
})()
"""


def sign_of_url(asked: str, shown: str) -> str | None:
    """The sign that a tab sent to `asked` was sent on to a sign-in page."""
    return f"sent on to {place(shown)}" if is_sign_in(shown) and not is_sign_in(asked) else None


def sign_of_status(url: str, status: int | None) -> str | None:
    """The sign that the server takes the caller for nobody."""
    return f"{place(url)} answered {status}" if status in REFUSALS else None


def sign_of_look(asked: str, look: object) -> str | None:
    """The sign in what `LOOK` gave; None for anything that is not such an answer."""
    if not isinstance(look, Mapping):
        return None
    url = str(look.get("url", ""))
    field = f"{place(url) or 'the page'} asks for a password" if look.get("password") is True else None
    return sign_of_url(asked, url) or field


def sign_of_body(url: str, mime_type: str, body: bytes) -> str | None:
    """The sign that a form with a password came where data was asked for."""
    is_form = "html" in mime_type and _PASSWORD.search(body)
    return f"{place(url)} answered with a sign-in form" if is_form else None


def is_sign_in(url: str) -> bool:
    """Is this the address of a sign-in page, as sites usually spell them? A `#/route` counts as a path."""
    parts = _split(url)
    if parts is None:
        return False
    route = parts.fragment.lstrip("!") if parts.fragment.lstrip("!").startswith("/") else ""
    segments = f"{parts.path}/{route.partition('?')[0]}".lower().split("/")
    return bool(_HOST.fullmatch(parts.hostname or "")) or any(map(_SEGMENT.fullmatch, segments))


def place(url: str) -> str:
    """Origin and path of an http(s) address, for a person and safe to paste into a shell; "" for any other.

    The query is left out: it may hold secrets.
    """
    parts = _split(url)
    if parts is None:
        return ""
    netloc = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{quote(netloc, safe=':[]')}{quote(parts.path, safe='/%')}"[:300]


def _split(url: str) -> SplitResult | None:
    if not url.lower().startswith(("http://", "https://")):
        return None
    try:
        return urlsplit(url)
    except ValueError:
        return None
