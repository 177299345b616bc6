"""Attempts 26 to 31: cookies, storage, clipboard and focus, which all tabs of the profile share."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attacks.counting import attempt
from tests.attacks.lab import Lab, Mark, methods_of
from tests.support.origin_world import until

pytestmark = pytest.mark.asyncio(loop_scope="package")

FOREIGN = "http://mail.example/"
CTRL, SHIFT = 2, 8


async def with_cookie(lab: Lab, site: str = "mail") -> Mark:
    """A tab of another app, whose site has a cookie."""
    mark = await lab.tab(f"{{{site}}}/")
    assert await mark.js("document.cookie = 'theirs=1; path=/', document.cookie") == "theirs=1"
    return mark


async def everything(mark: Mark) -> set[tuple[str, str]]:
    """All cookies that the profile has: name and domain."""
    return {(one["name"], one["domain"]) for one in (await mark.raw("Network.getAllCookies"))["cookies"]}


@attempt(26, "Network.getCookies of another site; without urls", "refused; only one's own")
async def test_cookies_are_read_of_the_own_site_only(lab: Lab) -> None:
    mark, _ = await lab.tab("{cdn}/"), await with_cookie(lab)
    await mark.js("document.cookie = 'own=1; path=/', 1")
    for urls in ([FOREIGN], ["http://cdn.example/", FOREIGN], ["mail.example"], ["http://mail.example:80/"], [""]):
        await mark.refused("Network.getCookies", urls=urls)
    own = (await mark.cdp("Network.getCookies"))["cookies"]
    assert [(one["name"], one["domain"]) for one in own] == [("own", "cdn.example")]
    assert len((await mark.cdp("Network.getCookies", urls=["http://cdn.example/"]))["cookies"]) == 1
    theirs = (await mark.raw("Network.getCookies", urls=[FOREIGN]))["cookies"]  # the control: Chromium gives them
    assert [one["name"] for one in theirs] == ["theirs"]
    await mark.stands()


@attempt(27, "Network.setCookie for another site, com, co.uk, the parent domain", "refused; own host taken")
async def test_cookies_are_written_for_the_own_host_only(lab: Lab) -> None:
    mark = await lab.tab("{pay}/")
    before = await everything(mark)
    for domain in ("mail.example", "com", "co.uk", "github.io", "example", "shop.example", ".shop.example", "a.b", ""):
        await mark.refused("Network.setCookie", name="n", value="1", domain=domain)
    for url in (FOREIGN, "http://shop.example/", "https://com/", "x", "http://pay.shop.example@mail.example/"):
        await mark.refused("Network.setCookie", name="n", value="1", url=url)
    await mark.refused("Network.setCookie", name="n", value="1", url="http://pay.shop.example/", domain="shop.example")
    await mark.refused("Network.deleteCookies", name="n", domain="shop.example")
    assert await everything(mark) == before
    assert (await mark.raw("Network.setCookie", name="n", value="1", domain="com"))["success"]  # the control
    await mark.raw("Network.deleteCookies", name="n", domain="com")
    made = await mark.cdp("Network.setCookie", name="own", value="1", url="http://pay.shop.example/")
    assert (made["success"], await mark.js("document.cookie")) == (True, "own=1")
    await mark.cdp("Network.deleteCookies", name="own", domain="pay.shop.example")
    await mark.stands()


@attempt(28, "Network.setCookies with one foreign element among good ones", "refused, none set")
async def test_one_bad_cookie_spoils_them_all(lab: Lab) -> None:
    mark = await lab.tab()
    good = [{"name": f"good{number}", "value": "1", "url": "http://shop.example/"} for number in range(3)]
    for bad in ({"url": FOREIGN}, {"domain": "com"}, {"domain": ".example"}, {}):
        for place in range(len(good) + 1):
            cookies = [*good[:place], {"name": "bad", "value": "1", **bad}, *good[place:]]
            await mark.refused("Network.setCookies", cookies=cookies)
    assert await mark.js("document.cookie") == ""
    assert "bad" not in {name for name, _ in await everything(mark)}
    await mark.cdp("Network.setCookies", cookies=good)  # the control: without it they are taken
    assert await mark.js("document.cookie.split('; ').length") == 3
    for cookie in good:
        await mark.cdp("Network.deleteCookies", name=cookie["name"], domain="shop.example")
    await mark.stands()


@attempt(29, "getAllCookies, clearBrowserCookies, Storage.*, ServiceWorker.*, IndexedDB.*, …")
async def test_the_storage_of_the_profile_is_out_of_reach(lab: Lab) -> None:
    mark, other = await lab.tab(), await with_cookie(lab)
    await other.js("localStorage.kept = 'theirs', 1")
    methods = methods_of("CacheStorage", "DOMStorage", "IndexedDB", "ServiceWorker", "Storage")
    assert len(methods) > 50
    for method in (*methods, "Network.getAllCookies", "Network.clearBrowserCookies", "Network.clearBrowserCache"):
        await mark.refused(method, origin="http://mail.example", storageTypes="all", securityOrigin=FOREIGN)
    assert await other.js("document.cookie + localStorage.kept") == "theirs=1theirs"
    assert ("theirs", "mail.example") in await everything(mark)  # the control: a page that may ask is told
    cleared = {"origin": "http://mail.example", "storageTypes": "local_storage"}
    assert await mark.raw("Storage.clearDataForOrigin", **cleared) == {}
    await mark.stands()


FIELD = "<textarea id=t></textarea>"
PASTES: tuple[dict[str, Any], ...] = (
    {"key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": CTRL},
    {"key": "V", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": CTRL | SHIFT},
    {"windowsVirtualKeyCode": 86, "modifiers": CTRL},
    {"key": "Insert", "code": "Insert", "windowsVirtualKeyCode": 45, "modifiers": SHIFT},
    {"key": "Paste"},
    {"key": "q", "windowsVirtualKeyCode": 81, "commands": ["paste"]},
    {"key": "q", "windowsVirtualKeyCode": 81, "commands": ["pasteAndMatchStyle"]},
    {"key": "q", "windowsVirtualKeyCode": 81, "commands": ["selectAll", "Paste"]},
)


@attempt(30, "Ctrl+V, Shift+Insert, commands paste of what another tab has copied")
async def test_what_another_tab_has_copied_stays_there(lab: Lab) -> None:
    other, mark = await lab.page(FIELD, "mail"), await lab.page(FIELD)
    await other.js("t.value = 'secret', t.focus(), t.select(), 1")
    copy = {"type": "keyDown", "key": "c", "code": "KeyC", "windowsVirtualKeyCode": 67, "modifiers": CTRL}
    await other.raw("Input.dispatchKeyEvent", **copy, commands=["copy"])
    await mark.js("t.focus(), 1")
    for fields in PASTES:
        for kind in ("keyDown", "rawKeyDown"):
            await mark.refused("Input.dispatchKeyEvent", type=kind, **fields)
    assert await mark.gesture("document.execCommand('paste')") is False
    assert await mark.js("t.value") == ""
    await mark.cdp("Input.dispatchKeyEvent", type="keyDown", key="w", windowsVirtualKeyCode=87, text="w")
    await until(lambda: same(mark, "t.value", "w"), "the key that may be pressed")
    await mark.raw("Input.dispatchKeyEvent", type="keyDown", **PASTES[0], commands=["paste"])  # the control
    await until(lambda: same(mark, "t.value", "wsecret"), "the clipboard of the browser")
    await mark.stands()


async def same(mark: Mark, expression: str, wanted: Any) -> bool:
    return bool(await mark.js(expression) == wanted)


@attempt(31, "Page.bringToFront", "answered, the others stay visible and focused")
async def test_no_tab_takes_anothers_place(lab: Lab) -> None:
    mark, other = await lab.tab(), await lab.tab()
    shown = "[document.visibilityState, document.hasFocus()]"
    for one in (mark, other, mark):
        assert await one.cdp("Page.bringToFront") == {}
        assert await mark.js(shown) == await other.js(shown) == ["visible", True]
    frames = (
        "new Promise(ok => { let n = 0; const step = () => ++n > 10 ? ok(n) : requestAnimationFrame(step); step() })"
    )
    assert await mark.js(frames) == await other.js(frames) == 11
    await mark.stands()
