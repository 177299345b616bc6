"""Calls of every number in a locked worker, and by a foreign ABI. What hostile code tries is in tests/escapes."""

from __future__ import annotations

import pytest

from host.sandbox import seccomp
from host.sandbox.launcher import SandboxConfig
from tests.sandbox.probe_runtime import attempt
from tests.sandbox.support import Conversation, conversation

# An unlocked process gets nowhere with these either, so they prove nothing by themselves: the kernel might one day let
# a pair do more. All that has a control is in tests/escapes.
NOWHERE = (  # expression
    pytest.param("socket.socketpair()[0].connect(abstract)", id="connect-a-pair-anew"),
    pytest.param("socket.socketpair()[0].listen()", id="listen-on-a-pair"),
    pytest.param("socket.socketpair()[0].sendto(b'x', abstract)", id="send-to-an-address"),
)


@pytest.mark.parametrize("source", NOWHERE)
def test_a_pair_of_sockets_stays_one(shared: Conversation, source: str) -> None:
    given = {"abstract": "\0capsdk-nobody"}
    assert attempt(source, -1, given)["errno"] != "EPERM"  # without the lock something else refuses it
    assert shared.ask(source, **given)["errno"] == "EPERM"
    shared.control()


# uretprobe and uprobe: newer kernels let no filter see them, and end a caller that is no probe with SIGILL.
PAST_EVERY_FILTER = frozenset({335, 336})


def test_every_system_call_in_no_table_is_refused(shared: Conversation) -> None:
    listed = {call.number for call in (*seccomp.ALLOWED, *seccomp.GUARDED, *seccomp.UNKNOWN)}
    source = """
result = {}
for number in numbers:
    try:
        result[number] = syscall(number, 0, 0, 0, 0, 0, 0)
    except OSError as error:
        result[number] = error.errno
result = json.dumps([n for n, outcome in result.items() if outcome != errno.EPERM])
"""
    shared.control()
    outcome = shared.ask(source, numbers=[n for n in range(512) if n not in listed | PAST_EVERY_FILTER])
    shared.control()
    assert outcome == {"value": "[]"}


FOREIGN_CALLS = (  # expression
    pytest.param("machine_code(bytes.fromhex('b814000000cd80c3'))", id="int80-getpid"),
    pytest.param("syscall(0x40000000 + 39)", id="x32-getpid"),
)


@pytest.mark.parametrize("source", FOREIGN_CALLS)
def test_a_call_by_a_foreign_abi_kills_the_worker(config: SandboxConfig, source: str) -> None:
    with conversation(config) as talk:
        # The same machine code with a native call answers, so what follows is not a crash of the attempt itself.
        assert talk.ask("machine_code(bytes.fromhex('b8270000000f05c3')) == os.getpid()") == {"value": "True"}
        talk.say(source)
        assert talk.ending() == "SIGSYS"
