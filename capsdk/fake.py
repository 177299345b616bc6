"""A stand-in for the host in an author's unit tests: scripted replies in, recorded calls out. It checks nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from capsdk import errors

Reply = Mapping[str, Any] | errors.CapError | Callable[[Mapping[str, Any]], Mapping[str, Any]]

_MAX_REAL_WAIT_S = 0.01  # a poll with nothing to give waits this long, whatever `waitMs` says


class FakeCap:
    """Use it as `Context(FakeCap(), input)`.

    `reply` scripts an entry, `cdp` a CDP method's result, `emit` adds an event to every tab. `calls` lists what the
    script asked for. Opening, closing, logging and progress answer by themselves, and so does what `tab.evaluate` asks
    before its `Runtime.evaluate`; an entry without a script is `UNKNOWN_ENTRY`.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.events: list[dict[str, Any]] = []
        self._replies: dict[str, list[Reply]] = {
            "browser.openSession": [_opened],
            "browser.closeSession": [{}],
            "browser.events": [self._poll],
            "run.log": [{}],
            "run.progress": [{}],
            "browser.cdp Page.getFrameTree": [{"frameTree": {"frame": {"id": "frame-1"}}}],
            "browser.cdp Page.createIsolatedWorld": [{"executionContextId": 1}],
        }

    def reply(self, entry: str, *replies: Reply) -> FakeCap:
        """Answer `entry` with these, in order; the last one repeats. An exception is raised, a function is asked."""
        self._replies[entry] = list(replies)
        return self

    def cdp(self, method: str, *replies: Reply) -> FakeCap:
        """Answer the CDP `method` with these raw results, in order; the last one repeats."""
        self._replies[f"browser.cdp {method}"] = list(replies)
        return self

    def emit(self, method: str, params: Mapping[str, Any], **more: Any) -> FakeCap:
        """Add an event; `more` may hold `targetSessionId`."""
        self.events.append({"seq": len(self.events) + 1, "method": method, "params": dict(params), "at": 0, **more})
        return self

    def called(self, entry: str) -> list[dict[str, Any]]:
        """The arguments of each call of `entry`, oldest first."""
        return [args for name, args in self.calls if name == entry]

    async def call(self, name: str, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What a script calls."""
        asked = dict(args or {})
        self.calls.append((name, asked))
        is_cdp = name == "browser.cdp"
        reply = self._next(f"{name} {asked.get('method')}" if is_cdp else name)
        result = reply(asked) if callable(reply) else reply
        if name == "browser.events" and not result["events"]:
            await asyncio.sleep(min(asked.get("waitMs", 0) / 1000, _MAX_REAL_WAIT_S))
        return {"result": dict(result)} if is_cdp else dict(result)

    def _next(self, key: str) -> Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]:
        replies: Sequence[Reply] = self._replies.get(key, ())
        if not replies:
            raise errors.InvalidArgumentError(
                "UNKNOWN_ENTRY", f"no reply is scripted for {key}; add one with reply or cdp"
            )
        reply = replies[0] if len(replies) == 1 else self._replies[key].pop(0)
        if isinstance(reply, errors.CapError):
            raise reply
        return reply

    def _poll(self, args: Mapping[str, Any]) -> dict[str, Any]:
        after, methods, limit = args.get("after", 0), args.get("methods"), args.get("limit", 100)
        chosen = [e for e in self.events[after:] if methods is None or e["method"] in methods][:limit]
        last = chosen[-1]["seq"] if len(chosen) == limit else len(self.events)
        return {"events": chosen, "next": last, "lost": False, "dropped": {}}


def _opened(args: Mapping[str, Any]) -> dict[str, Any]:
    return {"sessionId": "tab-1", "navigation": {"url": args["url"], "status": 200}}
