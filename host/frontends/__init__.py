"""The doors: bytes to (caller, name, args) and back; a door knows only the dispatcher."""
