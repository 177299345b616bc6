"""The pace of a caller, on a clock of the test's own."""

from __future__ import annotations

import pytest

from host.core.bucket import Bucket

CASES = (  # calls a second, when each call comes, which of them may begin
    pytest.param(3, [0, 0, 0, 0], "yyyn", id="a-second-at-once"),
    pytest.param(2, [0, 0, 0, 0.5, 0.5, 1.0], "yynyny", id="refilled-at-the-pace"),
    pytest.param(2, [0, 0, 100, 100, 100], "yyyyn", id="what-was-not-used-does-not-pile-up"),
    pytest.param(0.5, [0, 0, 1.9, 2.0, 3.9, 4.0], "ynnyny", id="less-than-one-a-second"),
    pytest.param(1.5, [0, 0, 0.4], "yny", id="a-fraction-is-kept"),
)


@pytest.mark.parametrize(("per_s", "times", "verdicts"), CASES)
def test_calls_begin_at_the_pace_and_no_faster(per_s: float, times: list[float], verdicts: str) -> None:
    bucket = Bucket(per_s, 0.0)
    assert "".join("y" if bucket.take(now) == 0.0 else "n" for now in times) == verdicts


def test_a_refusal_tells_when_the_next_call_may_begin() -> None:
    bucket = Bucket(4, 0.0)
    while not (wait_s := bucket.take(10.0)):
        pass
    assert wait_s == pytest.approx(0.25)
    assert bucket.take(10.0 + wait_s - 0.01) > 0
    assert bucket.take(10.0 + wait_s) == 0.0
