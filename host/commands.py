"""What each command does, over a host; the command line only reads words and prints."""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from capsdk.errors import CapError, InternalError, InvalidArgumentError
from host.app import Host, Places, load_settings, open_host, places_of
from host.appcommands import AppCommands
from host.apps import find_app, full_name
from host.core.grants import (
    BROWSER,
    Caller,
    Kind,
    Level,
    parse_capability,
    parse_grants,
    parse_level,
    parse_subject,
    subject_for,
)
from host.core.inputs import input_problem
from host.core.limits import KIB
from host.core.manifest import row_problem
from host.core.openings import opened_places, opening_words
from host.core.run_limits import Bound, RunLimits, run_limits
from host.core.settings import Settings, SettingsError
from host.core.urls import UrlRules
from host.dispatch.dispatcher import now_ms
from host.doctor import examine
from host.entries.services import LogBudget, RunFacts
from host.frontends.cli import RunRequest, StdioRequest
from host.frontends.cli_login import LoginRequest
from host.frontends.owner_client import remote_run, remote_stdio
from host.frontends.script_door import Program, run_program
from host.frontends.stdio import serve_stdio
from host.joining import joined
from host.login import log_in
from host.piitest import look_through
from host.sandbox.appfolder import AppFolder
from host.sandbox.fixture import FixtureSite
from host.sandbox.process import Worker
from host.store.port import GrantRow
from host.store.sqlite import SqliteStore

Tell = Callable[[str, dict[str, Any]], None]


@dataclass(slots=True)
class RunRecord:
    """What the envelope tells of a run."""

    id: str
    app: str
    revision: str
    started_at_ms: int
    tier: str | None = None
    started_ns: int = field(default_factory=time.monotonic_ns)

    def public(self) -> dict[str, Any]:
        """As on the wire."""
        return {
            "id": self.id,
            "app": self.app,
            "revision": self.revision,
            "startedAt": self.started_at_ms,
            "durationMs": (time.monotonic_ns() - self.started_ns) // 1_000_000,
            "tier": self.tier,
        }


class Commands:
    """The backend of the command line. Every method raises CapError for what could not be done."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._given = settings

    @property
    def settings(self) -> Settings:
        """The owner's settings, read when a command needs them. Raises SettingsError."""
        return self._given or load_settings()

    @property
    def apps(self) -> AppCommands:
        """What `capsdk apps …` does."""
        return AppCommands(self.settings)

    async def stdio(self, request: StdioRequest) -> None:
        """Serve one caller on standard input and output: in a host of its own, or in the one of the profile."""
        settings = self.settings
        caller_of(request)  # words that cannot be used are refused before anything is started
        if not request.ephemeral:
            async with joined(places_of(settings)) as link:
                await remote_stdio(link, words_of(request, settings))
            return
        async with open_host(settings, ephemeral=True) as host:
            await serve_stdio(host.dispatcher, attached_caller(host, request), settings.limits)

    async def run(self, request: RunRequest, tell: Tell) -> dict[str, Any]:
        """One run, in a host of its own or in the one of the profile.

        The result is the envelope of `--json`, for a success as for a failure.
        """
        settings = self.settings
        if request.ephemeral:
            async with contextlib.AsyncExitStack() as stack:

                async def host() -> Host:
                    return await stack.enter_async_context(open_host(settings, ephemeral=True))

                return await run_on(host, request, tell, places_of(settings))
        try:
            async with joined(places_of(settings)) as link:
                return await remote_run(link, words_of(with_real_paths(request), settings), tell)
        except SettingsError:
            raise
        except CapError as problem:
            record = RunRecord("", request.app, "-", now_ms())
            return {"ok": False, "error": problem.to_wire(), "run": record.public()}

    async def call(self, entry: str, args: dict[str, Any]) -> dict[str, Any]:
        """One call as the owner, in the host of the profile; its result. Raises CapError."""
        async with joined(places_of(self.settings)) as link:
            result: dict[str, Any] = await link.ask(entry, args)
            return result

    async def serve(self, ready: Callable[[Path], None]) -> None:
        """The host as a daemon, until it is told to end; `ready(socket)` is told where it listens."""
        from host.daemon import serve

        await serve(self.settings, lasts=True, ready=ready)

    async def login(self, request: LoginRequest, tell: Tell) -> dict[str, Any]:
        """A window for the owner to sign in, until it is closed."""
        return await log_in(self.settings, request, dict(os.environ), tell)

    async def grants_list(self) -> list[dict[str, Any]]:
        """All stored grants, sorted."""
        with self._store() as store:
            rows = sorted(store.grants().values(), key=lambda row: (row.subject, row.capability))
            return [
                {
                    "subject": row.subject,
                    "capability": row.capability,
                    "resource": row.resource,
                    "level": row.level,
                    "setAt": row.set_at_ms,
                }
                for row in rows
            ]

    async def grants_set(self, subject: str, capability: str, level: str) -> dict[str, Any]:
        """Store the owner's answer; it holds at once, in running hosts too."""
        name, known, given = real_subject(subject), parse_capability(capability), parse_level(level)
        ceiling = self.settings.ceiling.get(known, Level.ALLOW)
        with self._store() as store:
            await store.set_grant(GrantRow(name, known, BROWSER, given.value, "-", now_ms()))
            note_grant(store, name, f"{known}={given.value}")
        return {"subject": name, "capability": known, "level": given.value, "ceiling": ceiling.value}

    async def grants_revoke(self, subject: str, capability: str) -> dict[str, Any]:
        """Take a stored grant away; calls under it end and its sessions are released, in running hosts too."""
        name, known = real_subject(subject), parse_capability(capability)
        with self._store() as store:
            revoked = await store.revoke_grant(name, known, BROWSER)
            note_grant(store, name, f"{known} revoked")
        return {"subject": name, "capability": known, "revoked": revoked}

    async def pii_test(self, text: str, hint: str) -> dict[str, Any]:
        """What is found in a text of the owner's, and why."""
        return await look_through(self.settings, text, hint)

    async def doctor(self) -> list[dict[str, Any]]:
        """What works here and what does not, each with what mends it."""
        return [line.public() for line in await examine(self.settings)]

    @contextlib.contextmanager
    def _store(self) -> Any:
        store = SqliteStore.open(places_of(self.settings).state, id_source=lambda: secrets.token_hex(8))
        try:
            yield store
        finally:
            store.close()


def caller_of(request: StdioRequest) -> Caller:
    """The caller that `capsdk stdio`'s words make. Raises InvalidArgumentError BAD_ARGUMENTS."""
    try:
        kind = Kind(request.kind)
    except ValueError:
        raise InvalidArgumentError("BAD_ARGUMENTS", f"{request.kind[:40]!r} is no kind of caller") from None
    return Caller(
        app=request.app,
        revision="-",
        kind=kind,
        run=request.run or secrets.token_hex(8),
        subject=subject_for(kind, request.app),
        granted=parse_grants(request.grants),
        urls=UrlRules(opened_places(request.loopback, request.hosts)),
        ceiling=parse_grants(request.ceiling),
    )


def attached_caller(host: Host, request: StdioRequest) -> Caller:
    """The same, its owner's words written down. Raises InvalidArgumentError BAD_ARGUMENTS."""
    caller = caller_of(request)
    note_owner_words(host, caller, request.grants, opening_words(request.loopback, request.hosts))
    return caller


def words_of(request: RunRequest | StdioRequest, settings: Settings) -> dict[str, Any]:
    """A request as the words of a joining command: the host may have been started under a higher ceiling."""
    request = replace(request, ceiling=tuple(f"{name}={level}" for name, level in settings.ceiling.items()))
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(request).items()}


def with_real_paths(request: RunRequest) -> RunRequest:
    """What a host in another folder can follow: the app's folder in full, the input's file read."""
    given = request.input
    if given is not None and given.startswith("@"):
        given = json.dumps(read_input(given))
    return replace(request, app=full_name(request.app), input=given)


async def run_on(
    open_it: Callable[[], Awaitable[Host]], request: RunRequest, tell: Tell, places: Places | None = None
) -> dict[str, Any]:
    """One run on the host that `open_it` gives; the envelope, for a success as for a failure.

    `places` is where installed apps lie, the owner's own by default: an ephemeral host has none.
    """
    record = RunRecord(secrets.token_hex(8), request.app, "-", now_ms())
    try:
        app = find_app(request.app, places or places_of(load_settings()))
        record.app, record.revision = app.id, app.revision
        result = await _run(await open_it(), app, request, record, tell)
    except SettingsError:
        raise
    except CapError as problem:
        return {"ok": False, "error": problem.to_wire(), "run": record.public()}
    return {"ok": True, "result": result, "run": record.public()}


async def _run(host: Host, app: AppFolder, request: RunRequest, record: RunRecord, tell: Tell) -> dict[str, Any]:
    loopback = request.loopback
    async with contextlib.AsyncExitStack() as stack:
        given = dict(read_input(request.input) if request.input is not None else app.input_example)
        if request.fixture:
            site = await stack.enter_async_context(FixtureSite(app.path / "tests" / "site"))
            given["origin"] = site.origin
            loopback += tuple(site.places)
        check_input(app, given)
        caller = Caller(
            app=app.id,
            revision=app.revision,
            kind=Kind.SCRIPT,
            run=record.id,
            subject=app.subject,
            declared=app.capabilities,
            granted=parse_grants(request.grants),
            urls=UrlRules(opened_places(loopback, request.hosts), app.origins),
            ceiling=parse_grants(request.ceiling),
            popups=app.popups != "block",
        )
        worker = await host.workers.take(or_unlocked=request.unsafe_no_sandbox)
        stack.push_async_callback(worker.aclose)
        record.tier = str(worker.layers.get("tier"))
        host.listen(record.id, tell)
        stack.callback(host.stop_listening, record.id)
        run = run_limits(host.settings.limits, app.limits)
        host.introduce(caller, RunFacts(app.assets, record.tier, LogBudget(run.log_lines)))
        stack.callback(host.forget, caller)
        unsafe = ("--unsafe-no-sandbox",) if request.unsafe_no_sandbox else ()
        note_owner_words(host, caller, request.grants, (*opening_words(loopback, request.hosts), *unsafe))
        tell("start", {"run": record.id, "app": app.id, "tier": record.tier})
        bounds = {"memory_mb": int(run.memory_mb.value), "cpu_s": math.ceil(run.cpu_s.value)}
        return await _recorded(host, caller, worker, Program(app.entry, app.files, given, bounds), app, run)


async def _recorded(
    host: Host, caller: Caller, worker: Worker, program: Program, app: AppFolder, run: RunLimits
) -> dict[str, Any]:
    """The run itself, its start and its end in the ledger."""
    report = host.workers.report
    why_not = [f"not {reason}" for reason in report.reasons] if report else []
    host.dispatcher.note(caller, "run", "started", "; ".join([f"tier {worker.layers.get('tier')}", *why_not]))
    try:
        result = await run_program(host.dispatcher, caller, worker, program, host.settings.limits, run)
        check_rows(app, result, run.output_kb)
    except CapError as problem:
        host.dispatcher.note(caller, "run", problem.code, "the run failed")
        raise
    except BaseException:
        with contextlib.suppress(CapError):
            host.dispatcher.note(caller, "run", "CANCELLED", "the run was interrupted")
        raise
    host.dispatcher.note(caller, "run", result["state"], "the run ended")
    return result


def check_input(app: AppFolder, given: Mapping[str, Any]) -> None:
    """The input fits the manifest's `[input.schema]`. Raises BAD_ARGUMENTS, which says where not."""
    misfit = input_problem(app.input_schema, given) if app.input_schema is not None else None
    if misfit is not None:
        place = f"input.{misfit.place}" if misfit.path else "input"
        raise InvalidArgumentError(
            "BAD_ARGUMENTS", f"{place}: {misfit.problem}; give one that fits [input.schema] of app.toml", at=place
        )


def check_rows(app: AppFolder, result: dict[str, Any], output_kb: Bound) -> None:
    """The rows fit the manifest's `[output]` and its size. Raises SCRIPT_FAILED or RUN_LIMIT, which say where not."""
    rows_json = result["rowsJson"]
    size_kb = len(rows_json.encode("utf-8", "surrogatepass")) / KIB
    if size_kb > output_kb.value:
        said = f"the rows have {size_kb:.1f} KB and the limit is {output_kb.value:g}; return fewer"
        raise output_kb.over(said, round(size_kb, 1))
    try:
        problem = row_problem(app.output_columns, json.loads(rows_json))
    except (ValueError, RecursionError):
        problem = "rowsJson is not JSON"
    if problem:
        raise InternalError("SCRIPT_FAILED", f"the rows do not fit [output]: {problem}; mend the script or app.toml")


def read_input(text: str) -> Mapping[str, Any]:
    """`--input`: JSON, or `@file` with JSON. Raises InvalidArgumentError BAD_ARGUMENTS."""
    try:
        value = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except OSError as problem:
        raise InvalidArgumentError("BAD_ARGUMENTS", f"--input {text[:200]}: {problem.strerror}; name a file") from None
    except ValueError as problem:
        raise InvalidArgumentError("BAD_ARGUMENTS", f"--input is not JSON ({problem}); give an object") from None
    if not isinstance(value, dict):
        raise InvalidArgumentError("BAD_ARGUMENTS", '--input is a JSON object, such as {"items": ["A-100"]}')
    return value


def real_subject(text: str) -> str:
    """A subject with `path:` made the real path, as runs from a folder are known by. Raises BAD_ARGUMENTS."""
    subject = parse_subject(text)
    return f"path:{os.path.realpath(subject[5:])}" if subject.startswith("path:") else subject


def note_owner_words(host: Host, caller: Caller, grants: tuple[str, ...], openings: tuple[str, ...]) -> None:
    """`--grant`, `--allow-loopback` and `--allow-host` are the owner's words: they stand in the ledger."""
    for word in grants:
        host.dispatcher.note(caller, "owner", "granted", f"--grant {word}")
    for word in openings:
        host.dispatcher.note(caller, "owner", "opened", word)


def note_grant(store: SqliteStore, subject: str, words: str) -> None:
    """A stored grant was changed: in the ledger, too."""
    store.append(now_ms(), "owner", 0, subject, "-", Kind.OWNER, "owner", "grants", "", "", "", "granted", words, 0, 0)
