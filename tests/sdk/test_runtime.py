"""`capsdk.runtime.serve` in a process of its own, over the wire. Unlocked here: the sandbox has its own tests."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from capsdk.errors import PolicyError
from tests.sdk.fakehost import Told, run_script, worker

HEAD = "from capsdk import Result\n"


def main(body: str) -> str:
    lines = "\n".join("    " + line for line in body.splitlines())
    return f"{HEAD}async def main(input, ctx):\n{lines}\n"


def code_of(told: Told) -> Any:
    return told.data.get("code")


async def test_a_script_gets_its_input_and_its_run_and_returns_rows() -> None:
    told = await run_script(
        main(
            "assert input is ctx.input\n"
            "run = ctx.run\n"
            "return Result.ok([{'n': input['n'] + 1, 'run': [run.id, run.app, run.revision, run.tier]}])"
        ),
        input={"n": 1},
    )
    assert told.notice == "result"
    assert (told.data["state"], told.data["complete"]) == ("ok", True)
    assert json.loads(told.data["rowsJson"]) == [{"n": 2, "run": ["r1", "x", "abc", "none"]}]
    assert told.exit_status == 0


UNCAUGHT = (
    pytest.param("raise SignedOut('https://shop.example/r', 'it said so')", id="alone"),
    pytest.param(
        "async def out():\n    raise SignedOut('https://shop.example/r', 'it said so')\n"
        "async with asyncio.TaskGroup() as group:\n    group.create_task(out())",
        id="out-of-a-task-group",
    ),
)


@pytest.mark.parametrize("body", UNCAUGHT)
async def test_signed_out_left_uncaught_is_a_blocked_result_that_names_the_command(body: str) -> None:
    told = await run_script("import asyncio\nfrom capsdk import SignedOut\n" + main(body))
    assert told.notice == "result"
    assert (told.data["state"], told.data["complete"], told.data["rowsJson"]) == ("blocked", False, "[]")
    assert "`capsdk login https://shop.example/r`" in told.data["reason"]


RESULTS = (  # expression, the notice's data
    pytest.param("Result.ok([])", {"state": "ok", "complete": True, "rowsJson": "[]"}, id="ok"),
    pytest.param(
        "Result.partial([{'a': 1}], 'page 2 is gone')",
        {"state": "partial", "complete": False, "rowsJson": '[{"a":1}]', "reason": "page 2 is gone"},
        id="partial",
    ),
    pytest.param("Result.empty()", {"state": "empty", "complete": True, "rowsJson": "[]"}, id="empty"),
    pytest.param(
        "Result.blocked('sign in')",
        {"state": "blocked", "complete": False, "rowsJson": "[]", "reason": "sign in"},
        id="blocked",
    ),
    pytest.param(
        "Result.blocked('sign in', [{'a': 1}])",
        {"state": "blocked", "complete": False, "rowsJson": '[{"a":1}]', "reason": "sign in"},
        id="blocked-after-a-row",
    ),
    pytest.param("Result.of([{'a': 1}])", {"state": "ok", "complete": True, "rowsJson": '[{"a":1}]'}, id="of-all"),
    pytest.param("Result.of([])", {"state": "empty", "complete": True, "rowsJson": "[]"}, id="of-nothing"),
    pytest.param(
        "Result.of([{'a': 1}], ['b: gone'])",
        {"state": "partial", "complete": False, "rowsJson": '[{"a":1}]', "reason": "b: gone"},
        id="of-a-part",
    ),
    pytest.param(
        "Result.of([], list('abcdefg'))",
        {"state": "failed", "complete": False, "rowsJson": "[]", "reason": "a; b; c; d; e; and 2 more"},
        id="of-reasons-alone",
    ),
    pytest.param(
        "Result.failed('changed')",
        {"state": "failed", "complete": False, "rowsJson": "[]", "reason": "changed"},
        id="failed",
    ),
    pytest.param(
        "Result.ok([{'a': '\\ud800é'}])",
        {"state": "ok", "complete": True, "rowsJson": '[{"a":"\\ud800\\u00e9"}]'},
        id="half-surrogate",
    ),
)


@pytest.mark.parametrize(("expression", "data"), RESULTS)
async def test_each_state_is_told_as_it_is(expression: str, data: dict[str, Any]) -> None:
    told = await run_script(main(f"return {expression}"))
    assert (told.notice, told.data) == ("result", data)


FAILURES = (  # source, code, exception type, what is told; more of them, in a locked worker, in test_author
    pytest.param(main("return [{'a': 1}]"), "SCRIPT_FAILED", "ScriptError", "Result.ok(rows)", id="returns-a-list"),
    pytest.param(main("return Result.ok('ab')"), "SCRIPT_FAILED", "TypeError", "row 0 is str", id="rows-are-text"),
    pytest.param("async def main(): pass\n", "SCRIPT_FAILED", "ScriptError", "two arguments", id="main-takes-nothing"),
    pytest.param(main("raise ValueError('odd')"), "SCRIPT_FAILED", "ValueError", "odd", id="an-exception"),
    pytest.param("raise SystemExit\n", "SCRIPT_FAILED", "SystemExit", "return Result", id="exit-at-import"),
    pytest.param(main("raise KeyboardInterrupt"), "SCRIPT_FAILED", "KeyboardInterrupt", "Result", id="interrupt"),
    pytest.param(main("raise MemoryError"), "RUN_LIMIT", "MemoryError", "out of memory", id="memory"),
    pytest.param(
        main(
            "import asyncio\n"
            "async def t(): raise KeyError('k')\n"
            "async with asyncio.TaskGroup() as g: g.create_task(t())"
        ),
        "SCRIPT_FAILED",
        "KeyError",
        "'k'",
        id="one-failure-in-a-task-group",
    ),
    pytest.param(
        main("raise PermissionError(1, 'Operation not permitted', '/etc/passwd')"),
        "SCRIPT_FAILED",
        "PermissionError",
        "ctx.asset",
        id="kernel-refuses-a-file",
    ),
    pytest.param(
        main("raise PermissionError(1, 'Operation not permitted')"),
        "SCRIPT_FAILED",
        "PermissionError",
        "ctx.cap.call",
        id="kernel-refuses-a-socket",
    ),
    pytest.param(
        main("import socket\nraise socket.gaierror(-3, 'Temporary failure')"),
        "SCRIPT_FAILED",
        "gaierror",
        "ctx.browser",
        id="no-name-lookup",
    ),
    pytest.param(
        main('raise RuntimeError("can\'t start new thread")'),
        "SCRIPT_FAILED",
        "RuntimeError",
        "asyncio",
        id="no-threads",
    ),
)


@pytest.mark.parametrize(("source", "code", "type", "tells"), FAILURES)
async def test_each_way_to_fail_is_told_with_what_to_do(source: str, code: str, type: str, tells: str) -> None:
    told = await run_script(source)
    assert told.notice == "failed"
    assert (told.data["code"], told.data["type"]) == (code, type)
    assert tells in f"{told.data['message']}; {told.data.get('hint')}"
    assert told.exit_status == 0


async def test_an_uncaught_refusal_keeps_its_code_and_all_of_its_error() -> None:
    def refuse(method: str, args: dict[str, Any]) -> dict[str, Any]:
        raise PolicyError("BROWSER_POLICY_DENIED", "no pictures", hint="h", method=args["method"])

    told = await run_script(
        main("await ctx.cap.call('browser.cdp', {'method': 'Page.captureScreenshot'})"), answer=refuse
    )
    assert (told.notice, code_of(told), told.data["type"]) == ("failed", "BROWSER_POLICY_DENIED", "PolicyError")
    assert told.data["error"] == {
        "code": "BROWSER_POLICY_DENIED",
        "category": "policy",
        "message": "no pictures",
        "hint": "h",
        "details": {"method": "Page.captureScreenshot"},
    }


async def test_a_trace_holds_the_authors_lines_and_no_others() -> None:
    told = await run_script(
        {
            "main.py": HEAD + "from steps.login import sign_in\nasync def main(input, ctx):\n    await sign_in(ctx)\n",
            "steps/login.py": "import json\nasync def sign_in(ctx):\n    json.loads('{')  # here\n",
        }
    )
    trace = told.data["trace"]
    assert 'File "main.py", line 4, in main\n    await sign_in(ctx)\n' in trace
    assert 'File "steps/login.py", line 3, in sign_in\n    json.loads' in trace
    assert "JSONDecodeError" in trace
    assert trace.count('File "') == 2


async def test_an_endless_trace_is_shortened() -> None:
    told = await run_script(main("def a(n): return b(n + 1)\ndef b(n): return a(n + 1)\nreturn a(0)"))
    assert code_of(told) == "SCRIPT_FAILED"
    assert told.data["trace"].count('File "') <= 40


async def test_modules_packages_and_namespace_folders_are_imported_from_memory() -> None:
    told = await run_script(
        {
            "main.py": HEAD
            + "import lib, lib.part, bare.deep.leaf as leaf\nfrom lib import thing\n"
            + "async def main(input, ctx): return Result.ok([{'v': [lib.NAME, thing.NAME, lib.part.UP, leaf.NAME]}])\n",
            "lib/__init__.py": "NAME = __name__\n",
            "lib/thing.py": "NAME = __name__\n",
            "lib/part.py": "from . import NAME as UP\n",
            "bare/deep/leaf.py": "NAME = __name__\n",
        }
    )
    assert json.loads(told.data["rowsJson"]) == [{"v": ["lib", "lib.thing", "lib", "bare.deep.leaf"]}]


async def test_the_entry_may_lie_in_a_folder() -> None:
    told = await run_script({"src/main.py": main("return Result.empty()")}, entry="src/main.py")
    assert told.data["state"] == "empty"


# What the kernel says in a locked worker, said by Python here.
NO_FILES = """
import builtins, io, os, tokenize
def no(*args, **more): raise PermissionError(1, "Operation not permitted", str(args[0]))
builtins.open = io.open = os.open = os.stat = tokenize.open = no
"""


async def test_imports_and_traces_need_no_file() -> None:
    told = await run_script(
        {"main.py": main("import recipe\nrecipe.fail()"), "recipe.py": "def fail():\n    raise ValueError('x')\n"},
        before=NO_FILES,
    )
    assert told.data["type"] == "ValueError"
    assert "raise ValueError('x')" in told.data["trace"]


async def test_a_script_that_opens_a_file_is_told_of_assets() -> None:
    told = await run_script(main("open('/etc/passwd')"), before=NO_FILES)
    assert (told.data["type"], code_of(told)) == ("PermissionError", "SCRIPT_FAILED")
    assert "ctx.asset" in told.data["hint"]


async def test_print_and_log_reach_the_runs_log_in_order() -> None:
    told = await run_script(
        main(
            "import sys\n"
            "print('one', 1)\n"
            "ctx.log('two', level='warning')\n"
            "await ctx.log('three')\n"
            "print('four\\nfive')\n"
            "print('bad', file=sys.stderr)\n"
            "print('no newline', end='')\n"
            "return Result.empty()"
        )
    )
    assert told.logged == [
        ("info", "one 1"),
        ("warning", "two"),
        ("info", "three"),
        ("info", "four"),
        ("info", "five"),
        ("warning", "bad"),
        ("info", "no newline"),
    ]


async def test_a_script_that_only_logs_loses_lines_and_says_how_many() -> None:
    told = await run_script(main("for n in range(800): ctx.log(n)\nreturn Result.empty()"))
    assert [message for _, message in told.logged[:500]] == [str(n) for n in range(500)]
    assert told.logged[500:] == [("warning", "300 log lines were lost")]
    assert told.notice == "result"


async def test_a_log_message_too_long_is_cut_and_says_so() -> None:
    told = await run_script(main("ctx.log('é' * 9000)\nreturn Result.empty()"))
    (_, message), *_ = told.logged
    assert len(message.encode()) <= 8192
    assert message.endswith("(cut: a log message holds 8 KB)")


async def test_progress_keeps_the_newest_and_awaiting_is_optional() -> None:
    told = await run_script(
        main(
            "for n in range(100): ctx.progress(n, 100)\n"
            "await ctx.progress(100, 100, 'done')\n"
            "await ctx.progress(100.5)\n"
            "return Result.empty()"
        )
    )
    assert told.args_of("run.progress") == [{"done": 100, "total": 100, "message": "done"}, {"done": 100.5}]


async def test_a_host_that_refuses_logs_does_not_stop_a_script() -> None:
    def refuse(method: str, args: dict[str, Any]) -> dict[str, Any]:
        raise PolicyError("EGRESS_REFUSED", "no")

    told = await run_script(
        main("print('x')\nawait ctx.log('y')\nawait ctx.progress(1)\nreturn Result.empty()"), answer=refuse
    )
    assert (told.notice, told.data["state"]) == ("result", "empty")


async def test_a_host_that_never_answers_a_log_delays_the_end_by_a_second_only() -> None:
    told = await run_script(main("ctx.log('y')\nreturn Result.empty()"), answer=lambda method, args: None)
    assert (told.notice, told.data["state"]) == ("result", "empty")


ASSETS = (
    pytest.param({"text": "é"}, "é", id="text"),
    pytest.param({"base64": "AP8="}, b"\x00\xff", id="bytes"),
)


@pytest.mark.parametrize(("reply", "value"), ASSETS)
async def test_an_asset_is_text_or_bytes(reply: dict[str, Any], value: str | bytes) -> None:
    told = await run_script(
        main("return Result.ok([{'v': repr(await ctx.asset('a.txt'))}])"), answer=lambda method, args: reply
    )
    assert told.calls == [("app.asset", {"path": "a.txt"})]
    assert json.loads(told.data["rowsJson"]) == [{"v": repr(value)}]


async def test_an_error_in_a_task_nobody_awaits_is_logged_with_the_authors_lines() -> None:
    told = await run_script(
        main(
            "import asyncio, gc\n"
            "async def t(): raise KeyError('lost')\n"
            "task = asyncio.create_task(t())\n"
            "await asyncio.sleep(0.01)\n"
            "del task; gc.collect()\n"
            "return Result.empty()"
        )
    )
    (level, message), *_ = told.logged
    assert level == "error"
    assert "KeyError: 'lost'" in message
    assert 'File "main.py"' in message


async def cancel_after_first_call(source: str) -> Told:
    """Start a script, wait for its first call, cancel it, and return how it ended."""
    async with worker(lambda method, args: None if method == "hang" else {}) as (host, _):
        host.notice("start", entry="main.py", files={"main.py": source}, input={})
        serving = asyncio.create_task(host.serve())
        await host.called.wait()
        host.notice("cancel", reason="the owner said so")
        return await serving


async def test_a_script_that_looks_at_its_signal_may_end_by_itself() -> None:
    told = await cancel_after_first_call(
        main(
            "import asyncio\n"
            "assert not ctx.signal.cancelled and ctx.signal.reason is None\n"
            "await ctx.cap.call('x')\n"
            "await ctx.signal.wait()\n"
            "return Result.partial([], ctx.signal.reason)"
        )
    )
    assert (told.notice, told.data["reason"]) == ("result", "the owner said so")


async def test_raise_if_cancelled_ends_the_run_as_cancelled() -> None:
    told = await cancel_after_first_call(
        main(
            "import asyncio\n"
            "await ctx.cap.call('x')\n"
            "while True:\n"
            "    ctx.signal.raise_if_cancelled()\n"
            "    await asyncio.sleep(0.01)"
        )
    )
    assert (told.notice, code_of(told), told.data["type"]) == ("failed", "CANCELLED", "Aborted")


async def test_a_script_that_does_not_look_is_cancelled_and_its_finally_still_calls() -> None:
    told = await cancel_after_first_call(
        main("try:\n    await ctx.cap.call('hang')\nfinally:\n    await ctx.cap.call('browser.closeSession')")
    )
    assert (told.notice, code_of(told)) == ("failed", "CANCELLED")
    assert len(told.cancelled) == 1
    assert [method for method, _ in told.calls] == ["hang", "browser.closeSession"]


async def test_tasks_left_behind_do_not_keep_a_run_open() -> None:
    told = await run_script(
        main("import asyncio\nfor _ in range(3): asyncio.create_task(asyncio.sleep(60))\nreturn Result.empty()")
    )
    assert told.notice == "result"


STAGES = (
    pytest.param(False, id="before-start"),
    pytest.param(True, id="in-a-call"),
)


@pytest.mark.parametrize("started", STAGES)
async def test_a_worker_ends_when_its_host_is_gone(started: bool) -> None:
    async with worker(lambda method, args: None) as (host, process):
        if started:
            host.notice("start", entry="main.py", files={"main.py": main("await ctx.cap.call('hang')")}, input={})
            serving = asyncio.create_task(host.serve())
            await host.called.wait()
            serving.cancel()
        host.close()
        assert await asyncio.to_thread(process.wait, 5) == 0


async def test_a_reply_of_a_megabyte_passes() -> None:
    body = "x" * (1024 * 1024)
    told = await run_script(
        main("r = await ctx.cap.call('x')\nreturn Result.ok([{'n': len(r['result']['body'])}])"),
        answer=lambda method, args: {"result": {"body": body}},
    )
    assert json.loads(told.data["rowsJson"]) == [{"n": 1024 * 1024}]


async def test_a_hundred_calls_at_once_come_back_unmixed() -> None:
    told = await run_script(
        main(
            "import asyncio\n"
            "replies = await asyncio.gather(*(ctx.cap.call('echo', {'n': n}) for n in range(100)))\n"
            "return Result.ok(replies)"
        ),
        answer=lambda method, args: args,
    )
    assert json.loads(told.data["rowsJson"]) == [{"n": n} for n in range(100)]


OPEN = "await ctx.cap.call('browser.openSession', {'url': 'https://shop.example/'})\n"
LEFT_OPEN = (  # body of main, sessions that the host still has, what is said of them; None: they are not asked for
    pytest.param(OPEN, 1, "1 session was left open", id="one"),
    pytest.param(OPEN * 2, 2, "2 sessions were left open", id="two"),
    pytest.param(OPEN, 0, "", id="gone-by-itself"),
    pytest.param(OPEN + "await ctx.cap.call('browser.closeSession', {'sessionId': 's'})\n", 1, None, id="closed"),
    pytest.param("async with ctx.browser.session('https://shop.example/'): pass\n", 1, None, id="a-block"),
    pytest.param(OPEN + "raise ValueError\n", 1, "1 session was left open", id="left-by-an-error"),
)


@pytest.mark.parametrize(("body", "open_at_end", "said"), LEFT_OPEN)
async def test_sessions_left_open_are_told_once(body: str, open_at_end: int, said: str | None) -> None:
    def answer(method: str, args: dict[str, Any]) -> dict[str, Any]:
        if method == "browser.sessions":
            return {"sessions": [{}] * open_at_end}
        return {"sessionId": "s"} if method == "browser.openSession" else {}

    told = await run_script(main(f"{body}return Result.empty()"), answer=answer)
    assert len(told.args_of("browser.sessions")) == (said is not None)
    assert [message[: len(said or "")] for _, message in told.logged] == ([said] if said else [])
    assert told.notice == ("failed" if "ValueError" in body else "result")


async def test_a_host_that_does_not_say_which_sessions_are_open_delays_the_end_by_a_second_only() -> None:
    told = await run_script(
        main(f"{OPEN}return Result.empty()"),
        answer=lambda method, args: None if method == "browser.sessions" else {"sessionId": "s"},
    )
    assert (told.notice, told.logged) == ("result", [])
