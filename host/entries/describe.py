"""An entry as plain data: the one source of `references/sdk/`, of `apps.describe` and of `capsdk apps describe`."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from pydantic import BaseModel

from host.core.limits import Limits
from host.dispatch.entry import Entry


def describe(entry: Entry, limits: Limits) -> dict[str, Any]:
    """Everything but who may call it: `access` depends on the caller. `limits` are the host's."""
    values = limits.public()
    return {
        "name": entry.name,
        "summary": entry.summary,
        "capability": entry.capability,
        "hints": {"effect": entry.effect.value, "lane": entry.lane.value},
        "limits": {name: values[name] for name in entry.limits},
        "errors": list(entry.errors),
        "args": copy.deepcopy(_schema(entry.args)),
        "result": copy.deepcopy(_schema(entry.result)),
        "example": entry.example.model_dump(mode="json", exclude_none=True),
    }


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()
