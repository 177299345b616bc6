"""Which Python versions this machine has; nothing is installed or fetched here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
START_S = 20.0
SYSTEM_FOLDERS = (Path("/usr/local/bin"), Path("/usr/bin"))

# A shim of a version manager and another virtual environment both lead to the interpreter behind them.
QUESTION = """
import json, platform, sys, ensurepip, venv
print(json.dumps([platform.python_implementation(), platform.python_version(), sys._base_executable]))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One that can build a virtual environment; `version` is the whole one, like 3.12.1."""

    path: Path
    version: str


def find(wanted: str, environment: Mapping[str, str] | None = None) -> Interpreter | None:
    """The first CPython of the version `wanted` (`3.12`) that starts and can build a virtual environment."""
    seen: set[Path] = set()
    for candidate in candidates(wanted, os.environ if environment is None else environment):
        if candidate not in seen and candidate.is_file():
            seen.add(candidate)
            found = ask(candidate)
            if found is not None and found.version.startswith(f"{wanted}."):
                return found
    return None


def candidates(wanted: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where one may be, best first: our own, on PATH, of the system, of version managers with the newest first."""
    name = f"python{wanted}"
    if sys.version_info[:2] == tuple(map(int, wanted.split("."))):
        yield Path(sys.executable)
    yield from (Path(folder, name) for folder in environment.get("PATH", "").split(os.pathsep) if folder)
    yield from (folder / name for folder in SYSTEM_FOLDERS)
    home = Path(environment.get("HOME") or Path.home())
    for kept, pattern in (
        (Path(environment.get("PYENV_ROOT") or home / ".pyenv") / "versions", f"{wanted}*"),
        (Path(environment.get("XDG_DATA_HOME") or home / ".local/share") / "uv/python", f"cpython-{wanted}*"),
    ):
        yield from (folder / "bin" / name for folder in sorted(kept.glob(pattern), key=_patch_level, reverse=True))


def ask(path: Path) -> Interpreter | None:
    """What the program says of itself; None when it does not start, is no CPython, or lacks venv or ensurepip."""
    try:
        done = subprocess.run([path, "-I", "-c", QUESTION], capture_output=True, timeout=START_S, check=True)
        kind, version, base = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(Path(base), version) if kind == "CPython" else None


def _patch_level(folder: Path) -> tuple[int, ...]:
    numbers = folder.name.removeprefix("cpython-").partition("-")[0].split(".")
    return tuple(int(number) for number in numbers if number.isdigit())
