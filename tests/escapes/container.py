"""A container's walls, without a container: what Docker's default profile takes away, done to this very process.

From the public profile of moby (`profiles/seccomp/default.json`, capabilities of `oci/caps/defaults.go`), x86-64: no
CAP_SYS_ADMIN, no new namespaces, no mounts, none of the calls that need privileges. An emulation: the real thing also
has another root folder and cgroups, so one run in a real container stays owed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from host.sandbox.seccomp import (
    AND,
    ARGUMENTS_AT,
    JUMP_EQUAL,
    LOAD,
    NUMBER_AT,
    RET_ALLOW,
    RETURN,
    Instruction,
    encoded,
)

RET_ERRNO = 0x00050000
CAPBSET_DROP, SECCOMP, FILTER, NO_NEW_PRIVS = 24, 22, 2, 38
CAPSET, LAST_CAPABILITY, VERSION_3 = 126, 63, 0x20080522
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod,
# audit_write, setfcap
KEPT = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31})
NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET
CLONE = 56
REFUSED = {  # number: errno
    103: errno.EPERM,  # syslog
    155: errno.EPERM,  # pivot_root
    165: errno.EPERM,  # mount
    166: errno.EPERM,  # umount2
    248: errno.EPERM,  # add_key
    249: errno.EPERM,  # request_key
    250: errno.EPERM,  # keyctl
    272: errno.EPERM,  # unshare
    298: errno.EPERM,  # perf_event_open
    304: errno.EPERM,  # open_by_handle_at
    308: errno.EPERM,  # setns
    321: errno.EPERM,  # bpf
    323: errno.EPERM,  # userfaultfd
    425: errno.EPERM,  # io_uring_setup
    428: errno.EPERM,  # open_tree
    429: errno.EPERM,  # move_mount
    430: errno.EPERM,  # fsopen
    435: errno.ENOSYS,  # clone3, as its flags cannot be read by a filter
    442: errno.EPERM,  # mount_setattr
}


def enter() -> None:
    """From here on this process, and all that it starts, has what a container has."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(LAST_CAPABILITY + 1):
        if capability not in KEPT:
            libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)
    if os.geteuid() == 0:
        low = sum(1 << capability for capability in KEPT)
        kept = struct.pack("6I", low, low, 0, 0, 0, 0)
        assert libc.syscall(CAPSET, struct.pack("Ii", VERSION_3, 0), kept) == 0
    code = program()
    instructions = ctypes.create_string_buffer(encoded(code))
    sock_fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(instructions)))
    assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(SECCOMP, FILTER, sock_fprog, 0, 0) == 0


def program() -> list[Instruction]:
    """The filter: listed calls are refused, clone only with a new namespace."""
    code = [Instruction(LOAD, NUMBER_AT)]
    for number, why in sorted(REFUSED.items()):
        code += [Instruction(JUMP_EQUAL, number, jf=1), Instruction(RETURN, RET_ERRNO | why)]
    code += [Instruction(JUMP_EQUAL, CLONE, jf=4), Instruction(LOAD, ARGUMENTS_AT), Instruction(AND, NEW_NAMESPACES)]
    code += [Instruction(JUMP_EQUAL, 0, jt=1), Instruction(RETURN, RET_ERRNO | errno.EPERM)]
    return [*code, Instruction(RETURN, RET_ALLOW)]
