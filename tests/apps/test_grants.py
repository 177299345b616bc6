"""What installing and removing does to grants: changed code is confirmed, new wishes start at ask."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from capsdk.errors import CapError
from host.app import Host
from host.appcommands import AppCommands
from host.apps import find_app
from host.core.grants import BROWSER, Caller, Kind
from host.core.settings import Settings
from host.sandbox.appfolder import AppFolder
from host.store.port import GrantRow
from tests.apps.conftest import MakeApp
from tests.apps.support import grant, grants, owner_rows

BOTH = ("browser.debug", "browser.view")


async def install(settings: Settings, folder: Path, keep: bool | None = None) -> dict[str, Any]:
    commands = AppCommands(settings)
    plan = await commands.plan(str(folder))
    return await commands.install(str(folder), keep_grants=keep, revision=plan["revision"])


@pytest.fixture
def state(settings: Settings) -> Path:
    return Path(str(settings.state_dir))


CHANGES = (  # level before, what the new revision declares, the owner's word, whether asked, the grants afterwards
    pytest.param("allow", ("browser.debug",), True, True, {"browser.debug": "allow"}, id="kept"),
    pytest.param("allow", ("browser.debug",), False, True, {}, id="dropped"),
    pytest.param("off", ("browser.debug",), True, True, {"browser.debug": "off"}, id="a-no-is-kept-too"),
    pytest.param("ask", ("browser.debug",), None, False, {"browser.debug": "ask"}, id="ask-needs-no-word"),
    pytest.param(None, ("browser.debug",), None, False, {}, id="nothing-stored"),
    pytest.param("allow", (), True, True, {"browser.debug": "allow"}, id="declares-less"),
    pytest.param("allow", BOTH, True, True, {"browser.debug": "allow"}, id="declares-more"),
)


@pytest.mark.parametrize(("level", "declares", "keep", "asks", "after"), CHANGES)
async def test_changed_code_keeps_grants_only_by_the_owners_word(
    settings: Settings,
    state: Path,
    make_app: MakeApp,
    level: str | None,
    declares: tuple[str, ...],
    keep: bool | None,
    asks: bool,
    after: dict[str, str],
) -> None:
    await install(settings, make_app())
    if level:
        await grant(state, "app:shop", "browser.debug", level)
    changed = make_app(main="# changed\n", capabilities=declares)
    assert (await AppCommands(settings).plan(str(changed)))["asks"] is asks
    row = await install(settings, changed, keep)
    assert grants(state) == {("app:shop", name): level for name, level in after.items()}
    assert row["grants"] == after


async def test_without_the_owners_word_changed_code_with_grants_is_not_installed(
    settings: Settings, state: Path, make_app: MakeApp
) -> None:
    first = await install(settings, make_app())
    await grant(state, "app:shop", "browser.debug", "allow")
    with pytest.raises(CapError) as caught:
        await install(settings, make_app(main="# changed\n"))
    assert caught.value.code == "BAD_ARGUMENTS"
    assert caught.value.exit_code == 2
    assert (await AppCommands(settings).installed())[0]["revision"] == first["revision"]
    assert grants(state) == {("app:shop", "browser.debug"): "allow"}


async def test_the_same_code_again_needs_no_word(settings: Settings, state: Path, make_app: MakeApp) -> None:
    await install(settings, make_app())
    await grant(state, "app:shop", "browser.debug", "allow")
    row = await install(settings, make_app(files={"tests/new.txt": b"x"}))
    assert row["dropped"] == {}
    assert grants(state) == {("app:shop", "browser.debug"): "allow"}


async def test_what_is_newly_declared_starts_at_ask_whatever_was_stored(
    settings: Settings, state: Path, make_app: MakeApp
) -> None:
    await install(settings, make_app())
    await grant(state, "app:shop", "browser.view", "allow")
    row = await install(settings, make_app(capabilities=BOTH), keep=True)
    assert row["dropped"] == {"browser.view": "allow"}
    assert grants(state) == {}


async def test_a_first_install_inherits_nothing_that_was_stored_under_its_name(
    settings: Settings, state: Path, make_app: MakeApp
) -> None:
    await grant(state, "app:shop", "browser.debug", "allow")
    row = await install(settings, make_app())
    assert row["dropped"] == {"browser.debug": "allow"}
    assert grants(state) == {}


async def test_a_folder_that_changed_after_the_question_is_not_installed(settings: Settings, make_app: MakeApp) -> None:
    commands, source = AppCommands(settings), make_app()
    plan = await commands.plan(str(source))
    make_app(main="# another\n")
    with pytest.raises(CapError) as caught:
        await commands.install(str(source), keep_grants=True, revision=plan["revision"])
    assert caught.value.code == "BAD_ARGUMENTS"
    assert await commands.installed() == []


async def test_removing_takes_the_grants_of_this_app_only(settings: Settings, state: Path, make_app: MakeApp) -> None:
    await install(settings, make_app())
    others = {("app:shop2", "browser.debug"): "allow", (f"path:{make_app()}", "browser.debug"): "allow"}
    for subject, capability in (*others, ("app:shop", "browser.debug")):
        await grant(state, subject, capability, "allow")
    row = await AppCommands(settings).remove("shop")
    assert row["dropped"] == {"browser.debug": "allow"}
    assert grants(state) == others
    with pytest.raises(CapError) as caught:
        await AppCommands(settings).remove("shop")
    assert caught.value.code == "APP_NOT_FOUND"


async def test_the_ledger_tells_what_the_owner_did(settings: Settings, state: Path, make_app: MakeApp) -> None:
    await install(settings, make_app())
    await grant(state, "app:shop", "browser.debug", "allow")
    await install(settings, make_app(main="# changed\n"), keep=False)
    await AppCommands(settings).remove("shop")
    told = [(entry, verdict) for entry, verdict, _ in await owner_rows(state)]
    assert told == [("apps", "installed"), ("grants", "granted"), ("apps", "installed"), ("apps", "removed")]


def caller_of(app: AppFolder) -> Caller:
    return Caller(app.id, app.revision, Kind.SCRIPT, "run", app.subject, declared=app.capabilities)


@pytest.mark.parametrize("granted", ["installed", "folder"])
async def test_an_installed_app_and_its_folder_never_share_a_grant(
    settings: Settings, state: Path, make_app: MakeApp, host: Host, granted: str
) -> None:
    source = make_app()
    await install(settings, source)
    both = {"installed": find_app("app:shop", host.places), "folder": find_app(str(source), host.places)}
    await host.store.set_grant(GrantRow(both[granted].subject, "browser.debug", BROWSER, "allow", "-", 0))
    levels = {name: host.dispatcher.level_of(caller_of(app), "browser.debug").level for name, app in both.items()}
    assert levels == {"installed": "ask", "folder": "ask"} | {granted: "allow"}


async def test_removing_takes_the_access_in_a_running_host_too(
    settings: Settings, state: Path, make_app: MakeApp, host: Host
) -> None:
    await install(settings, make_app())
    await grant(state, "app:shop", "browser.debug", "allow")
    who, changed = caller_of(find_app("shop", host.places)), asyncio.Event()
    tell = host.dispatcher.grants_changed

    def heard() -> None:
        tell()
        changed.set()

    host.store.on_grants_changed = heard
    assert await level_in_time(host, who, changed, "allow")
    await AppCommands(settings).remove("shop")
    assert await level_in_time(host, who, changed, "ask")


async def level_in_time(host: Host, who: Caller, changed: asyncio.Event, level: str) -> bool:
    """Does the host come to give the caller this level, as it hears of changed grants?"""
    async with asyncio.timeout(10):
        while host.dispatcher.level_of(who, "browser.debug").level != level:
            await changed.wait()
            changed.clear()
    return True
