"""Services around Chromium: process, profile, sessions and tabs; not who may use them."""
