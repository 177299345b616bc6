"""The receipts script in plain calls: what `scripts/receipts` does with comforts, with nothing but `cap.call`."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote, urlsplit

import recipe

from capsdk import Result
from capsdk.context import Context

WAIT_S = 15.0
NETWORK = ("Network.loadingFailed", "Network.loadingFinished", "Network.requestWillBeSent", "Network.responseReceived")


class NotAsObserved(Exception):
    """The site did something else than the recipe saw."""


async def main(input: dict[str, Any], ctx: Context) -> Result:
    """Rows of item, title and price, one a receipt in `input["items"]`."""
    rows: list[dict[str, Any]] = []
    missing: list[str] = []
    for item in input["items"]:
        try:
            rows.append(await read_receipt(ctx, input["origin"], item))
        except NotAsObserved as problem:
            missing.append(f"receipt {item}: {problem}")
    if not missing:
        return Result.ok(rows) if rows else Result.empty()
    return Result.partial(rows, "; ".join(missing)) if rows else Result.failed("; ".join(missing))


async def read_receipt(ctx: Context, origin: str, item: str) -> dict[str, Any]:
    """Open, click, listen, fetch the body, check it; the tab is given back in any case."""
    url = recipe.URL_TEMPLATE.format(origin=origin, item=quote(item, safe=""))
    opened = await ctx.cap.call("browser.openSession", {"url": url, "capture": NETWORK})
    session_id = opened["sessionId"]
    try:
        if "errorText" in opened["navigation"]:
            raise NotAsObserved(f"the page could not be loaded: {opened['navigation']['errorText']}")
        params = {"expression": recipe.CLICK, "awaitPromise": True, "returnByValue": True}
        if "exceptionDetails" in await cdp(ctx, session_id, "Runtime.evaluate", params):
            raise NotAsObserved("the page has no such button")
        request_id = await answered(ctx, session_id, origin, recipe.ENDPOINT.format(item=quote(item, safe="")))
        body = await cdp(ctx, session_id, "Network.getResponseBody", {"requestId": request_id})
        return row_of(body, item)
    finally:
        await ctx.cap.call("browser.closeSession", {"sessionId": session_id})


async def cdp(ctx: Context, session_id: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """One CDP command."""
    reply = await ctx.cap.call("browser.cdp", {"sessionId": session_id, "method": method, "params": params})
    result: dict[str, Any] = reply["result"]
    return result


async def answered(ctx: Context, session_id: str, origin: str, path: str) -> str:
    """The id of the request to this origin and path whose answer, a JSON one, has come whole."""
    after, wanted, finished = 0, None, set()
    deadline = asyncio.get_running_loop().time() + WAIT_S
    while (left_ms := round((deadline - asyncio.get_running_loop().time()) * 1000)) > 0:
        ctx.signal.raise_if_cancelled()
        args = {"sessionId": session_id, "after": after, "limit": 100, "methods": NETWORK, "waitMs": left_ms}
        page = await ctx.cap.call("browser.events", args)
        if page["lost"]:  # whatever came after: what is missing cannot be told from what never happened
            raise NotAsObserved(f"events were lost: {', '.join(sorted(page['dropped']))}")
        after = page["next"]
        for event in page["events"]:
            method, told = event["method"], event["params"]
            if method == "Network.responseReceived" and is_at(told["response"]["url"], origin, path):
                wanted = told["requestId"]
                if told["response"]["status"] != 200 or "json" not in told["response"]["mimeType"]:
                    raise NotAsObserved(f"the answer is {told['response']['status']} {told['response']['mimeType']}")
            elif method == "Network.loadingFinished":
                finished.add(told["requestId"])
            elif method == "Network.loadingFailed" and told["requestId"] == wanted:
                raise NotAsObserved(f"the request failed: {told['errorText']}")
        if wanted in finished:
            return str(wanted)
    raise NotAsObserved(f"no answer within {WAIT_S:g} s")


def is_at(url: str, origin: str, path: str) -> bool:
    """Is this exactly that origin and path? Another site may answer under the same path."""
    parts = urlsplit(url)
    return (f"{parts.scheme}://{parts.netloc}", parts.path) == (origin, path)


def row_of(body: dict[str, Any], item: str) -> dict[str, Any]:
    """The row, when the body is the receipt `item` in the observed shape."""
    if body.get("base64Encoded"):
        raise NotAsObserved("the answer is not text")
    try:
        answer = json.loads(body["body"])
    except ValueError:
        raise NotAsObserved("the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise NotAsObserved("the answer is not an object")
    changed = [name for name in recipe.FIELDS if not isinstance(answer.get(name), str) or not answer[name]]
    if changed:
        raise NotAsObserved(f"the fields changed: {', '.join(changed)}")
    if answer["item"] != item:
        raise NotAsObserved(f"the answer is receipt {answer['item']!r}, not {item!r}")
    return {name: answer[name] for name in recipe.FIELDS}
