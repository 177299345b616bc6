"""Each SDK entry, declared once, one file per area; not how a caller reaches it."""
