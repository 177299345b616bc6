"""What works on this machine and what does not: each thing is tried for real, and has the one command that mends it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from capsdk.errors import CapError
from host.app import browser_uid, egress_config, places_of
from host.browser.process import ChromiumConfig, launch
from host.browser.profile import owner_profile, temporary_profile
from host.core.settings import Settings
from host.egress.egress import Egress, EgressConfig
from host.piitest import tried
from host.sandbox.launcher import SandboxConfig, choose
from host.sandbox.pool import groups

EGRESS_S = 10.0
EGRESS_MEND = "install capsdk[host] anew, and look whether something keeps programs from using 127.0.0.1"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing: does it work, what was seen, and what mends it. What is not `needed` does not fail the doctor."""

    name: str
    works: bool
    seen: str
    mend: str = ""
    needed: bool = True

    def public(self) -> dict[str, Any]:
        """As `--json` prints it."""
        made: dict[str, Any] = {"name": self.name, "works": self.works, "needed": self.needed, "seen": self.seen}
        return {**made, "mend": self.mend} if self.mend else made


async def examine(settings: Settings) -> list[Finding]:
    """Look at everything, one after the other."""
    checks: tuple[Callable[[Settings], Awaitable[Finding]], ...] = (_python, _browser, _profile, check_sandbox)
    found = [await check(settings) for check in checks]
    return [*found, *await _redaction(settings), await check_egress(settings)]


async def _python(settings: Settings) -> Finding:
    return Finding("python", True, sys.version.split()[0])


async def _browser(settings: Settings) -> Finding:
    profile = temporary_profile(browser_uid())
    try:
        config = ChromiumConfig(binary=settings.browser, uid=browser_uid(), sandbox=settings.browser_sandbox)
        async with _proxy(egress_config(settings)) as (_, port):
            chromium = await launch(config, profile, port)
            seen = str(chromium.version.get("product", "")).replace("Chrome/", "Chromium ")
            await chromium.close(grace_s=0.0)
    except CapError as problem:
        return Finding("browser", False, problem.message, problem.hint or "apt-get install -y chromium")
    finally:
        profile.release()
    sandbox = "its sandbox on" if settings.browser_sandbox else "ITS SANDBOX OFF by CAPSDK_BROWSER_SANDBOX"
    whom = "your own uid" if browser_uid() is None else f"uid {browser_uid()}"
    return Finding("browser", True, f"{seen}, started as {whom}, {sandbox}")


async def _profile(settings: Settings) -> Finding:
    path = places_of(settings).profile
    try:
        (await owner_profile(path, browser_uid())).release()
    except CapError as problem:
        return Finding("profile", False, problem.message, problem.hint or "")
    return Finding("profile", True, f"{path} is free")


async def check_sandbox(settings: Settings) -> Finding:
    """A worker is really started, in the best tier that works; the others are named with the reason."""
    report = await choose(SandboxConfig(cache_dir=places_of(settings).cache))
    if not report.available:
        return Finding("sandbox", False, "; ".join(report.reasons), report.hint or "run on Linux x86-64 with seccomp")
    landlock = f"Landlock ABI {report.landlock_abi}" if report.landlock_abi else "no Landlock"
    whom = "your own uid" if report.worker_uid is None else f"uid {report.worker_uid}"
    said = f"tier {report.tier}: a worker started and was locked ({landlock}, {whom})"
    made, no_cgroup = groups()
    if made is not None:
        made.close()
    bounds = "with cgroups" if made is not None else f"no cgroups: {no_cgroup}"
    return Finding("sandbox", True, "; ".join([said, *(f"not {reason}" for reason in report.reasons), bounds]))


async def _redaction(settings: Settings) -> list[Finding]:
    """Private details are looked for in a text, and a picture is read: without either, no AI is shown anything."""
    engine, engine_mend, ocr, ocr_mend = await tried(settings)
    return [
        Finding("pii engine", not engine_mend, engine, engine_mend, needed=False),
        Finding("ocr", not ocr_mend, ocr, ocr_mend, needed=False),
    ]


async def check_egress(settings: Settings) -> Finding:
    """A place on this machine has to be refused, and, as the control, to be reached once it is opened."""
    config = egress_config(settings)
    try:
        refused, reached = await _tried(replace(config, upstream_proxy=None))
    except (CapError, OSError, TimeoutError) as problem:
        seen = problem.message if isinstance(problem, CapError) else str(problem) or f"no answer within {EGRESS_S:g} s"
        return Finding("egress proxy", False, seen, EGRESS_MEND)
    if not refused or not reached:
        seen = "a place on this machine was NOT refused" if not refused else "an opened place was not reached"
        return Finding("egress proxy", False, seen, EGRESS_MEND)
    whom = "your own uid" if config.uid is None else f"uid {config.uid}"
    on = f"; all goes on to {settings.upstream_proxy}, where names are resolved" if settings.upstream_proxy else ""
    return Finding("egress proxy", True, f"refuses this machine, reaches what is opened ({whom}){on}")


async def _tried(config: EgressConfig) -> tuple[bool, bool]:
    """Was a place refused without being asked, and reached when it was open? Raises what starting and asking raise."""
    hits = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal hits
        hits += 1
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        writer.close()

    listening = asyncio.start_server(answer, "127.0.0.1", 0)
    async with asyncio.timeout(EGRESS_S), await listening as server, _proxy(config) as (egress, port):
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        refused = (await _status(port, place), hits) == (403, 0)
        egress.set_places(frozenset((place,)))
        return refused, (await _status(port, place), hits) == (204, 1)


@contextlib.asynccontextmanager
async def _proxy(config: EgressConfig) -> AsyncIterator[tuple[Egress, int]]:
    egress = Egress(config)
    try:
        yield egress, await egress.start()
    finally:
        await egress.close()


async def _status(port: int, place: str) -> int:
    """The status of a page that is asked for through the proxy; 0 when nothing sensible comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        words = (await reader.readline()).split()
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    finally:
        writer.close()
