"""What a script reads of its own app: the files of its folder, as they were when the run began."""

from __future__ import annotations

import base64
from typing import Annotated

from pydantic import Field

from capsdk.errors import ExhaustedError, NotFoundError
from host.dispatch.call import Call
from host.dispatch.dispatcher import result_bytes
from host.dispatch.entry import Args, Effect, Entry, Lane, Result
from host.entries.browser import services


class AssetArgs(Args):
    """Arguments of `app.asset`."""

    path: Annotated[
        str, Field(min_length=1, max_length=1024, description="A file of the app folder, such as data/words.txt.")
    ]


class Asset(Result):
    """Result of `app.asset`: `text` when the file is UTF-8, else `base64`."""

    text: str | None = None
    base64: str | None = None


def read_asset(call: Call) -> None:
    """Answer with one file. No way leads out of the folder: `path` is looked up among what was read, not on disk."""
    path, limit = call.args.path, services(call).limits.asset_bytes
    content = services(call).run_of(call.caller).assets.get(path)
    if content is None:
        raise NotFoundError(
            "ASSET_NOT_FOUND",
            f"{path[:200]!r} is no file of the app as this run began; name one by its path inside the folder, "
            "without ./ (tests, links and dotfiles are left out)",
        )
    if len(content) > limit:
        raise ExhaustedError(
            "RESULT_TOO_LARGE",
            f"the file has {len(content)} bytes and the limit is {limit}; split it into files of at most that",
            limit=limit,
            actual=len(content),
        )
    try:
        result = {"text": content.decode()}
    except UnicodeDecodeError:
        result = {"base64": base64.b64encode(content).decode("ascii")}
    call.finish(result_bytes(result))


ASSET = Entry(
    name="app.asset",
    summary="Read a file of the app's own folder, as it was when the run began.",
    args=AssetArgs,
    result=Asset,
    capability=None,
    lane=Lane.NONE,
    effect=Effect.READ,
    timeout_s=None,
    limits=("asset_bytes",),
    errors=("ASSET_NOT_FOUND", "RESULT_TOO_LARGE"),
    example=AssetArgs(path="app.toml"),
    handler=read_asset,
)

ENTRIES = (ASSET,)
