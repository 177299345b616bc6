"""What `./dev test pythons` finds, builds and says; no other Python and no package is needed here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pythons import __main__ as program
from tests.pythons import environments, trying
from tests.pythons.environments import NoWheel, SetupFailed, environment
from tests.pythons.interpreters import Interpreter, find
from tests.pythons.report import Outcome, line, summary
from tests.pythons.trying import Counts, Part, TryFailed, counts_of, output_of, receipts_in_words

SAYS = 'echo \'["{kind}", "{version}", "{base}"]\''
NEWEST = "9.9"  # of which no machine has one


def put(path: Path, body: str) -> Path:
    """A program in the place of an interpreter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def python(path: Path, version: str, kind: str = "CPython", base: str = "") -> Path:
    """One that says so of itself."""
    return put(path, SAYS.format(kind=kind, version=version, base=base or path))


def found(folder: Path) -> Interpreter | None:
    return find(NEWEST, {"PATH": str(folder / "bin"), "HOME": str(folder / "home")})


PLACES = (  # below the folder of the test
    pytest.param("bin/python9.9", id="on-the-path"),
    pytest.param("home/.pyenv/versions/9.9.1/bin/python9.9", id="of-pyenv"),
    pytest.param("home/.local/share/uv/python/cpython-9.9.1-linux-x86_64-gnu/bin/python9.9", id="of-uv"),
)


@pytest.mark.parametrize("place", PLACES)
def test_an_interpreter_is_found_where_machines_keep_them(tmp_path: Path, place: str) -> None:
    assert found(tmp_path) is None
    python(tmp_path / place, "9.9.1")
    assert found(tmp_path) == Interpreter(tmp_path / place, "9.9.1")


def test_of_a_version_managers_the_newest_is_taken(tmp_path: Path) -> None:
    for version in ("9.9.2", "9.9.10", "9.9.9", "9.90.1"):
        python(tmp_path / f"home/.pyenv/versions/{version}/bin/python9.9", version)
    newest = found(tmp_path)
    assert newest is not None
    assert newest.version == "9.9.10"


def test_a_shim_leads_to_the_interpreter_behind_it(tmp_path: Path) -> None:
    python(tmp_path / "bin/python9.9", "9.9.1", base="/somewhere/python9.9")
    assert found(tmp_path) == Interpreter(Path("/somewhere/python9.9"), "9.9.1")


USELESS = (  # a program on PATH that is passed over
    pytest.param(lambda at: put(at, "exit 127"), id="shim-that-fails"),
    pytest.param(lambda at: put(at, "echo ModuleNotFoundError: ensurepip >&2; exit 1"), id="without-ensurepip"),
    pytest.param(lambda at: put(at, "echo not json"), id="says-something-else"),
    pytest.param(lambda at: python(at, "9.8.1"), id="another-version"),
    pytest.param(lambda at: python(at, "9.90.1"), id="a-version-that-begins-alike"),
    pytest.param(lambda at: python(at, "9.9.1", kind="PyPy"), id="no-cpython"),
    pytest.param(lambda at: at.mkdir(parents=True), id="a-folder"),
)


@pytest.mark.parametrize("make", USELESS)
def test_what_cannot_be_used_is_passed_over_for_the_next(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "bin/python9.9")
    assert found(tmp_path) is None
    python(tmp_path / "home/.pyenv/versions/9.9.1/bin/python9.9", "9.9.1")
    assert found(tmp_path) is not None


def test_the_version_of_these_tests_is_always_found() -> None:
    here = find(f"{sys.version_info.major}.{sys.version_info.minor}", {})
    assert here is not None
    assert here.path.exists()


# Builds an environment that holds itself, and writes down what it is asked for.
FAKE = """
case "$2" in
venv) echo venv >>"$CALLS"; mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
pip) echo pip >>"$CALLS"; [ -z "${PIP_SAYS:-}" ] || { echo "$PIP_SAYS" >&2; exit 1; } ;;
esac
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.delenv("PIP_SAYS", raising=False)
    return Interpreter(put(tmp_path / "python", FAKE), "9.9.1")


def asked(folder: Path) -> list[str]:
    calls = folder / "calls"
    words = calls.read_text(encoding="utf-8").split() if calls.exists() else []
    calls.unlink(missing_ok=True)
    return words


BUILT = ["venv", "pip", "pip"]


def test_an_environment_is_built_once_and_anew_when_the_lock_changes(
    tmp_path: Path, fake: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [environment("9.9", fake, tmp_path / "venvs") for _ in range(2)]
    assert (made, asked(tmp_path)) == ([tmp_path / "venvs/9.9/bin/python"] * 2, BUILT)
    monkeypatch.setattr(environments, "key_of", lambda interpreter: "of another lock")
    environment("9.9", fake, tmp_path / "venvs")
    assert asked(tmp_path) == BUILT


PROBLEMS = (  # what pip says, what it means, what the message names
    pytest.param("ERROR: No matching distribution found for msgspec==0.23.0", NoWheel, "msgspec", id="no-wheel"),
    pytest.param("ERROR: connection refused", SetupFailed, "connection refused", id="no-index"),
)


@pytest.mark.parametrize(("said", "kind", "named"), PROBLEMS)
def test_an_environment_that_cannot_be_built_says_why_and_is_built_anew(
    tmp_path: Path, fake: Interpreter, monkeypatch: pytest.MonkeyPatch, said: str, kind: type[Exception], named: str
) -> None:
    with monkeypatch.context() as broken:
        broken.setenv("PIP_SAYS", said)
        with pytest.raises(kind, match=named):
            environment("9.9", fake, tmp_path / "venvs")
    asked(tmp_path)
    environment("9.9", fake, tmp_path / "venvs")
    assert asked(tmp_path) == BUILT


REPORT = """<testsuites><testsuite tests="4">
<testcase classname="tests.core.test_a" name="test_one"/>
<testcase classname="tests.core.test_a" name="test_two"><failure/></testcase>
<testcase classname="tests.core.test_a" name="test_three"><error/></testcase>
<testcase classname="tests.core.test_a" name="test_four"><skipped/></testcase>
</testsuite></testsuites>"""
BAD_ONES = ("tests/core/test_a::test_two", "tests/core/test_a::test_three")


def test_a_report_is_counted_and_those_that_failed_are_named() -> None:
    assert counts_of(REPORT) == Counts(1, 1, BAD_ONES)


def test_a_part_is_counted_and_its_last_lines_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "python", 'for word; do case $word in --junitxml=*) out=${word#*=} ;; esac; done\n'
        'printf %s "$REPORT" >"$out"; echo "2 failed"; exit 1')  # fmt: skip
    monkeypatch.setenv("REPORT", REPORT)
    assert trying.run_part(tmp_path / "python", Part("x", ("tests",), "")) == (Counts(1, 1, BAD_ONES), "2 failed")


def test_tests_that_cannot_be_counted_are_a_failure_with_their_last_words(tmp_path: Path) -> None:
    put(tmp_path / "python", "echo 'no pytest here'; exit 1")
    with pytest.raises(TryFailed, match="no pytest here"):
        trying.run_part(tmp_path / "python", Part("x", ("tests",), ""))


def test_what_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    marker = tmp_path / "outlived"
    with pytest.raises(TryFailed, match=r"0\.2 s"):
        output_of(["sh", "-c", f"(sleep 0.6; touch '{marker}') & sleep 5"], 0.2)
    control = f"sleep 0.7; touch '{tmp_path}/control'; echo said; echo told >&2; exit 3"
    assert output_of(["sh", "-c", control], 5) == (3, "said\n", "told\n")
    assert [path.name for path in tmp_path.iterdir()] == ["control"]


def envelope(state: str = "ok", rows: int = 3) -> str:
    result = {"state": state, "rowsJson": json.dumps([{}] * rows)}
    return json.dumps({"ok": True, "result": result, "run": {"tier": "noopen"}})


def test_a_good_run_is_said_with_its_rows_and_its_tier() -> None:
    assert receipts_in_words(0, envelope()) == "receipts: 3 rows, tier noopen"


RUNS = (  # exit code, standard output, standard error, what the message names
    pytest.param(1, envelope(), "", "rows", id="exit-code"),
    pytest.param(0, envelope("partial"), "", "partial", id="another-state"),
    pytest.param(0, envelope(rows=0), "", "rows", id="no-rows"),
    pytest.param(69, '{"ok": false}', "no browser", "no browser", id="an-error"),
    pytest.param(-9, "", "", "-9", id="nothing-said"),
)


@pytest.mark.parametrize(("code", "said", "complained", "named"), RUNS)
def test_a_run_without_good_rows_is_a_failure(code: int, said: str, complained: str, named: str) -> None:
    with pytest.raises(TryFailed, match=named):
        receipts_in_words(code, said, complained)


GOOD = Outcome("3.12", "3.12.1", Counts(7, 1), "receipts: 3 rows, tier bwrap", duration_s=61.7)
FAILED = Outcome("3.13", "3.13.0", Counts(7, 1, BAD_ONES), "receipts: 3 rows, tier bwrap", duration_s=3.0)
STUCK = Outcome("3.13", "3.13.0", Counts(7), trouble="not done")
EMPTY = Outcome("3.13", "3.13.0", Counts(), "receipts: 3 rows, tier bwrap")
ABSENT = Outcome("3.14", reason="no interpreter found")

LINES = (
    pytest.param(GOOD, "3.12  7 passed, 1 skipped, receipts: 3 rows, tier bwrap  (3.12.1, 62 s)", id="passed"),
    pytest.param(FAILED, "3.13  2 FAILED, 7 passed, 1 skipped, receipts: 3 rows, tier bwrap  (3.13.0, 3 s)", id="bad"),
    pytest.param(STUCK, "3.13  7 passed, 0 skipped, receipts: FAILED  (3.13.0, 0 s)", id="no-receipts"),
    pytest.param(ABSENT, "3.14  not run: no interpreter found", id="absent"),
)


@pytest.mark.parametrize(("outcome", "said"), LINES)
def test_a_version_is_a_line(outcome: Outcome, said: str) -> None:
    assert line(outcome) == said


ENDS = (  # outcomes, exit code, summary
    pytest.param((GOOD,), 0, "1 of 1 versions run; all passed", id="all"),
    pytest.param((GOOD, ABSENT), 0, "1 of 2 versions run; all passed; not run: 3.14", id="one-not-run"),
    pytest.param((GOOD, FAILED), 1, "2 of 2 versions run; failed: 3.13", id="one-failed"),
    pytest.param((STUCK,), 1, "1 of 1 versions run; failed: 3.13", id="receipts-failed"),
    pytest.param((EMPTY,), 1, "1 of 1 versions run; failed: 3.13", id="no-test-was-run"),
    pytest.param((ABSENT,), 0, "0 of 1 versions run; nothing to pass; not run: 3.14", id="none-run"),
)


@pytest.mark.parametrize(("outcomes", "code", "said"), ENDS)
def test_the_end_is_a_summary_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcomes: tuple[Outcome, ...],
    code: int,
    said: str,
) -> None:
    by_version = {outcome.wanted: outcome for outcome in outcomes}
    monkeypatch.setattr(program, "try_version", by_version.__getitem__)
    assert program.main(list(by_version)) == code
    assert summary(outcomes) == said
    assert capsys.readouterr().out.splitlines() == [*map(line, outcomes), said]


TRIES = (  # what happens, the outcome's reason, does it fail?
    pytest.param("no-interpreter", "no interpreter found", False, id="no-interpreter"),
    pytest.param("no-wheel", "msgspec of requirements.lock has no wheel for it", False, id="no-wheel"),
    pytest.param("no-index", "", True, id="environment-cannot-be-built"),
    pytest.param("stuck", "", True, id="tests-do-not-end"),
    pytest.param("well", "", False, id="well"),
)


@pytest.mark.parametrize(("what", "reason", "bad"), TRIES)
def test_only_what_cannot_be_had_is_not_run(monkeypatch: pytest.MonkeyPatch, what: str, reason: str, bad: bool) -> None:
    def built(wanted: str, interpreter: Interpreter) -> Path:
        problems = {"no-wheel": NoWheel("msgspec"), "no-index": SetupFailed("no index")}
        if what in problems:
            raise problems[what]
        return Path("python")

    def ran(python: Path, part: Part) -> tuple[Counts, str]:
        if what == "stuck":
            raise TryFailed("not done")
        return Counts(5), ""

    interpreter = None if what == "no-interpreter" else Interpreter(Path("python"), "9.9.1")
    monkeypatch.setattr(program, "find", lambda wanted: interpreter)
    monkeypatch.setattr(program, "environment", built)
    monkeypatch.setattr(program, "run_part", ran)
    monkeypatch.setattr(program, "run_receipts", lambda python: "receipts: 3 rows, tier noopen")
    outcome = program.try_version("9.9")
    assert (outcome.reason, outcome.bad) == (reason, bad)
    assert outcome.counts.passed == (5 * len(trying.PARTS) if what == "well" else 0)


def test_an_unknown_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        program.main(["2.7"])
    assert refused.value.code == 2
    assert "2.7" in capsys.readouterr().err
