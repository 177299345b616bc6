"""Makes app folders and grants for these tests."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from host.app import Host
from host.commands import run_on
from host.core.grants import BROWSER
from host.frontends.cli import RunRequest
from host.store.port import GrantRow
from host.store.sqlite import SqliteStore

MAIN = "from capsdk import Result\n\nasync def main(input, ctx):\n    return Result.ok([])\n"


def write_app(
    folder: Path,
    *,
    id: str = "shop",
    main: str = MAIN,
    capabilities: tuple[str, ...] = ("browser.debug",),
    more: str = "",
    files: dict[str, bytes] | None = None,
) -> Path:
    """An app folder with a manifest, one source and whatever else; what is there already is overwritten."""
    listed = ", ".join(f'"{name}"' for name in capabilities)
    manifest = f'id = "{id}"\nname = "Shop"\nversion = "1.0"\ncapabilities = [{listed}]\n{more}'
    written = {"app.toml": manifest.encode(), "main.py": main.encode(), **(files or {})}
    for name, content in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@contextmanager
def store_in(folder: Path) -> Iterator[SqliteStore]:
    """The store, opened beside whoever else has it open."""
    store = SqliteStore.open(folder, id_source=lambda: secrets.token_hex(8))
    try:
        yield store
    finally:
        store.close()


async def grant(folder: Path, subject: str, capability: str, level: str) -> None:
    """Store a grant, as `capsdk grants set` does."""
    with store_in(folder) as store:
        await store.set_grant(GrantRow(subject, capability, BROWSER, level, "-", 0))


def grants(folder: Path) -> dict[tuple[str, str], str]:
    """All stored grants."""
    with store_in(folder) as store:
        return {(row.subject, row.capability): row.level for row in store.grants().values()}


async def owner_rows(folder: Path) -> list[tuple[str, str, str]]:
    """What the ledger has of the owner's doings: entry, verdict, reason."""
    with store_in(folder) as store:
        return [(row.entry, row.verdict, row.reason) for row in await store.tail(100) if row.kind == "owner"]


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def run_in(host: Host, app: str, *, input: str | None = None, grants: tuple[str, ...] = ()) -> dict[str, Any]:
    """One whole run in the host, sandbox and all: its envelope."""

    async def this_host() -> Host:
        return host

    return await run_on(
        this_host, RunRequest(app, input, False, grants, (), False), lambda kind, data: None, host.places
    )
