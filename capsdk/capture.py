"""Which of a tab's network responses is the one that was asked for? Decided here from its events, without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

NETWORK_METHODS = (
    "Network.loadingFailed",
    "Network.loadingFinished",
    "Network.requestWillBeSent",
    "Network.responseReceived",
)

MAX_REMEMBERED = 2000
"""Requests kept for later calls of `tab.response`; the oldest is forgotten first, and counted."""


class CaptureIncomplete(Exception):
    """Events were lost before they were read, so what is missing cannot be told from what never happened.

    `dropped` says what, by method; `events` are the ones that this poll still had; `next` is where to read on.
    """

    def __init__(self, dropped: Mapping[str, Any], events: Sequence[Mapping[str, Any]] = (), next: int = 0) -> None:
        names = ", ".join(sorted(dropped)) or "events"
        super().__init__(
            f'{names} were lost; open the session with a narrower capture=["Network.*"], or read events more often'
        )
        self.dropped = dict(dropped)
        self.events = list(events)
        self.next = next


class LoadFailed(Exception):
    """The request that was waited for failed in the browser; `error_text` has Chromium's word for it."""

    def __init__(self, url: str, error_text: str) -> None:
        super().__init__(f"{url} could not be loaded: {error_text}; check the address, or open the page again")
        self.url = url
        self.error_text = error_text


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `tab.response` looks for. Origin and path match exactly; None means any."""

    origin: str
    path: str
    status: int | None = 200
    method: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.origin)
        if self.origin != f"{parts.scheme}://{parts.netloc}" or not parts.netloc:
            raise ValueError(f"origin is {self.origin!r}; write it as https://shop.example, without a path")
        if not self.path.startswith("/"):
            raise ValueError(f"path is {self.path!r}; it begins with / and has no query")

    def __str__(self) -> str:
        return f"{self.method or 'any method'} {self.origin}{self.path} with status {self.status or 'any'}"


@dataclass(slots=True)
class Exchange:
    """One request as its events told it so far."""

    request_id: str
    url: str = ""
    place: tuple[str, str] = ("", "")
    method: str = ""
    status: int | None = None
    mime_type: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    preflight: bool = False
    finished: bool = False
    error_text: str | None = None
    target_session_id: str | None = None
    taken: bool = False

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.finished or self.error_text is not None

    def is_at(self, wanted: Wanted) -> bool:
        """Whether it goes to the wanted place, whatever became of it."""
        fits_method = self.method == wanted.method if wanted.method else not self.preflight
        return self.place == (wanted.origin, wanted.path) and fits_method

    def goes_to(self, url: str) -> None:
        """Note the address; a redirect changes it."""
        if url != self.url:
            self.url = url
            self.place = origin_and_path(url)

    def describe(self) -> str:
        """One line for a timeout's message."""
        if self.error_text is not None:
            return f"{self.url} failed ({self.error_text})"
        if self.status is None:
            return f"{self.url} was asked for and not answered"
        return f"{self.url} answered {self.status}" + ("" if self.finished else " and did not finish")


class Exchanges:
    """All requests of one tab and its frames, fed with its events in order."""

    def __init__(self) -> None:
        self._by_id: dict[str, Exchange] = {}
        self.forgotten = 0

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take one event; those of other domains are ignored."""
        params = event.get("params")
        if event.get("method") not in NETWORK_METHODS or not isinstance(params, Mapping):
            return
        exchange = self._exchange(str(params.get("requestId", "")))
        # A frame of another process is answered on its parent's session and finishes, with its body, on its own.
        exchange.target_session_id = event.get("targetSessionId")
        _READERS[event["method"]](exchange, params)

    def take(self, wanted: Wanted) -> Exchange | None:
        """The oldest finished match, each once; None while there is none. Raises LoadFailed when a match failed."""
        for exchange in self._by_id.values():
            if exchange.taken or not exchange.over or not exchange.is_at(wanted):
                continue
            if exchange.error_text is not None:
                exchange.taken = True
                raise LoadFailed(exchange.url, exchange.error_text)
            if wanted.status is None or exchange.status == wanted.status:
                exchange.taken = True
                return exchange
        return None

    def missing(self, wanted: Wanted) -> str:
        """Why `take` has nothing: what was seen at the place, or else which other responses there were."""
        fresh = [exchange for exchange in self._by_id.values() if not exchange.taken]
        seen = [exchange.describe() for exchange in fresh if exchange.is_at(wanted)]
        if seen:
            return "seen there: " + "; ".join(seen[-3:])
        others = [exchange.describe() for exchange in fresh if exchange.url]
        return f"nothing was seen there; {len(others)} other requests" + ("".join(f"; {one}" for one in others[-3:]))

    def _exchange(self, request_id: str) -> Exchange:
        exchange = self._by_id.get(request_id)
        if exchange is None:
            if len(self._by_id) >= MAX_REMEMBERED:
                self._by_id.pop(next(iter(self._by_id)))
                self.forgotten += 1
            exchange = self._by_id[request_id] = Exchange(request_id)
        return exchange


def origin_and_path(url: str) -> tuple[str, str]:
    """`scheme://host[:port]` and the path of an http(s) URL as Chromium writes it; two empty strings for any other."""
    if not url.startswith(("http://", "https://")):
        return ("", "")
    try:
        parts = urlsplit(url)
    except ValueError:  # a page may ask for anything; what cannot be read is at no place
        return ("", "")
    return (f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path)


def _sent(exchange: Exchange, params: Mapping[str, Any]) -> None:
    request = params.get("request") or {}
    exchange.goes_to(str(request.get("url", "")))  # after a redirect the same id is sent again, to the new address
    exchange.method = str(request.get("method", ""))
    exchange.preflight = params.get("type") == "Preflight"


def _answered(exchange: Exchange, params: Mapping[str, Any]) -> None:
    response = params.get("response") or {}
    exchange.goes_to(str(response.get("url", exchange.url)))
    exchange.status = int(response.get("status", 0))
    exchange.mime_type = str(response.get("mimeType", ""))
    exchange.headers = {str(name).lower(): str(value) for name, value in (response.get("headers") or {}).items()}
    exchange.preflight = exchange.preflight or params.get("type") == "Preflight"


def _finished(exchange: Exchange, params: Mapping[str, Any]) -> None:
    exchange.finished = True


def _failed(exchange: Exchange, params: Mapping[str, Any]) -> None:
    exchange.error_text = str(params.get("errorText") or params.get("blockedReason") or "no reason given")


_READERS = {
    "Network.loadingFailed": _failed,
    "Network.loadingFinished": _finished,
    "Network.requestWillBeSent": _sent,
    "Network.responseReceived": _answered,
}
