"""Cameras, screens, ports, places: what a page may ask an owner for is denied at once, whoever allowed it before."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from host.app import Host
from host.browser import process, profile
from host.browser.enables import GUARD_ENABLES
from tests.live.framesite import FrameSites
from tests.live.walls import asked, host_in, talker
from tests.support.inprocess import Talker
from tests.support.stdio import LOADED

pytestmark = pytest.mark.asyncio(loop_scope="module")

AT_ONCE_MS = 1000
WAITS = "waits"
STREAM = "[object MediaStream]"
POLICY = "BROWSER_POLICY_DENIED"
ALLOW, ASK = 1, 3  # ContentSetting of Chromium's components/content_settings
GUARDS = (
    "bluetooth_guard",
    "file_system_read_guard",
    "file_system_write_guard",
    "hid_guard",
    "serial_guard",
    "usb_guard",
)
GRANTS = (
    "captured_surface_control",
    "clipboard",
    "durable_storage",
    "geolocation",
    "idle_detection",
    "local_fonts",
    "media_stream_camera",
    "media_stream_mic",
    "midi_sysex",
    "notifications",
    "payment_handler",
    "sensors",
    "window_placement",
)


@dataclass(frozen=True, slots=True)
class Around:
    """A page of one host; `named_origin` is its site by a name, as an address is no name to have a key for."""

    who: Talker
    session: str
    named_origin: str
    keys: bool  # is the owner asked for keys?

    async def open(self, url: str) -> Around:
        """Another page of the same host."""
        with pytest.MonkeyPatch.context() as patch:
            if self.keys:
                without = tuple(one for one in GUARD_ENABLES if one[0] != "WebAuthn.enable")
                patch.setattr("host.browser.browser.GUARD_ENABLES", without)
            return replace(self, session=await self.who.open(url))

    async def outcome(self, call: str) -> str:
        """What comes of a call that the user is behind: an error's name, a value, or that it waits for somebody."""
        made = f"""Promise.race([
            (async () => await ({call}))().then(String, problem => problem.name || 'code ' + problem.code),
            new Promise(ok => setTimeout(ok, {AT_ONCE_MS}, '{WAITS}')),
        ])"""
        return str(await asked(self.who, self.session, made))

    async def close(self) -> None:
        """Give the page back."""
        await self.who.ok("browser.closeSession", sessionId=self.session)


def generous(origin: str) -> dict[str, Any]:
    """Preferences of an owner who has allowed this site everything that there is to allow."""
    settings = {**dict.fromkeys(GRANTS, ALLOW), **dict.fromkeys(GUARDS, ASK)}
    return {
        "profile": {
            "content_settings": {
                "exceptions": {name: {f"{origin},*": {"setting": setting}} for name, setting in settings.items()}
            },
        },
        "hardware": {"screen_capture_enabled": True, "screen_capture_allowed_by_origins": [origin]},
    }


@pytest.fixture(scope="module")
def sites() -> Iterator[FrameSites]:
    with FrameSites() as made:
        yield made


@pytest.fixture(scope="module")
def _with_devices() -> Iterator[None]:
    """A camera and a microphone are there, so that they are denied and not just missing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "FLAGS", (*process.FLAGS, "--use-fake-device-for-media-stream"))
        yield


async def around(host: Host, sites: FrameSites, *, keys: bool) -> Around:
    named = sites.places[0].replace("127.0.0.1", "localhost")
    blank = Around(talker(host, *sites.places, named), "", f"http://{named}", keys)
    return await blank.open(sites.page("a", "<title>devices</title>"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def walled(folder: Path, sites: FrameSites, _with_devices: None) -> AsyncIterator[Around]:
    """The product, on a profile in which the owner had allowed everything."""
    async with host_in(folder, "walled", generous(sites.origins["a"])) as made:
        yield await around(made, sites, keys=False)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bare(folder: Path, sites: FrameSites, _with_devices: None) -> AsyncIterator[Around]:
    """The same profile with its preferences left as they are: the control."""
    async with host_in(folder, "bare", generous(sites.origins["a"])) as made:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(profile, "PREFERENCES", {})
            page = await around(made, sites, keys=True)
        yield page


ASKED = (  # the call, what comes of it, and what came of it where nothing is denied
    # First: what waits in the control takes the page's focus with it.
    pytest.param("navigator.clipboard.readText().then(() => 'text')", "NotAllowedError", "text", id="clipboard"),
    pytest.param("navigator.mediaDevices.getDisplayMedia({video: true})", "NotAllowedError", WAITS, id="screen"),
    pytest.param(
        "navigator.mediaDevices.getDisplayMedia({video: true, audio: true, preferCurrentTab: true})",
        "NotAllowedError",
        WAITS,
        id="own-tab-with-sound",
    ),
    pytest.param(
        "navigator.mediaDevices.getUserMedia({video: {mandatory: {chromeMediaSource: 'desktop'}}})",
        "NotAllowedError",
        WAITS,
        id="desktop-the-old-way",
    ),
    pytest.param("navigator.mediaDevices.getUserMedia({video: true})", "NotAllowedError", STREAM, id="camera"),
    pytest.param("navigator.mediaDevices.getUserMedia({audio: true})", "NotAllowedError", STREAM, id="microphone"),
    pytest.param(
        "new Promise((ok, no) => navigator.webkitGetUserMedia({video: true, audio: true}, ok, no))",
        "NotAllowedError",
        STREAM,
        id="both-the-old-way",
    ),
    pytest.param(
        "navigator.mediaDevices.enumerateDevices().then(all => all.some(one => one.label))",
        "false",
        "true",
        id="names-of-devices",
    ),
    pytest.param("Notification.requestPermission()", "denied", "granted", id="notifications"),
    pytest.param(
        "new Promise((ok, no) => Object.assign(new Notification('x'), {onshow: () => ok('shown'), onerror: no}))",
        "code undefined",
        "shown",
        id="notification",
    ),
    # code 1 is PERMISSION_DENIED and 2 POSITION_UNAVAILABLE, of the Geolocation API
    pytest.param(
        "new Promise((ok, no) => navigator.geolocation.getCurrentPosition(ok, no))", "code 1", "code 2", id="place"
    ),
    pytest.param("navigator.requestMIDIAccess({sysex: true})", "NotAllowedError", "InvalidStateError", id="midi"),
    pytest.param("navigator.usb.requestDevice({filters: []})", "NotFoundError", WAITS, id="usb"),
    pytest.param("navigator.serial.requestPort()", "NotFoundError", WAITS, id="serial"),
    pytest.param("navigator.hid.requestDevice({filters: []}).then(all => all.length)", "0", WAITS, id="hid"),
    pytest.param("IdleDetector.requestPermission()", "denied", "granted", id="idleness"),
    pytest.param("queryLocalFonts().then(all => all.length > 0)", "false", "true", id="fonts"),
    pytest.param("getScreenDetails().then(all => all.screens.length)", "NotAllowedError", "1", id="screens"),
    pytest.param("navigator.storage.persist()", "false", "true", id="lasting-storage"),
    pytest.param(
        "new Promise((ok, no) => { const one = new Accelerometer(); one.onerror = e => no(e.error); one.start(); })",
        "NotAllowedError",
        "NotReadableError",
        id="motion",
    ),
)


@pytest.mark.parametrize(("call", "denied", "granted"), ASKED)
async def test_what_a_page_asks_the_owner_for_is_denied_at_once(
    walled: Around, bare: Around, sites: FrameSites, call: str, denied: str, granted: str
) -> None:
    assert await walled.outcome(call) == denied
    found = await bare.outcome(call)
    for _ in range(2):
        if found != granted:  # a list to choose from closes when the one before it takes the focus along
            page = await bare.open(sites.page("a", "<title>devices</title>"))
            found = await page.outcome(call)
            await page.close()
    assert found == granted


STATES = (
    "accelerometer",
    "camera",
    "captured-surface-control",
    "clipboard-read",
    "geolocation",
    "gyroscope",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "notifications",
    "payment-handler",
    "persistent-storage",
    "push",
    "window-management",
)


@pytest.mark.parametrize("name", STATES)
async def test_a_permission_is_denied_although_the_profile_has_it_granted(
    walled: Around, bare: Around, name: str
) -> None:
    state = f"navigator.permissions.query({{name: '{name}', userVisibleOnly: true}}).then(found => found.state)"
    assert await walled.outcome(state) == "denied"
    assert await bare.outcome(state) == "granted"


async def test_what_this_chromium_has_not_is_not_offered_at_all(walled: Around) -> None:
    absent = ["NDEFReader", "TCPSocket", "UDPSocket", "TCPServerSocket"]
    members = ["bluetooth", "contacts", "smartCard"]
    expression = (
        f"({json.dumps(absent)}).filter(name => name in window)"
        f".concat(({json.dumps(members)}).filter(name => navigator[name])).concat('usb' in navigator).join()"
    )
    assert await walled.outcome(f"Promise.resolve({expression})") == "true"


async def test_nobody_is_found_to_show_a_page_to_or_to_pay(walled: Around) -> None:
    assert await walled.outcome("new PresentationRequest('https://screen.example/').start()") == "NotFoundError"
    payment = (
        "new PaymentRequest([{supportedMethods: 'https://pay.example/'}],"
        "{total: {label: 'x', amount: {currency: 'USD', value: '1'}}}).show()"
    )
    assert await walled.outcome(payment) == "NotSupportedError"


GRANTING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Browser.grantPermissions", {"permissions": ["videoCapture", "displayCapture", "geolocation"]}),
    ("Browser.setPermission", {"permission": {"name": "camera"}, "setting": "granted"}),
    ("Browser.resetPermissions", {}),
    ("Browser.addMockCamera", {}),
    ("DeviceAccess.enable", {}),
    ("DeviceAccess.selectPrompt", {"id": "1", "deviceId": "1"}),
    ("WebAuthn.enable", {}),
    ("WebAuthn.addVirtualAuthenticator", {"options": {"protocol": "ctap2", "transport": "usb"}}),
)


@pytest.mark.parametrize(("method", "params"), GRANTING, ids=[method for method, _ in GRANTING])
async def test_a_script_grants_itself_nothing(walled: Around, method: str, params: dict[str, Any]) -> None:
    arguments = {"sessionId": walled.session, "method": method, "params": params}
    assert await walled.who.code("browser.cdp", **arguments) == POLICY
    assert await walled.outcome("navigator.mediaDevices.getUserMedia({video: true})") == "NotAllowedError"


KEYS = {
    "get": "navigator.credentials.get({publicKey: {challenge: new Uint8Array(32), timeout: 200}})",
    "create": (
        "navigator.credentials.create({publicKey: {challenge: new Uint8Array(32), timeout: 200, rp: {name: 'x'}, "
        "user: {id: new Uint8Array(8), name: 'x', displayName: 'x'}, "
        "pubKeyCredParams: [{type: 'public-key', alg: -7}]}})"
    ),
}


@pytest.mark.parametrize("call", KEYS.values(), ids=KEYS)
async def test_a_key_of_the_owner_is_not_asked_for_and_nobody_waits_for_it_longer_than_the_page_wants(
    walled: Around, bare: Around, call: str
) -> None:
    for around, wanted in ((walled, "NotAllowedError"), (bare, WAITS)):
        page = await around.open(f"{around.named_origin}/named")
        assert await page.outcome(call) == wanted
        await page.close()


async def test_nor_is_it_for_a_frame_of_another_site(walled: Around, bare: Around, sites: FrameSites) -> None:
    tell = "parent.postMessage(String(said), '*')"
    inner = sites.put(f"<script>{KEYS['get']}.catch(problem => problem.name).then(said => {tell})</script>")
    heard = "<script>said = new Promise(ok => { onmessage = event => ok(event.data) })</script>"
    for around, wanted in ((walled, "NotAllowedError"), (bare, WAITS)):
        frame = f"<iframe allow='publickey-credentials-get *' src='{around.named_origin}{inner}'></iframe>"
        page = await around.open(sites.page("a", heard + frame))
        await asked(page.who, page.session, LOADED)
        assert await page.outcome("said") == wanted
        await page.close()
