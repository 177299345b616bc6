"""What was observed of the site: addresses, steps and the answer's shape. No private data, nothing guessed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

URL_TEMPLATE = "{origin}/receipts/{item}"
ENDPOINT = "/api/receipts/{item}"
STEPS = ({"action": "click", "selector": "#show-receipt"},)
FIELDS = ("item", "title", "price")

# A tab is lent when its page commits: the button, and the page's own script behind it, are waited for.
CLICK = """
new Promise((resolve, reject) => {
  const deadline = Date.now() + 5000;
  (function look() {
    const button = document.querySelector(SELECTOR);
    if (button && document.readyState === "complete") { button.click(); resolve(true); }
    else if (Date.now() > deadline) reject(new Error("nothing matches " + SELECTOR));
    else setTimeout(look, 50);
  })();
})
"""


def page_url(origin: str, item: str) -> str:
    """Where the receipt `item` is shown."""
    return URL_TEMPLATE.format(origin=origin, item=quote(item, safe=""))


def endpoint(item: str) -> str:
    """The path that the page asks for the receipt `item`."""
    return ENDPOINT.format(item=quote(item, safe=""))


def problem(receipt: Any, item: str) -> str | None:
    """Why `receipt` is not the receipt `item` in the observed shape; None when it is."""
    if not isinstance(receipt, dict):
        return "the answer is not an object"
    changed = [name for name in FIELDS if not isinstance(receipt.get(name), str) or not receipt[name]]
    if changed:
        return f"the fields changed: {', '.join(changed)}"
    if receipt["item"] != item:
        return f"the answer is receipt {receipt['item']!r}, not {item!r}"
    return None
