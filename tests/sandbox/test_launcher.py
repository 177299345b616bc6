"""Starting and ending workers: what a host learns when it goes wrong, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from capsdk.errors import UnavailableError
from host.sandbox import launcher
from host.sandbox.launcher import SandboxConfig, Worker, launch, probe
from tests.sandbox.support import is_running


def children() -> set[int]:
    """Processes that this one has started and not reaped."""
    return {int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


def script(folder: Path, body: str) -> Path:
    """An executable in place of Python."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


async def exchange(worker: Worker, line: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(5):
        await loop.sock_sendall(worker.sock, line)
        return await loop.sock_recv(worker.sock, 4096)


ASKS = b'{"source": "6 * 7", "given": {}}\n'
ANSWERS = b'{"value": "42"}\n'


async def test_a_worker_tells_its_layers_serves_and_ends_with_its_socket(config: SandboxConfig) -> None:
    worker = await launch(config)
    assert worker.layers["tier"] == "noopen"
    assert worker.layers["checks"]["open"] == "EPERM"
    assert worker.layers["checks"]["socketpair"] == "ok"
    assert worker.pending == b""
    assert await exchange(worker, ASKS) == ANSWERS
    worker.sock.close()
    assert await worker.wait(5) == "exit 0"
    await worker.aclose()


async def test_killing_and_closing_twice_is_fine(config: SandboxConfig) -> None:
    worker = await launch(config)
    worker.kill()
    worker.kill()
    assert set(await asyncio.gather(worker.wait(5), worker.wait(5))) == {"SIGKILL"}
    await worker.aclose()
    await worker.aclose()
    assert not is_running(worker.pid)


async def test_waiting_for_a_living_worker_has_an_end(config: SandboxConfig) -> None:
    worker = await launch(config)
    with pytest.raises(TimeoutError):
        await worker.wait(0.05)
    assert await exchange(worker, ASKS) == ANSWERS
    await worker.aclose()


async def test_the_end_is_seen_without_process_descriptors_too(
    config: SandboxConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(pid: int) -> int:
        raise OSError(38, "not implemented")

    worker = await launch(config)
    monkeypatch.setattr(os, "pidfd_open", missing)
    worker.sock.close()
    assert await worker.wait(5) == "exit 0"


async def test_workers_run_side_by_side(config: SandboxConfig) -> None:
    workers = await asyncio.gather(*(launch(config) for _ in range(3)))
    assert len({worker.pid for worker in workers}) == 3
    assert await asyncio.gather(*(exchange(worker, ASKS) for worker in workers)) == [ANSWERS] * 3
    await asyncio.gather(*(worker.aclose() for worker in workers))


FAILURES = (  # body of a script in place of Python, what the reason holds
    pytest.param("echo no such library >&2; exit 127", "no such library", id="says-why-and-ends"),
    pytest.param("kill -9 $$", "SIGKILL", id="is-killed"),
    pytest.param("true", "exit 0", id="ends-at-once"),
)


@pytest.mark.parametrize(("body", "held"), FAILURES)
async def test_a_worker_that_does_not_start_is_told_with_its_last_words(
    config: SandboxConfig, tmp_path: Path, body: str, held: str
) -> None:
    before = children()
    with pytest.raises(UnavailableError) as caught:
        await launch(replace(config, python=script(tmp_path, body)))
    assert caught.value.code == "SANDBOX_UNAVAILABLE"
    assert caught.value.hint
    (reason,) = caught.value.details["reasons"]
    assert held in reason
    assert children() == before


MISCONFIGURED = (  # change of the configuration
    pytest.param({"python": Path("/nonexistent/python")}, id="no-python"),
    pytest.param({"runtime": "no_such_runtime"}, id="no-runtime"),
)


@pytest.mark.parametrize("change", MISCONFIGURED)
async def test_what_cannot_be_started_is_unavailable(config: SandboxConfig, change: dict[str, object]) -> None:
    before = children()
    with pytest.raises(UnavailableError) as caught:
        await launch(replace(config, **change))  # type: ignore[arg-type]  # a row of the table
    assert caught.value.code == "SANDBOX_UNAVAILABLE"
    report = await probe(replace(config, **change))  # type: ignore[arg-type]
    assert (report.available, report.reasons) == (False, tuple(caught.value.details["reasons"]))
    assert children() == before


async def test_a_worker_that_is_never_ready_is_ended_at_the_deadline(
    config: SandboxConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "READY_TIMEOUT_S", 0.2)
    before = children()
    began = time.monotonic()
    with pytest.raises(UnavailableError):
        await launch(replace(config, python=script(tmp_path, "exec sleep 60")))
    assert time.monotonic() - began < 2
    assert children() == before


async def test_a_cancelled_launch_leaves_nothing(config: SandboxConfig) -> None:
    before, descriptors = children(), len(os.listdir("/proc/self/fd"))
    for delay_s in (0.0, 0.002, 0.01, 0.02, 0.04):
        task = asyncio.create_task(launch(config))
        await asyncio.sleep(delay_s)
        if task.done():
            await task.result().aclose()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()
    assert children() == before
    assert len(os.listdir("/proc/self/fd")) == descriptors
