"""Scripts in a real, locked worker, with a scripted host at the other end of its socket."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from host.sandbox.launcher import SandboxConfig, launch
from tests.sdk.fakehost import FakeHost, Told


async def run_locked(
    cache_dir: Path, tier: str, files: Mapping[str, str], given: Mapping[str, Any] | None = None
) -> Told:
    """Run one script to its end in a worker of this tier."""
    worker = await launch(SandboxConfig(cache_dir, tiers=(tier,)))
    try:
        host = await FakeHost.over(worker.sock)
        host.notice("start", entry="main.py", files=dict(files), input=dict(given or {}), run={"id": "r1"})
        told = await host.serve()
        host.close()
    finally:
        await worker.aclose()
    return told
