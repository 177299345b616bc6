"""Start of the proxy's process: everything is imported, then rights are dropped for good, then it serves.

Run as `python -I -S -B main.py SETTINGS`. SETTINGS is JSON: `path` (where h11 and this package are), `listen` and
`channel` (descriptors), `uid` (to become, or null). The uid may not be able to read any of our files.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from host.egress.limits import Limits

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
LOOKUP_STACK_BYTES = 1024 * 1024
M_ARENA_MAX = -8  # mallopt(3): threads that only look names up need no heap of their own


def lock(uid: int | None) -> None:
    """Become `uid`, gain nothing any more, and die with the host. Raises OSError."""
    import ctypes
    import os
    import resource
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # it ends with its channel
        signal.signal(number, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_ARENA_MAX, 2)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # after the uid: a change of uid clears it
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")


def run(settings: dict[str, Any], limits: Limits | None = None) -> None:
    """Be the proxy; returns never. Tests start it with other limits."""
    import asyncio
    import encodings.idna
    import gc
    import socket
    import threading

    from host.egress.limits import Limits
    from host.egress.proxy import serve

    assert encodings.idna  # getaddrinfo() needs it, and imports it only then
    threading.stack_size(LOOKUP_STACK_BYTES)
    listener = socket.socket(fileno=settings["listen"])
    channel = socket.socket(fileno=settings["channel"])
    lock(settings["uid"])
    gc.freeze()
    asyncio.run(serve(listener, channel, limits or Limits()))


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.path[:0] = given["path"]
    sys.modules["ssl"] = None  # type: ignore[assignment] # asyncio does without: a fifth of the memory; nothing is decrypted
    run(given)
