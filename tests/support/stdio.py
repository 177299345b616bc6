"""Drives a real `capsdk stdio` over its pipes, as a program that uses the product would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

ROOT = Path(__file__).parents[2]
ANSWER_S = 30.0
LOADED = "document.readyState === 'complete' || new Promise(ok => addEventListener('load', () => ok(true)))"
GRANT = ("--grant", "browser.debug=allow")


def environment(folder: Path, changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment whose every folder is below `folder`, without settings of the person who runs the tests."""
    (folder / "run").mkdir(mode=0o700, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CAPSDK_", "XDG_"))}
    places = {
        "TMPDIR": str(folder),
        "XDG_CONFIG_HOME": f"{folder}/config",
        "XDG_RUNTIME_DIR": f"{folder}/run",
        "CAPSDK_CACHE_DIR": f"{folder}/cache",
        "CAPSDK_STATE_DIR": f"{folder}/state",
        "CAPSDK_PROFILE_DIR": f"{folder}/profiles/default",
    }
    return {**kept, **places, "PYTHONPATH": str(ROOT), **(changes or {})}


def opened(places: Iterable[str]) -> tuple[str, ...]:
    """The flags that open places on this machine."""
    return tuple(word for place in places for word in ("--allow-loopback", place))


def capsdk(
    folder: Path, *words: str, env: Mapping[str, str] | None = None, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run one command to its end."""
    command = [sys.executable, "-m", "host.main", *words]
    return subprocess.run(
        command, input=given, capture_output=True, cwd=folder, env=environment(folder, env), timeout=60, check=False
    )


class Stdio:
    """One running `capsdk stdio`. `replies` are the lines that came, by id; those with `id: null` are `nameless`."""

    def __init__(
        self,
        folder: Path,
        *flags: str,
        kind: str = "script",
        app: str = "x",
        ephemeral: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> None:
        ends = ("--ephemeral",) if ephemeral else ()
        self.command = [sys.executable, "-m", "host.main", "stdio", *ends, "--kind", kind, "--app", app, *flags]
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment(folder, env),
        )
        self.folder = folder
        self.replies: dict[int | str, dict[str, Any]] = {}
        self.nameless: list[dict[str, Any]] = []
        self.twice: list[int | str] = []
        self.sessions: set[str] = set()
        self.errors = b""
        self._number = 0
        self._ended = False
        self._news = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(self.process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def _read(self, lines: IO[bytes]) -> None:
        try:
            for line in lines:
                message = json.loads(line)
                with self._news:
                    number = message.get("id")
                    if number is None:
                        self.nameless.append(message)
                    else:
                        if number in self.replies:
                            self.twice.append(number)
                        self.replies[number] = message
                        self._note_session(message)
                    self._news.notify_all()
        except ValueError:
            if not lines.closed:  # a test may close the reader's end
                raise
        finally:
            with self._news:
                self._ended = True
                self._news.notify_all()

    def _note_session(self, message: dict[str, Any]) -> None:
        found = message.get("result")
        if isinstance(found, dict) and "navigation" in found:
            self.sessions.add(str(found["sessionId"]))

    def _read_errors(self, lines: IO[bytes]) -> None:
        for line in lines:
            self.errors += line

    def send(self, data: bytes) -> None:
        """Bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def post(self, entry: str, /, **args: Any) -> int:
        """Send a call and do not wait; its id."""
        self._number += 1
        self.send(json.dumps({"id": self._number, "method": entry, "args": args}).encode() + b"\n")
        return self._number

    def reply(self, number: int | str, timeout_s: float = ANSWER_S) -> dict[str, Any]:
        """The line that answers a call."""
        with self._news:
            came = self._news.wait_for(lambda: number in self.replies or self._ended, timeout_s)
            assert number in self.replies, f"no answer to {number} ({'ended' if came else 'waited'}): {self.errors!r}"
            return self.replies[number]

    def answers(self, number: int | str, timeout_s: float) -> bool:
        """Did the call get its answer in time?"""
        with self._news:
            return self._news.wait_for(lambda: number in self.replies, timeout_s)

    def next_nameless(self, before: int, timeout_s: float = ANSWER_S) -> dict[str, Any]:
        """The first line with `id: null` after the first `before` ones."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.nameless) > before, timeout_s), "no line with id null came"
            return self.nameless[before]

    def call(self, entry: str, /, **args: Any) -> dict[str, Any]:
        """One call: its whole reply."""
        return self.reply(self.post(entry, **args))

    def ok(self, entry: str, /, **args: Any) -> dict[str, Any]:
        """One call that has to succeed: its result."""
        return result(self.call(entry, **args))

    def error(self, entry: str, /, **args: Any) -> dict[str, Any]:
        """One call that has to fail: its error."""
        return error(self.call(entry, **args))

    def open(self, url: str, **args: Any) -> str:
        """A new session's id; its first page has loaded."""
        session = str(self.ok("browser.openSession", url=url, **args)["sessionId"])
        deadline = time.monotonic() + ANSWER_S
        # Asked again and again: a hostile page may have taken Promise away before it has loaded.
        while url != "about:blank" and not self.js(session, "document.readyState === 'complete'"):
            assert time.monotonic() < deadline, f"{url} does not load"
            time.sleep(0.02)
        return session

    def close(self, session: str) -> None:
        """Give a session back."""
        self.sessions.discard(session)
        assert self.ok("browser.closeSession", sessionId=session) == {}

    def post_cdp(self, session: str, method: str, params: Any = None, **args: Any) -> int:
        """Send one CDP command and do not wait; its id."""
        given = {} if params is None else {"params": params}
        return self.post("browser.cdp", sessionId=session, method=method, **given, **args)

    def cdp(self, session: str, method: str, params: Any = None, **args: Any) -> dict[str, Any]:
        """One CDP command that has to succeed: Chromium's result."""
        made: dict[str, Any] = result(self.reply(self.post_cdp(session, method, params, **args)))["result"]
        return made

    def cdp_error(self, session: str, method: str, params: Any = None, **args: Any) -> dict[str, Any]:
        """One CDP command that has to fail: the error."""
        return error(self.reply(self.post_cdp(session, method, params, **args)))

    def post_js(self, session: str, expression: str, **args: Any) -> int:
        """Start evaluating and do not wait; the call's id."""
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        return self.post_cdp(session, "Runtime.evaluate", params, **args)

    def js(self, session: str, expression: str) -> Any:
        """The value of an expression in the page."""
        return value(self.reply(self.post_js(session, expression)))

    def events(self, session: str, **args: Any) -> list[dict[str, Any]]:
        """All events that can be read now."""
        found: list[dict[str, Any]] = []
        after = args.pop("after", 0)
        while True:
            page = self.ok("browser.events", sessionId=session, after=after, **args)
            if page["next"] == after:
                return found
            found += page["events"]
            after = page["next"]

    def newest(self, session: str) -> int:
        """The newest seq of a session."""
        after = 0
        while (upto := int(self.ok("browser.events", sessionId=session, after=after, methods=[])["next"])) != after:
            after = upto
        return after

    def click(self, session: str, element: str, modifiers: int = 0) -> int:
        """Click an element by its id; the id of the call that lets the button go, which a dialog may hold up."""
        box = self.js(session, f"(({element}).getBoundingClientRect().toJSON())")
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "button": "left", "clickCount": 1}
        at["modifiers"] = modifiers
        self.cdp(session, "Input.dispatchMouseEvent", {"type": "mousePressed", **at})
        return self.post_cdp(session, "Input.dispatchMouseEvent", {"type": "mouseReleased", **at})

    def finish(self, timeout_s: float = 10.0) -> int:
        """Close standard input and wait for the end: the exit status."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        return self.wait(timeout_s)

    def wait(self, timeout_s: float = 10.0) -> int:
        """Wait for the end: the exit status; everything it wrote has been read then."""
        status = self.process.wait(timeout_s)
        for reader in self._readers:
            reader.join(5.0)
        return status

    def kill(self) -> None:
        """End it at once, as a crash would; twice is fine."""
        self.process.kill()
        self.process.wait(10.0)
        for reader in self._readers:
            reader.join(5.0)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


def result(reply: dict[str, Any]) -> dict[str, Any]:
    """The result of a reply that has to be a success."""
    assert reply["ok"], reply
    found: dict[str, Any] = reply["result"]
    return found


def error(reply: dict[str, Any]) -> dict[str, Any]:
    """The error of a reply that has to be a failure."""
    assert not reply["ok"], reply
    found: dict[str, Any] = reply["error"]
    return found


def value(reply: dict[str, Any]) -> Any:
    """The value that an evaluation gave."""
    made = result(reply)["result"]
    assert "exceptionDetails" not in made, made
    return made["result"].get("value")


def seconds(start: float) -> float:
    """Seconds since a reading of the monotonic clock."""
    return time.monotonic() - start
