"""A script that forgets to give its tab back: it is released with the run, and its author is told."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.support import write_app
from tests.support.stdio import GRANT, capsdk

FORGETS = """from capsdk import Result

async def main(input, ctx):
    for _ in range(2):
        await ctx.cap.call("browser.openSession", {"url": "about:blank"})
    async with ctx.browser.session("about:blank"):
        pass
    return Result.empty()
"""


def test_sessions_that_a_script_left_open_end_with_it_and_are_told(place: Path) -> None:
    write_app(place / "app", main=FORGETS)
    done = capsdk(place, "run", "app", "--ephemeral", "--json", *GRANT)
    assert json.loads(done.stdout)["result"]["state"] == "empty"
    assert done.stderr.decode().count("warning: 2 sessions were left open by the script") == 1
