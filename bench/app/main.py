"""The work of the benchmarks: as a sandboxed script, and imported by the peers so that all do the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Protocol

from capsdk import Result
from capsdk.context import Context

METHOD = "Runtime.evaluate"
PARAMS = {"expression": "1", "returnByValue": True}
PAGE = "about:blank"
OUTSTANDING = 32
WARM_UP_CALLS = 200
LARGE_CHARS = 900_000
LARGE_PARAMS = {"expression": f"'x'.repeat({LARGE_CHARS})", "returnByValue": True}
SESSIONS = 8
CONSOLE = "Runtime.consoleAPICalled"
LOADED = "Page.loadEventFired"
LONG_TEXT_CHARS = 8000
FLOOD_TEXTS = {"small_events": "'e'", "large_events": f"'y'.repeat({LONG_TEXT_CHARS})"}
QUIET_MS = 10_000  # events that have not come by then do not come any more

Evaluate = Callable[[], Awaitable[None]]
Mark = Callable[[str], Awaitable[object]]


async def measure(evaluate: Evaluate, mark: Mark, *, calls: int, burst_calls: int) -> dict[str, dict[str, float]]:
    """Both figures, `one` (a call at a time) and `many` (`OUTSTANDING` at a time), times in µs.

    `mark` is awaited with `one` and `many` right before the timed part of each and with `one_end` and `many_end`
    right after it, so that another process's CPU can be read there.
    """
    await timed(evaluate, WARM_UP_CALLS, 1)
    await timed(evaluate, WARM_UP_CALLS, OUTSTANDING)
    figures = {}
    for name, count, outstanding in (("one", calls, 1), ("many", burst_calls, OUTSTANDING)):
        await mark(name)
        figures[name] = await timed(evaluate, count, outstanding)
        await mark(f"{name}_end")
    return figures


async def timed(evaluate: Evaluate, calls: int, outstanding: int) -> dict[str, float]:
    """At least `calls` calls by so many workers; each worker has one call under way."""
    each = -(-calls // outstanding)
    took_ns: list[int] = []
    cpu_ns, began_ns = time.process_time_ns(), time.perf_counter_ns()
    if outstanding == 1:
        await work(evaluate, each, took_ns)
    else:
        await asyncio.gather(*(work(evaluate, each, took_ns) for _ in range(outstanding)))
    wall_ns, cpu_ns = time.perf_counter_ns() - began_ns, time.process_time_ns() - cpu_ns
    return row(took_ns, wall_ns, cpu_ns)


def row(took_ns: list[int], wall_ns: int, cpu_ns: int) -> dict[str, float]:
    """The figures of one part."""
    took_ns.sort()
    count = len(took_ns)
    return {
        "calls": count,
        "p50_us": took_ns[count // 2] / 1000,
        "p99_us": took_ns[count * 99 // 100] / 1000,
        "wall_us": wall_ns / count / 1000,
        "client_cpu_us": cpu_ns / count / 1000,
    }


async def work(evaluate: Evaluate, calls: int, took_ns: list[int]) -> None:
    """One worker: its calls, one after another."""
    clock = time.perf_counter_ns
    for _ in range(calls):
        began_ns = clock()
        await evaluate()
        took_ns.append(clock() - began_ns)


def check(result: Any) -> None:
    """Only a right answer counts. Raises ValueError."""
    if result["result"]["value"] != 1:
        raise ValueError(f"the page answered {result!r}")


def check_large(result: Any) -> None:
    """All of a large result has to be there. Raises ValueError."""
    if len(result["result"]["value"]) != LARGE_CHARS:
        raise ValueError("the large result is not whole")


def flood_expression(text: str, count: int) -> str:
    """What makes a page log `text` so many times, as fast as it can."""
    return f"(() => {{ const s = {text}; for (let i = 0; i < {count}; i++) console.log(s + i); return 1 }})()"


# --- all works


class Client(Protocol):
    """What `measure_works` needs of each client; a tab is whatever it says."""

    async def open(self, url: str) -> Any:
        """A new tab with the five domains enabled, once its load event was seen."""

    async def close(self, tab: Any) -> None:
        """Close it."""

    async def one(self, tab: Any) -> None:
        """`METHOD` with `PARAMS`, and its answer checked."""

    async def large(self, tab: Any) -> None:
        """The same with `LARGE_PARAMS`."""

    async def flood(self, tab: Any, expression: str, count: int) -> tuple[int, int]:
        """Evaluate it and count console events until `count` were seen or told to be lost: (seen, lost)."""


async def measure_works(client: Client, mark: Mark, plan: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The parts that have a number in `plan`: how many calls, events, opens, or seconds of idling; `page` is opened.

    `one`, `many`, `large`: calls. `small_events`, `large_events`: a row an event, with `seen` and `lost`. `open`: one
    tab after another; `open_eight`: eight at once, this many times; both with the CPU of closing. `idle`: a row a
    second, with eight tabs open. `mark` is called as by `measure`.
    """
    figures: dict[str, dict[str, float]] = {}

    async def part(name: str, work: Callable[[int], Awaitable[dict[str, float]]]) -> None:
        if plan.get(name):
            await mark(name)
            figures[name] = await work(plan[name])
            await mark(f"{name}_end")

    tab = await client.open(plan["page"])

    async def one() -> None:
        await client.one(tab)

    await timed(one, WARM_UP_CALLS, 1)
    await timed(one, WARM_UP_CALLS, OUTSTANDING)
    await part("one", lambda count: timed(one, count, 1))
    await part("many", lambda count: timed(one, count, OUTSTANDING))
    await part("large", lambda count: timed(lambda: client.large(tab), count, 1))
    for name in FLOOD_TEXTS:
        await part(name, partial(flooded, client, tab, name))
    await client.close(tab)
    await part("open", lambda count: opened(client, plan["page"], count, 1))
    await part("open_eight", lambda count: opened(client, plan["page"], count, SESSIONS))
    if plan.get("idle"):
        tabs = await asyncio.gather(*(client.open(plan["page"]) for _ in range(SESSIONS)))
        await part("idle", idled)
        await asyncio.gather(*(client.close(tab) for tab in tabs))
    return figures


async def flooded(client: Client, tab: Any, name: str, count: int) -> dict[str, float]:
    """The figures of an event of a flood."""
    cpu_ns, began_ns = time.process_time_ns(), time.perf_counter_ns()
    seen, lost = await client.flood(tab, flood_expression(FLOOD_TEXTS[name], count), count)
    wall_ns, cpu_ns = time.perf_counter_ns() - began_ns, time.process_time_ns() - cpu_ns
    each = {"wall_us": wall_ns / count / 1000, "client_cpu_us": cpu_ns / count / 1000}
    return {"calls": count, "seen": seen, "lost": lost, **each}


async def opened(client: Client, url: str, count: int, at_once: int) -> dict[str, float]:
    """The figures of opening; the time of closing does not count, its CPU does."""
    took_ns: list[int] = []
    cpu_ns, wall_ns, clock = time.process_time_ns(), 0, time.perf_counter_ns
    for _ in range(count):
        began_ns = clock()
        tabs = await asyncio.gather(*(client.open(url) for _ in range(at_once)))
        took_ns += [(clock() - began_ns) // at_once] * at_once
        wall_ns += clock() - began_ns
        await asyncio.gather(*(client.close(tab) for tab in tabs))
    return row(took_ns, wall_ns, time.process_time_ns() - cpu_ns)


async def idled(duration_s: int) -> dict[str, float]:
    """The CPU of a second of doing nothing."""
    cpu_ns = time.process_time_ns()
    await asyncio.sleep(duration_s)
    return {"calls": duration_s, "client_cpu_us": (time.process_time_ns() - cpu_ns) / duration_s / 1000}


class Lent:
    """The product as a client: what a script's author would write."""

    def __init__(self, ctx: Context) -> None:
        self._call = ctx.cap.call

    async def open(self, url: str, capture: list[str] | None = None) -> str:
        """A lent tab, its load event polled for."""
        args: dict[str, Any] = {"url": url} if capture is None else {"url": url, "capture": capture}
        tab: str = (await self._call("browser.openSession", args))["sessionId"]
        if capture is None:
            polled = await self.poll(tab, 0, LOADED, QUIET_MS)
            if not polled["events"]:
                raise ValueError("the load event was not captured")
        return tab

    async def close(self, tab: str) -> None:
        """Give it back."""
        await self._call("browser.closeSession", {"sessionId": tab})

    async def one(self, tab: str) -> None:
        """A small call."""
        check(await self._cdp(tab, PARAMS))

    async def large(self, tab: str) -> None:
        """A large result."""
        check_large(await self._cdp(tab, LARGE_PARAMS))

    async def flood(self, tab: str, expression: str, count: int) -> tuple[int, int]:
        """Poll as fast as possible, from the newest event on, while the page logs; the last line ends it.

        Lost is what was not seen, if any poll told of a loss: sums of a ring that overflows many times are rough.
        """
        after, seen, told, last = await self._newest(tab), 0, False, ""
        flooding = asyncio.ensure_future(self._cdp(tab, {"expression": expression}))
        try:
            while not last.endswith(f"{count - 1}"):
                polled = await self.poll(tab, after, CONSOLE, QUIET_MS)
                if polled["next"] == after:
                    break
                after, told = polled["next"], told or polled["lost"]
                seen += len(polled["events"])
                last = polled["events"][-1]["params"]["args"][0]["value"] if polled["events"] else last
        finally:
            await flooding
        return seen, count - seen if told else 0

    async def poll(self, tab: str, after: int, method: str, wait_ms: int) -> dict[str, Any]:
        """One poll for the events of a method."""
        args = {"sessionId": tab, "after": after, "methods": [method], "limit": 100, "waitMs": wait_ms}
        return await self._call("browser.events", args)

    async def read_all(self, tab: str) -> tuple[list[int], int]:
        """All console events of the ring, by their seq, and how many it says were lost."""
        seqs: list[int] = []
        after = lost = 0
        while True:
            polled = await self.poll(tab, after, CONSOLE, 0)
            lost += dropped_of(polled)
            seqs += [event["seq"] for event in polled["events"]]
            if polled["next"] == after:
                return seqs, lost
            after = polled["next"]

    async def log(self, tab: str, text: str, count: int) -> None:
        """Let the page log so many times at full rate while nobody reads."""
        check(await self._cdp(tab, {"expression": flood_expression(text, count), "returnByValue": True}))

    async def limits(self) -> dict[str, Any]:
        """The host's limits."""
        limits: dict[str, Any] = (await self._call("host.info"))["limits"]
        return limits

    async def _newest(self, tab: str) -> int:
        after = 0
        while (polled := await self.poll(tab, after, CONSOLE, 0))["next"] != after:
            after = polled["next"]
        return after

    async def _cdp(self, tab: str, params: Mapping[str, Any]) -> Any:
        return (await self._call("browser.cdp", {"sessionId": tab, "method": METHOD, "params": params}))["result"]


def dropped_of(polled: Mapping[str, Any]) -> int:
    """How many console events a poll tells as lost."""
    return int(polled["dropped"].get(CONSOLE, {}).get("count", 0))


async def ring_filled(lent: Lent, times: int) -> dict[str, float]:
    """Fill rings at full rate, unread, exactly by number and nearly by bytes: what must be there and what is there.

    `untold` are events that are neither there nor told as lost after a flood of 40 rings: it must be 0, as `lost`.
    """
    limits = await lent.limits()
    kept, large = int(limits["events_kept"]), int(limits["events_bytes"] * 0.9) // (LONG_TEXT_CHARS + 600)
    told = {"calls": 0.0, "seen": 0.0, "lost": 0.0, "untold": 0.0}
    for text, count in ((FLOOD_TEXTS["small_events"], kept), (FLOOD_TEXTS["large_events"], min(large, kept))) * times:
        tab = await lent.open(PAGE, [CONSOLE])
        await lent.log(tab, text, count)
        seqs, lost = await lent.read_all(tab)
        told["calls"] += count
        told["seen"] += len(seqs) if seqs == list(range(1, count + 1)) else 0
        told["lost"] += lost
        await lent.close(tab)
    tab = await lent.open(PAGE, [CONSOLE])
    await lent.log(tab, FLOOD_TEXTS["small_events"], 40 * kept)
    seqs, lost = await lent.read_all(tab)
    told["untold"] = abs(40 * kept - len(seqs) - lost)
    await lent.close(tab)
    return told


async def main(input: dict[str, Any], ctx: Context) -> Result:
    """As an author would write it: lent tabs and their raw calls. `plan` asks for the works, else it is the path."""

    async def mark(name: str) -> None:
        await ctx.cap.call("run.progress", {"done": 0, "message": name})  # the host reads its own CPU clock

    if "plan" in input:
        lent = Lent(ctx)
        figures = await measure_works(lent, mark, input["plan"])
        if input["plan"].get("ring"):
            figures["ring"] = await ring_filled(lent, input["plan"]["ring"])
        return Result.ok([figures])

    async with ctx.browser.session(PAGE) as tab:

        async def evaluate() -> None:
            check(await tab.call(METHOD, PARAMS))

        figures = await measure(evaluate, mark, calls=input["calls"], burst_calls=input["burst_calls"])
    return Result.ok([figures])
