"""One station a setting for the whole folder, the table at the end, and the check that nothing is left running."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.escapes.counting import Grid
from tests.escapes.probes import Attempt
from tests.escapes.settings import CONTROL, SETTINGS, Setting, Station, StationFailed, controls_work, forget
from tests.support.processes import started_for, wait_until

GRID = Grid()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "probe(number, column): a test of one of the 30 probes, in one setting")


def pytest_collection_finish(session: pytest.Session) -> None:
    for item in session.items:
        if Path(__file__).parent in item.path.parents:
            GRID.expect(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    GRID.hear(item, report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if GRID.has_run:
        terminalreporter.section("probes")
        for line in GRID.lines():
            terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """`./dev test escapes --strict`: a probe without an outcome is a failure."""
    if strict(session.config) and GRID.has_run and GRID.without_outcome:
        print("\nwithout an outcome:", ", ".join(GRID.without_outcome))
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def strict(config: pytest.Config) -> bool:
    """Was it asked for? (pytest 8 has no such setting.)"""
    try:
        return bool(config.getini("strict"))
    except (KeyError, ValueError):
        return False


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """Where the stations have theirs: an ordinary user can reach it. Afterwards no process may name it."""
    made = Path(tempfile.mkdtemp(prefix="capsdk-escapes-"))
    made.chmod(0o755)
    try:
        yield made
        wait_until(lambda: not started_for(made), 3.0, "processes were left behind")
    finally:
        shutil.rmtree(made, ignore_errors=True)
        forget()


class Stations:
    """All that are wanted, started side by side when the first is asked for; one that failed is started anew."""

    def __init__(self, folder: Path, wanted: list[Setting]) -> None:
        self._folder = folder
        self._wanted = wanted
        self._started: dict[str, Station] = {}
        self._controls: dict[Attempt, dict[str, Any]] = {}

    def __call__(self, setting: Setting) -> Station:
        """This setting's. Skips the test where it cannot be had, raises StationFailed where it should."""
        missing = setting.missing() if setting is not CONTROL else None if controls_work() else "no control here"
        if missing is not None:
            pytest.skip(missing)
        for each in (*self._wanted, setting):
            if each.name not in self._started and (each is CONTROL or each.missing() is None):
                self._started[each.name] = Station(each, self._folder)
        return self._started[setting.name]

    def control(self, attempt: Attempt) -> dict[str, Any]:
        """What an attempt comes to without a lock; tried once."""
        if attempt not in self._controls:
            tried = self(CONTROL).ask("attempt", source=attempt.source, expected=attempt.leaves)
            self._controls[attempt] = tried
        return self._controls[attempt]

    def all(self) -> list[Station]:
        """Those that are wanted and can be had here, but the control."""
        return [self(each) for each in self._wanted if each is not CONTROL and each.missing() is None]

    def close(self) -> None:
        """End them all; each tells that it has left nothing."""
        told: dict[str, Any] = {}
        for name, station in self._started.items():
            try:
                told[name] = station.ask("close").get("left", [])
            except StationFailed as error:
                told[name] = str(error)
            station.close()
        assert told == {name: [] for name in self._started}


@pytest.fixture(scope="session")
def stations(request: pytest.FixtureRequest, folder: Path) -> Iterator[Stations]:
    columns = {mark.args[1] for item in request.session.items for mark in item.iter_markers("probe")}
    made = Stations(folder, [each for each in (CONTROL, *SETTINGS) if each.name in columns])
    yield made
    made.close()


@pytest.fixture
def extra_station(folder: Path) -> Iterator[Callable[..., Station]]:
    """Another station of a setting, for what ends it."""
    made: list[Station] = []

    def start(setting: Setting, crippled: str | None = None) -> Station:
        missing = setting.missing()
        if missing is not None:
            pytest.skip(missing)
        made.append(Station(setting, folder, crippled))
        return made[-1]

    yield start
    for station in made:
        station.close()
