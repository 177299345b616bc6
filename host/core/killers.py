"""Parameters by which an allowed command would end the whole Chromium, and with it everybody else's tabs.

Found by sending every allowed command random parameters (tests/live/test_every_method.py), with Chromium 156. The
method table says what a command may do to its own tab; here is only what a fault of the browser makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Params = Mapping[str, Any]


def negative_replacement(params: Params, in_frame: bool) -> str:
    """Input.imeSetComposition: a range that starts or ends below zero fails a check of the browser process."""
    for name in ("replacementStart", "replacementEnd"):
        value = params.get(name, 0)
        if isinstance(value, int | float) and value < 0:
            return f"`{name}` below zero ends this Chromium with all tabs in it; leave it out, or send 0 or more"
    return ""


def display_features(params: Params, in_frame: bool) -> str:
    """Emulation.setDisplayFeaturesOverride: the browser takes the first of an empty list; a frame has no display."""
    if in_frame:
        return "in a frame it ends this Chromium with all tabs in it; send it to the page itself"
    if params.get("features") == []:
        return "an empty `features` ends this Chromium with all tabs in it; use Emulation.clearDisplayFeaturesOverride"
    return ""


KILLERS: Mapping[str, Callable[[Params, bool], str]] = {
    "Emulation.setDisplayFeaturesOverride": display_features,
    "Input.imeSetComposition": negative_replacement,
}


def deadly(method: str, params: Params, *, in_frame: bool) -> str:
    """Why a command with these parameters is refused whatever the table says; "" when it is not."""
    judge = KILLERS.get(method)
    return judge(params, in_frame) if judge is not None else ""
