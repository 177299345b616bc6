"""The commands `capsdk apps …`: reads words, asks the owner on a terminal, prints. What they do is the backend's."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Any, Protocol

import click

from host.frontends.cli import HELP, json_option, run_app, run_command
from host.frontends.terminal import table


class AppsBackend(Protocol):
    """What the commands call; every method raises CapError."""

    async def plan(self, folder: str) -> dict[str, Any]: ...

    async def install(self, folder: str, *, keep_grants: bool | None, revision: str) -> dict[str, Any]: ...

    async def installed(self) -> list[dict[str, Any]]: ...

    async def remove(self, app_id: str) -> dict[str, Any]: ...

    async def describe_entries(self) -> list[dict[str, Any]]: ...

    async def describe_app(self, app_id: str) -> dict[str, Any]: ...


class Backend(Protocol):
    """The whole command line's backend, as far as this group needs it."""

    @property
    def apps(self) -> AppsBackend: ...


@click.group(context_settings=HELP)
def apps() -> None:
    """Installed apps: copies that nobody changes under you. They are `app:ID` to grants; a folder is `path:DIR`."""


@apps.command(context_settings=HELP)
@click.argument("folder", metavar="DIR")
@click.option(
    "--keep-grants/--drop-grants",
    "keep_grants",
    default=None,
    help="Whether changed code keeps the grants that the installed code has. Asked on a terminal.",
)
@click.pass_obj
def install(backend: Backend, folder: str, keep_grants: bool | None) -> None:
    """Copy an app folder, or its new revision; what it newly declares starts at `ask`."""
    plan = run_command(backend.apps.plan(folder))
    if plan["asks"] and keep_grants is None and on_terminal():
        keep_grants = ask_to_keep(plan)
    row = run_command(backend.apps.install(folder, keep_grants=keep_grants, revision=plan["revision"]))
    replaced = f", instead of {row['before']}" if row["before"] not in (None, row["revision"]) else ""
    click.echo(f"{row['id']} {row['version']} is installed as revision {row['revision']}{replaced}")
    say_dropped(row)
    for capability in row["capabilities"]:
        level = row["grants"].get(capability, "ask")
        click.echo(f"{capability} is set to {level}; change it: capsdk grants set app:{row['id']} {capability} LEVEL")


def on_terminal() -> bool:
    """Is a person there to answer? Both ways must be a terminal: a pipe never is asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_to_keep(plan: dict[str, Any]) -> bool:
    """The owner's answer about the grants; Enter alone is no."""
    click.echo(
        f"The code of {plan['id']} changed: {plan['before']} is installed, {plan['revision']} would be.", err=True
    )
    click.echo(f"Its grants: {grants_text(plan['grants'])}", err=True)
    if plan["newCapabilities"]:
        click.echo(f"Newly declared, to be asked about: {', '.join(plan['newCapabilities'])}", err=True)
    return click.confirm("Code changed, keep grants?", default=False, err=True)


def say_dropped(row: dict[str, Any]) -> None:
    """The grants that went."""
    if row["dropped"]:
        click.echo(f"grants removed (it is asked again): {grants_text(row['dropped'])}")


def grants_text(grants: dict[str, str]) -> str:
    """Capabilities and levels on one line."""
    return ", ".join(f"{capability}={level}" for capability, level in grants.items())


@apps.command("list", context_settings=HELP)
@json_option
@click.pass_obj
def list_apps(backend: Backend, as_json: bool) -> None:
    """All installed apps."""
    rows = run_command(backend.apps.installed())
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
    else:
        click.echo(table([shown(row) for row in rows]) or "no apps are installed")


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the listing for a person."""
    installed_at = datetime.fromtimestamp(row["installedAt"] / 1000).astimezone()
    about = ", ".join(row.get("capabilities", [])) if "problem" not in row else row["problem"]
    return {
        "id": row["id"],
        "name": row.get("name", ""),
        "version": row.get("version", ""),
        "revision": row["revision"],
        "capabilities": about,
        "installed": installed_at.isoformat(sep=" ", timespec="minutes")[:16],
    }


@apps.command(context_settings=HELP)
@click.argument("app_id", metavar="ID")
@click.pass_obj
def remove(backend: Backend, app_id: str) -> None:
    """Remove an installed app, its files and its grants; its calls under way end."""
    row = run_command(backend.apps.remove(app_id))
    click.echo(f"{row['id']} (revision {row['revision']}) is removed")
    say_dropped(row)


@apps.command(context_settings=HELP)
@click.argument("app_id", metavar="[ID]", required=False)
@json_option
@click.pass_obj
def describe(backend: Backend, app_id: str | None, as_json: bool) -> None:
    """Without ID every entry that a script can call, as in references/sdk; with ID the app's manifest."""
    if app_id is not None:
        manifest = run_command(backend.apps.describe_app(app_id))
        click.echo(json.dumps(manifest, ensure_ascii=False, indent=None if as_json else 2))
        return
    entries = run_command(backend.apps.describe_entries())
    if as_json:
        click.echo(json.dumps(entries, ensure_ascii=False))
    else:
        click.echo(table([{"entry": e["name"], "needs": e["capability"] or "", "does": e["summary"]} for e in entries]))


@apps.command("run", context_settings=HELP, params=[one for one in run_app.params if isinstance(one, click.Option)])
@click.argument("app_id", metavar="ID")
@click.pass_context
def run_installed(context: click.Context, /, app_id: str, **words: Any) -> None:
    """Run an installed app once, as `capsdk run` does."""
    context.invoke(run_app, app=f"app:{app_id}", **words)
