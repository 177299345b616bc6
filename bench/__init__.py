"""Measures the product against peers in the same run; nothing here is part of it."""
