"""What was observed of the site: address, step, endpoint and fields. No private data, nothing guessed."""

from __future__ import annotations

URL_TEMPLATE = "{origin}/receipts/{item}"
ENDPOINT = "/api/receipts/{item}"
FIELDS = ("item", "title", "price")

# A tab is lent when its page commits: the button, and the page's own script behind it, are waited for.
CLICK = """
new Promise((resolve, reject) => {
  const deadline = Date.now() + 5000;
  (function look() {
    const button = document.querySelector("#show-receipt");
    if (button && document.readyState === "complete") { button.click(); resolve(true); }
    else if (Date.now() > deadline) reject(new Error("there is no #show-receipt"));
    else setTimeout(look, 50);
  })();
})
"""
