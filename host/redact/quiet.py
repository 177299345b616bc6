"""The redactor's lock: no network from its first line on, and no rights of the host's once everything is loaded."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2
LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, EPERM, KILL = 0x7FFF0000, 0x00050001, 0x80000000
X32_BIT = 0x40000000

# socket(2) and io_uring_setup(2): include/uapi/linux/audit.h and the system call tables of the kernel. Who has no
# socket has no network; the pair to the host was made before.
REFUSED = {"x86_64": (0xC000003E, (41, 425)), "aarch64": (0xC00000B7, (198, 425))}

_libc = ctypes.CDLL(None, use_errno=True)


def no_network() -> None:
    """From now on neither this process nor any that it starts can make a socket. Raises OSError."""
    arch, numbers = REFUSED.get(platform.machine(), (0, ()))
    if not numbers:
        raise OSError(f"no filter is known for {platform.machine()}")
    code = [(LOAD, 0, 0, 4), (JUMP_EQUAL, 1, 0, arch), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    code += [(JUMP_GREATER_EQUAL, 0, 1, X32_BIT), (RETURN, 0, 0, EPERM)]
    for number in numbers:
        code += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, EPERM)]
    code.append((RETURN, 0, 0, ALLOW))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_))


def dies_with_the_host() -> None:
    """It ends with its host, however that ends, and leaves no core; signals to the terminal's group are the host's."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def become(uid: int | None) -> None:
    """The host's rights go, for good. Raises OSError."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of uid clears it


def _prctl(option: int, *arguments: int) -> None:
    padded = (*(ctypes.c_ulong(one) for one in arguments), *(ctypes.c_ulong(0),) * (4 - len(arguments)))
    if _libc.prctl(option, *padded):
        raise OSError(ctypes.get_errno(), f"prctl {option}")
