"""What the handlers of entries work with; `host/app.py` makes it, the dispatcher hands it to each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from host.browser.sessions import Sessions
from host.core.grants import Caller
from host.core.limits import Limits
from host.core.policy import MethodRule

Listener = Callable[[Caller, str, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Services:
    """`listen(caller, "log" or "progress", data)` hears what runs say of themselves."""

    sessions: Sessions
    limits: Limits
    rules: Mapping[str, MethodRule]
    listen: Listener
