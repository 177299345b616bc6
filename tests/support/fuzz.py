"""How long the fuzzers run: a few seconds among the fast tests, about half a minute each in `./dev test slow`.

Both are deterministic: a failure comes again, and its input then becomes a named test beside the fuzzer.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

CALM = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
SHORT = settings(max_examples=1000, deadline=None, derandomize=True, suppress_health_check=CALM)
LONG = settings(max_examples=10_000, deadline=None, derandomize=True, suppress_health_check=CALM)


@st.composite
def mutated(draw: st.DrawFn, seeds: tuple[bytes, ...], pieces: tuple[bytes, ...]) -> bytes:
    """One of the `seeds` after a few cuts, swaps and insertions of `pieces` or of random bytes."""
    made = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        at, to = sorted((draw(st.integers(0, len(made))), draw(st.integers(0, len(made)))))
        match draw(st.sampled_from(("cut", "insert", "replace", "repeat", "noise", "end"))):
            case "cut":
                made = made[:at] + made[min(to, at + draw(st.integers(1, 8))) :]
            case "insert":
                made = made[:at] + draw(st.sampled_from(pieces)) + made[at:]
            case "replace":
                made = made[:at] + draw(st.sampled_from(pieces)) + made[at + 1 :]
            case "repeat":
                made = made[:to] + made[at:to] + made[to:]
            case "noise":
                made = made[:at] + draw(st.binary(min_size=1, max_size=3)) + made[at:]
            case _:
                made = made[:to]
    return made
