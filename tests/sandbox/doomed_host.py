"""Run as `python doomed_host.py CACHE_DIR TIER`: keeps a worker busy, prints its pid, waits to be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from host.sandbox.lock import Limits
from tests.sandbox.support import conversation, probe_config

if __name__ == "__main__":
    with conversation(probe_config(Path(sys.argv[1]), sys.argv[2]), limits=Limits(cpu_s=30)) as talk:
        talk.say("[signal.signal(s, lambda *a: None) for s in range(1, 32) if s not in (9, 19)]\nwhile True: pass")
        print(talk.worker.pid, flush=True)
        time.sleep(60)
