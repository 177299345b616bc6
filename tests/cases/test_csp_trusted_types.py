"""A page with a strict policy about scripts: reading and working it trips nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from capsdk import errors
from capsdk.browser import Browser, Tab
from capsdk.signals import Signal
from tests.support.case_site import CaseSite
from tests.support.stdio import Stdio

ROWS = "[...document.querySelectorAll('tr')].map(row => [...row.cells].map(cell => cell.textContent).join(' / '))"
HARMS = "try { document.body.innerHTML = 'x' } catch (problem) { problem.name }"


class Line:
    """`cap` of a script, over the pipes of a host."""

    def __init__(self, host: Stdio) -> None:
        self._host = host

    async def call(self, name: str, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One call. Raises the exception of its refusal."""
        reply = await asyncio.to_thread(self._host.call, name, **(args or {}))
        if not reply["ok"]:
            raise errors.from_wire(reply["error"])
        found: dict[str, Any] = reply["result"]
        return found


async def raw(tab: Tab, expression: str) -> Any:
    """The value of an expression in the page's own world."""
    made = await tab.cdp.Runtime.evaluate(expression=expression, returnByValue=True)
    return made["result"].get("value")


async def node(tab: Tab, selector: str) -> int:
    root = (await tab.cdp.DOM.getDocument())["root"]["nodeId"]
    return int((await tab.cdp.DOM.querySelector(nodeId=root, selector=selector))["nodeId"])


async def click(tab: Tab, selector: str) -> None:
    """A click as the user's."""
    quad = (await tab.cdp.DOM.getBoxModel(nodeId=await node(tab, selector)))["model"]["content"]
    at = {"x": (quad[0] + quad[4]) / 2, "y": (quad[1] + quad[5]) / 2, "button": "left", "clickCount": 1}
    for kind in ("mousePressed", "mouseReleased"):
        await tab.cdp.Input.dispatchMouseEvent(type=kind, **at)


async def test_a_locked_down_page_is_read_and_worked_without_a_violation(host: Stdio, cases: CaseSite) -> None:
    browser = Browser(Line(host), Signal())
    async with browser.page(f"{cases.main}/csp-trusted-types/") as tab:
        assert await tab.evaluate(
            "document.readyState === 'complete' || new Promise(ok => { onload = () => ok(true) })"
        )
        assert "Statement" in await tab.evaluate("document.body.innerText")
        assert "Mon / 4.10" in await tab.evaluate(ROWS)
        assert "<table>" in await tab.evaluate("document.documentElement.outerHTML")
        assert await tab.evaluate("JSON.stringify([1])") == "[1]"
        assert await tab.signed_out() is None
        assert (await tab.cdp.Accessibility.getFullAXTree())["nodes"]
        await tab.cdp.DOM.focus(nodeId=await node(tab, "#ref"))
        await tab.cdp.Input.insertText(text="R-7")
        assert await tab.evaluate("document.querySelector('#result').textContent") == "typed R-7"
        await click(tab, "#send")
        assert await tab.evaluate("document.querySelector('#result').textContent") == "sent R-7"
        picture = await asyncio.to_thread(host.call, "browser.screenshot", sessionId=tab.session_id)
        assert picture["ok"], picture
        assert await raw(tab, "1 + 1") == 2
        assert await raw(tab, "violations.length") == 0
        assert await raw(tab, HARMS) == "TypeError"  # the control: the policy is on, and tells
        for _ in range(60):
            if await raw(tab, "violations.length") > 0:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the page did not hear of what was done to it")
