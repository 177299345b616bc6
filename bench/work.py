"""One subject of `./dev bench all`, once: `python -m bench.work SUBJECT TASK`; its figures as JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.children import end_when_asked, output_of
from bench.marks import Marks

ROOT = Path(__file__).resolve().parent.parent
PEER_S = 240.0
SCRIPT = "script"
OVER_PORT = frozenset(("websocket", "cdp-use", "playwright"))


def main() -> int:
    """Measure; the task is JSON with `plan`, and `command` for a peer in an environment of its own."""
    end_when_asked()
    name, task = sys.argv[1], json.loads(sys.argv[2])
    figures = script(task) if name == SCRIPT else peer(name, task)
    print(json.dumps(figures))
    return 0


def script(task: Mapping[str, Any]) -> dict[str, Any]:
    """The product, in this process. With `profile`, the figures hold what `bench.profiling` found."""
    from bench.product import run_app  # only here: what a peer's parent needs is not the host's memory

    plan = task["plan"]
    marks = Marks(os.getpid(), [os.getpid()])
    place = urlsplit(plan["page"]).netloc
    if not task.get("profile"):
        return marks.added_to(run_app({"plan": plan}, marks.read, loopback=place))
    from bench.profiling import Profiler

    profiler = Profiler(task["profile"])

    def mark(name: str) -> None:
        marks.read(name)
        profiler.mark(name)

    with profiler.tracing():
        figures = run_app({"plan": plan}, mark, loopback=place)
    return {**marks.added_to(figures), "profile": profiler.found()}


def peer(name: str, task: Mapping[str, Any]) -> dict[str, Any]:
    """A client in a process of its own, with a Chromium that is started as the host starts its own."""
    from bench.chromium import chromium

    command = task.get("command") or [sys.executable, "-m", "bench.peers.direct"]
    with chromium(port=name in OVER_PORT) as browser:
        fds = (browser.read_fd, browser.write_fd)
        given = {**task_of_peers(), "plan": task["plan"], "address": browser.address}
        given |= {"read_fd": fds[0], "write_fd": fds[1]}
        folder = command_folder(name)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        try:
            said = output_of([*command, json.dumps(given)], timeout_s=PEER_S, pass_fds=fds, cwd=folder, env=environment)
        finally:
            for fd in fds:
                os.close(fd)
    figures: dict[str, Any] = json.loads(said.splitlines()[-1])
    return figures


def command_folder(name: str) -> Path:
    """Where the client is started: Node finds its packages from there."""
    return ROOT / ".bench" / name if name == "puppeteer" else ROOT


def task_of_peers() -> dict[str, Any]:
    """What a client that cannot import the works has to know of them."""
    from bench.app import main as works
    from bench.peers.worker import DOMAINS

    return {
        "texts": works.FLOOD_TEXTS,
        "large_chars": works.LARGE_CHARS,
        "outstanding": works.OUTSTANDING,
        "sessions": works.SESSIONS,
        "warm_up": works.WARM_UP_CALLS,
        "domains": DOMAINS,
    }


if __name__ == "__main__":
    sys.exit(main())
