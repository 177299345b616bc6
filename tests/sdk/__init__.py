"""What a script imports, driven from the host's side of the wire."""
