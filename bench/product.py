"""The product as it is measured: `capsdk run` in this process, which holds nothing else of the benchmark."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from host.commands import Commands
from host.frontends.cli import RunRequest, cli

APP = Path(__file__).with_name("app")
GRANT = "browser.debug=allow"


def run_app(given: Mapping[str, Any], mark: Callable[[str], None], *, loopback: str = "") -> Any:
    """Run the sandboxed app; `mark` is called in the host with each of its marks. The app's figures.

    `loopback` is the place (`HOST:PORT`) that it may open. Raises RuntimeError when the run failed.
    """
    words = ["run", str(APP), "--ephemeral", "--json", "--grant", GRANT, "--input", json.dumps(given)]
    words += ["--allow-loopback", loopback] if loopback else []
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        cli(words, obj=MarkedCommands(mark), prog_name="capsdk")
    envelope = json.loads(output.getvalue() or "{}")
    if not envelope.get("ok"):
        raise RuntimeError(f"capsdk run failed: {envelope.get('error')}")
    (figures,) = json.loads(envelope["result"]["rowsJson"])
    return figures


class MarkedCommands(Commands):
    """The commands as they are; a run's progress is also a mark."""

    def __init__(self, mark: Callable[[str], None]) -> None:
        super().__init__()
        self._mark = mark

    async def run(self, request: RunRequest, tell: Callable[[str, dict[str, Any]], None]) -> dict[str, Any]:
        """One run of an app folder, with its marks."""

        def tell_and_mark(kind: str, data: dict[str, Any]) -> None:
            if kind == "progress":
                self._mark(str(data.get("message")))
            else:
                tell(kind, data)

        return await super().run(request, tell_and_mark)
