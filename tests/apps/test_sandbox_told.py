"""Which sandbox a run had, and why not a better one: told by `host.info`, the ledger, `capsdk doctor` and the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from host.app import Host
from host.commands import run_on
from host.doctor import check_sandbox
from host.frontends.cli import RunRequest
from host.sandbox import bwrap
from host.sandbox.launcher import SandboxConfig
from host.sandbox.pool import WorkerPool
from tests.apps.support import run_in, write_app

ASKS = """
from capsdk import Result

async def main(input, ctx):
    told = await ctx.cap.call("host.info")
    return Result.ok([{"own": told["sandboxTier"], **told["sandbox"]}])
"""
LOOKS_AROUND = """
import os
from capsdk import Result

async def main(input, ctx):
    return Result.ok([{"files": len(os.listdir("/")), "root": os.getuid() == 0}])
"""
MISSING = Path("/nonexistent/bwrap")


async def started(host: Host) -> str:
    """What the ledger says of the newest run's start."""
    await host.store.flush()
    rows = [row for row in await host.store.tail(50) if (row.kind, row.verdict) == ("run", "started")]
    return str(rows[-1].reason)


async def test_a_run_tells_its_tier(host: Host, tmp_path: Path) -> None:
    told = await run_in(host, str(write_app(tmp_path / "app", main=ASKS)))
    (row,) = json.loads(told["result"]["rowsJson"])
    assert row["own"] == row["tier"] == told["run"]["tier"]
    assert row["tier"] in ("bwrap", "noopen")
    assert (await started(host)).startswith(f"tier {row['tier']}")


async def test_why_a_better_tier_was_not_taken_is_told_everywhere(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bwrap, "PLACES", (MISSING,))
    told = await run_in(host, str(write_app(tmp_path / "app", main=ASKS)))
    (row,) = json.loads(told["result"]["rowsJson"])
    assert (row["own"], row["tier"]) == ("noopen", "noopen")
    (reason,) = row["reasons"]
    assert reason.startswith("bwrap: ")
    assert reason in await started(host)
    said = await check_sandbox(host.settings)
    assert said.works
    assert f"not {reason}" in said.seen


async def unsafe_run(host: Host, app: Path, unsafe: bool) -> dict[str, Any]:
    async def this_host() -> Host:
        return host

    request = RunRequest(str(app), None, False, (), (), False, unsafe_no_sandbox=unsafe)
    return await run_on(this_host, request, lambda kind, data: None, host.places)


async def test_without_a_sandbox_a_script_runs_only_by_the_owners_word_which_stands_in_the_ledger(
    host: Host, tmp_path: Path
) -> None:
    app = write_app(tmp_path / "app", main=LOOKS_AROUND)
    host.workers = WorkerPool(SandboxConfig(host.places.cache, tiers=("bwrap",), bwrap=MISSING), 0)
    refused = await unsafe_run(host, app, False)
    assert (refused["ok"], refused["error"]["code"]) == (False, "SANDBOX_UNAVAILABLE")
    done = await unsafe_run(host, app, True)
    (row,) = json.loads(done["result"]["rowsJson"])
    assert row["files"] > 0
    assert row["root"] is False
    assert done["run"]["tier"] == "none"
    await host.store.flush()
    words = [row.reason for row in await host.store.tail(50) if row.verdict == "opened"]
    assert words == ["--unsafe-no-sandbox"]
    assert (await started(host)).startswith("tier none")


async def test_the_owners_word_takes_no_sandbox_away(host: Host, tmp_path: Path) -> None:
    done = await unsafe_run(host, write_app(tmp_path / "app", main=LOOKS_AROUND), True)
    assert (done["ok"], done["error"]["code"]) == (False, "SCRIPT_FAILED")
    assert done["run"]["tier"] in ("bwrap", "noopen")
