"""`app.asset`: only the app's own files, as they were hashed when the run began."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from host.app import Host
from host.core.grants import Caller, Kind
from host.entries.services import RunFacts
from host.sandbox.appfolder import load_app
from tests.apps.conftest import MakeApp
from tests.support.inprocess import Talker

OWN = Caller("shop", "0123456789abcdef", Kind.SCRIPT, "run-1", "app:shop")
MIB = 1024 * 1024
FILES = {
    "data/words.txt": "Grüße\n".encode(),
    "data/blob.bin": b"\xff\x00",
    "empty.txt": b"",
    "full.txt": b"x" * MIB,
    "over.txt": b"x" * (MIB + 1),
    "tests/secret.txt": b"t",
    ".env": b"e",
}


@pytest.fixture
def source(make_app: MakeApp) -> Path:
    """An app folder with files of each kind, and a secret beside it."""
    folder = make_app(files=FILES)
    (folder.parent / "secret.txt").write_text("s")
    (folder / "link.txt").symlink_to("data/words.txt")
    return folder


@pytest.fixture
def talker(host: Host, source: Path) -> Talker:
    """A run of the app, as far as assets go."""
    host.introduce(OWN, RunFacts(load_app(source).assets, "noopen"))
    return Talker(host, OWN)


async def test_text_comes_as_text_and_other_bytes_as_base64(talker: Talker) -> None:
    assert await talker.ok("app.asset", path="data/words.txt") == {"text": "Grüße\n"}
    assert await talker.ok("app.asset", path="empty.txt") == {"text": ""}
    assert await talker.ok("app.asset", path="data/blob.bin") == {"base64": base64.b64encode(b"\xff\x00").decode()}


async def test_a_megabyte_passes_and_a_byte_more_does_not(talker: Talker) -> None:
    assert len((await talker.ok("app.asset", path="full.txt"))["text"]) == MIB
    assert await talker.code("app.asset", path="over.txt") == "RESULT_TOO_LARGE"


NOT_THERE = (
    pytest.param("gone.txt", id="missing"),
    pytest.param("data", id="a-folder"),
    pytest.param("../secret.txt", id="parent"),
    pytest.param("data/../../secret.txt", id="parent-from-inside"),
    pytest.param("data/../data/words.txt", id="round-about"),
    pytest.param("./data/words.txt", id="dot"),
    pytest.param("/etc/passwd", id="absolute"),
    pytest.param("data\\words.txt", id="backslash"),
    pytest.param("data/words.txt\0", id="nul"),
    pytest.param("link.txt", id="link"),
    pytest.param("tests/secret.txt", id="tests-are-not-hashed"),
    pytest.param(".env", id="dotfile"),
)


@pytest.mark.parametrize("path", NOT_THERE)
async def test_what_is_no_file_of_the_app_is_not_found(talker: Talker, path: str) -> None:
    assert await talker.code("app.asset", path=path) == "ASSET_NOT_FOUND"


async def test_a_file_stays_as_it_was_when_the_run_began(talker: Talker, source: Path) -> None:
    (source / "data" / "words.txt").write_text("changed")
    (source / "later.txt").write_text("added")
    assert (await talker.ok("app.asset", path="data/words.txt"))["text"] == "Grüße\n"
    assert await talker.code("app.asset", path="later.txt") == "ASSET_NOT_FOUND"


OTHERS = (
    pytest.param(replace(OWN, run="run-2"), id="another-run"),
    pytest.param(replace(OWN, app="other", subject="app:other"), id="another-app"),
    pytest.param(replace(OWN, revision="-"), id="another-revision"),
    pytest.param(replace(OWN, kind=Kind.CHAT), id="a-chat-with-the-same-names"),
    pytest.param(replace(OWN, subject="path:/elsewhere"), id="another-subject"),
    pytest.param(Caller("owner", "-", Kind.OWNER, "owner", "owner"), id="the-owner"),
)


@pytest.mark.parametrize("other", OTHERS)
async def test_nobody_else_reads_the_runs_files(talker: Talker, other: Caller) -> None:
    assert await Talker(talker.host, other).code("app.asset", path="app.toml") == "ASSET_NOT_FOUND"


async def test_after_the_run_nothing_is_left_to_read(talker: Talker) -> None:
    talker.host.forget(OWN)
    talker.host.forget(OWN)
    assert await talker.code("app.asset", path="app.toml") == "ASSET_NOT_FOUND"
