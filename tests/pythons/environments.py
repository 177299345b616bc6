"""A virtual environment a Python version, kept below the checkout, with the very packages of requirements.lock."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.pythons.interpreters import Interpreter

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".pythons"
SETUP_S = 600.0
NO_WHEEL = re.compile(r"No matching distribution found for (\S+)|satisfies the requirement (\S+)")


class NoWheel(Exception):
    """A package of the lock is not published for this version; the message names it."""


class SetupFailed(Exception):
    """The environment could not be built although there is an interpreter; the message is the tool's last lines."""


def environment(wanted: str, interpreter: Interpreter, folder: Path = FOLDER) -> Path:
    """The environment's Python; built when it is missing, or was built from another lock or interpreter.

    Raises NoWheel and SetupFailed. Two at a time are not meant to be started.
    """
    venv = folder / wanted
    python, stamp = venv / "bin" / "python", venv / "capsdk-setup"
    key = key_of(interpreter)
    if python.exists() and stamp.is_file() and stamp.read_text(encoding="utf-8") == key:
        return python
    shutil.rmtree(venv, ignore_errors=True)
    _run(str(interpreter.path), "-m", "venv", str(venv))
    pip = (str(python), "-m", "pip", "--no-input", "install", "--quiet")
    # What has no wheel would be compiled here, for minutes, or not at all.
    _run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / "requirements.lock"))
    _run(*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT))
    stamp.write_text(key, encoding="utf-8")  # last: an interrupted set-up leaves none
    return python


def key_of(interpreter: Interpreter) -> str:
    """What the environment has been built from, as one word."""
    digest = hashlib.sha256(repr((str(ROOT), str(interpreter.path), interpreter.version)).encode())
    for name in ("requirements.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def _run(*command: str) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SETUP_S,
            env=_plain(),
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as problem:
        raise SetupFailed(str(problem)) from None
    if done.returncode == 0:
        return
    missing = NO_WHEEL.search(done.stderr)
    if missing:
        raise NoWheel(missing[1] or missing[2])
    raise SetupFailed("\n".join((done.stdout + done.stderr).strip().splitlines()[-5:]))


def _plain() -> dict[str, str]:
    # As in ./dev: settings of an index or a proxy stay, those that would lead elsewhere do not.
    dropped = ("PYTHONHOME", "PYTHONPATH", "PIP_CONSTRAINT", "PIP_PREFIX", "PIP_REQUIRE_HASHES", "PIP_TARGET")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
