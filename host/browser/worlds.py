"""The host's own world in the frames of a session: what it reads there, no script of the page or the app reaches."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from capsdk.errors import CapError, PolicyError
from host.cdp.connection import CdpFailure, Connection

HIDING = frozenset(("Runtime.executionContextCreated", "Runtime.executionContextDestroyed"))
NAMING = ("contextId", "executionContextId")
_DESTROYED = re.compile(rb'"executionContextId":(\d+)')


class Worlds:
    """Their name is random, their contexts are not told to the app, and a command that names one is refused."""

    def __init__(self) -> None:
        self.name = secrets.token_hex(16)
        self._mark = self.name.encode()
        self._ids: dict[str, set[int]] = {}
        self._newest: dict[tuple[str, str], tuple[str, int]] = {}

    async def of(self, connection: Connection, guard: str, frame_id: str, document: str = "") -> int:
        """The context in a frame; the same one until its document goes. Raises CdpFailure, ConnectionGone.

        It is not asked for again while the frame shows the same `document`, the id of its loader: another document may
        have another context under the number.
        """
        newest = self._newest.get((guard, frame_id))
        if newest is not None and document and newest[0] == document:
            return newest[1]
        made = await connection.start("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": self.name}, guard)
        context = made.get("executionContextId")
        if not isinstance(context, int):
            raise CdpFailure(0, "the frame made no world")
        self._ids.setdefault(guard, set()).add(context)
        self._newest[guard, frame_id] = (document, context)
        return context

    def hides(self, guard: str, method: str, params: bytes) -> bool:
        """Is this event of `HIDING` about a context of the host's?"""
        if method == "Runtime.executionContextCreated":
            return self._mark in params
        ids, match = self._ids.get(guard), _DESTROYED.search(params)
        if not ids or match is None or int(match[1]) not in ids:
            return False
        ids.discard(int(match[1]))
        return True

    def refusal(self, guard: str, params: Mapping[str, Any]) -> CapError | None:
        """Why a command may not run where it wants to."""
        ids = self._ids.get(guard)
        if ids and any(params.get(name) in ids for name in NAMING if isinstance(params.get(name), int)):
            return PolicyError(
                "BROWSER_POLICY_DENIED",
                "that execution context is the host's own; use one that Runtime.executionContextCreated told of",
            )
        return None
