"""Commands as processes beside one another, and small apps for them to run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.processes import command_line, started_for
from tests.support.stdio import ROOT, environment

RECEIPTS = str(ROOT / "scripts" / "receipts")
MANIFEST = """
id = "{name}"
name = "{name}"
version = "1"
entry = "main.py"
capabilities = ["browser.debug"]

[input.example]

[output]
columns = [{{ name = "code", type = "string" }}]
"""
HOLDS = """
import asyncio
from capsdk import Result

async def main(input, ctx):
    opened = await ctx.cap.call("browser.openSession", {"url": "about:blank"})
    await ctx.log("has session " + opened["sessionId"])
    while not ctx.signal.cancelled:
        await asyncio.sleep(0.05)
    await ctx.log("heard of it")
    return Result.ok([])
"""
IS_DEAF = """
from capsdk import Result

async def main(input, ctx):
    opened = await ctx.cap.call("browser.openSession", {"url": "about:blank"})
    await ctx.log("has session " + opened["sessionId"])
    while True:
        pass
"""
WAITS = """
from capsdk import Result

async def main(input, ctx):
    opened = await ctx.cap.call("browser.openSession", {"url": "about:blank"})
    await ctx.log("has session " + opened["sessionId"])
    never = {"expression": "new Promise(() => 0)", "awaitPromise": True}
    await ctx.cap.call(
        "browser.cdp", {"sessionId": opened["sessionId"], "method": "Runtime.evaluate", "params": never}
    )
    return Result.ok([])
"""
TRIES = """
from capsdk import Result, errors

async def main(input, ctx):
    try:
        await ctx.cap.call("browser.cdp", {"sessionId": input["session"], "method": "DOM.enable"})
    except errors.CapError as problem:
        return Result.ok([{"code": problem.code}])
    return Result.ok([{"code": "did it"}])
"""


def app(place: Path, name: str, source: str) -> str:
    """An app folder with one script: its path."""
    folder = place / "apps" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.toml").write_text(MANIFEST.format(name=name), encoding="utf-8")
    (folder / "main.py").write_text(source, encoding="utf-8")
    return str(folder)


class Command:
    """One running command of the product."""

    def __init__(self, place: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "host.main", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=place,
            env=environment(place, env),
        )

    @property
    def pid(self) -> int:
        """The command's process."""
        return self.process.pid

    def line(self) -> str:
        """The next line on standard error; "" at its end."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().decode()

    def line_with(self, words: str) -> str:
        """The next line that holds these words."""
        seen = []
        while line := self.line():
            seen.append(line)
            if words in line:
                return line
        raise AssertionError(f"no line with {words!r} came: {seen}")

    def held(self) -> str:
        """The session that one of the scripts above says it holds."""
        return self.line_with("has session ").split()[-1]

    def end(self, timeout_s: float = 20.0) -> tuple[int, bytes, bytes]:
        """Wait for the end: exit status, and what was not read yet of standard output and error."""
        try:
            out, err = self.process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, out, err

    def result(self) -> Any:
        """The JSON that it prints; it has to succeed."""
        status, out, err = self.end()
        assert status == 0, (out, err)
        return json.loads(out)

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *problem: object) -> None:
        self.process.kill()
        self.process.communicate()


def call(place: Path, entry: str, env: Mapping[str, str] | None = None, /, **args: Any) -> Command:
    """`capsdk call`, started."""
    return Command(place, "call", entry, json.dumps(args), env=env)


def hosts(place: Path) -> list[int]:
    """The processes that hold the browser of this place."""
    return [pid for pid in started_for(place) if "host.daemon" in command_line(pid)]


def the_socket(place: Path) -> Path:
    """The owner's socket of the host that runs."""
    (found,) = (place / "run" / "capsdk").glob("*.sock")
    return found
