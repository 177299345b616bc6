"""The host as a process of its own: it listens on the owner's socket, until told to end or left by its last client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from capsdk.errors import CapError, InvalidArgumentError, UnavailableError
from host.app import Host, load_settings, open_host
from host.commands import attached_caller, run_on
from host.core.settings import Settings
from host.core.wire import dumps
from host.frontends.cli import RunRequest, StdioRequest
from host.frontends.owner_door import OwnerDoor, OwnerServer, Tell, text_list
from host.joining import Meeting, meeting_of, try_connect

FIRST_CLIENT_S = 10.0
LOOK_S = 1.0


async def serve(settings: Settings, *, lasts: bool, ready: Callable[[], None]) -> None:
    """Serve the owner's socket. With `lasts` until cancelled, else until no client and no session is left.

    Raises UnavailableError PROFILE_LOCKED when another host listens there already.
    """
    async with open_host(settings) as host:
        meeting = meeting_of(host.places)
        if await try_connect(meeting) is not None:
            raise UnavailableError("PROFILE_LOCKED", "a host serves this profile already; end it, or use its socket")

        async def run(args: dict[str, Any], tell: Tell) -> dict[str, Any]:
            async def this_host() -> Host:
                return host

            return await run_on(this_host, run_request(args), tell)

        server = OwnerServer(
            host.dispatcher, settings.limits, lambda args: attached_caller(host, stdio_request(args)), run
        )
        listening = await _listen(meeting, server)
        try:
            ready()
            await _until_left(host, server, meeting, lasts=lasts)
        finally:
            with contextlib.suppress(FileNotFoundError):
                meeting.socket.unlink()
            listening.close()
            await server.close()


async def _listen(meeting: Meeting, server: OwnerServer) -> asyncio.Server:
    with contextlib.suppress(FileNotFoundError):
        meeting.socket.unlink()
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(str(meeting.socket))
    except OSError as problem:
        sock.close()
        raise UnavailableError(
            "BROWSER_LAUNCH_FAILED",
            f"the owner's socket cannot be made: {problem.strerror}; free {meeting.socket.parent}",
        ) from None
    finally:
        os.umask(before)
    return await asyncio.get_running_loop().create_unix_server(lambda: OwnerDoor(server), sock=sock)


async def _until_left(host: Host, server: OwnerServer, meeting: Meeting, *, lasts: bool) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        server.changed.clear()
        waits_for_first = server.served == 0 and loop.time() - began < FIRST_CLIENT_S
        if not lasts and not server.doors and len(host.sessions) == 0 and not waits_for_first:
            # Nobody can join any more from here; who did so just now is served first.
            with contextlib.suppress(FileNotFoundError):
                meeting.socket.unlink()
            await asyncio.sleep(0)
            if not server.doors:
                return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await server.changed.wait()


def run_request(args: dict[str, Any]) -> RunRequest:
    """A joining `capsdk run`'s words. Raises InvalidArgumentError BAD_ARGUMENTS."""
    app, given = args.get("app"), args.get("input")
    if not isinstance(app, str) or not (given is None or isinstance(given, str)):
        raise InvalidArgumentError("BAD_ARGUMENTS", "app and input are texts; start the command anew")
    return RunRequest(
        app, given, args.get("fixture") is True, text_list(args, "grants"), text_list(args, "loopback"), False
    )


def stdio_request(args: dict[str, Any]) -> StdioRequest:
    """A joining `capsdk stdio`'s words. Raises InvalidArgumentError BAD_ARGUMENTS."""
    kind, app, run = args.get("kind"), args.get("app"), args.get("run")
    if not isinstance(kind, str) or not isinstance(app, str) or not (run is None or isinstance(run, str)):
        raise InvalidArgumentError("BAD_ARGUMENTS", "kind, app and run are texts; start the command anew")
    return StdioRequest(kind, app, run, text_list(args, "grants"), text_list(args, "loopback"), False)


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
        await serve(settings, lasts=False, ready=lambda: say(b"ready"))

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
