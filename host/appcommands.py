"""What `capsdk apps …` does: installs, lists, describes and removes apps, and keeps their grants honest meanwhile."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsdk.errors import InvalidArgumentError
from host.app import places_of
from host.apps import INSTALLED, Apps, Installed, not_installed
from host.core.grants import Kind, Level
from host.core.settings import Settings
from host.dispatch.dispatcher import now_ms
from host.entries.catalogue import ENTRIES
from host.entries.describe import describe
from host.sandbox.appfolder import AppFolder, load_app
from host.store.port import GrantRow
from host.store.sqlite import SqliteStore


@dataclass(frozen=True, slots=True)
class Plan:
    """What an install would do: `new` grants start at ask in any case, `kept` ones if the owner says so."""

    app: AppFolder
    before: Installed | None
    new: tuple[GrantRow, ...]
    kept: tuple[GrantRow, ...]
    new_capabilities: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Must the owner say whether the changed code keeps the grants that the old one had?"""
        changed = self.before is not None and self.before.revision != self.app.revision
        return changed and any(row.level != Level.ASK for row in self.kept)

    def public(self) -> dict[str, Any]:
        """What the owner is asked about."""
        return {
            "id": self.app.id,
            "revision": self.app.revision,
            "before": self.before.revision if self.before else None,
            "asks": self.asks,
            "grants": _levels(self.kept),
            "newCapabilities": list(self.new_capabilities),
        }


def plan_install(app: AppFolder, before: Installed | None, grants: tuple[GrantRow, ...]) -> Plan:
    """What happens to the stored grants of `app:ID`. What a first install declares is new, all of it."""
    had = before.app.capabilities if before and before.app else frozenset()
    new = app.capabilities - had
    return Plan(
        app,
        before,
        tuple(row for row in grants if row.capability in new),
        tuple(row for row in grants if row.capability not in new),
        tuple(sorted(new)),
    )


class AppCommands:
    """The backend of `capsdk apps`. Every method raises CapError for what could not be done."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._places = places_of(settings)
        self._apps = Apps(self._places)

    async def plan(self, folder: str) -> dict[str, Any]:
        """What installing the folder would mean for the app's grants; nothing is changed."""
        with self._store() as store:
            return self._plan(store, folder).public()

    async def install(self, folder: str, *, keep_grants: bool | None, revision: str) -> dict[str, Any]:
        """Install the folder if it still is that revision. Grants go before the code comes: a crash never adds any.

        Raises InvalidArgumentError BAD_ARGUMENTS when the owner has to say what happens to the grants and did not.
        """
        with self._store() as store:
            plan = self._plan(store, folder)
            if plan.app.revision != revision:
                raise InvalidArgumentError("BAD_ARGUMENTS", "the folder was changed meanwhile; install it again")
            if plan.asks and keep_grants is None:
                raise undecided(plan)
            dropped = plan.new + (plan.kept if plan.asks and not keep_grants else ())
            await _revoke(store, dropped)
            done = self._apps.install(plan.app, now_ms())
            words = "first install" if plan.before is None else f"instead of {plan.before.revision}"
            _note(store, plan.app.id, done.revision, "installed", f"version {plan.app.version}, {words}")
            grants = _levels(_grants_of(store, plan.app.id))
        replaced = plan.before.revision if plan.before else None
        return {**done.public(), "before": replaced, "grants": grants, "dropped": _levels(dropped)}

    async def installed(self) -> list[dict[str, Any]]:
        """All installed apps, by id."""
        return [one.public() for one in self._apps.installed()]

    async def remove(self, app_id: str) -> dict[str, Any]:
        """Remove an installed app with its grants. Raises NotFoundError APP_NOT_FOUND when it is not installed."""
        with self._store() as store:
            before = self._apps.current(app_id)
            if before is None:
                raise not_installed(app_id)
            grants = _grants_of(store, app_id)
            await _revoke(store, grants)
            self._apps.remove(app_id)
            _note(store, app_id, before.revision, "removed", "its files and its grants")
        return {"id": app_id, "revision": before.revision, "dropped": _levels(grants)}

    async def describe_entries(self) -> list[dict[str, Any]]:
        """Every entry, exactly as `references/sdk/` has it (with the owner's limits)."""
        return [describe(entry, self._settings.limits) for _, entry in sorted(ENTRIES.items())]

    async def describe_app(self, app_id: str) -> dict[str, Any]:
        """The manifest of an installed app. Raises NotFoundError APP_NOT_FOUND, InvalidArgumentError."""
        return self._apps.manifest(app_id).model_dump(mode="json", by_alias=True, exclude_none=True)

    def _plan(self, store: SqliteStore, folder: str) -> Plan:
        app = load_app(Path(folder))
        return plan_install(app, self._apps.current(app.id), _grants_of(store, app.id))

    @contextlib.contextmanager
    def _store(self) -> Iterator[SqliteStore]:
        store = SqliteStore.open(self._places.state, id_source=lambda: secrets.token_hex(8))
        try:
            yield store
        finally:
            store.close()


def undecided(plan: Plan) -> InvalidArgumentError:
    """Nobody is there to be asked, and no flag says what to do."""
    grants = ", ".join(f"{name}={level}" for name, level in _levels(plan.kept).items())
    return InvalidArgumentError(
        "BAD_ARGUMENTS",
        f"the code of {plan.app.id} changed and it has grants ({grants}); say --keep-grants or --drop-grants",
    )


async def _revoke(store: SqliteStore, rows: tuple[GrantRow, ...]) -> None:
    for row in rows:
        await store.revoke_grant(*row.key)
        _note(store, row.subject, "-", "granted", f"{row.capability} revoked", entry="grants")


def _grants_of(store: SqliteStore, app_id: str) -> tuple[GrantRow, ...]:
    subject = f"{INSTALLED}{app_id}"
    return tuple(sorted((r for r in store.grants().values() if r.subject == subject), key=lambda row: row.key))


def _levels(rows: tuple[GrantRow, ...]) -> dict[str, str]:
    return {row.capability: row.level for row in rows}


def _note(store: SqliteStore, app: str, revision: str, verdict: str, words: str, *, entry: str = "apps") -> None:
    """The owner's doing, in the ledger."""
    store.append(now_ms(), "owner", 0, app, revision, Kind.OWNER, "owner", entry, "", "", "", verdict, words, 0, 0)
