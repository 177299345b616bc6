"""The parts of the lock that can be looked at one by one, and kernels that lack or fake one of them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from host.sandbox import lock
from host.sandbox.launcher import SandboxConfig, default_worker_uid
from tests.sandbox.support import wait_until_gone

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a uid to leave")
NOBODY = 65534


def report(kind: str, config: SandboxConfig) -> dict[str, Any]:
    """What `probe` says in a process that lacks something."""
    command = [sys.executable, str(HERE / "crippled.py"), kind, str(config.cache_dir)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_a_healthy_kernel_gives_a_sandbox(config: SandboxConfig) -> None:
    said = report("healthy", config)
    assert (said["available"], said["tier"], said["reasons"]) == (True, "noopen", [])
    assert said["worker_uid"] == (default_worker_uid() or os.geteuid())


def test_landlock_is_only_the_second_belt(config: SandboxConfig) -> None:
    said = report("no-landlock", config)
    assert (said["available"], said["landlock_abi"]) == (True, 0)


REFUSALS = (  # kind, what the reason names
    pytest.param("no-seccomp", "seccomp", id="no-seccomp"),
    pytest.param("pretended-seccomp", "SelfTestError", id="pretended-seccomp"),
    pytest.param("no-uid-change", "uid", id="no-uid-change", marks=only_root),
    pytest.param("pretended-uid-change", "SelfTestError", id="pretended-uid-change", marks=only_root),
)


@pytest.mark.parametrize(("kind", "named"), REFUSALS)
def test_without_a_part_of_the_lock_nothing_is_run(config: SandboxConfig, kind: str, named: str) -> None:
    said = report(kind, config)
    assert not said["available"]
    assert said["tier"] is None
    (reason,) = said["reasons"]
    assert named in reason


@pytest.mark.parametrize("machine", ["aarch64", "riscv64"])
def test_a_machine_without_a_table_is_refused(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(lock.LockError, match=machine):
        lock.check_machine()


@only_root
@pytest.mark.parametrize("uid", [None, 0])
def test_root_has_to_become_somebody_else(uid: int | None) -> None:
    with pytest.raises(lock.LockError):
        lock.become(uid)


def run_apart(source: str, **options: Any) -> str:
    """The output of a process that may lock itself."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{source}"
    command = [options.pop("python", sys.executable), "-c", code]
    output: str = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True, **options).stdout
    return output.strip()


def test_landlock_alone_closes_files_and_network() -> None:
    source = """
import errno, os, socket
from host.sandbox import lock
listener = socket.create_server(("127.0.0.1", 0))
lock._prctl(lock.PR_SET_NO_NEW_PRIVS, 1, what="no_new_privs")
abi = lock.landlock()
def outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
print(abi > 0, outcome(lambda: os.open("/etc/passwd", os.O_RDONLY)), outcome(lambda: os.listdir("/")),
      outcome(lambda: socket.create_connection(listener.getsockname())) if abi >= lock.NETWORK_ABI else "EACCES",
      sum(range(10)))
"""
    said = run_apart(source)
    if said.startswith("False"):
        pytest.skip("this kernel has no Landlock")
    assert said == "True EACCES EACCES EACCES 45"


def test_a_lower_hard_limit_stays() -> None:
    source = """
import resource
from host.sandbox import lock
resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
lock.limit(lock.Limits(open_files=64))
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    assert run_apart(source) == "(30, 30)"


def test_a_worker_ends_when_its_host_is_already_gone() -> None:
    source = "from host.sandbox import lock\nlock.die_with(1 << 22)"
    done = subprocess.run([sys.executable, "-c", source], cwd=ROOT, timeout=20, check=False)
    assert done.returncode == lock.PARENT_GONE_EXIT


def test_killing_the_host_leaves_no_worker(either: SandboxConfig) -> None:
    command = [sys.executable, str(HERE / "doomed_host.py"), str(either.cache_dir), either.tiers[0]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        pid = int(host.stdout.readline())
        assert not wait_until_gone(pid, timeout_s=0.3), "it is busy while its host lives"
        host.kill()
    assert wait_until_gone(pid, timeout_s=2.0)


@only_root
def test_an_ordinary_user_has_a_sandbox_too(tmp_path: Path) -> None:
    source = f"""
import asyncio, pathlib
from host.sandbox.launcher import choose
from tests.sandbox.support import probe_config
said = asyncio.run(choose(probe_config(pathlib.Path({str(tmp_path / "unreachable")!r}))))
print(said.available, said.tier, said.worker_uid, *said.reasons)
"""
    user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "env": {}, "cwd": "/"}
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            run_apart("import asyncio, host.sandbox.launcher; asyncio.timeout", python=python, **user)
        except (OSError, subprocess.CalledProcessError):
            continue  # in a home folder that is closed to others, or too old
        assert run_apart(source, python=python, **user) == f"True noopen {NOBODY}"
        return
    pytest.skip("no Python that an ordinary user can run")
