"""Environments of the peers under .bench/: built on first use from pinned and hashed lists, never the product's own."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.children import ChildFailed, output_of

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".bench"
PEERS = ROOT / "bench" / "peers"
STAMP = "ready"
BUILD_S = 600.0

Say = Callable[[str], None]


class Unavailable(Exception):
    """The peer cannot be had here; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One peer's own: what it is built from, and how its client is started in `folder`."""

    name: str
    sources: tuple[Path, ...]
    build: Callable[[Path, tuple[Path, ...]], None]
    command: Callable[[Path], list[str]]

    @property
    def folder(self) -> Path:
        """Where it is built."""
        return HOME / self.name

    @property
    def key(self) -> str:
        """Changes with what it is built from, with, and where."""
        parts = [str(self.folder).encode(), sys.version.encode(), *(path.read_bytes() for path in self.sources)]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def ready(self, say: Say) -> list[str]:
        """The command that starts the client, once the environment is there. Raises Unavailable."""
        with _alone():
            stamp = self.folder / STAMP
            if not stamp.is_file() or stamp.read_text(encoding="utf-8") != self.key:
                say(f"setting up {self.name} under .bench/ (only the first time)")
                self._build()
                stamp.write_text(self.key, encoding="utf-8")
        return self.command(self.folder)

    def _build(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            self.build(self.folder, self.sources)
        except ChildFailed as problem:
            raise Unavailable(str(problem).splitlines()[-1][:300]) from None


@contextmanager
def _alone() -> Iterator[None]:
    """One set-up at a time: two benchmarks may be started at once."""
    HOME.mkdir(exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_python(folder: Path, sources: tuple[Path, ...]) -> None:
    """A virtual environment with a list's packages."""
    # behind a virtual environment is the interpreter that it was made with
    base = getattr(sys, "_base_executable", "") or sys.executable
    output_of([base, "-m", "venv", str(folder)], timeout_s=BUILD_S)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--no-input", "--disable-pip-version-check", "install"]
    output_of([*pip, "--quiet", "--require-hashes", "-r", str(sources[0])], timeout_s=BUILD_S)


def _build_node(folder: Path, sources: tuple[Path, ...]) -> None:
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            raise Unavailable(f"there is no {tool} here; install Node.js 18 or newer with npm")
    for source in sources:
        shutil.copy(source, folder)
    words = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    output_of(words, timeout_s=BUILD_S, cwd=folder, env={**os.environ, "PUPPETEER_SKIP_DOWNLOAD": "1"})


def python_module(module: str) -> Callable[[Path], list[str]]:
    """Starts a module of ours in such an environment."""
    return lambda folder: [str(folder / "bin" / "python"), "-m", module]


def environments() -> dict[str, Environment]:
    """All of them, by the name of the subject."""
    puppeteer = PEERS / "puppeteer"
    return {
        "cdp-use": Environment("cdp-use", (PEERS / "cdp-use.txt",), build_python, python_module("bench.peers.cdp_use")),
        "playwright": Environment(
            "playwright", (PEERS / "playwright.txt",), build_python, python_module("bench.peers.playwright")
        ),
        "puppeteer": Environment(
            "puppeteer",
            (puppeteer / "package.json", puppeteer / "package-lock.json"),
            _build_node,
            lambda folder: ["node", str(puppeteer / "client.mjs")],
        ),
    }
