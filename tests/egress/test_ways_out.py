"""Every way out of a page, to every spelling of this machine: what is not opened is not reached, by a single byte.

Two outings through the same pages. The first is the control: all is opened, and what would hold a page back besides the
proxy is switched off; what arrives then is what this Chromium offers. The second is the product as it is. The quick
outings know a target of each kind (an address, a name that turns, this machine's own address), the long ones all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

import host.app
import host.browser.process
import host.browser.profile
from host.app import open_host
from host.core.limits import Limits
from host.core.settings import Settings
from tests.egress.conftest import LINES
from tests.egress.outing import Found, Outing
from tests.egress.ways import CERTIFICATE_SPKI, Target, Way, WaySite, own_ports, read_ways
from tests.support.egress import PUBLIC, world
from tests.support.forbidden import Forbidden, has_ipv6, own_address

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.chromium]

TARGETS = (
    Target("v4", "127.0.0.1"),
    Target("localhost", "localhost"),
    *([Target("v6", "[::1]")] if has_ipv6() else []),
    Target("any", "0.0.0.0"),
    Target("loops", "loops.example"),
    Target("turns", "turns.example"),
    Target("own", own_address() or "127.0.0.2"),
)
A_KIND_EACH = tuple(target for target in TARGETS if target.key in ("v4", "turns", "own"))
TO_HERE = {"loops.example": [["127.0.0.1"]], "turns.example": [["127.0.0.1"]]}
TURNING = {"loops.example": [["127.0.0.1"]], "turns.example": [[PUBLIC], ["127.0.0.1"]] * 1000}
IN_BOTH = ("--short-reporting-delay", f"--ignore-certificate-errors-spki-list={CERTIFICATE_SPKI}")
HOLDING_BACK = ("--no-pings", "--disable-quic", "--webrtc-ip-handling-policy=disable_non_proxied_udp")
HOLDING_BACK_TOO = ("net", "profile", "webrtc")  # preferences: nothing ahead of time, permissions, no UDP
SETTINGS = Settings(limits=Limits(sessions_per_client=16))  # each tab may have a popup
WAYS = read_ways()


@dataclass(frozen=True, slots=True)
class Outings:
    """Both, and what the name that turns brought to the public address that it was checked with."""

    targets: tuple[Target, ...]
    control: Found
    guarded: Found
    site: WaySite
    elsewhere: Forbidden


def prepare(
    patch: pytest.MonkeyPatch, answers: dict[str, list[list[str]]], elsewhere: Forbidden, *, held: bool
) -> None:
    """Give the next host's proxy these answers; with `held` Chromium keeps the flags that hold pages back."""
    program = world(answers, {PUBLIC: f"127.0.0.1:{elsewhere.port}"})
    made = host.app.egress_config
    patch.setattr(host.app, "egress_config", lambda settings: replace(made(settings), program=program))
    flags = [flag for flag in host.browser.process.FLAGS if held or flag not in HOLDING_BACK]
    assert held or len(flags) == len(host.browser.process.FLAGS) - len(HOLDING_BACK)
    patch.setattr(host.browser.process, "FLAGS", (*flags, *IN_BOTH))
    if not held:
        kept = {key: value for key, value in host.browser.profile.PREFERENCES.items() if key not in HOLDING_BACK_TOO}
        patch.setattr(host.browser.profile, "PREFERENCES", kept)


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=(
        pytest.param(A_KIND_EACH, id="a-kind-each"),
        pytest.param(TARGETS, id="every-target", marks=pytest.mark.long),
    ),
)
async def outings(folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[Outings]:
    targets: tuple[Target, ...] = request.param
    names = own_ports(WAYS, targets)
    with Forbidden(names) as opened, Forbidden(names) as closed, Forbidden() as elsewhere:
        with WaySite(WAYS, targets, opened.ports) as site, pytest.MonkeyPatch.context() as patch:
            prepare(patch, TO_HERE, elsewhere, held=False)
            async with open_host(SETTINGS, ephemeral=True) as made:
                outing = Outing(made, site, opened)
                await outing.go((*site.places, *site.forbidden_places))
            control = outing.counted()
        with WaySite(WAYS, targets, closed.ports) as site, pytest.MonkeyPatch.context() as patch:
            prepare(patch, TURNING, elsewhere, held=True)
            async with open_host(SETTINGS, ephemeral=True) as made:
                outing = Outing(made, site, closed, control)
                await outing.go(site.places)
            guarded = outing.counted()
        LINES.extend(line(way, targets, control, guarded) for way in WAYS)
        LINES.append(f"{'all of it':36}{guarded.total} connections and datagrams")
        yield Outings(targets, control, guarded, site, elsewhere)


def line(way: Way, targets: tuple[Target, ...], control: Found, guarded: Found) -> str:
    """What became of one way, as it was counted."""
    hits = sum(count for (name, _), count in guarded.hits.items() if name == way.name)
    reached = control.reached(way.name)
    names = ", ".join(target.name for target in targets if target.key in reached)
    verdict = "refused" if reached else "not offered by this Chromium"
    return f"{way.name:36}{f'{names}   ' if names else ''}{'REACHED' if hits else verdict}   {hits} hits"


def least(way: Way, targets: tuple[Target, ...]) -> int:
    """How many of the targets the control has to reach."""
    if "maybe" in way.needs:
        return 0
    return 1 if "some" in way.needs else len(targets)


@pytest.mark.parametrize("way", [pytest.param(way, id=way.name) for way in WAYS])
async def test_a_way_out_reaches_nothing_that_is_not_opened(outings: Outings, way: Way) -> None:
    reached = outings.control.reached(way.name)
    assert len(reached) >= least(way, outings.targets)  # else nothing is shown by what comes now
    assert {key: count for key, count in outings.guarded.hits.items() if key[0] == way.name and count} == {}


async def test_nothing_at_all_came_to_a_port_that_is_not_opened(outings: Outings) -> None:
    assert outings.control.total > 150 * len(outings.targets)
    assert outings.guarded.total == 0


async def test_every_target_is_reached_by_most_ways_when_it_is_opened(outings: Outings) -> None:
    for target in outings.targets:
        by = [way for (way, key), count in outings.control.hits.items() if key == target.key and count]
        assert len(by) > 100, target


async def test_every_page_was_served_both_times(outings: Outings) -> None:
    assert outings.control.not_served == []
    assert outings.guarded.not_served == []


async def test_the_host_is_told_of_the_refusals_with_the_flag_that_would_open_the_place(outings: Outings) -> None:
    for target in outings.targets:
        place = outings.site.place_of("fetch", target.key)
        named = target.host in ("loops.example", "turns.example", own_address())
        assert outings.guarded.reasons[place].flag == f"{'--allow-host' if named else '--allow-loopback'} {place}"
        assert outings.guarded.refused[place] > 10, target


async def test_a_name_whose_answer_turns_goes_to_the_address_that_was_checked(outings: Outings) -> None:
    paths = {path.rpartition("/")[2].partition("?")[0] for path in outings.elsewhere.requests if path.count("/") == 2}
    assert paths == {"turns"}
    assert outings.guarded.refused[outings.site.place_of("fetch", "turns")] > 10  # and in between it was loopback's
