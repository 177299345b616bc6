"""Tries to break out in three ways and reports what stopped it. Only worth something after its control has worked."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from capsdk import Result, errors
from capsdk.browser import Tab
from capsdk.context import Context

Row = dict[str, Any]


class GotThrough(Exception):
    """An attempt succeeded, or failed for a reason that is no refusal."""


async def main(input: dict[str, Any], ctx: Context) -> Result:
    """One row for the control and one an attempt; failed when an attempt got through."""
    async with ctx.browser.session(input["origin"] + "/") as tab:
        rows = [await control(tab)]
        try:
            rows.append(leave_the_process())
            rows.append(await ask(tab, "take a picture with Page.captureScreenshot", "Page.captureScreenshot", {}))
            target = {"url": "file:///etc/passwd"}
            rows.append(await ask(tab, "open file:///etc/passwd with Page.navigate", "Page.navigate", target))
        except GotThrough as hole:
            return Result.failed(f"NOT REFUSED: {hole}")
    return Result.ok(rows)


async def control(tab: Tab) -> Row:
    """Something harmless that must work, or a refusal would prove nothing."""
    reply = await tab.cdp.Runtime.evaluate(expression="6*7", returnByValue=True)
    value = reply["result"].get("value")
    if value != 42:
        raise RuntimeError(f"the control answered {value!r} and not 42, so nothing can be learned here")
    return {"attempt": "control: compute 6*7 in its own tab", "refused_by": "nobody", "detail": "42, as it should"}


def leave_the_process() -> Row:
    """Read a file of the machine, and open a socket: the kernel is the one to refuse."""
    tries: dict[str, Callable[[], Any]] = {
        "open /etc/passwd": lambda: open("/etc/passwd").read(),  # noqa: SIM115 - it is not meant to succeed
        "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).connect(("127.0.0.1", 80)),
    }
    told = [f"{name}: {kernel_says(attempt, name)}" for name, attempt in tries.items()]
    return {"attempt": "read /etc/passwd and open a socket", "refused_by": "the sandbox", "detail": "; ".join(told)}


def kernel_says(attempt: Callable[[], Any], name: str) -> str:
    """The kernel's word for its refusal. Raises GotThrough for success and for every other error."""
    try:
        attempt()
    except PermissionError as refusal:
        return str(refusal.strerror)
    except OSError as other:
        raise GotThrough(f"{name} failed only by chance: {other}") from None
    raise GotThrough(f"{name} worked")


async def ask(tab: Tab, attempt: str, method: str, params: dict[str, Any]) -> Row:
    """Send a CDP command that the host's policy has to refuse. Raises GotThrough when it is not."""
    try:
        await tab.call(method, params)
    except errors.PolicyError as refusal:
        return {"attempt": attempt, "refused_by": "the method policy", "detail": f"{refusal.code}: {refusal.message}"}
    except errors.CapError as other:
        raise GotThrough(f"{method} failed only by chance: {other}") from None
    raise GotThrough(f"{method} worked")
