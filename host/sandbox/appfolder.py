"""Loads an app folder: manifest, sources, revision. Reads each file once, so what is hashed is what is run."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capsdk.errors import InvalidArgumentError, NotFoundError
from host.core.manifest import Column, Manifest, Schedule, parse_manifest
from host.core.tomllines import lines_of

MANIFEST = "app.toml"
MAX_MANIFEST_CHARS = 64 * 1024
MAX_LINE_DOTS = 200
MAX_FILES = 200
MAX_SOURCE_BYTES = 1024 * 1024
MAX_FOLDER_BYTES = 16 * 1024 * 1024
NOT_PART_OF_IT = frozenset(("__pycache__",))
TESTS = "tests"


@dataclass(frozen=True, slots=True)
class AppFolder:
    """An app as it lies in a folder. `files` are its Python sources by relative POSIX path, without `tests/`.

    `revision` is the hash of all files but tests, caches and dotfiles (16 hex digits); `subject` is what grants name.
    `limits` holds only what the manifest sets. `contents` are the hashed files as they were read, `assets` those of
    them that are no links: what `app.asset` gives out.
    """

    path: Path
    id: str
    name: str
    version: str
    entry: str
    capabilities: frozenset[str]
    origins: tuple[str, ...]
    popups: str
    files: dict[str, str]
    input_example: dict[str, Any]
    input_schema: dict[str, Any] | None
    output_columns: tuple[Column, ...]
    schedule: Schedule | None
    limits: dict[str, float]
    revision: str
    subject: str
    contents: Mapping[str, bytes] = field(repr=False)
    assets: Mapping[str, bytes] = field(repr=False)


def load_app(path: Path) -> AppFolder:
    """The app in the folder `path`.

    Raises NotFoundError APP_NOT_FOUND when there is none, InvalidArgumentError MANIFEST_INVALID (naming key or file,
    and the line where TOML gives one) when it cannot be used as it is.
    """
    root = Path(os.path.realpath(path))
    if not (root / MANIFEST).is_file():
        raise NotFoundError("APP_NOT_FOUND", f"{path} is no app folder; name a folder with an {MANIFEST} in it")
    read = dict(_contents(root, _walk(root, "")))
    contents = {name: content for name, (content, _) in read.items()}
    assets = {name: content for name, (content, is_link) in read.items() if not is_link}
    manifest = manifest_of(contents[MANIFEST])
    files = _sources(contents)
    if manifest.entry not in files:
        raise _entry_missing(manifest.entry, contents[MANIFEST])
    return _app(root, manifest, files, contents, assets)


def read_tests(root: Path) -> dict[str, bytes]:
    """The files under the app's `tests/`, by their path in the app folder; none when there is no such folder.

    Raises InvalidArgumentError MANIFEST_INVALID for what is no ordinary file, and for too many or too large ones.
    """
    folder = root / TESTS
    if folder.is_symlink():
        raise _invalid(f"{TESTS} is a link; put the folder itself there", file=TESTS)
    if not folder.is_dir():
        return {}
    return {name: content for name, (content, _) in _contents(root, _walk(folder, f"{TESTS}/"))}


def manifest_of(content: bytes) -> Manifest:
    """The manifest in the bytes of an `app.toml`. Raises InvalidArgumentError MANIFEST_INVALID."""
    text = _text(content)
    _check_size(text)
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise _invalid("app.toml nests too deeply; make it flatter") from None
    except tomllib.TOMLDecodeError as problem:  # its text ends with "(at line 3, column 5)"
        place = re.search(r"\(at line (\d+)", str(problem))
        details = {"line": int(place[1])} if place else {}
        raise _invalid(f"app.toml is not TOML: {problem}; mend that line", **details) from None
    return parse_manifest(table, lines_of(text.replace("\r\n", "\n")))


def revision_of(contents: Mapping[str, bytes]) -> str:
    """16 hex digits over all paths and contents; lengths go in, so no two folders can be written alike."""
    digest = hashlib.sha256()
    for name in sorted(contents):
        encoded = name.encode("utf-8", "surrogateescape")
        digest.update(b"%d:%b%d:" % (len(encoded), encoded, len(contents[name])))
        digest.update(contents[name])
    return digest.hexdigest()[:16]


def _app(
    root: Path,
    manifest: Manifest,
    files: dict[str, str],
    contents: Mapping[str, bytes],
    assets: Mapping[str, bytes],
) -> AppFolder:
    return AppFolder(
        path=root,
        id=manifest.id,
        name=manifest.name,
        version=manifest.version,
        entry=manifest.entry,
        capabilities=frozenset(manifest.capabilities),
        origins=tuple(manifest.origins),
        popups=manifest.popups,
        files=files,
        input_example=manifest.input.example,
        input_schema=manifest.input.schema_,
        output_columns=tuple(manifest.output.columns),
        schedule=manifest.schedule,
        limits=manifest.limits.model_dump(exclude_none=True),
        revision=revision_of(contents),
        subject=f"path:{root}",
        contents=contents,
        assets=assets,
    )


def _contents(root: Path, walk: Iterator[tuple[str, Path]]) -> Iterator[tuple[str, tuple[bytes, bool]]]:
    """Each file's name, with what it holds and whether it is a link (to a file in the folder)."""
    size_bytes = 0
    for count, (name, path) in enumerate(walk, start=1):
        is_link = path.is_symlink()
        content = _read(root, name, path)
        size_bytes += len(content)
        if count > MAX_FILES:
            raise _invalid(
                f"the folder holds more than {MAX_FILES} files; move what is not the app out", limit=MAX_FILES
            )
        if size_bytes > MAX_FOLDER_BYTES:
            raise _invalid(
                f"the folder holds more than {MAX_FOLDER_BYTES} bytes; move what is not the app out",
                limit=MAX_FOLDER_BYTES,
            )
        yield name, (content, is_link)


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith(".") or entry.name in NOT_PART_OF_IT or prefix + entry.name == TESTS:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), f"{prefix}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            yield prefix + entry.name, Path(entry.path)


def _read(root: Path, name: str, path: Path) -> bytes:
    if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root):
        raise _invalid(f"{name} is a link out of the folder; copy the file", file=name)
    if not path.is_file():  # reading a pipe would wait for ever
        raise _invalid(f"{name} is no ordinary file; remove it", file=name)
    try:
        with path.open("rb") as file:
            return file.read(MAX_FOLDER_BYTES + 1)
    except OSError as problem:
        raise _invalid(f"{name} cannot be read ({problem.strerror}); mend or remove it", file=name) from None


def _check_size(text: str) -> None:
    """Bound what tomllib is given: a key of some thousand dotted parts keeps it busy for minutes."""
    if len(text) > MAX_MANIFEST_CHARS:
        raise _invalid(f"app.toml has {len(text)} characters and may have {MAX_MANIFEST_CHARS}; make it shorter")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_LINE_DOTS:
            raise _invalid(f"app.toml, line {number} has over {MAX_LINE_DOTS} dots; split it", line=number)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise _invalid("app.toml is not UTF-8; save it as UTF-8") from None


def _sources(contents: Mapping[str, bytes]) -> dict[str, str]:
    sources = {name: content for name, content in contents.items() if name.endswith(".py")}
    size_bytes = sum(map(len, sources.values()))
    if size_bytes > MAX_SOURCE_BYTES:
        raise _invalid(
            f"the Python sources take {size_bytes} bytes and the limit is {MAX_SOURCE_BYTES}; "
            "keep data in files that ctx.asset reads",
            limit=MAX_SOURCE_BYTES,
            actual=size_bytes,
        )
    decoded = {}
    for name, content in sources.items():
        try:
            decoded[name] = content.decode()
        except UnicodeDecodeError:
            raise _invalid(f"{name} is not UTF-8; save it as UTF-8", file=name) from None
    return decoded


def _entry_missing(entry: str, toml: bytes) -> InvalidArgumentError:
    line = lines_of(_text(toml)).get(("entry",))
    at, details = (f"line {line}, ", {"line": line}) if line else ("", {})
    return _invalid(
        f"app.toml, {at}entry: {entry} is not in the folder; create it, or name another file", key="entry", **details
    )


def _invalid(message: str, **details: Any) -> InvalidArgumentError:
    return InvalidArgumentError("MANIFEST_INVALID", message, **details)
