"""What the handlers of entries work with; `host/app.py` makes it, the dispatcher hands it to each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from host.browser.sessions import Sessions
from host.core.grants import Caller, Decision, Level
from host.core.limits import Limits
from host.core.policy import MethodRule
from host.dispatch.entry import Entry

Listener = Callable[[Caller, str, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run was started with: the files of its app as they were read and hashed, and its sandbox's tier."""

    assets: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    tier: str | None = None


def _nothing(caller: Caller) -> RunFacts:
    return RunFacts()


def _no_access(caller: Caller, capability: str) -> Decision:
    return Decision(Level.OFF, "unknown")


@dataclass(frozen=True, slots=True)
class Services:
    """`listen(caller, "log" or "progress", data)` hears what runs say of themselves.

    `entries` are all there are, `access` tells what a caller may do with a capability, `run_of` what it was started
    with, and `browser_version` what the running Chromium says of itself (empty while none runs).
    """

    sessions: Sessions
    limits: Limits
    rules: Mapping[str, MethodRule]
    listen: Listener
    entries: Mapping[str, Entry] = field(default_factory=dict)
    access: Callable[[Caller, str], Decision] = _no_access
    run_of: Callable[[Caller], RunFacts] = _nothing
    browser_version: Callable[[], Mapping[str, Any]] = dict
