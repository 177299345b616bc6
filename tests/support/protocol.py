"""Chromium's own description of its protocol against the method table: what is new, gone or changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Of the tip-of-tree protocol (npm devtools-protocol 0.0.1734725), before any Chromium that we met has them.
TIP_OF_TREE = frozenset(
    ("CSS.forcePositionTryOption", "Page.getSpellCheckCustomDictionary", "Page.setInputVisualization")
)


def commands(protocol: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """All commands of `/json/protocol`, by method."""
    return {
        f"{domain['domain']}.{command['name']}": command
        for domain in protocol["domains"]
        for command in domain.get("commands", ())
    }


def parameter_names(protocol: Mapping[str, Any], method: str) -> list[str]:
    """The parameters of one command and, with dots, what the objects in them hold."""
    types = {
        f"{domain['domain']}.{kind['id']}": kind for domain in protocol["domains"] for kind in domain.get("types", ())
    }
    domain = method.partition(".")[0]
    return sorted(_names(commands(protocol)[method].get("parameters", ()), domain, types, ()))


def _names(
    fields: Iterable[Mapping[str, Any]], domain: str, types: Mapping[str, Any], inside: tuple[str, ...]
) -> Iterable[str]:
    for field in fields:
        yield field["name"]
        reference = field.get("$ref") or field.get("items", {}).get("$ref")
        if reference is None:
            continue
        full = reference if "." in reference else f"{domain}.{reference}"
        if full in inside or full not in types:
            continue
        below = _names(types[full].get("properties", ()), full.partition(".")[0], types, (*inside, full))
        yield from (f"{field['name']}.{name}" for name in below)


def drift(protocol: Mapping[str, Any], table: Iterable[str], pinned: Mapping[str, list[str]]) -> list[str]:
    """One line for each difference, saying what to do; nothing when the table fits this Chromium.

    `table` are the methods of the method table, `pinned` the parameters that each conditional rule was written for.
    """
    there, listed = set(commands(protocol)), set(table)
    lines = [f"new: {method}: it is refused until cdp-policy.tsv has a line for it" for method in there - listed]
    for method in listed - there - TIP_OF_TREE:
        lines.append(f"gone: {method}: take its line out of cdp-policy.tsv when no supported Chromium has it")
    for method in pinned.keys() & there:
        now, then = set(parameter_names(protocol, method)), set(pinned[method])
        for sign, names in (("new", now - then), ("gone", then - now)):
            if names:
                lines.append(
                    f"changed: {method}: {sign}: {', '.join(sorted(names))}: read its rule in host/core/conditions.py "
                    "again, then put the new names into tests/core/data/conditional-params.json"
                )
    return sorted(lines)
