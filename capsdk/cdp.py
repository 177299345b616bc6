"""`tab.cdp`: CDP commands spelt as Python calls; spelling only, it knows no command and no type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Send = Callable[..., Awaitable[dict[str, Any]]]


class Cdp:
    """`tab.cdp.Domain.command(name=value, …)`: spelling only; every command goes through `Tab.call`."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def __getattr__(self, domain: str) -> Domain:
        if domain.startswith("_"):
            raise AttributeError(domain)
        return Domain(self._send, domain)


class Domain:
    """One domain of `tab.cdp`; `target_session_id` and `timeout_ms` are not CDP parameters but those of `Tab.call`."""

    def __init__(self, send: Send, name: str) -> None:
        self._send = send
        self._name = name

    def __getattr__(self, command: str) -> Send:
        if command.startswith("_"):
            raise AttributeError(command)

        def run(
            *, target_session_id: str | None = None, timeout_ms: int | None = None, **params: Any
        ) -> Awaitable[dict[str, Any]]:
            return self._send(
                f"{self._name}.{command}", params, target_session_id=target_session_id, timeout_ms=timeout_ms
            )

        return run
