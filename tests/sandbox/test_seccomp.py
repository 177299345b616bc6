"""The filter as a table: the program is run by a small interpreter, without a kernel."""

from __future__ import annotations

import struct

import pytest

from host.sandbox import seccomp
from host.sandbox.seccomp import ALLOWED, GUARDED, RET_ALLOW, RET_ENOSYS, RET_EPERM, RET_KILL_PROCESS, UNKNOWN

PROGRAM = seccomp.program()
FULL = 2**64 - 1


def verdict(number: int, *arguments: int, arch: int = seccomp.AUDIT_ARCH_X86_64) -> int:
    """What the program returns for one system call."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, arch, 0, *padded)
    accumulator = at = 0
    while True:
        code, k, jt, jf = PROGRAM[at]
        at += 1
        if code == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("=I", data, k)
        elif code == seccomp.AND:
            accumulator &= k
        elif code == seccomp.JUMP_EQUAL:
            at += jt if accumulator == k else jf
        elif code == seccomp.JUMP_GREATER_EQUAL:
            at += jt if accumulator >= k else jf
        else:
            assert code == seccomp.RETURN
            return k


@pytest.mark.parametrize("call", ALLOWED, ids=lambda call: call.name)
def test_a_listed_call_is_allowed_whatever_its_arguments(call: seccomp.Call) -> None:
    assert {verdict(call.number), verdict(call.number, *(FULL,) * 6)} == {RET_ALLOW}


def test_a_call_in_no_table_is_refused() -> None:
    listed = {call.number for call in (*ALLOWED, *GUARDED, *UNKNOWN)}
    assert {verdict(number) for number in range(2000) if number not in listed} == {RET_EPERM}


@pytest.mark.parametrize("call", UNKNOWN, ids=lambda call: call.name)
def test_a_call_that_has_an_older_form_is_unknown(call: seccomp.Call) -> None:
    assert verdict(call.number, FULL) == RET_ENOSYS


FOREIGN = (  # number, architecture
    pytest.param(20, 0x40000003, id="i386"),
    pytest.param(20, 0xC00000B7, id="aarch64"),
    pytest.param(0x40000000, seccomp.AUDIT_ARCH_X86_64, id="x32-read"),
    pytest.param(0x40000000 + 512, seccomp.AUDIT_ARCH_X86_64, id="x32-only"),
    pytest.param(0xFFFFFFFF, seccomp.AUDIT_ARCH_X86_64, id="minus-one"),
)


@pytest.mark.parametrize(("number", "arch"), FOREIGN)
def test_a_foreign_abi_kills_the_process(number: int, arch: int) -> None:
    assert verdict(number, arch=arch) == RET_KILL_PROCESS


AF_UNIX, AF_INET, STREAM, DGRAM, SEQPACKET, CLOEXEC, NONBLOCK = 1, 2, 1, 2, 5, 0o2000000, 0o4000
CPU_CLOCK_OF_1 = (~1 << 3 | 2) & FULL  # as clock_getcpuclockid(3) makes it
ARGUMENTS = (  # call, arguments, verdict
    pytest.param("socketpair", (AF_UNIX, STREAM), RET_ALLOW, id="pair-stream"),
    pytest.param("socketpair", (AF_UNIX, STREAM | CLOEXEC | NONBLOCK), RET_ALLOW, id="pair-stream-flags"),
    pytest.param("socketpair", (AF_UNIX, DGRAM), RET_EPERM, id="pair-dgram"),
    pytest.param("socketpair", (AF_UNIX, SEQPACKET | CLOEXEC), RET_EPERM, id="pair-seqpacket"),
    pytest.param("socketpair", (AF_INET, STREAM), RET_EPERM, id="pair-inet"),
    pytest.param("sendto", (3, 0x1000, 5, 0, 0, 0), RET_ALLOW, id="send"),
    pytest.param("sendto", (3, 0x1000, 5, 0, 0x2000, 16), RET_EPERM, id="sendto-address"),
    pytest.param("sendto", (3, 0x1000, 5, 0, 0x7F00_0000_0000, 16), RET_EPERM, id="sendto-address-high-half"),
    pytest.param("prlimit64", (0, 7, 0, 0x1000), RET_ALLOW, id="own-limit-read"),
    pytest.param("prlimit64", (0, 7, 0x1000, 0), RET_ALLOW, id="own-limit-set"),
    pytest.param("prlimit64", (1, 7, 0, 0x1000), RET_EPERM, id="limit-of-another"),
    pytest.param("clock_gettime", (1,), RET_ALLOW, id="monotonic-clock"),
    pytest.param("clock_gettime", (2,), RET_ALLOW, id="own-cpu-clock"),
    pytest.param("clock_gettime", (CPU_CLOCK_OF_1,), RET_EPERM, id="cpu-clock-of-another"),
    pytest.param("clock_getres", (11,), RET_ALLOW, id="resolution"),
    pytest.param("clock_getres", (CPU_CLOCK_OF_1,), RET_EPERM, id="resolution-of-another"),
    pytest.param("clock_nanosleep", (1, 1, 0x1000), RET_ALLOW, id="sleep-until"),
    pytest.param("clock_nanosleep", (CPU_CLOCK_OF_1, 0, 0x1000), RET_EPERM, id="sleep-by-the-clock-of-another"),
    pytest.param("getsockopt", (3, 1, 3, 0x1000), RET_ALLOW, id="socket-type"),
    pytest.param("getsockopt", (3, 1, 17, 0x1000), RET_EPERM, id="credentials-of-the-peer"),
    pytest.param("getsockopt", (3, 1, 77, 0x1000), RET_EPERM, id="process-of-the-peer"),
    pytest.param("getsockopt", (3, 6, 4, 0x1000), RET_EPERM, id="another-level"),
    pytest.param("sched_getaffinity", (0, 8, 0x1000), RET_ALLOW, id="own-processors"),
    pytest.param("sched_getaffinity", (1, 8, 0x1000), RET_EPERM, id="processors-of-another"),
    pytest.param("fcntl", (3, 4, 0o4000), RET_ALLOW, id="set-nonblocking"),
    pytest.param("fcntl", (3, 1030, 0), RET_ALLOW, id="duplicate"),
    pytest.param("fcntl", (3, 8, 1), RET_EPERM, id="set-owner"),
    pytest.param("fcntl", (3, 10, 9), RET_EPERM, id="set-signal"),
    pytest.param("fcntl", (3, 1033, 0), RET_EPERM, id="seals"),
    pytest.param("ioctl", (0, 0x5401), RET_ALLOW, id="isatty"),
    pytest.param("ioctl", (0, 0x5421), RET_ALLOW, id="nonblocking"),
    pytest.param("ioctl", (0, 0x5412), RET_EPERM, id="push-terminal-input"),
    pytest.param("ioctl", (3, 0x8901), RET_EPERM, id="socket-owner"),
    pytest.param("ioctl", (3, 0x5452), RET_EPERM, id="asynchronous-signals"),
    pytest.param("futex", (0x1000, 0 | 128), RET_ALLOW, id="wait-private"),
    pytest.param("futex", (0x1000, 9 | 128 | 256), RET_ALLOW, id="wait-until"),
    pytest.param("futex", (0x1000, 6), RET_EPERM, id="lock-with-priority-inheritance"),
    pytest.param("futex", (0x1000, 11 | 128), RET_EPERM, id="wait-requeue-pi"),
)


@pytest.mark.parametrize(("name", "arguments", "expected"), ARGUMENTS)
def test_a_guarded_call_depends_on_its_arguments(name: str, arguments: tuple[int, ...], expected: int) -> None:
    (number,) = (call.number for call in GUARDED if call.name == name)
    assert verdict(number, *arguments) == expected


def test_every_guarded_call_is_in_the_table_of_arguments() -> None:
    assert {call.name for call in GUARDED} == {row.values[0] for row in ARGUMENTS}


@pytest.mark.parametrize("table", [ALLOWED, GUARDED, UNKNOWN], ids=["allowed", "guarded", "unknown"])
def test_a_table_is_sorted_and_every_line_has_its_reason(table: tuple[seccomp.Call | seccomp.GuardedCall, ...]) -> None:
    names = [call.name for call in table]
    assert names == sorted(set(names))
    assert all(call.why for call in table)


def test_no_call_is_in_two_tables() -> None:
    numbers = [call.number for call in (*ALLOWED, *GUARDED, *UNKNOWN)]
    assert len(numbers) == len(set(numbers))


def test_the_program_is_encoded_as_the_kernel_reads_it() -> None:
    assert seccomp.encoded(PROGRAM[:2]) == bytes.fromhex("2000000004000000150001003e0000c0")
    assert len(PROGRAM) < 4096  # BPF_MAXINSNS
