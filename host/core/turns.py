"""Fairness between the callers of one loop: who may go on when. Reads no clock; it is handed `now_s`."""

from __future__ import annotations

import math
from itertools import count

from host.core.bucket import Crowd, Share
from host.core.limits import KIB, MIB

SLICE_S = 0.0002
"""What one caller may take of a turn of the loop before everybody else has theirs; one dear line takes longer."""
LATER_S, TASK_S, RECORD_S = 0.00004, 0.00015, 0.00002
"""What a call is taken to cost later that was not answered at once, a command to a tab and anything else; and any call,
for its rows in the ledger."""
READ_S_PER_BYTE = 1e-9
"""What reading is taken to cost, whatever is in it."""
HEAVY_S, FEW_LINES, LARGE_BYTES = 0.0001, 3, 4 * KIB
"""What makes a turn heavy: so much time for more than a few lines or for what leaves more; or one line so large."""
CROWDED_SHARE, MODEST_SHARE = 0.15, 0.05
"""What one may take of all time with heavy turns while others are served; and who takes less counts as such another."""
MODEST_AFTER_S = 0.25
"""So long after its last heavy turn one is another whatever it took."""
CROWDED_RESULT_BYTES, EXPECTED_BYTES, S_PER_BYTE = 4 * MIB, 128 * KIB, 5e-9
"""What one may have coming in a crowd, what an answer is taken to hold at first, and what each byte of one costs: all
tabs share one pipe."""
QUEUED_ROWS, MOST_QUEUED_ROWS = 4_096, 16_384
"""Rows of the ledger that wait: above the first who floods waits for the writer, above the second everybody does."""
CATCH_UP_S = 0.002

_numbers = count(1)


class Turns:
    """One caller among a crowd: what its turns and answers cost, and how long it has to rest because of them."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._who = next(_numbers)
        self._share = Share()
        self._heavy_s = -math.inf
        self._usual_bytes: float = EXPECTED_BYTES

    def took(self, spent_s: float, now_s: float, lines: int, *, large: bool, more: bool) -> bool:
        """A turn is over in which so many lines were taken, a large one among them, and `more` wait: was it heavy?

        A few lines that took long were dear, or only interrupted: who sends no more than that is no flood.
        """
        heavy = large or (spent_s >= HEAVY_S and (more or lines > FEW_LINES))
        if heavy:
            self._heavy_s = now_s
            self._share.spend(spent_s, now_s)
        if now_s - self._heavy_s > MODEST_AFTER_S or not self._share.wait_s(MODEST_SHARE, now_s):
            self._crowd.served(self._who, now_s)
        return heavy

    def answered(self, size: int, now_s: float) -> None:
        """A result of so many bytes came."""
        self._usual_bytes += (size - self._usual_bytes) / 8
        if size > LARGE_BYTES:
            self._share.spend(size * S_PER_BYTE, now_s)

    def wait_s(self, now_s: float, in_flight: int, queued_rows: int) -> float:
        """How long before its next turn others, the tabs and the ledger want it to rest; ask again then. 0.0: go on."""
        wait_s = CATCH_UP_S if queued_rows > QUEUED_ROWS else 0.0
        if self._crowd.others(self._who, now_s):
            wait_s = max(wait_s, self._share.wait_s(CROWDED_SHARE, now_s))
            if in_flight * self._usual_bytes > CROWDED_RESULT_BYTES:
                wait_s = max(wait_s, CATCH_UP_S)
        return wait_s
