"""`capsdk login`: the owner signs in in a window on the profile; the command's half and the host's half."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from capsdk.errors import InvalidArgumentError, PolicyError, UnavailableError
from host.app import Host, places_of
from host.browser.window import Display, display_of, open_window
from host.core.openings import opened_places, opening_words
from host.core.settings import Settings
from host.core.urls import BLANK, UrlDecision, UrlRules, judge_url
from host.frontends.cli_login import LoginRequest
from host.frontends.owner_client import remote_job
from host.frontends.owner_door import LOGIN, OWNER, Tell, text_list
from host.joining import joined

# Refused to tabs, since Chromium itself asks there about the owner; in the owner's own window that is what is wanted.
SIGN_IN_PLACES = frozenset(("accounts.google.com:443",))
LOOK_S = 0.1
MAX_WAIT_S = 24 * 3600.0


async def log_in(settings: Settings, request: LoginRequest, environment: dict[str, str], tell: Tell) -> dict[str, Any]:
    """Have the profile's host show the window, and wait until it is closed; `{origin, windowMs}`. Raises CapError.

    `tell` hears `waiting {sessions}` and `window {}`.
    """
    # What cannot be done is refused before a host is started for it.
    judged(request.url, opened_places(request.loopback, request.hosts))
    words = {
        "url": request.url,
        "loopback": list(request.loopback),
        "hosts": list(request.hosts),
        "waitS": request.wait_s,
        "display": asdict(display_of(environment)),
    }
    async with joined(places_of(settings)) as link:
        return await remote_job(link, LOGIN, words, tell)


async def login_in(host: Host, args: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The host's half: Chromium's tabs make room, the window has the profile, and gives it back. Raises CapError."""
    url, wait_s, display = login_words(args)
    loopback, hosts = text_list(args, "loopback"), text_list(args, "hosts")
    opened = opened_places(loopback, hosts)
    page = judged(url, opened)
    loop = asyncio.get_running_loop()
    await _no_sessions(host, wait_s, tell)
    async with host.browser.aside() as profile:  # entered without a pause: nobody opens a tab in between
        for word in (*opening_words(loopback, hosts), f"a login window at {page.origin}"):
            host.dispatcher.note(OWNER, "owner", "opened", word)
        began = loop.time()
        try:
            with host.sessions.opened_beside(opened | {page.place} | SIGN_IN_PLACES):
                port = await host.browser.egress.start()
                async with open_window(host.browser.config, profile, url, display, port) as window:
                    tell("window", {})
                    await window.wait()
        finally:
            host.dispatcher.note(OWNER, "owner", "closed", f"the login window at {page.origin}")
    return {"origin": page.origin, "windowMs": round((loop.time() - began) * 1000)}


async def _no_sessions(host: Host, wait_s: float, tell: Tell) -> None:
    """Wait until no tab is lent. Raises UnavailableError PROFILE_LOCKED when that does not happen in time."""
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_s
    told = False
    while count := len(host.sessions):
        if loop.time() >= until:
            raise tabs_are_lent(count)
        if not told:
            told = True
            tell("waiting", {"sessions": count})
        await asyncio.sleep(LOOK_S)


def judged(url: str, opened: frozenset[str]) -> UrlDecision:
    """The page to sign in on; its place is open by the owner's naming it. Raises PolicyError BROWSER_POLICY_DENIED."""
    decision = judge_url(url, UrlRules(opened))
    if url == BLANK or not decision.allowed:
        reason = "a page to sign in on has an http or https URL" if url == BLANK else decision.reason
        advice = "give another URL, or open its place with --allow-loopback or --allow-host HOST:PORT"
        raise PolicyError(decision.code, f"{reason}; {advice}")
    return decision


def login_words(args: dict[str, Any]) -> tuple[str, float, Display]:
    """A joining `capsdk login`'s words: URL, seconds to wait, display. Raises InvalidArgumentError BAD_ARGUMENTS."""
    url, wait_s, shown = args.get("url"), args.get("waitS", 0), args.get("display")
    fits = isinstance(url, str) and isinstance(wait_s, int | float) and 0 <= wait_s <= MAX_WAIT_S
    if not fits or not isinstance(shown, dict) or not all(isinstance(one, str) for one in shown.values()):
        raise InvalidArgumentError("BAD_ARGUMENTS", "url, waitS and display do not fit; start the command anew")
    try:
        return str(url), float(wait_s or 0), Display(**shown)
    except TypeError:
        raise InvalidArgumentError("BAD_ARGUMENTS", "display does not fit; start the command anew") from None


def tabs_are_lent(count: int) -> UnavailableError:
    """Somebody works in the profile."""
    tabs = "a tab of it is" if count == 1 else f"{count} tabs of it are"
    return UnavailableError(
        "PROFILE_LOCKED",
        f"the profile is in use: {tabs} lent to a run or a chat; wait for that with --wait SECONDS, or end it first",
        sessions=count,
    )
