"""The benchmark of the proxy: its arithmetic as tables, its site, and a tiny real run. Not how fast anything is."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from bench import egress as bench_egress
from bench.loading import works
from bench.loading.figures import CROWD, PARTS, TARGETS, Run, as_data, as_text, crowd_figures, part_figures, title_of
from bench.loading.memory import memory_of, proxy_of
from bench.loading.pages import KINDS, RESOURCE_BYTES, RESOURCES, page
from bench.loading.section import section_of, with_section
from bench.loading.site import Site, site_served
from bench.loading.tabs import Browser, Tab, loaded, proxy_flags
from bench.loading.works import DIRECT, QUICK, THROUGH, WAYS, Plan, Side, Works, samples
from bench.memory import descendants_of
from bench.targets import MIB
from tests.support.processes import alive

ROOT = Path(__file__).resolve().parent.parent
HELD = {"private": 10 * MIB, "rss": 15 * MIB, "peak": 20 * MIB}


def found(direct_ms: float, through_ms: float) -> dict[str, list[float]]:
    """Three samples of each way; the first and last are not what counts."""
    times = {DIRECT: [1.0, direct_ms, 9e9], THROUGH: [1.0, through_ms, 9e9]}
    return {**times, **{f"{way}_{what}": [5.0] for way in WAYS for what in ("cpu", "proxy_cpu")}}


def crowd_row(quiet_us: float, loaded_us: float) -> dict[str, Any]:
    """Of one round."""
    row = {"quiet_us": quiet_us, "loaded_us": loaded_us, "loaded_p90_us": 9e9, "pages": 40.0}
    return {"product": {**row, **HELD, "host_share": 0.25, "proxy_share": 0.125}, "direct": row}


def one_round(slower: float = 1.0) -> dict[str, Any]:
    """All parts, the way through the proxy so many times as slow; the crowd, too."""
    return {**{part: found(2.0, 2.0 * slower) for part in PARTS}, CROWD: crowd_row(200, 200 * slower)}


def run_of(rounds: list[dict[str, Any]], **changes: Any) -> Run:
    """A run with these rounds."""
    run = Run(
        machine={"cpu": "a processor", "cores": "2", "kernel": "6"},
        date="2026-01-01",
        chromium="156",
        load_before=[0.5, 0.25, 0.125],
        load_after=[7.0, 0.25, 0.125],
        took_s=100.0,
        plan=Plan(),
        rounds=rounds,
        memory=HELD,
    )
    return dataclasses.replace(run, **changes)


def test_a_part_is_told_by_medians_as_a_share_of_the_direct_way() -> None:
    figures = part_figures(found(8.0, 10.0))
    assert (figures["speed"], figures["later_ms"]) == (0.8, 2.0)
    assert figures["cpu_ms"] == 5.0


def test_a_crowd_is_told_by_the_loaded_call_as_a_multiple_of_the_quiet_one() -> None:
    figures = crowd_figures({"product": {**crowd_row(200, 300)["product"]}, "direct": crowd_row(100, 400)["direct"]})
    assert (figures["slower"], figures["direct_slower"], figures["pages"]) == (1.5, 4.0, 40.0)


VERDICT_CASES = (  # the rounds, changes of the run, the places of what is missed
    pytest.param([one_round()], {}, set(), id="all-met"),
    pytest.param([one_round(1.25)], {}, set(), id="just-so"),
    pytest.param([one_round(1.26)], {}, {0, 1, 2, 3}, id="a-little-too-slow"),
    pytest.param([one_round(2.6)], {}, {0, 1, 2, 3, 4, 5, 6}, id="much-too-slow"),
    pytest.param([one_round(9.0), one_round(), one_round()], {}, set(), id="one-bad-round-of-three"),
    pytest.param([one_round()], {"memory": {**HELD, "peak": 41 * MIB}}, {7}, id="too-large"),
)


@pytest.mark.parametrize(("rounds", "changes", "missed"), VERDICT_CASES)
def test_a_run_is_held_against_every_target(
    rounds: list[dict[str, Any]], changes: dict[str, Any], missed: set[int]
) -> None:
    verdicts = run_of(rounds, **changes).verdicts
    assert {place for place, one in enumerate(verdicts) if one.word == "missed"} == missed
    assert {one.word for one in verdicts} <= {"met", "missed"}
    assert len(verdicts) == len(TARGETS)


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    words = {one.target.part: one.word for one in run_of([{"body": found(2.0, 2.0)}]).verdicts}
    assert words.pop("body") == words.pop("memory") == "met"
    assert set(words.values()) == {"not measured"}


def test_the_section_names_every_target_work_and_what_it_was_taken_on() -> None:
    text = as_text(run_of([one_round()]))
    assert all(target.text in text for target in TARGETS)
    assert [word for word in ("0.50 0.25", "7.00 0.25", "a processor", "no proxy", "20.0 MB") if word not in text] == []
    assert [part for part in PARTS if f"| {title_of(part, Plan())} " not in text] == []


def test_the_data_has_every_verdict_and_every_sample() -> None:
    rounds = [one_round(), one_round(2.0)]
    told = json.loads(json.dumps(as_data(run_of(rounds))))
    assert told["measured"] == rounds
    assert len(told["targets"]) == len(TARGETS)
    assert told["medians"]["body"]["speed"] == 0.75


PAGE_CASES = (
    pytest.param("# P\n\ntext\n", id="none-yet"),
    pytest.param("# P\n\ntext\n\n## Through the proxy\n\nold\n", id="an-older-one"),
)


@pytest.mark.parametrize("before", PAGE_CASES)
def test_a_section_takes_the_place_of_an_older_one_and_can_be_kept(before: str) -> None:
    section = as_text(run_of([one_round()]))
    after = with_section(before, section)
    assert after == f"# P\n\ntext\n\n{section.strip()}\n"
    assert with_section("# Q\n", section_of(after)) == f"# Q\n\n{section.strip()}\n"
    assert with_section("# Q\n", section_of("# P\n")) == "# Q\n"


def test_a_page_loads_so_many_resources_of_each_kind_from_all_origins() -> None:
    text = page(60, ["http://a:1", "http://b:2"], delay_ms=7, token="x").decode()
    urls = re.findall(r"(http://[ab]:[12])/(\w+)/7/x-(\d+)", text)
    assert [int(number) for _, _, number in urls] == list(range(60))
    for origin in ("http://a:1", "http://b:2"):
        kinds = [kind for where, kind, _ in urls if where == origin]
        assert {kinds.count(kind) for kind in KINDS} == {10}
    assert {len(body) for body in RESOURCES.values()} == {RESOURCE_BYTES}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A site with three origins."""
    with site_served(3) as served:
        yield served


def got(url: str) -> bytes:
    """The body of an answer."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return cast(bytes, answer.read())


BODIES = (
    pytest.param("text/0/x", RESOURCES["text"], id="text"),
    pytest.param("image/0/x", RESOURCES["image"], id="image"),
    pytest.param("body/10000001/x", b"\0" * 10_000_001, id="body"),
)


@pytest.mark.parametrize(("path", "expected"), BODIES)
def test_the_site_serves_what_was_asked_for_from_every_origin(site: Site, path: str, expected: bytes) -> None:
    assert len(set(site.origins)) == 3
    assert all(got(f"{origin}/{path}") == expected for origin in site.origins)


def test_a_large_document_is_as_long_as_asked_and_ends_with_what_tells(site: Site) -> None:
    body = got(f"{site.origins[0]}/html/9000000/x")
    assert len(body) == 9_000_000
    assert body.lstrip(b" ").startswith(b"<!doctype html>")
    assert body.endswith(b"</script>")


def test_the_site_answers_on_a_kept_connection_in_order_and_late_when_asked_to(site: Site) -> None:
    with socket.create_connection(("127.0.0.1", site.ports[0]), 10) as kept:
        for path, least_s in (("text/0/x", 0.0), ("text/150/x", 0.15)):
            began = time.monotonic()
            kept.sendall(f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            answer = b""
            while not answer.endswith(RESOURCES["text"]):
                answer += kept.recv(65536)
            assert time.monotonic() - began >= least_s


def test_the_site_ends_with_whoever_wanted_it() -> None:
    with site_served(1) as served:
        assert got(f"{served.origins[0]}/")
    with pytest.raises(OSError, match="refused"):
        got(f"{served.origins[0]}/")


def test_a_page_with_a_missing_resource_does_not_count() -> None:
    assert loaded("u", [12.5, 3], least=3) == 12.5
    with pytest.raises(RuntimeError, match="2 of 3"):
        loaded("u", [12.5, 2], least=3)


def test_the_proxys_flags_are_the_hosts_own() -> None:
    flags = proxy_flags(4711)
    assert "--proxy-server=http://127.0.0.1:4711" in flags
    assert "--proxy-bypass-list=<-loopback>" in flags


class Spent(Browser):
    """A Chromium that has used ten more each time that it is asked."""

    def cpu_ms(self) -> float:
        order.append("read")
        return 10.0 * len(order)


order: list[str] = []


@pytest.mark.parametrize(
    ("number", "expected"),
    [pytest.param(0, "DT DT TD DT", id="first-round"), pytest.param(1, "DT TD DT TD", id="second-round")],
)
async def test_ways_alternate_after_one_that_is_not_counted(number: int, expected: str) -> None:
    heard: list[str] = []

    async def work(tab: Tab) -> list[float]:
        heard.append(cast(str, tab))
        return [1.0, 2.0]

    order.clear()
    pair = {
        way: Side(cast(Tab, letter), Spent(cast(Any, None), 0), None) for way, letter in ((DIRECT, "D"), (THROUGH, "T"))
    }
    measured = await samples(pair, 3, work, number)
    assert "".join(heard) == expected.replace(" ", "")
    assert [len(measured[way]) for way in WAYS] == [6, 6]
    assert measured[f"{DIRECT}_cpu"] == [5.0] * 3  # ten more, for two that were timed
    assert measured[f"{THROUGH}_proxy_cpu"] == [0.0] * 3


async def test_a_chromium_meets_each_fresh_origin_once() -> None:
    class Asked:
        def __init__(self) -> None:
            self.urls: list[str] = []

        async def first_bytes(self, urls: list[str]) -> list[float]:
            self.urls += urls
            return [1.0] * len(urls)

    plan = Plan(first_bytes=3, fresh=4)
    made = Works(Site(tuple(range(1000, 1000 + plan.ports))), plan)
    tabs = [cast(Tab, Asked()), cast(Tab, Asked())]
    made.begin(tabs)
    for _ in range(plan.first_bytes + 1):
        for tab in tabs:
            assert len(await made.first_fresh(tab)) == plan.fresh
    for tab in tabs:
        origins = [url.split("/")[2] for url in cast(Any, tab).urls]
        assert len(set(origins)) == len(origins) == (plan.first_bytes + 1) * plan.fresh
        assert not {f"127.0.0.1:{port}" for port in range(1000, 1000 + works.ORIGINS)} & set(origins)


def test_the_processes_of_a_process_are_found_with_theirs() -> None:
    words = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", words], stdin=subprocess.PIPE) as child:
        deadline = time.monotonic() + 10
        while len(descendants_of(child.pid)) < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        (grandchild,) = descendants_of(child.pid)
        assert {child.pid, grandchild} <= set(descendants_of(os.getpid()))
        child.communicate(b"\n", timeout=10)
    assert not {child.pid, grandchild} & set(descendants_of(os.getpid()))


def test_the_most_that_was_held_stays_known() -> None:
    code = "x = bytearray(b'x') * 50_000_000; del x; print('done', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        held = memory_of(child.pid)
        child.communicate(b"\n", timeout=10)
    assert held["peak"] > 50_000_000 > held["rss"] >= held["private"] > 1_000_000


def test_a_process_without_a_proxy_has_none() -> None:
    with pytest.raises(ProcessLookupError):
        proxy_of(os.getpid())


@pytest.mark.parametrize("words", [["--rounds", "0"], ["--part", "telepathy"], ["--fast"]])
def test_a_wrong_word_ends_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        bench_egress.main(words)
    assert ended.value.code == 2


def test_the_help_says_what_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        bench_egress.main(["--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert [name for name in (*PARTS, CROWD, "examples:") if name not in told] == []


TINY = dataclasses.replace(
    QUICK, rounds=1, pages=1, resources=30, body_bytes=3_000_000, first_bytes=1, kept=5, fresh=2, calls=20, crowd=2
)


def run_main(words: list[str]) -> int:
    """The command line, with the signals of this process left as they are."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return bench_egress.main(words)
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def test_without_a_browser_it_says_so_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAPSDK_BROWSER", str(tmp_path / "no-browser"))
    assert run_main(["--quick", "--part", "body"]) == 1
    assert "no-browser" in capsys.readouterr().err


@pytest.mark.chromium
@pytest.mark.long
def test_a_tiny_run_measures_both_ways_and_only_one_uses_the_proxy(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    written = tmp_path / "performance.md"
    written.write_text("# P\n")
    monkeypatch.setattr(bench_egress, "PAGE_FILE", written)
    monkeypatch.setattr(bench_egress, "QUICK", TINY)
    before = set(descendants_of(os.getpid()))
    assert run_main(["--quick", "--json", "--write"]) == 0
    told = json.loads(capfd.readouterr().out)
    (measured,) = told["measured"]
    assert set(measured) == {*PARTS, CROWD}
    for part in PARTS:
        row = measured[part]
        counted = {"first_fresh": TINY.fresh, "first_kept": TINY.kept}.get(part, 1)
        assert [len(row[way]) for way in WAYS] == [counted] * 2
        assert min(*row[DIRECT], *row[THROUGH]) > 0
        assert row[f"{DIRECT}_proxy_cpu"] == [0.0] < row[f"{THROUGH}_proxy_cpu"]
    for row in measured[CROWD].values():
        assert row["pages"] > 0
        assert 0 < row["quiet_us"] < 1e7
        assert 0 < row["loaded_us"] <= row["loaded_p90_us"] < 1e7
    assert all(0 < measured[CROWD]["product"][key] < 1 for key in ("host_share", "proxy_share"))
    assert 5 * MIB < told["medians"]["memory"]["private"] <= told["medians"]["memory"]["peak"]
    assert "not measured" not in {one["verdict"] for one in told["targets"]}
    assert set(descendants_of(os.getpid())) == before
    assert written.read_text().startswith("# P\n\n## Through the proxy\n")


@pytest.mark.chromium
@pytest.mark.long
@pytest.mark.parametrize("part", ["first_kept", CROWD])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_an_interrupted_run_leaves_nothing_running(part: str, how: signal.Signals) -> None:
    words = [sys.executable, "-m", "bench.egress", "--part", part]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        deadline = time.monotonic() + 30
        started: set[int] = set()
        while len(started) < 8 and time.monotonic() < deadline:
            started = set(descendants_of(child.pid))
            time.sleep(0.05)
        assert len(started) >= 8  # a Chromium is among them
        child.send_signal(how)
        child.communicate(timeout=30)
    assert child.returncode == 130
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in started if alive(pid)] == []
