"""Arbitrary but well-formed parameters of CDP commands, by Chromium's own description of its protocol."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.support.protocol import commands

TEXTS = ("", "a", "1", "-1", "body", "*", "text/plain", "en-US", "AAAA", "http://127.0.0.1:1/", "\ud800", "x" * 2000)
INTEGERS = (-(2**31), -1, 0, 1, 2, 10, 100, 3000, 2**31 - 1, 2**31, 2**53)
NUMBERS = (-1e308, -1e9, -1, 0, 1e-300, 0.5, 1, 100, 2**31, 1e9, 1e308)
DEEPEST = 5


class Arbitrary:
    """Draws from `chance` only: the same seed gives the same parameters."""

    def __init__(self, protocol: Mapping[str, Any], chance: random.Random) -> None:
        self.commands = commands(protocol)
        self._chance = chance
        self._types = {
            f"{domain['domain']}.{kind['id']}": kind
            for domain in protocol["domains"]
            for kind in domain.get("types", ())
        }

    def params(self, method: str) -> dict[str, Any]:
        """Everything that is needed, and some or most of what is optional."""
        share = self._chance.choice((0.2, 0.5, 0.9))
        return self._object(self.commands[method].get("parameters", ()), method.partition(".")[0], share, 0)

    def _object(self, fields: Any, domain: str, share: float, depth: int) -> dict[str, Any]:
        wanted = (field for field in fields if not field.get("optional") or self._chance.random() < share)
        return {field["name"]: self._value(field, domain, share, depth) for field in wanted}

    def _value(self, kind: Mapping[str, Any], domain: str, share: float, depth: int) -> Any:
        if "$ref" in kind:
            name = kind["$ref"] if "." in kind["$ref"] else f"{domain}.{kind['$ref']}"
            return self._value(self._types[name], name.partition(".")[0], share, depth + 1)
        if "enum" in kind:
            return self._chance.choice(kind["enum"])
        match kind["type"]:
            case "array":
                count = 0 if depth > DEEPEST else self._chance.choice((0, 1, 1, 2, 3))
                return [self._value(kind["items"], domain, share, depth + 1) for _ in range(count)]
            case "boolean":
                return self._chance.random() < 0.5
            case "integer":
                return self._chance.choice(INTEGERS)
            case "number":
                return self._chance.choice(NUMBERS)
            case "string":
                return self._chance.choice(TEXTS)
        return {} if depth > DEEPEST else self._object(kind.get("properties", ()), domain, share, depth + 1)
