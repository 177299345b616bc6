"""Clients that the product is compared with, each started in an environment of its own; they know only bench.app."""
