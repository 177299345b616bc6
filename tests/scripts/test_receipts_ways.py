"""The receipts scripts over everything that can happen to them: real pipeline, real sandbox, real Chromium."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from host.app import Host, open_host
from host.commands import run_on
from host.core.settings import Settings
from host.frontends.cli import RunRequest
from host.sandbox.fixture import FixtureSite
from tests.sdk.fakehost import REPOSITORY

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]

RECEIPTS = REPOSITORY / "scripts" / "receipts"
RAW = REPOSITORY / "scripts" / "receipts-raw"
GOOD = ["A-100", "A-101", "A-102", "A-103", "A-104"]


class Outcome(NamedTuple):
    """What a run came to, and what reached the two sites."""

    state: str
    complete: bool
    rows: list[dict[str, Any]]
    reason: str
    shop: list[str]
    elsewhere: list[str]

    @property
    def items(self) -> list[str]:
        return [row["item"] for row in self.rows]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Host]:
    state, cache = (str(tmp_path_factory.mktemp(name)) for name in ("state", "cache"))
    async with open_host(Settings(state_dir=state, cache_dir=cache), own_profile=True) as made:
        yield made


async def envelope(host: Host, app: Path, given: dict[str, Any] | None, *opened: str, fixture: bool) -> dict[str, Any]:
    """What `capsdk run --json` prints."""

    async def this_one() -> Host:
        return host

    text = None if given is None else json.dumps(given)
    request = RunRequest(
        app=str(app),
        input=text,
        fixture=fixture,
        grants=("browser.debug=allow",),
        loopback=opened,
        ephemeral=False,
    )
    return await run_on(this_one, request, lambda kind, data: None)


async def outcome(host: Host, app: Path = RECEIPTS, *, site: Path | None = None, **given: Any) -> Outcome:
    """One run against a site of the test's own, so that the test knows what was asked of it."""
    async with FixtureSite(site or app / "tests" / "site") as served:
        made = await envelope(host, app, {**given, "origin": served.origin}, *served.places, fixture=False)
        assert made["ok"], made
        result = made["result"]
        return Outcome(
            result["state"],
            result["complete"],
            json.loads(result["rowsJson"]),
            result.get("reason", ""),
            [target for _, target in served.requests],
            [target for _, target in served.other.requests] if served.other else [],
        )


async def test_without_an_input_the_example_is_read_from_the_apps_own_site(host: Host) -> None:
    made = await envelope(host, RECEIPTS, None, fixture=True)
    want = json.loads((RECEIPTS / "tests" / "expected.json").read_text())["result"]
    assert made["ok"], made
    assert (made["result"]["state"], made["result"]["complete"]) == (want["state"], want["complete"])
    assert json.loads(made["result"]["rowsJson"]) == want["rows"]


async def test_without_numbers_every_page_of_the_list_is_read(host: Host) -> None:
    got = await outcome(host)
    assert (got.state, got.complete, got.items, got.reason) == ("ok", True, GOOD, "")
    assert [target for target in got.shop if target.startswith("/api/receipts?")] == [
        "/api/receipts?page=1",
        "/api/receipts?page=2",
        "/api/receipts?page=3",
    ]


async def test_as_many_pages_are_read_as_were_asked_for_and_that_is_complete(host: Host) -> None:
    got = await outcome(host, pages=2)
    assert (got.state, got.complete, got.items) == ("ok", True, GOOD[:4])
    assert "/api/receipts?page=3" not in got.shop


async def test_an_answer_of_another_origin_under_the_same_path_is_not_taken(host: Host) -> None:
    got = await outcome(host, items=["A-200"])
    assert got.elsewhere == ["/api/receipts/A-200"]  # it was asked, and it had answered first
    assert (got.state, got.rows) == ("ok", [{"item": "A-200", "title": "Oak stool", "price": "€ 89.00"}])


SHORT = (  # numbers, which are in the rows, what the reason tells
    pytest.param(["A-100", "A-404", "A-101"], ["A-100", "A-101"], "A-404 answered 404", id="not-found-in-the-middle"),
    pytest.param(["A-500"], [], "A-500 answered 500", id="server-error"),
    pytest.param(["A-600"], [], "text/html that is not JSON", id="wrong-type"),
    pytest.param(["A-700"], [], "/receipts/A-700 answered 404", id="no-page"),
    pytest.param(["A-900"], [], "the answer is receipt 'A-901'", id="another-receipt"),
    pytest.param(["A-100", "A-901"], ["A-100"], "the fields changed: title, price", id="fields-changed"),
    pytest.param(["A-300"], [], "lost (1 Network.requestWillBeSent)", id="events-lost"),
    pytest.param(["A-300", "A-100"], ["A-100"], "lost (1 Network.requestWillBeSent)", id="events-lost-for-one-of-two"),
)


@pytest.mark.parametrize(("items", "read", "tells"), SHORT)
async def test_what_could_not_be_read_is_told_and_the_rest_is_there(
    host: Host, items: list[str], read: list[str], tells: str
) -> None:
    got = await outcome(host, items=items)
    assert (got.state, got.complete, got.items) == ("partial" if read else "failed", False, read)
    assert tells in got.reason


async def test_nothing_at_the_address_is_a_failure_that_names_chromiums_word(host: Host) -> None:
    async with FixtureSite(RECEIPTS / "tests" / "site") as gone:
        origin, places = gone.origin, gone.places
    made = await envelope(host, RECEIPTS, {"origin": origin, "items": ["A-100"]}, *places, fixture=False)
    assert made["result"]["state"] == "failed"
    assert "ERR_CONNECTION_REFUSED" in made["result"]["reason"]


SIGNED_OUT = (  # number, what gave it away
    pytest.param("A-401", "/api/receipts/A-401 answered 401", id="status-of-the-interface"),
    pytest.param("A-402", "sent on to ORIGIN/sign-in;", id="page-redirects"),
    pytest.param("A-403", "/receipts/A-403 asks for a password", id="page-asks-for-the-password"),
    pytest.param("A-405", "sent on to ORIGIN/sign-in;", id="page-leaves-at-the-click"),
    pytest.param("A-406", "sent on to ORIGIN/sign-in;", id="interface-redirects"),
    pytest.param("A-407", "/api/receipts/A-407 answered with a sign-in form", id="interface-answers-with-the-form"),
)


@pytest.mark.parametrize(("item", "tells"), SIGNED_OUT)
async def test_signed_out_is_blocked_names_the_command_and_keeps_what_was_read(
    host: Host, item: str, tells: str
) -> None:
    got = await outcome(host, items=["A-100", item, "A-101"])
    assert (got.state, got.complete, got.items) == ("blocked", False, ["A-100"])
    origin = got.reason.split("capsdk login ")[1].split("/receipts/")[0]
    assert tells.replace("ORIGIN", origin) in got.reason
    assert f"`capsdk login {origin}/receipts/{item}`" in got.reason
    assert "next=" not in got.reason
    assert "/receipts/A-101" not in got.shop  # nobody knocks on once the door is shut


def changed_site(folder: Path, files: dict[str, str], routes: str = "") -> Path:
    """The receipts site with some files in other words, and routes before the usual ones."""
    site = folder / "site"
    shutil.copytree(RECEIPTS / "tests" / "site", site)
    for name, content in files.items():
        (site / name).write_text(content)
    (site / "routes.toml").write_text(routes + (site / "routes.toml").read_text())
    return site


def page(number: int, receipts: list[str], following: int | None) -> dict[str, str]:
    return {f"lists/{number}.json": json.dumps({"page": number, "receipts": receipts, "next": following})}


def list_route(*lines: str) -> str:
    return "\n".join(["[[route]]", *lines, ""])


LISTS = (  # files of the site, routes, state, receipts, what the reason tells
    pytest.param(page(1, [], None), "", "empty", [], "", id="no-receipts"),
    pytest.param(page(2, ["A-102", "A-101"], None), "", "partial", ["A-100", "A-101"], "page 2", id="page-again"),
    pytest.param(page(1, ["A-100"], 3), "", "partial", ["A-100"], "page 2 of the list: the answer is page 3", id="gap"),
    pytest.param({"lists/2.json": '{"page": 2, "ids": []}'}, "", "partial", GOOD[:2], "page 2", id="fields-changed"),
    pytest.param(
        {},
        list_route('path = "/api/receipts"', 'query = { page = "3" }', "status = 503"),
        "partial",
        GOOD[:4],
        "page 3 of the list: ORIGIN/api/receipts?page=3 answered 503",
        id="error-on-the-last-page",
    ),
    pytest.param(
        {}, list_route('path = "/api/receipts"', "status = 500"), "failed", [], "page 1 of the list", id="error-at-once"
    ),
    pytest.param(
        {},
        list_route('path = "/receipts"', "status = 302", 'headers = { Location = "/login" }', 'body = "index.html"'),
        "blocked",
        [],
        "`capsdk login ORIGIN/receipts`",
        id="signed-out",
    ),
)


@pytest.mark.parametrize(("files", "routes", "state", "items", "tells"), LISTS)
async def test_a_list_is_reported_as_it_was_read(
    host: Host, tmp_path: Path, files: dict[str, str], routes: str, state: str, items: list[str], tells: str
) -> None:
    site = changed_site(tmp_path, files, routes + list_route('path = "/login"', 'body = "sign-in.html"'))
    got = await outcome(host, site=site)
    assert (got.state, got.complete, got.items) == (state, state in ("ok", "empty"), items)
    assert all(piece in got.reason for piece in tells.split("ORIGIN")), got.reason


RAW_WAYS = (
    pytest.param(["A-100", "A-101", "A-102"], id="all-well"),
    pytest.param(["A-200"], id="another-origin"),
    pytest.param(["A-100", "A-500", "A-101"], id="server-error"),
    pytest.param(["A-300"], id="events-lost"),
    pytest.param(["A-900", "A-901"], id="not-the-receipt"),
    pytest.param([], id="nothing-asked-for"),
)


@pytest.mark.parametrize("items", RAW_WAYS)
async def test_calls_alone_give_the_same_rows_as_the_comforts(host: Host, items: list[str]) -> None:
    site = RECEIPTS / "tests" / "site"
    raw, comfortable = await asyncio.gather(
        outcome(host, RAW, site=site, items=items), outcome(host, RECEIPTS, site=site, items=items)
    )
    assert raw[:3] == comfortable[:3]
    assert bool(raw.reason) is bool(comfortable.reason)


async def test_calls_alone_read_their_own_site(host: Host) -> None:
    made = await envelope(host, RAW, None, fixture=True)
    want = json.loads((RAW / "tests" / "expected.json").read_text())["result"]
    assert made["ok"], made
    assert (made["result"]["state"], json.loads(made["result"]["rowsJson"])) == (want["state"], want["rows"])


# What the comforts of a script see of a page that has redefined the language; tests/cases has the raw commands.
READER = """
from capsdk import Result


async def main(input, ctx):
    async with ctx.browser.page(input["origin"] + input["path"]) as tab:
        text = await tab.evaluate(
            "new Promise(done => { const look = () => document.readyState === 'complete' "
            "? done(JSON.stringify([Array.from('ab'), document.querySelector('h1').textContent])) "
            ": setTimeout(look, 20); look(); })"
        )
        return Result.ok([{"text": text, "sign": await tab.signed_out()}])
"""
MANIFEST = 'id = "reader"\nname = "Reader"\nversion = "1"\ncapabilities = ["browser.debug"]\n'
FORGING = """<!doctype html><meta charset="utf-8"><h1>Catalogue</h1>FORM<script>
JSON.stringify = () => "forged"; Array.from = () => ["forged"]; window.Promise = undefined; setTimeout = undefined;
Document.prototype.querySelector = Document.prototype.querySelectorAll = () => [];
Array.prototype.some = () => true; Element.prototype.checkVisibility = () => true;
Object.prototype.toJSON = () => "forged";
</script>"""
PASSWORD = '<form name="querySelectorAll"><input type="password" name="type"></form>'
LOOKS = (  # the form, the sign
    pytest.param(PASSWORD, "asks for a password", id="password-behind-a-control-of-that-name"),
    pytest.param(f"<div style='display:none'>{PASSWORD}</div>", None, id="hidden-password"),
    pytest.param("<input type=password autocomplete=new-password>", None, id="choosing-a-new-one"),
    pytest.param("<input type=search>", None, id="no-password"),
)


@pytest.mark.parametrize(("form", "sign"), LOOKS)
async def test_a_page_that_redefines_the_language_can_neither_forge_nor_hide_a_sign_in(
    host: Host, tmp_path: Path, form: str, sign: str | None
) -> None:
    app, site = tmp_path / "app", tmp_path / "site"
    for folder, name, content in (
        (app, "app.toml", MANIFEST),
        (app, "main.py", READER),
        (site, "page.html", FORGING.replace("FORM", form)),
    ):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    got = await outcome(host, app, site=site, path="/page.html")
    (row,) = got.rows
    assert json.loads(row["text"])[0] == ["a", "b"]
    assert (sign in row["sign"]) if sign else row["sign"] is None


async def test_signed_out_left_uncaught_ends_a_run_as_blocked(host: Host, tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "app.toml").write_text(MANIFEST)
    (app / "main.py").write_text(READER)
    got = await outcome(host, app, site=RECEIPTS / "tests" / "site", path="/receipts/A-402")
    assert (got.state, got.complete, got.rows) == ("blocked", False, [])
    assert "capsdk login" in got.reason
