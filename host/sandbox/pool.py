"""Workers started ahead: each is for one run and never used again, so nothing of one run is there for another."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import replace

from capsdk.errors import UnavailableError
from host.sandbox.cgroup import Groups, NotDelegated
from host.sandbox.launcher import SandboxConfig, SandboxReport, after, launch, start
from host.sandbox.process import Worker
from host.sandbox.worker import NONE

RETRY_S = 5.0  # a machine that cannot start one now may be able to later

log = logging.getLogger("capsdk.host.sandbox")


class WorkerPool:
    """Keeps `keep` locked workers waiting for their first line, about 25 MB each; 0 starts each when it is wanted.

    They are started under `config.limits`, the most that the owner lets a run have; what a run gets of it is told with
    its program, and the worker lowers its own limits before it reads that. `report` is what was found out
    about this machine with the newest worker, None before the first.
    """

    def __init__(self, config: SandboxConfig, keep: int) -> None:
        self.report: SandboxReport | None = None
        self._config = config
        self._keep = keep
        self._warm: deque[Worker] = deque()
        self._filling: asyncio.Task[None] | None = None
        self._closed = False
        self._groups: Groups | None = None

    @property
    def warm(self) -> tuple[int, ...]:
        """The process ids of the workers that wait."""
        return tuple(worker.pid for worker in self._warm)

    def fill(self) -> None:
        """Begin to start what is missing, in the background; nothing happens when that is under way."""
        if not self._closed and (self._filling is None or self._filling.done()) and len(self._warm) < self._keep:
            self._filling = asyncio.get_running_loop().create_task(self._fill())

    async def take(self, *, or_unlocked: bool = False) -> Worker:
        """A worker for one run; the caller closes it. One that waits, or else a fresh one.

        `or_unlocked` is the owner's `--unsafe-no-sandbox`: where nothing can lock a worker, it is not locked.
        Raises UnavailableError SANDBOX_UNAVAILABLE.
        """
        while self._warm:
            worker = self._warm.popleft()
            if not worker.ended:
                self.fill()
                return worker
            await worker.aclose()
        try:
            return await self._start()
        except UnavailableError:
            if not or_unlocked:
                raise
            return await launch(self._config, NONE)
        finally:
            self.fill()

    async def settled(self) -> None:
        """Wait until what is being started ahead is there."""
        if self._filling is not None:
            await asyncio.wait((self._filling,))

    async def close(self) -> None:
        """End those that wait. Closing twice is fine."""
        self._closed = True
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.wait((self._filling,))
        while self._warm:
            await self._warm.popleft().aclose()
        if self._groups is not None:
            self._groups.close()

    async def _fill(self) -> None:
        """One after the other: a run that begins meanwhile needs the processor more."""
        while len(self._warm) < self._keep:
            try:
                self._warm.append(await self._start())
            except UnavailableError as problem:
                log.warning("no worker could be started ahead: %s", problem)
                await asyncio.sleep(RETRY_S)

    async def _start(self) -> Worker:
        """In the best tier that works; one that was found not to work is not tried again by this host."""
        worker, report = await start(self._config)
        if self.report is None:
            self._groups, no_cgroup = groups()
            known: tuple[str, ...] = ()
        else:
            known, no_cgroup = self.report.reasons, self.report.no_cgroup
        self.report = replace(report, reasons=(*known, *report.reasons), no_cgroup=no_cgroup)
        self._config = after(self._config, report)
        if self._groups is not None:
            try:
                self._groups.put(worker.pid, self._config.limits.memory_mb)
            except OSError as problem:  # the lock's own limits hold all the same
                log.warning("a worker has no cgroup: %s", problem)
        return worker


def groups() -> tuple[Groups | None, str]:
    """Groups for workers, or why there are none."""
    try:
        return Groups(), ""
    except NotDelegated as problem:
        return None, str(problem)
