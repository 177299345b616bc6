"""The commands `capsdk pii`: what is found in a text of the owner's, and why. Finding is the backend's."""

from __future__ import annotations

from typing import Any, Protocol

import click

from host.frontends.cli import HELP, as_text, run_command
from host.frontends.terminal import table


class Backend(Protocol):
    """What the commands call; it raises CapError."""

    async def pii_test(self, text: str, hint: str) -> dict[str, Any]: ...


@click.group(context_settings=HELP)
def pii() -> None:
    """Private details: what of a text or a picture an AI does not get to see."""


@pii.command(context_settings=HELP)
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@click.option("--hint", default="", metavar="WORDS", help="What stands for the text: a label, a field's name.")
@click.option("--json", "as_json", is_flag=True, help="JSON, for programs.")
@click.pass_obj
def test(backend: Backend, file: Any, hint: str, as_json: bool) -> None:
    """Show what is found in FILE ("-" is standard input), where, how sure, and by which recognizer.

    \b
    capsdk pii test notes.txt
    echo "call Jane Doe, +44 20 7946 0018" | capsdk pii test -
    Types are switched off with `off`, recognizers of your own are added with `recognizers`, a file in
    Presidio's YAML, both under [pii] in config.toml; see references/settings.md.
    """
    told = run_command(backend.pii_test(file.read(), hint))
    if as_json:
        click.echo(as_text(told))
        return
    for row in told["found"]:
        row["score"] = f"{row['score']:.2f}"
    if told["found"]:
        click.echo(
            table([{key: row[key] for key in ("where", "type", "score", "by", "text")} for row in told["found"]])
        )
    click.echo(f"{len(told['found'])} found in {told['chars']} characters", err=True)
