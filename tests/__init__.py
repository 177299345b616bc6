"""Proof: what the project promises, as tests."""
