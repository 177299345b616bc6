"""The whole host on real Chromium: what a caller sees on the wire, and what is left afterwards."""
