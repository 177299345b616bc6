"""What the handlers of entries work with; `host/app.py` makes it, the dispatcher hands it to each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from host.browser.sessions import Sessions
from host.core.grants import Caller, Decision, Level
from host.core.limits import Limits
from host.core.policy import MethodRule
from host.core.run_limits import Bound
from host.dispatch.entry import Entry
from host.redact.client import Redactor
from host.sandbox.launcher import SandboxReport

Listener = Callable[[Caller, str, dict[str, Any]], None]


@dataclass(slots=True)
class LogBudget:
    """How many lines a run's log may still take; `refused` are those that came after."""

    bound: Bound
    written: int = 0
    refused: int = 0

    def take(self) -> bool:
        """One more line: may it be written?"""
        if self.written < self.bound.value:
            self.written += 1
            return True
        self.refused += 1
        return False


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run was started with: the files of its app as they were read and hashed, and its sandbox's tier.

    `log` is None for a caller whose log nobody keeps.
    """

    assets: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    tier: str | None = None
    log: LogBudget | None = None


def _nothing(caller: Caller) -> RunFacts:
    return RunFacts()


def _no_access(caller: Caller, capability: str) -> Decision:
    return Decision(Level.OFF, "unknown")


@dataclass(frozen=True, slots=True)
class Services:
    """`listen(caller, "log" or "progress", data)` hears what runs say of themselves.

    `entries` are all there are, `access` tells what a caller may do with a capability, `run_of` what it was started
    with, `redactor` finds what is private, `browser_version` what the running Chromium says of itself (empty while none
    runs), and `sandbox` what was found out about this machine when the newest worker was started (None before the
    first).
    """

    sessions: Sessions
    limits: Limits
    rules: Mapping[str, MethodRule]
    listen: Listener
    redactor: Redactor
    entries: Mapping[str, Entry] = field(default_factory=dict)
    access: Callable[[Caller, str], Decision] = _no_access
    run_of: Callable[[Caller], RunFacts] = _nothing
    browser_version: Callable[[], Mapping[str, Any]] = dict
    sandbox: Callable[[], SandboxReport | None] = lambda: None
