"""Rows and processes for the tests of the store; holds no assertion."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from itertools import count
from pathlib import Path

from host.store.chain import Fields
from host.store.port import ApprovalRow, GrantRow, Store
from host.store.sqlite import SqliteStore

ROOT = Path(__file__).resolve().parents[2]

OpenStore = Callable[..., Store]
"""`open_store(segment_rows=…)`: the store of this test, opened once more on the same place."""

StartProcess = Callable[[str, Path], "subprocess.Popen[str]"]
"""`start_process(body, folder)`: another process on that store; it ends with the test."""


def open_sqlite(folder: Path, segment_rows: int = 10_000) -> SqliteStore:
    numbers = count(1)
    return SqliteStore.open(folder, id_source=lambda: f"approval-{next(numbers)}", segment_rows=segment_rows)


def ledger_fields(call: int = 1, *, kind: str = "call", origin: str = "https://shop.example", took: int = 0) -> Fields:
    return (
        1_700_000_000_000 + call, kind, call, "app:receipts", "r1", "script", "run-1", "browser.cdp",
        "Runtime.evaluate", origin, "s1", "allow", "method_rule", 120, took,
    )  # fmt: skip


def append(store: Store, *calls: int) -> None:
    for call in calls:
        store.append(*ledger_fields(call))


def grant(level: str = "allow", *, subject: str = "app:receipts", revision: str = "r1") -> GrantRow:
    return GrantRow(subject, "browser.debug", "browser:default", level, revision, 1_700_000_000_000)


def question(
    *,
    id: str = "",
    entry: str = "browser.cdp",
    revision: str = "r1",
    asked_at_ms: int = 1_000,
    expires_at_ms: int = 9_000,
) -> ApprovalRow:
    return ApprovalRow(
        id,
        "app:receipts",
        "browser.debug",
        "browser:default",
        revision,
        entry,
        "h",
        "pending",
        asked_at_ms,
        expires_at_ms,
    )


def spawn(body: str, folder: Path) -> subprocess.Popen[str]:
    """Another Python process with `store` open on `folder`; `body` runs inside `async def main(store)`."""
    program = "\n".join(
        (
            "import asyncio, os, sys",
            "from pathlib import Path",
            "from tests.store.support import append, grant, ledger_fields, open_sqlite",
            "async def main(store):",
            textwrap.indent(textwrap.dedent(body), "    "),
            "store = open_sqlite(Path(sys.argv[1]))",
            "asyncio.run(main(store))",
            "store.close()",
        )
    )
    command = [sys.executable, "-c", program, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
