"""Chromium's keeper: of a host that died nothing is left. In Chromium's place a program that ends."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from host.browser.process import start_keeper


@contextmanager
def kept(profile: Path, *argv: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A keeper of that program, and the host's end of its death pipe."""
    nothing = os.open(os.devnull, os.O_RDWR)
    death_read, death_write = os.pipe()
    settings: dict[str, Any] = {"argv": argv, "env": {}, "uid": None, "profile": str(profile), "remove": True}
    keeper = start_keeper(settings, (nothing, nothing, death_read), nothing, [])
    for fd in (nothing, death_read):
        os.close(fd)
    try:
        yield keeper, death_write
    finally:
        keeper.kill()
        keeper.wait(5)


def test_a_host_that_dies_before_the_profile_is_ready_leaves_none(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    with kept(profile, "/bin/sleep", "60") as (keeper, death):
        profile.mkdir()
        os.close(death)
        assert keeper.wait(5) == 0
    assert not profile.exists()


@pytest.mark.parametrize("later_s", [0.0, 0.1])
def test_a_host_that_dies_with_chromium_leaves_no_profile_whichever_is_seen_first(
    tmp_path: Path, later_s: float
) -> None:
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "file").touch()
    with kept(profile, "/bin/true") as (keeper, death):
        os.write(death, b"+")
        time.sleep(later_s)
        os.close(death)
        assert keeper.wait(5) == 0
    assert not profile.exists()


def test_the_profile_of_a_host_that_lives_stays(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.mkdir()
    with kept(profile, "/bin/false") as (keeper, death):
        os.write(death, b"+")
        assert keeper.wait(5) == 1
        os.close(death)
    assert profile.exists()
