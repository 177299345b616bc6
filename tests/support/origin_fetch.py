"""An owner who is signed in at several sites, and what a script does with Fetch there, for tests of `origins`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from capsdk.errors import CapError
from tests.support.origin_sites import Answer, Asked
from tests.support.origin_world import LOADED, Tab, World, until

PAUSED = "Fetch.requestPaused"
TEXT = "FOREIGN-TEXT"
SECRETS = ("PAY-LAX-COOKIE", "PAY-STRICT-COOKIE", "MAIL-STRICT-COOKIE", "FRESH-COOKIE", "BROKEN-COOKIE")
MINE = "SHOP-COOKIE"
SET = (("Set-Cookie", "fresh=FRESH-COOKIE; HttpOnly"), ("Set-Cookie", "bad=BROKEN-COOKIE; Domain=other.invalid"))
REQUESTS = [{"urlPattern": "*", "requestStage": "Request"}]
RESPONSES = [{"urlPattern": "*", "requestStage": "Response"}]


async def sign_in(world: World) -> None:
    """The owner is signed in everywhere, and the foreign sites answer with what they know of the owner."""
    sites = world.sites
    for short, name in (("pay", "PAY"), ("mail", "MAIL"), ("shop", "SHOP")):
        cookies = ("strict", f"{name}-STRICT-COOKIE; SameSite=Strict"), ("lax", f"{name}-LAX-COOKIE; SameSite=Lax")
        if short == "shop":
            cookies = ("own", f"{MINE}; SameSite=Lax"), ("own2", MINE)
        # With the last tab Chromium forgets those that have no age.
        headers = tuple(("Set-Cookie", f"{key}={value}; Path=/; HttpOnly; Max-Age=9999") for key, value in cookies)
        await world.open(sites.put(f"{{{short}}}/sign-in", Answer("<title>in</title>", headers=headers)))
    kinds = {"json": "application/json", "js": "text/javascript", "css": "text/css", "png": "image/png"}
    for short in ("pay", "mail"):
        for path, kind in kinds.items():
            sites.put(f"{{{short}}}/{path}", answer(kind))
        sites.put(f"{{{short}}}/page", answer("text/html"))
    sites.put("{shop}/", "<!doctype html><title>shop</title>")
    sites.put("{shop}/go", lambda asked: Answer("", 302, headers=(("Location", asked.query),)))
    sites.put("{shop}/data", Answer("OWN-DATA", kind="text/plain"))
    await world.leave()


def answer(kind: str) -> Callable[[Asked], Answer]:
    def made(asked: Asked) -> Answer:
        if kind == "text/javascript":
            return Answer("1", kind=kind, headers=SET)  # what runs in a page is the page's
        text = f"{TEXT} {asked.method}"
        if kind == "application/json":
            text += f" for {asked.headers.get('cookie', '-')}"
        return Answer(f"/* {text} */ b {{}}" if kind == "text/css" else text, kind=kind, headers=SET)

    return made


async def tabs(world: World) -> tuple[Tab, Tab]:
    """A tab that is kept inside, and the control, which is not."""
    kept, free = await asyncio.gather(world.open("{shop}/", origins=["shop"]), world.open("{shop}/"))
    return kept, free


async def paused(tab: Tab, path: str, *, stage: str = "request", method: str = "GET") -> dict[str, Any]:
    """The newest pause of a request for a URL with this end."""
    found: list[dict[str, Any]] = []

    async def there() -> bool:
        for event in await tab.events(PAUSED):
            params = event["params"]
            stages = "response" if "responseStatusCode" in params else "request"
            request = params["request"]
            if request["url"].endswith(path) and (stages, request["method"]) == (stage, method):
                found[:] = [params]
        return bool(found)

    await until(there, f"a pause of {path}")
    return found[0]


async def result(tab: Tab) -> Any:
    """What the page put into `got`."""

    async def there() -> bool:
        return bool(await tab.js("typeof got") == "string")

    await until(there, "the page's own result")
    return await tab.js("got")


async def hold(tab: Tab, *patterns: dict[str, str]) -> None:
    """Have Fetch hold what fits.

    Observed: what a page asks for just after that may pass, and everything when the page was just coming. So one is
    tried, and it is said again.
    """

    async def held() -> bool:
        await tab.js(LOADED)
        await tab.cdp("Fetch.disable")
        await tab.cdp("Fetch.enable", patterns=list(patterns))
        await tab.js("fetch('/data-or/json-tried').catch(e => 0), new Promise(done => setTimeout(done, 50))")
        return any("tried" in event["params"]["request"]["url"] for event in await tab.events(PAUSED))

    await until(held, "a first request that is held")


async def foreign_pauses(tab: Tab) -> list[str]:
    """The requests to elsewhere that the script was told to be held."""
    asked = [event["params"]["request"]["url"] for event in await tab.events(PAUSED)]
    return [url for url in asked if not url.startswith(tab.sites.origins["shop"] + "/")]


async def is_now(tab: Tab, expression: str, value: Any, handle: str | None = None) -> bool:
    """Has an expression this value in the page, or in the frame with this handle?"""
    try:
        return bool(await tab.js(expression, handle) == value)
    except CapError:  # on its way
        return False


async def was_hit(world: World, url: str, count: int) -> bool:
    """Was a URL asked for so often?"""
    return world.sites.hit(url) >= count
