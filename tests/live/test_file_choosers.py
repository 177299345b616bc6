"""A page that asks the owner for a file is answered like one whose owner pressed Cancel, at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from host.browser.enables import GUARD_ENABLES
from tests.live.framesite import FrameSites
from tests.live.walls import asked, host_in, soon, talker
from tests.support.inprocess import Talker
from tests.support.stdio import LOADED

WAITS = "waits"
FILES = """
<input type=file id=one><input type=file id=many multiple><input type=file id=folder webkitdirectory>
<script>
function outcome(call) {
    return Promise.race([call.then(String, e => e.name), new Promise(ok => setTimeout(ok, 400, 'waits'))]);
}
function chosen(input, open) {
    return outcome(new Promise((ok, no) => {
        input.oncancel = () => ok('cancel');
        input.onchange = () => ok('files: ' + input.files.length);
        open(input);
    }));
}
</script>"""
INPUTS = (
    "chosen(one, e => e.click())",
    "chosen(many, e => e.click())",
    "chosen(folder, e => e.click())",
    "chosen(one, e => e.showPicker())",
)
PICKERS = ("outcome(showOpenFilePicker())", "outcome(showSaveFilePicker())", "outcome(showDirectoryPicker())")


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


async def opened(who: Talker, sites: FrameSites) -> tuple[str, str]:
    """A session on a page with inputs, and the handle of a frame of another site with the same."""
    session = await who.open(sites.page("a", f"{FILES}<iframe src='{sites.page('b', FILES)}'></iframe>"))
    found = await who.ok("browser.events", sessionId=session, methods=["Target.attachedToTarget"], waitMs=5000)
    frame = str(found["events"][0]["params"]["sessionId"])
    ready = "document.readyState === 'complete' && typeof chosen === 'function'"  # a new frame begins as an empty page
    assert await soon(lambda: asked(who, session, ready, targetSessionId=frame))
    return session, frame


async def test_every_way_to_ask_for_a_file_is_cancelled_at_once(folder: Path, sites: FrameSites) -> None:
    async with host_in(folder, "cancelled") as host:
        who = talker(host, *sites.places)
        session, frame = await opened(who, sites)
        assert [await asked(who, session, call) for call in INPUTS] == ["cancel"] * 4
        assert [await asked(who, session, call) for call in PICKERS] == ["AbortError"] * 3
        assert [await asked(who, session, call, targetSessionId=frame) for call in INPUTS] == ["cancel"] * 4
        assert [await asked(who, session, call, targetSessionId=frame) for call in PICKERS] == ["SecurityError"] * 3
        # Files of its own, which are none of this machine's, a site may keep.
        own = "navigator.storage.getDirectory().then(all => all.getFileHandle('x', {create: true})).then(f => f.kind)"
        assert await asked(who, session, own) == "file"


async def test_so_is_it_in_a_window_that_the_page_opened(folder: Path, sites: FrameSites) -> None:
    async with host_in(folder, "window") as host:
        who = talker(host, *sites.places)
        session = await who.open(sites.page("a", FILES))
        await asked(who, session, f"void open('{sites.page('b', FILES)}')")
        poll = {"methods": ["Host.popupOpened"], "waitMs": 5000}
        (event,) = (await who.ok("browser.events", sessionId=session, **poll))["events"]
        window = event["params"]["sessionId"]
        await who.js(window, LOADED)
        assert [await asked(who, window, call) for call in INPUTS] == ["cancel"] * 4


async def test_a_chooser_that_nobody_cancels_waits(
    folder: Path, sites: FrameSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: so the answers above come from the guard."""
    waiting = ("Page.setInterceptFileChooserDialog", {"enabled": True, "cancel": False})
    others = tuple(one for one in GUARD_ENABLES if one[0] != waiting[0])
    assert len(others) < len(GUARD_ENABLES)
    monkeypatch.setattr("host.browser.browser.GUARD_ENABLES", (*others, waiting))
    async with host_in(folder, "waiting") as host:
        who = talker(host, *sites.places)
        session, _ = await opened(who, sites)
        assert [await asked(who, session, call) for call in INPUTS] == [WAITS] * 4
