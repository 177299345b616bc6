"""How a tab's first navigation really ended: what the proxy told of its place says more than Chromium can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from capsdk.errors import CapError, PolicyError
from host.core.egress import NETWORK_KINDS
from host.core.urls import UrlRules, judge_url, origin_of

UNRESOLVED = "unresolved"
NO_URL_RULES = UrlRules()
# Chromium's own words for what happened behind the proxy, which it would use without one (net/base/net_error_list.h).
ERRORS = {
    "connection_refused": "net::ERR_CONNECTION_REFUSED",
    "reset": "net::ERR_CONNECTION_RESET",
    "timed_out": "net::ERR_CONNECTION_TIMED_OUT",
    "unreachable": "net::ERR_ADDRESS_UNREACHABLE",
    UNRESOLVED: "net::ERR_NAME_NOT_RESOLVED",
}
# What Chromium says when the proxy refused a tunnel, or ended a connection without an answer.
CUT_SHORT = frozenset(
    (
        "net::ERR_CONNECTION_CLOSED",
        "net::ERR_CONNECTION_RESET",
        "net::ERR_EMPTY_RESPONSE",
        "net::ERR_TUNNEL_CONNECTION_FAILED",
    )
)
REFUSED_STATUS = 403


class Trouble(Protocol):
    """What the proxy told of a place; `flag` is "" when nothing opens it."""

    @property
    def place(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def flag(self) -> str: ...


def place_of(url: str) -> str:
    """HOST:PORT of a URL that Chromium asked for, "" where there is none. Credentials do not matter here."""
    return judge_url(origin_of(url) + "/", NO_URL_RULES).place


def is_doubtful(navigation: Mapping[str, Any]) -> bool:
    """May the end of this navigation have been the proxy's doing?"""
    return navigation.get("status") == REFUSED_STATUS or navigation.get("errorText") in CUT_SHORT


def explained(navigation: dict[str, Any], trouble: Trouble | None, url: str) -> dict[str, Any]:
    """The navigation as it really ended, at `url`. Raises PolicyError EGRESS_REFUSED when the proxy refused it."""
    came = navigation.get("status") == REFUSED_STATUS
    if trouble is None or (came and trouble.kind in NETWORK_KINDS):
        return navigation  # a page came: it failed some moments ago, and does so no more
    told = ERRORS.get(trouble.kind)
    if told is None:
        raise refused(trouble)
    return {"url": url, "errorText": told}


def refused(trouble: Trouble) -> CapError:
    """The proxy's no, with the flag that would make it a yes."""
    advice = f"the owner opens it with {trouble.flag}" if trouble.flag else "open another page"
    return PolicyError(
        "EGRESS_REFUSED",
        f"{trouble.place} {trouble.reason}; {advice}",
        hint="The flag is one of capsdk run and capsdk stdio, and holds as long as they do." if trouble.flag else None,
        place=trouble.place,
        kind=trouble.kind,
        **({"flag": trouble.flag} if trouble.flag else {}),
    )
