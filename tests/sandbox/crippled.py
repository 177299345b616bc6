"""Run as `python crippled.py KIND CACHE_DIR`: prints what `probe` reports on a kernel that lacks or fakes something."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import struct
import sys
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from host.sandbox.launcher import choose
from host.sandbox.seccomp import ARGUMENTS_AT, JUMP_EQUAL, LOAD, NUMBER_AT, RET_ALLOW, RETURN, Instruction, encoded
from tests.sandbox.support import probe_config

RET_ERRNO = 0x00050000


class Cripple(NamedTuple):
    """A system call (with this first argument, if any) that answers `errno`; 0 pretends that it was done."""

    number: int
    first_argument: int | None
    errno: int


KINDS = {
    "healthy": None,
    "no-landlock": Cripple(444, None, errno.ENOSYS),
    "no-seccomp": Cripple(157, 22, errno.EINVAL),
    "no-uid-change": Cripple(117, None, errno.EPERM),
    "pretended-seccomp": Cripple(157, 22, 0),
    "pretended-uid-change": Cripple(117, None, 0),
}


def cripple(what: Cripple) -> None:
    """For this process and all it starts."""
    code = [Instruction(LOAD, NUMBER_AT), Instruction(JUMP_EQUAL, what.number, jt=1), Instruction(RETURN, RET_ALLOW)]
    if what.first_argument is not None:
        code += [Instruction(LOAD, ARGUMENTS_AT), Instruction(JUMP_EQUAL, what.first_argument, jt=1)]
        code += [Instruction(RETURN, RET_ALLOW)]
    code += [Instruction(RETURN, RET_ERRNO | what.errno)]
    instructions = ctypes.create_string_buffer(encoded(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(instructions)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, program, 0, 0) == 0


if __name__ == "__main__":
    if (wanted := KINDS[sys.argv[1]]) is not None:
        cripple(wanted)
    print(json.dumps(asdict(asyncio.run(choose(probe_config(Path(sys.argv[2])))))))
