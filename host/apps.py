"""Installed apps: copies under the state folder, one current revision each. Nothing about their grants is here."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from capsdk.errors import CapError, InvalidArgumentError, NotFoundError, UnavailableError
from host.app import Places
from host.core.manifest import Manifest
from host.sandbox.appfolder import MANIFEST, AppFolder, load_app, manifest_of, read_tests
from host.store.places import prepare_folder

INSTALLED = "app:"
CURRENT = "current.json"
ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")  # as in app.toml, so an id never is a path
LOCK_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Installed:
    """One installed app; `problem` tells why it cannot be run."""

    id: str
    revision: str
    installed_at_ms: int
    app: AppFolder | None = None
    problem: CapError | None = None

    def public(self) -> dict[str, Any]:
        """As `capsdk apps list --json` prints it."""
        row: dict[str, Any] = {"id": self.id, "revision": self.revision, "installedAt": self.installed_at_ms}
        if self.app is not None:
            row |= {"name": self.app.name, "version": self.app.version, "capabilities": sorted(self.app.capabilities)}
        if self.problem is not None:
            row["problem"] = self.problem.message
        return row


def find_app(text: str, places: Places) -> AppFolder:
    """The app that `text` names: `app:ID`, a path, or the id of an installed app.

    Raises NotFoundError APP_NOT_FOUND, InvalidArgumentError MANIFEST_INVALID.
    """
    name = full_name(text)
    if name.startswith(INSTALLED):
        return Apps(places).load(name.removeprefix(INSTALLED))
    return load_app(Path(name))


def full_name(text: str) -> str:
    """What `text` means wherever it is read: `app:ID`, or the real path of a folder.

    A text with a separator, or the name of a folder that is there, is a path.
    """
    if text.startswith(INSTALLED):
        return text
    return os.path.realpath(text) if os.sep in text or os.path.isdir(text) else f"{INSTALLED}{text}"


class Apps:
    """The installed apps of one state folder."""

    def __init__(self, places: Places) -> None:
        self._root = places.state / "apps"

    def installed(self) -> list[Installed]:
        """All of them, by id; one that cannot be run any more says so."""
        found = (self.current(path.parent.name) for path in sorted(self._root.glob(f"*/{CURRENT}")))
        return [one for one in found if one is not None]

    def current(self, app_id: str) -> Installed | None:
        """The installed app of this id, None when there is none."""
        return self._look(app_id) if ID.fullmatch(app_id) else None

    def load(self, app_id: str) -> AppFolder:
        """The installed app, checked to be what was installed.

        Raises NotFoundError APP_NOT_FOUND, InvalidArgumentError MANIFEST_INVALID.
        """
        found = self.current(app_id)
        if found is None:
            raise not_installed(app_id)
        if found.app is None:
            raise found.problem or not_installed(app_id)
        return found.app

    def manifest(self, app_id: str) -> Manifest:
        """The manifest of an installed app. Raises as `load` does."""
        return manifest_of(self.load(app_id).contents[MANIFEST])

    def install(self, app: AppFolder, now_ms: int) -> Installed:
        """Copy the app as it was read, with its tests, and make it the current one.

        The revision before it stays for runs that began with it; older ones go. Raises UnavailableError
        STORE_UNAVAILABLE, and InvalidArgumentError MANIFEST_INVALID for tests that cannot be copied.
        """
        files = {**read_tests(app.path), **app.contents}
        with self._changing():
            before = self.current(app.id)
            home = self._root / app.id
            _write_tree(home / app.revision, files)
            _write_file(home / CURRENT, json.dumps({"revision": app.revision, "installedAt": now_ms}).encode())
            _keep_only(home, {app.revision, before.revision if before else app.revision, CURRENT})
        return Installed(app.id, app.revision, now_ms, replace(app, subject=f"{INSTALLED}{app.id}"))

    def remove(self, app_id: str) -> bool:
        """Take an app's files away; False when there were none. Raises UnavailableError STORE_UNAVAILABLE."""
        home = self._root / app_id
        if not ID.fullmatch(app_id) or not home.is_dir():
            return False
        with self._changing():
            (home / CURRENT).unlink(missing_ok=True)  # first: from here on it is not installed, whatever happens
            shutil.rmtree(home, ignore_errors=True)
        return True

    def _look(self, app_id: str) -> Installed | None:
        home = self._root / app_id
        try:
            pointer = json.loads((home / CURRENT).read_bytes())
            revision, installed_at_ms = str(pointer["revision"]), int(pointer["installedAt"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            return Installed(app_id, "-", 0, problem=damaged(app_id))
        try:
            app = load_app(home / revision)
        except CapError as problem:
            found = damaged(app_id) if isinstance(problem, NotFoundError) else problem
            return Installed(app_id, revision, installed_at_ms, problem=found)
        if (app.id, app.revision) != (app_id, revision):
            return Installed(app_id, revision, installed_at_ms, problem=damaged(app_id))
        return Installed(app_id, revision, installed_at_ms, replace(app, subject=f"{INSTALLED}{app_id}"))

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Only one command at a time changes what is installed."""
        try:
            prepare_folder(self._root.parent)
            self._root.mkdir(mode=0o700, exist_ok=True)
            fd = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                _lock(fd)
                yield
            finally:
                os.close(fd)
        except OSError as problem:
            raise UnavailableError(
                "STORE_UNAVAILABLE", f"{self._root} cannot be written: {problem.strerror}; free it"
            ) from None


def not_installed(app_id: str) -> NotFoundError:
    """There is no installed app of this id."""
    return NotFoundError(
        "APP_NOT_FOUND", f"no app {app_id[:80]!r} is installed (nor is it a folder here); see: capsdk apps list"
    )


def damaged(app_id: str) -> InvalidArgumentError:
    """The files are not those that the owner installed."""
    return InvalidArgumentError(
        "MANIFEST_INVALID", f"the files of {app_id} are not as they were installed; install it again"
    )


def _lock(fd: int) -> None:
    deadline_s = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline_s:
                raise UnavailableError(
                    "STORE_UNAVAILABLE", "another command is changing the installed apps; try again"
                ) from None
        time.sleep(0.05)


def _write_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files into a new folder, then put it in the place of `folder`."""
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    made = folder.parent / f".new-{secrets.token_hex(4)}"
    made.mkdir(mode=0o700)
    try:
        for name, content in files.items():
            path = made / name
            for parent in reversed(path.relative_to(made).parents[:-1]):
                (made / parent).mkdir(mode=0o700, exist_ok=True)
            _write_new(path, content)
        if folder.exists():
            folder.rename(folder.parent / f".old-{secrets.token_hex(4)}")
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _write_file(path: Path, content: bytes) -> None:
    """Replace a file whole: who reads it sees the old or the new one, also after a power cut."""
    made = path.parent / f".new-{secrets.token_hex(4)}"
    _write_new(made, content)
    made.rename(path)
    fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_new(path: Path, content: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _keep_only(home: Path, names: set[str]) -> None:
    for path in home.iterdir():
        if path.name not in names:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
