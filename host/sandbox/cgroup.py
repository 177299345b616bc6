"""A cgroup (version 2) for each worker, where the system lets the host have some: bounds what rlimits do not see."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
OWN = Path("/proc/self/cgroup")
NEEDED = ("memory", "pids")
MIB = 1024 * 1024
KERNEL_MB = 64  # beside the memory that the run's limit counts: page tables, socket buffers
PIDS = 4  # the worker itself; it cannot start any
HOST, WORKER = "capsdk-host", "capsdk-worker"


class NotDelegated(Exception):
    """The host may not make groups of its own here; the message says why."""


class Groups:
    """The groups below the host's own. Raises NotDelegated when there can be none; nothing has been changed then.

    The host itself moves to a group beside its workers': a group with limits for its children holds no process
    (Documentation/admin-guide/cgroup-v2.rst, "no internal processes").
    """

    def __init__(self, needed: tuple[str, ...] = NEEDED) -> None:
        self._needed = needed
        self._own = _own_group(needed)
        self._host = self._own / HOST
        self._made: dict[int, Path] = {}
        try:
            self._host.mkdir(exist_ok=True)
            _write(self._host / "cgroup.procs", os.getpid())
            _write(self._own / "cgroup.subtree_control", " ".join(f"+{name}" for name in needed))
        except OSError as problem:
            self.close()
            raise NotDelegated(f"{self._own} cannot be divided: {problem.strerror}") from None

    def put(self, pid: int, memory_mb: int) -> None:
        """Give a worker a group of its own, before it is told what to run. Raises OSError."""
        self.sweep()
        group = self._own / f"{WORKER}-{os.getpid()}-{pid}"
        group.mkdir()
        self._made[pid] = group
        if "memory" in self._needed:
            _write(group / "memory.max", (memory_mb + KERNEL_MB) * MIB)
            with contextlib.suppress(OSError):  # a kernel without swap has no such file
                _write(group / "memory.swap.max", 0)
        if "pids" in self._needed:
            _write(group / "pids.max", PIDS)
        _write(group / "cgroup.procs", pid)

    def sweep(self) -> None:
        """Take away the groups of workers that are gone."""
        for pid, group in list(self._made.items()):
            with contextlib.suppress(OSError):  # it is still in there
                group.rmdir()
                del self._made[pid]

    def close(self) -> None:
        """Go back to where the host was, as far as that can be. Closing twice is fine."""
        self.sweep()
        with contextlib.suppress(OSError):
            _write(self._own / "cgroup.subtree_control", " ".join(f"-{name}" for name in self._needed))
        with contextlib.suppress(OSError):
            _write(self._own / "cgroup.procs", os.getpid())
            self._host.rmdir()


def _own_group(needed: tuple[str, ...]) -> Path:
    mount = next((place for place in MOUNTS if (place / "cgroup.controllers").is_file()), None)
    if mount is None:
        raise NotDelegated("there is no cgroup file system of version 2")
    named = [line[3:] for line in OWN.read_text().splitlines() if line.startswith("0::")]
    own = mount / named[0].lstrip("/") if named else mount
    try:
        controllers = (own / "cgroup.controllers").read_text().split()
    except OSError as problem:
        raise NotDelegated(f"{own} cannot be read: {problem.strerror}") from None
    missing = [name for name in needed if name not in controllers]
    if missing:
        raise NotDelegated(f"{own} has no controller for {' and '.join(missing)}")
    if own == mount:
        raise NotDelegated("the host is in the root group, which is the whole machine's")
    if not os.access(own / "cgroup.procs", os.W_OK):
        raise NotDelegated(f"{own} is not the host's to divide")
    return own


def _write(path: Path, value: int | str) -> None:
    path.write_text(f"{value}\n")
