"""Where the owner's window may go: the page's own place and where one signs in, for as long as it is open."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from capsdk.errors import PolicyError
from host import login
from host.app import Host, open_host
from host.browser.profile import Profile
from host.core.settings import Settings
from tests.support.site import Site

SIGN_IN = "accounts.google.com:443"


class Window:
    """A window that is closed by itself; what a page in it could reach is tried before."""

    def __init__(self, host: Host, places: tuple[str, ...]) -> None:
        self.host = host
        self.places = places
        self.refused: dict[str, str] = {}

    async def wait(self) -> None:
        self.refused = await refused(self.host, self.places)


async def refused(host: Host, places: tuple[str, ...]) -> dict[str, str]:
    """The places that a tunnel is refused to by rule, with the kind of refusal."""
    egress = host.browser.egress
    port = await egress.start()
    found = {}
    for place in places:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        status = (await reader.readline()).split()[1]
        writer.close()
        trouble = egress.explain(place)
        if status == b"403" and trouble is not None and trouble.kind != "unresolved":  # no resolver may be here
            found[place] = trouble.kind
    return found


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    async with open_host(Settings(), ephemeral=True) as made:
        yield made


def words(url: str, loopback: tuple[str, ...] = (), hosts: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a joining `capsdk login` says."""
    shown = {"x11": ":7", "wayland": "", "xauthority": "", "runtime_dir": ""}
    return {"url": url, "waitS": 0, "display": shown, "loopback": list(loopback), "hosts": list(hosts)}


async def test_a_window_reaches_its_place_and_the_sign_in_and_both_are_closed_with_it(
    host: Host, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = (site.place, site.refused, SIGN_IN, "update.googleapis.com:443")
    window = Window(host, places)

    @contextlib.asynccontextmanager
    async def open_window(config: object, profile: Profile, url: str, display: object, port: int) -> Any:
        assert port == host.browser.egress.port
        yield window

    monkeypatch.setattr(login, "open_window", open_window)
    closed = {site.place: "loopback", site.refused: "loopback", SIGN_IN: "background", places[3]: "background"}
    assert await refused(host, places) == closed
    done = await login.login_in(host, words(site.url + "/signin.html", (site.place,)), lambda kind, data: None)
    assert done["origin"] == site.url
    assert window.refused == {site.refused: "loopback", places[3]: "background"}
    assert await refused(host, places) == closed
    await host.store.flush()
    notes = [row.reason for row in await host.store.tail(50) if row.kind == "owner"]
    assert notes == [
        f"--allow-loopback {site.place}",
        f"a login window at {site.url}",
        f"the login window at {site.url}",
    ]


INNER = (  # --allow-loopback, --allow-host, URL
    pytest.param((), (), "http://127.0.0.1:9/", id="loopback"),
    pytest.param(("127.0.0.1:10",), (), "http://127.0.0.1:9/", id="another-port"),
    pytest.param((), (), "http://10.0.0.7/", id="own-network"),
    pytest.param((), ("10.0.0.8:80",), "http://10.0.0.7/", id="another-machine"),
)


@pytest.mark.parametrize(("loopback", "hosts", "url"), INNER)
async def test_an_inner_page_is_shown_only_with_its_flag(
    host: Host, loopback: tuple[str, ...], hosts: tuple[str, ...], url: str
) -> None:
    with pytest.raises(PolicyError) as denied:
        await login.login_in(host, words(url, loopback, hosts), lambda kind, data: None)
    assert denied.value.code == "BROWSER_POLICY_DENIED"
