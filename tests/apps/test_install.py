"""Installing: what is copied, what is current, and what is refused."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from capsdk.errors import CapError
from host.app import Places
from host.apps import Apps, find_app, full_name
from host.sandbox.appfolder import load_app
from tests.apps.conftest import MakeApp
from tests.apps.support import files_of

WHOLE: dict[str, bytes] = {
    "lib/part.py": b"X = 1\n",
    "data/words.bin": b"\xff\x00",
    "tests/expected.json": b"{}",
    "tests/site/index.html": b"<p>",
}


def install(places: Places, folder: Path, now_ms: int = 1) -> str:
    return Apps(places).install(load_app(folder), now_ms).revision


def test_an_installed_app_is_the_folder_with_its_tests(places: Places, make_app: MakeApp) -> None:
    source = make_app(files={**WHOLE, ".git/config": b"secret", "__pycache__/main.pyc": b"x"})
    revision = install(places, source)
    copied = files_of(places.state / "apps" / "shop" / revision)
    assert copied == {name: content for name, content in files_of(source).items() if name[0] not in "._"}
    assert {"main.py", *WHOLE} <= copied.keys()


def test_what_is_installed_is_private(places: Places, make_app: MakeApp) -> None:
    before = os.umask(0)
    try:
        install(places, make_app(files=WHOLE))
    finally:
        os.umask(before)
    found = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (places.state / "apps").rglob("*")}
    assert found == {(True, 0o700), (False, 0o600)}


def test_the_same_app_has_one_revision_and_two_subjects(places: Places, make_app: MakeApp) -> None:
    source = make_app(files=WHOLE)
    install(places, source)
    folder, installed = find_app(str(source), places), find_app("app:shop", places)
    assert folder.revision == installed.revision
    assert (folder.subject, installed.subject) == (f"path:{os.path.realpath(source)}", "app:shop")
    assert find_app(str(installed.path), places).subject == f"path:{installed.path}"


def test_an_installed_app_stays_as_it_is_when_its_folder_changes(places: Places, make_app: MakeApp) -> None:
    source = make_app()
    revision = install(places, source)
    make_app(main="async def main(input, ctx): ...\n")
    assert find_app("app:shop", places).revision == revision != load_app(source).revision


def test_a_newer_install_is_current_and_the_one_before_stays_for_its_runs(places: Places, make_app: MakeApp) -> None:
    revisions = [install(places, make_app(main=f"# {number}\n"), now_ms=number) for number in range(3)]
    assert len(set(revisions)) == 3
    assert Apps(places).load("shop").revision == revisions[-1]
    kept = {path.name for path in (places.state / "apps" / "shop").iterdir()}
    assert kept == {"current.json", *revisions[1:]}


def test_installing_the_same_again_takes_its_new_tests(places: Places, make_app: MakeApp) -> None:
    first = install(places, make_app(files={"tests/site/index.html": b"old"}))
    second = install(places, make_app(files={"tests/site/index.html": b"new"}), now_ms=2)
    assert first == second
    home = places.state / "apps" / "shop"
    assert files_of(home / first)["tests/site/index.html"] == b"new"
    assert {path.name for path in home.iterdir()} == {"current.json", first}


def test_apps_are_listed_by_id_with_what_they_ask_for(places: Places, make_app: MakeApp) -> None:
    for name in ("zeta", "alpha"):
        install(places, make_app(name, id=name), now_ms=7)
    rows = [one.public() for one in Apps(places).installed()]
    assert [row["id"] for row in rows] == ["alpha", "zeta"]
    revision = load_app(make_app("alpha", id="alpha")).revision
    assert rows[0] == {
        "id": "alpha",
        "name": "Shop",
        "version": "1.0",
        "revision": revision,
        "capabilities": ["browser.debug"],
        "installedAt": 7,
    }


DAMAGE: tuple[object, ...] = (
    pytest.param(lambda home, one: (home / one / "main.py").write_text("evil"), id="source-changed"),
    pytest.param(lambda home, one: (home / one / "more.txt").write_text("x"), id="file-added"),
    pytest.param(lambda home, one: (home / one / "app.toml").unlink(), id="manifest-gone"),
    pytest.param(lambda home, one: (home / one).rename(home / "elsewhere"), id="revision-gone"),
    pytest.param(lambda home, one: (home / "current.json").write_text("{"), id="pointer-broken"),
    pytest.param(lambda home, one: (home / "current.json").write_text('{"revision": 1}'), id="pointer-half"),
    pytest.param(
        lambda home, one: (home / "current.json").write_text(json.dumps({"revision": "..", "installedAt": 1})),
        id="pointer-out-of-the-folder",
    ),
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_not_as_it_was_installed_is_not_run(
    places: Places, make_app: MakeApp, damage: Callable[[Path, str], object]
) -> None:
    revision = install(places, make_app())
    damage(places.state / "apps" / "shop", revision)
    with pytest.raises(CapError) as caught:
        find_app("app:shop", places)
    assert caught.value.code == "MANIFEST_INVALID"
    (row,) = [one.public() for one in Apps(places).installed()]
    assert "problem" in row
    install(places, make_app())
    assert find_app("app:shop", places).revision == revision


def test_an_app_in_the_place_of_another_is_not_run_as_that(places: Places, make_app: MakeApp) -> None:
    install(places, make_app(id="other"))
    (places.state / "apps" / "other").rename(places.state / "apps" / "shop")
    with pytest.raises(CapError) as caught:
        find_app("shop", places)
    assert caught.value.code == "MANIFEST_INVALID"


UNKNOWN = ("nope", "app:nope", "app:", "app:..", "app:../state", "app:shop/..", "./nope", "/nope/there")


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_names_no_app_is_not_found(places: Places, make_app: MakeApp, text: str) -> None:
    install(places, make_app())
    with pytest.raises(CapError) as caught:
        find_app(text, places)
    assert caught.value.code == "APP_NOT_FOUND"


def test_a_folder_goes_before_an_installed_app_of_its_name(
    places: Places, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_app("shop")
    install(places, source)
    monkeypatch.chdir(source.parent)
    assert find_app("shop", places).subject == f"path:{source}"
    monkeypatch.chdir("/")
    assert find_app("shop", places).subject == "app:shop"


def test_a_full_name_means_the_same_in_another_folder(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    source = make_app("shop")
    monkeypatch.chdir(source.parent)
    names = [full_name(text) for text in ("shop", "./shop", "./gone", "other", "app:other")]
    assert names == [str(source), str(source), str(source.parent / "gone"), "app:other", "app:other"]
    monkeypatch.chdir("/")
    assert [full_name(name) for name in names] == names


def test_links_are_copied_as_what_they_show(places: Places, make_app: MakeApp) -> None:
    source = make_app()
    (source / "alias.py").symlink_to("main.py")
    revision = install(places, source)
    copy = places.state / "apps" / "shop" / revision / "alias.py"
    assert copy.is_file()
    assert not copy.is_symlink()


def pipe_in(tests: Path) -> None:
    tests.mkdir()
    os.mkfifo(tests / "x")


TESTS_REFUSED: tuple[object, ...] = (
    pytest.param(lambda tests: tests.symlink_to("/etc"), id="tests-is-a-link"),
    pytest.param(lambda tests: (tests.mkdir(), (tests / "x").symlink_to("/etc/hostname")), id="link-out"),
    pytest.param(pipe_in, id="pipe"),
)


@pytest.mark.parametrize("spoil", TESTS_REFUSED)
def test_tests_that_cannot_be_copied_are_refused_and_nothing_is_installed(
    places: Places, make_app: MakeApp, spoil: Callable[[Path], object]
) -> None:
    source = make_app()
    spoil(source / "tests")
    with pytest.raises(CapError) as caught:
        install(places, source)
    assert caught.value.code == "MANIFEST_INVALID"
    assert Apps(places).installed() == []


def test_an_install_that_failed_half_way_leaves_the_old_one(
    places: Places, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = install(places, make_app())

    def broken(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("host.apps._write_file", broken)
    with pytest.raises(CapError) as caught:
        install(places, make_app(main="# new\n"))
    assert caught.value.code == "STORE_UNAVAILABLE"
    assert Apps(places).load("shop").revision == revision


def test_a_removed_app_leaves_nothing_and_is_removed_once(places: Places, make_app: MakeApp) -> None:
    install(places, make_app())
    apps = Apps(places)
    assert apps.remove("shop")
    assert not apps.remove("shop")
    assert apps.current("shop") is None
    assert [path.name for path in (places.state / "apps").iterdir()] == [".lock"]


def test_two_installs_at_once_do_not_mix(places: Places, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    install(places, make_app())
    monkeypatch.setattr("host.apps.LOCK_TIMEOUT_S", 0.1)
    with (places.state / "apps" / ".lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(CapError) as caught:
            install(places, make_app(main="# new\n"))
    assert caught.value.code == "STORE_UNAVAILABLE"
    assert install(places, make_app(main="# new\n")) == Apps(places).load("shop").revision
