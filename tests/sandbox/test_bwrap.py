"""What bubblewrap is asked for: the words that the boundary hangs on are there, for root and for others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from host.sandbox import bwrap

BWRAP = Path("/usr/bin/bwrap")


@pytest.mark.parametrize("root", [True, False])
def test_no_capability_is_left_but_those_to_become_another_user(root: bool) -> None:
    words = bwrap.arguments(BWRAP, [sys.executable, "worker.py"], root=root)
    dropped = words.index("--cap-drop")
    assert words[dropped + 1] == "ALL"
    added = [words[at + 1] for at, word in enumerate(words) if word == "--cap-add"]
    assert added == (["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"] if root else [])
    assert all(dropped < at for at, word in enumerate(words) if word == "--cap-add")  # what is added first is dropped


@pytest.mark.parametrize("root", [True, False])
def test_each_namespace_is_asked_for_and_nothing_of_the_machine_is_bound(root: bool) -> None:
    words = bwrap.arguments(BWRAP, [sys.executable, "worker.py"], root=root)
    assert set(words) >= {*bwrap.NAMESPACES, *bwrap.CONDUCT}
    assert ("--unshare-user" in words) is not root
    bound = [words[at + 1] for at, word in enumerate(words) if word in ("--ro-bind", "--dev-bind", "--bind")]
    assert not {"/", "/proc", "/etc", "/home", "/tmp", "/run", "/sys", "/dev", "/var"} & set(bound)
    assert words[-2:] == [sys.executable, "worker.py"]
