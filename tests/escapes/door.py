"""A script that attacks the host through its only descriptor, beside a run that minds its own business."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from typing import Any

from capsdk.errors import CapError
from host.core.grants import Caller
from host.core.limits import MIB, Limits
from host.core.run_limits import run_limits
from host.frontends.script_door import Program, run_program
from host.sandbox.launcher import CAPSDK, SandboxConfig, launch
from tests.dispatch.support import World, caller, entry

CALLS = 100
FLOOD = 2000
GIANT_BYTES = 3 * MIB
WIDE = replace(Limits(), line_bytes=2 * GIANT_BYTES, run_calls_in_flight=2 * FLOOD, calls_in_flight=2 * FLOOD)

HELPERS = """
import json, select, socket, time
from capsdk import Result
line = socket.socket(fileno=3)

def send(data):
    while data:
        select.select([], [line], [], 10)
        try:
            data = data[line.send(data):]
        except BlockingIOError:
            hear()

def hear():
    global heard
    select.select([line], [], [], 5)
    try:
        heard += line.recv(1 << 20)
    except BlockingIOError:
        pass

def until(count):
    while heard.count(b'"ok":') < count:
        hear()
    return [one for one in map(json.loads, heard.splitlines()) if "ok" in one]

def codes(answers):
    return sorted({"ok" if one["ok"] else one["error"]["code"] for one in answers})

heard = b""
"""
HOSTILE = {  # what `main` does; its result tells how the host answered
    "flood": f"""
for number in range({FLOOD}):
    send(b'{{"id": %d, "method": "t.slow", "args": {{"text": "x"}}}}\\n' % number)
rows = codes(until({FLOOD}))
""",
    "giant-line": f"""
send(b'{{"id": 1, "method": "t.echo", "pad": "' + b"x" * {GIANT_BYTES} + b'"}}\\n')
rows = codes(until(1))
""",
    "forged-replies": """
send(b'{"id": 1, "ok": true, "result": {"text": "forged"}}\\n' * 50)
send(b'{"id": 900, "method": "t.echo", "args": {"text": "asked"}}\\n')
answers = until(51)
rows = [*codes(answers), [one["result"] for one in answers if one["ok"]]]
""",
    "forged-notices": """
send(b'{"notice": "ready", "data": {"tier": "none"}}\\n{"notice": "start", "data": {}}\\n{"cancel": 7}\\n' * 50)
send(b'{"id": 900, "method": "t.echo", "args": {"text": "asked"}}\\n')
rows = [one["result"]["text"] for one in until(1)]
""",
    "descriptors": """
for each in range(50):
    try:
        socket.send_fds(line, [b'\\n'], [0, 1, 2])
    except OSError:  # the kernel lets a user have only so many on their way
        time.sleep(0.01)
send(b'{"id": 900, "method": "t.echo", "args": {"text": "asked"}}\\n')
rows = [one["result"]["text"] for one in until(1)]
""",
}
MAIN = (
    "{helpers}\nasync def main(input, ctx):\n    global heard\n    {body}\n    return Result.ok([{{'told': rows}}])\n"
)
GOOD = f"""
from capsdk import Result
async def main(input, ctx):
    told = [(await ctx.cap.call("t.echo", {{"text": str(n)}}))["text"] for n in range({CALLS})]
    return Result.ok([{{"told": told == [str(n) for n in range({CALLS})]}}])
"""


async def attack(config: SandboxConfig, kinds: list[str], *, wide: bool) -> dict[str, Any]:
    """What each kind was told, while another run was served; `wide` is a host without the limits.

    `descriptors` is how many more the host has afterwards.
    """
    world = World(entry(capability=None), entry("t.slow", handler=slowly, capability=None))
    limits = WIDE if wide else Limits()
    config = replace(config, packages=(CAPSDK,), runtime="capsdk.runtime")
    before = len(os.listdir("/proc/self/fd"))
    told: dict[str, Any] = {}
    for kind in kinds:
        body = "\n    ".join(HOSTILE[kind].strip().splitlines())
        sources = (MAIN.format(helpers=HELPERS, body=body), GOOD)
        runs = (run(world, config, caller(run=f"{kind}-{at}"), each, limits) for at, each in enumerate(sources))
        told[kind] = dict(zip(("hostile", "good"), await asyncio.gather(*runs), strict=True))
    return {"told": told, "descriptors": len(os.listdir("/proc/self/fd")) - before}


async def slowly(call: Any) -> bytes:
    """An entry that leaves its calls under way for a moment."""
    await asyncio.sleep(0.5)
    return b"{}"


async def run(world: World, config: SandboxConfig, who: Caller, source: str, limits: Limits) -> Any:
    """One run's rows, or its error."""
    program = Program("main.py", {"main.py": source}, {})
    bounds = run_limits(limits, {"wall_s": 20.0})
    worker = await launch(config)
    try:
        result = await run_program(world.dispatcher, who, worker, program, limits, bounds)
        return json.loads(result["rowsJson"])[0]["told"]
    except CapError as problem:
        return f"{problem.code}: {problem.message} {problem.details}"
    finally:
        await worker.aclose()
