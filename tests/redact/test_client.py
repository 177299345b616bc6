"""The host's side of the redactor against processes that misbehave in every way, and the real one beside them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from host.core.redaction import EngineConfig, Text
from host.redact.client import TEMP_PREFIX, Failed, Redactor, RedactorConfig, temp_folder
from tests.support.processes import wait_until

PRELUDE = """
import json, os, socket, struct, sys, time
settings = json.loads(sys.argv[1])
channel = socket.socket(fileno=settings["channel"])
def say(blob=b"", **head):
    raw = json.dumps(head).encode()
    channel.sendall(struct.pack(">II", len(raw), len(blob)) + raw + blob)
def exactly(size):
    got = b""
    while len(got) < size:
        more = channel.recv(size - len(got))
        if not more: os._exit(0)
        got += more
    return got
def hear():
    head, blob = struct.unpack(">II", exactly(8))
    made = json.loads(exactly(head)); exactly(blob)
    return made
"""
READY = "say(number=0, about={'rssMb': 1})\n"
ECHO = READY + "while True:\n    ask = hear(); say(number=ask['number'], found=[[] for _ in ask['texts']])\n"


def fake(program: str, ready_s: float = 5.0) -> Redactor:
    """One whose process is this program."""
    words = (sys.executable, "-I", "-S", "-c", PRELUDE + textwrap.dedent(program))
    return Redactor(RedactorConfig(EngineConfig(), program=words, ready_s=ready_s))


STARTS = (  # the program, the step of the failure
    pytest.param("raise SystemExit(1)", "load", id="ends-at-once"),
    pytest.param("time.sleep(30)", "load", id="says-nothing"),
    pytest.param("channel.sendall(b'x' * 100); time.sleep(30)", "load", id="says-rubbish"),
    pytest.param("channel.sendall(struct.pack('>II', 5, 0) + b'{\"a\":'); time.sleep(30)", "load", id="says-half-json"),
    pytest.param("say(number=0, step='module', why='presidio_analyzer')", "module", id="a-module-is-missing"),
    pytest.param("channel.close(); time.sleep(30)", "load", id="closes-the-line"),
)


@pytest.mark.parametrize(("program", "step"), STARTS)
async def test_a_start_that_fails_says_at_which_step_and_the_next_call_tries_again(program: str, step: str) -> None:
    redactor = fake(program, ready_s=0.7)
    for tries in (1, 2):
        with pytest.raises(Failed) as raised:
            await redactor.find([Text("x")], 3.0)
        assert (raised.value.step, redactor.starts) == (step, tries)
    await redactor.close()
    assert redactor.pid is None


ANSWERS = (  # what it does with the question, the step of the failure
    pytest.param("hear(); raise SystemExit(1)", "redactor", id="dies-of-it"),
    pytest.param("hear(); time.sleep(30)", "time", id="never-answers"),
    pytest.param("ask = hear(); say(number=ask['number'], found=[]); time.sleep(30)", "redactor", id="too-few"),
    pytest.param("ask = hear(); say(number=ask['number']); time.sleep(30)", "redactor", id="nothing-found-said"),
    pytest.param("hear(); channel.sendall(b'\\xff' * 20); time.sleep(30)", "redactor", id="rubbish"),
    pytest.param(
        "ask = hear(); say(number=ask['number'] + 7, found=[[]]); time.sleep(30)", "time", id="another-number"
    ),
    pytest.param(
        "ask = hear(); say(number=ask['number'], step='ocr', why='gone'); time.sleep(30)", "ocr", id="says-no"
    ),
    pytest.param(
        "ask = hear(); say(number=ask['number'], found=[[[0, 'one', 'X', 1, 'y']]]); time.sleep(30)",
        "redactor",
        id="not-of-the-shape",
    ),
)


@pytest.mark.parametrize(("program", "step"), ANSWERS)
async def test_an_answer_that_is_none_fails_the_call(program: str, step: str) -> None:
    redactor = fake(READY + program)
    with pytest.raises(Failed) as raised:
        await redactor.find([Text("x")], 0.6)
    assert raised.value.step == step
    await redactor.close()


async def test_a_process_that_died_is_started_anew_by_the_next_call() -> None:
    redactor = fake(ECHO)
    assert await redactor.find([Text("x"), Text("y")], 5.0) == [[], []]
    first = redactor.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert await _found_again(redactor) == [[]]
    assert (redactor.starts, redactor.pid != first) == (2, True)
    await redactor.close()


async def _found_again(redactor: Redactor) -> object:
    """The death is seen at once, or by the call that was on its way."""
    try:
        return await redactor.find([Text("x")], 5.0)
    except Failed:
        return await redactor.find([Text("x")], 5.0)


async def test_many_calls_at_once_get_their_own_answers() -> None:
    redactor = fake(
        READY + "asks = [hear() for _ in range(20)]\n"
        "for ask in reversed(asks): say(number=ask['number'], found=[[] for _ in ask['texts']])\ntime.sleep(30)"
    )
    found = await asyncio.gather(*(redactor.find([Text("x")] * count, 5.0) for count in range(1, 21)))
    assert [len(one) for one in found] == list(range(1, 21))
    await redactor.close()


async def test_closing_ends_the_process_and_whoever_waits_twice_is_fine() -> None:
    redactor = fake(READY + "hear(); time.sleep(60)")
    waiting = asyncio.ensure_future(redactor.find([Text("x")], 30.0))
    await asyncio.sleep(0)
    await redactor.start()
    pid = redactor.pid
    assert pid is not None
    await redactor.close()
    await redactor.close()
    with pytest.raises(Failed):
        await waiting
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), 3.0, "the process was left behind")
    with pytest.raises(Failed):
        await redactor.find([Text("x")], 1.0)


async def test_a_call_that_is_cancelled_leaves_the_process_to_the_others() -> None:
    redactor = fake(READY + "hear()\nwhile True:\n    ask = hear(); say(number=ask['number'], found=[[]])")
    await redactor.start()
    first = asyncio.ensure_future(redactor.find([Text("never answered")], 20.0))
    await asyncio.sleep(0.05)
    first.cancel()
    assert await redactor.find([Text("x")], 5.0) == [[]]
    assert redactor.starts == 1
    await redactor.close()


def test_files_of_hosts_that_are_gone_are_removed_and_those_of_living_ones_stay() -> None:
    ours = Path(temp_folder(None))
    dead = ours.with_name(f"{TEMP_PREFIX}4194399-abc")
    dead.mkdir()
    again = Path(temp_folder(None))
    try:
        assert (ours.exists(), dead.exists(), again.exists()) == (True, False, True)
        assert again.stat().st_mode & 0o777 == 0o700
    finally:
        ours.rmdir()
        again.rmdir()


# --- the real one


def facts_of(pid: int | None) -> dict[str, str]:
    """What the kernel says of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return dict(line.split(":", 1) for line in status.splitlines())


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def real() -> AsyncIterator[Redactor]:
    uid = 64193 if os.geteuid() == 0 else None
    redactor = Redactor(RedactorConfig(EngineConfig(), uid=uid))
    try:
        yield redactor
    finally:
        await redactor.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_the_real_one_finds_in_order_and_says_what_it_is(real: Redactor) -> None:
    found = await real.find([Text("nothing here"), Text("write to oda@example.test"), Text("plain words")], 60.0)
    assert [[one.type for one in each] for each in found] == [[], ["EMAIL"], []]
    assert real.about["rssMb"] <= 450
    assert "presidio" in str(real.about)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_real_one_finds_in_long_texts_and_in_many_when_it_has_no_files_any_more(real: Redactor) -> None:
    filler = "nothing to see here, and it goes on for a while. "
    texts = [Text(f"{filler * 40}write to oda@example.test"), *(Text(f"{number} plain words") for number in range(40))]
    found = await real.find(texts, 60.0)
    assert [[one.type for one in each] for each in found] == [["EMAIL"], *[[]] * 40]


@pytest.mark.asyncio(loop_scope="module")
async def test_the_real_one_has_no_rights_of_the_hosts_and_no_socket_but_its_line(real: Redactor) -> None:
    await real.start()
    facts = facts_of(real.pid)
    assert facts["Seccomp"].strip() == "2"
    assert facts["NoNewPrivs"].strip() == "1"
    if os.geteuid() == 0:
        assert set(facts["Uid"].split()) == {"64193"}
        assert int(facts["CapEff"], 16) == 0


@pytest.mark.asyncio(loop_scope="module")
async def test_the_real_one_dies_and_comes_back(real: Redactor) -> None:
    await real.start()
    assert real.pid is not None
    os.kill(real.pid, signal.SIGKILL)
    began_s = time.monotonic()
    assert await _found_again(real) == [[]]
    assert time.monotonic() - began_s < 30
