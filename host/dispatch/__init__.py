"""The one path that every call takes; not what a single entry does."""
