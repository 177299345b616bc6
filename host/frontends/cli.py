"""The command line: reads words, calls the backend, prints. What a command does is `host/commands.py`."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeVar

import click

from capsdk.errors import CapError, from_wire
from host.frontends.terminal import Progress, error_lines, table

T = TypeVar("T")

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
EXIT_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class StdioRequest:
    """The words of `capsdk stdio`."""

    kind: str
    app: str
    run: str | None
    grants: tuple[str, ...]
    loopback: tuple[str, ...]
    ephemeral: bool
    ceiling: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The words of `capsdk run`."""

    app: str
    input: str | None
    fixture: bool
    grants: tuple[str, ...]
    loopback: tuple[str, ...]
    ephemeral: bool
    ceiling: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    unsafe_no_sandbox: bool = False


class Backend(Protocol):
    """What the commands call; every method raises CapError."""

    async def stdio(self, request: StdioRequest) -> None: ...

    async def run(self, request: RunRequest, tell: Callable[[str, dict[str, Any]], None]) -> dict[str, Any]: ...

    async def call(self, entry: str, args: dict[str, Any]) -> dict[str, Any]: ...

    async def serve(self, ready: Callable[[Path], None]) -> None: ...

    async def grants_list(self) -> list[dict[str, Any]]: ...

    async def grants_set(self, subject: str, capability: str, level: str) -> dict[str, Any]: ...

    async def grants_revoke(self, subject: str, capability: str) -> dict[str, Any]: ...

    async def doctor(self) -> list[dict[str, Any]]: ...


def run_command(work: Coroutine[Any, Any, T]) -> T:
    """Run a command to its end; the first Ctrl-C, SIGTERM or hang-up cancels it, and it clears up. Exits on errors."""
    try:
        return asyncio.run(_interruptible(work))
    except CapError as problem:
        say_error(problem)
        sys.exit(problem.exit_code)
    except (asyncio.CancelledError, KeyboardInterrupt):
        click.echo("capsdk: interrupted; everything it started is ended", err=True)
        sys.exit(EXIT_INTERRUPTED)


async def _interruptible(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if loop.is_closed():  # all is cleared up; the loop's own handlers would be gone by now, and a traceback come
            os._exit(EXIT_INTERRUPTED)
        loop.call_soon_threadsafe(task.cancel)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    # The interpreter, on its way out, gives signals their default back: a late one would kill what has ended well.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    return await task


def say_error(problem: CapError) -> None:
    """One error for a person, on standard error."""
    for line in error_lines(problem):
        click.echo(line, err=True)


def as_text(value: Any) -> str:
    """JSON for a stream of UTF-8, half surrogates as the escapes that JSON has for them."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


@click.group(context_settings=HELP)
@click.version_option(package_name="capsdk")
def cli() -> None:
    """Lend a script a tab, not the browser.

    \b
    Start here:
      capsdk doctor                                  what works on this machine
      capsdk run scripts/receipts --fixture --grant browser.debug=allow
      capsdk stdio --ephemeral --grant browser.debug=allow
    """


grant_option = click.option(
    "--grant",
    "grants",
    multiple=True,
    metavar="CAP=LEVEL",
    help="The owner's word for this run only, as browser.debug=allow.",
)


def opening_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The owner's words that open a place: `loopback` and `hosts`."""
    loopback = click.option(
        "--allow-loopback", "loopback", multiple=True, metavar="HOST:PORT", help="Open one place on this machine."
    )
    hosts = click.option(
        "--allow-host",
        "hosts",
        multiple=True,
        metavar="HOST:PORT",
        help="Open one place that is refused otherwise, such as a server of your own network.",
    )
    return loopback(hosts(command))


ephemeral_option = click.option(
    "--ephemeral", is_flag=True, help="A profile and a store of its own, thrown away afterwards."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@cli.command(context_settings=HELP)
@click.option("--kind", type=click.Choice(["chat", "script", "view", "owner"]), default="script", show_default=True)
@click.option("--app", default="stdio", show_default=True, metavar="ID", help="The app that calls.")
@click.option("--run", "run", metavar="ID", help="The run that calls; a new one by default.")
@grant_option
@opening_options
@ephemeral_option
@click.pass_obj
def stdio(
    backend: Backend,
    kind: str,
    app: str,
    run: str | None,
    grants: tuple[str, ...],
    loopback: tuple[str, ...],
    hosts: tuple[str, ...],
    ephemeral: bool,
) -> None:
    """Serve one caller on standard input and output: one JSON object a line.

    \b
    {"id": 1, "method": "browser.openSession", "args": {"url": "https://example.com/"}}
    {"id": 2, "method": "browser.cdp", "args": {"sessionId": "…", "method": "Runtime.evaluate",
     "params": {"expression": "document.title"}}}
    {"cancel": 2}
    """
    run_command(backend.stdio(StdioRequest(kind, app, run, grants, loopback, ephemeral, hosts=hosts)))


@cli.command("run", context_settings=HELP)
@click.argument("app", metavar="APP")
@click.option("--input", "given", metavar="JSON|@FILE", help="The script's input; the manifest's example by default.")
@click.option("--fixture", is_flag=True, help="Serve the app's own tests/site and give it as input.origin.")
@json_option
@grant_option
@opening_options
@ephemeral_option
@click.option(
    "--unsafe-no-sandbox",
    "unsafe",
    is_flag=True,
    help="Where no sandbox works on this machine, run the script without one: it can then do what you can.",
)
@click.pass_obj
def run_app(
    backend: Backend,
    app: str,
    given: str | None,
    fixture: bool,
    as_json: bool,
    grants: tuple[str, ...],
    loopback: tuple[str, ...],
    hosts: tuple[str, ...],
    ephemeral: bool,
    unsafe: bool,
) -> None:
    """Run the script of an app folder once, in the sandbox, in tabs lent to it.

    \b
    capsdk run scripts/receipts --fixture --grant browser.debug=allow
    capsdk run my-app --input '{"items": ["A-100"]}' --json
    """
    request = RunRequest(app, given, fixture, grants, loopback, ephemeral, hosts=hosts, unsafe_no_sandbox=unsafe)
    with Progress(sys.stderr) as progress:
        envelope = run_command(backend.run(request, progress.tell))
    if as_json:
        click.echo(as_text(envelope))
    elif envelope["ok"]:
        show_result(envelope)
    sys.exit(exit_code(envelope, quiet=as_json))


def show_result(envelope: dict[str, Any]) -> None:
    """Rows as a table, and one line about the run."""
    result, run = envelope["result"], envelope["run"]
    rows = json.loads(result["rowsJson"])
    click.echo(table(rows))
    reason = f": {result['reason']}" if result.get("reason") else ""
    click.echo(f"{result['state']}{reason}, {len(rows)} rows, {run['durationMs'] / 1000:.1f} s, sandbox {run['tier']}")


def exit_code(envelope: dict[str, Any], *, quiet: bool) -> int:
    """The status for an envelope; an error is said on standard error unless `quiet`."""
    if envelope["ok"]:
        return 1 if envelope["result"]["state"] in ("failed", "blocked") else 0
    problem = from_wire(envelope["error"])
    if not quiet:
        say_error(problem)
    return problem.exit_code


@cli.command(context_settings=HELP)
@click.argument("entry")
@click.argument("args", required=False, default="{}", metavar="[JSON]")
@click.option("--timing", is_flag=True, help="Say on standard error how long it took.")
@click.pass_obj
def call(backend: Backend, entry: str, args: str, timing: bool) -> None:
    """One call as the owner; sessions it opens stay for later calls, until 120 s pass without one.

    \b
    capsdk call browser.openSession '{"url": "https://example.com/"}'
    capsdk call host.info
    """
    try:
        given = json.loads(args)
    except ValueError as problem:
        raise click.UsageError(f"the arguments are not JSON: {problem}") from None
    if not isinstance(given, dict):
        raise click.UsageError("the arguments are a JSON object")
    began = time.perf_counter()
    result = run_command(backend.call(entry, given))
    if timing:
        click.echo(f"{(time.perf_counter() - began) * 1000:.1f} ms, with finding or starting the host", err=True)
    click.echo(as_text(result))


@cli.command(context_settings=HELP)
@click.pass_obj
def serve(backend: Backend) -> None:
    """Be the host of the profile until told to end (Ctrl-C or SIGTERM, exit 0): other commands join it."""

    def ready(socket: Path) -> None:
        click.echo(f"capsdk: serving on {socket}; end it with Ctrl-C", err=True)

    async def until_told() -> None:
        with contextlib.suppress(asyncio.CancelledError):  # to be told is how it ends
            await backend.serve(ready)

    run_command(until_told())
    click.echo("capsdk: ended, and what it started with it", err=True)


@cli.group(context_settings=HELP)
def grants() -> None:
    """What the owner lets apps and chats do: off, ask or allow."""


@grants.command("list", context_settings=HELP)
@json_option
@click.pass_obj
def grants_list(backend: Backend, as_json: bool) -> None:
    """All stored grants; what is not listed is `ask`."""
    rows = run_command(backend.grants_list())
    if as_json:
        click.echo(json.dumps(rows))
    else:
        click.echo(
            table([{key: row[key] for key in ("subject", "capability", "level")} for row in rows]) or "no grants"
        )


@grants.command("set", context_settings=HELP)
@click.argument("subject", metavar="app:ID|path:DIR|chat:NAME")
@click.argument("capability")
@click.argument("level", metavar="off|ask|allow")
@click.pass_obj
def grants_set(backend: Backend, subject: str, capability: str, level: str) -> None:
    """Store a grant; it holds at once, in running hosts too.

    browser.debug is broad: with it a script can run code in the pages of its tabs, read what your login can read,
    and change websites.
    """
    row = run_command(backend.grants_set(subject, capability, level))
    click.echo(f"{row['subject']}: {row['capability']} is {row['level']}")
    if row["ceiling"] != "allow":
        click.echo(f"note: the ceiling in your settings caps it at {row['ceiling']}")


@grants.command("revoke", context_settings=HELP)
@click.argument("subject", metavar="app:ID|path:DIR|chat:NAME")
@click.argument("capability")
@click.pass_obj
def grants_revoke(backend: Backend, subject: str, capability: str) -> None:
    """Take a grant away: its calls end and its sessions are released at once."""
    row = run_command(backend.grants_revoke(subject, capability))
    click.echo(f"{row['subject']}: {row['capability']} " + ("is revoked" if row["revoked"] else "was not set"))


@cli.command(context_settings=HELP)
@json_option
@click.pass_obj
def doctor(backend: Backend, as_json: bool) -> None:
    """What works on this machine, what does not, and what mends it. Exit 69 when something needed does not work."""
    findings = run_command(backend.doctor())
    if as_json:
        click.echo(json.dumps(findings))
    else:
        for one in findings:
            mark = "ok" if one["works"] else "MISSING" if one["needed"] else "missing"
            click.echo(f"{mark:8} {one['name']:13} {one['seen']}")
            if one.get("mend"):
                click.echo(f"{'':22} mend: {one['mend']}")
    sys.exit(0 if all(one["works"] or not one["needed"] for one in findings) else 69)
