"""One site and one host for the whole folder; it has to end by itself, quietly."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.case_site import CaseSite
from tests.support.pictures import VIEW
from tests.support.processes import started_for, wait_until
from tests.support.stdio import GRANT, Stdio, opened

PAGES = Path(__file__).parent / "pages"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.chromium)


@pytest.fixture(scope="session")
def cases() -> Iterator[CaseSite]:
    with CaseSite(PAGES) as served:
        yield served


@pytest.fixture(scope="package")
def folder() -> Iterator[Path]:
    """A folder that the browser's own uid can reach, as pytest's are not; afterwards no process may name it."""
    made = Path(tempfile.mkdtemp(prefix="capsdk-cases-"))
    made.chmod(0o711)
    try:
        yield made
        wait_until(lambda: not started_for(made), 3.0, "processes were left behind")
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="package")
def host(folder: Path, cases: CaseSite) -> Iterator[Stdio]:
    with Stdio(folder, *GRANT, *VIEW, *opened(cases.places)) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""
        assert made.twice == []


@pytest.fixture(autouse=True)
def no_tab_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that fails leaves its tabs, which the next one would count as its own; those of a module stay."""
    host: Stdio | None = request.getfixturevalue("host") if "host" in request.fixturenames else None
    before = open_tabs(host) if host is not None else set()
    yield
    if host is not None:
        for session in open_tabs(host) - before:
            host.post("browser.closeSession", sessionId=session)  # its windows may go with it


def open_tabs(host: Stdio) -> set[str]:
    """The sessions that there are."""
    return {one["sessionId"] for one in host.ok("browser.sessions")["sessions"]}
