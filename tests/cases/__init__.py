"""Conditions that trip browser tools in practice, each brought about by a page of its own, on real Chromium."""
