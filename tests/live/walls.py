"""An in-process host on a profile that was there before, for tests that take one wall away and see what it held."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from host.app import Host, browser_uid, open_host
from host.core.settings import Settings
from tests.support.inprocess import Talker, caller


@contextlib.contextmanager
def temporary_folders_in(folder: Path) -> Iterator[None]:
    """Where the browser's own uid can reach them."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextlib.asynccontextmanager
async def host_in(folder: Path, name: str, preferences: dict[str, Any] | None = None) -> AsyncIterator[Host]:
    """A host on the profile `name`, which has these preferences already, as if it had been used before."""
    profile = folder / name
    write_preferences(profile, preferences or {})
    settings = replace(Settings(), profile_dir=str(profile), state_dir=str(folder / f"{name}-state"))
    with temporary_folders_in(folder):
        async with open_host(settings) as made:
            yield made


def write_preferences(profile: Path, preferences: dict[str, Any]) -> None:
    """A profile as an earlier Chromium of the same uid left it."""
    default = profile / "Default"
    default.mkdir(parents=True, exist_ok=True)
    (default / "Preferences").write_text(json.dumps(preferences))
    uid = browser_uid()
    if uid is not None:
        for path in (profile, default, default / "Preferences"):
            os.chown(path, uid, uid)


def talker(host: Host, *places: str) -> Talker:
    """A caller to whom the owner has opened these places of this machine."""
    return Talker(host, caller(places=places))


async def asked(who: Talker, session: str, expression: str, **args: Any) -> Any:
    """The value of an expression that a click of the user is behind."""
    params = {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True}
    made = (await who.ok("browser.cdp", sessionId=session, method="Runtime.evaluate", params=params, **args))["result"]
    assert "exceptionDetails" not in made, made
    return made["result"].get("value")


async def soon(look: Callable[[], object], timeout_s: float = 10.0) -> object:
    """What a look tells, also one that has to be awaited: as soon as it is something, else the last."""
    deadline = time.monotonic() + timeout_s
    while True:
        told = look()
        if inspect.isawaitable(told):
            told = await told
        if told or time.monotonic() > deadline:
            return told
        await asyncio.sleep(0.05)
