"""The engine as a whole: its answers' shape, owners' recognizers, types switched off, odd texts, time and memory."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from host.core.redaction import EngineConfig, Found, Text
from host.redact.engine import Engine
from host.redact.recognizers.model import NameModel

OWN = """
recognizers:
  - name: Staff numbers
    supported_entity: STAFF_NO
    supported_languages:
      - language: en
      - language: es
        context: [empleado, personal]
    patterns:
      - name: staff
        regex: "\\\\bQX-\\\\d{4}\\\\b"
        score: 0.2
    context: [staff]
  - name: Code words
    supported_entity: code word
    supported_language: de
    deny_list: [Nordwind, "Blue Heron"]
  - name: Not now
    supported_entity: NEVER
    deny_list: [harmless]
    enabled: false
"""


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(EngineConfig())


@pytest.fixture(scope="module")
def own() -> Engine:
    return Engine.load(EngineConfig(OWN, frozenset(("PHONE", "HANDLE"))))


def types(engine: Engine, text: str, hint: str = "") -> set[str]:
    return {one.type for one in engine.find([Text(text, hint)])[0]}


def test_each_text_gets_its_list_in_order(engine: Engine) -> None:
    texts = [
        Text("nothing here"),
        Text("a@example.test b@example.test"),
        Text(""),
        Text("a@example.test b@example.test"),
    ]
    found = engine.find(texts)
    assert [len(finds) for finds in found] == [0, 2, 0, 2]
    assert found[1] == found[3]
    assert engine.find([]) == []


def test_a_find_says_what_where_how_sure_and_by_what(engine: Engine) -> None:
    assert engine.find([Text("Mail a@example.test")])[0] == [Found(5, 19, "EMAIL", 1.0, "email")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("staff QX-1234", "STAFF_NO", id="context-in-the-text"),
        pytest.param("Empleado QX-1234", "STAFF_NO", id="context-of-another-language"),
        pytest.param("Operation Nordwind", "CODE_WORD", id="deny-list"),
        pytest.param("the blue heron flies", "CODE_WORD", id="deny-list-any-case"),
    ],
)
def test_an_owner_adds_recognizers_in_yaml(own: Engine, engine: Engine, text: str, kind: str) -> None:
    assert kind in types(own, text)
    assert kind not in types(engine, text)


def test_an_owners_weak_pattern_needs_its_context(own: Engine) -> None:
    assert "STAFF_NO" not in types(own, "QX-1234")
    assert "STAFF_NO" in types(own, "QX-1234", "Staff")


def test_what_is_switched_off_is_not_looked_for(own: Engine, engine: Engine) -> None:
    text = "call +49 30 901820 or write a@example.test"
    assert types(engine, text) == {"PHONE", "EMAIL"}
    assert types(own, text) == {"EMAIL"}
    assert types(own, "harmless") == set()


def test_without_names_and_addresses_the_model_is_not_loaded() -> None:
    lean = Engine.load(EngineConfig("", frozenset(("PERSON", "ADDRESS"))))
    assert types(lean, "Anna Müller, Hauptstraße 5, 10115 Berlin, a@example.test") == {"EMAIL"}


MISTAKES = (  # yaml, line, key
    pytest.param("recognizers: 5", 1, "recognizers", id="no-list"),
    pytest.param("- a", 1, "recognizers", id="no-mapping"),
    pytest.param("recognizers:\n  - name: x\n    supported_entity: [", 3, "YAML", id="not-yaml"),
    pytest.param("recognizers:\n  - name: x\n    deny_list: [a]", 2, "supported_entity", id="no-entity"),
    pytest.param("recognizers:\n  - name: x\n    supported_entity: X", 2, "patterns", id="nothing-to-find"),
    pytest.param(
        "recognizers:\n  - name: x\n    supported_entity: X\n    patterns:\n      - name: p\n        regex: '('",
        6,
        "regex",
        id="regex",
    ),
    pytest.param(
        "recognizers:\n  - supported_entity: X\n    patterns:\n      - regex: a\n        score: 7",
        5,
        "score",
        id="score",
    ),
    pytest.param("recognizers:\n  - supported_entity: X\n    colour: red", 3, "colour", id="unknown-key"),
    pytest.param("recognizers:\n  - supported_entity: X\n    deny_list: a", 3, "deny_list", id="list-wanted"),
    pytest.param("recognizers:\n  - supported_entity: X\n    type: predefined", 3, "type", id="predefined"),
    pytest.param("a: &a [*a]\nrecognizers: [*b]", 2, "YAML", id="alias"),
)


@pytest.mark.parametrize(("yaml", "line", "key"), MISTAKES)
def test_a_mistake_in_the_yaml_is_named_by_line_and_key(yaml: str, line: int, key: str) -> None:
    with pytest.raises(ValueError, match=rf"^line {line}, {key}: ") as caught:
        Engine.load(EngineConfig(yaml))
    assert "\n" not in str(caught.value)


def test_no_recognizer_of_presidios_own_is_there(engine: Engine) -> None:
    """Dates, organisations, links and bank numbers fired on a third of harmless texts."""
    assert types(engine, "On 3 May 2024 Example Ltd paid 12345678 at https://example.com/a?b=1") == set()


def test_the_same_text_gets_the_same_answer_from_many_threads(engine: Engine) -> None:
    texts = [[Text(f"Ticket {n}: Ottokar Wiesengrund{n % 3}, tel. 030 9018{n:02d}")] for n in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(engine.find, texts))
    again = Engine.load(EngineConfig())
    assert [again.find(one) for one in texts] == found


def test_the_model_says_the_same_in_one_thread_and_in_two() -> None:
    folder = NameModel.installed()
    lines = [f"Yesterday Ottokar Wiesengrund met Ilse Bandt{'a' * n} at the old mill by the river." for n in range(40)]
    alone, beside = NameModel(folder, workers=1).read(lines), NameModel(folder).read(lines)
    assert {line: [one[:3] for one in said] for line, said in alone.items()} == {
        line: [one[:3] for one in said] for line, said in beside.items()
    }
    assert all(any(one.kind == "PERSON" for one in said) for said in beside.values())


def test_what_fails_in_either_thread_of_the_model_is_raised_and_no_thread_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = NameModel(NameModel.installed())
    batches = [[(line, 0, 3)] for line in range(6)]
    for bad in (0, 5):

        def chances(batch: list[tuple[int, int, int]], _encodings: object, bad: int = bad) -> list[object]:
            if batch[0][0] == bad:
                raise ValueError(f"batch {bad}")
            return list(batch)

        monkeypatch.setattr(model, "_chances", chances)
        with pytest.raises(ValueError, match=f"batch {bad}"):
            model._side_by_side(batches, [])
        assert model._side_by_side(batches[1:5], []) == batches[1:5]
    assert not [one for one in threading.enumerate() if one.name.startswith("name-model")]


ODD = (
    pytest.param("a" * 60_000, id="one-word"),
    pytest.param("1 " * 30_000, id="digits-and-spaces"),
    pytest.param("@" * 60_000, id="at-signs"),
    pytest.param("1-" * 30_000, id="digits-and-dashes"),
    pytest.param("A1b2" * 15_000, id="letters-and-digits"),
    pytest.param("account " * 6_000, id="label-after-label"),
    pytest.param("Anna Müller, " * 2_500, id="names"),
    pytest.param("12345 Berlin, " * 2_000, id="towns"),
    pytest.param("://a:" * 12_000, id="logins"),
    pytest.param("\ud800\x00\u200b😀" * 12_000, id="odd-characters"),
    pytest.param("\n" * 60_000, id="lines"),
    pytest.param("A1-" * 20_000, id="one-word-of-numbers"),
    pytest.param("Aa-Aa 12, " * 6_000, id="towns-and-numbers"),
    pytest.param("A-1 " * 8_000, id="words-of-a-letter-and-a-number"),
    pytest.param("a." * 8_000, id="letters-and-dots"),
    pytest.param(": " * 20_000, id="colons"),
)


@pytest.mark.parametrize("text", ODD)
def test_no_text_takes_more_than_linear_time(engine: Engine, text: str) -> None:
    began = time.process_time()
    found = engine.find([Text(text)])[0]
    assert (
        time.process_time() - began < 6
    )  # about 0.3 s on a quiet machine; what grew with the square took half a minute
    assert all(0 <= one.start < one.end <= len(text) for one in found)


def test_a_secret_at_the_end_of_a_very_long_line_is_found(engine: Engine) -> None:
    text = "x" * 150_000 + " lorem ipsum" * 12_000 + " oda@example.test"
    assert [text[one.start : one.end] for one in engine.find([Text(text)])[0]] == ["oda@example.test"]


ALONE = """
import re, socket, sys
def closed(*_a, **_k): raise AssertionError("network")
socket.socket.connect = closed
socket.getaddrinfo = closed
sys.path.insert(0, {path!r})
from host.core.redaction import EngineConfig, Text
from host.redact.engine import Engine
from host.redact.recognizers.model import NameModel
assert "presidio_analyzer" not in sys.modules
engine = Engine.load(EngineConfig())
for n in range(60):
    line = f"Ottokar Wiesengrund {{n}} and Anna Quillfeder{{n}} of Kirchweg {{n}}, 0911{{n:02}} Altdorf met. "
    engine.find([Text(line * 8)])
# Not ru_maxrss: that of the process that started this one lives on in it.
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.fixture(scope="module")
def alone() -> str:
    """What a process of its own without any network says of its memory."""
    run = subprocess.run(
        [sys.executable, "-c", ALONE.format(path=str(sys.path[0]))], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


def test_it_loads_and_works_without_a_network_within_its_memory(alone: str) -> None:
    assert 50 < int(alone) < 400  # MB
