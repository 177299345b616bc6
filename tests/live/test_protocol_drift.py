"""The method table against the protocol that the installed Chromium describes itself."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.app import browser_uid
from host.browser.process import find_binary
from host.core.policy import Verdict, load_rules
from tests.support.processes import wait_until
from tests.support.protocol import drift, parameter_names

PINNED: dict[str, list[str]] = json.loads(
    (Path(__file__).parents[1] / "core/data/conditional-params.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def installed(folder: Path) -> Iterator[dict[str, Any]]:
    """What the installed Chromium says, asked over a port that only this test's Chromium has."""
    profile, uid = folder / "drift", browser_uid()
    profile.mkdir(mode=0o700)
    if uid is not None:
        os.chown(profile, uid, uid)
    flags = ("--headless=new", "--remote-debugging-port=0", "--no-first-run", "--disable-gpu", "about:blank")
    who: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": ()}
    process = subprocess.Popen(
        [find_binary(os.environ.get("CAPSDK_BROWSER")), *flags, f"--user-data-dir={profile}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"HOME": str(profile), "PATH": "/nonexistent"},
        cwd=profile,
        start_new_session=True,
        **who,
    )
    try:
        port = profile / "DevToolsActivePort"
        wait_until(lambda: port.is_file() and "\n" in port.read_text(), 20.0, "Chromium's port")
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port.read_text().split()[0]}/json/protocol", timeout=10
        ) as reply:
            yield json.load(reply)
    finally:
        process.terminate()
        process.wait(10.0)


def test_every_command_of_the_installed_chromium_is_in_the_table_as_its_rule_was_written(
    installed: dict[str, Any],
) -> None:
    found = drift(installed, load_rules(), PINNED)
    assert found == [], "\n".join(found)


def test_each_conditional_rule_of_the_table_has_its_parameters_pinned() -> None:
    assert set(PINNED) == {rule.method for rule in load_rules().values() if rule.verdict is Verdict.CONDITIONAL}


def test_a_chromium_that_differs_is_told_line_by_line(installed: dict[str, Any]) -> None:
    other = copy.deepcopy(installed)
    pages = next(domain for domain in other["domains"] if domain["domain"] == "Page")
    navigate = next(command for command in pages["commands"] if command["name"] == "navigate")
    pages["commands"] = [command for command in pages["commands"] if command["name"] != "reload"]
    pages["commands"].append({"name": "readMind"})
    navigate["parameters"] = [field for field in navigate["parameters"] if field["name"] != "frameId"]
    navigate["parameters"].append({"name": "asAnotherUser"})
    lines = drift(other, load_rules(), PINNED)
    assert [line.split(": ")[:3] for line in lines] == [
        ["changed", "Page.navigate", "gone"],
        ["changed", "Page.navigate", "new"],
        ["gone", "Page.reload", lines[2].split(": ")[2]],
        ["new", "Page.readMind", lines[3].split(": ")[2]],
    ]
    assert "frameId" in lines[0]
    assert "asAnotherUser" in lines[1]


def test_parameters_inside_objects_are_told_too(installed: dict[str, Any]) -> None:
    assert {"cookies", "cookies.partitionKey", "cookies.domain"} <= set(
        parameter_names(installed, "Network.setCookies")
    )
    assert "data.files" in parameter_names(installed, "Input.dispatchDragEvent")
