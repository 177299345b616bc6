"""Talking to Chromium: framing, transport and connection; not what a tab is lent for."""
