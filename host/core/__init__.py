"""Decisions and arithmetic: no waiting, no clock, no random numbers, no I/O."""
