"""The lanes of `./dev test`: nothing is left out, nothing runs twice, and an interrupted one leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.lanes import __main__ as program
from tests.lanes.plan import ALONE, BROWSER, Lane, is_progress, joined, lanes, verdict

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(str(path.relative_to(ROOT / "tests")) for path in (ROOT / "tests").rglob("test_*.py"))


def files_of(lane: Lane) -> list[str]:
    return [
        file
        for file in FILES
        if file not in lane.left_out and any(file == place or file.startswith(f"{place}/") for place in lane.places)
    ]


def test_every_file_of_tests_is_in_exactly_one_lane() -> None:
    beside, alone = lanes(path.name for path in (ROOT / "tests").iterdir() if not path.name.startswith("_"))
    each = [files_of(lane) for lane in (*beside, alone)]
    assert sorted(file for files in each for file in files) == FILES
    assert all(each)


@pytest.mark.parametrize("place", [*ALONE, *BROWSER])
def test_what_the_plan_names_is_there(place: str) -> None:
    assert (ROOT / "tests" / place).exists()


def test_a_new_folder_joins_the_lane_of_the_rest() -> None:
    (_, rest), _ = lanes(("live", "core", "brand_new", "test_bench_ratchet.py", "test_new.py"))
    assert rest.places == ("brand_new", "core", "test_new.py")


CORES = (pytest.param({0}, 3, id="one-core"), pytest.param({0, 1}, 2, id="two-cores"))


@pytest.mark.parametrize(("cores", "groups"), CORES)
def test_a_single_core_runs_one_lane_after_the_other(
    monkeypatch: pytest.MonkeyPatch, cores: set[int], groups: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: cores)
    made = program.groups_here()
    assert (len(made), sum(len(group) for group in made)) == (groups, 3)
    assert made[-1] == (Lane("alone", ALONE),)


ROWS = (  # a line of pytest, is it a row of dots?
    pytest.param("..s.x.F.E.X [  7%]\n", True, id="dots"),
    pytest.param("........   [100%]\n", True, id="the-last-row"),
    pytest.param("FAILED tests/a.py::test_b[0] [ 5%]\n", False, id="a-name"),
    pytest.param("E   assert [1] == [2]\n", False, id="an-assertion"),
    pytest.param("\n", False, id="empty"),
)


@pytest.mark.parametrize(("row", "shown"), ROWS)
def test_rows_of_dots_are_shown_between_those_of_another_lane(row: str, shown: bool) -> None:
    assert is_progress(row) is shown


VERDICTS = (
    pytest.param({"a": (0, 61.2), "b": (0, 2.0)}, "lanes: a 61 s, b 2 s; all passed", id="passed"),
    pytest.param({"a": (1, 61.2), "b": (0, 2.0)}, "lanes: a 61 s, b 2 s; failed: a (1)", id="failed"),
    pytest.param({"a": (5, 1.0)}, "lanes: a 1 s; failed: a (5)", id="an-empty-lane"),
)


@pytest.mark.parametrize(("done", "said"), VERDICTS)
def test_the_last_line_names_what_did_not_pass(done: Mapping[str, tuple[int, float]], said: str) -> None:
    assert verdict(done) == said


GOOD = "def test_good():\n    pass\n"
BAD = "def test_bad():\n    assert not 'the reason'\n"
STUCK = """
import pathlib, time
import pytest

@pytest.fixture
def tidy():
    pathlib.Path("began").touch()
    yield
    time.sleep(0.2)
    pathlib.Path("tidied").touch()

def test_stuck(tidy):
    time.sleep(60)
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tests of two lanes, and the program's own folder of tests set to them."""
    for place, text in (("one/test_a.py", GOOD), ("two/test_b.py", BAD)):
        (tmp_path / "tests" / place).parent.mkdir(parents=True)
        (tmp_path / "tests" / place).write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n", encoding="utf-8")
    monkeypatch.setattr(program, "TESTS", tmp_path / "tests")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they only cost time here
    return tmp_path


ONE, TWO = Lane("one", ("one",)), Lane("two", ("two",))


def test_each_lane_ends_with_its_own_code_and_both_stand_in_one_report(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "groups_here", lambda: [(ONE, TWO)])
    report = checkout / "report.xml"
    assert program.main([f"--junitxml={report}", "-q", "-p", "no:cacheprovider"]) == 1
    said = capfd.readouterr().out
    assert "the reason" in said
    assert said.splitlines()[-1].endswith("failed: two (1)")
    cases = ElementTree.fromstring(report.read_text(encoding="utf-8")).iter("testcase")
    assert {case.get("name"): len(case) for case in cases} == {"test_good": 0, "test_bad": 1}


ONCE = """
import pathlib

def test_bad_once():
    first = not pathlib.Path("tried").exists()
    pathlib.Path("tried").touch()
    assert not first, "too slow"

def test_good():
    with open("good", "a") as file:
        file.write("run ")
"""


def test_what_failed_beside_another_lane_is_run_again_alone_and_named(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (checkout / "tests/two/test_b.py").write_text(ONCE, encoding="utf-8")
    monkeypatch.setattr(program, "groups_here", lambda: [(ONE, TWO)])
    assert program.main(["-q"]) == 0
    said = capfd.readouterr().out
    assert "too slow" in said
    assert "-- run again, alone:\n   tests/two/test_b.py::test_bad_once\n" in said
    assert "all passed" in said.splitlines()[-1]
    assert "two again" in said.splitlines()[-1]
    assert (checkout / "good").read_text() == "run "


def test_what_fails_alone_too_has_failed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "groups_here", lambda: [(ONE, TWO)])
    assert program.main(["-q"]) == 1
    assert capfd.readouterr().out.splitlines()[-1].endswith("failed: two (1), two again (1)")


def test_many_failures_are_not_run_again(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    many = (
        f"import pytest\n\n@pytest.mark.parametrize('n', range({program.AGAIN + 1}))\ndef test_bad(n):\n    assert 0\n"
    )
    (checkout / "tests/two/test_b.py").write_text(many, encoding="utf-8")
    monkeypatch.setattr(program, "groups_here", lambda: [(TWO,)])
    assert program.main(["-q"]) == 1
    assert "again" not in capfd.readouterr().out


def test_all_lanes_passed_is_exit_code_0(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "groups_here", lambda: [(ONE,)])
    assert program.main(["-q", "-p", "no:cacheprovider"]) == 0


def test_an_interrupted_run_lets_each_lane_tidy_up_and_leaves_none_running(checkout: Path) -> None:
    (checkout / "tests/one/test_a.py").write_text(STUCK, encoding="utf-8")
    body = (
        "import sys; from pathlib import Path; from bench.children import end_when_asked; "
        "from tests.lanes import __main__ as program; from tests.lanes.plan import Lane; end_when_asked(); "
        f"program.TESTS = Path({str(checkout / 'tests')!r}); "
        f"program.run([Lane('one', ('one',))], ['-q'], Path({str(checkout)!r}))"
    )
    words = [sys.executable, "-c", body]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, cwd=checkout, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 20
        while not (checkout / "began").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not (checkout / "tidied").exists()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode != 0
    assert (checkout / "began").exists()
    assert (checkout / "tidied").exists()


def test_reports_are_joined_into_one() -> None:
    one, two = (
        f'<?xml version="1.0"?><testsuites><testsuite name="x"><testcase name="{name}"/></testsuite></testsuites>'
        for name in "ab"
    )
    assert [case.get("name") for case in ElementTree.fromstring(joined([one, two])).iter("testcase")] == ["a", "b"]
