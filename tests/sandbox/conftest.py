"""One module blob for the whole folder, and one worker for all attempts that cannot hurt it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from host.sandbox.launcher import TIERS, SandboxConfig
from tests.sandbox.support import Conversation, conversation, probe_config


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> SandboxConfig:
    return probe_config(tmp_path_factory.mktemp("blob"))


@pytest.fixture(params=TIERS)
def either(config: SandboxConfig, request: pytest.FixtureRequest) -> SandboxConfig:
    """In each tier."""
    return replace(config, tiers=(request.param,))


@pytest.fixture(scope="session")
def shared(config: SandboxConfig) -> Iterator[Conversation]:
    with conversation(config) as talk:
        yield talk


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of the host's that a worker must not see."""
    secret = tmp_path / "secret"
    secret.write_text("the owner's")
    return secret
