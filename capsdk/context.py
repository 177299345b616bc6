"""`ctx`: everything a script is handed. Each part is a thin layer over `cap.call`; none of it is a way around it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capsdk.browser import Browser
from capsdk.cap import Caller
from capsdk.outbox import Outbox, Sent
from capsdk.signals import Signal


@dataclass(frozen=True, slots=True)
class Run:
    """Which run this is: its id, the app and its revision, as the ledger spells them; `tier` is the sandbox's."""

    id: str = "-"
    app: str = "-"
    revision: str = "-"
    tier: str = "-"


class Context:
    """The second argument of `main(input, ctx)`.

    `cap` makes calls, `browser` lends tabs, `input` is what the run was started with, `signal` says when to stop,
    `run` says which run it is.
    """

    def __init__(
        self,
        cap: Caller,
        input: Mapping[str, Any] | None = None,
        *,
        run: Run | None = None,
        signal: Signal | None = None,
        outbox: Outbox | None = None,
    ) -> None:
        self.cap = cap
        self.input: dict[str, Any] = dict(input or {})
        self.run = run or Run()
        self.signal = signal or Signal()
        self.browser = Browser(cap, self.signal)
        self._outbox = outbox or Outbox(cap)

    def log(self, message: object, level: str = "info") -> Sent:
        """Write a line (8 KB) to the run's log; `level` is debug, info, warning or error. Awaiting it is optional."""
        return self._outbox.log(message, level)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> Sent:
        """Show how far the work is. Awaiting it is optional; a newer one replaces one that was not sent yet."""
        return self._outbox.progress(done, total, message)

    async def asset(self, path: str) -> str | bytes:
        """A file of the app folder, at most 1 MB: text, or bytes when it is not UTF-8. Raises NotFoundError."""
        reply = await self.cap.call("app.asset", {"path": path})
        return str(reply["text"]) if "text" in reply else base64.b64decode(reply["base64"])
