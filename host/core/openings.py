"""The owner's words that open a place: which flag takes which place, and what was opened with them."""

from __future__ import annotations

from collections.abc import Iterator

from capsdk.errors import InvalidArgumentError
from host.core.egress import Destination
from host.core.urls import literal_address, parse_place

LOOPBACK_FLAG, HOST_FLAG = "--allow-loopback", "--allow-host"


def opened_places(loopback: tuple[str, ...], hosts: tuple[str, ...]) -> frozenset[str]:
    """The places (HOST:PORT, in one spelling) that `--allow-loopback` and `--allow-host` open.

    Raises InvalidArgumentError BAD_ARGUMENTS for what is no place, and for a place that is the other flag's.
    """
    return frozenset(_place(flag, text) for flag, text in _words(loopback, hosts))


def opening_words(loopback: tuple[str, ...], hosts: tuple[str, ...]) -> tuple[str, ...]:
    """The owner's words as they stand in the ledger, each a flag and its place. Raises as `opened_places`."""
    return tuple(f"{flag} {_place(flag, text)}" for flag, text in _words(loopback, hosts))


def _words(loopback: tuple[str, ...], hosts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    yield from ((LOOPBACK_FLAG, text) for text in loopback)
    yield from ((HOST_FLAG, text) for text in hosts)


def _place(flag: str, text: str) -> str:
    place = parse_place(text)
    name, _, port = place.rpartition(":")
    fitting = Destination(name, int(port), literal_address(name)).flag
    if fitting != f"{flag} {place}":
        is_it = "is not" if flag == LOOPBACK_FLAG else "is"
        raise InvalidArgumentError("BAD_ARGUMENTS", f"{flag} {place}: that {is_it} this machine; use {fitting}")
    return place
