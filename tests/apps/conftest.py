"""Apps on a real disk, and a host without a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from host.app import Host, Places, open_host, places_of
from host.core.settings import Settings
from tests.apps.support import write_app

MakeApp = Callable[..., Path]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sandbox's cache, filled once for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def settings(tmp_path: Path, cache: Path) -> Settings:
    """Folders of the test's own."""
    return Settings(state_dir=f"{tmp_path}/state", cache_dir=str(cache), profile_dir=f"{tmp_path}/profile")


@pytest.fixture
def places(settings: Settings) -> Places:
    """The same, as paths."""
    return places_of(settings)


@pytest.fixture
def make_app(tmp_path: Path) -> MakeApp:
    """Writes an app folder; a second call with the same `folder` changes it."""

    def make(folder: str = "source", **changes: Any) -> Path:
        return write_app(tmp_path / folder, **changes)

    return make


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[Host]:
    """A whole host; its Chromium starts only when a session is opened."""
    async with open_host(settings, own_profile=True) as made:
        yield made
