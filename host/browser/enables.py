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

# Frames come paused, so that their first request is seen; workers and service workers, which others share, do not come.
FRAME_ENABLES: Commands = (
    ("Page.enable", {}),
    (
        "Target.setAutoAttach",
        {
            "autoAttach": True,
            "waitForDebuggerOnStart": True,
            "flatten": True,
            "filter": [{"type": "iframe"}, {"exclude": True}],
        },
    ),
)

GUARD_ENABLES: Commands = (
    *FRAME_ENABLES,
    ("Page.setInterceptFileChooserDialog", {"enabled": True, "cancel": True}),
)
