"""What a worker may use up, and how it ends when that is not enough for it."""

from __future__ import annotations

import time

import pytest

from host.sandbox.launcher import SandboxConfig
from host.sandbox.lock import Limits
from tests.sandbox.support import Conversation, conversation

IGNORE_ALL = "[signal.signal(s, lambda *a: None) for s in range(1, 32) if s not in (9, 19)]"
BUSY_LOOPS = (  # statements, ending
    pytest.param("while True: pass", "SIGXCPU", id="plain"),
    pytest.param(f"{IGNORE_ALL}\nwhile True: pass", "SIGKILL", id="ignoring-signals"),
    pytest.param("import re; re.match('(a+)+$', 'a' * 64 + 'b')", "SIGXCPU", id="inside-c-code"),
)


@pytest.mark.parametrize(("source", "ending"), BUSY_LOOPS)
def test_a_busy_loop_ends_at_the_cpu_limit(either: SandboxConfig, source: str, ending: str) -> None:
    with conversation(either, limits=Limits(cpu_s=1)) as talk:
        began = time.monotonic()
        talk.say(source)
        assert talk.ending() == ending
        assert time.monotonic() - began < 8  # 2 s of CPU on a busy machine


def test_memory_ends_in_an_error_at_the_limit_and_the_worker_goes_on(config: SandboxConfig) -> None:
    source = """
kept, result = [], 0
try:
    while result < 4096:
        kept.append(b"x" * (16 << 20))
        result += 16
except MemoryError:
    kept.clear()
"""
    with conversation(config, limits=Limits(memory_mb=256)) as talk:
        assert talk.ask("bytearray(10 << 30)")["error"] == "MemoryError"
        assert 64 <= int(talk.ask(source)["value"]) <= 256
        talk.control()


def test_descriptors_end_at_the_limit(config: SandboxConfig) -> None:
    source = """
kept = []
try:
    while len(kept) < 1000:
        kept.append(os.dup(0))
except OSError as error:
    result = [errno.errorcode[error.errno], len(kept)]
for each in kept:
    os.close(each)
"""
    with conversation(config, limits=Limits(open_files=20)) as talk:
        assert talk.ask(source) == {"value": "['EMFILE', 16]"}
        talk.control()


def test_a_crash_of_the_interpreter_is_told_by_its_signal(either: SandboxConfig) -> None:
    with conversation(either) as talk:
        talk.say("ctypes.string_at(0)")
        assert talk.ending() == "SIGSEGV"


OWN_LIMITS = """
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 400 << 20))
result = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
"""


def test_a_worker_may_lower_its_own_limits_and_not_raise_them(either: SandboxConfig) -> None:
    with conversation(either) as talk:
        lowered = OWN_LIMITS[: OWN_LIMITS.rindex("resource.setrlimit")]
        assert talk.ask(lowered) == {"value": str((300 << 20, 400 << 20))}
        assert talk.ask(OWN_LIMITS)["error"] == "ValueError"  # what Python makes of EPERM


RESOURCES = (  # limit, soft and hard value with the default limits
    pytest.param("RLIMIT_AS", "(536870912, 536870912)", id="memory"),
    pytest.param("RLIMIT_CORE", "(0, 0)", id="core-dump"),
    pytest.param("RLIMIT_CPU", "(10, 11)", id="cpu"),
    pytest.param("RLIMIT_FSIZE", "(0, 0)", id="file-size"),
    pytest.param("RLIMIT_NOFILE", "(64, 64)", id="descriptors"),
    pytest.param("RLIMIT_NPROC", "(0, 0)", id="processes"),
)


@pytest.mark.parametrize(("name", "values"), RESOURCES)
def test_every_limit_is_in_force(shared: Conversation, name: str, values: str) -> None:
    assert shared.ask(f"resource.getrlimit(resource.{name})") == {"value": values}
