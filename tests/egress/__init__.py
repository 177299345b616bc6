"""Where a tab may go: the proxy by itself, and every way out of a page."""
