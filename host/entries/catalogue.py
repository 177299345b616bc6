"""All entries of this stage, by name."""

from __future__ import annotations

from collections.abc import Mapping

from host.dispatch.entry import Entry
from host.entries import about, app, browser, run, screenshot

ENTRIES: Mapping[str, Entry] = {
    entry.name: entry for entry in (*browser.ENTRIES, *screenshot.ENTRIES, *about.ENTRIES, *app.ENTRIES, *run.ENTRIES)
}
