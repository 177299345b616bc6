"""Keys, tokens, cookies and passwords: the shapes of `host.core.pii.secrets` as a recognizer."""

from __future__ import annotations

from collections.abc import Iterator

from host.core.pii import secrets
from host.redact.quick import finds
from host.redact.recognizers.base import Hit, Page, Rules


class Credentials(Rules):
    """What opens a door."""

    types = ("KEY", "TOKEN", "COOKIE", "PASSWORD", "SECRET")

    def hits(self, text: str, page: Page) -> Iterator[Hit]:
        """Vendors' shapes, values behind credential words, long random words."""
        for start, end, kind, name in secrets.vendor_secrets(text, finds):
            yield Hit(start, end, kind, 1.0, f"secret {name}")
        for start, end, kind, name in secrets.labelled_secrets(text, finds):
            yield Hit(start, end, kind, 0.8, f"secret {name}")
        if len(text) >= 24:
            for start, end, kind, name in secrets.random_runs(text, finds):
                yield Hit(start, end, kind, 0.5, f"secret {name}")
