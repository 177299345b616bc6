"""The benchmark of a call: its arithmetic as tables, its clocks, and one tiny real run. Not how fast anything is."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bench.app.main import OUTSTANDING, check, measure, timed
from bench.clients import FramedPipe, Replied, Waiting
from bench.cpu import CpuMarks, process_cpu_ns, with_host_cpu
from bench.figures import TITLES, Ratio, order_of, summarise, table
from bench.path import SubjectFailed, as_json, as_text, main, measure_subject
from bench.subjects import SUBJECTS
from host.core.manifest import parse_manifest

ROOT = Path(__file__).resolve().parent.parent


def row(
    p50_us: float, *, wall_us: float = 10.0, client: float = 20.0, host: float = 0.0
) -> dict[str, dict[str, float]]:
    """One round's figures of one subject, the same for both parts."""
    part = {
        "calls": 100,
        "p50_us": p50_us,
        "p99_us": 900.0,
        "wall_us": wall_us,
        "client_cpu_us": client,
        "host_cpu_us": host,
    }
    return {"one": part, "many": part}


ROUNDS: dict[str, list[Any]] = {
    "script": [row(400, wall_us=80, host=60), row(330, wall_us=60, host=40), row(900, wall_us=70, host=50)],
    "websocket": [row(300, wall_us=50, client=70)] * 3,
    "pipe": [row(150, wall_us=40, client=30), row(110, wall_us=35, client=30), row(160, wall_us=45, client=30)],
}

ORDER_CASES = (
    pytest.param(0, ["a", "b", "c"], id="first-forward"),
    pytest.param(1, ["c", "b", "a"], id="second-backward"),
    pytest.param(4, ["a", "b", "c"], id="fifth-forward"),
)


@pytest.mark.parametrize(("number", "expected"), ORDER_CASES)
def test_rounds_alternate_their_order(number: int, expected: list[str]) -> None:
    assert order_of(["a", "b", "c"], number) == expected


SUMMARY_CASES = (  # part, median, best, ratio to websockets, ratio to the pipe
    pytest.param("one", 400, 330, Ratio(400 / 300, 1.1, 1.0), Ratio(400 / 150, 3.0, 70 / 30), id="one-by-p50"),
    pytest.param("many", 70, 60, Ratio(1.4, 1.2, 1.0), Ratio(1.75, 60 / 35, 70 / 30), id="many-by-wall-per-call"),
)


@pytest.mark.parametrize(("part", "median_us", "best_us", "websocket", "pipe"), SUMMARY_CASES)
def test_a_summary_tells_medians_best_rounds_and_ratios_of_one_run(
    part: str, median_us: float, best_us: float, websocket: Ratio, pipe: Ratio
) -> None:
    summary = summarise(ROUNDS, part)["script"]
    assert (summary.median_us, summary.best_us, summary.cpu_us) == (median_us, best_us, 70)
    assert summary.ratios == {"websocket": websocket, "pipe": pipe}


def test_cpu_is_of_client_and_host_together() -> None:
    summary = summarise(ROUNDS, "one")["script"]
    assert (summary.client_cpu_us, summary.host_cpu_us) == (20, 50)


def test_a_subject_without_its_reference_in_the_run_has_no_ratio() -> None:
    assert summarise({"script": ROUNDS["script"]}, "one")["script"].ratios == {}
    assert "-" in table("alone", summarise({"script": ROUNDS["script"]}, "one"))


def test_the_tables_name_every_subject_and_the_load_around_the_run() -> None:
    run = {
        "machine": {"cpu": "a processor", "cores": "2", "python": "3"},
        "rounds": 3,
        "calls": 100,
        "loadBefore": [0.5, 0.25, 0.125],
        "loadAfter": [7.0, 0.25, 0.125],
        "tookS": 1.5,
    }
    text = as_text(run, ROUNDS)
    assert "0.50 0.25" in text
    assert "7.00 0.25" in text
    assert text.count("1.33 (1.10)") == 1
    assert all(title in text for title in TITLES.values())
    told = json.loads(as_json(run, ROUNDS))
    assert told["summary"]["one"]["script"]["ratios"]["websocket"]["best"] == pytest.approx(1.1)
    assert told["measured"] == ROUNDS


def burn(cpu_ms: int) -> None:
    """Use so much CPU, however busy the machine is."""
    until_ns = time.process_time_ns() + cpu_ms * 1_000_000
    while time.process_time_ns() < until_ns:
        pass


def test_the_clock_of_a_process_is_its_cpu_time() -> None:
    before_ns = process_cpu_ns(os.getpid())
    burn(20)
    assert 15e6 < process_cpu_ns(os.getpid()) - before_ns < 2e9
    assert process_cpu_ns(os.getpid()) == pytest.approx(time.process_time_ns(), abs=5e6)


def test_the_clock_of_another_process_counts_what_that_one_did() -> None:
    code = (
        "import sys, time\n"
        "for line in sys.stdin:\n"
        "    until = time.process_time_ns() + 30_000_000\n"
        "    while time.process_time_ns() < until: pass\n"
        "    print(time.process_time_ns(), flush=True)\n"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        marks = CpuMarks(child.pid)
        marks.read("one")
        child.stdin.write("go\n")
        child.stdin.flush()
        own_ns = int(child.stdout.readline())
        marks.read("one_end")
        assert process_cpu_ns(child.pid) == pytest.approx(own_ns, abs=5e6)
        assert marks.spent_us("one") > 29_000
        child.stdin.close()


def test_a_process_that_is_not_there_has_no_clock() -> None:
    with pytest.raises(OSError, match=r"\S"):
        process_cpu_ns(2**22 + 1)


def test_the_hosts_cpu_is_told_per_call() -> None:
    class Fixed(CpuMarks):
        def spent_us(self, name: str) -> float:
            return 500.0

    part = {"calls": 10.0}
    assert with_host_cpu({"one": part}, Fixed(0)) == {"one": {"calls": 10.0, "host_cpu_us": 50.0}}
    assert with_host_cpu({"one": part}, None) == {"one": {"calls": 10.0, "host_cpu_us": 0.0}}


async def test_the_marks_enclose_only_the_timed_calls() -> None:
    heard: list[str] = []

    async def evaluate() -> None:
        heard.append("call")
        await asyncio.sleep(0)

    async def mark(name: str) -> None:
        heard.append(name)

    figures = await measure(evaluate, mark, calls=3, burst_calls=1)
    timed_part = heard[heard.index("one") :]
    assert timed_part == ["one", *["call"] * 3, "one_end", "many", *["call"] * OUTSTANDING, "many_end"]
    assert (figures["one"]["calls"], figures["many"]["calls"]) == (3, OUTSTANDING)


async def test_so_many_calls_are_outstanding_as_the_part_says() -> None:
    under_way = most = 0

    async def evaluate() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1

    figures = await timed(evaluate, 2 * OUTSTANDING, OUTSTANDING)
    assert most == OUTSTANDING
    assert figures["p99_us"] >= figures["p50_us"] >= 1000
    assert figures["wall_us"] < figures["p50_us"]


def test_a_wrong_answer_does_not_count() -> None:
    check({"result": {"type": "number", "value": 1}})
    with pytest.raises(ValueError, match="the page answered"):
        check({"result": {"type": "number", "value": 2}})


async def test_a_message_may_come_in_pieces_and_several_at_once() -> None:
    taken: list[bytes] = []
    pipe = FramedPipe(b"\0", taken.append, lambda problem: None)
    for piece in (b"on", b"e\0two\0th", b"ree", b"\0"):
        pipe.data_received(piece)
    assert taken == [b"one", b"two", b"three"]


async def test_every_call_gets_its_own_end() -> None:
    waiting: Waiting[int] = Waiting()
    (one, first), (two, second), (_, third) = waiting.add(), waiting.add(), waiting.add()
    waiting.settle(two, 22, None)
    waiting.settle(one, None, {"code": -32000})
    waiting.settle(77, 0, None)
    waiting.fail(ConnectionError("gone"))
    assert await second == 22
    with pytest.raises(Replied, match="-32000"):
        await first
    with pytest.raises(ConnectionError):
        await third


def test_the_app_of_the_benchmark_has_a_manifest_without_fault() -> None:
    manifest = parse_manifest(tomllib.loads((ROOT / "bench/app/app.toml").read_text(encoding="utf-8")))
    assert manifest.capabilities == ["browser.debug"]


@pytest.mark.parametrize("words", [["--rounds", "0"], ["--calls", "many"], ["--subject", "telepathy"], ["--fast"]])
def test_a_wrong_word_ends_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2


def test_the_help_says_what_is_measured_and_how_to_read_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert [name for name in (*SUBJECTS, "median", "CPU", "examples:") if name not in told] == []


def test_a_subject_that_fails_gives_its_last_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CAPSDK_BROWSER", str(tmp_path / "no-browser"))
    with pytest.raises(SubjectFailed, match="no-browser"):
        measure_subject("pipe", 1)


@pytest.mark.chromium
def test_a_tiny_run_measures_all_four_on_a_real_browser(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--rounds", "1", "--calls", "20", "--json"]) == 0
    run = json.loads(capfd.readouterr().out)
    assert set(run["measured"]) == set(SUBJECTS)
    assert len(run["loadBefore"]) == len(run["loadAfter"]) == 3
    for name, (figures,) in run["measured"].items():
        for part, least_calls in (("one", 20), ("many", 60)):
            assert figures[part]["calls"] >= least_calls
            assert 0 < figures[part]["p50_us"] <= figures[part]["p99_us"] < 10e6
            assert figures[part]["client_cpu_us"] > 0
            assert (figures[part]["host_cpu_us"] > 0) == (name in ("script", "stdio"))
            assert set(run["summary"][part][name]["ratios"]) == {"websocket", "pipe"}
