"""A conversation with a real worker that runs `probe_runtime`, and what /proc says about processes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from host.sandbox.launcher import CAPSDK, SandboxConfig, launch
from host.sandbox.process import Worker
from host.sandbox.worker import NOOPEN

PROBE_RUNTIME = Path(__file__).parent / "probe_runtime"
ANSWER_TIMEOUT_S = 10.0
CONTROL = "sum(json.loads(json.dumps(list(range(10)))))"


class Conversation:
    """Asks a worker to try something; a worker that does not answer is an error, never an outcome."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        worker.sock.settimeout(ANSWER_TIMEOUT_S)
        self._lines = worker.sock.makefile("rb")

    def say(self, source: str, **given: Any) -> None:
        """Ask and do not wait."""
        self.worker.sock.sendall(json.dumps({"source": source, "given": given}).encode() + b"\n")

    def ask(self, source: str, **given: Any) -> dict[str, str]:
        """The outcome, see `probe_runtime.attempt`."""
        self.say(source, **given)
        line = self._lines.readline()
        assert line, f"the worker ended: {self.ending()}"
        outcome: dict[str, str] = json.loads(line)
        return outcome

    def control(self) -> None:
        """Useful code runs in this very worker: without that no refusal counts."""
        assert self.ask(CONTROL) == {"value": "45"}

    def ending(self) -> str:
        """How the worker ended, in words."""
        return asyncio.run(self.worker.wait(ANSWER_TIMEOUT_S))

    def close(self) -> None:
        """End the worker."""
        self._lines.close()
        asyncio.run(self.worker.aclose())


def probe_config(cache_dir: Path, *tiers: str) -> SandboxConfig:
    """A worker that does what the tests say; in the tier that every machine has, when none is named."""
    packages = (CAPSDK, PROBE_RUNTIME)
    return SandboxConfig(cache_dir, packages=packages, runtime="probe_runtime", tiers=tiers or (NOOPEN,))


@contextmanager
def conversation(config: SandboxConfig, **changes: Any) -> Iterator[Conversation]:
    """A fresh worker; ended at the end."""
    talk = Conversation(asyncio.run(launch(replace(config, **changes))))
    try:
        talk.control()
        yield talk
    finally:
        talk.close()


def is_running(pid: int) -> bool:
    """Whether the process lives (a zombie does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def wait_until_gone(pid: int, timeout_s: float) -> bool:
    """Whether the process ended within the time."""
    deadline = time.monotonic() + timeout_s
    while is_running(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
