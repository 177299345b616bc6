"""A new tab, as the browser hands it to a session."""

from __future__ import annotations

from dataclasses import dataclass

from host.cdp.connection import Connection


@dataclass(frozen=True, slots=True)
class Tab:
    """Its target and the two CDP sessions on it, the guard attached first."""

    connection: Connection
    target_id: str
    guard: str
    app: str
