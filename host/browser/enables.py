"""What each CDP session gets before a site loads; facts/cdp.md 5. Buffers are as the method policy clamps them."""

from __future__ import annotations

from typing import Any

Commands = tuple[tuple[str, dict[str, Any]], ...]

APP_ENABLES: Commands = (
    ("Page.enable", {}),
    ("DOM.enable", {}),
    ("Runtime.enable", {}),
    (
        "Network.enable",
        {
            "maxTotalBufferSize": 32 << 20,
            "maxResourceBufferSize": 8 << 20,
            "maxPostDataSize": 16384,
            "enableDurableMessages": True,
        },
    ),
    ("Log.enable", {}),
)

# Frames come paused, so that their first request is seen; service workers, which others share, do not come. Dedicated
# workers and worklets have to: Chromium 156 pauses them although a filter excludes them, and nobody could let them run.
FRAME_ENABLES: Commands = (
    ("Page.enable", {}),
    (
        "Target.setAutoAttach",
        {
            "autoAttach": True,
            "waitForDebuggerOnStart": True,
            "flatten": True,
            "filter": [{"type": "iframe"}, {"type": "worker"}, {"type": "worklet"}, {"exclude": True}],
        },
    ),
)

# A frame that is not lent runs by itself, and so do those inside it. Observed with Chromium 156: while its nodes are
# picked, a frame takes no click and no drag, which would carry its text into the page around it.
APART_ENABLES: Commands = (
    ("Page.enable", {}),
    ("Fetch.disable", {}),
    ("DOM.enable", {}),
    ("Overlay.enable", {}),
    ("Overlay.setInspectMode", {"mode": "searchForNode", "highlightConfig": {}}),
    FRAME_ENABLES[1],
    ("Runtime.runIfWaitingForDebugger", {}),
)
LENT_AGAIN: Commands = (
    ("Overlay.setInspectMode", {"mode": "none", "highlightConfig": {}}),
    ("Overlay.disable", {}),
    ("DOM.disable", {}),
)

GUARD_ENABLES: Commands = (
    *FRAME_ENABLES,
    ("Page.setInterceptFileChooserDialog", {"enabled": True, "cancel": True}),
    # Keys of the owner are not asked for: a request ends at its own timeout instead of waiting at an invisible dialog.
    ("WebAuthn.enable", {"enableUI": False}),
)
