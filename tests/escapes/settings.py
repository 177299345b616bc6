"""The settings that probes are tried in, and the tests' end of each one's station."""

from __future__ import annotations

import functools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tests.escapes.world import SECRET, SECRET_NAME

ROOT = Path(__file__).resolve().parents[2]
STATION = Path("tests", "escapes", "station.py")
ORDINARY_UID = 64123  # nobody's, neither the workers' nor the browser's
ANSWER_S = 40.0
NAMESPACES = ("--mount", "--pid", "--fork", "--mount-proc", "--ipc", "--net", "--uts", "--kill-child")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a worker is started: in which tier, by whom, and whether that one is itself shut in like a container."""

    name: str
    tier: str
    is_root: bool
    contained: bool = False

    def missing(self) -> str | None:
        """Why this cannot be had here; None when it can."""
        if self.is_root and os.geteuid() != 0:
            return "only root can be root"
        if self.tier == "bwrap" and not namespaces_work(self.is_root):
            return "no namespaces by bubblewrap here"
        if not self.is_root and readable() is None:
            return "no Python that an ordinary user can run"
        return None


SETTINGS = (
    Setting("bwrap/root", "bwrap", is_root=True),
    Setting("bwrap/user", "bwrap", is_root=False),
    Setting("noopen/root", "noopen", is_root=True),
    Setting("noopen/user", "noopen", is_root=False),
    Setting("container", "noopen", is_root=True, contained=True),
)
CONTROL = Setting("control", "unlocked", is_root=True)


class StationFailed(AssertionError):
    """The station did not start or could not try: an error, never an outcome."""


class Station:
    """A station's process. Every answer has a deadline."""

    def __init__(self, setting: Setting, folder: Path, crippled: str | None = None) -> None:
        self.setting = setting
        self._greeting: Any = None
        python, root = (sys.executable, ROOT) if setting.is_root else readable() or (sys.executable, ROOT)
        own = folder / setting.name.replace("/", "-")
        cache = folder / ("cache" if setting.is_root else "cache-user")
        for each in (own, cache):
            each.mkdir(mode=0o755, exist_ok=True)
            if not setting.is_root and os.geteuid() == 0:
                os.chown(each, ORDINARY_UID, ORDINARY_UID)
        told = {
            "tier": setting.tier,
            "contained": setting.contained,
            "crippled": crippled,
            "folder": str(own),
            "cache": str(cache),
            "packages": [str(Path(msgspec.__file__).parents[1])],
        }
        command = [python, "-B", str(root / STATION), json.dumps(told)]
        if setting is CONTROL:
            command = ["unshare", *control_namespaces(), *command]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", SECRET_NAME: SECRET},
            **who(setting.is_root),
        )

    @property
    def pid(self) -> int:
        """Of the station itself, or what it was started with."""
        return self._process.pid

    @property
    def greeting(self) -> dict[str, Any]:
        """What it said of itself once it was ready. Raises StationFailed."""
        if self._greeting is None:
            self._greeting = self._hear()
        return dict(self._greeting)

    def ask(self, do: str, **arguments: Any) -> Any:
        """Have something done. Raises StationFailed."""
        self.begin(do, **arguments)
        return self.end()

    def begin(self, do: str, **arguments: Any) -> None:
        """Have something done that takes a while; `end` tells what came of it."""
        assert self.greeting is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise StationFailed(f"{self.setting.name}: {error}") from error

    def end(self) -> Any:
        """The answer to `begin`. Raises StationFailed."""
        return self._hear()

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()

    def close(self) -> None:
        """End it."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5.0)

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_S)
        line = self._process.stdout.readline() if ready else b""
        message = json.loads(line) if line else {"failed": "no answer" if not ready else "it ended"}
        if "failed" in message:
            raise StationFailed(f"{self.setting.name}: {message['failed']}")
        return message["answer"]


def who(is_root: bool) -> dict[str, Any]:
    """Options of Popen: root, or an ordinary user (who runs the tests, when that is no root)."""
    if is_root or os.geteuid() != 0:
        return {}
    return {"user": ORDINARY_UID, "group": ORDINARY_UID, "extra_groups": []}


@functools.cache
def readable() -> tuple[str, Path] | None:
    """A Python and a checkout that an ordinary user can read; a checkout in a closed folder is copied."""
    pythons = (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}", "/usr/bin/python3")
    for root in (ROOT, copied):
        for python in pythons:
            place = root if isinstance(root, Path) else root()
            if runs(python, place):
                return python, place
    return None


def runs(python: str, root: Path) -> bool:
    """Can an ordinary user start a station with it?"""
    source = f"import sys; sys.path.insert(0, {str(root)!r}); import tests.escapes.station"
    try:
        done = subprocess.run(
            [python, "-B", "-c", source], capture_output=True, timeout=20, cwd="/", env={}, check=False, **who(False)
        )
    except OSError:
        return False
    return done.returncode == 0


@functools.cache
def copied() -> Path:
    """A copy that everybody can read; pytest removes its own temporary folders, this one is removed by `forget`."""
    place = Path(tempfile.mkdtemp(prefix="capsdk-copy-"))
    place.chmod(0o755)
    for name in ("capsdk", "host", "tests"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    return place


def forget() -> None:
    """Remove the copy, if there was one."""
    if copied.cache_info().currsize:
        shutil.rmtree(copied(), ignore_errors=True)


@functools.cache
def namespaces_work(is_root: bool) -> bool:
    """Can bubblewrap make any? Asked with arguments of our own, not with the host's."""
    bare = ["/usr/bin/bwrap", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "/bin/true"]
    try:
        done = subprocess.run(bare, capture_output=True, timeout=10, env={}, cwd="/", check=False, **who(is_root))
    except OSError:
        return False
    return done.returncode == 0


def control_namespaces() -> tuple[str, ...]:
    """What keeps an unlocked attempt from this machine; an ordinary user is root in there only."""
    return NAMESPACES if os.geteuid() == 0 else ("--user", "--map-root-user", *NAMESPACES)


@functools.cache
def controls_work() -> bool:
    """Are there namespaces for attempts without a lock?"""
    done = subprocess.run(["unshare", *control_namespaces(), "true"], capture_output=True, timeout=10, check=False)
    return done.returncode == 0
