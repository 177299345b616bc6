"""What code in a worker finds: Python and capsdk from memory, and nothing of the host's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from host.sandbox import launcher
from host.sandbox.launcher import SandboxConfig
from tests.sandbox.support import Conversation, conversation

USEFUL = (  # statements that set `result`, its text
    pytest.param("import decimal; result = decimal.Decimal('0.1') * 3", "0.3", id="decimal"),
    pytest.param("import datetime; result = datetime.date(2024, 2, 29).isoformat()", "2024-02-29", id="datetime"),
    pytest.param("import csv; result = next(csv.reader(['a;b'], delimiter=';'))", "['a', 'b']", id="csv"),
    pytest.param("import hashlib; result = hashlib.sha256(b'').hexdigest()[:8]", "e3b0c442", id="hashlib"),
    pytest.param("import html; result = html.unescape('&euro;')", "€", id="html"),
    pytest.param("import statistics; result = statistics.mean([1, 2, 3])", "2", id="statistics"),
    pytest.param("import urllib.parse as u; result = u.urlsplit('https://a.example/b').path", "/b", id="urllib"),
    pytest.param("import xml.etree.ElementTree as e; result = e.fromstring('<a>1</a>').text", "1", id="xml"),
    pytest.param("import zlib, gzip; result = gzip.decompress(gzip.compress(b'x'))", "b'x'", id="gzip"),
    pytest.param("result = b'\\x93\\xfa'.decode('shift_jis')", "日", id="shift-jis"),
    pytest.param("import dataclasses, typing, enum, uuid; result = uuid.uuid4().version", "4", id="uuid"),
    pytest.param("import random, secrets; result = len(secrets.token_hex(8))", "16", id="random"),
    pytest.param("import capsdk.errors as e; result = e.error('CANCELLED', 'x').category", "aborted", id="capsdk"),
    pytest.param("import logging; result = logging.getLogger('a').name", "a", id="logging"),
    pytest.param(
        "async def both():\n    return await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))\n"
        "result = asyncio.run(both())",
        "[1, 2]",
        id="asyncio",
    ),
    pytest.param(
        "try:\n    json.loads('[')\nexcept ValueError:\n    result = 'raw_decode' in traceback.format_exc()",
        "True",
        id="traceback-without-source",
    ),
)


@pytest.mark.parametrize(("source", "result"), USEFUL)
def test_useful_code_works_without_a_file(shared: Conversation, source: str, result: str) -> None:
    assert shared.ask(source) == {"value": result}


MISSING = (  # module, what its message has to speak of
    pytest.param("requests", "third-party", id="third-party"),
    pytest.param("pydantic", "third-party", id="third-party-of-the-host"),
    pytest.param("host", "third-party", id="the-host-itself"),
    pytest.param("ssl", "standard library", id="needs-the-network"),
    pytest.param("multiprocessing", "standard library", id="needs-processes"),
)


@pytest.mark.parametrize(("module", "word"), MISSING)
def test_an_import_that_cannot_be_had_says_why(shared: Conversation, module: str, word: str) -> None:
    outcome = shared.ask(f"importlib.import_module({module!r})")
    assert outcome["error"] == "ModuleNotFoundError"
    assert word in outcome["message"]


def test_asking_whether_a_module_exists_is_no_error(shared: Conversation) -> None:
    assert shared.ask("importlib.util.find_spec('requests')") == {"value": "None"}
    assert shared.ask("importlib.util.find_spec('colorsys').origin") == {"value": "<memory>"}


def test_a_finder_of_the_app_is_asked_before_an_import_is_refused(shared: Conversation) -> None:
    source = """
from importlib.machinery import ModuleSpec
class Finder:
    create_module = staticmethod(lambda spec: None)
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name == "own_module" else None
    def exec_module(self, module):
        module.answer = 42
finder = Finder()
sys.meta_path.append(finder)
import own_module
sys.meta_path.remove(finder)
result = own_module.answer
"""
    assert shared.ask(source) == {"value": "42"}


SURROUNDINGS = (  # expression, value
    pytest.param("dict(os.environ)", "{}", id="environment"),
    pytest.param("sys.argv", "['']", id="arguments"),
    pytest.param("sys.orig_argv", "['']", id="arguments-of-the-interpreter"),
    pytest.param("sys.path", "[]", id="import-path"),
    pytest.param("os.getcwd()", "/", id="folder"),
    pytest.param("[m for m in sys.modules if m.split('.')[0] == 'host']", "[]", id="modules-of-the-host"),
    pytest.param("os.geteuid() == 0", "False", id="uid"),
)


@pytest.mark.parametrize(("source", "value"), SURROUNDINGS)
def test_nothing_of_the_host_is_left_in_the_process(shared: Conversation, source: str, value: str) -> None:
    assert shared.ask(source) == {"value": value}


def test_the_kernel_confirms_the_lock(shared: Conversation) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in Path(f"/proc/{shared.worker.pid}/status").read_text().splitlines()
        if ":\t" in line
    )
    uid = str(launcher.default_worker_uid() or os.geteuid())
    assert status["Uid"].split() == [uid] * 4
    assert (status["NoNewPrivs"], status["Seccomp"], status["Threads"]) == ("1", "2", "1")
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    if os.geteuid() == 0:
        assert int(status["CapBnd"], 16) == 0
        assert status["Groups"].split() == []
        assert status["Gid"].split() == [uid] * 4


OPEN_DESCRIPTORS = """
found = []
for each in range(1000):
    try:
        fcntl.fcntl(each, fcntl.F_GETFD)
        found.append(each)
    except OSError as error:
        assert error.errno == errno.EBADF
result = [fd in found, len(found)]
"""


def test_descriptors_of_a_careless_host_are_gone(
    config: SandboxConfig, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with outside.open() as secret, (outside.parent / "log").open("w") as log:
        leaked = (secret.fileno(), log.fileno(), os.open("/", os.O_RDONLY))
        real = subprocess.Popen

        def careless(*arguments: Any, pass_fds: tuple[int, ...], **options: Any) -> subprocess.Popen[Any]:
            return real(*arguments, pass_fds=(*pass_fds, *leaked), **options)

        monkeypatch.setattr(subprocess, "Popen", careless)
        with conversation(config) as talk:
            assert talk.ask(OPEN_DESCRIPTORS) == {"value": "[True, 4]"}
        os.close(leaked[2])
