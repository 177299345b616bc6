"""Loads an app folder: manifest, sources, revision. Reads each file once, so what is hashed is what is run."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsdk.errors import InvalidArgumentError, NotFoundError
from host.core.manifest import Column, Manifest, Schedule, parse_manifest

MANIFEST = "app.toml"
MAX_FILES = 200
MAX_SOURCE_BYTES = 1024 * 1024
MAX_FOLDER_BYTES = 16 * 1024 * 1024
NOT_PART_OF_IT = frozenset(("__pycache__",))
TESTS = "tests"


@dataclass(frozen=True, slots=True)
class AppFolder:
    """An app as it lies in a folder. `files` are its Python sources by relative POSIX path, without `tests/`.

    `revision` is the hash of all files but tests, caches and dotfiles (16 hex digits); `subject` is what grants name.
    `limits` holds only what the manifest sets.
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


def load_app(path: Path) -> AppFolder:
    """The app in the folder `path`.

    Raises NotFoundError APP_NOT_FOUND when there is none, InvalidArgumentError MANIFEST_INVALID (naming key or file,
    and the line where TOML gives one) when it cannot be used as it is.
    """
    root = Path(os.path.realpath(path))
    if not (root / MANIFEST).is_file():
        raise NotFoundError("APP_NOT_FOUND", f"{path} is no app folder; name a folder with an {MANIFEST} in it")
    contents = dict(_contents(root))
    manifest = parse_manifest(_toml(contents.get(MANIFEST, b"")))
    files = _sources(contents)
    if manifest.entry not in files:
        raise _invalid(f"entry: {manifest.entry} is not in the folder; create it, or name another file", key="entry")
    return _app(root, manifest, files, revision_of(contents))


def revision_of(contents: Mapping[str, bytes]) -> str:
    """16 hex digits over all paths and contents; lengths go in, so no two folders can be written alike."""
    digest = hashlib.sha256()
    for name in sorted(contents):
        encoded = name.encode("utf-8", "surrogateescape")
        digest.update(b"%d:%b%d:" % (len(encoded), encoded, len(contents[name])))
        digest.update(contents[name])
    return digest.hexdigest()[:16]


def _app(root: Path, manifest: Manifest, files: dict[str, str], revision: str) -> AppFolder:
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
        revision=revision,
        subject=f"path:{root}",
    )


def _contents(root: Path) -> Iterator[tuple[str, bytes]]:
    size_bytes = 0
    for count, (name, path) in enumerate(_walk(root, ""), start=1):
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
        yield name, content


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


def _toml(content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError:
        raise _invalid("app.toml is not UTF-8; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as problem:  # its text ends with "(at line 3, column 5)"
        raise _invalid(f"app.toml is not TOML: {problem}; mend that line") from None


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


def _invalid(message: str, **details: Any) -> InvalidArgumentError:
    return InvalidArgumentError("MANIFEST_INVALID", message, **details)
