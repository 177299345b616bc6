"""What the method policy looks at is that of the connection which calls, not of the one which opened the session."""

from __future__ import annotations

from host.browser.session import Session
from host.browser.tab import Tab
from host.cdp.connection import Connection
from host.core.capture import EVERYTHING
from host.core.grants import Caller, Kind
from host.core.limits import Limits
from host.core.urls import UrlRules, places


async def test_each_connection_of_a_caller_is_judged_by_the_places_it_was_given() -> None:
    opened, closed = UrlRules(places(["127.0.0.1:8731"])), UrlRules()
    owner = Caller("x", "-", Kind.SCRIPT, "r", "app:x", urls=opened)
    tab = Tab(Connection(lambda command: None), "T", "G", "A")
    session = Session("s", owner, tab=tab, limits=Limits(), capture=EVERYTHING, by_cdp={}, new_handle=lambda: "h")
    assert session.surroundings(opened).urls.open_places == {"127.0.0.1:8731"}
    assert session.surroundings(closed).urls.open_places == frozenset()
    assert session.surroundings(closed) is session.surroundings(closed)
