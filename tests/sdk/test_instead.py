"""What an author is told to use instead of what the sandbox takes away; asked in a locked worker of each tier."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from capsdk import instead
from host.frontends.script_door import MAX_HINT
from host.sandbox.launcher import TIERS
from tests.sdk.locked import run_locked

ATTEMPTS = (  # name, statements of an async function, the advice; None: no error of the sandbox's, so none
    ("open", "open('/etc/passwd')", instead.FILES),
    ("open-to-write", "open('out.txt', 'w')", instead.FILES),
    ("pathlib-read", "import pathlib; pathlib.Path('/etc/passwd').read_text()", instead.FILES),
    ("pathlib-exists", "import pathlib; pathlib.Path('notes.txt').exists()", instead.FILES),
    ("os-listdir", "import os; os.listdir('.')", instead.FILES),
    ("os-stat", "import os; os.stat('/etc')", instead.FILES),
    ("log-file", "import logging; logging.FileHandler('run.log')", instead.FILES),
    ("shelve", "import shelve; shelve.open('rows')", instead.DATABASE),
    ("sqlite3", "import sqlite3", instead.DATABASE),
    ("tempfile", "import tempfile; tempfile.mkstemp()", instead.TEMPORARY),
    ("temporary-folder", "import tempfile; tempfile.TemporaryDirectory()", instead.TEMPORARY),
    ("socket", "import socket; socket.socket()", instead.NETWORK),
    ("socket-connect", "import socket; socket.create_connection(('shop.example', 80))", instead.NETWORK),
    ("socket-name", "import socket; socket.gethostbyname('shop.example')", instead.NETWORK),
    ("urllib-request", "import urllib.request; urllib.request.urlopen('http://shop.example/')", instead.NETWORK),
    ("urllib-request-tls", "import urllib.request; urllib.request.urlopen('https://shop.example/')", instead.NETWORK),
    ("http-client", "import http.client; http.client.HTTPConnection('shop.example').request('GET', '/')",
     instead.NETWORK),
    ("http-client-tls", "import http.client; http.client.HTTPSConnection('shop.example')", instead.NETWORK),
    ("http-client-tls-import", "from http.client import HTTPSConnection", instead.NETWORK),
    ("smtplib", "import smtplib; smtplib.SMTP('mail.example')", instead.NETWORK),
    ("asyncio-connection", "import asyncio; await asyncio.open_connection('shop.example', 80)", instead.NETWORK),
    ("asyncio-connection-to-an-address", "import asyncio; await asyncio.open_connection('192.0.2.1', 80)",
     instead.NETWORK),
    ("asyncio-unix", "import asyncio; await asyncio.open_unix_connection('/run/x')", instead.NETWORK),
    ("ssl", "import ssl", instead.NETWORK),
    ("requests", "import requests", instead.NETWORK),
    ("httpx-in-part", "from httpx import AsyncClient", instead.NETWORK),
    ("thread", "import threading; threading.Thread(target=print).start()", instead.THREADS),
    ("thread-pool", "from concurrent.futures import ThreadPoolExecutor as T; T().submit(print)", instead.THREADS),
    ("to-thread", "import asyncio; await asyncio.to_thread(print)", instead.THREADS),
    ("executor", "import asyncio; await asyncio.get_running_loop().run_in_executor(None, print)", instead.THREADS),
    ("subprocess", "import subprocess; subprocess.run(['ls'])", instead.PROCESSES),
    ("subprocess-output", "import subprocess; subprocess.check_output('ls', shell=True)", instead.PROCESSES),
    ("asyncio-subprocess", "import asyncio; await asyncio.create_subprocess_exec('ls')", instead.PROCESSES),
    ("os-system", "import os; os.system('ls')", instead.PROCESSES),
    ("os-popen", "import os; os.popen('ls')", instead.PROCESSES),
    ("os-fork", "import os; os.fork()", instead.PROCESSES),
    ("os-exec", "import os; os.execv('/bin/ls', ['ls'])", instead.PROCESSES),
    ("os-spawn", "import os; os.posix_spawn('/bin/ls', ['ls'], {})", instead.PROCESSES),
    ("multiprocessing", "import multiprocessing", instead.PROCESSES),
    ("process-pool", "from concurrent.futures import ProcessPoolExecutor", instead.PROCESSES),
    ("input", "input('who? ')", instead.KEYBOARD),
    ("getpass", "import getpass; getpass.getpass()", instead.KEYBOARD),
    ("environment", "import os; os.environ['HOME']", instead.ENVIRONMENT),
    ("time-zone", "import zoneinfo; zoneinfo.ZoneInfo('Europe/Berlin')", instead.TIME_ZONES),
    ("pandas", "import pandas as pd", instead.MACHINE_CODE),
    ("bs4", "from bs4 import BeautifulSoup", instead.PARSER),
    ("playwright", "from playwright.async_api import async_playwright", instead.TABS),
    ("pydantic-of-the-host", "import pydantic", instead.DATACLASSES),
    ("yaml", "import yaml", instead.SETTINGS_FILES),
    ("standard-library-else", "import curses", instead.OTHER),
    ("event-loop", "import asyncio; asyncio.run(asyncio.sleep(0))", instead.LOOP),
    ("forgotten-await", "async def rows(): return []\nlen(rows())", instead.AWAIT),
    ("forgotten-await-attribute", "async def rows(): return []\nrows().copy()", instead.AWAIT),
    ("forgotten-await-in-a-row", "async def price(): return 1\nResult.ok([{'price': price()}])", instead.AWAIT),
    ("exit", "exit(1)", instead.RETURN),
    ("own-os-error", "raise OSError('the page is odd')", None),
    ("own-file-not-found", "raise FileNotFoundError(2, 'no such receipt', 'A-100')", None),
    ("own-key-error", "{}['price']", None),
    ("own-runtime-error", "raise RuntimeError('odd')", None),
    ("own-end-of-time", "import asyncio\nasync with asyncio.timeout(0): await asyncio.sleep(1)", None),
    ("missing-part-of-the-library", "import xml.no_such_part", None),
    ("misspelled-name-in-the-library", "from json import dump_all", None),
)  # fmt: skip

APP = {"recipe.py": "", "steps/__init__.py": "", "steps/sign_in.py": "", "vendor/pytz/__init__.py": ""}
IMPORTS = (  # name, statement of a module of the app, words of the advice
    ("misspelled", "import recipee", ("recipee.py", "recipe.py is there")),
    ("misspelled-in-a-folder", "import steps.signin", ("steps/signin.py", "steps/sign_in.py is there")),
    ("missing-in-a-folder", "import steps.pay", ("steps/pay.py", "steps/pay/__init__.py")),
    ("missing-from-a-folder", "from steps import pay", ("steps/pay.py",)),
    ("part-of-what-is-missing", "from steps.pay import now", ("steps/pay.py",)),
    ("in-another-folder", "import pytz", ("vendor/pytz/__init__.py is there",)),
    ("relative-at-the-top", "from . import recipe", ("`import name`",)),
    ("neither-here-nor-there", "import leftpad", ("third-party", "leftpad.py")),
    ("the-host-itself", "import host", ("third-party", "host.py")),
)

TRIES_EACH = """
import linecache, textwrap
from capsdk import Result, failure

async def main(input, ctx):
    rows = []
    for name, statements in input["attempts"].items():
        source = "async def attempt():\\n" + textwrap.indent(statements, "    ")
        linecache.cache["attempt.py"] = (len(source), None, source.splitlines(True), "attempt.py")
        names = {"__name__": "main", "__package__": "", "Result": Result}
        exec(compile(source, "attempt.py", "exec"), names)
        try:
            await names["attempt"]()
        except BaseException as error:
            told = failure.describe(error, {"attempt.py", *input["paths"]})
            rows.append({"name": name, "hint": told.get("hint"), "file": told.get("file"), "trace": told["trace"]})
    return Result.ok(rows)
"""


@pytest.fixture(scope="module", params=TIERS)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of each attempt, all in one worker."""
    attempts = {name: statements for name, statements, _ in (*ATTEMPTS, *IMPORTS)}
    files, given = {"main.py": TRIES_EACH, **APP}, {"attempts": attempts, "paths": list(APP)}
    end = asyncio.run(run_locked(tmp_path_factory.mktemp("blob"), request.param, files, given))
    assert end.notice == "result", end.data
    return {row["name"]: row for row in json.loads(end.data["rowsJson"])}


@pytest.mark.parametrize(("name", "advice"), [pytest.param(name, advice, id=name) for name, _, advice in ATTEMPTS])
def test_each_refusal_names_what_to_use_instead(told: dict[str, Any], name: str, advice: str | None) -> None:
    row = told[name]
    assert row["hint"] == advice
    assert advice is None or len(advice) <= MAX_HINT


@pytest.mark.parametrize(("name", "words"), [pytest.param(name, words, id=name) for name, _, words in IMPORTS])
def test_a_missing_module_of_the_app_is_named_by_its_file(
    told: dict[str, Any], name: str, words: tuple[str, ...]
) -> None:
    assert [word for word in words if word not in told[name]["hint"]] == []


def test_every_attempt_is_told_with_the_authors_line_and_none_of_ours(told: dict[str, Any]) -> None:
    assert len(told) == len(ATTEMPTS) + len(IMPORTS)
    for row in told.values():
        assert row["file"] == "attempt.py"
        assert 'File "attempt.py", line ' in row["trace"]
        assert set(re.findall('File "(.*?)"', row["trace"])) == {"attempt.py"}
