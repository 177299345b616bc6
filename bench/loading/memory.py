"""What a proxy holds: memory now and at its most, from /proc."""

from __future__ import annotations

import re

from bench.memory import PROC, children_of, private_bytes

FIELD = re.compile(rb"^(VmHWM|VmRSS):\s+(\d+) kB$", re.MULTILINE)
OF_A_PROXY = b"/host/egress/"


def memory_of(pid: int) -> dict[str, int]:
    """`private` and `rss` now, and `peak`, the most that its RSS ever was; bytes. Raises OSError when it is gone."""
    found = {name: int(kb) * 1024 for name, kb in FIELD.findall((PROC / str(pid) / "status").read_bytes())}
    return {"private": private_bytes(pid), "rss": found[b"VmRSS"], "peak": found[b"VmHWM"]}


def proxy_of(host: int) -> int:
    """The proxy that a host started. Raises ProcessLookupError when there is none."""
    for pid in children_of(host):
        if OF_A_PROXY in (PROC / str(pid) / "cmdline").read_bytes():
            return pid
    raise ProcessLookupError(f"process {host} has no proxy; open a session first")
