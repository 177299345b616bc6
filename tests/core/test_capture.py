"""Which events `capture` keeps."""

from __future__ import annotations

import pytest

from capsdk.errors import InvalidArgumentError
from host.core.capture import EVERYTHING, parse_capture

KEEPS = (  # capture, method, kept?
    pytest.param(None, "Network.requestWillBeSent", True, id="all-by-default"),
    pytest.param(["Network.*"], "Network.requestWillBeSent", True, id="domain"),
    pytest.param(["Network.*"], "Page.loadEventFired", False, id="other-domain"),
    pytest.param(["Network.*"], "NetworkExtra.x", False, id="domain-prefix-lookalike"),
    pytest.param(["Page.loadEventFired"], "Page.loadEventFired", True, id="method"),
    pytest.param(["Page.loadEventFired"], "Page.frameNavigated", False, id="other-method"),
    pytest.param(["Page.loadEventFired"], "Page.loadEventFiredTwice", False, id="method-prefix-lookalike"),
    pytest.param(["Page.loadEventFired", "Log.*"], "Log.entryAdded", True, id="mixed"),
    pytest.param([], "Page.loadEventFired", False, id="nothing"),
    pytest.param([], "Target.attachedToTarget", True, id="attached-always"),
    pytest.param([], "Target.detachedFromTarget", True, id="detached-always"),
    pytest.param([], "Host.popupOpened", True, id="host-always"),
    pytest.param([], "Target.targetCrashed", False, id="other-target-event"),
)


@pytest.mark.parametrize(("capture", "method", "kept"), KEEPS)
def test_capture_keeps_what_it_names_and_what_is_never_left_out(
    capture: list[str] | None, method: str, kept: bool
) -> None:
    assert parse_capture(capture).keeps(method) is kept


def test_no_capture_keeps_everything() -> None:
    assert parse_capture(None) is EVERYTHING


@pytest.mark.parametrize(
    "pattern",
    ["", "*", "Network", "Network.", ".*", "network.*", "Network.**", "Network.*x", "Network. *", "A.b\n", "A.b.c"],
)
def test_a_pattern_that_is_neither_form_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_capture([pattern])
    assert caught.value.code == "BAD_ARGUMENTS"
