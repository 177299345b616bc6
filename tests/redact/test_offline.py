"""Finding and reading without any network: nothing is fetched, at no time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stdio import ROOT, environment

ASK = """
import asyncio, json, socket
from host.core.settings import Settings
from host.piitest import look_through, tried
try:
    socket.create_connection(("192.0.2.1", 80), 0.3)
    net = "connected"
except OSError as problem:
    net = problem.strerror or "timed out"
async def main():
    told = await look_through(Settings(), "Contact: Jane Doe\\nmail jane.doe@example.com", "")
    return [net, [row["type"] for row in told["found"]], await tried(Settings())]
print(json.dumps(asyncio.run(main())))
"""


@pytest.fixture(scope="module")
def without_network() -> list[str]:
    """Words before a command that give it a network with nothing in it."""
    bwrap = shutil.which("bwrap")
    words = [str(bwrap), "--dev-bind", "/", "/", "--unshare-net", "--"]
    if bwrap is None or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("bubblewrap cannot take the network away here")
    return words


def test_private_details_are_found_and_pictures_read_where_there_is_no_network(
    without_network: list[str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [*without_network, sys.executable, "-c", ASK],
        capture_output=True,
        cwd=ROOT,
        env=environment(tmp_path),
        timeout=90,
        check=False,
    )
    net, types, (_, engine_mend, ocr, ocr_mend) = json.loads(done.stdout)
    assert net == os.strerror(101), "there was a network"  # ENETUNREACH: the control
    assert types == ["PERSON", "EMAIL"]
    assert (engine_mend, ocr_mend) == ("", ""), ocr
