"""A run that makes one call and tells when it was answered, by the clock that the whole machine shares."""

from __future__ import annotations

import time
from typing import Any

from capsdk import Result
from capsdk.context import Context


async def main(input: dict[str, Any], ctx: Context) -> Result:
    """One row: CLOCK_MONOTONIC in ns right after the first answer."""
    await ctx.cap.call("host.info")
    return Result.ok([{"answered_ns": time.monotonic_ns()}])
