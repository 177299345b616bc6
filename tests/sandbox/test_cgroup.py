"""Groups for workers: on the kernel's own file system as far as it goes here, and on folders that look like one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.sandbox import cgroup
from host.sandbox.cgroup import Groups, NotDelegated

MIB = 1024 * 1024
UNIFIED = next((place for place in cgroup.MOUNTS if (place / "cgroup.controllers").is_file()), None)
IN_A_GROUP = """
import os, subprocess, sys
from pathlib import Path
from host.sandbox.cgroup import Groups
with open(sys.argv[1] + "/cgroup.procs", "w") as file:
    file.write(str(os.getpid()))
groups = Groups(needed=())
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
groups.put(child.pid, 100)
def group_of(pid):
    return next(line[3:] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0::"))
inside = group_of(child.pid), group_of(os.getpid())
child.communicate(b"\\n")
groups.close()
print(*inside, group_of(os.getpid()), *sorted(path.name for path in Path(sys.argv[1]).iterdir() if path.is_dir()))
"""


@pytest.fixture
def real() -> Iterator[Path]:
    """A group of the kernel's, which the test may divide."""
    if UNIFIED is None:
        pytest.skip("no cgroup file system of version 2 here")
    made = UNIFIED / f"capsdk-test-{os.getpid()}"
    try:
        made.mkdir()
    except OSError as problem:
        pytest.skip(f"no group can be made here: {problem.strerror}")
    yield made
    made.rmdir()


def test_a_worker_gets_a_group_and_nothing_is_left_of_it(real: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", IN_A_GROUP, str(real)]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=20, check=True).stdout.split()
    worker, host, afterwards, *left = said
    assert worker.startswith(f"/{real.name}/capsdk-worker-")
    assert host == f"/{real.name}/capsdk-host"
    assert (afterwards, left) == (f"/{real.name}", [])


@pytest.fixture
def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders that look like a delegated group; where the kernel has the controllers they are its own."""
    own = tmp_path / "user.slice" / "capsdk.service"
    own.mkdir(parents=True)
    for folder in (tmp_path, own):
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
        (folder / "cgroup.procs").write_text("")
        (folder / "cgroup.subtree_control").write_text("")
    named = tmp_path / "own"
    named.write_text("4:memory:/x\n0::/user.slice/capsdk.service\n")
    monkeypatch.setattr(cgroup, "MOUNTS", (tmp_path / "nothing", tmp_path))
    monkeypatch.setattr(cgroup, "OWN", named)
    return own


def test_its_limits_are_the_runs(looks: Path) -> None:
    groups = Groups()
    assert (looks / "cgroup.subtree_control").read_text() == "+memory +pids\n"
    assert (looks / "capsdk-host" / "cgroup.procs").read_text() == f"{os.getpid()}\n"
    groups.put(4711, 256)
    (made,) = looks.glob("capsdk-worker-*")
    said = {path.name: path.read_text().strip() for path in made.iterdir()}
    assert said == {
        "memory.max": str((256 + cgroup.KERNEL_MB) * MIB),
        "memory.swap.max": "0",
        "pids.max": str(cgroup.PIDS),
        "cgroup.procs": "4711",
    }


def missing_controller(own: Path) -> None:
    (own / "cgroup.controllers").write_text("cpu pids\n")


def the_machines_own(own: Path) -> None:
    cgroup.OWN.write_text("0::/\n")


def no_version_2(own: Path) -> None:
    (own.parents[1] / "cgroup.controllers").unlink()


def not_there(own: Path) -> None:
    cgroup.OWN.write_text("0::/elsewhere\n")


def held_by_others(own: Path) -> None:
    (own / "cgroup.subtree_control").unlink()
    (own / "cgroup.subtree_control").mkdir()


REFUSALS = (  # what is done to the folders, what the reason names
    pytest.param(missing_controller, "memory", id="no-memory-controller"),
    pytest.param(the_machines_own, "root group", id="root-group"),
    pytest.param(no_version_2, "version 2", id="version-1-only"),
    pytest.param(not_there, "cannot be read", id="not-visible"),
    pytest.param(held_by_others, "cannot be divided", id="not-to-be-divided"),
)


@pytest.mark.parametrize(("change", "named"), REFUSALS)
def test_where_it_is_not_the_hosts_to_divide_the_reason_is_told(looks: Path, change: object, named: str) -> None:
    assert callable(change)
    change(looks)
    with pytest.raises(NotDelegated, match=named):
        Groups()
    assert list(looks.glob("capsdk-worker-*")) == []
