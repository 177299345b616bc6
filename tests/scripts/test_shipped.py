"""The shipped scripts, run by the real runtime against their own site; the browser between them is a stand-in here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from capsdk.errors import PolicyError, UnavailableError
from host.core.manifest import row_problem
from host.sandbox.appfolder import AppFolder, load_app
from host.sandbox.fixture import FixtureSite
from tests.sdk.fakehost import REPOSITORY, Told, run_script

SCRIPTS = REPOSITORY / "scripts"
# What the kernel says in a locked worker, said by Python here.
NO_FILES = """
import builtins, socket
def no(*args, **more): raise PermissionError(1, "Operation not permitted")
builtins.open = no
"""
LOCKED = (
    NO_FILES
    + """
real = socket.socket
def guarded(family=-1, *rest, **more): return no() if family == socket.AF_INET else real(family, *rest, **more)
socket.socket = guarded
"""
)


class Page:
    """One session of the stand-in: what it opened, and what it has seen of the network."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.events: list[dict[str, Any]] = []
        self.bodies: dict[str, str] = {}

    def tell(self, method: str, **params: Any) -> None:
        self.events.append({"seq": len(self.events) + 1, "method": method, "params": params, "at": 0})

    async def click(self) -> None:
        """What the page's own script does when its button is clicked."""
        parts = urlsplit(self.url)
        url = f"{parts.scheme}://{parts.netloc}/api{parts.path}"
        self.tell("Network.requestWillBeSent", requestId="7", request={"url": url, "method": "GET"})
        status, body = await fetch(url)
        response = {"url": url, "status": status, "mimeType": "application/json", "headers": {}}
        self.tell("Network.responseReceived", requestId="7", response=response)
        self.bodies["7"] = body
        self.tell("Network.loadingFinished", requestId="7")


class StandIn:
    """Answers a script as host and browser would, with real requests to the site."""

    def __init__(self, *, picky: bool = True) -> None:
        self.pages: dict[str, Page] = {}
        self.closed: list[str] = []
        self._picky = picky

    async def __call__(self, method: str, args: dict[str, Any]) -> dict[str, Any]:
        if method == "browser.openSession":
            status, _ = await fetch(args["url"])
            name = f"s{len(self.pages)}"
            self.pages[name] = Page(args["url"])
            return {"sessionId": name, "navigation": {"url": args["url"], "status": status}}
        if method == "browser.closeSession":
            self.closed.append(args["sessionId"])
        if method == "browser.events":
            events = self.pages[args["sessionId"]].events[args["after"] :]
            return {"events": events, "next": args["after"] + len(events), "lost": False, "dropped": {}}
        if method == "browser.cdp":
            page = self.pages[args["sessionId"]]
            return {"result": await self._cdp(page, args["method"], args.get("params") or {})}
        return {}

    async def _cdp(self, page: Page, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "Network.getResponseBody":
            return {"body": page.bodies[params["requestId"]], "base64Encoded": False}
        if method == "Page.getFrameTree":
            return {"frameTree": {"frame": {"id": "main"}}}
        if method == "Page.createIsolatedWorld":
            return {"executionContextId": 2}
        if method == "Runtime.evaluate" and "click()" in params["expression"]:
            await page.click()
            return {"result": {"type": "boolean", "value": True}}
        if method == "Runtime.evaluate":
            return {"result": {"type": "number", "value": 42}}
        if self._picky:
            raise PolicyError("BROWSER_POLICY_DENIED", f"{method} is refused; leave it")
        return {}


async def fetch(url: str) -> tuple[int, str]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    async with asyncio.timeout(5):
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body.decode()


async def run_app(app: AppFolder, answer: Any, *, before: str = "", **input: Any) -> tuple[Told, FixtureSite]:
    async with FixtureSite(app.path / "tests" / "site") as site:
        given = app.input_example | input | {"origin": site.origin}
        told = await run_script(app.files, input=given, answer=answer, before=before, entry=app.entry)
        return told, site


def expected(app: AppFolder) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((app.path / "tests" / "expected.json").read_text())["result"]
    return result


@pytest.mark.parametrize("folder", sorted(SCRIPTS.iterdir()), ids=lambda folder: folder.name)
def test_each_shipped_app_loads_and_carries_its_site(folder: Path) -> None:
    app = load_app(folder)
    assert app.id == folder.name
    assert app.output_columns
    assert (folder / "tests" / "site").is_dir()
    assert len(app.files[app.entry].splitlines()) < 120


@pytest.mark.parametrize("name", ["receipts", "receipts-raw"])
async def test_receipts_gives_a_row_for_each_receipt_and_closes_every_tab(name: str) -> None:
    app, browser = load_app(SCRIPTS / name), StandIn()
    told, site = await run_app(app, browser)
    want = expected(app)
    rows = json.loads(told.data["rowsJson"])
    assert (told.data["state"], told.data["complete"], rows) == (want["state"], want["complete"], want["rows"])
    assert row_problem(app.output_columns, rows) is None
    assert browser.closed == list(browser.pages)
    assert ("GET", "/api/receipts/A-100") in site.requests


async def test_receipts_tells_how_far_it_is() -> None:
    told, _ = await run_app(load_app(SCRIPTS / "receipts"), StandIn())
    assert told.args_of("run.progress")[-1] == {"done": 3, "total": 3, "message": "all receipts are read"}


def test_the_raw_form_uses_nothing_but_calls_and_serves_the_same_pages() -> None:
    raw, site = SCRIPTS / "receipts-raw", SCRIPTS / "receipts" / "tests" / "site"
    assert "ctx.browser" not in (raw / "main.py").read_text()
    assert "capsdk.browser" not in (raw / "main.py").read_text()
    copies = [path for path in (raw / "tests" / "site").rglob("*.*") if path.name != "routes.toml"]
    assert copies != []
    for path in copies:
        assert path.read_bytes() == (site / path.relative_to(raw / "tests" / "site")).read_bytes()


def test_receipts_is_short() -> None:
    assert len(load_app(SCRIPTS / "receipts").files["main.py"].splitlines()) < 60


TROUBLE = (  # items, state, how many rows, what the reason tells
    pytest.param(["A-900"], "failed", 0, "'A-901'", id="another-receipt-came"),
    pytest.param(["A-100", "A-901"], "partial", 1, "title, price", id="fields-changed"),
    pytest.param(["A-901", "A-100"], "partial", 1, "title, price", id="goes-on-behind-a-gap"),
    pytest.param([], "empty", 0, None, id="nothing-asked-for"),
)


@pytest.mark.parametrize(("items", "state", "count", "tells"), TROUBLE)
async def test_receipts_says_what_it_could_not_read(
    items: list[str], state: str, count: int, tells: str | None
) -> None:
    told, _ = await run_app(load_app(SCRIPTS / "receipts"), StandIn(), items=items)
    assert (told.data["state"], len(json.loads(told.data["rowsJson"]))) == (state, count)
    assert told.data.get("reason") is None if tells is None else tells in told.data["reason"]


async def test_hostile_reports_its_control_and_three_refusals() -> None:
    app = load_app(SCRIPTS / "hostile")
    told, _ = await run_app(app, StandIn(), before=LOCKED)
    assert told.data["state"] == "ok", told.data
    rows = json.loads(told.data["rowsJson"])
    assert row_problem(app.output_columns, rows) is None
    assert [row["refused_by"] for row in rows] == expected(app)["refused_by"]
    assert all(row["detail"] for row in rows)


async def test_hostile_fails_when_the_process_is_not_locked() -> None:
    told, _ = await run_app(load_app(SCRIPTS / "hostile"), StandIn())
    assert told.data["state"] == "failed"
    assert "/etc/passwd worked" in told.data["reason"]


async def test_hostile_fails_when_only_the_socket_gets_through() -> None:
    told, _ = await run_app(load_app(SCRIPTS / "hostile"), StandIn(), before=NO_FILES)
    assert told.data["state"] == "failed"
    assert "socket" in told.data["reason"]


async def test_hostile_fails_when_the_policy_lets_a_picture_through() -> None:
    told, _ = await run_app(load_app(SCRIPTS / "hostile"), StandIn(picky=False), before=LOCKED)
    assert told.data["state"] == "failed"
    assert "Page.captureScreenshot worked" in told.data["reason"]


async def test_hostile_takes_no_other_failure_for_a_refusal() -> None:
    browser = StandIn()

    async def broken(method: str, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("method") == "Page.captureScreenshot":
            raise UnavailableError("BROWSER_GONE", "the browser ended; open a new session")
        return await browser(method, args)

    told, _ = await run_app(load_app(SCRIPTS / "hostile"), broken, before=LOCKED)
    assert told.data["state"] == "failed"
    assert "by chance" in told.data["reason"]
