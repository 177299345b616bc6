"""Who may use what: the whole decision table."""

from __future__ import annotations

from itertools import product

import pytest

from capsdk.errors import InvalidArgumentError
from host.core.grants import (
    CAPABILITIES,
    Caller,
    Decision,
    Kind,
    Level,
    decide,
    parse_capability,
    parse_grants,
    parse_level,
    parse_subject,
    strictest,
    subject_for,
)

OFF, ASK, ALLOW = Level.OFF, Level.ASK, Level.ALLOW
DEBUG = "browser.debug"


def caller(kind: Kind, declared: frozenset[str] | None, given: Level | None) -> Caller:
    granted = {} if given is None else {DEBUG: given}
    return Caller("app", "r1", kind, "run", "app:app", declared=declared, granted=granted)


CASES = (  # declared, given on the connection, stored, ceiling, level, reason (for scripts, chats and views)
    pytest.param(None, None, None, None, ASK, "never_set", id="never-set-is-ask"),
    pytest.param(None, None, OFF, None, OFF, "stored", id="stored-off"),
    pytest.param(None, None, ASK, None, ASK, "stored", id="stored-ask"),
    pytest.param(None, None, ALLOW, None, ALLOW, "stored", id="stored-allow"),
    pytest.param(None, None, None, ALLOW, ASK, "never_set", id="a-ceiling-gives-nothing"),
    pytest.param(None, None, None, ASK, ASK, "never_set", id="ceiling-ask-and-never-set"),
    pytest.param(None, None, None, OFF, OFF, "ceiling", id="ceiling-off-and-never-set"),
    pytest.param(None, None, ALLOW, ASK, ASK, "ceiling", id="ceiling-caps-allow"),
    pytest.param(None, None, ALLOW, OFF, OFF, "ceiling", id="ceiling-off-caps-allow"),
    pytest.param(None, None, ASK, OFF, OFF, "ceiling", id="ceiling-off-caps-ask"),
    pytest.param(None, None, OFF, ASK, OFF, "stored", id="ceiling-never-raises"),
    pytest.param(None, ALLOW, None, None, ALLOW, "connection", id="the-owners-word-for-this-connection"),
    pytest.param(None, ALLOW, OFF, None, ALLOW, "connection", id="the-later-word-holds"),
    pytest.param(None, OFF, ALLOW, None, OFF, "connection", id="it-may-also-narrow"),
    pytest.param(None, ASK, ALLOW, None, ASK, "connection", id="it-may-also-make-it-ask"),
    pytest.param(None, ALLOW, None, ASK, ASK, "ceiling", id="the-connection-cannot-pass-the-ceiling"),
    pytest.param(None, ALLOW, ALLOW, OFF, OFF, "ceiling", id="nothing-can"),
    pytest.param(frozenset({DEBUG}), None, ALLOW, None, ALLOW, "stored", id="declared"),
    pytest.param(frozenset({DEBUG}), None, None, None, ASK, "never_set", id="declaring-gives-nothing"),
    pytest.param(frozenset(), None, ALLOW, None, OFF, "undeclared", id="undeclared"),
    pytest.param(frozenset({"browser.view"}), None, ALLOW, None, OFF, "undeclared", id="another-is-declared"),
    pytest.param(frozenset(), ALLOW, ALLOW, None, OFF, "undeclared", id="no-word-helps-the-undeclared"),
    pytest.param(frozenset({"browser.debug.more"}), ALLOW, None, None, OFF, "undeclared", id="declared-lookalike"),
)


@pytest.mark.parametrize("kind", [Kind.SCRIPT, Kind.CHAT, Kind.VIEW])
@pytest.mark.parametrize(("declared", "given", "stored", "ceiling", "level", "reason"), CASES)
def test_what_holds_for_a_caller(
    kind: Kind,
    declared: frozenset[str] | None,
    given: Level | None,
    stored: Level | None,
    ceiling: Level | None,
    level: Level,
    reason: str,
) -> None:
    most = {} if ceiling is None else {DEBUG: ceiling}
    assert decide(DEBUG, caller(kind, declared, given), stored, most) == Decision(level, reason)


OWNER_CASES = (  # ceiling, level
    pytest.param(None, ALLOW, id="may"),
    pytest.param(ASK, ASK, id="is-asked-under-the-ceiling"),
    pytest.param(OFF, OFF, id="may-not-under-the-ceiling"),
)


@pytest.mark.parametrize(("ceiling", "level"), OWNER_CASES)
@pytest.mark.parametrize("stored", [None, OFF, ALLOW])
def test_the_owner_needs_no_grant_and_is_under_the_ceiling_too(
    ceiling: Level | None, level: Level, stored: Level | None
) -> None:
    most = {} if ceiling is None else {DEBUG: ceiling}
    assert decide(DEBUG, caller(Kind.OWNER, None, None), stored, most).level is level


def test_nothing_ever_passes_the_ceiling_or_the_manifest() -> None:
    levels = (None, OFF, ASK, ALLOW)
    rank = {OFF: 0, ASK: 1, ALLOW: 2}
    tried = 0
    for kind, given, stored, ceiling in product(Kind, levels, levels, (OFF, ASK, ALLOW)):
        tried += 1
        assert rank[decide(DEBUG, caller(kind, None, given), stored, {DEBUG: ceiling}).level] <= rank[ceiling]
        assert decide(DEBUG, caller(kind, frozenset(), given), stored, {}).level is OFF
    assert tried == 4 * 4 * 4 * 3


def test_a_ceiling_on_one_capability_leaves_the_others() -> None:
    assert decide("browser.view", caller(Kind.SCRIPT, None, None), ALLOW, {DEBUG: OFF}).level is ALLOW


def test_the_strictest_of_levels() -> None:
    assert [strictest(a, b) for a, b in product((OFF, ASK, ALLOW), repeat=2)] == [
        OFF, OFF, OFF, OFF, ASK, ASK, OFF, ASK, ALLOW,
    ]  # fmt: skip


def test_a_session_belongs_to_all_four_parts_and_to_nothing_else() -> None:
    mine = Caller("app", "r1", Kind.SCRIPT, "run", "app:app")
    others = (
        Caller("other", "r1", Kind.SCRIPT, "run", "app:app"),
        Caller("app", "r2", Kind.SCRIPT, "run", "app:app"),
        Caller("app", "r1", Kind.CHAT, "run", "app:app"),
        Caller("app", "r1", Kind.SCRIPT, "run2", "app:app"),
    )
    assert [other for other in others if other == mine] == []
    assert mine == Caller("app", "r1", Kind.SCRIPT, "run", "app:app", granted={DEBUG: ALLOW})


def test_a_chats_grant_is_another_subjects_than_a_scripts() -> None:
    assert {kind: subject_for(kind, "x") for kind in Kind} == {
        Kind.SCRIPT: "app:x",
        Kind.CHAT: "chat:x",
        Kind.VIEW: "app:x",
        Kind.OWNER: "app:x",
    }


@pytest.mark.parametrize("text", ["", "Allow", "ALLOW", " allow", "yes", "allow\n", "x" * 5000], ids=lambda t: t[:12])
def test_an_unknown_level_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_level(text)
    assert caught.value.code == "BAD_ARGUMENTS"


@pytest.mark.parametrize("text", ["", "browser", "browser.*", "Browser.debug", "browser.debug "])
def test_an_unknown_capability_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_capability(text)
    assert caught.value.code == "BAD_ARGUMENTS"


def test_flags_are_read_and_the_last_word_on_a_capability_holds() -> None:
    assert parse_grants(("browser.debug=off", "browser.view=ask", "browser.debug=allow")) == {
        "browser.debug": ALLOW,
        "browser.view": ASK,
    }
    assert parse_grants(()) == {}


@pytest.mark.parametrize(
    "text", ["", "browser.debug", "browser.debug=", "=allow", "browser.debug=allow=ask", "x=allow"]
)
def test_a_flag_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_grants((text,))
    assert caught.value.code == "BAD_ARGUMENTS"


@pytest.mark.parametrize("text", ["app:receipts", "path:/home/someone/app", "chat:desk", "path:C:x"])
def test_a_subject_is_taken_as_it_is(text: str) -> None:
    assert parse_subject(text) == text


@pytest.mark.parametrize(
    "text", ["", "app", "app:", ":x", "App:x", "owner:x", "app:" + "x" * 5000], ids=lambda t: t[:12]
)
def test_a_subject_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_subject(text)
    assert caught.value.code == "BAD_ARGUMENTS"


def test_every_capability_says_what_it_gives() -> None:
    assert DEBUG in CAPABILITIES
    assert [name for name, words in CAPABILITIES.items() if len(words) < 10] == []


@pytest.mark.parametrize("kind", [Kind.SCRIPT, Kind.OWNER])
def test_a_joining_commands_own_ceiling_caps_it_below_the_hosts(kind: Kind) -> None:
    joined = Caller("app", "r1", kind, "run", "app:app", granted={DEBUG: ALLOW}, ceiling={DEBUG: ASK})
    assert decide(DEBUG, joined, ALLOW, {}).level is ASK
    assert decide(DEBUG, joined, ALLOW, {DEBUG: OFF}).level is OFF
