"""A real host in a world of its own names, and tabs that check what they were refused."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import host.app
from capsdk.errors import CapError
from host.app import Host, open_host
from host.browser import process
from host.core.grants import Caller
from host.core.limits import Limits
from host.core.policy import load_rules
from host.core.settings import Settings
from tests.live.test_external_protocols import Spy
from tests.support.egress import PUBLIC, world
from tests.support.inprocess import Talker
from tests.support.origin_sites import NAMES, OriginSites
from tests.support.origin_world import Tab, World
from tests.support.stdio import LOADED

POLICY = "BROWSER_POLICY_DENIED"
DIALOG_ANSWER_S = 1.5
LIMITS = Limits(dialog_answer_s=DIALOG_ANSWER_S, pipe_held_s=60.0)  # a giant reply holds the pipe as long as it must
SHOWN = 150  # of a reason: the ledger cuts long ones
ESCAPES = {"\\": "\\\\"}
LOOPS, TURNS = "loops.example", "turns.example"
OPENED = ("lshop", "lpay", "lmail")  # names of this machine, whose pages are secure contexts
ANSWERS = {
    **{name: [[PUBLIC]] for name in NAMES.values() if name.endswith(".example")},
    LOOPS: [["127.0.0.1"]],
    TURNS: [[PUBLIC], ["127.0.0.1"]],
}


def methods_of(*domains: str) -> list[str]:
    """All methods of these domains that the policy knows."""
    return [method for method in load_rules() if method.partition(".")[0] in domains]


class Mark(Tab):
    """A tab that is attacked through; it keeps what it was refused."""

    def __init__(self, talker: Talker, sites: OriginSites, session_id: str) -> None:
        super().__init__(talker, sites, session_id)
        self._refused: list[tuple[str, str]] = []

    async def refused(self, method: str, handle: str | None = None, /, **params: Any) -> CapError:
        """A command that the policy has to refuse."""
        problem = await self.problem(method, handle, **params)
        assert problem is not None, f"{method} was done"
        assert (problem.code, problem.category) == (POLICY, "policy"), f"{method}: {problem}"
        self._refused.append((method, problem.message))
        return problem

    async def raw(self, method: str, /, **params: Any) -> dict[str, Any]:
        """What Chromium itself does when it is asked: the control. Raises CdpFailure."""
        session = self.talker.host.sessions.owned(self.talker.who, self.id)
        return await session.connection.call(method, params, session.page.app, timeout_s=10.0)

    async def gesture(self, expression: str, handle: str | None = None) -> Any:
        """The value of an expression that a click of the user is behind."""
        given = {"expression": self.sites.filled(expression), "returnByValue": True, "awaitPromise": True}
        made = await self.cdp("Runtime.evaluate", handle, userGesture=True, **given)
        return made["result"].get("value")

    async def child(self) -> str:
        """The handle of its first frame in another process."""
        return str((await self.told("Target.attachedToTarget"))[0]["sessionId"])

    async def stands(self) -> None:
        """It works on, and the ledger tells of each refusal by which rule it was."""
        assert await self.js("6 * 7") == 42
        rows = [row for row in await rows_of(self.talker.host, self.talker.who) if row.verdict == POLICY]
        written = [(row.method, row.reason[:SHOWN]) for row in rows if row.session == self.id[:8]]
        wanted = [(as_written(method), as_written(reason)[:SHOWN]) for method, reason in self._refused]
        assert sorted(written) == sorted(wanted)
        assert all(len(reason) > len(method) for method, reason in written)


def as_written(text: str) -> str:
    """A text as the ledger has it: nothing in it can pass for something else."""
    return "".join(one if one.isprintable() and one != "\\" else ESCAPES.get(one, f"\\u{ord(one):04x}") for one in text)


async def rows_of(host: Host, who: Caller) -> list[Any]:
    """The ledger's newest outcomes of one app's calls."""
    await host.store.flush()
    return [row for row in await host.store.tail(1000) if (row.kind, row.app) == ("outcome", who.app)]


class Lab(World):
    """One host and its sites; `spy` is what the host has in its PATH."""

    def __init__(self, host: Host, sites: OriginSites, spy: Spy, folder: Path) -> None:
        super().__init__(host, sites)
        self.spy = spy
        self.folder = folder

    async def tab(self, url: str = "{shop}/", *, popups: bool = True, places: tuple[str, ...] = ()) -> Mark:
        """A tab of a new app; `places` are opened to it, besides the sites on this machine."""
        talker = self.caller(places=OPENED)
        rules = talker.who.urls
        urls = replace(rules, open_places=rules.open_places | frozenset(places))
        talker.who = replace(talker.who, popups=popups, urls=urls)
        return await self.beside(talker, url)

    async def beside(self, talker: Talker, url: str = "{shop}/") -> Mark:
        """One more tab of an app."""
        made = Mark(talker, self.sites, await talker.open(self.sites.filled(url)))
        await made.js(LOADED)
        return made

    async def page(self, text: str, site: str = "shop") -> Mark:
        """A tab of a new app, on a page with this in its body."""
        return await self.tab(self.put(text, site))

    def put(self, text: str, site: str = "shop", path: str = "/page") -> str:
        """Serve a page; its URL."""
        return self.sites.put(f"{{{site}}}{path}", f"<!doctype html><title>page</title><body>{text}")

    async def targets(self) -> list[dict[str, Any]]:
        """Everything that Chromium has."""
        connection = await self.host.browser.connection()
        found = await connection.call("Target.getTargets", {"filter": [{}]}, timeout_s=5.0)
        return list(found["targetInfos"])


@contextlib.asynccontextmanager
async def open_lab(folder: Path, name: str, *, with_path: bool = False) -> AsyncIterator[Lab]:
    """A host whose proxy knows the sites' names; its Chromium is running. `with_path` gives that the host's PATH."""
    spy = Spy(folder / name)
    with OriginSites() as sites, pytest.MonkeyPatch.context() as patch:
        program, made = world(ANSWERS, {PUBLIC: f"127.0.0.1:{sites.port}"}), host.app.egress_config
        patch.setattr(host.app, "egress_config", lambda settings: replace(made(settings), program=program))
        patch.setenv("PATH", f"{spy.folder}:{os.environ['PATH']}")
        if with_path:
            patch.setattr(process, "EMPTY_PATH", str(spy.folder))
        async with open_host(Settings(limits=LIMITS), ephemeral=True) as started:
            lab = Lab(started, sites, spy, folder)
            await lab.tab("about:blank")  # Chromium has its surroundings from now on
            await lab.leave()
            yield lab
