"""Results on their way to an AI: what of them is looked through, and their masked copy. Pure."""
