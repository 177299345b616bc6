"""All works: their arithmetic as tables, their page, their environments, and a short real run. Not how fast it is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from bench import all as bench_all
from bench import environments
from bench.app.main import FLOOD_TEXTS, OUTSTANDING, SESSIONS, Lent, dropped_of, flood_expression, measure_works, opened
from bench.children import ChildFailed, output_of
from bench.environments import Environment, Unavailable
from bench.memory import children_of, private_by_mapping, private_bytes, private_bytes_of
from bench.page import page_served
from bench.profiling import name_of, opens_of
from bench.report import LABELS, Run, as_data, as_page, markdown
from bench.targets import MIB, TARGETS, Verdict, medians_of, verdicts

ROOT = Path(__file__).resolve().parent.parent


def timed(us: float, cpu_us: float = 10.0) -> dict[str, float]:
    """A part's figures of one round."""
    return {"calls": 10, "p50_us": us, "p99_us": us, "wall_us": us, "client_cpu_us": cpu_us, "host_cpu_us": 5.0}


def client_round(scale: float) -> dict[str, Any]:
    """One round of one client that takes `scale` times as long as another."""
    names = ("one", "many", "large", "open", "open_eight")
    return {
        **{name: timed(100 * scale) for name in names},
        **{name: {**timed(50 * scale), "seen": 100, "lost": 0} for name in FLOOD_TEXTS},
        "idle": {"calls": 3, "client_cpu_us": 1, "host_cpu_us": 2, "private_bytes": 40 * MIB, "helper_bytes": 20 * MIB},
    }


def script_round(scale: float, **ring: float) -> dict[str, Any]:
    """The product's round has its rings, too."""
    return {**client_round(scale), "ring": {"calls": 600, "seen": 600, "lost": 0, "untold": 0, **ring}}


def words_of(found: list[Verdict]) -> list[str]:
    """The verdicts in short, in the order of the targets."""
    return [one.word for one in found]


VERDICT_CASES = (  # the script's scale and ring, the others' scale, the places of what is missed
    pytest.param(1.0, {}, {"websocket": 1.0, "pipe": 1.0, "playwright": 2.0}, (), id="all-met"),
    pytest.param(1.5, {}, {"websocket": 1.0, "pipe": 1.0, "playwright": 3.0}, (0, 3, 4, 6), id="slow"),
    pytest.param(1.0, {}, {"websocket": 1.0, "pipe": 0.5, "playwright": 1.0}, (1, 2, 6), id="slower-than-two"),
    pytest.param(1.0, {"seen": 599.0}, {"websocket": 1.0, "pipe": 1.0, "playwright": 2.0}, (5,), id="one-lost"),
    pytest.param(1.0, {"untold": 1.0}, {"websocket": 1.0, "pipe": 1.0, "playwright": 2.0}, (5,), id="one-untold"),
)


@pytest.mark.parametrize(("scale", "ring", "others", "missed"), VERDICT_CASES)
def test_a_run_is_held_against_every_target(
    scale: float, ring: dict[str, float], others: dict[str, float], missed: tuple[int, ...]
) -> None:
    rounds = {"script": [script_round(scale, **ring)], **{name: [client_round(at)] for name, at in others.items()}}
    found = words_of(verdicts(medians_of(rounds)))
    assert found == ["missed" if place in missed else "met" for place in range(len(TARGETS))]


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    found = words_of(verdicts(medians_of({"script": [script_round(1.0)], "pipe": [client_round(1.0)]})))
    assert found == ["not measured", "met", "not measured", "not measured", "not measured", "met", "met", "met"]
    assert words_of(verdicts({})) == ["not measured"] * len(TARGETS)


def test_a_host_that_is_too_large_misses_its_target() -> None:
    large = script_round(1.0)
    large["idle"]["private_bytes"] = 50.1 * MIB
    assert words_of(verdicts(medians_of({"script": [large]})))[-1] == "missed"


def test_medians_are_over_the_rounds_of_one_client() -> None:
    medians = medians_of({"script": [client_round(1.0), client_round(9.0), client_round(2.0)]})
    assert medians["script"]["one"]["p50_us"] == 200


def a_run(**profiles: Any) -> Run:
    """A run of all clients but one."""
    rounds = {name: [script_round(1.3) if name == "script" else client_round(1.0)] for name in LABELS}
    del rounds["puppeteer"]
    return Run(
        machine={"cpu": "a processor", "cores": "2", "kernel": "6"},
        date="2026-01-02",
        load_before=[0.5, 0.25, 0.125],
        load_after=[7.0, 0.25, 0.125],
        took_s=60.0,
        plan={"one": 10, "page": "http://127.0.0.1:1/"},
        rounds=rounds,
        skipped={"puppeteer": "there is no node here"},
        versions={"Chromium": "156.0", "python": "3"},
        profiles=profiles,
    )


def test_the_page_tells_machine_versions_load_targets_peers_and_profiles() -> None:
    profile = {
        "functions": [[0.5, 100, "host/cdp/pipe.py:write"]],
        "open": [["Target.createTarget", 0.0, 12.5]],
        "memory": [[3 * MIB, "no file"]],
        "split": {"wall_us": 400.0, "client_cpu_us": 80.0, "host_cpu_us": 70.0, "rest_us": 250.0, "pipe_us": 200.0},
    }
    page = as_page(a_run(one=profile))
    for word in (
        "2026-01-02",
        "a processor",
        "Chromium 156.0",
        "0.50 0.25",
        "7.00 0.25",
        "puppeteer: there is no node here",
        "Playwright, Python",
        "| missed ",
        "`host/cdp/pipe.py:write`",
        "`Target.createTarget`",
        "## Profile of `one`",
    ):
        assert word in page
    assert all(target.text in page for target in TARGETS)
    assert "127.0.0.1" not in page


def test_the_data_has_every_verdict_and_every_round() -> None:
    data = json.loads(json.dumps(as_data(a_run())))
    assert [one["verdict"] for one in data["targets"]] == words_of(a_run().verdicts)
    assert data["measured"] == a_run().rounds
    assert "page" not in data["plan"]


def test_a_table_is_as_wide_in_each_line() -> None:
    lines = markdown([("a", "bcd"), ("longer", "e")]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines) == 3


class FakeClient:
    """Answers at once and notes what it was asked."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.tabs = self.most = 0

    async def open(self, url: str) -> str:
        self.tabs += 1
        self.most = max(self.most, self.tabs)
        await asyncio.sleep(0.002)
        return url

    async def close(self, tab: str) -> None:
        self.tabs -= 1

    async def one(self, tab: str) -> None:
        self.heard.append("one")
        await asyncio.sleep(0)

    async def large(self, tab: str) -> None:
        self.heard.append("large")

    async def flood(self, tab: str, expression: str, count: int) -> tuple[int, int]:
        self.heard.append(expression)
        return count - 1, 1


async def test_only_the_parts_of_the_plan_are_done_each_between_its_marks() -> None:
    client, marks = FakeClient(), []

    async def mark(name: str) -> None:
        marks.append(name)

    plan = {"page": "about:blank", "one": 3, "many": OUTSTANDING, "small_events": 5, "open": 2, "open_eight": 1}
    figures = await measure_works(client, mark, plan)
    parts = [name for name in plan if name != "page"]
    assert list(figures) == parts
    assert marks == [word for name in parts for word in (name, f"{name}_end")]
    assert figures["small_events"]["seen"] == 4
    assert (client.tabs, client.most) == (0, SESSIONS)
    assert "large" not in client.heard


async def test_opening_counts_no_closing_and_shares_the_time_of_many() -> None:
    one, many = await opened(FakeClient(), "", 2, 1), await opened(FakeClient(), "", 1, SESSIONS)
    assert (one["calls"], many["calls"]) == (2, SESSIONS)
    assert one["p50_us"] >= 2000
    assert many["wall_us"] < one["p50_us"]


def test_a_page_logs_each_line_once() -> None:
    assert flood_expression("'e'", 7).count("console.log(s + i)") == 1
    assert "i < 7" in flood_expression("'e'", 7)


class Polled:
    """A host whose ring is polled: pages of (numbers logged, events lost before them)."""

    def __init__(self, *pages: tuple[list[int], int]) -> None:
        self.cap = self
        self._pages = list(pages)
        self._seq = 0

    async def call(self, entry: str, args: dict[str, Any]) -> dict[str, Any]:
        if entry == "browser.cdp":
            return {"result": {}}
        logged, lost = self._pages.pop(0) if args["waitMs"] and self._pages else ([], 0)
        self._seq += len(logged) + lost
        events = [{"params": {"args": [{"value": f"e{number}"}]}} for number in logged]
        return {"events": events, "next": self._seq, "lost": bool(lost), "dropped": {}}


FLOOD_CASES = (  # pages, seen, lost
    pytest.param([([0, 1], 0), ([2, 3], 0)], 4, 0, id="all-seen"),
    pytest.param([([0], 0), ([3], 2)], 2, 2, id="two-told-as-lost"),
    pytest.param([([0], 0), ([3], 0)], 2, 0, id="two-missing-and-nobody-told"),
    pytest.param([([0], 0), ([1], 0)], 2, 0, id="the-last-never-comes"),
)


@pytest.mark.parametrize(("pages", "seen", "lost"), FLOOD_CASES)
async def test_a_flood_ends_with_its_last_line_and_tells_what_was_lost(
    pages: list[tuple[list[int], int]], seen: int, lost: int
) -> None:
    assert await Lent(cast(Any, Polled(*pages))).flood("tab", "", 4) == (seen, lost)


@pytest.mark.parametrize(
    ("dropped", "count"),
    [({}, 0), ({"Log.entryAdded": {"count": 3}}, 0), ({"Runtime.consoleAPICalled": {"count": 3}}, 3)],
    ids=["nothing", "something-else", "console"],
)
def test_only_lost_console_events_count(dropped: dict[str, Any], count: int) -> None:
    assert dropped_of({"dropped": dropped}) == count


HOLDER = "import sys; held = bytearray(b'x') * int(sys.argv[1]); print(flush=True); sys.stdin.read()"


@contextlib.contextmanager
def holding(size_bytes: int) -> Iterator[int]:
    """A process of its own that holds so much memory: in this one, what earlier tests gave back is used again."""
    command = [sys.executable, "-I", "-S", "-c", HOLDER, str(size_bytes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child.pid
        child.kill()


def test_private_memory_grows_with_what_is_written() -> None:
    with holding(1) as empty, holding(48 * MIB) as full:
        small, large = private_bytes(empty), private_bytes(full)
        assert large - small == pytest.approx(48 * MIB, rel=0.1)
        assert private_bytes_of([full, 2**22 + 1]) >= 48 * MIB
        assert sum(size for _, size in private_by_mapping(full)) == pytest.approx(large, rel=0.2)


def test_children_are_found_while_they_are_there() -> None:
    with subprocess.Popen(["sleep", "30"]) as child:
        assert child.pid in children_of(os.getpid())
        child.kill()
    assert child.pid not in children_of(os.getpid())


def test_the_page_is_served_more_than_once_on_a_connection_and_then_no_more() -> None:
    with page_served() as url:
        for _ in range(2):
            with urllib.request.urlopen(url, timeout=5) as answer:
                assert answer.headers["Content-Type"] == "text/html"
                assert b"hello" in answer.read()
    with pytest.raises(OSError, match=r"\S"):
        urllib.request.urlopen(url, timeout=5)


OPENS = [
    ("Page.enable", [0.0, 0.1]),
    *(
        (method, [at + start, at + start + 0.001])
        for at, last in ((1.0, 0.01), (2.0, 0.03), (3.0, 0.02))
        for method, start in (("Target.createTarget", 0.0), ("Page.navigate", last), ("Target.closeTarget", 0.5))
    ),
]


def test_the_commands_of_the_median_open_are_told() -> None:
    assert opens_of(OPENS) == [["Target.createTarget", 0.0, 1.0], ["Page.navigate", 20.0, 1.0]]
    assert opens_of([]) == []


def test_a_profile_names_no_folder_of_this_machine() -> None:
    assert name_of(str(ROOT / "host/cdp/pipe.py"), 1, "write") == "host/cdp/pipe.py:write"
    assert name_of(str(ROOT / ".venv/lib/site-packages/pydantic/main.py"), 1, "f") == "pydantic/main.py:f"
    assert name_of("~", 0, "<built-in method posix.write>") == "built-in method posix.write"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Environment]:
    """Makes environments that are built in a folder of the test."""
    monkeypatch.setattr(environments, "HOME", tmp_path / "home")
    source = tmp_path / "list.txt"
    source.write_text("peer==1\n", encoding="utf-8")

    def made(build: Callable[[Path, tuple[Path, ...]], None]) -> Environment:
        return Environment("peer", (source,), build, lambda folder: [str(folder / "bin")])

    return made


def test_an_environment_is_built_once_and_anew_when_its_list_changes(
    environment: Callable[..., Environment], tmp_path: Path
) -> None:
    built: list[Path] = []
    said: list[str] = []
    peer = environment(lambda folder, sources: built.append(folder))
    assert peer.ready(said.append) == peer.ready(said.append) == [str(tmp_path / "home/peer/bin")]
    assert (len(built), len(said)) == (1, 1)
    peer.sources[0].write_text("peer==2\n", encoding="utf-8")
    peer.ready(said.append)
    assert (len(built), len(said)) == (2, 2)


def test_an_environment_that_cannot_be_built_says_why_and_is_tried_again(
    environment: Callable[..., Environment],
) -> None:
    def build(folder: Path, sources: tuple[Path, ...]) -> None:
        raise ChildFailed("looking\nno index can be reached")

    for _ in range(2):
        with pytest.raises(Unavailable, match="no index"):
            environment(build).ready(lambda text: None)


def test_a_peer_that_cannot_be_had_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    class Never(Environment):
        def ready(self, say: Callable[[str], None]) -> list[str]:
            raise Unavailable("there is no npm here")

    never = Never("puppeteer", (), lambda folder, sources: None, lambda folder: [])
    monkeypatch.setattr(bench_all, "environments", lambda: {"puppeteer": never})
    assert bench_all.available(["script", "puppeteer"]) == ({"script": []}, {"puppeteer": "there is no npm here"})


def test_a_peer_that_fails_is_left_out_but_the_product_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure_one(name: str, task: Any) -> Any:
        if name == failing:
            raise ChildFailed("it broke")
        return client_round(1.0)

    monkeypatch.setattr(bench_all, "measure_one", measure_one)
    failing, skipped = "cdp-use", dict[str, str]()
    found = bench_all.measure({"script": [], "cdp-use": ["x"]}, {}, 2, skipped=skipped)
    assert ({name: len(rows) for name, rows in found.items()}, skipped) == ({"script": 2}, {"cdp-use": "it broke"})
    failing = "script"
    with pytest.raises(ChildFailed, match="it broke"):
        bench_all.measure({"script": [], "cdp-use": ["x"]}, {}, 2, skipped={})


@pytest.mark.parametrize("name", sorted(environments.environments()))
def test_every_package_of_a_peer_is_pinned_and_hashed_and_names_no_place(name: str) -> None:
    for source in environments.environments()[name].sources:
        text = source.read_text(encoding="utf-8")
        assert "://" not in text
        if source.suffix == ".txt":
            packages = [line for line in text.splitlines() if line and line[0] not in " #"]
            assert all("==" in line for line in packages)
            assert text.count("--hash=sha256:") >= len(packages)
        elif source.name == "package-lock.json":
            packages = json.loads(text)["packages"]
            assert [path for path, one in packages.items() if path and "integrity" not in one] == []


@pytest.mark.parametrize("words", [["--rounds", "0"], ["--subject", "telepathy"], ["--fast"]])
def test_a_wrong_word_ends_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        bench_all.main(words)
    assert ended.value.code == 2


def test_a_process_that_fails_gives_its_last_words() -> None:
    with pytest.raises(ChildFailed, match="alas"):
        output_of([sys.executable, "-c", "raise SystemExit('alas')"], timeout_s=20)
    with pytest.raises(ChildFailed, match="not done within"):
        output_of(["sleep", "30"], timeout_s=0.2)
    with pytest.raises(ChildFailed, match="No such file"):
        output_of(["/nonexistent/program"], timeout_s=1)


SHORT = [sys.executable, "-m", "bench.all", "--short", "--rounds", "1", "--json"]


@pytest.mark.chromium
@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("script",), id="product"),
        pytest.param(("script", "pipe", "websocket"), id="product-and-direct-clients", marks=pytest.mark.long),
    ],
)
def test_a_short_run_measures_all_on_real_browsers(names: tuple[str, ...]) -> None:
    subjects = [word for name in names for word in ("--subject", name)]
    done = subprocess.run([*SHORT, *subjects], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["skipped"] == {}
    for name in names:
        (figures,) = data["measured"][name]
        assert set(figures) - {"ring"} == set(bench_all.SHORT) - {"ring"}
        assert figures["idle"]["private_bytes"] > 8 * MIB
        assert all(figures[part]["seen"] + figures[part]["lost"] == bench_all.SHORT[part] for part in FLOOD_TEXTS)
    ring = data["measured"]["script"][0]["ring"]
    assert (ring["seen"], ring["lost"], ring["untold"]) == (ring["calls"], 0, 0)


def descendants(pid: int) -> set[int]:
    """A process's children, theirs, and so on."""
    found, new = set[int](), {pid}
    while new:
        new = {child for parent in new for child in children_of(parent)} - found
        found |= new
    return found


def alive(pid: int) -> bool:
    """Is it there and not only waiting to be collected?"""
    try:
        return (Path("/proc") / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


@pytest.mark.chromium
@pytest.mark.slow
@pytest.mark.parametrize("subject", ["script", "pipe"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_an_interrupted_run_leaves_nothing_running(subject: str, how: signal.Signals) -> None:
    words = [sys.executable, "-m", "bench.all", "--subject", subject, "--rounds", "9"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        seen: set[int] = set()
        deadline = time.monotonic() + 60
        while len(seen) < 6 and time.monotonic() < deadline:  # keeper, Chromium and some of its processes are there
            seen |= descendants(run.pid)
            time.sleep(0.05)
        run.send_signal(how)
        _, complained = run.communicate(timeout=60)
    assert len(seen) >= 6
    assert run.returncode == 130, complained
    deadline = time.monotonic() + 10
    while any(map(alive, seen)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in seen if alive(pid)] == []
