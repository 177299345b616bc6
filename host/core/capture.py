"""Which events a session keeps: method names or `Domain.*`, plus the few that are never left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from capsdk.errors import InvalidArgumentError

ALWAYS = frozenset(("Target.attachedToTarget", "Target.detachedFromTarget"))
PATTERN = re.compile(r"[A-Z][A-Za-z0-9]*\.(\*|[a-z][A-Za-z0-9]*)")


@dataclass(frozen=True, slots=True)
class Capture:
    """A filter over event methods; `everything` is the default one."""

    methods: frozenset[str] | None = None
    domains: frozenset[str] = frozenset()

    def keeps(self, method: str) -> bool:
        """Does the ring get this event? What it does not get has no seq and is not lost."""
        if self.methods is None or method in self.methods or method in ALWAYS:
            return True
        domain = method.partition(".")[0]
        return domain in self.domains or domain == "Host"


EVERYTHING = Capture()


def parse_capture(patterns: Iterable[str] | None) -> Capture:
    """The filter for `capture`; None keeps all. Raises InvalidArgumentError BAD_ARGUMENTS on a bad pattern."""
    if patterns is None:
        return EVERYTHING
    methods, domains = set(), set()
    for pattern in patterns:
        if not PATTERN.fullmatch(pattern):
            raise InvalidArgumentError(
                "BAD_ARGUMENTS",
                f"capture: {pattern[:80]!r} is neither `Domain.event` nor `Domain.*`",
                pattern=pattern[:80],
            )
        if pattern.endswith(".*"):
            domains.add(pattern[:-2])
        else:
            methods.add(pattern)
    return Capture(frozenset(methods), frozenset(domains))
