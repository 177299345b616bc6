"""Each step of a picture made to fail, hang or tell nonsense: no picture comes, and the error says at which step."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import math
import os
import signal
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from capsdk.errors import CapError
from host.browser import shot
from host.core.redaction import Box, Found, Mark, PictureDone
from host.redact.client import Failed, Redactor
from host.redact.failure import NotChecked
from tests.support.origin_sites import Answer
from tests.support.origin_world import LOADED, PAINTED, Tab, World, open_world, until

pytestmark = [pytest.mark.chromium, pytest.mark.asyncio(loop_scope="module")]

DRAW = "const c = document.querySelector('canvas').getContext('2d'); c.font = '20px DejaVu Sans';"
DRAW += "c.fillText('Write to oda.canvas@example.test', 10, 30)"
PAGE = "<!doctype html><meta charset=utf-8><p>Write to oda.dom@example.test</p><canvas width=500 height=60></canvas>"
PAGE += f"<script>{DRAW}</script>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with open_world() as made:
        yield made
        await made.leave()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(world: World) -> AsyncIterator[Tab]:
    made = await world.open(world.sites.put("{shop}/page", Answer(PAGE)))
    await made.js(LOADED)
    await made.js(PAINTED)
    yield made


async def ask(tab: Tab, **args: Any) -> dict[str, Any]:
    """A picture that was not asked for before: the page is another one each time."""
    await tab.js("document.querySelector('p').append('.')")
    return await tab.talker.ok("browser.screenshot", sessionId=tab.id, format="png", **args)


async def refused(tab: Tab, step: str, **args: Any) -> CapError:
    """It fails at this step, with what helps, and with nothing of the page in it."""
    with pytest.raises(CapError) as raised:
        await ask(tab, **args)
    problem = raised.value
    assert (problem.code, problem.details.get("step")) == ("IMAGE_NOT_CHECKED", step), problem
    assert problem.hint
    assert "oda" not in repr((problem.message, problem.hint, problem.details))
    return problem


async def comes(tab: Tab) -> bool:
    """The control: without the fault there is a picture with both bars."""
    try:
        result = await ask(tab)
    except CapError:
        return False
    assert sorted(bar["source"] for bar in result["redactions"]) == ["dom", "ocr"]
    return True


def raises(problem: Exception) -> Callable[..., Any]:
    async def fail(*args: Any, **kwargs: Any) -> Any:
        raise problem

    return fail


def gives(value: Any) -> Callable[..., Any]:
    async def give(*args: Any, **kwargs: Any) -> Any:
        return value

    return give


def png(width: int, height: int) -> bytes:
    from io import BytesIO

    from PIL import Image

    out = BytesIO()
    Image.new("RGB", (width, height), "white").save(out, "PNG")
    return out.getvalue()


NAN = [Mark("EMAIL", "dom", Box(math.nan, 0, 10, 10))]
DONE = PictureDone("image/png", 1, 1, 1.0, [], "", 0, 0)

FAULTS = (  # what is put in whose place, the step of the refusal
    pytest.param("look", raises(NotChecked("page", "gone")), "page", id="look-fails"),
    pytest.param("read", raises(NotChecked("frame", "a frame is deaf")), "frame", id="a-frame-is-not-read"),
    pytest.param("read", raises(ValueError("oda: a snapshot of rubbish")), "host", id="a-fault-while-reading"),
    pytest.param("marks", raises(NotChecked("rects", "no rectangles")), "rects", id="no-rectangles"),
    pytest.param("marks", raises(KeyError("oda")), "host", id="a-fault-at-the-rectangles"),
    pytest.param("marks", gives(NAN), "boxes", id="a-box-that-is-no-number"),
    pytest.param("_capture", gives([b"not a picture"]), "decode", id="the-capture-is-rubbish"),
    pytest.param("_capture", gives([]), "decode", id="the-capture-is-empty"),
    pytest.param("_capture", gives([png(300, 200)]), "scale", id="another-scale"),
    pytest.param("_capture", gives([png(780, 493)[:200]]), "decode", id="a-picture-cut-short"),
    pytest.param("_capture", gives([png(780, 490), png(779, 3)]), "scale", id="tiles-that-do-not-fit"),
    pytest.param("_still_there", gives(False), "changing", id="never-still"),
)


@pytest.mark.parametrize(("name", "fault", "step"), FAULTS)
async def test_a_fault_while_the_picture_is_taken(
    tab: Tab, monkeypatch: pytest.MonkeyPatch, name: str, fault: Callable[..., Any], step: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(shot, name, fault)
        await refused(tab, step)
    assert await comes(tab)


ANSWERS = (  # method, what it does, the step of the refusal
    pytest.param("find", raises(Failed("module", "presidio_analyzer")), "module", id="no-engine"),
    pytest.param("find", raises(Failed("load", "the model is missing")), "load", id="no-model"),
    pytest.param("find", raises(Failed("time", "too late")), "time", id="the-search-is-late"),
    pytest.param("find", raises(RuntimeError("oda")), "host", id="a-fault-in-the-search"),
    pytest.param("find", gives([]), "host", id="texts-that-nobody-looked-at"),
    pytest.param("find", gives([[Found(0, 10**9, "EMAIL", 1.0, "x")]] * 99), "host", id="spans-out-of-all-bounds"),
    pytest.param("picture", raises(Failed("ocr", "killed")), "ocr", id="no-ocr"),
    pytest.param("picture", raises(Failed("second look", "still there")), "second look", id="still-there"),
    pytest.param("picture", raises(OSError("oda")), "host", id="a-fault-in-the-redactor"),
    pytest.param("picture", gives((None, b"raw")), "host", id="no-facts-of-the-picture"),
)


@pytest.mark.parametrize(("name", "fault", "step"), ANSWERS)
async def test_a_fault_of_the_redactor(
    tab: Tab, monkeypatch: pytest.MonkeyPatch, name: str, fault: Callable[..., Any], step: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Redactor, name, fault)
        await refused(tab, step)
    assert await comes(tab)


async def test_a_picture_with_an_answer_of_another_shape_is_none(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Redactor, "_ask", gives((type("Answer", (), {"picture": DONE, "found": None}), b"")))
        await refused(tab, "redactor")
    assert await comes(tab)


async def test_a_page_that_never_stands_still_is_refused(tab: Tab) -> None:
    await tab.js("window.t = setInterval(() => { document.querySelector('p').textContent = Math.random() }, 1)")
    await refused(tab, "changing")
    await tab.js("clearInterval(t), document.querySelector('p').textContent = 'Write to oda.dom@example.test'")
    assert await comes(tab)


async def test_a_search_that_hangs_ends_at_the_deadline(
    tab: Tab, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(*args: Any) -> Any:
        await asyncio.sleep(60)

    limits = world.host.dispatcher._services.limits
    with monkeypatch.context() as patched:
        patched.setattr(Redactor, "find", hangs)
        object.__setattr__(limits, "screenshot_timeout_s", 3.0)
        try:
            await refused(tab, "time")
        finally:
            object.__setattr__(limits, "screenshot_timeout_s", 60.0)
    assert await comes(tab)


async def test_a_process_that_stops_in_the_middle_is_ended(tab: Tab, world: World) -> None:
    redactor = world.host.redactor
    await redactor.start()
    pid = redactor.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    limits = world.host.dispatcher._services.limits
    object.__setattr__(limits, "screenshot_timeout_s", 3.0)
    try:
        await refused(tab, "time")
    finally:
        object.__setattr__(limits, "screenshot_timeout_s", 60.0)
    await until(lambda: comes(tab), "a picture from a new one")
    assert redactor.pid != pid


# --- Tesseract, as the host's PATH has it

REAL = "/usr/bin/tesseract"
HEAD = r"level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
SAYS = f'case "$*" in *--version*|*--list-langs*) exec {REAL} "$@";; esac; '
PROGRAMS = (  # what stands for tesseract; None: there is none
    pytest.param(None, id="is-not-there"),
    pytest.param("exit 1", id="ends-with-an-error"),
    pytest.param("kill -9 $$", id="is-killed"),
    pytest.param(SAYS + "kill -9 $$", id="is-killed-at-work"),
    pytest.param(SAYS + f'printf "{HEAD}\\n" > "$2.tsv"; printf "{HEAD}\\n"', id="sees-nothing-anywhere"),
    pytest.param(SAYS + 'head -c 3000 /dev/urandom > "$2.tsv"; head -c 3000 /dev/urandom', id="gives-rubbish"),
    pytest.param(SAYS + "exit 0", id="gives-nothing-at-all"),
)


@contextlib.contextmanager
def path_with(folder: Path, program: str | None) -> Iterator[None]:
    """The host's PATH with this program as its tesseract and no other one."""
    folder.mkdir(mode=0o755)
    for tool in ("sh", "head", "kill", "printf", "sleep"):
        for place in ("/bin", "/usr/bin"):
            if Path(place, tool).exists() and not (folder / tool).exists():
                (folder / tool).symlink_to(Path(place, tool))
    if program is not None:
        file = folder / "tesseract"
        file.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    before = os.environ["PATH"]
    os.environ["PATH"] = str(folder)
    try:
        yield
    finally:
        os.environ["PATH"] = before


def end(redactor: Redactor) -> None:
    """The next picture starts another one, with the PATH of then."""
    if redactor.pid is not None:
        os.kill(redactor.pid, signal.SIGKILL)


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_canvas_is_not_shown_without_an_ocr_that_works(
    tab: Tab, world: World, tmp_path_factory: pytest.TempPathFactory, program: str | None
) -> None:
    folder = Path("/dev/shm") / f"capsdk-test-{os.getpid()}-{base64.b16encode(os.urandom(4)).decode()}"
    redactor = world.host.redactor
    try:
        with path_with(folder, program):
            end(redactor)
            await until(lambda: _refused_at(tab, "ocr"), "a refusal at the OCR")
            await tab.js("document.querySelector('canvas').hidden = true")
            result = await ask(tab)  # the control: what has no such picture in it needs no OCR
            assert [bar["source"] for bar in result["redactions"]] == ["dom"]
    finally:
        await tab.js("document.querySelector('canvas').hidden = false")
        end(redactor)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    await until(lambda: comes(tab), "a picture once it is back")


async def _refused_at(tab: Tab, step: str) -> bool:
    """The old process may be on its way out still."""
    with pytest.raises(CapError) as raised:
        await ask(tab)
    print(raised.value, raised.value.details)
    return (raised.value.code, raised.value.details.get("step")) == ("IMAGE_NOT_CHECKED", step)
