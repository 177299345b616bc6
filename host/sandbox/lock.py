"""The inner lock: what a worker gives up, for good and before it reads an untrusted byte. Standard library only."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from host.sandbox import seccomp

KIB = 1024
MIB = 1024 * KIB
PARENT_GONE_EXIT = 71

# prctl(2) and capability.h
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
SECCOMP_MODE_FILTER, PR_CAP_AMBIENT_CLEAR_ALL, CAPABILITY_VERSION_3, LAST_CAPABILITY = 2, 4, 0x20080522, 63

# landlock(7): the numbers are the same on every machine; each ABI knows more rights than the one before.
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF, LANDLOCK_VERSION = 444, 446, 1
FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}  # number of file rights; 16 from ABI 5 on
NETWORK_ABI, NETWORK_RIGHTS = 4, 0b11  # TCP bind and connect
SCOPE_ABI, SCOPES = 6, 0b11  # abstract Unix sockets and signals


class LockError(RuntimeError):
    """A demanded part of the lock cannot be had here; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one worker may use up. CPU: SIGXCPU at `cpu_s`, SIGKILL one second later."""

    memory_mb: int = 512
    cpu_s: int = 10
    open_files: int = 64
    file_kb: int = 0


class ResourceLimit(NamedTuple):
    """One rlimit: soft and hard value for the worker's `Limits`."""

    name: str
    values: Callable[[Limits], tuple[int, int]]
    why: str


RESOURCE_LIMITS = (
    ResourceLimit("RLIMIT_AS", lambda of: (of.memory_mb * MIB,) * 2, "ends in MemoryError, not in the host's swap"),
    ResourceLimit("RLIMIT_CORE", lambda of: (0, 0), "a dump would carry the owner's data"),
    ResourceLimit("RLIMIT_CPU", lambda of: (of.cpu_s, of.cpu_s + 1), "ends a busy loop, also when the host is gone"),
    ResourceLimit("RLIMIT_FSIZE", lambda of: (of.file_kb * KIB,) * 2, "there are no files"),
    ResourceLimit("RLIMIT_MEMLOCK", lambda of: (0, 0), "nothing is pinned"),
    ResourceLimit("RLIMIT_MSGQUEUE", lambda of: (0, 0), "no queues"),
    ResourceLimit("RLIMIT_NOFILE", lambda of: (of.open_files,) * 2, "descriptors"),
    ResourceLimit("RLIMIT_NPROC", lambda of: (0, 0), "no process and no thread"),
)

_libc = ctypes.CDLL(None, use_errno=True)


def lock(*, uid: int | None, limits: Limits, parent_pid: int) -> int:
    """Lock this process for good; returns the Landlock ABI in force (0: none, it is only the second belt).

    `uid` is the dedicated user to become when root. Ends the process when `parent_pid` is no longer its parent.
    Raises LockError; the process is then half locked and has to end.
    """
    check_machine()
    become(uid)
    limit(limits)
    _prctl(PR_SET_DUMPABLE, 0, what="not dumpable")
    _prctl(PR_SET_NO_NEW_PRIVS, 1, what="no_new_privs")
    drop_capabilities()
    die_with(parent_pid)
    abi = landlock()
    filter_calls()
    return abi


def check_machine() -> None:
    """Raises LockError unless this is Linux on x86-64, the only machine there is a table of system calls for."""
    machine = platform.machine()
    if platform.system() != "Linux" or machine != "x86_64":
        raise LockError(f"no table of system calls for {platform.system()} on {machine}; use Linux on x86-64")


def become(uid: int | None) -> None:
    """Leave root for `uid` (also the gid), without supplementary groups. Raises LockError when that cannot be had."""
    if os.geteuid() != 0 and uid is None:
        return
    if not uid:
        raise LockError("started as root without a dedicated uid to become; set one above 0")
    for capability in range(LAST_CAPABILITY + 1):  # the bounding set can only be emptied while still root
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for capabilities that this kernel does not know
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError as error:
        raise LockError(f"cannot become uid {uid}: {error}") from error


def limit(limits: Limits) -> None:
    """Set every resource limit; a lower hard limit that is already there stays."""
    for each in RESOURCE_LIMITS:
        kind = getattr(resource, each.name)
        ceiling = resource.getrlimit(kind)[1]
        soft, hard = (v if ceiling == resource.RLIM_INFINITY else min(v, ceiling) for v in each.values(limits))
        resource.setrlimit(kind, (soft, hard))


def drop_capabilities() -> None:
    """Give up every capability. Raises LockError."""
    _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)  # unknown to kernels before 4.3, which have none
    if _libc.capset(struct.pack("Ii", CAPABILITY_VERSION_3, 0), bytes(24)):
        raise LockError(f"capset: {_last_error()}")


def die_with(parent_pid: int) -> None:
    """SIGKILL when the parent's spawning thread ends. Has to come after the uid change, which resets it."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, what="death signal")
    if os.getppid() != parent_pid:  # it died before we asked
        os._exit(PARENT_GONE_EXIT)


def landlock() -> int:
    """Handle every right this kernel knows and grant none; returns the ABI, 0 when there is no Landlock here."""
    abi = int(_libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), LANDLOCK_VERSION))
    if abi < 1:
        return 0
    files = (1 << FILE_RIGHTS_BY_ABI.get(abi, 16)) - 1
    fields = [files, NETWORK_RIGHTS, SCOPES][: 1 + (abi >= NETWORK_ABI) + (abi >= SCOPE_ABI)]
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = int(_libc.syscall(LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    if ruleset < 0:
        return 0
    try:
        return abi if _libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0 else 0
    finally:
        os.close(ruleset)


def filter_calls() -> None:
    """From here on only the calls of the table. Raises LockError: there is no sandbox without it."""
    code = seccomp.program()
    instructions = ctypes.create_string_buffer(seccomp.encoded(code))
    sock_fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(instructions)))
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, sock_fprog, what="seccomp")


def _prctl(option: int, *arguments: int | ctypes.Array[ctypes.c_char], what: str) -> None:
    padded = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in (*arguments, *(0,) * (4 - len(arguments)))]
    if _libc.prctl(option, *padded):
        raise LockError(f"{what}: {_last_error()}")


def _last_error() -> str:
    return os.strerror(ctypes.get_errno())
