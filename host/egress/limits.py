"""How long the proxy waits and how much it holds; not who may go where."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Deadlines in seconds and sizes in bytes, for one proxy. Deadlines are looked at every `sweep_s`."""

    connections: int = 4096
    request_head_bytes: int = 64 * KIB
    response_head_bytes: int = 256 * KIB
    read_bytes: int = 256 * KIB  # of one read, while little is held
    held_bytes: int = 8 * 1024 * KIB  # what all connections together should hold for slow readers; reads shrink near it
    head_s: float = 60.0  # for the whole head of a request, from its first byte
    idle_s: float = 120.0  # between two requests
    resolve_s: float = 10.0
    connect_s: float = 10.0
    answer_s: float = 300.0  # from the request to the head of its answer
    body_s: float = 300.0  # without a byte, inside a body
    tunnel_s: float = 3600.0  # without a byte, in a tunnel
    linger_s: float = 2.0  # for the client to take its last answer
    sweep_s: float = 2.0
    lookups: int = 16  # names looked up side by side
    tell_s: float = 1.0  # a place that goes on being refused is told once in this time, with the count
