"""A page as text: from a snapshot of its documents to texts in reading order, and where each is shown. Pure."""
