"""The script `dev` as it meets machines: what it sets up, when it refuses; no package is fetched here."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = (
    "cat",
    "chmod",
    "cksum",
    "cp",
    "dirname",
    "env",
    "head",
    "mkdir",
    "mv",
    "rm",
    "rmdir",
    "sed",
    "sh",
    "tail",
    "tr",
)
STUBS = ("bwrap", "chromium", "tesseract")

# Stands in for Python: builds a .venv that holds itself, writes down what it is asked for, and finds what set-up looks
# for in it unless a test says otherwise.
FAKE_PYTHON = """#!/bin/sh
case "$1 $2 $3" in
"-m venv "*) echo venv >>"$CALLS"; sleep 1; mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
"-m pip "*) echo pip >>"$CALLS"; [ -z "${PIP_FAILS:-}" ] || { echo "no index" >&2; exit 1; } ;;
*"sys._base_executable"*) echo "$0" ;;
"-m bench."* | "-m tests."*) echo "$*" | tr ' ' '_' >>"$CALLS" ;;
*find_spec*) [ -e "${0%python}../capsdk-setup" ] && [ ! -e "${0%python}../emptied" ] ;;
*) exit 3 ;;
esac
"""


class Machine:
    """A checkout and a PATH of its own, with as much on it as a test says."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "checkout"
        self.bin = folder / "bin"
        self.calls = folder / "calls"
        self.checkout.mkdir()
        self.bin.mkdir()
        for name in ("dev", "requirements.lock", "pyproject.toml"):
            shutil.copy(ROOT / name, self.checkout / name)
        for name in TOOLS:
            found = shutil.which(name)
            assert found is not None
            (self.bin / name).symlink_to(found)
        self.put("sleep", f"#!/bin/sh\nexec {shutil.which('sleep')} 0.1\n")  # a machine where waiting is short
        for name in STUBS:
            self.put(name, "#!/bin/sh\n")
        self.put("fc-list", "#!/bin/sh\necho some-font\n")
        self.put("uname", "#!/bin/sh\necho Linux\n")
        self.put("id", "#!/bin/sh\necho 1000\n")
        self.put("python3.11", FAKE_PYTHON)

    def put(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text, encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def start(self, *args: str, **more: str) -> subprocess.Popen[str]:
        env = {"PATH": str(self.bin), "CALLS": str(self.calls), "CAPSDK_PYTHON": str(self.bin / "python3.11"), **more}
        command = ["sh", str(self.checkout / "dev"), *args]
        return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def dev(self, *args: str, **more: str) -> tuple[int, str, str]:
        """Runs to the end: (exit code, standard output, standard error)."""
        with self.start(*args, **more) as process:
            out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def asked(self) -> list[str]:
        """What the fake Python was asked for since the last time this was called."""
        calls = self.calls.read_text(encoding="utf-8").split() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        return calls


BUILT = ["venv", "pip", "pip"]  # .venv, the lock, this checkout
UPDATED = ["pip", "pip"]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """A machine on which set-up was done."""
    code, _, err = machine.dev("setup")
    assert (code, machine.asked()) == (0, BUILT), err
    return machine


@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
def test_dev_can_be_read_by(shell: str) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell} here")
    options = ["--posix"] if shell == "bash" else []
    done = subprocess.run([found, *options, "-n", str(ROOT / "dev")], capture_output=True, text=True, timeout=10)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("args", [(), ("help",), ("--help",), ("-h",)], ids=lambda args: " ".join(args) or "nothing")
def test_help_teaches_every_command_and_sets_up_nothing(machine: Machine, args: tuple[str, ...]) -> None:
    code, out, err = machine.dev(*args)
    assert (code, err, machine.asked()) == (0, "", [])
    assert [
        word for word in ("demo", "test", "check", "bench", "references", "setup", "help") if f"  {word}" not in out
    ] == []


def test_an_unknown_command_is_refused_before_any_set_up(machine: Machine) -> None:
    code, out, err = machine.dev("tset")
    assert (code, out, machine.asked()) == (2, "", [])
    assert "tset" in err


def test_the_second_start_is_silent_and_quick(ready: Machine) -> None:
    begun = time.monotonic()
    assert ready.dev("setup") == (0, "", "")
    assert time.monotonic() - begun < 3
    assert ready.asked() == []


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        pytest.param((), "-m_bench.all", id="everything"),
        pytest.param(("--quick",), "-m_bench.all_--quick", id="everything-with-options"),
        pytest.param(("path", "--json"), "-m_bench.path_--json", id="one-by-name"),
    ],
)
def test_bench_measures_everything_unless_one_is_named(ready: Machine, args: tuple[str, ...], asked: str) -> None:
    assert ready.dev("bench", *args) == (0, "", "")
    assert ready.asked() == [asked]


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        pytest.param((), "-m_tests.pythons", id="all-versions"),
        pytest.param(("3.12", "3.13"), "-m_tests.pythons_3.12_3.13", id="some"),
    ],
)
def test_the_python_versions_are_tried_by_a_word_of_their_own(
    ready: Machine, args: tuple[str, ...], asked: str
) -> None:
    for name in ("Xvfb", "xauth"):
        ready.put(name, "#!/bin/sh\n")
    assert ready.dev("test", "pythons", *args) == (0, "", "")
    assert ready.asked() == [asked]


def test_bench_lists_what_can_be_measured_and_no_helper(ready: Machine) -> None:
    shutil.copytree(ROOT / "bench", ready.checkout / "bench", ignore=shutil.ignore_patterns("__pycache__"))
    (ready.bin / "grep").symlink_to(shutil.which("grep") or pytest.skip("no grep here"))
    code, out, err = ready.dev("bench", "--list")
    assert (code, err, ready.asked()) == (0, "", [])
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["all", "egress", "path", "start", "redaction"]
    assert all(len(line.split()) > 4 for line in out.splitlines()[1:])


def test_a_changed_lock_is_installed_into_the_same_venv(ready: Machine) -> None:
    with (ready.checkout / "requirements.lock").open("a", encoding="utf-8") as lock:
        lock.write("# changed\n")
    code, _, err = ready.dev("setup")
    assert (code, ready.asked()) == (0, UPDATED)
    assert "setting up" in err


def test_a_moved_checkout_gets_a_venv_of_its_own(ready: Machine) -> None:
    ready.checkout = ready.checkout.rename(ready.checkout.with_name("moved to elsewhere"))
    code, _, _ = ready.dev("setup")
    assert (code, ready.asked()) == (0, BUILT)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda venv: (venv / "bin/python").unlink(), id="interpreter-gone"),
        pytest.param(lambda venv: (venv / "emptied").touch(), id="packages-not-found"),
        pytest.param(lambda venv: (venv / "capsdk-setup").unlink(), id="set-up-interrupted-before-its-end"),
        pytest.param(lambda venv: (venv / "capsdk-setup").write_text(""), id="stamp-emptied"),
    ],
)
def test_a_broken_venv_is_built_anew(ready: Machine, damage: Callable[[Path], object]) -> None:
    damage(ready.checkout / ".venv")
    code, _, _ = ready.dev("setup")
    assert (code, ready.asked()) == (0, BUILT)


def test_a_failed_install_is_said_and_repaired_by_the_next_start(machine: Machine) -> None:
    code, out, err = machine.dev("setup", PIP_FAILS="1")
    assert (code, out) == (69, "")
    assert "no index" in err
    machine.asked()
    assert machine.dev("setup")[0] == 0
    assert machine.asked() == BUILT


@pytest.mark.parametrize("has_flock", [True, False], ids=["flock", "no-flock"])
def test_two_starts_at_once_set_up_once(machine: Machine, has_flock: bool) -> None:
    if has_flock:
        (machine.bin / "flock").symlink_to(shutil.which("flock") or pytest.skip("no flock here"))
    both = [machine.start("setup") for _ in range(2)]
    for process in both:
        process.communicate(timeout=30)
    assert [process.returncode for process in both] == [0, 0]
    assert machine.asked() == BUILT
    assert not (machine.checkout / ".dev.lock.d").exists()


def test_a_lock_left_behind_by_a_dead_start_is_taken_over(machine: Machine) -> None:
    with subprocess.Popen(["true"]) as dead:
        dead.wait(timeout=10)
    (machine.checkout / ".dev.lock.d").mkdir()
    (machine.checkout / ".dev.lock.d/pid").write_text(f"{dead.pid}\n", encoding="utf-8")
    assert machine.dev("setup")[0] == 0
    assert machine.asked() == BUILT


# what is taken away, what is put there, what the line must name
REFUSALS = (
    pytest.param((), {"uname": "echo Darwin"}, ("Linux", "Darwin"), id="not-linux"),
    pytest.param(("chromium",), {}, ("chromium", "package manager"), id="no-apt"),
    pytest.param(
        ("bwrap", "tesseract"), {"apt-get": "exit 1"}, ("sudo apt-get", "bubblewrap", "tesseract-ocr"), id="no-root"
    ),
    pytest.param(
        ("tesseract",), {"apt-get": "exit 1", "sudo": "exit 1"}, ("sudo apt-get",), id="sudo-asks-for-a-password"
    ),
    pytest.param(("python3.11",), {}, ("CAPSDK_PYTHON", "3.11"), id="no-python"),
    pytest.param((), {"python3.11": "exit 1"}, ("CAPSDK_PYTHON", "3.11"), id="python-shim-that-fails"),
)


@pytest.mark.parametrize(("gone", "put", "named"), REFUSALS)
def test_where_it_may_not_install_one_line_says_what_to_do(
    machine: Machine, gone: tuple[str, ...], put: Mapping[str, str], named: tuple[str, ...]
) -> None:
    for name in gone:
        (machine.bin / name).unlink()
    for name, body in put.items():
        machine.put(name, f"#!/bin/sh\n{body}\n")
    code, out, err = machine.dev("demo")
    assert (code, out, machine.asked()) == (69, "", [])
    assert err.count("\n") == 1
    assert [word for word in named if word not in err] == []


def test_a_virtual_display_is_asked_for_by_the_tests_and_by_nothing_else(machine: Machine) -> None:
    code, out, err = machine.dev("test", "dev")
    assert (code, out, machine.asked()) == (69, "", [])
    assert ("xvfb" in err, "xauth" in err) == (True, True)
    assert machine.dev("setup")[0] == 0


APT = """#!/bin/sh
echo "apt-get $*" >>"$CALLS.apt"
[ -e "$CALLS.broken" ] && { rm "$CALLS.broken"; echo "E: could not" >&2; exit 100; }
case "$*" in *install*) printf '#!/bin/sh\\n' >"$BIN/tesseract"; chmod +x "$BIN/tesseract" ;; esac
"""


@pytest.mark.parametrize("fails_once", [False, True], ids=["works", "works-the-second-time"])
def test_root_gets_what_is_missing_and_nothing_else(machine: Machine, fails_once: bool) -> None:
    (machine.bin / "tesseract").unlink()
    machine.put("apt-get", APT)
    machine.put("dpkg", "#!/bin/sh\n")
    machine.put("id", "#!/bin/sh\necho 0\n")
    log, broken = (machine.calls.with_name(f"calls.{name}") for name in ("apt", "broken"))
    if fails_once:
        broken.touch()
    code, _, err = machine.dev("setup", BIN=str(machine.bin))
    assert code == 0, err
    installs = [line for line in log.read_text(encoding="utf-8").splitlines() if " install " in line]
    assert [line.split("--no-install-recommends ")[1] for line in installs] == ["tesseract-ocr"]
    assert machine.asked() == BUILT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_checkout_of_somebody_else_is_left_alone() -> None:
    nobody = 65534
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        machine = Machine(Path(folder))
        Path(folder).chmod(0o755)
        command = ["sh", str(machine.checkout / "dev"), "setup"]
        env = {"PATH": str(machine.bin), "CAPSDK_PYTHON": str(machine.bin / "python3.11")}
        done = subprocess.run(command, env=env, user=nobody, group=nobody, capture_output=True, text=True, timeout=30)
        assert not (machine.checkout / ".venv").exists()
    assert done.returncode == 69
    assert done.stderr.count("\n") == 1
