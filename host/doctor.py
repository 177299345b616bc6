"""What works on this machine and what does not: each thing is tried for real, and has the one command that mends it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from capsdk.errors import CapError
from host.app import browser_uid, places_of
from host.browser.process import ChromiumConfig, launch
from host.browser.profile import owner_profile, temporary_profile
from host.core.settings import Settings
from host.sandbox.launcher import SandboxConfig, probe


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
    checks: tuple[Callable[[Settings], Awaitable[Finding]], ...] = (
        _python,
        _browser,
        _profile,
        _sandbox,
        _ocr,
        _pii,
        _egress,
    )
    return [await check(settings) for check in checks]


async def _python(settings: Settings) -> Finding:
    return Finding("python", True, sys.version.split()[0])


async def _browser(settings: Settings) -> Finding:
    profile = temporary_profile(browser_uid())
    try:
        config = ChromiumConfig(binary=settings.browser, uid=browser_uid(), sandbox=settings.browser_sandbox)
        chromium = await launch(config, profile)
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


async def _sandbox(settings: Settings) -> Finding:
    report = await probe(SandboxConfig(cache_dir=places_of(settings).cache))
    if not report.available:
        return Finding("sandbox", False, "; ".join(report.reasons), report.hint or "run on Linux x86-64 with seccomp")
    landlock = f"Landlock ABI {report.landlock_abi}" if report.landlock_abi else "no Landlock"
    whom = "your own uid" if report.worker_uid is None else f"uid {report.worker_uid}"
    return Finding("sandbox", True, f"tier {report.tier}: a worker started and was locked ({landlock}, {whom})")


async def _ocr(settings: Settings) -> Finding:
    found = shutil.which("tesseract")
    mend = "" if found else "apt-get install -y tesseract-ocr"
    return Finding("ocr", bool(found), found or "tesseract is missing (screenshots will need it)", mend, needed=False)


async def _pii(settings: Settings) -> Finding:
    return Finding("pii engine", False, "not built yet: results to a chat are not masked", needed=False)


async def _egress(settings: Settings) -> Finding:
    return Finding("egress proxy", False, "not built yet: only the URL of a navigation is judged", needed=False)
