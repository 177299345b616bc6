"""One site for the whole folder, one host a module, and the check that nothing is left running."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import started_for, wait_until
from tests.support.site import Site
from tests.support.stdio import GRANT, Stdio, opened

PAGES = Path(__file__).parent / "pages"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.chromium)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with Site(PAGES) as served:
        yield served


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that the browser's own uid can reach, as pytest's are not; afterwards no process may name it."""
    made = Path(tempfile.mkdtemp(prefix="capsdk-live-"))
    made.chmod(0o711)
    try:
        yield made
        wait_until(lambda: not started_for(made), 6.0, "processes were left behind")
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def place() -> Iterator[Path]:
    """The same for one test."""
    made = Path(tempfile.mkdtemp(prefix="capsdk-live-"))
    made.chmod(0o711)
    try:
        yield made
        wait_until(lambda: not started_for(made), 6.0, "processes were left behind")
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def limits() -> dict[str, str]:
    """Settings of the module's host; a module overrides it."""
    return {}


@pytest.fixture(scope="module")
def host(folder: Path, site: Site, limits: dict[str, str]) -> Iterator[Stdio]:
    """A host for all tests of a module. It has to end by itself, quietly, and leave no folder."""
    with Stdio(folder, *GRANT, *opened(site.places), env=limits) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""
        assert made.twice == []
        assert list(folder.glob("capsdk-*")) == []


@pytest.fixture(autouse=True)
def _no_session_is_left_to_the_next_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """One failure must not fill the slots of the tests behind it."""
    shared: Stdio | None = request.getfixturevalue("host") if "host" in request.fixturenames else None
    before = set(shared.sessions) if shared is not None else set()
    yield
    if shared is not None:
        for session in sorted(shared.sessions - before):
            shared.call("browser.closeSession", sessionId=session)
            shared.sessions.discard(session)


@pytest.fixture
def blank(host: Stdio) -> Iterator[str]:
    """A session on about:blank, given back afterwards."""
    session = host.open("about:blank")
    yield session
    host.close(session)
