"""`python -m tests.apps.many_runs FOLDER`: run after run on one lasting host, a process of its own; prints figures."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path

from bench.memory import descendants_of
from host.app import Host, open_host
from host.core.settings import Settings
from tests.apps.support import run_in, write_app

RUNS = 200
WARM_UP = 60
DATA = "\nDATA = '" + "x" * 200_000 + "'\n"
WORKS = """
from capsdk import Result

async def main(input, ctx):
    ctx.log("begun")
    for _ in range(5):
        await ctx.cap.call("host.info")
    return Result.ok([{"text": "x" * 50_000}])
"""
FAILS = """
from capsdk import Result

async def main(input, ctx):
    await ctx.cap.call("apps.describe")
    raise ValueError("x" * 50_000)
"""
VANISHES = """
import os

async def main(input, ctx):
    await ctx.cap.call("host.info")
    os._exit(3)
"""


def resident_kib() -> int:
    """Of this process."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1])


async def one_round(host: Host, apps: list[Path], runs: int) -> dict[str, int]:
    """So many runs, then: memory in KiB, descriptors, and processes besides the workers that wait."""
    for number in range(runs):
        told = await run_in(host, str(apps[number % len(apps)]))
        assert told["ok"] == (number % len(apps) == 0), told
    await host.workers.settled()
    await host.store.flush()
    descriptors, processes = len(os.listdir("/proc/self/fd")), len(descendants_of(os.getpid()))
    return {"kib": resident_kib(), "descriptors": descriptors, "processes": processes}


async def main(folder: Path) -> list[dict[str, int]]:
    """The figures after the first runs, and after all."""
    kinds = {"works": WORKS, "fails": FAILS, "vanishes": VANISHES}
    apps = [write_app(folder / name, id=name, main=main + DATA, capabilities=()) for name, main in kinds.items()]
    settings = Settings(state_dir=f"{folder}/state", cache_dir=f"{folder}/cache")
    async with open_host(settings, own_profile=True, workers_kept=2) as host:
        return [await one_round(host, apps, WARM_UP), await one_round(host, apps, RUNS - WARM_UP)]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
