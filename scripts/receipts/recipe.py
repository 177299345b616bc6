"""What was observed of the site: addresses, steps and the answers' shapes. No private data, nothing guessed."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from capsdk import Shortfall
from capsdk.capture import NETWORK_METHODS

LIST_PAGE = "{origin}/receipts"
LIST_ENDPOINT = "/api/receipts"
NEXT_PAGE = "#next-page"
MAX_PAGES = 50

PAGE = "{origin}/receipts/{item}"
ENDPOINT = "/api/receipts/{item}"
SHOW_RECEIPT = "#show-receipt"
FIELDS = ("item", "title", "price")

CAPTURE = NETWORK_METHODS  # what is not kept cannot push out what is waited for

# A tab is lent when its page commits: the button, and the page's own script behind it, are waited for.
CLICK = """
new Promise((resolve, reject) => {
  const deadline = Date.now() + 5000;
  (function look() {
    const button = document.querySelector(SELECTOR);
    if (button && !button.disabled && document.readyState === "complete") { button.click(); resolve(true); }
    else if (Date.now() > deadline) reject(new Error("nothing to click matches " + SELECTOR));
    else setTimeout(look, 50);
  })();
})
"""


def click(selector: str) -> str:
    """The expression that clicks what `selector` finds, as soon as it is there."""
    return CLICK.replace("SELECTOR", json.dumps(selector))


def list_url(origin: str) -> str:
    """Where the receipts are listed."""
    return LIST_PAGE.format(origin=origin)


def page_url(origin: str, item: str) -> str:
    """Where the receipt `item` is shown."""
    return PAGE.format(origin=origin, item=quote(item, safe=""))


def endpoint(item: str) -> str:
    """The path that the page asks for the receipt `item`."""
    return ENDPOINT.format(item=quote(item, safe=""))


def checked_list(answer: Any, page: int, before: list[str]) -> list[str]:
    """The new receipt numbers of page `page`. Raises Shortfall when it is not that page, in the observed shape."""
    numbers = answer.get("receipts") if isinstance(answer, dict) else None
    if not isinstance(numbers, list) or not all(isinstance(number, str) and number for number in numbers):
        raise Shortfall("the fields changed: receipts is no list of numbers")
    if "next" not in answer or answer.get("page") != page:
        raise Shortfall(f"the answer is page {answer.get('page')!r} with next {answer.get('next')!r}")
    if set(numbers) & set(before):
        raise Shortfall("it lists receipts of an earlier page again")
    return numbers


def checked_receipt(answer: Any, item: str) -> dict[str, Any]:
    """The row of the receipt `item`. Raises Shortfall when `answer` is not that receipt, in the observed shape."""
    if not isinstance(answer, dict):
        raise Shortfall("the answer is not an object")
    changed = [name for name in FIELDS if not isinstance(answer.get(name), str) or not answer[name]]
    if changed:
        raise Shortfall(f"the fields changed: {', '.join(changed)}")
    if answer["item"] != item:
        raise Shortfall(f"the answer is receipt {answer['item']!r}, not {item!r}")
    return {name: answer[name] for name in FIELDS}
