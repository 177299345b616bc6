"""How the runs of an author's mistakes end: with the right code, the place, what to do, and nothing left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from host.app import Host, open_host
from host.commands import run_on
from host.core.settings import Settings
from host.frontends.cli import RunRequest
from tests.apps.support import write_app
from tests.support.processes import children

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = "import asyncio\nfrom capsdk import Result\nasync def main(input, ctx):\n"
FIRST = 4
"""The line on which a body begins."""


def main(body: str) -> str:
    """A script that does this in its `main`."""
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


NOTHING = main("return Result.empty()")


@dataclass
class Ended:
    """How a run ended, and what its owner was told on the way."""

    envelope: dict[str, Any]
    log: list[tuple[str, str]] = field(default_factory=list)

    @property
    def error(self) -> dict[str, Any]:
        """The error it has to have ended with."""
        assert not self.envelope["ok"], self.envelope
        error: dict[str, Any] = self.envelope["error"]
        return error

    @property
    def details(self) -> dict[str, Any]:
        """The details of that error."""
        details: dict[str, Any] = self.error["details"]
        return details


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Host]:
    """One host without a browser for all runs."""
    folder = tmp_path_factory.mktemp("host")
    settings = Settings(state_dir=f"{folder}/state", cache_dir=f"{folder}/cache", profile_dir=f"{folder}/profile")
    OTHERS.update(children())
    async with open_host(settings, own_profile=True) as made:
        yield made
        assert left() == set()


OTHERS: set[int] = set()
"""Processes of other tests of this run, which are there as long as it is."""


def left() -> set[int]:
    """Processes of these tests that are still there."""
    return children() - OTHERS


async def run(host: Host, folder: Path, source: str | Mapping[str, str], more: str = "") -> Ended:
    """One run of an app of these sources."""
    sources = {"main.py": source} if isinstance(source, str) else dict(source)
    files = {name: text.encode() for name, text in sources.items()}
    app = write_app(folder / "app", capabilities=(), files=files, more=more)
    ended = Ended({})

    def tell(kind: str, data: dict[str, Any]) -> None:
        if kind == "log":
            ended.log.append((data["level"], data["message"]))

    async def this_host() -> Host:
        return host

    ended.envelope = await run_on(this_host, RunRequest(str(app), None, False, (), (), False), tell, host.places)
    return ended


SCRIPT_FAILURES = (  # source, file, line, words of the message, words of the hint
    pytest.param(main('open("/etc/passwd")'), "main.py", 4, "PermissionError: ", "`await ctx.asset(path)`", id="open"),
    pytest.param(main("import requests"), "main.py", 4, "ModuleNotFoundError: ", "ctx.browser", id="import"),
    pytest.param(
        {"main.py": "import helpers.prices\n" + NOTHING, "helpers/price.py": ""},
        "main.py",
        1,
        "helpers.prices",
        "no helpers/prices.py",
        id="missing-file-of-a-package",
    ),
    pytest.param(
        {"main.py": main("from steps import pay\npay.now({})"), "steps/pay.py": "def now(a):\n    return a['price']\n"},
        "steps/pay.py",
        2,
        "KeyError: 'price'",
        None,
        id="in-a-module",
    ),
    pytest.param(main("return )"), "main.py", 4, "SyntaxError: unmatched ')'", None, id="syntax-error"),
    pytest.param(
        {"main.py": "import recipe\n" + NOTHING, "recipe.py": "\nx = 1\nreturn x\n"},
        "recipe.py",
        3,
        "SyntaxError: 'return' outside function",
        None,
        id="syntax-error-in-a-module",
    ),
    pytest.param(
        {"main.py": "import recipe\n" + NOTHING, "recipe.py": "1 / 0\n"},
        "recipe.py",
        1,
        "ZeroDivisionError",
        None,
        id="error-while-a-module-is-imported",
    ),
    pytest.param(main("import sys\nsys.exit(3)"), "main.py", 5, "SystemExit", "return Result", id="sys-exit"),
    pytest.param(
        main("async def t(): raise SystemExit\nasyncio.create_task(t())\nawait asyncio.sleep(5)"),
        "main.py",
        4,
        "SystemExit",
        "return Result",
        id="sys-exit-in-a-task",
    ),
    pytest.param(
        main("def down(n):\n    return down(n + 1)\ndown(0)"),
        "main.py",
        5,
        "RecursionError",
        "calls itself",
        id="recursion",
    ),
    pytest.param(main("return {'a': 1}"), "main.py", 3, "main returned a dict", "Result.ok(rows)", id="dict"),
    pytest.param(main("pass"), "main.py", 3, "main returned None", "Result.ok(rows)", id="none"),
    pytest.param(main("return ctx.asset('a')"), "main.py", 3, "the coroutine asset()", "`await`", id="coroutine"),
    pytest.param(main("return Result.ok([{'a': float('nan')}])"), "main.py", 4, "row 0 is not JSON", None, id="nan"),
    pytest.param(main("return Result.ok([{'a': {1}}])"), "main.py", 4, "row 0 is not JSON", None, id="set-in-a-row"),
    pytest.param(main("return Result.ok({'a': 1})"), "main.py", 4, "row 0 is str", None, id="one-row-without-a-list"),
    pytest.param("x = 1\n", "main.py", None, "no `main`", "async def main(input, ctx)", id="no-main"),
    pytest.param("\ndef main(input, ctx): pass\n", "main.py", 2, "async", "async def main", id="main-not-async"),
    pytest.param("async def main(input, ctx): yield\n", "main.py", 1, "yields", "async def main", id="main-yields"),
    pytest.param(
        main(
            "async def fail(error): raise error\n"
            "async with asyncio.TaskGroup() as group:\n"
            "    group.create_task(fail(ValueError('a')))\n"
            "    group.create_task(fail(KeyError('b')))"
        ),
        "main.py",
        5,
        "2 errors: main.py:4: ValueError: a; main.py:4: KeyError: 'b'",
        None,
        id="several-failures-of-a-task-group",
    ),
    pytest.param(
        main("class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd"),
        "main.py",
        6,
        "Odd: Odd without a readable message",
        None,
        id="text-that-raises",
    ),
    pytest.param(
        main("class Odd(OSError):\n    @property\n    def errno(self): raise SystemExit\nraise Odd(1)"),
        "main.py",
        7,
        "Odd: ",
        None,
        id="attribute-that-raises",
    ),
    pytest.param(main("raise ValueError('\\ud800')"), "main.py", 4, "ValueError: \ud800", None, id="half-surrogate"),
    pytest.param(
        main("task = asyncio.create_task(asyncio.sleep(9))\ntask.cancel()\nawait task"),
        "main.py",
        6,
        "cancelled by the script itself",
        "asyncio.CancelledError",
        id="awaits-what-it-cancelled",
    ),
)


@pytest.mark.parametrize(("source", "file", "line", "message", "hint"), SCRIPT_FAILURES)
async def test_a_mistake_is_told_with_its_place_and_what_to_do(
    host: Host, tmp_path: Path, source: str, file: str, line: int | None, message: str, hint: str | None
) -> None:
    ended = await run(host, tmp_path, source)
    assert (ended.error["code"], ended.error["category"]) == ("SCRIPT_FAILED", "internal")
    assert (ended.details["file"], ended.details.get("line")) == (file, line)
    assert ended.error["message"].startswith(f"{file}:{line}: " if line else f"{file}: ")
    assert message in ended.error["message"]
    assert (hint in ended.error["hint"]) if hint else "hint" not in ended.error
    assert "<memory>" not in ended.details["trace"]
    assert left() == set()


async def test_the_trace_holds_the_authors_line_and_the_caret(host: Host, tmp_path: Path) -> None:
    opened = await run(host, tmp_path, main('open("/etc/passwd")'))
    assert '  File "main.py", line 4, in main\n    open("/etc/passwd")\n' in opened.details["trace"]
    broken = await run(host, tmp_path, {"main.py": "import recipe\n" + NOTHING, "recipe.py": "x = (1,\ny = 2\n"})
    assert '  File "recipe.py", line 1\n    x = (1,\n        ^\n' in broken.details["trace"]


async def test_repeated_frames_are_folded(host: Host, tmp_path: Path) -> None:
    ended = await run(host, tmp_path, main("def a(n): return b(n)\ndef b(n): return a(n)\na(0)"))
    assert ended.details["trace"].count('File "main.py"') <= 5
    assert "[Previous 2 frames repeated 4" in ended.details["trace"]


PROCESS_ENDS = (  # body of main, code, words of the message
    pytest.param("import os\nos._exit(3)", "SCRIPT_FAILED", "exit 3", id="os-exit"),
    pytest.param("import ctypes\nctypes.string_at(0)", "SCRIPT_FAILED", "SIGSEGV", id="machine-code-crashes"),
    pytest.param("import os\nos.close(3)\nwhile True: await asyncio.sleep(1)", "SCRIPT_FAILED", "without a result",
                 id="closes-its-connection"),
    pytest.param("import os\nos.write(3, b'{\"notice\": \"failed\", \"data\": {\"error\": {\"code\": []}}}\\n')\n"
                 "await asyncio.sleep(5)", "SCRIPT_FAILED", "Error", id="forges-its-failure"),
    pytest.param("import os\nos.write(3, b'{\"notice\": \"result\", \"data\": {\"state\": \"fine\"}}\\n')\n"
                 "await asyncio.sleep(5)", "SCRIPT_FAILED", "its state is none of", id="forges-its-result"),
    pytest.param("def no(self): raise SystemExit\nraise type('Odd', (Exception,), {'__class__': property(no)})",
                 "SCRIPT_FAILED", "SystemExit", id="raises-what-cannot-be-looked-at"),
    pytest.param("return Result('fine', True)", "SCRIPT_FAILED", "its state is none of", id="state-made-by-hand"),
    pytest.param("return Result('ok', True, '[]', object())", "SCRIPT_FAILED", "the Result cannot be sent",
                 id="reason-made-by-hand"),
    pytest.param("return Result('ok', True, 'rows')", "SCRIPT_FAILED", "rowsJson is not JSON", id="rows-made-by-hand"),
    pytest.param("return Result.ok([{'a': 'x' * 1_100_000}])", "RESULT_TOO_LARGE", "fewer rows", id="too-many-rows"),
)  # fmt: skip


@pytest.mark.parametrize(("body", "code", "message"), PROCESS_ENDS)
async def test_an_end_without_a_usable_result_is_told_as_one(
    host: Host, tmp_path: Path, body: str, code: str, message: str
) -> None:
    ended = await run(host, tmp_path, main(body))
    assert ended.error["code"] == code
    assert message in ended.error["message"]
    assert left() == set()


USED_UP = (  # body of main, key of the manifest, its value, whether the place is known
    pytest.param("rows = []\nwhile True: rows.append(bytearray(1 << 20))", "memory_mb", 128, True, id="memory"),
    pytest.param(
        "global rows\nrows = []\nwhile True: rows.append('x' * len(rows))", "memory_mb", 128, True,
        id="memory-held-by-the-module",
    ),
    pytest.param("rows = 'x' * 10**12", "memory_mb", 128, True, id="memory-at-once"),
    pytest.param("while True: pass", "cpu_s", 1, False, id="never-awaits"),
    pytest.param(
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", "cpu_s", 1, False,
        id="never-awaits-and-ignores-the-warning",
        marks=pytest.mark.long,
    ),
)  # fmt: skip


@pytest.mark.parametrize(("body", "key", "value", "placed"), USED_UP)
async def test_a_limit_is_named_with_its_value(
    host: Host, tmp_path: Path, body: str, key: str, value: int, placed: bool
) -> None:
    ended = await run(host, tmp_path, main(body), f"[limits]\n{key} = {value}\n")
    assert (ended.error["code"], ended.error["category"]) == ("RUN_LIMIT", "exhausted")
    assert (ended.details["what"], ended.details["limit"]) == (key, value)
    assert f"{key} in app.toml" in f"{ended.error['message']}; {ended.error.get('hint')}"
    assert (ended.details.get("file") == "main.py") is placed


WAYS = (  # how main makes a call
    pytest.param("await {}", id="awaited"),
    pytest.param("await asyncio.gather({}, asyncio.sleep(1))", id="gathered"),
    pytest.param("async with asyncio.TaskGroup() as group: group.create_task({})", id="in-a-task"),
)


@pytest.mark.parametrize("way", WAYS)
async def test_however_a_call_is_made_its_line_is_told(host: Host, tmp_path: Path, way: str) -> None:
    ended = await run(host, tmp_path, main(way.format("ctx.asset('gone.txt')")))
    assert (ended.error["code"], ended.details["line"]) == ("ASSET_NOT_FOUND", FIRST)


REFUSALS = (  # call, code
    pytest.param("ctx.asset('gone.txt')", "ASSET_NOT_FOUND", id="asset"),
    pytest.param("ctx.cap.call('browser.openSession', {'url': 'https://a.example/'})", "CAPABILITY_NOT_DECLARED",
                 id="not-declared"),
    pytest.param("ctx.cap.call('run.log', {'level': 'loud', 'message': ''})", "BAD_ARGUMENTS", id="arguments"),
    pytest.param("ctx.cap.call('no.such')", "UNKNOWN_ENTRY", id="entry"),
)  # fmt: skip


@pytest.mark.parametrize(("call", "code"), REFUSALS)
async def test_an_uncaught_refusal_keeps_its_code_and_gains_its_place(
    host: Host, tmp_path: Path, call: str, code: str
) -> None:
    ended = await run(host, tmp_path, main(f"await {call}"))
    assert ended.error["code"] == code
    assert (ended.details["file"], ended.details["line"]) == ("main.py", FIRST)


async def test_several_refusals_of_one_kind_end_the_run_as_that_kind(host: Host, tmp_path: Path) -> None:
    body = "async with asyncio.TaskGroup() as group:\n    for n in '12': group.create_task(ctx.asset(n))"
    ended = await run(host, tmp_path, main(body))
    assert (ended.error["code"], ended.details["line"]) == ("ASSET_NOT_FOUND", FIRST)


LOGGED = (  # body of main, level and message of the line, its further lines begin with
    pytest.param("print('one', 2)", "info", "one 2", id="print"),
    pytest.param("print('half \\ud800')", "info", "half \\ud800", id="half-surrogate"),
    pytest.param("import sys\nprint('odd', file=sys.stderr)", "warning", "odd", id="standard-error"),
    pytest.param("import logging\nlogging.warning('odd')", "warning", "WARNING:root:odd", id="logging"),
    pytest.param("import warnings\nwarnings.warn('odd')", "warning", "main.py:5: UserWarning: odd", id="warning"),
    pytest.param(
        "async def rows(): pass\nrows()", "warning",
        "main.py:5: RuntimeWarning: coroutine 'main.<locals>.rows' was never awaited; write `await` before the call",
        id="forgotten-await",
    ),
    pytest.param(
        "made = ctx.asset('a')\nprint(1)", "warning",
        "main.py:4: RuntimeWarning: coroutine 'Context.asset' was never awaited; write `await` before the call",
        id="forgotten-await-found-later",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("body", "level", "message"), LOGGED)
async def test_what_a_script_says_is_a_line_of_the_runs_log(
    host: Host, tmp_path: Path, body: str, level: str, message: str
) -> None:
    ended = await run(host, tmp_path, main(f"{body}\nreturn Result.empty()"))
    assert ended.envelope["ok"], ended.envelope
    assert (level, message) in ended.log


CRASHES = (  # what ends the process after the line was printed
    pytest.param("import os\nos._exit(3)", id="os-exit"),
    pytest.param("import ctypes\nctypes.string_at(0)", id="machine-code-crashes"),
)


@pytest.mark.parametrize("body", CRASHES)
async def test_what_was_printed_before_a_crash_is_told(host: Host, tmp_path: Path, body: str) -> None:
    ended = await run(host, tmp_path, main(f"print('one')\nprint('two')\n{body}"))
    assert ended.error["code"] == "SCRIPT_FAILED"
    assert ended.log == [("info", "one"), ("info", "two")]


async def test_an_error_in_a_task_nobody_awaits_is_logged_with_its_place(host: Host, tmp_path: Path) -> None:
    body = "async def t(): raise KeyError('lost')\nt = asyncio.create_task(t())\nawait asyncio.sleep(0.01)"
    ended = await run(host, tmp_path, main(f"{body}\nreturn Result.empty()"))
    assert ended.envelope["ok"]
    ((level, message),) = ended.log
    assert (level, message.splitlines()[0]) == (
        "error",
        "main.py:4: KeyError: 'lost' (Task exception was never retrieved)",
    )
