"""A folder for the hosts of these tests; and at the end of a run, what became of each way out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import started_for, wait_until

LINES: list[str] = []
"""Filled by the tests with what they counted."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a way."""
    if LINES:
        terminalreporter.section("ways out of a page")
        for line in LINES:
            terminalreporter.write_line(line)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Where a module's hosts have their temporary folders: the browser's own uid can reach it, not pytest's.

    Afterwards no process may name it.
    """
    made = Path(tempfile.mkdtemp(prefix="capsdk-egress-"))
    made.chmod(0o711)
    before, tempfile.tempdir = tempfile.tempdir, str(made)
    try:
        yield made
        wait_until(lambda: not started_for(made), 6.0, "processes were left behind")
    finally:
        tempfile.tempdir = before
        shutil.rmtree(made, ignore_errors=True)
