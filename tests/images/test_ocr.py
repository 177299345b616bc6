"""OCR engines: what they are given, what they must give back, and how each of their failures is said."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from host.redact import ocr, tesseract
from host.redact.failure import NotChecked
from host.redact.rapid import words_at
from host.redact.reader import Reader, Word, control_strip, lanes_of, read_checked
from host.redact.tesseract import HEAD, TesseractReader, parsed
from tests.images.drawn import font

LINES = ("Wilhelmina Oakes", "w.oakes@example.com", "4012 8888 8888 1881", "+44 7700 900461")


def strip(text: str, size: int = 27) -> Image.Image:
    picture = Image.new("L", (int(font(size).getlength(text)) + 30, size * 2), 255)
    ImageDraw.Draw(picture).text((15, size // 3), text, fill=0, font=font(size))
    return picture


def soon(seconds: float = 20) -> float:
    return time.monotonic() + seconds


@pytest.fixture(scope="module")
def reader() -> Iterator[TesseractReader]:
    made = TesseractReader()
    yield made
    made.close()


def test_each_line_is_read_by_itself_and_in_its_order(reader: TesseractReader) -> None:
    strips = [strip(text) for text in LINES]
    strips.insert(2, Image.new("L", (80, 50), 255))
    words = read_checked(reader, strips, soon())
    sure = [[word.text for word in line if word.confidence > 0.5] for line in words]
    assert [" ".join(line) for line in sure] == [*LINES[:2], "", *LINES[2:]]


def test_words_have_their_places_and_how_sure_they_are(reader: TesseractReader) -> None:
    (words,) = read_checked(reader, [strip("Wilhelmina Oakes")], soon())
    first, second = words
    assert 10 <= first.start < first.end < second.start < second.end
    assert first.end == pytest.approx(15 + font(27).getlength("Wilhelmina"), abs=6)
    assert min(first.confidence, second.confidence) > 0.8


def test_a_program_stands_by_for_the_next_picture_and_goes_with_its_reader(reader: TesseractReader) -> None:
    reader.warm()
    waiting = list(reader._standby)
    assert [process.poll() for process in waiting] == [None] * tesseract.LANES
    read_checked(reader, [strip("Oakes")], soon())
    assert waiting[-1].poll() is not None  # one program reads one picture
    assert reader._standby
    another = TesseractReader()
    another.warm()
    left = list(another._standby)
    another.close()
    another.close()
    assert all(process.poll() is not None for process in left)


def test_a_program_that_was_killed_while_it_stood_by_is_replaced(reader: TesseractReader) -> None:
    reader.warm()
    for process in reader._standby:
        process.kill()
        process.wait()
    (words,) = read_checked(reader, [strip("Wilhelmina")], soon())
    assert [word.text for word in words] == ["Wilhelmina"]


class Silent:
    """An engine that gives no words for anything."""

    name = "silent"

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        return [[] for _ in strips]

    def close(self) -> None:
        pass


class Short(Silent):
    """One that leaves a line out."""

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        return [[Word(text, 0, 9, 1.0) for text in ("Control", "reading", "4718")]]


class Raising(Silent):
    """One that breaks, and quotes the page as it does."""

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        raise RuntimeError("w.oakes@example.com")


class Hanging(Silent):
    """One that knows no deadline."""

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        time.sleep(2)
        return [[] for _ in strips]


class Repeating(Silent):
    """One that works: it gives back the line that we know for every strip."""

    def read(self, strips: Sequence[Image.Image], deadline: float) -> list[list[Word]]:
        return [[Word(text, 0, 9, 1.0) for text in ("Control", "reading", "4718")] for _ in strips]


@pytest.mark.parametrize("broken", [Silent(), Short(), Raising(), Hanging()], ids=lambda one: type(one).__name__)
def test_an_engine_that_is_silent_short_broken_or_hung_is_not_believed(broken: Reader) -> None:
    with pytest.raises(NotChecked) as refused:
        read_checked(broken, [strip("Wilhelmina")], soon(0.4))
    assert refused.value.step == "ocr"
    assert "oakes" not in str(refused.value)
    assert len(read_checked(Repeating(), [strip("Wilhelmina")], soon(0.4))) == 1  # the control


def program(folder: Path, body: str) -> dict[str, str]:
    """The settings of a `tesseract` of our own, which first does what the real one does with `--list-langs`."""
    path = folder / "tesseract"
    path.write_text(f'#!/bin/sh\ncase "$*" in *--list-langs*) echo eng; exit 0;; esac\n{body}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


FAULTS = (
    pytest.param("exit 3", id="exit-status"),
    pytest.param("kill -9 $$", id="killed"),
    pytest.param("cat >/dev/null; echo nonsense", id="nonsense"),
    pytest.param(f"cat >/dev/null; printf '{HEAD}\\n'", id="no-pages"),
    pytest.param(f"cat >/dev/null; printf '{HEAD}\\n5\\t1\\tx'", id="cut-off"),
    pytest.param(f"cat >/dev/null; printf '{HEAD}\\n5\\t1\\t1\\t1\\t1\\t1\\tNaN\\t0\\t5\\t5\\t90\\tword\\n'", id="nan"),
    pytest.param("exec sleep 30", id="hangs"),
    pytest.param("cat >/dev/null; head -c 300 /dev/urandom", id="bytes"),
)


@pytest.mark.parametrize("body", FAULTS)
def test_a_program_that_fails_is_never_a_picture_without_writing(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in program(tmp_path, body).items():
        monkeypatch.setenv(name, value)
    broken = TesseractReader()
    monkeypatch.setattr(broken, "_warm", lambda count: None)
    started = time.monotonic()
    with pytest.raises(NotChecked) as refused:
        read_checked(broken, [strip("Wilhelmina")], soon(0.5))
    broken.close()
    assert refused.value.step == "ocr"
    assert time.monotonic() - started < 3


def test_a_program_that_is_not_there_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: TesseractReader
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotChecked) as refused:
        TesseractReader()
    assert "apt-get install tesseract-ocr" in refused.value.why
    made_before = TesseractReader(["eng"])
    with pytest.raises(NotChecked) as refused:
        read_checked(made_before, [strip("Wilhelmina")], soon())
    assert "apt-get install tesseract-ocr" in refused.value.why
    made_before.close()


def test_a_program_without_english_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tesseract"
    path.write_text("#!/bin/sh\necho osd\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotChecked) as refused:
        TesseractReader()
    assert "tesseract-ocr-eng" in refused.value.why


def test_the_program_gets_one_thread_and_little_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SECRET", "x")
    monkeypatch.setenv("OMP_THREAD_LIMIT", "8")
    given = tesseract.environment()
    assert given["OMP_THREAD_LIMIT"] == "1"
    assert "SOME_SECRET" not in given
    assert given["PATH"] == os.environ["PATH"]


def test_pictures_go_to_the_program_and_words_come_back_by_pipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    for name, value in program(tmp_path, f'echo "$1 $2" > {told}; wc -c >> {told}; exit 3').items():
        monkeypatch.setenv(name, value)
    made = TesseractReader()
    monkeypatch.setattr(made, "_warm", lambda count: None)
    with pytest.raises(NotChecked):
        read_checked(made, [strip("Wilhelmina")], soon())
    made.close()
    arguments, size = told.read_text().splitlines()
    assert arguments == "stdin stdout"
    assert int(size) > 1_000


def row(level: int, page: int, text: str = "") -> str:
    return "\t".join(map(str, (level, page, 1, 1, 1, 1, 10, 5, 40, 20, 95.5 if level == 5 else -1, text)))


def test_the_table_becomes_words_of_its_pages() -> None:
    out = "\n".join((HEAD, row(1, 1), row(5, 1, "Oakes"), row(5, 1, " "), row(1, 2), row(1, 3), row(5, 3, "a\u00e9")))
    words = parsed(out.encode(), 3)
    assert words == [[Word("Oakes", 10, 50, 0.955)], [], [Word("a\u00e9", 10, 50, 0.955)]]


LANES = (
    pytest.param([], 2, [[]], id="nothing"),
    pytest.param([300], 2, [[0]], id="one"),
    pytest.param([300, 200], 2, [[0, 1]], id="too-short-to-part"),
    pytest.param([1000, 900, 200], 2, [[0], [1, 2]], id="of-about-one-length"),
    pytest.param([3000], 2, [[0]], id="one-long-one"),
)


@pytest.mark.parametrize(("widths", "most", "expected"), LANES)
def test_strips_are_shared_out_by_their_length(widths: list[int], most: int, expected: list[list[int]]) -> None:
    assert lanes_of([Image.new("L", (width, 10)) for width in widths], most) == expected


PLACED = (
    pytest.param("ab cd", "abcd", [2, 4, 9, 11], [("ab", 6, 22), ("cd", 34, 50)], id="two-words"),
    pytest.param("é", "é", [3], [("é", 10, 18)], id="one-letter"),
    pytest.param("", "", [], [], id="nothing"),
    pytest.param("ab cd", "ab", [2, 4], [("ab", 6, 22)], id="fewer-letters-than-told"),
)


@pytest.mark.parametrize(("text", "letters", "columns", "expected"), PLACED)
def test_columns_of_letters_become_places_of_words(
    text: str, letters: str, columns: list[int], expected: list[tuple[str, float, float]]
) -> None:
    words = words_at(text, letters, columns, [1.0] * len(columns), 4.0)
    assert [(word.text, word.start, word.end) for word in words] == expected


def engine(name: str, module: str, problem: Exception | None = None) -> ocr.Engine:
    def make() -> Reader:
        if problem is not None:
            raise problem
        made = Repeating()
        made.name = name
        return made

    return ocr.Engine(module, make)


CHOICES = (  # engines, the name of the chosen one
    pytest.param([engine("fast", "json"), engine("usual", "csv")], "fast", id="the-first-one"),
    pytest.param([engine("fast", "no_such_module"), engine("usual", "csv")], "usual", id="the-installed-one"),
    pytest.param([engine("fast", "json", OSError("x")), engine("usual", "csv")], "usual", id="the-one-that-starts"),
    pytest.param([engine("fast", "json", NotChecked("ocr", "x")), engine("b", "csv")], "b", id="the-one-with-data"),
)


@pytest.mark.parametrize(("engines", "expected"), CHOICES)
def test_the_first_engine_that_is_installed_and_starts_is_chosen(engines: list[ocr.Engine], expected: str) -> None:
    assert ocr.choose(engines).name == expected


def test_without_any_engine_one_learns_what_to_install() -> None:
    for engines in ([], [engine("a", "no_such_module")], [engine("a", "json", ValueError("w.oakes@example.com"))]):
        with pytest.raises(NotChecked) as refused:
            ocr.choose(engines)
        assert refused.value.step == "ocr"
        assert "oakes" not in refused.value.why


def test_what_is_described_is_kept_for_the_first_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "_ready", [])
    told = ocr.described()
    kept = list(ocr._ready)
    assert len(kept) == 1
    assert told.startswith(kept[0].name)
    assert ocr.choose() is kept[0]
    kept[0].close()


@pytest.mark.parametrize("name", ["tesserocr", "rapidocr"])
def test_an_engine_in_the_process_reads_the_same_lines(name: str) -> None:
    pytest.importorskip(name, reason=f"{name} is not installed; it is optional")
    made = next(one for one in ocr.ENGINES if one.module == name).make()
    words = read_checked(made, [strip(text) for text in LINES], soon())
    made.close()
    made.close()
    assert [" ".join(word.text for word in line) for line in words] == list(LINES)


def test_the_line_that_we_know_is_drawn_with_a_font_that_is_always_there() -> None:
    assert control_strip().size[0] > 200
    assert sys.getsizeof(control_strip().tobytes()) > 1000
