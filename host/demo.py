"""The demo: a real script in a real sandbox works a real tab; then a hostile one tries to break out and cannot."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
STATE = ".capsdk-demo"


def main() -> int:
    """`python -m host.demo [--json]`: the exit status is 0 when the rows came and every attempt was refused."""
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))  # until there is something to clear up
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one envelope as the last line")
    options = parser.parse_args()
    from host.frontends.cli import run_command

    return run_command(show(as_json=options.json))


async def show(*, as_json: bool) -> int:
    """Run both scripts on one host with a temporary profile; the ledger is kept in the checkout."""
    from host.app import Host, load_settings, open_host
    from host.commands import run_on
    from host.frontends.cli import RunRequest, exit_code
    from host.frontends.terminal import Progress, table

    out = sys.stderr if as_json else sys.stdout

    def say(text: str = "") -> None:
        print(text, file=out, flush=True)

    settings = replace(load_settings(), state_dir=str(ROOT / STATE))
    async with open_host(settings, own_profile=True) as host:

        async def this_host() -> Host:
            return host

        async def run(script: str) -> dict[str, Any]:
            say(f"$ capsdk run scripts/{script} --fixture --grant browser.debug=allow")
            request = RunRequest(str(ROOT / "scripts" / script), None, True, ("browser.debug=allow",), (), True)
            with Progress(out) as progress:
                return await run_on(this_host, request, progress.tell)

        say("1. A script fetches receipts through a tab it was lent. --grant is the owner's word, for this run only.\n")
        receipts = await run("receipts")
        if not receipts["ok"]:
            if as_json:
                print(json.dumps(receipts))
            return exit_code(receipts, quiet=as_json)
        say("\n" + table(json.loads(receipts["result"]["rowsJson"])))
        say(f"\nstate {receipts['result']['state']}, {receipts['run']['durationMs'] / 1000:.1f} s\n")

        say("2. A hostile script with the same grant tries to get out. First its control: what it may do works.\n")
        hostile = await run("hostile")
        rows = json.loads(hostile["result"]["rowsJson"]) if hostile["ok"] else []
        for row in rows:
            say(f"\n  {row.get('attempt')}\n    -> {row.get('refused_by') or 'worked'}: {row.get('detail')}")
        say("\nThe lines that stopped it:")
        for line in stops():
            say(f"  {line}")

        await host.store.flush()
        say(f"\n3. Everything stands in the ledger, {STATE}/ledger.db (SQLite); its last lines:\n")
        for entry in await host.store.tail(10):
            what = entry.method or entry.entry or entry.kind
            say(f"  #{entry.seq:<5} {entry.kind:8} {entry.app:9} {what:26} {entry.verdict:22} {entry.reason[:70]}")
        held = hostile["ok"] and hostile["result"]["state"] == "ok"
        say("\nAll attempts were refused." if held else f"\nTHE HOSTILE SCRIPT WAS NOT HELD: {json.dumps(hostile)}")
    if as_json:
        print(json.dumps(receipts, ensure_ascii=False))
    return 0 if held and receipts["result"]["state"] == "ok" else 1


def stops() -> list[str]:
    """Where in this checkout each attempt is stopped: file and line, looked up and not written by hand."""
    from host.core.urls import judge_url
    from host.sandbox import seccomp

    table = ROOT / "host" / "core" / "data" / "cdp-policy.tsv"
    rows = table.read_text(encoding="utf-8").splitlines()
    capture = next(number for number, row in enumerate(rows, 1) if row.startswith("Page.captureScreenshot\t"))
    return [
        f"{_place(seccomp.program)}  the system calls a worker may make: openat and socket are not among them",
        f"{table.relative_to(ROOT)}:{capture}  Page.captureScreenshot is denied",
        f"{_place(judge_url)}  file: is not http(s)",
    ]


def _place(function: Callable[..., Any]) -> str:
    path = Path(inspect.getsourcefile(function) or "")
    return f"{path.resolve().relative_to(ROOT)}:{inspect.getsourcelines(function)[1]}"


if __name__ == "__main__":
    sys.exit(main())
