"""Chromium missing, not starting and running: the true reason, a uid and sandbox of its own, private files."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.app import BROWSER_UID, open_host
from host.core.settings import Settings
from tests.support.processes import browser_process, chromium_of, command_line, read, renderers, uids, wait_until
from tests.support.stdio import GRANT, Stdio, seconds

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a uid to leave")


def failing(place: Path, name: str, text: str) -> str:
    """A program in the place of Chromium."""
    path = place / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_missing_chromium_says_what_installs_it(place: Path) -> None:
    (place / "plain.txt").write_text("no program")
    for binary in ("/nonexistent/chromium", str(place), str(place / "plain.txt")):
        with Stdio(place, *GRANT, env={"CAPSDK_BROWSER": binary}) as host:
            problem = host.error("browser.openSession", url="about:blank")
            assert (problem["code"], problem["category"]) == ("BROWSER_UNAVAILABLE", "unavailable")
            assert "CAPSDK_BROWSER" in problem["hint"]
            assert host.finish() == 0
            assert host.errors == b""


def test_a_chromium_that_ends_at_once_is_told_with_its_last_words_each_time(place: Path) -> None:
    binary = failing(place, "broken", "#!/bin/sh\necho first >&2\necho 'cannot find my libraries' >&2\nexit 1\n")
    with Stdio(place, *GRANT, env={"CAPSDK_BROWSER": binary}) as host:
        for _ in range(2):
            start = time.monotonic()
            problem = host.error("browser.openSession", url="about:blank")
            assert problem["code"] == "BROWSER_LAUNCH_FAILED"
            assert problem["details"] == {"status": 1, "stderr": "first\ncannot find my libraries"}
            assert problem["hint"] != ""
            assert seconds(start) < 4.0
        assert host.finish() == 0
        assert host.errors == b""


def test_a_chromium_without_a_usable_sandbox_names_the_setting_that_mends_it(place: Path) -> None:
    binary = failing(place, "boxed", "#!/bin/sh\necho 'FATAL: No usable sandbox!' >&2\nexit 1\n")
    with Stdio(place, *GRANT, env={"CAPSDK_BROWSER": binary}) as host:
        assert "CAPSDK_BROWSER_SANDBOX=off" in host.error("browser.openSession", url="about:blank")["hint"]
        assert host.finish() == 0


HANGS = (
    pytest.param("#!/bin/sh\necho waiting >&2\nexec /bin/sleep 60\n", id="deaf"),
    pytest.param("#!/bin/sh\necho waiting >&2\n/bin/sleep 60 &\n/bin/sleep 60\n", id="deaf-with-a-child"),
    pytest.param("#!/bin/sh\necho waiting >&2\ntrap '' TERM INT HUP\nwhile :; do /bin/sleep 1; done\n", id="stubborn"),
)


@pytest.mark.parametrize("text", HANGS)
def test_a_chromium_that_does_not_answer_is_ended_within_the_limit(place: Path, text: str) -> None:
    env = {"CAPSDK_BROWSER": failing(place, "deaf", text), "CAPSDK_LIMIT_LAUNCH_TIMEOUT_S": "1"}
    with Stdio(place, *GRANT, env=env) as host:
        start = time.monotonic()
        problem = host.error("browser.openSession", url="about:blank")
        assert (problem["code"], problem["details"]["stderr"]) == ("BROWSER_LAUNCH_FAILED", "waiting")
        assert seconds(start) < 5.0
        assert host.finish() == 0


@pytest.mark.parametrize("mode", [pytest.param(0o700, id="closed-to-its-uid")])
@as_root
def test_a_binary_that_the_browsers_uid_may_not_start_is_told(place: Path, mode: int) -> None:
    Path(failing(place, "mine", "#!/bin/sh\nexit 0\n")).chmod(mode)
    with Stdio(place, *GRANT, env={"CAPSDK_BROWSER": str(place / "mine")}) as host:
        problem = host.error("browser.openSession", url="about:blank")
        assert problem["code"] == "BROWSER_LAUNCH_FAILED"
        assert "Permission denied" in problem["details"]["stderr"]
        assert host.finish() == 0


# --- one that runs


@as_root
def test_no_process_of_chromium_is_roots(host: Stdio, blank: str) -> None:
    wait_until(lambda: renderers(host.folder), 3.0, "a renderer")
    found = {pid: uids(pid) for pid in chromium_of(host.folder)}
    assert len(found) >= 4
    assert {uid for ids in found.values() for uid in ids} == {BROWSER_UID}
    groups = {line for pid in found for line in read(pid, "status").decode().splitlines() if line.startswith("Groups:")}
    assert {line.split(":")[1].strip() for line in groups} == {""}


def test_chromiums_own_sandbox_is_on(host: Stdio, blank: str) -> None:
    wait_until(lambda: renderers(host.folder), 3.0, "a renderer")
    words = [word for pid in chromium_of(host.folder) for word in command_line(pid)]
    assert "--no-sandbox" not in words
    for pid in renderers(host.folder):
        status = dict(line.split(":\t", 1) for line in read(pid, "status").decode().splitlines() if ":\t" in line)
        assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
        assert os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid")


def test_chromium_opens_no_port_and_has_no_path_for_programs(host: Stdio, blank: str) -> None:
    main = browser_process(host.folder)
    assert not any(word.startswith("--remote-debugging-port") for word in command_line(main))
    assert b"PATH=/nonexistent" in read(main, "environ").split(b"\0")
    sockets = {os.readlink(f"/proc/{main}/fd/{name}") for name in os.listdir(f"/proc/{main}/fd")}
    listening = [line.split() for line in (*read(main, "net/tcp").splitlines(), *read(main, "net/tcp6").splitlines())]
    assert [row for row in listening if row[3] == b"0A" and f"socket:[{row[9].decode()}]" in sockets] == []


def modes(folder: Path) -> dict[str, str]:
    """What may be done with each file and folder, by its path below."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        if not stat.S_ISLNK(status.st_mode):
            found[str(path.relative_to(folder))] = f"{'d' if path.is_dir() else '-'}{status.st_mode & 0o777:o}"
    return found


def test_folders_and_files_of_a_host_are_private(place: Path) -> None:
    with Stdio(place, *GRANT, ephemeral=False) as host:
        host.open("about:blank")
        state = modes(place / "state")
        assert set(state.values()) <= {"d700", "-600"}
        assert {"state.db", "ledger.db"} <= state.keys()
        assert modes(place / "profiles" / "default")["."] == "d700"
        assert modes(place / "profiles")["default.capsdk.lock"] == "-600"
        assert host.finish() == 0
    assert set(modes(place / "state").values()) <= {"d700", "-600"}


def test_temporary_folders_are_private(host: Stdio, blank: str) -> None:
    found = {path.name: oct(path.stat().st_mode & 0o777) for path in host.folder.glob("capsdk-*")}
    assert sorted(name.rsplit("-", 1)[0] for name in found) == ["capsdk-profile", "capsdk-state"]
    assert set(found.values()) == {"0o700"}


@pytest.fixture
def temporary(place: Path) -> Iterator[Path]:
    """Where this process makes its temporary folders."""
    before, tempfile.tempdir = tempfile.tempdir, str(place)
    yield place
    tempfile.tempdir = before


async def test_the_hosts_log_is_private_from_its_first_line(temporary: Path) -> None:
    async with open_host(Settings(), ephemeral=True) as made:
        logging.getLogger("capsdk.test").error("a line")
        assert oct(made.places.log.stat().st_mode & 0o777) == "0o600"


async def test_a_host_may_be_closed_while_chromium_starts(temporary: Path) -> None:
    for delay_s in (0.0, 0.01, 0.05, 0.1, 0.2, 0.4):
        async with open_host(Settings(), ephemeral=True) as made:
            starting = asyncio.ensure_future(made.browser.new_tab())
            await asyncio.sleep(delay_s)
        await asyncio.gather(starting, return_exceptions=True)
        wait_until(lambda: not chromium_of(temporary), 2.0, "processes were left behind")
    assert [name for name in os.listdir(temporary) if name.startswith("capsdk-")] == []


@as_root
async def test_links_that_a_hostile_browser_left_in_its_profile_lead_the_host_nowhere(temporary: Path) -> None:
    precious = temporary / "precious"
    precious.mkdir(mode=0o700)
    (precious / "Preferences").write_text("the owner's own")
    (precious / "note").write_text("the owner's own")
    profile = temporary / "profiles" / "default"
    settings = Settings(profile_dir=str(profile), state_dir=str(temporary / "state"))
    async with open_host(settings) as made:
        await made.browser.connection()
    before = {path.name: (path.stat().st_uid, path.read_text()) for path in precious.iterdir()}
    for name in ("Default", "Default/Preferences.capsdk", "Default/Preferences"):
        target = profile / name
        if target.is_dir():
            target.rename(profile / "moved")
            target.symlink_to(precious)
        else:
            target.unlink(missing_ok=True)
            target.symlink_to(precious / "note")
        try:
            async with open_host(settings) as made:
                await asyncio.gather(made.browser.connection(), return_exceptions=True)
        finally:
            target.unlink(missing_ok=True)
        assert {path.name: (path.stat().st_uid, path.read_text()) for path in precious.iterdir()} == before
        if (profile / "moved").exists():
            (profile / "moved").rename(profile / "Default")
