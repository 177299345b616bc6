"""The commands as an owner types them, each in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.app import places_of
from host.apps import Apps
from host.core.settings import Settings
from host.sandbox.appfolder import load_app
from tests.apps.conftest import MakeApp
from tests.apps.support import files_of, grant, grants
from tests.apps.test_describing import references
from tests.support.processes import started_for, wait_until
from tests.support.stdio import ROOT, capsdk, environment


class Owner:
    """Somebody with a home of their own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {
            "CAPSDK_STATE_DIR": f"{home}/state",
            "CAPSDK_PROFILE_DIR": f"{home}/profile",
            "XDG_RUNTIME_DIR": f"{home}/run",
        }
        (home / "run").mkdir(mode=0o700)

    def types(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """One command, without a terminal."""
        return capsdk(self.home, *words, env=self.env)

    def reads(self, *words: str) -> Any:
        """What a command prints as JSON."""
        done = self.types(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def types_on_terminal(self, answer: str, *words: str) -> tuple[int, str]:
        """One command on a terminal, answering its question: the status, and what was shown."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execve(sys.executable, [sys.executable, "-m", "host.main", *words], environment(self.home, self.env))
        shown = b""
        try:
            deadline = time.monotonic() + 20
            while b"[y/N]" not in shown and time.monotonic() < deadline:
                shown += os.read(terminal, 4096)
            os.write(terminal, answer.encode())
            while piece := read_or_end(terminal):
                shown += piece
        finally:
            os.close(terminal)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return status, shown.decode()


def read_or_end(terminal: int) -> bytes:
    """The next bytes, none when the other side is closed (Linux tells that with EIO)."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


def test_an_app_comes_is_listed_described_and_goes(owner: Owner, make_app: MakeApp) -> None:
    source = make_app(more='[output]\ncolumns = ["title"]\n')
    assert owner.types("apps", "install", str(source)).returncode == 0
    (row,) = owner.reads("apps", "list")
    assert (row["id"], row["name"], row["version"]) == ("shop", "Shop", "1.0")
    assert row["capabilities"] == ["browser.debug"]
    assert files_of(owner.home / "state" / "apps" / "shop" / row["revision"]) == files_of(source)
    manifest = owner.reads("apps", "describe", "shop")
    assert (manifest["id"], manifest["output"]["columns"][0]["name"]) == ("shop", "title")
    assert b"shop" in owner.types("apps", "list").stdout
    assert owner.types("apps", "remove", "shop").returncode == 0
    assert owner.reads("apps", "list") == []


def test_the_described_entries_are_the_references(owner: Owner) -> None:
    assert owner.reads("apps", "describe") == references()


UNKNOWN = (("apps", "remove", "gone"), ("apps", "describe", "gone"), ("apps", "install", "gone"))


@pytest.mark.parametrize("words", UNKNOWN, ids=" ".join)
def test_what_is_not_there_ends_with_its_status(owner: Owner, words: tuple[str, ...]) -> None:
    done = owner.types(*words)
    assert done.returncode == 66
    assert b"APP_NOT_FOUND" in done.stderr
    assert b"Traceback" not in done.stderr


def changed_app_with_a_grant(owner: Owner, make_app: MakeApp) -> Path:
    """An app that is installed and allowed, and whose folder has changed since."""
    state = owner.home / "state"
    Apps(places_of(Settings(state_dir=str(state)))).install(load_app(make_app()), 1)
    asyncio.run(grant(state, "app:shop", "browser.debug", "allow"))
    return make_app(main="# changed\n")


def test_without_a_terminal_changed_code_needs_a_flag(owner: Owner, make_app: MakeApp) -> None:
    source = changed_app_with_a_grant(owner, make_app)
    done = owner.types("apps", "install", str(source))
    assert done.returncode == 2
    assert b"--keep-grants" in done.stderr
    assert owner.types("apps", "install", str(source), "--keep-grants").returncode == 0
    assert grants(owner.home / "state") == {("app:shop", "browser.debug"): "allow"}
    make_app(main="# changed again\n")
    assert owner.types("apps", "install", str(source), "--drop-grants").returncode == 0
    assert grants(owner.home / "state") == {}


@pytest.mark.parametrize(("answer", "kept"), [("y\n", True), ("\n", False)], ids=["yes", "enter-alone"])
def test_on_a_terminal_the_owner_is_asked(owner: Owner, make_app: MakeApp, answer: str, kept: bool) -> None:
    source = changed_app_with_a_grant(owner, make_app)
    status, shown = owner.types_on_terminal(answer, "apps", "install", str(source))
    assert status == 0, shown
    assert "browser.debug=allow" in shown
    assert grants(owner.home / "state") == ({("app:shop", "browser.debug"): "allow"} if kept else {})


@pytest.fixture
def profile_home(owner: Owner) -> Iterator[Path]:
    """A place for the profile that the browser's own uid can reach; a test's own folders are closed to it."""
    home = Path(tempfile.mkdtemp(prefix="capsdk-test-"))
    home.chmod(0o711)
    owner.env["CAPSDK_PROFILE_DIR"] = str(home / "profile")
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.mark.chromium
def test_an_installed_app_runs_by_its_own_grant(owner: Owner, profile_home: Path) -> None:
    receipts = str(ROOT / "scripts" / "receipts")
    assert owner.types("apps", "install", receipts).returncode == 0
    assert owner.types("grants", "set", "app:receipts", "browser.debug", "allow").returncode == 0
    ran = [owner.types(*words, "receipts", "--fixture", "--json") for words in (("apps", "run"), ("run",))]
    refused = owner.types("run", receipts, "--fixture", "--json")
    wanted = json.loads((ROOT / "scripts/receipts/tests/expected.json").read_text())["result"]["rows"]
    (installed,) = owner.reads("apps", "list")
    for done in ran:
        assert done.stdout, done.stderr
        envelope = json.loads(done.stdout)
        assert envelope["ok"], envelope
        assert json.loads(envelope["result"]["rowsJson"]) == wanted, (envelope, done.stderr)
        assert envelope["run"]["revision"] == installed["revision"]
    assert refused.returncode == 77
    assert json.loads(refused.stdout)["error"]["code"] == "APPROVAL_PENDING"
    wait_until(
        lambda: not (started_for(owner.home) or started_for(profile_home)), 10, "the host ends with its last client"
    )
