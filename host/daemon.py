"""The host as a process of its own: it listens on the owner's socket, until told to end or left by its last client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from capsdk.errors import CapError, InvalidArgumentError
from host.app import Host, load_settings, open_host, places_of
from host.commands import attached_caller, run_on
from host.core.grants import Caller
from host.core.settings import Settings
from host.core.wire import dumps
from host.frontends.cli import RunRequest, StdioRequest
from host.frontends.owner_door import LOGIN, RUN, OwnerDoor, OwnerServer, Tell, text_list
from host.joining import Meeting, another_host, meeting_of, no_meeting, sole_host
from host.login import login_in

FIRST_CLIENT_S = 10.0
LOOK_S = 1.0
LAST_TURNS = 10  # of the loop: more than a connection that was made takes to become a door


async def serve(settings: Settings, *, lasts: bool, ready: Callable[[Path], None]) -> None:
    """Serve the owner's socket. With `lasts` until cancelled, else until no client and no session is left.

    `ready(socket)` is called as soon as others can join. Raises UnavailableError PROFILE_LOCKED when another host
    serves there already; without `lasts` that one will do.
    """
    meeting = meeting_of(places_of(settings))
    async with sole_host(meeting) as alone:
        if alone:
            kept = settings.limits.workers_kept if lasts else 0
            async with open_host(settings, workers_kept=kept) as host:
                await _serve(host, meeting, lasts=lasts, ready=ready)
        elif lasts:
            raise another_host(meeting, "serves already; join it with any command, or end it first")
        else:
            ready(meeting.socket)


async def _serve(host: Host, meeting: Meeting, *, lasts: bool, ready: Callable[[Path], None]) -> None:
    async def run(args: dict[str, Any], tell: Tell) -> dict[str, Any]:
        async def this_host() -> Host:
            return host

        return await run_on(this_host, run_request(args), tell, host.places)

    async def login(args: dict[str, Any], tell: Tell) -> dict[str, Any]:
        return await login_in(host, args, tell)

    def attach(args: dict[str, Any]) -> Caller:
        return attached_caller(host, stdio_request(args))

    server = OwnerServer(host.dispatcher, host.settings.limits, attach, {RUN: run, LOGIN: login})
    listening = await listen(meeting, server)
    try:
        ready(meeting.socket)
        await _until_left(host, server, meeting, lasts=lasts)
    finally:
        with contextlib.suppress(FileNotFoundError):
            meeting.socket.unlink()
        listening.close()
        await server.close()


async def listen(meeting: Meeting, server: OwnerServer) -> asyncio.Server:
    """The owner's socket, in place of what a dead host left. Raises UnavailableError BROWSER_LAUNCH_FAILED."""
    with contextlib.suppress(FileNotFoundError):
        meeting.socket.unlink()
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(str(meeting.socket))
    except OSError as problem:
        sock.close()
        raise no_meeting(meeting.socket.parent, f"cannot take the socket: {problem.strerror}") from None
    finally:
        os.umask(before)
    return await asyncio.get_running_loop().create_unix_server(lambda: OwnerDoor(server), sock=sock)


async def _until_left(host: Host, server: OwnerServer, meeting: Meeting, *, lasts: bool) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        server.changed.clear()
        waits_for_first = server.served == 0 and loop.time() - began < FIRST_CLIENT_S
        left = not lasts and not server.doors and len(host.sessions) == 0 and not waits_for_first
        if left and await closed_to_others(server, meeting):
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await server.changed.wait()


async def closed_to_others(server: OwnerServer, meeting: Meeting) -> bool:
    """Take the socket away, unless somebody has just joined: who did so is served, and the socket stays."""
    aside = meeting.socket.with_suffix(".ending")
    try:
        meeting.socket.rename(aside)
    except FileNotFoundError:  # somebody cleaned up; nobody new finds us
        return not server.doors
    for _ in range(LAST_TURNS):
        await asyncio.sleep(0)
    if server.doors:
        aside.rename(meeting.socket)
        return False
    aside.unlink(missing_ok=True)
    return True


def run_request(args: dict[str, Any]) -> RunRequest:
    """A joining `capsdk run`'s words. Raises InvalidArgumentError BAD_ARGUMENTS."""
    app, given = args.get("app"), args.get("input")
    if not isinstance(app, str) or not (given is None or isinstance(given, str)):
        raise InvalidArgumentError("BAD_ARGUMENTS", "app and input are texts; start the command anew")
    return RunRequest(
        app,
        given,
        args.get("fixture") is True,
        text_list(args, "grants"),
        text_list(args, "loopback"),
        False,
        text_list(args, "ceiling"),
        text_list(args, "hosts"),
        args.get("unsafe_no_sandbox") is True,
    )


def stdio_request(args: dict[str, Any]) -> StdioRequest:
    """A joining `capsdk stdio`'s words. Raises InvalidArgumentError BAD_ARGUMENTS."""
    kind, app, run = args.get("kind"), args.get("app"), args.get("run")
    if not isinstance(kind, str) or not isinstance(app, str) or not (run is None or isinstance(run, str)):
        raise InvalidArgumentError("BAD_ARGUMENTS", "kind, app and run are texts; start the command anew")
    return StdioRequest(
        kind,
        app,
        run,
        text_list(args, "grants"),
        text_list(args, "loopback"),
        False,
        text_list(args, "ceiling"),
        text_list(args, "hosts"),
    )


def main() -> int:
    """`python -m host.daemon FD`: a host that a command started; on FD it says `ready`, or why it is not."""
    tells = int(sys.argv[1])

    def say(what: bytes) -> None:
        os.write(tells, what)
        os.close(tells)

    async def work() -> None:
        settings = load_settings()
        os.chdir("/")
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await serve(settings, lasts=False, ready=lambda socket: say(b"ready"))

    try:
        asyncio.run(work())
    except CapError as problem:
        with contextlib.suppress(OSError):
            say(dumps(problem.to_wire()))
        return problem.exit_code
    except asyncio.CancelledError:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
