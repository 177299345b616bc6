"""Where Chromium's traffic may go: the decisions about a name and about an address; nothing is resolved here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from host.core.urls import (
    Address,
    address_reason,
    inner_name_reason,
    is_this_machine,
    literal_address,
    normal_host,
)

HOST_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}", re.ASCII)  # what can be looked up
AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[^\s/?#@:\\\[\]]{1,1024})(?::([0-9]{0,5}))?", re.ASCII)
LOCAL_NAMES = ("localhost",)  # and all below; RFC 6761, 6.3

NETWORK_KINDS = frozenset(("connection_refused", "reset", "timed_out", "unreachable"))
"""Troubles of the network; every other kind is a refusal by rule."""


@dataclass(frozen=True, slots=True)
class BackgroundHost:
    """A host that Chromium itself asks, without any page; `why` says what for."""

    name: str
    why: str


# facts/cdp.md 3 "Proxy" has the four that were seen; the others stand in the binary of Chromium 156 as services of the
# browser, and no page's author puts them into a page. What pages use too is not here: www.google.com, fonts, and
# clients6.google.com, by which the pages of Drive and others work.
BACKGROUND_HOSTS = (
    BackgroundHost("accounts.google.com", "the browser's own sign-in asks who is signed in"),
    BackgroundHost("android.clients.google.com", "registration for push messages"),
    BackgroundHost("chromereporting-pa.googleapis.com", "reports of managed browsers"),
    BackgroundHost("clients1.google.com", "certificate and time checks of old versions"),
    BackgroundHost("clients2.google.com", "updates of extensions, and the time"),
    BackgroundHost("clients3.google.com", "the test for a captive portal"),
    BackgroundHost("clients4.google.com", "synchronisation and usage reports"),
    BackgroundHost("clients5.google.com", "suggestions of the browser's own pages"),
    BackgroundHost("content-autofill.googleapis.com", "tells what the fields of forms mean, and so which are seen"),
    BackgroundHost("dl.google.com", "downloads of components"),
    BackgroundHost("edgedl.me.gvt1.com", "downloads of components"),
    BackgroundHost("fcm.googleapis.com", "push messages"),
    BackgroundHost("mtalk.google.com", "push messages"),
    BackgroundHost("optimizationguide-pa.googleapis.com", "hints and models about the pages that are seen"),
    BackgroundHost("passwordsleakcheck-pa.googleapis.com", "compares passwords with leaked ones"),
    BackgroundHost("redirector.gvt1.com", "downloads of components"),
    BackgroundHost("safebrowsing.google.com", "tells which pages are seen"),
    BackgroundHost("safebrowsing.googleapis.com", "tells which pages are seen"),
    BackgroundHost("sb-ssl.google.com", "tells which files are fetched"),
    BackgroundHost("sctauditing-pa.googleapis.com", "reports which certificates are seen"),
    BackgroundHost("update.googleapis.com", "updates of components"),
)
_BACKGROUND = {host.name: host.why for host in BACKGROUND_HOSTS}


@dataclass(frozen=True, slots=True)
class Table:
    """What the proxy judges by: the places that the owner opened (HOST:PORT), and the host's own ports."""

    open_places: frozenset[str] = frozenset()
    own_ports: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Destination:
    """A host and a port that were asked for, in one spelling; `address` is set when the host is one."""

    name: str
    port: int
    address: Address | None = None

    @property
    def place(self) -> str:
        """HOST:PORT."""
        return f"{self.name}:{self.port}"

    @property
    def local_name(self) -> bool:
        """Is it a name of this machine, which no resolver is asked for?"""
        return self.name in LOCAL_NAMES or self.name.endswith(tuple(f".{name}" for name in LOCAL_NAMES))

    @property
    def here(self) -> bool:
        """Is it this machine by its very spelling?"""
        return self.local_name if self.address is None else is_this_machine(self.address)

    @property
    def flag(self) -> str:
        """The flag by which the owner would open it."""
        return f"{'--allow-loopback' if self.here else '--allow-host'} {self.place}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`allowed`, or a `reason` in plain words; `kind` is one word, `flag` opens the `place`, "" when nothing does."""

    allowed: bool
    reason: str
    kind: str
    place: str = ""
    flag: str = ""


@lru_cache(1024)
def read_authority(text: str, default_port: int | None) -> Destination | None:
    """The destination that `HOST:PORT` of a request names; None when it names none. User info is not taken."""
    match = AUTHORITY.fullmatch(text)
    if match is None:
        return None
    port = int(match[2]) if match[2] else default_port
    name = normal_host(match[1])
    if port is None or not 0 < port < 65536 or not name:
        return None
    address = literal_address(name)
    if address is None and not HOST_NAME.fullmatch(name):
        return None
    return Destination(name, port, address)


def judge_name(wanted: Destination, table: Table) -> Verdict:
    """What can be said before a name is resolved. An address is judged, as far as the address itself tells."""
    if wanted.address is not None:
        return judge_address(wanted, wanted.address, table)
    if wanted.local_name and wanted.port in table.own_ports:
        return _own_port(wanted)
    if wanted.place in table.open_places:
        return _yes(wanted, "opened")
    if wanted.name in _BACKGROUND:
        return _no(wanted, "background", f"is asked by Chromium itself: {_BACKGROUND[wanted.name]}")
    if wanted.local_name:
        return _no(wanted, "loopback", "is this machine")
    reason = inner_name_reason(wanted.name)
    if reason:
        return _no(wanted, "inner_name", reason)
    return _yes(wanted, "public")


def judge_address(wanted: Destination, address: Address, table: Table, *, assigned: bool = False) -> Verdict:
    """May a connection for `wanted` go to this address? `assigned`: an interface of this machine has it."""
    here = is_this_machine(address)
    if wanted.port in table.own_ports and (here or assigned):
        return _own_port(wanted)
    if wanted.place in table.open_places:
        return _yes(wanted, "opened")
    named = "is" if wanted.address is not None else f"resolves to {address}, which is"
    if here:
        return _no(wanted, "loopback", f"{named} this machine")
    if assigned:
        return _no(wanted, "own_address", f"{named} an address of this machine")
    if address_reason(address):
        return _no(wanted, "inner", f"{named} a private, link-local or reserved address")
    return _yes(wanted, "public")


def ascii_place(place: str) -> str:
    """A place as it stands on the line: names of other scripts as A-labels (RFC 5891); what cannot be one stays."""
    name, _, port = place.rpartition(":")
    if name.isascii():
        return place
    try:
        return f"{name.encode('idna').decode('ascii')}:{port}"
    except UnicodeError:
        return place


def unresolved(wanted: Destination) -> Verdict:
    """The refusal of a name that has no address."""
    return Verdict(False, "has no address: the name does not resolve", "unresolved", wanted.place)


def _yes(wanted: Destination, kind: str) -> Verdict:
    return Verdict(True, "", kind, wanted.place)


def _no(wanted: Destination, kind: str, reason: str) -> Verdict:
    return Verdict(False, reason, kind, wanted.place, wanted.flag)


def _own_port(wanted: Destination) -> Verdict:
    return Verdict(False, "is a port of the host itself, which nothing opens", "own_port", wanted.place)
