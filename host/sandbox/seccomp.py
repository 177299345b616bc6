"""Which system calls a locked worker may make (x86-64), and the BPF program that says so. Pure: applies nothing."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple


class Call(NamedTuple):
    """A system call allowed whatever its arguments are."""

    name: str
    number: int
    why: str


class ArgumentRule(NamedTuple):
    """One argument of a guarded call: after `mask` it has to be one of `allowed`.

    `wide` looks at all 64 bits (pointers); otherwise the kernel itself takes the lower 32 only (C `int`).
    """

    position: int
    allowed: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    wide: bool = False


class GuardedCall(NamedTuple):
    """A system call allowed only when every rule holds."""

    name: str
    number: int
    rules: tuple[ArgumentRule, ...]
    why: str


# Numbers: Linux arch/x86/entry/syscalls/syscall_64.tbl. What is in no table is EPERM: no call here takes a path,
# makes a socket that can leave the process, a process, a thread, or a descriptor for another process.
# Left out on purpose although they look harmless: statx (takes a path), recvmsg (receives descriptors),
# tgkill (reaches other processes), pread64 and the like (there are no files).
ALLOWED = (
    Call("brk", 12, "malloc"),
    Call("close", 3, "own descriptors"),
    Call("close_range", 436, "own descriptors"),
    Call("dup", 32, "own descriptors"),
    Call("dup2", 33, "own descriptors"),
    Call("dup3", 292, "own descriptors"),
    Call("epoll_create1", 291, "the event loop"),
    Call("epoll_ctl", 233, "the event loop"),
    Call("epoll_pwait", 281, "the event loop"),
    Call("epoll_pwait2", 441, "the event loop"),
    Call("epoll_wait", 232, "the event loop"),
    Call("eventfd2", 290, "a counter inside the process"),
    Call("exit", 60, "the end"),
    Call("exit_group", 231, "the end"),
    Call("fstat", 5, "own descriptors"),
    Call("getcwd", 79, "always /"),
    Call("getegid", 108, "the dedicated gid"),
    Call("geteuid", 107, "the dedicated uid"),
    Call("getgid", 104, "the dedicated gid"),
    Call("getpeername", 52, "asyncio asks every socket"),
    Call("getpid", 39, "random seeds and logging"),
    Call("getrandom", 318, "os.urandom, uuid, secrets"),
    Call("getrlimit", 97, "own limits"),
    Call("getrusage", 98, "own CPU time"),
    Call("getsockname", 51, "asyncio asks every socket"),
    Call("gettid", 186, "locks of glibc"),
    Call("gettimeofday", 96, "time, where the vDSO cannot answer"),
    Call("getuid", 102, "the dedicated uid"),
    Call("lseek", 8, "io probes descriptors with it"),
    Call("madvise", 28, "malloc gives memory back"),
    Call("mmap", 9, "malloc; a descriptor to map cannot be had"),
    Call("mprotect", 10, "malloc; closures of ctypes"),
    Call("mremap", 25, "realloc"),
    Call("munmap", 11, "free"),
    Call("nanosleep", 35, "sleep of older libraries"),
    Call("pipe2", 293, "inside the process"),
    Call("poll", 7, "selectors"),
    Call("ppoll", 271, "selectors"),
    Call("pselect6", 270, "selectors"),
    Call("read", 0, "own descriptors"),
    Call("readv", 19, "own descriptors"),
    Call("recvfrom", 45, "socket.recv"),
    Call("restart_syscall", 219, "the kernel resumes a sleep with it"),
    Call("rseq", 334, "glibc 2.35 registers with it"),
    Call("rt_sigaction", 13, "asyncio.run handles SIGINT"),
    Call("rt_sigprocmask", 14, "own signal mask"),
    Call("rt_sigreturn", 15, "the end of a signal handler"),
    Call("sched_yield", 24, "time.sleep(0)"),
    Call("select", 23, "selectors"),
    Call("sendmsg", 46, "asyncio of 3.12 and later; only stream pairs exist, which take no address"),
    Call("shutdown", 48, "own socket pairs"),
    Call("sigaltstack", 131, "own stack"),
    Call("times", 100, "own CPU time"),
    Call("uname", 63, "platform; nothing that is secret"),
    Call("write", 1, "own descriptors"),
    Call("writev", 20, "glibc's last words"),
)

# Clocks of the system, of this process and of this thread; any other number is the CPU clock of some process.
CLOCKS = ArgumentRule(0, (0, 1, 2, 3, 4, 5, 6, 7, 11))

GUARDED = (
    GuardedCall("clock_getres", 229, (CLOCKS,), "time.get_clock_info"),
    GuardedCall("clock_gettime", 228, (CLOCKS,), "time, where the vDSO cannot answer"),
    GuardedCall("clock_nanosleep", 230, (CLOCKS,), "time.sleep"),
    # Without this F_SETOWN + F_SETSIG sends any signal to any process of the same uid.
    GuardedCall(
        "fcntl", 72, (ArgumentRule(1, (0, 1, 2, 3, 4, 1030)),), "DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC"
    ),
    # WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAIT_BITSET, WAKE_BITSET: no priority inheritance, nobody needs it.
    GuardedCall("futex", 202, (ArgumentRule(1, (0, 1, 3, 4, 5, 9, 10), mask=0x7F),), "locks; flags are masked away"),
    GuardedCall(
        "getsockopt",
        55,
        (ArgumentRule(1, (1,)), ArgumentRule(2, (3, 4, 7, 8, 38, 39))),
        "SO_TYPE, ERROR, SNDBUF, RCVBUF, PROTOCOL, DOMAIN; so no SO_PEERCRED, and no SO_PEERPIDFD of the host",
    ),
    GuardedCall(
        "ioctl",
        16,
        (ArgumentRule(1, (0x5401, 0x541B, 0x5421, 0x5450, 0x5451)),),
        "TCGETS (isatty), FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; so no TIOCSTI and no FIOSETOWN",
    ),
    GuardedCall(
        "prlimit64",
        302,
        (ArgumentRule(0, (0,)),),
        "its own limits: what it has been given it can only lower, without a capability",
    ),
    # With a number it tells whether that process exists.
    GuardedCall("sched_getaffinity", 204, (ArgumentRule(0, (0,)),), "os.cpu_count; its own only"),
    GuardedCall("sendto", 44, (ArgumentRule(4, (0,), wide=True),), "socket.send: never with an address"),
    # A datagram pair could send to an abstract address of the host. The mask drops SOCK_CLOEXEC and SOCK_NONBLOCK.
    GuardedCall(
        "socketpair", 53, (ArgumentRule(0, (1,)), ArgumentRule(1, (1,), mask=0xFFF7F7FF)), "AF_UNIX, SOCK_STREAM"
    ),
)

# glibc falls back to the older call only when it hears ENOSYS.
UNKNOWN = (
    Call("clone3", 435, "then clone, which is EPERM"),
    Call("openat2", 437, "then openat, which is EPERM"),
)

RET_ALLOW = 0x7FFF0000
RET_EPERM = 0x00050001
RET_ENOSYS = 0x00050026
RET_KILL_PROCESS = 0x80000000
AUDIT_ARCH_X86_64 = 0xC000003E
X32_BIT = 0x40000000

LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER_AT, ARCH_AT, ARGUMENTS_AT = 0, 4, 16  # offsets in struct seccomp_data


class Instruction(NamedTuple):
    """One `struct sock_filter`; jumps count from the next instruction."""

    code: int
    k: int
    jt: int = 0
    jf: int = 0


def program() -> tuple[Instruction, ...]:
    """The whole filter. A foreign ABI (int 0x80, x32) kills the process; all that is not listed is EPERM."""
    code = [
        Instruction(LOAD, ARCH_AT),
        Instruction(JUMP_EQUAL, AUDIT_ARCH_X86_64, jt=1),
        Instruction(RETURN, RET_KILL_PROCESS),
        Instruction(LOAD, NUMBER_AT),
        Instruction(JUMP_GREATER_EQUAL, X32_BIT, jf=1),
        Instruction(RETURN, RET_KILL_PROCESS),
    ]
    for guarded in GUARDED:
        code += _guarded(guarded)
    for call in ALLOWED:
        code += [Instruction(JUMP_EQUAL, call.number, jf=1), Instruction(RETURN, RET_ALLOW)]
    for call in UNKNOWN:
        code += [Instruction(JUMP_EQUAL, call.number, jf=1), Instruction(RETURN, RET_ENOSYS)]
    return (*code, Instruction(RETURN, RET_EPERM))


def encoded(code: Sequence[Instruction]) -> bytes:
    """The program as the kernel reads it: an array of `struct sock_filter`."""
    return b"".join(struct.pack("HBBI", each.code, each.jt, each.jf, each.k) for each in code)


def _guarded(call: GuardedCall) -> list[Instruction]:
    # Built from its end: what holds falls through to the next rule, what does not jumps to the EPERM.
    block = [Instruction(RETURN, RET_ALLOW), Instruction(RETURN, RET_EPERM)]
    for rule in reversed(call.rules):
        block = _rule(rule, block)
    return [Instruction(JUMP_EQUAL, call.number, jf=len(block)), *block]


def _rule(rule: ArgumentRule, rest: list[Instruction]) -> list[Instruction]:
    at = ARGUMENTS_AT + 8 * rule.position
    block = list(rest)
    for tried, value in enumerate(reversed(rule.allowed)):
        refuse = len(rest) - 1 if tried == 0 else 0
        block.insert(0, Instruction(JUMP_EQUAL, value, jt=tried, jf=refuse))
    if rule.mask != 0xFFFFFFFF:
        block.insert(0, Instruction(AND, rule.mask))
    block.insert(0, Instruction(LOAD, at))
    if rule.wide:
        block = [Instruction(LOAD, at + 4), Instruction(JUMP_EQUAL, 0, jf=len(block) - 1), *block]
    return block
