"""Reads receipts: opens each page, clicks its button, and takes the receipt from the answer that the page gets."""

from __future__ import annotations

from typing import Any

import recipe

from capsdk import Result, Shortfall, SignedOut, errors
from capsdk.context import Context

SHORT = (Shortfall, errors.TimeoutError, errors.UnavailableError)  # what costs one receipt and not the whole run


async def main(input: dict[str, Any], ctx: Context) -> Result:
    """Rows of item, title and price, one a receipt: of `input["items"]`, else of all that the shop lists."""
    rows: list[dict[str, Any]] = []
    missing: list[str] = []
    try:
        items = input["items"] if "items" in input else await listed(ctx, input, missing)
        for done, item in enumerate(items):
            ctx.signal.raise_if_cancelled()
            ctx.progress(done, len(items), f"receipt {item}")
            try:
                rows.append(await receipt(ctx, input["origin"], item))
            except SHORT as short:
                missing.append(f"receipt {item}: {short}")
        ctx.progress(len(items), len(items), "all receipts are read")
    except SignedOut as out:
        return Result.blocked(str(out), rows)
    return Result.of(rows, missing)


async def listed(ctx: Context, input: dict[str, Any], missing: list[str]) -> list[str]:
    """The receipt numbers of the shop's list, page after page; what cannot be read of it is added to `missing`."""
    items: list[str] = []
    page, last = 1, input.get("pages", recipe.MAX_PAGES)
    try:
        async with ctx.browser.page(recipe.list_url(input["origin"]), capture=recipe.CAPTURE) as tab:
            while True:
                answer = (await tab.response(origin=input["origin"], path=recipe.LIST_ENDPOINT)).json()
                items += recipe.checked_list(answer, page, items)
                if answer["next"] is None or page == last:
                    break
                page += 1
                await tab.evaluate(recipe.click(recipe.NEXT_PAGE))
        if answer["next"] is not None and "pages" not in input:
            missing.append(f"the list has more than {last} pages")
    except SHORT as short:
        missing.append(f"page {page} of the list: {short}")
    return items


async def receipt(ctx: Context, origin: str, item: str) -> dict[str, Any]:
    """The row of the receipt `item`. Raises Shortfall when the site is not as it was observed."""
    async with ctx.browser.page(recipe.page_url(origin, item), capture=recipe.CAPTURE) as tab:
        await tab.evaluate(recipe.click(recipe.SHOW_RECEIPT))
        answer = (await tab.response(origin=origin, path=recipe.endpoint(item))).json()
        return recipe.checked_receipt(answer, item)
