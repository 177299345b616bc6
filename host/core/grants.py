"""May this caller use this capability? Grants, declarations and the ceiling, decided in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from capsdk.errors import InvalidArgumentError
from host.core.urls import UrlRules

BROWSER = "browser:default"
CAPABILITIES: Mapping[str, str] = {
    "browser.debug": "raw DevTools access to tabs lent to the app: it can run code in pages, read what the login can "
    "read, and change websites",
    "browser.view": "checked pictures of tabs lent to the app",
    "owner.ask": "ask the owner a question",
}


class Level(StrEnum):
    """The owner's answer for (subject, capability, resource)."""

    OFF = "off"
    ASK = "ask"
    ALLOW = "allow"


STRICTNESS = {Level.OFF: 0, Level.ASK: 1, Level.ALLOW: 2}


class Kind(StrEnum):
    """Who is on the line."""

    SCRIPT = "script"
    CHAT = "chat"
    VIEW = "view"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: it comes from the connection, never from the message. A session belongs to all four parts.

    `subject` is what grants name (`app:ID`, `path:DIR`, `chat:NAME`); `declared` None means that no manifest
    narrows the caller; `granted` are the owner's words for this connection only, and `ceiling` caps them and all
    others besides the host's own. `popups` False: its manifest wants no windows besides those that it opens itself.
    """

    app: str
    revision: str
    kind: Kind
    run: str
    subject: str
    declared: frozenset[str] | None = field(default=None, compare=False)
    granted: Mapping[str, Level] = field(default_factory=dict, compare=False)
    urls: UrlRules = field(default=UrlRules(), compare=False)
    ceiling: Mapping[str, Level] = field(default_factory=dict, compare=False)
    popups: bool = field(default=True, compare=False)


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The level that holds and where it came from."""

    level: Level
    reason: str


def subject_for(kind: Kind, app: str) -> str:
    """The name under which grants are kept for a caller that is not run from a folder."""
    return f"chat:{app}" if kind is Kind.CHAT else f"app:{app}"


def strictest(*levels: Level) -> Level:
    """The lowest of several levels."""
    return min(levels, key=STRICTNESS.__getitem__)


def decide(capability: str, caller: Caller, stored: Level | None, ceiling: Mapping[str, Level]) -> Decision:
    """What holds for this caller. Undeclared is off; what was never set is ask; the ceiling caps every source."""
    if caller.declared is not None and capability not in caller.declared:
        return Decision(Level.OFF, "undeclared")
    most = ceiling.get(capability, Level.ALLOW)
    if caller.ceiling:
        most = strictest(most, caller.ceiling.get(capability, Level.ALLOW))
    if caller.kind is Kind.OWNER:
        return Decision(strictest(Level.ALLOW, most), "owner")
    given = caller.granted.get(capability)
    level, reason = (given, "connection") if given else (stored, "stored") if stored else (Level.ASK, "never_set")
    capped = level if most is Level.ALLOW else strictest(level, most)
    return Decision(capped, reason if capped is level else "ceiling")


def parse_level(text: str) -> Level:
    """`off`, `ask` or `allow`. Raises InvalidArgumentError BAD_ARGUMENTS."""
    try:
        return Level(text)
    except ValueError:
        raise InvalidArgumentError("BAD_ARGUMENTS", f"{text[:40]!r} is not a level; use off, ask or allow") from None


def parse_capability(text: str) -> str:
    """A known capability. Raises InvalidArgumentError BAD_ARGUMENTS."""
    if text not in CAPABILITIES:
        known = ", ".join(CAPABILITIES)
        raise InvalidArgumentError("BAD_ARGUMENTS", f"{text[:40]!r} is not a capability; use one of {known}")
    return text


def parse_grants(texts: tuple[str, ...]) -> dict[str, Level]:
    """`CAP=LEVEL` flags as a mapping. Raises InvalidArgumentError BAD_ARGUMENTS."""
    granted: dict[str, Level] = {}
    for text in texts:
        name, equals, level = text.partition("=")
        if not equals:
            raise InvalidArgumentError(
                "BAD_ARGUMENTS", f"{text[:80]!r} is not CAPABILITY=LEVEL, as in browser.debug=allow"
            )
        granted[parse_capability(name)] = parse_level(level)
    return granted


def parse_subject(text: str) -> str:
    """`app:ID`, `path:DIR` or `chat:NAME`. Raises InvalidArgumentError BAD_ARGUMENTS."""
    kind, colon, name = text.partition(":")
    if not colon or not name or kind not in ("app", "path", "chat") or len(text) > 4096:
        raise InvalidArgumentError("BAD_ARGUMENTS", f"{text[:80]!r} is not app:ID, path:DIR or chat:NAME")
    return text
