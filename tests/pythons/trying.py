"""What is run with one Python version: two parts of the tests, and the shipped app on a real tab."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.pythons.environments import ROOT
from tests.support.stdio import GRANT, environment

PART_S = 900.0
RUN_S = 120.0
TAIL_LINES = 40
SUMMARY = "short test summary info"  # below it pytest names what failed, with the reason


@dataclass(frozen=True, slots=True)
class Part:
    """Some tests, by pytest's words: folders and files, and an expression of marks."""

    name: str
    places: tuple[str, ...]
    marks: str
    left_out: tuple[str, ...] = ()


PARTS = (
    # Of these files none runs anything of the product in its own process.
    Part(
        "quick",
        ("tests",),
        "not chromium and not slow and not long",
        ("tests/pythons", "tests/test_dev.py", "tests/test_repository.py"),
    ),
    Part("sandbox", ("tests/sandbox", "tests/escapes", "tests/sdk"), "(chromium or slow) and not long"),
)


@dataclass(frozen=True, slots=True)
class Counts:
    """How the tests of a part ended; `failed` names those that did not pass."""

    passed: int = 0
    skipped: int = 0
    failed: tuple[str, ...] = ()

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.skipped + other.skipped, self.failed + other.failed)


class TryFailed(Exception):
    """It did not come to an end that can be counted; the message is what was said last."""


def run_part(python: Path, part: Part) -> tuple[Counts, str]:
    """The counts, and the last lines of what pytest said. Raises TryFailed."""
    with tempfile.TemporaryDirectory(prefix="capsdk-pythons-") as folder:
        report = Path(folder, "report.xml")
        left_out = [f"--ignore={place}" for place in part.left_out]
        places = [place for place in part.places if (ROOT / place).exists()]
        words = ["-m", "pytest", "-p", "no:cacheprovider", "-m", part.marks, f"--junitxml={report}"]
        code, said, _ = output_of([str(python), *words, *left_out, *places], PART_S)
        tail = "\n".join(said.partition(SUMMARY)[2].splitlines()[1:] or said.splitlines()[-TAIL_LINES:])
        if not report.exists():
            raise TryFailed(tail or f"pytest ended with {code}")
        counts = counts_of(report.read_text(encoding="utf-8"))
    if code not in (0, 5) and not counts.failed:  # 5: the marks left nothing
        raise TryFailed(tail)
    return counts, tail


def counts_of(report: str) -> Counts:
    """What a JUnit report says."""
    passed, skipped = 0, 0
    failed: list[str] = []
    for case in ElementTree.fromstring(report).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed.append(f"{case.get('classname', '').replace('.', '/')}::{case.get('name')}")
        elif "skipped" in kinds:
            skipped += 1
        else:
            passed += 1
    return Counts(passed, skipped, tuple(failed))


def run_receipts(python: Path) -> str:
    """One `capsdk run` of the shipped app on real Chromium, in words. Raises TryFailed."""
    with tempfile.TemporaryDirectory(prefix="capsdk-pythons-") as folder:
        Path(folder).chmod(0o711)  # the browser's own uid goes through it
        app = str(ROOT / "scripts" / "receipts")
        words = ("-m", "host.main", "run", app, "--fixture", "--json", "--ephemeral", *GRANT)
        code, said, complained = output_of([str(python), *words], RUN_S, environment(Path(folder)))
    return receipts_in_words(code, said, complained)


def receipts_in_words(code: int, said: str, complained: str = "") -> str:
    """Rows and tier of the envelope that `capsdk run --json` printed. Raises TryFailed."""
    try:
        envelope = json.loads(said)
        result, tier = envelope["result"], envelope["run"]["tier"]
        rows = len(json.loads(result["rowsJson"]))
    except (ValueError, KeyError, TypeError):
        raise TryFailed((complained + said).strip() or f"capsdk run ended with {code}") from None
    if code != 0 or result["state"] != "ok" or not rows:
        raise TryFailed((complained + said).strip())
    return f"receipts: {rows} rows, tier {tier}"


def output_of(words: Sequence[str], timeout_s: float, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; all that it started ends with it. Raises TryFailed."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=env,
        start_new_session=True,
    ) as process:
        try:
            said, complained = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise TryFailed(f"not done within {timeout_s:g} s") from None
        finally:
            if process.poll() is None:  # also when we are interrupted
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, said, complained
