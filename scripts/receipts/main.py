"""Reads receipts: opens each page, clicks its button, and takes the receipt from the answer that the page gets."""

from __future__ import annotations

import json
from typing import Any

import recipe

from capsdk import Result
from capsdk.context import Context


async def main(input: dict[str, Any], ctx: Context) -> Result:
    """Rows of item, title and price, one a receipt in `input["items"]`."""
    items: list[str] = input["items"]
    rows: list[dict[str, Any]] = []
    for done, item in enumerate(items):
        ctx.signal.raise_if_cancelled()
        ctx.progress(done, len(items), f"receipt {item}")
        try:
            receipt = await read_receipt(ctx, input["origin"], item)
        except ValueError as changed:
            return short_of(rows, f"receipt {item}: {changed}")
        rows.append({name: receipt[name] for name in recipe.FIELDS})
    ctx.progress(len(items), len(items), "all receipts are read")
    return Result.ok(rows)


async def read_receipt(ctx: Context, origin: str, item: str) -> dict[str, Any]:
    """The receipt `item`, checked. Raises ValueError when the site is not as it was observed."""
    async with ctx.browser.session(recipe.page_url(origin, item)) as tab:
        if "errorText" in tab.navigation:
            raise ValueError(f"the page could not be loaded: {tab.navigation['errorText']}")
        for step in recipe.STEPS:
            script = recipe.CLICK.replace("SELECTOR", json.dumps(step["selector"]))
            reply = await tab.cdp.Runtime.evaluate(expression=script, awaitPromise=True, returnByValue=True)
            if "exceptionDetails" in reply:
                raise ValueError(f"the page has no {step['selector']}")
        response = await tab.response(origin=origin, path=recipe.endpoint(item))
        receipt = response.json()
        if problem := recipe.problem(receipt, item):
            raise ValueError(problem)
        return dict(receipt)


def short_of(rows: list[dict[str, Any]], reason: str) -> Result:
    """What there is, with the reason why there is no more."""
    return Result.partial(rows, reason) if rows else Result.failed(reason)
