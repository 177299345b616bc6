"""What `capsdk pii test` does, and what the doctor tries of the redactor. No page and no browser here."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

from capsdk.errors import InvalidArgumentError
from host.app import redactor_config
from host.core.redaction import Box, Found, Media, PictureJob, Text
from host.core.settings import Settings
from host.redact.client import HINTS, Failed, Redactor, redaction_unavailable
from host.redact.main import TRIED

MOST_CHARS = 1_000_000
TIMEOUT_S = 90.0


async def look_through(settings: Settings, text: str, hint: str) -> dict[str, Any]:
    """What is found in a text. Raises UnavailableError REDACTION_UNAVAILABLE when nothing can be looked for."""
    if len(text) > MOST_CHARS:
        raise InvalidArgumentError(
            "BAD_ARGUMENTS", f"the file has {len(text)} characters and may have {MOST_CHARS}; give a part of it"
        )
    redactor = Redactor(redactor_config(settings))
    try:
        lines = text.splitlines()
        blocks = paragraphs(lines)
        found = await redactor.find([Text("\n".join(lines[a:b]), hint) for a, b in blocks], TIMEOUT_S)
    except Failed as problem:
        raise redaction_unavailable(problem) from None
    finally:
        await redactor.close()
    return {"chars": len(text), "found": rows(lines, blocks, found)}


def paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Runs of lines with something on them: as far as an address or a name with its title goes."""
    made, start = [], None
    for number, line in enumerate([*lines, ""]):
        if line.strip() and start is None:
            start = number
        elif not line.strip() and start is not None:
            made.append((start, number))
            start = None
    return made


def rows(
    lines: Sequence[str], blocks: Sequence[tuple[int, int]], found: Sequence[Sequence[Found]]
) -> list[dict[str, Any]]:
    """One row for each finding: its line and column, both from 1, what it is, and the recognizer that found it."""
    made = []
    for (first, last), spans in zip(blocks, found, strict=True):
        text = "\n".join(lines[first:last])
        for span in spans:
            before = text[: span.start]
            line, column = first + before.count("\n") + 1, span.start - (before.rfind("\n") + 1) + 1
            words = text[span.start : span.end]
            made.append(
                {
                    "where": f"{line}:{column}",
                    "line": line,
                    "column": column,
                    "type": span.type,
                    "score": round(span.score, 2),
                    "by": span.source,
                    "text": words,
                }
            )
    return made


# --- for the doctor


async def tried(settings: Settings) -> tuple[str, str, str, str]:
    """What is said of the engine and of the OCR, each with what mends it ("" when it works)."""
    redactor = Redactor(redactor_config(settings))
    try:
        try:
            found = await redactor.find([Text(TRIED)], TIMEOUT_S)
        except Failed as problem:
            return problem.why, HINTS.get(problem.step, HINTS["module"]), "not tried", HINTS["module"]
        types = ", ".join(sorted({one.type for one in found[0]}))
        engine = ", ".join(f"{name} {version}" for name, version in redactor.about.get("versions", {}).items())
        said = f"found {types} in a trial, {redactor.about.get('rssMb', '?')} MB ({engine})"
        try:
            job = PictureJob(1.0, 64.0, 64.0, [], [Media(Box(0, 0, 64, 64), "image")], "png", 60, 1000, 1 << 20)
            done, _ = await redactor.picture(job, [spotted_png()], TIMEOUT_S)
        except Failed as problem:
            return said, "", problem.why, HINTS.get(problem.step, HINTS["ocr"])
        return said, "", f"{done.ocr}: read what it was given", ""
    finally:
        await redactor.close()


def spotted_png(side: int = 64) -> bytes:
    """A small picture with something on it, so that it is read."""
    lines = b"".join(b"\0" + bytes(0 if (x // 3 + y // 5) % 4 == 0 else 255 for x in range(side)) for y in range(side))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
