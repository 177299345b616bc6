"""The proxy through which all of Chromium's traffic goes: its process, and the host's side of it; rules are in core."""
