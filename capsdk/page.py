"""Reads the page of a tab in a JavaScript world of its own, where nothing that the page has redefined is in reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from capsdk import errors, signin
from capsdk.shortfall import PageThrew

LOOK_MS = 3000

Send = Callable[..., Awaitable[dict[str, Any]]]


async def evaluate(send: Send, expression: str, *, timeout_ms: int | None = None) -> Any:
    """The value of `expression` in the main frame, by value, promises awaited. Raises PageThrew.

    The document is the page's; JSON, Array, Promise and all other globals are fresh ones.
    """
    try:
        tree = await send("Page.getFrameTree")
        # The same name gives the same world again, for as long as the document lives.
        world = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "capsdk"}
        made = await send("Page.createIsolatedWorld", world)
        params = {
            "expression": expression,
            "contextId": made["executionContextId"],
            "awaitPromise": True,
            "returnByValue": True,
        }
        reply = await send("Runtime.evaluate", params, timeout_ms=timeout_ms)
    except errors.PreconditionError as problem:
        if problem.code != "CDP_ERROR":
            raise
        raise PageThrew(f"the page went away, or the value is none that can be sent: {problem.message}") from None
    if "exceptionDetails" in reply:
        raise PageThrew(_thrown(reply["exceptionDetails"]))
    return reply.get("result", {}).get("value")


async def look_for_sign_in(send: Send, asked: str) -> str | None:
    """What about the page shows that its owner is signed out; None when nothing does, or when it cannot be read."""
    try:
        return signin.sign_of_look(asked, await evaluate(send, signin.LOOK, timeout_ms=LOOK_MS))
    except PageThrew:
        return None
    except errors.AbortedError:
        raise
    except errors.CapError:  # the caller has the real trouble at hand, and reports that
        return None


def _thrown(details: Mapping[str, Any]) -> str:
    thrown = details.get("exception") or {}
    told = thrown.get("description") or thrown.get("value") or details.get("text") or "an error"
    return f"the page raised {str(told).splitlines()[0][:500]}; look whether it has changed"
