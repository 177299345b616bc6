"""Puts the pieces together: a host with its store, browser, sandbox and dispatcher, and what commands do with it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import logging.handlers
import os
import secrets
import shutil
import tempfile
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs

from capsdk.errors import CapError, UnavailableError
from host.browser.browser import Browser
from host.browser.process import ChromiumConfig
from host.browser.profile import Profile, owner_profile, temporary_profile
from host.browser.sessions import Sessions
from host.core.grants import Caller
from host.core.policy import load_rules
from host.core.redaction import EngineConfig
from host.core.settings import Settings, SettingsError, from_environment, from_project, from_table
from host.core.urls import UrlDecision
from host.dispatch.dispatcher import Dispatcher, now_ms
from host.egress.egress import Egress, EgressConfig, Refusal
from host.entries.catalogue import ENTRIES
from host.entries.services import RunFacts, Services
from host.redact.client import Redactor, RedactorConfig
from host.sandbox.launcher import SandboxConfig
from host.sandbox.lock import Limits as WorkerLimits
from host.sandbox.pool import WorkerPool
from host.store.sqlite import SqliteStore

BROWSER_UID = 64190  # a bare number is enough for Chromium; facts/cdp.md 7
EGRESS_UID = 64192  # beside it, and beside that of workers
REDACTOR_UID = 64193
ROOT_PROFILES = Path("/var/lib/capsdk/profiles")  # root's own home is closed to the browser's uid
PROJECT_FILE = "capsdk.toml"
NO_FACTS = RunFacts()

log = logging.getLogger("capsdk.host")


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie."""

    state: Path
    cache: Path
    profile: Path

    @property
    def log(self) -> Path:
        """The host's log: faults with their tracebacks, under the id that a caller was told."""
        return self.state / "host.log"


def browser_uid() -> int | None:
    """Whom Chromium runs as: a dedicated uid when the host is root, else None for the host's own."""
    return BROWSER_UID if os.geteuid() == 0 else None


def egress_config(settings: Settings) -> EgressConfig:
    """How the proxy is started: as an uid of its own when the host is root."""
    uid = EGRESS_UID if os.geteuid() == 0 else None
    return EgressConfig(uid=uid, upstream_proxy=settings.upstream_proxy)


def redactor_config(settings: Settings) -> RedactorConfig:
    """How private details are found: as an uid of its own when the host is root. Raises SettingsError."""
    uid = REDACTOR_UID if os.geteuid() == 0 else None
    yaml = ""
    if settings.pii_recognizers is not None:
        try:
            yaml = Path(settings.pii_recognizers).expanduser().read_text(encoding="utf-8")
        except (OSError, ValueError) as problem:
            raise SettingsError(f"pii.recognizers: {settings.pii_recognizers}: cannot be read: {problem}") from None
    return RedactorConfig(EngineConfig(yaml, settings.pii_off), uid=uid)


def load_settings(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """User file, then project file, then environment. Raises SettingsError (exit 78) naming file and key."""
    settings = Settings()
    sources = (
        (platformdirs.user_config_path("capsdk") / "config.toml", from_table),
        ((folder or Path.cwd()) / PROJECT_FILE, from_project),
    )
    for path, read in sources:
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as problem:
            raise SettingsError(f"{path}: cannot be read: {problem}") from None
        settings = read(settings, table, str(path))
    return from_environment(settings, os.environ if environment is None else environment)


def places_of(settings: Settings) -> Places:
    """The folders that settings and platform give."""
    state = Path(settings.state_dir) if settings.state_dir else platformdirs.user_state_path("capsdk")
    cache = Path(settings.cache_dir) if settings.cache_dir else platformdirs.user_cache_path("capsdk")
    if settings.profile_dir:
        profile = Path(settings.profile_dir)
    elif os.geteuid() == 0:
        profile = ROOT_PROFILES / "default"
    else:
        profile = state / "profiles" / "default"
    return Places(state.absolute(), cache.absolute(), profile.absolute())


class Host:
    """One host: made by `open_host`, used by the doors through `dispatcher`; `workers` are what scripts run in."""

    def __init__(
        self, settings: Settings, places: Places, store: SqliteStore, browser: Browser, workers: WorkerPool
    ) -> None:
        self.settings = settings
        self.places = places
        self.store = store
        self.browser = browser
        self.workers = workers
        self.redactor = Redactor(redactor_config(settings))
        self._listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        self.sessions = Sessions(browser, settings.limits, lambda: secrets.token_hex(16))
        self._runs: dict[Caller, RunFacts] = {}
        services = Services(
            self.sessions,
            settings.limits,
            load_rules(),
            self._tell,
            self.redactor,
            entries=ENTRIES,
            access=lambda caller, capability: self.dispatcher.level_of(caller, capability),
            run_of=lambda caller: self._runs.get(caller, NO_FACTS),
            browser_version=lambda: browser.version,
            sandbox=lambda: self.workers.report,
        )
        self.dispatcher = Dispatcher(ENTRIES, services, store, settings.ceiling)
        self.dispatcher.for_ai.find = self.redactor.find
        self.dispatcher.on_caller_end = self.sessions.release_run
        self.sessions.on_released = self._say_released
        self.dispatcher.on_revoked = self.sessions.release_where
        self.sessions.on_refused = self._note_navigation
        browser.egress.on_refused = self._note_egress

    def introduce(self, caller: Caller, facts: RunFacts) -> None:
        """Tell what a run was started with, until `forget`."""
        self._runs[caller] = facts

    def forget(self, caller: Caller) -> None:
        """The run is over; an unknown one is fine."""
        self._runs.pop(caller, None)

    def _say_released(self, owner: Caller, session_id: str, reason: CapError) -> None:
        self.dispatcher.tell(owner, "session.closed", {"sessionId": session_id, "message": reason.message})

    def _note_navigation(self, owner: Caller, decision: UrlDecision) -> None:
        with _all_the_same():
            self.dispatcher.note(owner, "navigation", decision.code, decision.reason)

    def _note_egress(self, refusal: Refusal) -> None:
        """What the proxy refused, whoever asked for it: it sees places, and no tabs."""
        times = f" ({refusal.count} times)" if refusal.count > 1 else ""
        reason = f"{refusal.place} {refusal.reason}{times}".strip()
        with _all_the_same():
            self.store.append(
                now_ms(), "egress", 0, "host", "-", "host", "", "", "", "", "", "EGRESS_REFUSED", reason, 0, 0
            )

    def listen(self, run: str, listener: Callable[[str, dict[str, Any]], None]) -> None:
        """Have a run's log and progress told to `listener(kind, data)`."""
        self._listeners[run] = listener

    def stop_listening(self, run: str) -> None:
        """Forget a run's listener."""
        self._listeners.pop(run, None)

    def _tell(self, caller: Caller, kind: str, data: dict[str, Any]) -> None:
        listener = self._listeners.get(caller.run)
        if listener is not None:
            listener(kind, data)

    async def close(self) -> None:
        """End everything, in order: calls, workers, sessions, Chromium, the store. Closing twice is fine."""
        await self.dispatcher.close()
        await self.workers.close()
        await self.redactor.close()
        await self.sessions.shut()
        await self.browser.close()
        self.store.close()


@contextlib.contextmanager
def _all_the_same() -> Iterator[None]:
    """What cannot be written down happened all the same, and nobody is there to be told."""
    try:
        yield
    except CapError as problem:
        log.error("a refusal could not be written: %s", problem)


@contextlib.asynccontextmanager
async def open_host(
    settings: Settings, *, ephemeral: bool = False, own_profile: bool = False, workers_kept: int = 0
) -> AsyncIterator[Host]:
    """A host for the time of a `with`; with `ephemeral` on a profile and a store of its own that go with it.

    `own_profile` alone throws only the profile away, and keeps the store. `workers_kept` are started ahead of runs: for
    a host that lasts.

    Raises UnavailableError STORE_UNAVAILABLE. Chromium starts at the first open.
    """
    with contextlib.ExitStack() as stack:
        if ephemeral:
            state = tempfile.mkdtemp(prefix="capsdk-state-")
            stack.callback(shutil.rmtree, state, ignore_errors=True)
            settings = replace(settings, state_dir=state)
        places = places_of(settings)
        store = SqliteStore.open(places.state, id_source=lambda: secrets.token_hex(8))
        stack.callback(store.close)
        stack.enter_context(_logging(places.log))
        uid = browser_uid()

        async def profile() -> Profile:
            return temporary_profile(uid) if ephemeral or own_profile else await owner_profile(places.profile, uid)

        limits = settings.limits
        config = ChromiumConfig(
            binary=settings.browser,
            uid=uid,
            sandbox=settings.browser_sandbox,
            launch_timeout_s=limits.launch_timeout_s,
            result_bytes=limits.result_bytes,
        )
        most = WorkerLimits(memory_mb=limits.run_memory_mb, cpu_s=limits.run_cpu_s)
        workers = WorkerPool(SandboxConfig(places.cache, limits=most), workers_kept)
        host = Host(settings, places, store, Browser(config, profile, Egress(egress_config(settings))), workers)
        try:
            workers.fill()
            yield host
        finally:
            # A second interrupt must not leave Chromium behind: closing is finished, whatever happens outside.
            closing = asyncio.ensure_future(host.close())
            while not closing.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(closing)


class _PrivateLog(logging.handlers.RotatingFileHandler):
    """A log that only its owner can read, whatever the umask."""

    def _open(self) -> Any:
        return open(
            self.baseFilename, self.mode, encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)
        )


@contextlib.contextmanager
def _logging(path: Path) -> Any:
    logger = logging.getLogger("capsdk")
    try:
        handler = _PrivateLog(path, maxBytes=1_000_000, backupCount=1, delay=True)
    except OSError as problem:
        raise UnavailableError("STORE_UNAVAILABLE", f"{path} cannot be written: {problem.strerror}; free it") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
