"""The 30 probes: what untrusted code tries against the machine, in each setting, beside a control that bites."""
