"""The host: owns Chromium and lends tabs to callers; a script imports `capsdk`, never this."""
