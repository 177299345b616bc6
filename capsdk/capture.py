"""Which of a tab's network responses is the one that was asked for? Decided here from its events, without I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from capsdk.shortfall import LoadFailed, Redirected, Shortfall, WrongStatus

NETWORK_METHODS = (
    "Network.loadingFailed",
    "Network.loadingFinished",
    "Network.requestWillBeSent",
    "Network.responseReceived",
)

MAX_REMEMBERED = 2000
"""Requests kept for later calls of `tab.response`; the oldest is forgotten first, and counted."""


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
    left: dict[tuple[str, str], str] = field(default_factory=dict)
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
        return self.place == (wanted.origin, wanted.path) and self._is_method_of(wanted)

    def was_at(self, wanted: Wanted) -> bool:
        """Whether it went to the wanted place and was sent on from there."""
        return (wanted.origin, wanted.path) in self.left and self._is_method_of(wanted)

    def is_other_than(self, wanted: Wanted) -> bool:
        """Whether it was answered at, or sent on from, the wanted place and is not what is wanted.

        It need not have finished, and may be aborted later: a page that dislikes the status leaves the body unread.
        """
        if self.status is None:
            return False
        return self.was_at(wanted) or (self.is_at(wanted) and wanted.status not in (None, self.status))

    def _is_method_of(self, wanted: Wanted) -> bool:
        return self.method == wanted.method if wanted.method else not self.preflight

    def goes_to(self, url: str) -> None:
        """Note the address; a redirect changes it."""
        if url != self.url:
            if self.url:
                self.left[self.place] = self.url
            self.url = url
            self.place = origin_and_path(url)
            self.left.pop(self.place, None)

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
        others = []
        for exchange in self._by_id.values():
            if exchange.is_other_than(wanted):
                others.append(exchange)
            if exchange.taken or not exchange.over or not exchange.is_at(wanted) or exchange.is_other_than(wanted):
                continue
            exchange.taken = True
            for other in others:  # the page asked again and was answered well: what came before is settled
                other.taken = True
            if exchange.error_text is not None:
                raise LoadFailed(exchange.url, exchange.error_text)
            return exchange
        return None

    def other_answer(self, wanted: Wanted) -> Exchange | None:
        """The newest answer of the wanted place that is not the wanted one: another status, or sent on from there."""
        for exchange in reversed(self._by_id.values()):
            if not exchange.taken and exchange.is_other_than(wanted):
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


def shortfall_of(exchange: Exchange, wanted: Wanted) -> Shortfall:
    """What it is that came instead."""
    if exchange.is_at(wanted):
        return WrongStatus(exchange.url, exchange.status or 0)
    return Redirected(exchange.left[wanted.origin, wanted.path], exchange.url)


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
    # Chromium 156 calls a preflight "Other" here and names it only as what started it.
    started_by = (params.get("initiator") or {}).get("type")
    exchange.preflight = params.get("type") == "Preflight" or started_by == "preflight"


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
