"""The command `capsdk`: standard library only until it is sure that the rest is there."""

from __future__ import annotations

import os
import signal
import sys

UNAVAILABLE = 69
INTERRUPTED = 130


def main() -> None:
    """Run the command line; ends the process with the exit status of `references/errors.md`."""
    # Until a command has taken the signal over, Ctrl-C has nothing to clean up and shows no traceback.
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))
    if not sys.platform.startswith("linux"):
        sys.stderr.write("capsdk: only Linux is supported for now\n")
        sys.exit(UNAVAILABLE)
    try:
        from host.commands import Commands
        from host.frontends.cli import cli
        from host.frontends.cli_apps import apps
        from host.frontends.cli_login import login
        from host.frontends.cli_pii import pii
    except ImportError as problem:
        if (problem.name or "").partition(".")[0] in ("capsdk", "host"):
            raise
        sys.stderr.write(
            f"capsdk: {problem.name} is not installed; install the host with: pip install 'capsdk[host]'\n"
        )
        sys.exit(UNAVAILABLE)
    cli.add_command(apps)
    cli.add_command(login)
    cli.add_command(pii)
    cli(obj=Commands(), prog_name="capsdk")


if __name__ == "__main__":
    main()
