"""`browser.screenshot`: a picture of the caller's own tab, with bars over what is private, or none at all."""

from __future__ import annotations

import asyncio
import base64
import logging
import math
import secrets
import time
from collections.abc import Coroutine, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from capsdk.errors import CapError, InvalidArgumentError
from host.browser.session import Session
from host.browser.shot import Shot, Wanted, take
from host.core.redaction import Box, Found, PictureDone, PictureJob, Text
from host.dispatch.call import Call
from host.dispatch.dispatcher import result_bytes
from host.dispatch.entry import Args, Effect, Entry, Lane, Result
from host.entries.browser import SessionId, own_session, services
from host.redact.client import Failed, not_checked
from host.redact.failure import NotChecked

log = logging.getLogger("capsdk.screenshot")

MARGIN_S = 2.0  # of the deadline: the answer has to be out before the call is over
MIME = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}

T = TypeVar("T")
Pixels = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
Size = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]


class Clip(Args):
    """A part of the picture, in CSS pixels from its top left corner."""

    x: Pixels
    y: Pixels
    width: Size
    height: Size


class ScreenshotArgs(Args):
    """Arguments of `browser.screenshot`."""

    sessionId: SessionId
    format: Annotated[Literal["jpeg", "png", "webp"], Field(description="How the picture is encoded.")] = "jpeg"
    quality: Annotated[int, Field(ge=1, le=100, description="Of JPEG and WebP.")] = 60
    maxWidth: Annotated[int, Field(ge=16, le=4096, description="A wider picture is made smaller; in pixels.")] = 1000
    fullPage: Annotated[bool, Field(description="The whole page, and not what the window shows of it.")] = False
    clip: Annotated[Clip | None, Field(description="A part of it only, in CSS pixels.")] = None


class PixelBox(Result):
    """Where a bar is, in pixels of the picture."""

    x: int
    y: int
    width: int
    height: int


class Redaction(Result):
    """One bar: what kind of detail is under it and where that was read, never the text itself."""

    type: str
    source: str
    box: PixelBox


class Screenshot(Result):
    """Result of `browser.screenshot`: a checked picture, or `{unchanged: true}`."""

    mimeType: str | None = None
    data: str | None = None
    width: int | None = None
    height: int | None = None
    scale: float | None = None
    redactions: list[Redaction] | None = None
    checked: dict[str, Any] | None = None
    unchanged: bool | None = None


async def screenshot(call: Call) -> bytes:
    """Take, check and bar a picture. Raises as listed in the entry's errors."""
    session = call.session
    assert isinstance(session, Session)
    limits, redactor = services(call).limits, services(call).redactor
    args: ScreenshotArgs = call.args
    until_s = time.monotonic() + limits.screenshot_timeout_s - MARGIN_S
    how = args.model_dump_json(exclude={"sessionId"})
    seen = session.shown[1] if session.shown is not None and session.shown[0] == how else None

    def left_s() -> float:
        left = until_s - time.monotonic()
        if left <= 0:
            raise Failed("time", f"it took longer than {limits.screenshot_timeout_s:g} s")
        return left

    async def find(texts: Sequence[Text]) -> list[list[Found]]:
        return await redactor.find(texts, left_s())

    if (refusal := session.refusal()) is not None:
        raise refusal
    session.shown = None
    try:
        async with asyncio.timeout(left_s()):
            shot = await _unless_dialog(session, take(session, wanted(args, limits.screenshot_pixels), seen, find))
        if shot is None:
            session.shown = (how, seen or b"")
            return result_bytes({"unchanged": True})
        job = job_of(args, shot, limits.screenshot_bytes)
        done, data = await redactor.picture(job, shot.tiles, left_s())
        result = result_bytes(told(done, data, shot))
    except TimeoutError:
        raise session.refusal() or not_checked(
            "time", f"it took longer than {limits.screenshot_timeout_s:g} s"
        ) from None
    except (CapError, asyncio.CancelledError):
        raise
    except Exception as problem:
        step, why = (problem.step, problem.why) if isinstance(problem, Failed | NotChecked) else _unforeseen(problem)
        raise session.refusal() or not_checked(step, why) from None
    session.shown = (how, shot.digest)
    return result


async def _unless_dialog(session: Session, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; a dialog of the page ends it, as no answer comes behind one. Raises DIALOG_OPEN then."""
    working, standing = asyncio.ensure_future(work), asyncio.ensure_future(session.dialogs.standing.wait())
    try:
        await asyncio.wait((working, standing), return_when=asyncio.FIRST_COMPLETED)
        if not working.done() and (refusal := session.refusal()) is not None:
            raise refusal
        return await working
    finally:
        for one in (working, standing):
            one.cancel()
        await asyncio.gather(working, standing, return_exceptions=True)


def _unforeseen(problem: Exception) -> tuple[str, str]:
    """A fault of ours: the log has it, and whatever it is, no picture is sent."""
    fault = secrets.token_hex(4)
    log.error("a picture failed with %s", fault, exc_info=problem)
    return "host", f"{type(problem).__name__}, {fault} in the host's log"


def wanted(args: ScreenshotArgs, most_pixels: int) -> Wanted:
    """What the arguments ask for."""
    clip = args.clip
    box = None if clip is None else Box(clip.x, clip.y, clip.width, clip.height)
    return Wanted(args.fullPage, box, most_pixels)


def job_of(args: ScreenshotArgs, shot: Shot, most_bytes: int) -> PictureJob:
    """What the redactor has to do with a shot. Raises NotChecked for boxes that are none."""
    boxes = [mark.box for mark in shot.bars] + [region.box for region in shot.media]
    if not all(math.isfinite(number) for box in boxes for number in (box.x, box.y, box.width, box.height)):
        raise NotChecked("boxes", "the page told a place that is no number")
    return PictureJob(
        shot.scale,
        shot.width,
        shot.height,
        shot.bars,
        shot.media,
        args.format,
        args.quality,
        args.maxWidth,
        most_bytes,
    )


def told(done: PictureDone, data: bytes, shot: Shot) -> dict[str, Any]:
    """The result: boxes in pixels of the picture that is sent."""
    bars = []
    for mark in done.redactions:
        box = mark.box
        x, y, width, height = (round(value * done.scale) for value in (box.x, box.y, box.width, box.height))
        bars.append(
            {
                "type": mark.type,
                "source": mark.source,
                "box": {"x": x, "y": y, "width": width, "height": height},
            }
        )
    return {
        "mimeType": done.mime_type,
        "data": base64.b64encode(data).decode(),
        "width": done.width,
        "height": done.height,
        "scale": done.scale,
        "redactions": bars,
        "checked": {
            "texts": shot.texts,
            "media": done.media_read,
            "ocr": done.ocr,
            "secondLook": done.second_look,
        },
    }


def judge_screenshot(call: Call) -> None:
    """`quality` says nothing about PNG. Raises BAD_ARGUMENTS."""
    args: ScreenshotArgs = call.args
    if args.format == "png" and "quality" in args.model_fields_set:
        raise InvalidArgumentError("BAD_ARGUMENTS", "a PNG has no quality; leave `quality` out, or ask for jpeg")


SCREENSHOT = Entry(
    name="browser.screenshot",
    summary="Take a picture of the caller's own tab; private details are under bars, and what cannot be checked is "
    "not sent.",
    args=ScreenshotArgs,
    result=Screenshot,
    capability="browser.view",
    lane=Lane.TAB,
    effect=Effect.READ,
    timeout_s=None,  # its own
    limits=("screenshot_timeout_s", "screenshot_bytes", "screenshot_pixels"),
    errors=(
        "IMAGE_NOT_CHECKED",
        "RESULT_TOO_LARGE",
        "SESSION_CLOSED",
        "SESSION_NOT_OWNED",
        "ORIGIN_NOT_ALLOWED",
        "DIALOG_OPEN",
        "TARGET_CRASHED",
        "BROWSER_TIMEOUT",
        "BROWSER_GONE",
    ),
    example=ScreenshotArgs(sessionId="0123456789abcdef", maxWidth=800),
    handler=screenshot,
    prepare=judge_screenshot,
    owned=own_session,
)

ENTRIES = (SCREENSHOT,)
