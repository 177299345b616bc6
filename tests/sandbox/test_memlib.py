"""The blob of modules: kept once, never trusted blindly, and complete without a single path."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from host.sandbox import memlib
from host.sandbox.launcher import CAPSDK
from host.sandbox.memimport import BlobError, Library

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@contextmanager
def opened(cache_dir: Path, packages: tuple[Path, ...]) -> Iterator[Library]:
    fd = memlib.open_library(cache_dir, packages)
    try:
        yield Library(fd, check=True)
    finally:
        os.close(fd)


@pytest.fixture(autouse=True)
def small_standard_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A standard library of two modules, so that building is quick."""
    lib = tmp_path / "lib"
    (lib / "email").mkdir(parents=True)
    (lib / "email" / "__init__.py").write_text("answer = 42\n")
    (lib / "email" / "parser.py").write_text("")
    (lib / "broken.py").write_text("this is no Python\n")
    (lib / "site-packages" / "requests").mkdir(parents=True)
    (lib / "site-packages" / "requests" / "__init__.py").write_text("")
    monkeypatch.setattr(memlib, "STDLIB", lib)
    monkeypatch.setattr(memlib.build, "__defaults__", (lib,))
    return lib


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "part.py").write_text("number = 1\n")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def blobs(cache: Path) -> list[Path]:
    return sorted(cache.iterdir())


def test_it_holds_the_standard_library_and_the_packages_and_no_third_party(cache: Path, package: Path) -> None:
    with opened(cache, (package,)) as library:
        held = {name: library.entry(name) for name in ("email", "email.parser", "mine", "mine.part")}
        assert all(held.values())
        assert [name for name, entry in held.items() if entry and entry.is_package] == ["email", "mine"]
        for name in ("requests", "site-packages.requests", "broken", "host", "mine.missing"):
            assert library.entry(name) is None


def test_its_code_names_no_path_of_the_machine(cache: Path, package: Path) -> None:
    with opened(cache, (package,)) as library:
        entry = library.entry("mine.part")
        assert entry is not None
        assert library.code(entry).co_filename == "<memory>/mine/part.py"


def test_it_is_built_once(cache: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(cache, (package,)):
        pass
    monkeypatch.setattr(memlib, "build", None)  # a second build would fail
    with opened(cache, (package,)) as library:
        assert library.entry("mine.part")
    assert cache.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in blobs(cache)] == [0o600]


def test_other_content_is_another_blob_and_old_ones_go(cache: Path, package: Path) -> None:
    for number in range(memlib.KEPT_BLOBS + 2):
        (package / "part.py").write_text(f"number = {number}\n")
        memlib._key.cache_clear()
        with opened(cache, (package,)) as library:
            entry = library.entry("mine.part")
            assert entry is not None
            found: dict[str, int] = {}
            exec(library.code(entry), found)
            assert found["number"] == number
    assert len(blobs(cache)) == memlib.KEPT_BLOBS


def truncate(path: Path) -> None:
    os.truncate(path, 10)


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def replace_by_text(path: Path) -> None:
    path.write_text("something else altogether, longer than a header")


def give_away(path: Path) -> None:
    os.chown(path, 65534, -1)


def open_to_all(path: Path) -> None:
    path.chmod(0o666)


def replace_by_link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


DAMAGES = (
    pytest.param(truncate, id="truncated"),
    pytest.param(flip_a_byte, id="one-bit"),
    pytest.param(replace_by_text, id="not-a-blob"),
    pytest.param(give_away, id="foreign-owner", marks=only_root),
    pytest.param(open_to_all, id="writable-by-all"),
    pytest.param(replace_by_link, id="a-link"),
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_cannot_be_trusted_is_built_anew(
    cache: Path, package: Path, damage: Callable[[Path], None]
) -> None:
    with opened(cache, (package,)):
        pass
    (path,) = blobs(cache)
    damage(path)
    with opened(cache, (package,)) as library:
        assert library.entry("mine.part")
    (path,) = blobs(cache)
    assert path.is_file()
    assert not path.is_symlink()
    assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (os.geteuid(), 0o600)
    with opened(cache, (package,)) as library:
        assert library.entry("mine.part")


def a_file(cache: Path) -> None:
    cache.write_text("")


def writable_by_all(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)


def of_somebody_else(cache: Path) -> None:
    cache.mkdir()
    os.chown(cache, 65534, -1)


def a_link(cache: Path) -> None:
    (cache.parent / "real").mkdir()
    cache.symlink_to(cache.parent / "real")


UNUSABLE = (
    pytest.param(a_file, id="a-file"),
    pytest.param(a_link, id="a-link"),
    pytest.param(of_somebody_else, id="of-somebody-else", marks=only_root),
    pytest.param(writable_by_all, id="writable-by-all"),
)


@pytest.mark.parametrize("make", UNUSABLE)
def test_a_folder_that_cannot_be_trusted_means_a_sealed_blob_in_memory(
    cache: Path, package: Path, make: Callable[[Path], None]
) -> None:
    make(cache)
    before = list(cache.parent.rglob("*"))
    fd = memlib.open_library(cache, (package,))
    try:
        assert Library(fd, check=True).entry("mine.part")
        with pytest.raises(PermissionError):
            os.pwrite(fd, b"x", 0)
    finally:
        os.close(fd)
    assert list(cache.parent.rglob("*")) == before


def test_a_full_disk_means_a_blob_in_memory(cache: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(path: Path, blob: bytes) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(memlib, "_write", no_space)
    with opened(cache, (package,)) as library:
        assert library.entry("mine.part")
    assert blobs(cache) == []


def test_a_blob_of_another_python_is_refused(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memlib, "MAGIC_NUMBER", b"\0\0\r\n")
    path = tmp_path / "blob"
    path.write_bytes(memlib.build((package,)))
    with path.open("rb") as file, pytest.raises(BlobError):
        Library(file.fileno())


def test_capsdk_is_a_package_without_its_host() -> None:
    names = {str(path.relative_to(CAPSDK)) for path in memlib._sources(CAPSDK)}
    assert {"__init__.py", "errors.py"} <= names
