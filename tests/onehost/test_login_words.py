"""What `capsdk login` refuses before anything starts, and how Chromium is started for a window; no Chromium here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from capsdk.errors import UnavailableError
from host.browser.process import ChromiumConfig
from host.browser.profile import Profile
from host.browser.window import (
    Display,
    display_of,
    open_window,
    window_arguments,
    window_environment,
    window_failure,
)
from tests.support.stdio import capsdk

NOT_OPENED = (  # URL, status, code
    pytest.param("about:blank", 77, "BROWSER_POLICY_DENIED", id="blank"),
    pytest.param("file:///etc/passwd", 77, "BROWSER_POLICY_DENIED", id="file"),
    pytest.param("javascript:alert(1)", 77, "BROWSER_POLICY_DENIED", id="javascript"),
    pytest.param("chrome://settings", 77, "BROWSER_POLICY_DENIED", id="chrome"),
    pytest.param("http://127.0.0.1:9/", 77, "BROWSER_POLICY_DENIED", id="loopback-that-is-not-open"),
    pytest.param("https://me:secret@shop.example/", 77, "BROWSER_POLICY_DENIED", id="credentials"),
    pytest.param("http://printer/", 77, "BROWSER_POLICY_DENIED", id="single-label-that-is-not-open"),
    pytest.param("https://shop.example/", 69, "BROWSER_UNAVAILABLE", id="no-display"),
)


@pytest.mark.parametrize(("url", "status", "code"), NOT_OPENED)
def test_what_cannot_be_opened_is_one_clear_line_and_no_host(place: Path, url: str, status: int, code: str) -> None:
    done = capsdk(place, "login", url, env={"DISPLAY": "", "WAYLAND_DISPLAY": ""})
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (status, b"", 1)
    assert code.encode() in done.stderr
    assert not (place / "state").exists()


def test_the_window_has_the_display_and_nothing_else_of_the_owners_environment() -> None:
    ours = {"DISPLAY": ":7", "HOME": "/home/owner", "PATH": "/usr/bin", "LANG": "de_DE.UTF-8", "SECRET": "1"}
    shown = display_of(ours)
    assert shown == Display(":7", "", "/home/owner/.Xauthority", "")
    made = window_environment(Path("/p"), ours, shown, "/tmp/key")
    assert made == {
        "LANG": "de_DE.UTF-8", "HOME": "/p", "PATH": "/nonexistent", "DISPLAY": ":7", "XAUTHORITY": "/tmp/key",
    }  # fmt: skip
    wayland = Display("", "wayland-0", "", "/run/user/7")
    made = window_environment(Path("/p"), {}, wayland, "")
    assert made == {
        "HOME": "/p", "PATH": "/nonexistent", "WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": "/run/user/7",
    }  # fmt: skip


def test_the_windows_flags_keep_what_the_hidden_one_has_but_the_debugger() -> None:
    words = window_arguments("/c", Path("/p"), "https://shop.example/", Display(":7"), sandbox=True, proxy_port=8731)
    assert words[0] == "/c"
    assert words[-2:] == ["--user-data-dir=/p", "https://shop.example/"]
    assert "--proxy-server=http://127.0.0.1:8731" in words
    assert {"--password-store=basic", "--disable-extensions", "--ozone-platform=x11"} <= set(words)
    assert [word for word in words if "debugging" in word or "headless" in word or "sandbox" in word] == []


async def test_a_wayland_display_cannot_be_lent_to_the_browsers_own_user(tmp_path: Path) -> None:
    opening = open_window(
        ChromiumConfig(uid=64190), Profile(tmp_path, 64190, None), "https://a.example/", Display("", "wayland-0"), 8731
    )
    with pytest.raises(UnavailableError) as problem:
        await opening.__aenter__()
    assert (problem.value.code, problem.value.details) == ("BROWSER_UNAVAILABLE", {"reason": "display"})
    assert os.listdir(tmp_path) == []


ENDS = (  # status, its words, seconds it ran, code
    pytest.param(1, "ERROR: Missing X server or $DISPLAY", 0.4, "BROWSER_LAUNCH_FAILED", id="no-server"),
    pytest.param(21, "", 0.4, "PROFILE_LOCKED", id="profile-in-use"),
    pytest.param(139, "", 300.0, "BROWSER_GONE", id="crashed-later"),
)


@pytest.mark.parametrize(("status", "stderr", "ran_s", "code"), ENDS)
def test_how_a_window_ended_is_told_apart(status: int, stderr: str, ran_s: float, code: str) -> None:
    assert window_failure(status, stderr, ran_s, 7).code == code
