"""The outer wrap: how bubblewrap is asked for namespaces around a worker. Starts nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

# Where distributions put it. Never looked for in PATH: the wrap is part of the boundary, and PATH is anybody's.
PLACES = (Path("/usr/bin/bwrap"), Path("/usr/local/bin/bwrap"), Path("/bin/bwrap"))
LIBRARIES = ("/usr/lib", "/lib", "/lib64", "/usr/lib64", "/usr/local/lib")
SANDBOX = Path(__file__).parent
INSIDE_PARENT = 1
INSIDE_UID = 65534  # nobody, in a user namespace that knows no other

NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
# Not --unshare-all: that means "a user namespace if possible", and by root it keeps uid 0 (facts/sandbox.md 5).
ORDINARY_USER = ("--unshare-user", "--disable-userns", "--uid", str(INSIDE_UID), "--gid", str(INSIDE_UID))
# Root needs no user namespace to make the others; what is left is just enough for the worker to become its own user.
ROOT = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
# Not --as-pid-1: process 1 has to be bubblewrap's own. It has bubblewrap's uid, so that the kernel kills it when
# bubblewrap dies, and the namespace with it; a worker that has become another user would stay (observed, Linux 6.18).
CONDUCT = ("--hostname", "sandbox", "--new-session", "--die-with-parent", "--clearenv")
NO_CAPABILITIES = ("--cap-drop", "ALL")


class BwrapMissing(FileNotFoundError):
    """There is no bubblewrap to start; the message names the package."""


def find(configured: Path | None) -> Path:
    """The program to start. Raises BwrapMissing."""
    for place in (configured,) if configured else PLACES:
        if os.access(place, os.X_OK) and place.is_file():
            return place
    wanted = configured or "bubblewrap"
    raise BwrapMissing(f"{wanted} is not there to start; install it with: apt-get install -y bubblewrap")


def arguments(program: Path, command: Sequence[str | Path], *, root: bool) -> list[str]:
    """The command line that runs `command` in namespaces of its own, as their process 2.

    It sees shared libraries, the interpreter `command[0]` with its standard library, and `host/sandbox`; no /proc, /dev
    but null, /etc, /sys, /run, /home, /tmp. Without /proc the commonest failure in nested containers is avoided, too.
    Open descriptors are inherited.
    """
    python = Path(command[0])
    seen = [word for place in LIBRARIES for word in _library(place)]
    for path in (python, Path(os.path.realpath(sys.base_prefix), "lib"), SANDBOX.parent / "__init__.py", SANDBOX):
        seen += ["--ro-bind", str(path), str(path)]
    return [
        str(program),
        *NAMESPACES,
        *CONDUCT,
        *NO_CAPABILITIES,
        *(ROOT if root else ORDINARY_USER),
        *seen,
        *("--dev-bind", os.devnull, os.devnull, "--remount-ro", "/", "--chdir", "/", "--"),
        *map(str, command),
    ]


def _library(place: str) -> list[str]:
    if os.path.islink(place):  # /lib is a link to usr/lib
        return ["--symlink", os.readlink(place), place]
    return ["--ro-bind", place, place] if os.path.isdir(place) else []
