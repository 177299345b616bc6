"""One host for all commands of a profile: joining, leaving, dying, signing in; all as real processes."""
