"""A host in the test's process with sites of many names behind it, and tabs of apps that may have some of them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from capsdk.errors import CapError
from host.app import Host, open_host
from host.core.grants import Caller
from host.core.settings import Settings
from host.core.urls import UrlRules
from tests.support.inprocess import Talker, caller
from tests.support.origin_sites import OriginSites
from tests.support.processes import started_for, wait_until

ANSWER_MS = 3000
LOADED = "new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', () => done()))"
PAINTED = f"{LOADED}.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done()))))"


class World:
    """One host in the test's process, behind it the sites, and callers (`name`-N) that are given back by `leave`."""

    def __init__(self, host: Host, sites: OriginSites, name: str = "app") -> None:
        self.host = host
        self.sites = sites
        self._name = name
        self._numbers = itertools.count(1)
        self._callers: list[Caller] = []

    def caller(self, origins: Iterable[str] = (), places: Iterable[str] = ()) -> Talker:
        """A new app whose manifest names these origins (none: all), and which was given these places."""
        name = f"{self._name}-{next(self._numbers)}"
        rules = UrlRules(
            frozenset(self.sites.places[short] for short in places),
            tuple(self.sites.origins[short] for short in origins),
        )
        who = replace(caller(name, name), urls=rules)
        self._callers.append(who)
        return Talker(self.host, who)

    async def open(self, url: str, origins: Iterable[str] = (), places: Iterable[str] = ()) -> Tab:
        """A tab of a new app."""
        talker = self.caller(origins, places)
        return Tab(talker, self.sites, await talker.open(self.sites.filled(url)))

    async def leave(self) -> None:
        """Give back what the callers hold."""
        for who in self._callers:
            await self.host.dispatcher.caller_ended(who)
        self._callers.clear()

    async def ledger(self, kind: str, who: Talker) -> list[Any]:
        """The ledger's newest rows of this kind about this caller."""
        await self.host.store.flush()
        return [row for row in await self.host.store.tail(300) if (row.kind, row.app) == (kind, who.who.app)]


READING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("DOM.getDocument", {"depth": -1, "pierce": True}),
    ("DOM.getFlattenedDocument", {"depth": -1, "pierce": True}),
    ("DOMSnapshot.captureSnapshot", {"computedStyles": []}),
    ("Network.getCookies", {}),
    ("Page.getAppManifest", {}),
    ("Page.getFrameTree", {}),
    ("Page.getNavigationHistory", {}),
    ("Page.getResourceTree", {}),
)


def bodies(query: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """The commands that read an answer's body by its request."""
    return (
        ("Network.getResponseBody", {}),
        ("Network.searchInResponseBody", {"query": query}),
        ("Network.streamResourceContent", {}),
        ("Network.getRequestPostData", {}),
    )


class Tab:
    """A session of one caller, and what a script may ask of it."""

    def __init__(self, talker: Talker, sites: OriginSites, session_id: str) -> None:
        self.talker = talker
        self.sites = sites
        self.id = session_id
        self._after = self._newest = 0

    async def cdp(self, method: str, handle: str | None = None, /, **params: Any) -> dict[str, Any]:
        """A command that has to succeed; its result."""
        where = {} if handle is None else {"targetSessionId": handle}
        made = await self.talker.ok("browser.cdp", sessionId=self.id, method=method, params=params, **where)
        return dict(made["result"])

    async def code(self, method: str, handle: str | None = None, /, **params: Any) -> str:
        """The code of a command, "" when it succeeds."""
        return getattr(await self.problem(method, handle, **params), "code", "")

    async def problem(self, method: str, handle: str | None = None, /, **params: Any) -> CapError | None:
        """Why a command fails, None when it succeeds."""
        try:
            await self.cdp(method, handle, **params)
        except CapError as problem:
            return problem
        return None

    async def js(self, expression: str, handle: str | None = None) -> Any:
        """The value of an expression in the page, or in the frame with this handle."""
        text = self.sites.filled(expression)
        made = await self.cdp("Runtime.evaluate", handle, expression=text, returnByValue=True, awaitPromise=True)
        return made["result"].get("value")

    async def later(self, script: str) -> None:
        """Have the page run a script by itself, once it is there: what it does then does not meet the call."""
        await self.js(LOADED)
        await self.js(f"setTimeout(() => {{ {script} }}, 0), 1")

    async def from_now(self) -> None:
        """Have `events` begin with what comes from now on."""
        await self.events()
        self._after = self._newest

    async def events(self, *methods: str) -> list[dict[str, Any]]:
        """All events so far, or those of these methods."""
        found: list[dict[str, Any]] = []
        after = self._after
        while True:
            args = {"methods": list(methods)} if methods else {}
            page = await self.talker.ok("browser.events", sessionId=self.id, after=after, **args)
            found += page["events"]
            if not page["events"] and page["next"] == after:
                self._newest = after
                return found
            after = page["next"]

    async def told(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        """The parameters of the events of one method, once there are so many."""
        found: list[dict[str, Any]] = []

        async def enough() -> bool:
            found[:] = [event["params"] for event in await self.events(method)]
            return len(found) >= count

        await until(enough, f"{count} of {method}")
        return found

    async def shows(self, url: str) -> None:
        """Wait until the page is at this URL."""
        wanted = self.sites.filled(url)

        async def there() -> bool:
            try:
                return bool(await self.js("location.href") == wanted)
            except CapError:  # on its way
                return False

        await until(there, f"the page at {wanted}")

    async def answers(self, method: str, handle: str | None = None, /, **params: Any) -> str:
        """A command's result as JSON, "" when it fails or something holds it up."""
        where = {} if handle is None else {"targetSessionId": handle}
        call = self.talker.ok(
            "browser.cdp", sessionId=self.id, method=method, params=params, timeoutMs=ANSWER_MS, **where
        )
        try:
            return json.dumps((await call)["result"])
        except CapError:
            return ""

    async def everything(self, *urls: str, query: str) -> str:
        """All that the session tells: its events, and what reading commands answer about `urls` and whatever it has."""
        events = await self.events()
        found = [json.dumps(events)]
        asked = [(method, None, params) for method, params in READING]
        named: dict[str, set[str]] = {"requestId": set(), "frameId": set(), "loaderId": set()}
        for event in events:
            params = event["params"]
            for name, values in named.items():
                values.update([params[name]] if isinstance(params.get(name), str) else [])
            if event["method"] == "Debugger.scriptParsed":
                asked.append(("Debugger.getScriptSource", None, {"scriptId": params["scriptId"]}))
            elif event["method"] == "CSS.styleSheetAdded":
                sheet = {"styleSheetId": params["header"]["styleSheetId"]}
                asked.append(("CSS.getStyleSheetText", None, sheet))
            elif event["method"] == "Target.attachedToTarget":
                read = {"expression": "document.documentElement.outerHTML", "returnByValue": True}
                asked.append(("Runtime.evaluate", params["sessionId"], read))
        for request in named["requestId"] | named["loaderId"]:
            asked += [(method, None, {"requestId": request, **more}) for method, more in bodies(query)]
        for frame in named["frameId"]:
            asked.append(("Accessibility.getFullAXTree", None, {"frameId": frame}))
            for url in urls:
                where = {"frameId": frame, "url": self.sites.filled(url)}
                asked.append(("Page.getResourceContent", None, where))
                asked.append(("Page.searchInResource", None, {**where, "query": query}))
        for method, handle, given in asked:
            found.append(await self.answers(method, handle, **given))
        return "\n".join([*found, json.dumps((await self.events())[len(events) :])])

    async def click(self, x: int = 20, y: int = 20) -> None:
        """Press and let go of the mouse, once the page is there to be clicked."""
        await self.js(PAINTED)
        for kind in ("mousePressed", "mouseReleased"):
            await self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


async def until(
    probe: Callable[[], Awaitable[bool]], what: str, *, within_s: float = 15.0, or_not: bool = False
) -> None:
    """Ask again and again; what takes longer has failed, unless it may be so (`or_not`)."""
    try:
        async with asyncio.timeout(within_s):
            while not await probe():  # noqa: ASYNC110 - Chromium is asked, and tells nobody
                await asyncio.sleep(0.04)
    except TimeoutError:
        if not or_not:
            raise AssertionError(f"never came: {what}") from None


@contextlib.contextmanager
def _own_folder() -> Iterator[None]:
    """Where the host puts its profile: no process may name it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="capsdk-origins-"))
    folder.chmod(0o711)  # the browser's own uid gets through to its profile
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
        wait_until(lambda: not started_for(folder), 6.0, "processes were left behind")
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    """A host for a module's tests, and the sites behind it."""
    with _own_folder(), OriginSites() as sites:
        async with open_host(Settings(upstream_proxy=sites.upstream), ephemeral=True) as host:
            yield World(host, sites)
