"""What the comforts raise when a page gives less than was asked of it; what the host refuses is in `capsdk.errors`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from capsdk import errors


class Shortfall(Exception):
    """Less came than was asked for; the message says what. Catch it to go on, and end with `Result.of(rows, missing)`.

    A recipe raises it itself for an answer that is not in the observed shape.
    """


class CaptureIncomplete(Shortfall):
    """Events were lost before they were read, so what is missing cannot be told from what never happened.

    `dropped` says what, by method; `events` are the ones that this poll still had; `next` is where to read on.
    """

    def __init__(self, dropped: Mapping[str, Any], events: Sequence[Mapping[str, Any]] = (), next: int = 0) -> None:
        super().__init__(
            f"events were lost ({_counted(dropped)}); open the session with a narrower "
            'capture=["Network.*"], or read events more often'
        )
        self.dropped = dict(dropped)
        self.events = list(events)
        self.next = next


class LoadFailed(Shortfall):
    """The request that was waited for failed in the browser; `error_text` has Chromium's word for it."""

    def __init__(self, url: str, error_text: str) -> None:
        super().__init__(f"{url} could not be loaded: {error_text}; check the address, or open the page again")
        self.url = url
        self.error_text = error_text


class WrongStatus(Shortfall):
    """The answer came, with an HTTP status that was not asked for."""

    def __init__(self, url: str, status: int) -> None:
        super().__init__(f"{url} answered {status}; try again later, or look whether the address has changed")
        self.url = url
        self.status = status


class Redirected(Shortfall):
    """The request that was waited for was sent on to another place, `location`."""

    def __init__(self, url: str, location: str) -> None:
        super().__init__(f"{url} was sent on to {location}; look whether the address has changed")
        self.url = url
        self.location = location


class WrongType(Shortfall, ValueError):
    """The answer came and is not JSON."""

    def __init__(self, url: str, mime_type: str) -> None:
        super().__init__(f"{url} answered with {mime_type or 'an unnamed type'} that is not JSON; look what it shows")
        self.url = url
        self.mime_type = mime_type


class BodyMissing(Shortfall):
    """The answer came and its body cannot be read: the page has moved on, or it is over the limit of a result."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"{url} was answered and its body cannot be read: {why}")
        self.url = url


class PageThrew(Shortfall):
    """An expression raised an error in the page, or the page went away under it."""


class NotSeen(Shortfall, errors.TimeoutError):
    """No finished response within the time; the message names what was and was not seen."""


class SignedOut(Exception):
    """The page asks for a sign-in, which only its owner can do. Left uncaught it ends the run as `blocked`.

    `url` is what the owner should open, without its query; `why` is what gave it away.
    """

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"signed out: {why}; sign in with `capsdk login {url}`, then run this again")
        self.url = url
        self.why = why


def _counted(dropped: Mapping[str, Any]) -> str:
    counts = {name: of.get("count", 0) if isinstance(of, Mapping) else 0 for name, of in dropped.items()}
    return ", ".join(f"{counts[name]} {name}" for name in sorted(counts)) or "which ones is not known"
