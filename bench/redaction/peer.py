"""presidio-image-redactor in an environment and a process of its own; its boxes for pictures."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.environments import PEERS, ROOT, Environment, Say, Unavailable, build_python, python_module

ANSWER_S = 120.0
END_S = 10.0
LIST = PEERS / "presidio.txt"


def environment() -> Environment:
    """What it is built from, and how it is started."""
    return Environment("presidio", (LIST,), build_python, python_module("bench.peers.presidio"))


@dataclass(slots=True)
class Peer:
    """The running one; `cold_s` is what its start took, `peak_mb` its own memory (not its OCR's) after a picture."""

    process: subprocess.Popen[str]
    cold_s: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    peak_mb: float = 0.0

    def read(self, timeout_s: float = ANSWER_S) -> dict[str, Any]:
        """One line of its answers. Raises Unavailable when it has ended, or is not done in time."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)  # it writes one line at a time, whole
        if not ready:
            raise Unavailable(f"it gave no answer within {timeout_s:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise Unavailable(f"it ended with {self.process.wait(END_S)}")
        known: dict[str, Any] = json.loads(line)
        return known

    def redact(self, picture: Path) -> dict[str, Any]:
        """`boxes` in pixels, `types`, `ms`. Raises Unavailable."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"path": str(picture)}) + "\n")
        self.process.stdin.flush()
        answer = self.read()
        self.peak_mb = max(self.peak_mb, answer["peak_kb"] / 1024)
        return answer


@contextmanager
def peer(say: Say) -> Iterator[Peer]:
    """One for the time of a `with`. Raises Unavailable."""
    words = environment().ready(say)
    given = {**os.environ, "OMP_THREAD_LIMIT": "1", "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        words, cwd=ROOT, env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        made = Peer(process)
        first = made.read()
        made.cold_s, made.versions = first["cold_s"], first["versions"]
        yield made
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
