"""The receipt site over `capsdk stdio`: the customer's name and card are under bars, the rest of the receipt is not."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.sandbox.fixture import FixtureSite
from tests.support.pictures import RECTS, VIEW, Picture
from tests.support.processes import started_for, wait_until
from tests.support.stdio import GRANT, LOADED, ROOT, Stdio, opened

pytestmark = pytest.mark.chromium

SITE = ROOT / "scripts" / "receipts" / "tests" / "site"
CANVAS = "document.querySelector('main').insertAdjacentHTML('beforeend', '<canvas width=400 height=60></canvas>');"
CANVAS += "document.querySelector('canvas').getContext('2d').fillText('drawn', 20, 20)"


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """The site, served by a loop in a thread."""
    loop, up, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    found: list[str] = []

    async def serve() -> None:
        async with FixtureSite(SITE) as site:
            found.append(site.origin)
            up.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert up.wait(10)
    yield found[0]
    loop.call_soon_threadsafe(over.set)
    thread.join(10)
    loop.close()


def receipt(host: Stdio, origin: str, item: str) -> str:
    """A session that shows a receipt, as the owner would see it."""
    session = host.open(f"{origin}/receipts/{item}")
    host.js(session, LOADED)
    host.js(session, "document.querySelector('#show-receipt').click()")
    wait_until(lambda: bool(host.js(session, "document.querySelector('dl') !== null")), 10.0, "no receipt came")
    return session


RECEIPTS = (  # item, what is private, what is not
    ("A-100", ("Rosalind Achterberg", "4111 1111 1111 1111"), ("A-100", "Desk lamp, brass", "€ 49.00", "2026-03-02")),
    ("A-101", ("Tomás Iglesias", "NL91 ABNA 0417 1643 00"), ("A-101", "Enamel mug, set of four", "€ 28.50")),
    ("A-102", ("Wilhelmina Brandt", "5555 5555 5555 4444"), ("A-102", "Linen notebook", "€ 12.90")),
    ("A-103", ("Edmund Fairclough", "4000 0566 5566 5556"), ("A-103", "Bread knife, beech handle", "€ 34.00")),
    ("A-104", ("Hélène Marchetti", "DE89 3704 0044 0532 0130 00"), ("A-104", "Watering can, 5 l", "€ 39.90")),
    ("A-200", ("Sigrid Halvorsen", "4242 4242 4242 4242"), ("A-200", "Oak stool", "€ 89.00")),
    ("A-300", ("Oskar Lindholm", "3782 822463 10005"), ("A-300", "Wall hook", "€ 9.50")),
)
LABELS = ("Customer", "Paid by", "Order", "Date", "Total")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that the browser's own uid can reach, as pytest's are not."""
    made = Path(tempfile.mkdtemp(prefix="capsdk-receipts-"))
    made.chmod(0o755)
    try:
        yield made
        wait_until(lambda: not started_for(made), 6.0, "processes were left behind")
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def host(folder: Path, origin: str) -> Iterator[Stdio]:
    with Stdio(folder, *GRANT, *VIEW, *opened([origin.removeprefix("http://")])) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""


@pytest.mark.parametrize(("item", "private", "public"), RECEIPTS, ids=[one[0] for one in RECEIPTS])
def test_the_customer_is_hidden_and_the_receipt_stays(
    host: Stdio, origin: str, item: str, private: tuple[str, ...], public: tuple[str, ...]
) -> None:
    session = receipt(host, origin, item)
    picture = Picture(host.ok("browser.screenshot", sessionId=session, format="png"))

    def where(text: str) -> list[list[float]]:
        found: list[list[float]] = host.js(session, f"{RECTS}('dialog', {json.dumps(text)})")
        return found

    left = [text for text in private for one in picture.scaled(where(text)) if picture.black(one) < 0.97]
    assert left == []
    covered = [text for text in (*public, *LABELS) if picture.touched(picture.scaled(where(text)))]
    assert covered == []
    host.close(session)


def test_a_canvas_without_tesseract_is_not_shown(origin: str, folder: Path) -> None:
    bare = folder / "bin"
    bare.mkdir()
    for place in ("/usr/sbin", "/usr/bin", "/sbin", "/bin"):  # all that is there, and no tesseract
        for tool in Path(place).iterdir():
            if tool.name != "tesseract" and not (bare / tool.name).exists():
                (bare / tool.name).symlink_to(tool)
    opening = opened([origin.removeprefix("http://")])
    with Stdio(
        folder, *GRANT, *VIEW, *opening, env={"PATH": str(bare), "CAPSDK_BROWSER": str(shutil.which("chromium"))}
    ) as host:
        session = receipt(host, origin, "A-100")
        assert host.ok("browser.screenshot", sessionId=session)["redactions"]  # the control
        host.js(session, CANVAS)
        error = host.error("browser.screenshot", sessionId=session)
        assert (error["code"], error["details"]["step"]) == ("IMAGE_NOT_CHECKED", "ocr")
        assert "tesseract" in error["hint"].lower()
        assert host.finish() == 0
