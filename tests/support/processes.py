"""What /proc says about the processes that a test's hosts started; nothing of other people's is touched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def pids() -> list[int]:
    """All processes there are."""
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]


def read(pid: int, name: str) -> bytes:
    """A file of /proc/PID; empty when the process is gone."""
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def stat_fields(pid: int) -> list[str]:
    """The fields of proc_pid_stat(5) after the name: state, parent, process group, session, and so on."""
    return read(pid, "stat").rpartition(b")")[2].decode().split()


def command_line(pid: int) -> list[str]:
    """The words of a command line; Chromium's children write theirs anew, with spaces between."""
    words = [word.decode(errors="replace") for word in read(pid, "cmdline").split(b"\0") if word]
    return words[0].split(" ") if len(words) == 1 else words


def uids(pid: int) -> set[int]:
    """Real, effective, saved and file system uid."""
    for line in read(pid, "status").decode().splitlines():
        if line.startswith("Uid:"):
            return {int(word) for word in line.split()[1:]}
    return set()


def memory_kib(pid: int, name: str = "VmRSS") -> int:
    """A size of proc_pid_status(5) in KiB; `VmHWM` is the most that was ever resident."""
    for line in read(pid, "status").decode().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0


def alive(pid: int) -> bool:
    """Is the process there, and no zombie that its parent has not collected yet?"""
    fields = stat_fields(pid)
    return bool(fields) and fields[0] not in ("Z", "X")


def children() -> set[int]:
    """Processes that this one has started and not reaped."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended has none
            found |= set(map(int, (task / "children").read_text().split()))
    return found


def started_for(folder: Path) -> list[int]:
    """Living processes that name `folder` in their command line or environment, and those in their sessions.

    A host started by a test has it as TMPDIR, its keeper and Chromium as the profile's place. Chromium's children
    name it nowhere, but stay in the keeper's session.
    """
    mark = os.fsencode(folder)
    own_session = str(os.getsid(0))
    living = {
        pid: fields[3] for pid in pids() if pid != os.getpid() and (fields := stat_fields(pid)) and fields[0] != "Z"
    }
    named = {pid for pid in living if mark in read(pid, "cmdline") or mark in read(pid, "environ")}
    sessions = {living[pid] for pid in named} - {own_session}
    return sorted(named | {pid for pid, session in living.items() if session in sessions})


def chromium_of(folder: Path) -> list[int]:
    """The processes of Chromium among those, children included, without keepers and hosts."""
    return [pid for pid in started_for(folder) if "chrom" in (command_line(pid) or [""])[0].rpartition("/")[2]]


def browser_process(folder: Path) -> int:
    """The one Chromium process that has the others as children."""
    mains = [
        pid
        for pid in chromium_of(folder)
        if stat_fields(pid)[2:3] == [str(pid)] and "--type=" not in str(command_line(pid))
    ]
    (found,) = mains
    return found


def renderers(folder: Path) -> list[int]:
    """Chromium's page processes."""
    return [pid for pid in chromium_of(folder) if "--type=renderer" in command_line(pid)]


def wait_until(test: Callable[[], object], timeout_s: float, what: str) -> float:
    """Look every 20 ms until `test()` holds; the seconds it took. Fails the test after `timeout_s`."""
    start = time.monotonic()
    while not test():
        assert time.monotonic() - start < timeout_s, f"{what}: not within {timeout_s:g} s"
        time.sleep(0.02)
    return time.monotonic() - start
