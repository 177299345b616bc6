"""The command `capsdk login`: reads words, says what the owner has to do. What it does is the backend's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import click

from host.frontends.cli import HELP, opening_options, run_command


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """The words of `capsdk login`."""

    url: str
    wait_s: float
    loopback: tuple[str, ...]
    hosts: tuple[str, ...] = ()


class Backend(Protocol):
    """What the command calls; it raises CapError."""

    async def login(self, request: LoginRequest, tell: Callable[[str, dict[str, Any]], None]) -> dict[str, Any]: ...


@click.command(context_settings=HELP)
@click.argument("url")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0, 86_400),
    default=0.0,
    metavar="SECONDS",
    help="How long to wait for runs and chats to give their tabs back; by default not at all.",
)
@opening_options
@click.pass_obj
def login(backend: Backend, url: str, wait_s: float, loopback: tuple[str, ...], hosts: tuple[str, ...]) -> None:
    """Open a window on the profile, to sign in; close it when you are done.

    It is an ordinary browser window: no script sees it. It needs a display, and the profile to itself:
    with tabs lent to a run or a chat the command ends with PROFILE_LOCKED, or waits for --wait SECONDS.
    While the window is open, opening a tab is refused with BROWSER_UNAVAILABLE; once it is closed, tabs
    have your new login. Ctrl-C closes the window, too. As with any browser that is closed, cookies that a
    site keeps for the browser's run only are gone then: tick "stay signed in" where a site offers it.

    \b
    capsdk login https://shop.example/signin
    """
    run_command(backend.login(LoginRequest(url, wait_s, loopback, hosts), say))
    click.echo("capsdk: the window is closed; tabs opened from now on have what you signed in to", err=True)


def say(kind: str, data: dict[str, Any]) -> None:
    """What goes on, for the owner."""
    if kind == "waiting":
        click.echo(f"capsdk: waiting until {data['sessions']} tabs are given back", err=True)
    elif kind == "window":
        click.echo("capsdk: a window opens; sign in there, then close it", err=True)
