"""What a run says of itself: log lines and progress."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from capsdk.errors import InvalidArgumentError
from host.dispatch.call import Call
from host.dispatch.entry import Args, Effect, Entry, Lane, Result
from host.entries.browser import services


class LogArgs(Args):
    """Arguments of `run.log`."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Field(description="How grave it is.")]
    message: Annotated[str, Field(max_length=8192, description="One message, at most 8 KB.")]


class Nothing(Result):
    """An empty result."""


def write_log(call: Call) -> None:
    """Hand one log message to who listens to the run."""
    limit, actual = services(call).limits.log_message_bytes, len(call.args.message.encode())
    if actual > limit:
        raise InvalidArgumentError(
            "BAD_ARGUMENTS",
            f"message has {actual} bytes and may have {limit}; send at most {limit}",
            limit=limit,
            actual=actual,
        )
    _take_line(call)
    services(call).listen(call.caller, "log", {"level": call.args.level, "message": call.args.message})
    call.finish(b"{}")


def _take_line(call: Call) -> None:
    """One more line. Raises ExhaustedError RUN_LIMIT when the log is full, of which the owner is told once."""
    log = services(call).run_of(call.caller).log
    if log is None or log.take():
        return
    most = log.bound.value
    if log.refused == 1:
        message = f"the log is full: further lines of this run are left out, after {most:g}"
        services(call).listen(call.caller, "log", {"level": "warning", "message": message})
    raise log.bound.over(
        f"the run has written {most:g} log lines and that is the limit; write fewer", most + log.refused
    )


LOG = Entry(
    name="run.log",
    summary="Write one message into the run's log.",
    args=LogArgs,
    result=Nothing,
    capability=None,
    lane=Lane.NONE,
    effect=Effect.WRITE,
    timeout_s=None,
    limits=("log_message_bytes", "run_log_lines"),
    errors=("RUN_LIMIT",),
    example=LogArgs(level="info", message="receipt A-100 is read"),
    handler=write_log,
    page_data=False,
)


class ProgressArgs(Args):
    """Arguments of `run.progress`."""

    done: Annotated[float, Field(ge=0, allow_inf_nan=False, description="How much is done.")]
    total: Annotated[float | None, Field(ge=0, allow_inf_nan=False, description="Of how much.")] = None
    message: Annotated[str | None, Field(max_length=500, description="What is being done.")] = None


def write_progress(call: Call) -> None:
    """Hand the run's progress to who listens to it."""
    services(call).listen(call.caller, "progress", call.args.model_dump(exclude_none=True))
    call.finish(b"{}")


PROGRESS = Entry(
    name="run.progress",
    summary="Tell how far the run is.",
    args=ProgressArgs,
    result=Nothing,
    capability=None,
    lane=Lane.NONE,
    effect=Effect.WRITE,
    timeout_s=None,
    errors=(),
    example=ProgressArgs(done=1, total=3, message="receipt A-100"),
    handler=write_progress,
    page_data=False,
)

ENTRIES = (LOG, PROGRESS)
