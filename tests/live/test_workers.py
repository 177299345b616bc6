"""Workers and worklets of a page: they run as anywhere, and are not lent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.framesite import FrameSites
from tests.support.processes import wait_until
from tests.support.stdio import GRANT, Stdio, opened

BLOB = "URL.createObjectURL(new Blob([`{}`], {{type: 'text/javascript'}}))"
ANSWER = BLOB.format("postMessage('ran')")
KINDS = (
    pytest.param(
        f"new Promise(ok => {{ window.w = new Worker({ANSWER}); w.onmessage = e => ok(e.data) }})", id="worker"
    ),
    pytest.param(
        f"new Promise(ok => {{ window.w = new Worker({ANSWER}, {{type: 'module'}}); w.onmessage = e => ok(e.data) }})",
        id="module-worker",
    ),
    pytest.param(
        f"new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule({ANSWER.replace('postMessage', 'String')})"
        ".then(() => 'ran')",
        id="audio-worklet",
    ),
    pytest.param(
        f"CSS.paintWorklet.addModule({ANSWER.replace('postMessage', 'String')}).then(() => 'ran')", id="paint-worklet"
    ),
)


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@pytest.fixture(scope="module")
def host(folder: Path, sites: FrameSites) -> Iterator[Stdio]:
    with Stdio(folder, *GRANT, *opened(sites.places)) as made:
        yield made
        assert made.finish() == 0
        assert made.errors == b""


@pytest.mark.parametrize("expression", KINDS)
def test_a_page_has_its_workers_run_and_nobody_is_told_of_them(host: Stdio, sites: FrameSites, expression: str) -> None:
    session = host.open(sites.page("a", "<title>page</title>"))
    assert host.js(session, expression) == "ran"
    assert host.events(session, methods=["Target.attachedToTarget"]) == []
    host.close(session)


def test_a_worker_of_a_frame_in_its_own_process_runs_and_only_the_frame_is_told(host: Stdio, sites: FrameSites) -> None:
    inner = sites.page("b", f"<script>new Worker({ANSWER}).onmessage = () => parent.postMessage('ran', '*')</script>")
    session = host.open(
        sites.page("a", f"<script>onmessage = e => document.title = e.data</script><iframe src='{inner}'></iframe>")
    )
    wait_until(lambda: host.js(session, "document.title") == "ran", 5.0, "the frame's worker")
    told = host.events(session, methods=["Target.attachedToTarget"])
    assert [event["params"]["targetInfo"]["type"] for event in told] == ["iframe"]
    host.close(session)
