"""Starting and ending workers: what a host learns when it goes wrong, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from capsdk.errors import UnavailableError
from host.sandbox import launcher
from host.sandbox import worker as worker_module
from host.sandbox.launcher import SandboxConfig, choose, launch
from host.sandbox.process import Worker
from tests.sandbox.support import is_running, wait_until_gone
from tests.support.processes import children


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


async def test_a_worker_tells_its_layers_serves_and_ends_with_its_socket(either: SandboxConfig) -> None:
    worker = await launch(either)
    assert worker.layers["tier"] == either.tiers[0]
    assert worker.layers["checks"]["open"] == "EPERM"
    assert worker.layers["checks"]["socketpair"] == "ok"
    assert worker.pending == b""
    assert await exchange(worker, ASKS) == ANSWERS
    worker.sock.close()
    assert await worker.wait(5) == "exit 0"
    await worker.aclose()


async def test_killing_and_closing_twice_is_fine(either: SandboxConfig) -> None:
    worker = await launch(either)
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
    either: SandboxConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(pid: int) -> int:
        raise OSError(38, "not implemented")

    monkeypatch.setattr(os, "pidfd_open", missing)
    worker = await launch(either)
    worker.sock.close()
    assert await worker.wait(5) == "exit 0"
    another = await launch(either)
    another.kill()
    assert await another.wait(5) == "SIGKILL"
    assert wait_until_gone(another.pid, timeout_s=1.0)


async def test_workers_run_side_by_side(either: SandboxConfig) -> None:
    workers = await asyncio.gather(*(launch(either) for _ in range(3)))
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
    report = await choose(replace(config, **change))  # type: ignore[arg-type]
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


def orphans() -> set[int]:
    """Workers, and what is set up for one, whose starter is gone."""
    found = set()
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            mine = os.fsencode(worker_module.__file__) in (place / "cmdline").read_bytes()
            if mine and (place / "stat").read_text().rpartition(")")[2].split()[1] == "1":
                found.add(int(place.name))
    return found


async def test_a_cancelled_launch_leaves_nothing(either: SandboxConfig) -> None:
    await (await launch(either)).aclose()  # the blob is there
    before, descriptors, strays = children(), len(os.listdir("/proc/self/fd")), orphans()
    for delay_ms in range(30):
        task = asyncio.create_task(launch(either))
        await asyncio.sleep(delay_ms / 1000)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await (await task).aclose()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert children() == before
    assert len(os.listdir("/proc/self/fd")) == descriptors
    deadline = time.monotonic() + 2.0
    while orphans() - strays and time.monotonic() < deadline:  # noqa: ASYNC110 - they are no children of ours
        await asyncio.sleep(0.05)
    assert orphans() <= strays
