"""A folder for the commands of one profile, a client that keeps its host alive, and a display for windows."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.onehost.support import hosts
from tests.support.processes import started_for, wait_until
from tests.support.site import Site
from tests.support.stdio import GRANT, Stdio, opened

PAGES = Path(__file__).parent / "pages"
LEFT_S = 8.0


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with Site(PAGES) as served:
        yield served


@contextmanager
def temporary_place() -> Iterator[Path]:
    """A folder that the browser's own uid can reach; afterwards no process may name it."""
    made = Path(tempfile.mkdtemp(prefix="capsdk-onehost-"))
    made.chmod(0o711)
    try:
        yield made
        wait_until(lambda: not started_for(made), LEFT_S, "processes were left behind")
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def place() -> Iterator[Path]:
    """The commands of this folder meet on a profile of one test."""
    with temporary_place() as made:
        yield made


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """The commands of this folder meet on a profile of the module."""
    with temporary_place() as made:
        yield made


@pytest.fixture(scope="module")
def client(shared: Path, site: Site) -> Iterator[Stdio]:
    """A client of the module's host, which lives as long as this one."""
    with Stdio(shared, *GRANT, *opened(site.places), app="client", ephemeral=False) as made:
        made.ok("run.progress", done=0)
        yield made
        assert len(hosts(shared)) == 1
        assert made.finish() == 0
        assert made.errors == b""


@pytest.fixture(scope="session")
def display() -> Iterator[dict[str, str]]:
    """The environment of an X display that asks for its key, as desktops do."""
    if not shutil.which("Xvfb") or not shutil.which("xauth"):
        pytest.skip("no Xvfb or no xauth here: apt-get install xvfb xauth")
    with tempfile.TemporaryDirectory(prefix="capsdk-display-") as folder:
        key, authority = secrets.token_hex(16), f"{folder}/authority"
        add = ["xauth", "-q", "-f", authority, "add"]
        subprocess.run([*add, ":0", ".", key], check=True, capture_output=True, timeout=10)
        told, tells = os.pipe()
        words = ["Xvfb", "-displayfd", str(tells), "-screen", "0", "1024x768x24", "-auth", authority]
        with subprocess.Popen(words, pass_fds=(tells,), stderr=subprocess.DEVNULL) as server:
            os.close(tells)
            try:
                with open(told, "rb") as numbers:
                    name = ":" + numbers.readline().decode().strip()
                subprocess.run([*add, name, ".", key], check=True, capture_output=True, timeout=10)
                yield {"DISPLAY": name, "XAUTHORITY": authority, "WAYLAND_DISPLAY": ""}
            finally:
                server.terminate()
