"""What `capsdk run` shows of a script that fails, as words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.support import write_app
from tests.support.stdio import capsdk

OPENS = 'from capsdk import Result\n\n\nasync def main(input, ctx):\n    open("/etc/passwd")\n'


def test_on_the_command_line_a_failure_is_few_lines(tmp_path: Path) -> None:
    write_app(tmp_path / "app", main=OPENS, capabilities=())
    done = capsdk(tmp_path, "run", "app", "--ephemeral")
    assert (done.returncode, done.stdout) == (1, b"")
    started, said, hint, *lines = done.stderr.decode().splitlines()
    assert started.startswith("run ")
    assert said.startswith("capsdk: SCRIPT_FAILED: main.py:5: PermissionError: ")
    assert "ctx.asset" in hint
    shown = [line for line in lines if line.strip(" ~^")]  # Python 3.13 and later underline the call as well
    assert shown == ['  File "main.py", line 5, in main', '    open("/etc/passwd")']


def test_with_json_the_same_is_one_envelope(tmp_path: Path) -> None:
    write_app(tmp_path / "app", main=OPENS, capabilities=())
    done = capsdk(tmp_path, "run", "app", "--ephemeral", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["details"]["file"], error["details"]["line"]) == ("SCRIPT_FAILED", "main.py", 5)
    assert "ctx.asset" in error["hint"]
    assert 'open("/etc/passwd")' in error["details"]["trace"]
    assert b"capsdk: " not in done.stderr
