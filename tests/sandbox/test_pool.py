"""Workers that are started ahead: single use, under the run's own limits, in the best tier that works."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import UnavailableError
from host.sandbox import launcher
from host.sandbox.launcher import TIERS, SandboxConfig
from host.sandbox.pool import WorkerPool
from host.sandbox.process import Worker
from tests.sandbox.support import is_running
from tests.sandbox.test_launcher import exchange
from tests.support.processes import children

KEEP = 2


@pytest_asyncio.fixture
async def pool(either: SandboxConfig) -> AsyncIterator[WorkerPool]:
    made = WorkerPool(either, KEEP)
    try:
        yield made
    finally:
        await made.close()


async def filled(pool: WorkerPool) -> tuple[int, ...]:
    pool.fill()
    async with asyncio.timeout(10):
        await pool.settled()
    assert len(pool.warm) == KEEP
    return pool.warm


async def ask(worker: Worker, source: str) -> bytes:
    return await exchange(worker, b'{"source": "%s", "given": {}}\n' % source.encode())


async def test_each_run_has_a_worker_of_its_own_and_those_used_up_are_replaced(pool: WorkerPool) -> None:
    ahead = await filled(pool)
    seen = []
    for _ in range(4):
        worker = await pool.take()
        assert await ask(worker, "sum(range(4))") == b'{"value": "6"}\n'
        seen.append(worker.pid)
        await worker.aclose()
        assert not is_running(worker.pid)
    assert len(set(seen)) == 4
    assert seen[0] == ahead[0]
    assert not set(await filled(pool)) & set(seen)


async def test_a_worker_that_died_while_it_waited_is_nobodys(pool: WorkerPool) -> None:
    first, second = await filled(pool)
    os.kill(first, 9)
    while is_running(first):  # noqa: ASYNC110 - it is no child of ours
        await asyncio.sleep(0.01)
    worker = await pool.take()
    assert worker.pid == second
    await worker.aclose()


async def test_nothing_is_left_of_a_pool_that_was_closed(either: SandboxConfig) -> None:
    before, descriptors = children(), len(os.listdir("/proc/self/fd"))
    for delay_s in (0.0, 0.03, 0.1, 0.3):
        pool = WorkerPool(either, KEEP)
        pool.fill()
        await asyncio.sleep(delay_s)
        await pool.close()
        await pool.close()
        pool.fill()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert children() == before
    async with asyncio.timeout(2):  # what a thread had just opened is closed in the loop's next turns
        while len(os.listdir("/proc/self/fd")) != descriptors:  # noqa: ASYNC110 - the kernel tells nobody
            await asyncio.sleep(0.01)


def broken(folder: Path, body: str) -> Path:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


BROKEN = (  # body of a script in place of bubblewrap, what the reason says
    pytest.param("exit 1", "exit 1", id="ends"),
    pytest.param("echo setting up uid map: Permission denied >&2; exit 1", "uid map", id="says-why"),
    pytest.param("exec sleep 60", "not ready", id="hangs"),
    pytest.param("echo rubbish >&2; exec cat", "rubbish", id="says-nothing-that-counts"),
    pytest.param('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "without namespaces", id="wraps-nothing"),
)


@pytest.mark.parametrize(("body", "said"), BROKEN)
async def test_a_broken_bubblewrap_means_the_lock_alone_and_is_not_tried_again(
    config: SandboxConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    monkeypatch.setattr(launcher, "READY_TIMEOUT_S", 3.0)
    pool = WorkerPool(replace(config, tiers=TIERS, bwrap=broken(tmp_path, f"echo >> {tmp_path}/tried; {body}")), 0)
    for _ in range(2):
        worker = await pool.take()
        assert worker.layers["tier"] == "noopen"
        assert worker.layers["checks"]["open"] == "EPERM"
        await worker.aclose()
    assert pool.report is not None
    (reason,) = pool.report.reasons
    assert reason.startswith("bwrap: ")
    assert said in reason
    assert (tmp_path / "tried").read_text().count("\n") == 1


NOTHING_WORKS: dict[str, Any] = {"tiers": ("bwrap",), "bwrap": Path("/nonexistent/bwrap")}


async def test_where_nothing_locks_a_worker_there_is_none_but_by_the_owners_word(config: SandboxConfig) -> None:
    pool = WorkerPool(replace(config, **NOTHING_WORKS), 0)
    with pytest.raises(UnavailableError) as caught:
        await pool.take()
    assert caught.value.code == "SANDBOX_UNAVAILABLE"
    assert caught.value.details["reasons"][0].startswith("bwrap: ")
    worker = await pool.take(or_unlocked=True)
    assert worker.layers["tier"] == "none"
    assert await ask(worker, "len(open('/proc/self/stat').read()) > 9") == b'{"value": "True"}\n'
    await worker.aclose()


async def test_the_owners_word_changes_nothing_where_a_worker_can_be_locked(pool: WorkerPool) -> None:
    worker = await pool.take(or_unlocked=True)
    assert worker.layers["tier"] in TIERS
    assert b"EPERM" in await ask(worker, "open('/proc/self/stat')")
    await worker.aclose()
