"""Loading app folders from a real disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from capsdk.errors import InvalidArgumentError, NotFoundError
from host.sandbox.appfolder import load_app

MANIFEST = 'id = "x"\nname = "X"\nversion = "1"\ncapabilities = ["browser.debug"]\nlimits = { wall_s = 30 }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    app = tmp_path / "app"
    write(app / "app.toml", MANIFEST)
    write(app / "main.py", "async def main(input, ctx): ...\n")
    write(app / "lib" / "part.py", "X = 1\n")
    write(app / "words.txt", "data\n")
    write(app / "tests" / "test_it.py", "assert False\n")
    write(app / ".git" / "config", "secret\n")
    write(app / "__pycache__" / "main.pyc", "x")
    return app


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def test_a_folder_is_its_manifest_its_sources_and_its_revision(folder: Path) -> None:
    app = load_app(folder)
    assert (app.id, app.entry, app.limits) == ("x", "main.py", {"wall_s": 30.0})
    assert app.capabilities == frozenset({"browser.debug"})
    assert sorted(app.files) == ["lib/part.py", "main.py"]
    assert app.subject == f"path:{os.path.realpath(folder)}"
    assert len(app.revision) == 16
    assert int(app.revision, 16) >= 0


def test_a_link_to_the_folder_is_the_same_app(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(folder)
    assert load_app(tmp_path / "alias").subject == load_app(folder).subject


CHANGES = (  # what happens to the folder, whether it is another revision
    pytest.param(lambda app: write(app / "main.py", "async def main(input, ctx): pass\n"), True, id="source"),
    pytest.param(lambda app: write(app / "words.txt", "other\n"), True, id="data"),
    pytest.param(lambda app: write(app / "app.toml", MANIFEST + "# comment\n"), True, id="manifest"),
    pytest.param(lambda app: write(app / "new.txt", ""), True, id="empty-file-added"),
    pytest.param(lambda app: (app / "words.txt").rename(app / "word.txt"), True, id="renamed"),
    pytest.param(lambda app: write(app / "tests" / "test_it.py", ""), False, id="tests"),
    pytest.param(lambda app: write(app / ".git" / "config", ""), False, id="dotfiles"),
    pytest.param(lambda app: write(app / "lib" / "__pycache__" / "part.pyc", ""), False, id="caches"),
    pytest.param(lambda app: os.utime(app / "main.py", (1, 1)), False, id="times"),
    pytest.param(lambda app: write(app / "lib" / "tests" / "data.txt", ""), True, id="tests-deeper-are-part-of-it"),
)


@pytest.mark.parametrize(("change", "differs"), CHANGES)
def test_the_revision_changes_with_what_is_run(folder: Path, change: Callable[[Path], object], differs: bool) -> None:
    before = load_app(folder).revision
    change(folder)
    assert (load_app(folder).revision != before) is differs


def test_content_cannot_move_between_files_unnoticed(folder: Path) -> None:
    write(folder / "a.txt", "onetwo")
    write(folder / "b.txt", "")
    before = load_app(folder).revision
    write(folder / "a.txt", "one")
    write(folder / "b.txt", "two")
    assert load_app(folder).revision != before


def many_files(app: Path) -> None:
    for number in range(200):
        write(app / f"f{number}.txt", "")


INVALID = (  # what happens to the folder, what the message names
    pytest.param(lambda app: write(app / "app.toml", 'id = "x\n'), "line 1", id="not-toml-names-the-line"),
    pytest.param(lambda app: write(app / "app.toml", b"\xff"), "UTF-8", id="manifest-not-utf8"),
    pytest.param(lambda app: write(app / "app.toml", MANIFEST + "extra = 1"), "extra", id="unknown-key"),
    pytest.param(lambda app: (app / "main.py").unlink(), "entry", id="entry-missing"),
    pytest.param(lambda app: write(app / "main.py", b"\xff"), "main.py", id="source-not-utf8"),
    pytest.param(lambda app: (app / "out.txt").symlink_to("/etc/hostname"), "out.txt", id="link-out"),
    pytest.param(lambda app: (app / "up.py").symlink_to("../../x.py"), "up.py", id="link-out-dangling"),
    pytest.param(lambda app: (app / "etc").symlink_to("/etc"), "etc", id="link-out-to-a-folder"),
    pytest.param(lambda app: (app / "again").symlink_to(app), "again", id="link-round"),
    pytest.param(lambda app: os.mkfifo(app / "pipe"), "pipe", id="pipe"),
    pytest.param(lambda app: write(app / "big.py", "#" * 1024 * 1024), "sources", id="sources-over-a-megabyte"),
    pytest.param(lambda app: write(app / "big.bin", b"x" * (16 * 1024 * 1024 + 1)), "bytes", id="folder-too-big"),
    pytest.param(many_files, "200 files", id="too-many-files"),
)


@pytest.mark.parametrize(("change", "names"), INVALID)
def test_a_folder_that_cannot_be_used_says_why(folder: Path, change: Callable[[Path], object], names: str) -> None:
    change(folder)
    with pytest.raises(InvalidArgumentError) as caught:
        load_app(folder)
    assert caught.value.code == "MANIFEST_INVALID"
    assert names in caught.value.message


def test_a_link_inside_the_folder_is_a_file_like_others(folder: Path) -> None:
    (folder / "alias.py").symlink_to("main.py")
    assert load_app(folder).files["alias.py"] == load_app(folder).files["main.py"]


@pytest.mark.parametrize("name", ["nowhere", "lib", "main.py"], ids=["missing", "no-manifest", "a-file"])
def test_what_is_no_app_folder_is_not_found(folder: Path, name: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        load_app(folder / name)
    assert caught.value.code == "APP_NOT_FOUND"
