"""Whole runs in the real sandbox, without a browser: what a script gets of its app, its input and its pace."""

from __future__ import annotations

import json
from typing import Any

import pytest

from host.app import Host
from host.apps import Apps
from host.sandbox.appfolder import load_app
from tests.apps.conftest import MakeApp
from tests.apps.support import run_in

ASKS = """
from capsdk import Result

async def main(input, ctx):
    words = await ctx.asset("data/words.txt")
    info = await ctx.cap.call("host.info")
    told = await ctx.cap.call("apps.describe", {"entry": "browser.cdp"})
    listed = await ctx.cap.call("browser.sessions")
    row = {"words": words, "tier": info["sandboxTier"], "access": told["entries"][0]["access"],
           "sessions": len(listed["sessions"])}
    return Result.ok([row])
"""
FAST = """
import asyncio
from capsdk import Result
from capsdk.errors import ExhaustedError

async def main(input, ctx):
    codes = []
    for _ in range(6):
        try:
            await ctx.cap.call("host.info")
            codes.append("ok")
        except ExhaustedError as problem:
            codes.append(problem.code)
            wait_ms = problem.details["retryAfterMs"]
    await asyncio.sleep(wait_ms / 1000)
    await ctx.cap.call("host.info")
    return Result.ok([{"codes": codes}])
"""
NEEDS_ITEMS = """
[input.schema]
required = ["items"]
[input.schema.properties.items]
items = { type = "string" }
"""


def rows(envelope: dict[str, Any]) -> Any:
    assert envelope["ok"], envelope
    return json.loads(envelope["result"]["rowsJson"])


async def test_an_installed_app_reads_its_files_and_knows_its_access(host: Host, make_app: MakeApp) -> None:
    app = load_app(make_app(main=ASKS, files={"data/words.txt": b"a b"}))
    Apps(host.places).install(app, 1)
    envelope = await run_in(host, "shop", grants=("browser.debug=allow",))
    tier = envelope["run"]["tier"]
    assert rows(envelope) == [{"words": "a b", "tier": tier, "access": "allow", "sessions": 0}]
    assert (envelope["run"]["app"], envelope["run"]["revision"]) == ("shop", app.revision)


async def test_a_script_that_calls_faster_than_its_manifest_says_is_slowed(host: Host, make_app: MakeApp) -> None:
    source = make_app(main=FAST, more="[limits]\ncalls_per_s = 3\n")
    (row,) = rows(await run_in(host, str(source)))
    assert row["codes"] == ["ok"] * 3 + ["RATE_LIMITED"] * 3


INPUTS: tuple[Any, ...] = (
    pytest.param('{"items": ["a", 1]}', "input.items.1", id="item"),
    pytest.param("{}", "input", id="left-out"),
    pytest.param(None, "input", id="nothing-given-and-no-example"),
)


@pytest.mark.parametrize(("given", "at"), INPUTS)
async def test_an_input_that_does_not_fit_starts_no_run(
    host: Host, make_app: MakeApp, given: str | None, at: str
) -> None:
    envelope = await run_in(host, str(make_app(more=NEEDS_ITEMS)), input=given)
    assert not envelope["ok"]
    assert (envelope["error"]["code"], envelope["error"]["details"]) == ("BAD_ARGUMENTS", {"at": at})
    assert envelope["run"]["tier"] is None


async def test_an_input_that_fits_starts_one(host: Host, make_app: MakeApp) -> None:
    assert rows(await run_in(host, str(make_app(more=NEEDS_ITEMS)), input='{"items": ["a"]}')) == []
