"""Private memory and children of processes, from /proc; nothing that needs a package."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

PRIVATE = re.compile(rb"^Private_\w+:\s+(\d+) kB$", re.MULTILINE)
MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)$")
PROC = Path("/proc")


def private_bytes(pid: int) -> int:
    """The memory that would be free if the process ended (its unique set size). Raises OSError when it is not told."""
    return sum(int(kb) for kb in PRIVATE.findall((PROC / str(pid) / "smaps_rollup").read_bytes())) * 1024


def private_bytes_of(pids: Sequence[int]) -> int:
    """The same of several processes; one that ended or may not be looked at counts as nothing."""
    total = 0
    for pid in pids:
        try:
            total += private_bytes(pid)
        except OSError:
            continue
    return total


def private_by_mapping(pid: int) -> list[tuple[str, int]]:
    """The same by what is mapped, largest first: files by their names, memory of no file as "no file"."""
    found: Counter[str] = Counter()
    name = ""
    for line in (PROC / str(pid) / "smaps").read_text(encoding="utf-8", errors="replace").splitlines():
        mapping = MAPPING.match(line)
        if mapping is not None:
            name = mapping[1].rpartition("/")[2] or "no file"
        elif line.startswith("Private_") and "Hugetlb" not in line:
            found[name] += int(line.split()[1]) * 1024
    return found.most_common()


def parents() -> dict[int, int]:
    """The parent of each process that is there."""
    found = {}
    for name in os.listdir(PROC):
        if name.isdigit():
            try:
                # the name in parentheses may hold anything; state and parent come after the last one
                after_name = (PROC / name / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            found[int(name)] = int(after_name[1])
    return found


def descendants_of(pid: int) -> list[int]:
    """The processes that this one started, and those that they did, and that are still there."""
    known = parents()
    found: list[int] = []
    latest = {pid}
    while latest:
        latest = {child for child, parent in known.items() if parent in latest}
        found += latest
    return sorted(found)


def children_of(pid: int) -> list[int]:
    """The processes that this one started and that are still there."""
    return sorted(child for child, parent in parents().items() if parent == pid)
