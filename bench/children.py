"""Processes of the benchmark that end with it: asked first, then made to; what they started ends with them."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

ASKED_S = 10.0


class ChildFailed(Exception):
    """A process gave no result; its last words are the message."""


def end_when_asked() -> None:
    """Let SIGTERM end this process as Ctrl-C does: through every `finally`. A shell's background job gets both back."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, interrupted)


@contextmanager
def running(words: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended when the block is left early."""
    child = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(ASKED_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()


def output_of(words: Sequence[str], *, timeout_s: float, **options: Any) -> str:
    """What it wrote to standard output. Raises ChildFailed."""
    try:
        with running(words, **options) as child:
            said, complained = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise ChildFailed(f"not done within {timeout_s:g} s") from None
    except OSError as problem:
        raise ChildFailed(f"{words[0]}: {problem.strerror}") from None
    if child.returncode != 0:
        raise ChildFailed((complained.strip() or said.strip())[-2000:] or f"ended with {child.returncode}")
    return said
