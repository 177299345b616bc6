"""One host for all attempts, the summary at the end, and the check that nothing is left running."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.attacks.counting import Tally
from tests.attacks.lab import Lab, open_lab
from tests.live.walls import temporary_folders_in
from tests.support.processes import started_for, wait_until

TALLY = Tally()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "attempt(number, what, outcome): a test of one of the attempts")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.chromium)
            TALLY.expect(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    TALLY.hear(item, report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if TALLY.has_run:
        terminalreporter.section("attempts")
        for line in TALLY.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="package")
def folder() -> Iterator[Path]:
    """A folder for all temporary ones that the browser's own uid can reach; afterwards no process may name it."""
    made = Path(tempfile.mkdtemp(prefix="capsdk-attacks-"))
    made.chmod(0o711)
    try:
        with temporary_folders_in(made):
            yield made
        wait_until(lambda: not started_for(made), 6.0, "processes were left behind")
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def shared(folder: Path) -> AsyncIterator[Lab]:
    async with open_lab(folder, "product") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="package")
async def lab(shared: Lab) -> AsyncIterator[Lab]:
    """The host, with nothing lent; what a test has borrowed is given back."""
    yield shared
    await shared.leave()
    assert len(shared.host.sessions) == 0
