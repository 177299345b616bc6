"""One fixture for every backend of the store: the tests of the port know only `open_store`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from host.store.port import Store
from tests.store.support import OpenStore, StartProcess, open_sqlite, spawn

BACKENDS: dict[str, Callable[..., Store]] = {"sqlite": open_sqlite}


@pytest.fixture(params=sorted(BACKENDS))
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    opened: list[Store] = []

    def open_once_more(**settings: int) -> Store:
        opened.append(BACKENDS[request.param](tmp_path / "store", **settings))
        return opened[-1]

    yield open_once_more
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()


@pytest.fixture
def start_process() -> Iterator[StartProcess]:
    started: list[Popen[str]] = []

    def start(body: str, folder: Path) -> Popen[str]:
        started.append(spawn(body, folder))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=5)
