"""The one thing a script is told from outside: please stop. Not operating-system signals."""

from __future__ import annotations

import asyncio

from capsdk.errors import AbortedError


class Aborted(AbortedError):
    """The run was asked to stop; raised where the script looked, so that its `finally` blocks run."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "CANCELLED", f"the run was asked to stop ({reason}); close what is open and return", reason=reason
        )


class Signal:
    """`ctx.signal`: set once, never cleared."""

    def __init__(self) -> None:
        self._reason: str | None = None
        self._event = asyncio.Event()

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked the run to stop."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """Why, in words; None while nobody asked."""
        return self._reason

    def raise_if_cancelled(self) -> None:
        """Do nothing, or raise `Aborted` with the reason."""
        if self._reason is not None:
            raise Aborted(self._reason)

    async def wait(self) -> str:
        """Wait until somebody asks the run to stop; the reason."""
        await self._event.wait()
        return self._reason or ""

    def cancel(self, reason: str) -> None:
        """Ask the run to stop; the first reason stays."""
        if self._reason is None:
            self._reason = reason
            self._event.set()
