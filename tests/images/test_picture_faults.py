"""Every step of a redaction made to fail: not one byte of the picture comes out, and no word of it is told."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from host.core.redaction import Found, PictureDone, Text
from host.redact import bars, pixels, reading
from host.redact.failure import NotChecked
from host.redact.ocr import choose
from host.redact.picture import Find, redact
from host.redact.reader import CONTROL, Reader, Word
from host.redact.reading import Readings
from tests.images.drawn import Drawn, finder, nothing, opened

MAIL = "w.oakes@example.com"


class Given:
    """An engine without a program: it gives every strip the same words, and the line that we know its own."""

    name = "given"

    def __init__(self, *rounds: str) -> None:
        self.rounds = list(rounds)

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        text = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
        known = [Word(word, index * 90, index * 90 + 80, 0.9) for index, word in enumerate(CONTROL)]
        return [[Word(text, 20, strip.width - 20, 0.9)] if text else [] for strip in strips[:-1]] + [known]

    def close(self) -> None:
        pass


def canvas() -> Drawn:
    drawn = Drawn(300, 60)
    drawn.write(10, 16, f"[{MAIL}]")
    return drawn


def redacted(
    find: Find | None = None, engine: Reader | None = None, within_s: float = 20.0, **changes: Any
) -> tuple[PictureDone, bytes]:
    drawn = canvas()
    used = engine or Given(MAIL, "")
    job = drawn.job(**changes)
    return redact(job, [drawn.png()], find or finder(), lambda: used, time.monotonic() + within_s, Readings())


def refused(step: str, **settings: Any) -> NotChecked:
    started = time.monotonic()
    with pytest.raises(NotChecked) as problem:
        redacted(**settings)
    assert time.monotonic() - started < 3
    assert problem.value.step == step
    assert "oakes" not in f"{problem.value} {problem.value.why}"
    assert problem.value.__cause__ is None
    return problem.value


def test_without_a_fault_the_picture_comes_out_with_its_bar() -> None:
    done, data = redacted()
    assert [mark.type for mark in done.redactions] == ["EMAIL"]
    assert canvas().left_bare(opened(data)) == []


def raising(*_: Any, **__: Any) -> Any:
    raise RuntimeError(f"no room for {MAIL}")


def exhausting(*_: Any, **__: Any) -> Any:
    raise MemoryError(MAIL)


def hanging(*_: Any, **__: Any) -> Any:
    time.sleep(0.6)


def slow(original: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **named: Any) -> Any:
        time.sleep(0.6)
        return original(*arguments, **named)

    return run


STEPS = (  # what fails, the step that is named
    pytest.param(pixels, "decode", "decode", id="decode"),
    pytest.param(bars, "bar_rects", "bars", id="bars"),
    pytest.param(bars, "draw", "bars", id="draw"),
    pytest.param(reading, "inks_of", "ocr", id="segmentation"),
    pytest.param(reading, "strip_of", "ocr", id="strips"),
    pytest.param(pixels, "shrink", "encode", id="shrink"),
    pytest.param(pixels, "encode", "encode", id="encode"),
)


@pytest.mark.parametrize(("module", "name", "step"), STEPS)
@pytest.mark.parametrize("fault", [raising, exhausting], ids=["raises", "no-memory"])
def test_a_step_that_raises_stops_the_picture(
    module: Any, name: str, step: str, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, fault)
    refused(step)


@pytest.mark.parametrize(("module", "name", "step"), STEPS)
def test_a_step_that_is_too_slow_stops_the_picture(
    module: Any, name: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, slow(getattr(module, name)))
    refused(step, within_s=0.5)


def none_at_all(texts: Sequence[Text]) -> Any:
    return None


def too_few(texts: Sequence[Text]) -> list[list[Found]]:
    return [[]] * (len(texts) - 1)


def no_finds(texts: Sequence[Text]) -> Any:
    return [[(0, 5)] for _ in texts]


def nowhere(texts: Sequence[Text]) -> list[list[Found]]:
    return [[Found(-5, 10_000, "EMAIL", 1.0, "x")] for _ in texts]


@pytest.mark.parametrize("find", [raising, none_at_all, too_few, no_finds, exhausting])
def test_a_search_that_fails_or_gives_nonsense_stops_the_picture(find: Find) -> None:
    refused("find", find=find)


def test_a_search_that_hangs_is_left_behind() -> None:
    refused("find", find=hanging, within_s=0.4)


def test_a_find_that_reaches_out_of_its_text_covers_the_whole_text() -> None:
    rounds = iter([nowhere, nothing])
    done, data = redacted(find=lambda texts: next(rounds)(texts))
    assert [mark.type for mark in done.redactions] == ["EMAIL"]
    assert canvas().left_bare(opened(data)) == []


class Broken(Given):
    def __init__(self, fault: Callable[..., Any]) -> None:
        super().__init__("")
        self._fault = fault

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        result: list[list[Word]] = self._fault(strips, deadline)
        return result


def nan_places(strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
    known = [Word(word, 0, 9, 0.9) for word in CONTROL]
    return [[Word(MAIL, float("nan"), float("nan"), 0.9)] for _ in strips[:-1]] + [known]


ENGINES = (
    pytest.param(raising, id="raises"),
    pytest.param(lambda strips, deadline: [[] for _ in strips], id="silent"),
    pytest.param(lambda strips, deadline: [], id="nothing"),
    pytest.param(lambda strips, deadline: None, id="none"),
    pytest.param(lambda strips, deadline: time.sleep(1), id="hangs"),
    pytest.param(nan_places, id="nan-places"),
)


@pytest.mark.parametrize("fault", ENGINES)
def test_an_engine_that_fails_stops_the_picture(fault: Callable[..., Any]) -> None:
    problem = refused("ocr", engine=Broken(fault), within_s=0.5)
    assert problem.why


def test_without_an_engine_a_picture_with_media_stops_and_one_without_does_not() -> None:
    drawn = canvas()

    def missing() -> Reader:
        raise NotChecked("ocr", "no OCR engine is installed; install one with `apt-get install tesseract-ocr`")

    with pytest.raises(NotChecked) as problem:
        redact(drawn.job(), [drawn.png()], nothing, missing, time.monotonic() + 20, Readings())
    assert problem.value.step == "ocr"
    assert redact(drawn.job(media=[]), [drawn.png()], nothing, missing, time.monotonic() + 20, Readings())[1]


def test_an_engine_that_fails_only_at_the_second_look_stops_the_picture() -> None:
    class Tiring(Given):
        def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
            if not self.rounds:
                raise RuntimeError(MAIL)
            return super().read(strips, deadline)

    tiring = Tiring("mail:")  # the bar of the second half leaves the first, which is read again

    def find(texts: Sequence[Text]) -> list[list[Found]]:
        tiring.rounds = []
        return [[Found(4, 5, "EMAIL", 1.0, "x")] if text.text == "mail:" else [] for text in texts]

    refused("ocr", find=find, engine=tiring)


def test_what_is_found_twice_is_covered_twice_and_what_is_found_forever_stops_the_picture() -> None:
    def always(texts: Sequence[Text]) -> list[list[Found]]:
        return [[Found(0, 1, "PERSON", 1.0, "x")] if text.text else [] for text in texts]

    drawn = Drawn(400, 60)
    drawn.write(10, 16, "one two three four five six seven eight")
    engine = choose()
    try:
        with pytest.raises(NotChecked) as problem:
            redact(drawn.job(), [drawn.png()], always, lambda: engine, time.monotonic() + 20, Readings())
        assert problem.value.step == "second look"
        rounds = iter([always, always, nothing])
        done, _ = redact(
            drawn.job(),
            [drawn.png()],
            lambda texts: next(rounds)(texts),
            lambda: engine,
            time.monotonic() + 20,
            Readings(),
        )
        assert done.second_look == 2
        assert len(done.redactions) >= 2
    finally:
        engine.close()


WITHOUT_IMPORTS = """
import sys, time
from host.redact import ocr, picture
from tests.images.drawn import Drawn, finder
assert "pytesseract" in ocr.described()
drawn = Drawn(300, 60)
drawn.write(10, 16, "[w.oakes@example.com]")
png = drawn.png()

class Refusing:
    def find_spec(self, name, path=None, target=None):
        raise ImportError(name)

sys.meta_path.insert(0, Refusing())
for form in ("jpeg", "png", "webp"):
    job = drawn.job(format=form, max_width=200)
    done, data = picture.redact(job, [png], finder(), ocr.choose, time.monotonic() + 20, picture.Readings())
    print(done.mime_type, len(done.redactions))
"""


def test_nothing_is_imported_once_the_process_is_ready() -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", WITHOUT_IMPORTS]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    assert ended.stdout.split() == ["image/jpeg", "1", "image/png", "1", "image/webp", "1"], ended.stderr


@pytest.fixture
def unreadable() -> Drawn:
    """A line of signs in a row that no engine can read: a script that it does not know."""
    drawn = Drawn(420, 60)
    for index in range(18):
        x = 20 + index * 14
        drawn.picture.paste("#222", (x, 20, x + 2, 34))
        drawn.picture.paste("#222", (x, 26, x + 9, 28))
        drawn.picture.paste("#222", (x + 7, 22 if index % 2 else 20, x + 9, 34 if index % 3 else 32))
    return drawn


def test_writing_that_the_engine_makes_nothing_of_is_covered_whole(unreadable: Drawn) -> None:
    done, _ = redact(
        unreadable.job(), [unreadable.png()], nothing, lambda: Given(""), time.monotonic() + 20, Readings()
    )
    assert {mark.type for mark in done.redactions} == {"UNREAD"}
    (mark,) = done.redactions
    assert mark.box.width > 200
    readable = redact(
        unreadable.job(), [unreadable.png()], nothing, lambda: Given("words"), time.monotonic() + 20, Readings()
    )
    assert readable[0].redactions == []
