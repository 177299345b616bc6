"""Bad input over standard input and output: each a clear error or a clean end, and the host goes on."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import memory_kib, wait_until
from tests.support.stdio import GRANT, Stdio, capsdk, environment, error, result, seconds

MIB = 1024 * 1024


def works(host: Stdio) -> None:
    """The host still does what it is for."""
    assert host.error("browser.closeSession", sessionId=7)["code"] == "BAD_ARGUMENTS"
    assert host.ok("browser.closeSession", sessionId="unknown") == {}


BAD_LINES = (  # line, the id it is answered with, code
    pytest.param(b"hello", None, "BAD_ARGUMENTS", id="no-json"),
    pytest.param(b"[1]", None, "BAD_ARGUMENTS", id="a-list"),
    pytest.param(b"17", None, "BAD_ARGUMENTS", id="a-number"),
    pytest.param(b"null", None, "BAD_ARGUMENTS", id="null"),
    pytest.param(b"{}", None, "BAD_ARGUMENTS", id="nothing"),
    pytest.param(b'{"id": 1', None, "BAD_ARGUMENTS", id="cut-off"),
    pytest.param(b'{"method": "run.log", "args": {}}', None, "BAD_ARGUMENTS", id="no-id"),
    pytest.param(b'{"id": true, "method": "run.log"}', None, "BAD_ARGUMENTS", id="id-true"),
    pytest.param(b'{"id": -1, "method": "run.log"}', None, "BAD_ARGUMENTS", id="id-below-zero"),
    pytest.param(b'{"id": 9007199254740992, "method": "run.log"}', None, "BAD_ARGUMENTS", id="id-2-to-the-53"),
    pytest.param(b'{"id": 1.5, "method": "run.log"}', None, "BAD_ARGUMENTS", id="id-a-fraction"),
    pytest.param(b'{"id": "%s", "method": "run.log"}' % (b"x" * 65), None, "BAD_ARGUMENTS", id="id-of-65-characters"),
    pytest.param(b'{"id": {"a": 1}, "method": "run.log"}', None, "BAD_ARGUMENTS", id="id-an-object"),
    pytest.param(b'{"id": "a1", "method": 5}', "a1", "BAD_ARGUMENTS", id="method-a-number"),
    pytest.param(b'{"id": "a2"}', "a2", "BAD_ARGUMENTS", id="no-method"),
    pytest.param(b'{"id": "a3", "method": "run.log", "args": []}', "a3", "BAD_ARGUMENTS", id="args-a-list"),
    pytest.param(
        b'{"id": "a4", "method": "run.log", "args": {}, "x": 1}', "a4", "BAD_ARGUMENTS", id="unknown-key-outside"
    ),
    pytest.param(
        b'{"id": "a5", "method": "run.log", "args": {"level": "info", "message": "m", "x": 1}}',
        "a5",
        "BAD_ARGUMENTS",
        id="unknown-key-inside",
    ),
    pytest.param(
        b'{"id": "a6", "method": "run.log", "args": {"level": 1, "message": "m"}}',
        "a6",
        "BAD_ARGUMENTS",
        id="wrong-type",
    ),
    pytest.param(b'{"id": "a7", "id": "a8", "method": "run.log"}', None, "BAD_ARGUMENTS", id="two-ids"),
    pytest.param(
        b'{"id": "a9", "method": "run.log", "args": {"level": "info", "level": "info", "message": "m"}}',
        "a9",
        "BAD_ARGUMENTS",
        id="duplicate-key",
    ),
    pytest.param(
        b'{"id": "b1", "method": "browser.cdp", "args": {"params": {"a": [{"b": 1, "b": 1}]}}}',
        "b1",
        "BAD_ARGUMENTS",
        id="duplicate-key-deep-inside",
    ),
    pytest.param(b'{"id": "b2", "method": "run.dance"}', "b2", "UNKNOWN_ENTRY", id="unknown-entry"),
    pytest.param(b'{"id": "b3", "method": "Run.log"}', "b3", "UNKNOWN_ENTRY", id="entry-in-other-case"),
    pytest.param(b'{"id": "b4", "method": "run.log", "args": {"a": NaN}}', "b4", "BAD_ARGUMENTS", id="not-a-number"),
    pytest.param(b'{"id": "b5", "method": "run.log", "args": {"a": 1e999}}', "b5", "BAD_ARGUMENTS", id="infinite"),
    pytest.param(
        b'{"id": "b6", "method": "run.log", "args": {"a": "\xff\xfe"}}', None, "BAD_ARGUMENTS", id="not-utf-8"
    ),
    pytest.param(b'{"id": "b7", "method": "\xed\xa0\x80"}', None, "BAD_ARGUMENTS", id="surrogate-as-bytes"),
    pytest.param(b'{"id": "b8", "method": "\\ud800"}', "b8", "UNKNOWN_ENTRY", id="half-surrogate-as-method"),
    pytest.param(b'{"id": "\\ud800", "method": "run.dance"}', "\ud800", "UNKNOWN_ENTRY", id="half-surrogate-as-id"),
    pytest.param(b'{"id": "b9", "method": "run.log\\u0000"}', "b9", "UNKNOWN_ENTRY", id="nul-in-the-method"),
    pytest.param(b'\x00{"id": "c1"}', None, "BAD_ARGUMENTS", id="nul-first"),
    pytest.param(b'\xef\xbb\xbf{"id": "c2", "method": "run.dance"}', None, "BAD_ARGUMENTS", id="byte-order-mark"),
    pytest.param(b'{"cancel": 1, "x": 2}', None, "BAD_ARGUMENTS", id="cancel-and-more"),
    pytest.param(b'{"cancel": [1]}', None, "BAD_ARGUMENTS", id="cancel-a-list"),
    pytest.param(
        b'{"id": "c3", "method": "browser.cdp", "args": {"params": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}",
        "c3",
        "PARAMS_TOO_LARGE",
        id="fifty-thousand-levels",
    ),
    pytest.param(
        b'{"id": "c4", "method": "browser.cdp", "args": {"params": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}}",
        "c4",
        "PARAMS_TOO_LARGE",
        id="fifty-thousand-objects",
    ),
    pytest.param(
        b'{"id": "c5", "method": "run.log", "args": {"a": ' + b"9" * 10_000 + b"}}",
        "c5",
        "BAD_ARGUMENTS",
        id="long-number",
    ),
    pytest.param(b'{"id": "c6", "method": "%s"}' % (b"m" * 100_000), "c6", "UNKNOWN_ENTRY", id="long-method"),
)


@pytest.mark.parametrize(("line", "number", "code"), BAD_LINES)
def test_a_line_that_cannot_be_used_is_answered_and_the_host_goes_on(
    host: Stdio, line: bytes, number: str | None, code: str
) -> None:
    before = len(host.nameless)
    host.send(line + b"\n")
    reply = host.next_nameless(before) if number is None else host.reply(number)
    problem = error(reply)
    assert problem["code"] == code
    assert len(json.dumps(reply)) < 2000
    works(host)


def test_empty_lines_and_carriage_returns_are_no_messages(host: Stdio) -> None:
    before = len(host.nameless)
    host.send(b"\n\r\n   \n\t\n")
    host.send(b'{"id": "crlf", "method": "run.progress", "args": {"done": 1}}\r\n')
    assert result(host.reply("crlf")) == {}
    assert len(host.nameless) == before


def test_a_call_may_come_in_pieces(host: Stdio) -> None:
    for piece in (b'{"id": "pie', b'ces", "method": "run.pro', b'gress", "args": {"done": 1}}', b"\n"):
        host.send(piece)
        time.sleep(0.03)
    assert result(host.reply("pieces")) == {}


def padded(number: str, size_bytes: int) -> bytes:
    """A good call whose line has this many bytes without its newline."""
    head = b'{"id": "%s", "method": "run.progress", "args": {"done": 1' % number.encode()
    return head + b" " * (size_bytes - len(head) - 2) + b"}}"


def test_a_line_of_exactly_one_megabyte_is_read_and_one_byte_more_is_skipped(host: Stdio) -> None:
    before = len(host.nameless)
    host.send(padded("exact", MIB) + b"\n")
    assert result(host.reply("exact")) == {}
    host.send(padded("over", MIB + 1) + b"\n")
    assert error(host.next_nameless(before))["code"] == "LINE_TOO_LONG"
    assert "over" not in host.replies
    works(host)


def test_a_line_without_an_end_is_told_at_once_and_takes_no_memory(host: Stdio) -> None:
    before, before_kib = len(host.nameless), memory_kib(host.process.pid)
    for _ in range(40):
        host.send(b"x" * MIB)
    assert error(host.next_nameless(before))["code"] == "LINE_TOO_LONG"
    assert memory_kib(host.process.pid) - before_kib < 8 * 1024
    host.send(b'\n{"id": "behind", "method": "run.progress", "args": {"done": 1}}\n')
    assert result(host.reply("behind")) == {}
    assert len(host.nameless) == before + 1


def test_a_used_id_is_refused_and_the_first_call_goes_on(host: Stdio, blank: str) -> None:
    call = {"sessionId": blank, "method": "Runtime.evaluate"}
    slow = {"expression": "new Promise(ok => setTimeout(() => ok(41), 500))", "awaitPromise": True}
    for params in (slow, {"expression": "42"}):
        line = {"id": "twin", "method": "browser.cdp", "args": {**call, "params": params}}
        host.send(json.dumps(line).encode() + b"\n")
    assert error(host.reply("twin"))["code"] == "DUPLICATE_ID"
    wait_until(lambda: host.twice == ["twin"], 5.0, "the first call's own answer")
    assert result(host.replies["twin"])["result"]["result"]["value"] == 41
    host.twice.clear()  # what the module's fixture looks at
    host.send(json.dumps({"id": "twin", "method": "run.progress", "args": {"done": 1}}).encode() + b"\n")
    wait_until(lambda: host.replies["twin"]["result"] == {}, 5.0, "the id can be used again")
    host.twice.clear()


def test_a_thousand_calls_may_be_under_way_and_no_more(host: Stdio, blank: str) -> None:
    newest = host.newest(blank)
    polls = [
        host.post("browser.events", sessionId=blank, after=newest, methods=["A.b"], waitMs=20_000) for _ in range(1001)
    ]
    assert error(host.reply(polls[-1]))["code"] == "RATE_LIMITED"
    for number in polls[:-1]:
        host.send(b'{"cancel": %d}\n' % number)
    assert {error(host.reply(number))["code"] for number in polls[:-1]} == {"CANCELLED"}


# --- how it ends; each with a host of its own


def lines(output: bytes) -> list[dict[str, Any]]:
    """Standard output, which is lines of JSON and nothing else."""
    return [json.loads(line) for line in output.splitlines()]


def test_standard_input_closed_in_mid_call_answers_the_call_and_ends(place: Path) -> None:
    with Stdio(place, *GRANT) as host:
        session = host.open("about:blank")
        quick = host.post_js(session, "new Promise(ok => setTimeout(() => ok('quick'), 300))")
        never = host.post_js(session, "new Promise(() => 0)")
        start = time.monotonic()
        assert host.finish() == 0
        assert seconds(start) < 8.0
        assert result(host.replies[quick])["result"]["result"]["value"] == "quick"
        assert error(host.replies[never])["code"] == "CANCELLED"
        assert host.errors == b""
    assert list(place.glob("capsdk-*")) == []


def test_standard_input_closed_during_the_first_open_still_ends_cleanly(place: Path) -> None:
    with Stdio(place, *GRANT) as host:
        opening = host.post("browser.openSession", url="about:blank")
        assert host.finish() == 0
        assert result(host.replies[opening])["navigation"] == {"url": "about:blank"}
        assert host.errors == b""
    assert list(place.glob("capsdk-*")) == []


def test_a_reader_that_closes_standard_output_ends_the_host(place: Path) -> None:
    command = [sys.executable, "-m", "host.main", "stdio", "--ephemeral", *GRANT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=place, env=environment(place), stdin=pipe, stdout=pipe, stderr=pipe) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        host.stdin.write(b'{"id": 1, "method": "browser.openSession", "args": {"url": "about:blank"}}\n')
        host.stdin.flush()
        session = result(json.loads(host.stdout.readline()))["sessionId"]
        args = {"sessionId": session, "method": "Runtime.evaluate", "params": {"expression": "1"}}
        host.stdout.close()
        host.stdin.write(json.dumps({"id": 2, "method": "browser.cdp", "args": args}).encode() + b"\n")
        host.stdin.flush()  # and standard input stays open
        assert host.wait(8.0) == 0
        assert host.stderr is not None
        assert host.stderr.read() == b""
    assert list(place.glob("capsdk-*")) == []


CALL = b'{"id": 1, "method": "run.progress", "args": {"done": 1}}\n'


def test_input_may_be_a_regular_file(place: Path) -> None:
    calls = place / "calls.jsonl"
    calls.write_bytes(b'{"id": 1, "method": "browser.openSession", "args": {"url": "about:blank"}}\nnonsense\n')
    command = [sys.executable, "-m", "host.main", "stdio", "--ephemeral", *GRANT]
    with calls.open("rb") as given:
        done = subprocess.run(
            command, stdin=given, capture_output=True, cwd=place, env=environment(place), timeout=30, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
    by_id = {line["id"]: line for line in lines(done.stdout)}
    assert result(by_id[1])["navigation"] == {"url": "about:blank"}
    assert error(by_id[None])["code"] == "BAD_ARGUMENTS"


def test_output_may_be_a_regular_file(place: Path) -> None:
    command = [sys.executable, "-m", "host.main", "stdio", "--ephemeral", *GRANT]
    with (place / "answers.jsonl").open("wb") as taken:
        done = subprocess.run(
            command,
            input=CALL,
            stdout=taken,
            stderr=subprocess.PIPE,
            cwd=place,
            env=environment(place),
            timeout=30,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines((place / "answers.jsonl").read_bytes()) == [{"id": 1, "ok": True, "result": {}}]


ENDS = (  # all that is said, what is answered
    pytest.param(b"", [], id="nothing"),
    pytest.param(b"\n\n", [], id="empty-lines"),
    pytest.param(CALL, [{"id": 1, "ok": True, "result": {}}], id="one-call"),
    pytest.param(CALL.strip(), [{"id": 1, "ok": True, "result": {}}], id="a-last-line-without-its-newline"),
)


@pytest.mark.parametrize(("given", "answers"), ENDS)
def test_all_input_at_once_is_answered_before_the_end(place: Path, given: bytes, answers: list[dict[str, Any]]) -> None:
    done = capsdk(place, "stdio", "--ephemeral", given=given)
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines(done.stdout) == answers


def test_a_last_line_that_is_cut_off_is_answered_too(place: Path) -> None:
    done = capsdk(place, "stdio", "--ephemeral", given=b'{"id": 1, "method"')
    assert (done.returncode, done.stderr) == (0, b"")
    (only,) = lines(done.stdout)
    assert (only["id"], error(only)["code"]) == (None, "BAD_ARGUMENTS")


def test_a_reader_that_is_slow_gets_every_answer(place: Path) -> None:
    with Stdio(place, *GRANT) as host:
        session = host.open("about:blank")
        wanted = [host.post_js(session, "'x'.repeat(900000)") for _ in range(12)]
        assert {len(result(host.reply(number))["result"]["result"]["value"]) for number in wanted} == {900_000}
        assert host.finish() == 0
