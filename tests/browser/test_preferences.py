"""What a profile folder holds before Chromium starts: our preferences over those that were there, and no draft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from host.browser.profile import BLOCK, BLOCKED, DOWNLOADS, Profile

SITE = "https://shop.example:443,*"
ALLOWED = {SITE: {"setting": 1}}


def prepared(folder: Path, before: object) -> dict[str, Any]:
    """The preferences of a profile that had these."""
    default = folder / "Default"
    default.mkdir()
    (default / "Preferences").write_text(json.dumps(before))
    Profile(folder, None, None).prepare()
    found: dict[str, Any] = json.loads((default / "Preferences").read_text())
    return found


def test_what_an_owner_allowed_sites_is_taken_back_and_all_else_is_kept(tmp_path: Path) -> None:
    found = prepared(
        tmp_path,
        {
            "intl": {"selected_languages": "de"},
            "hardware": {"screen_capture_enabled": True, "screen_capture_allowed_by_origins": ["https://shop.example"]},
            "profile": {
                "name": "Owner",
                "content_settings": {"exceptions": {"notifications": ALLOWED, "cookies": ALLOWED}},
                "default_content_setting_values": {"geolocation": 1, "popups": 1},
            },
            "webrtc": {"ip_handling_policy": "default", "ip_handling_url": [{"url": "*", "handling": "default"}]},
        },
    )
    assert found["intl"] == {"selected_languages": "de"}
    assert found["hardware"]["screen_capture_enabled"] is False
    assert found["hardware"]["screen_capture_allowed_by_origins"] == []
    assert found["profile"]["name"] == "Owner"
    exceptions = found["profile"]["content_settings"]["exceptions"]
    assert exceptions["cookies"] == ALLOWED
    assert [exceptions[name] for name in BLOCKED] == [{}] * len(BLOCKED)
    defaults = found["profile"]["default_content_setting_values"]
    assert defaults["popups"] == 1
    assert {defaults[name] for name in BLOCKED} == {BLOCK}
    assert found["webrtc"]["ip_handling_policy"] == "disable_non_proxied_udp"
    assert found["webrtc"]["ip_handling_url"] == []


ODD = (
    pytest.param([], id="a-list"),
    pytest.param({"profile": 1, "plugins": None}, id="no-objects"),
    pytest.param({"profile": {"content_settings": [], "default_content_setting_values": "x"}}, id="no-objects-deeper"),
    pytest.param({"profile": {"content_settings": {"exceptions": {"usb_guard": 1}}}}, id="no-objects-deepest"),
)


@pytest.mark.parametrize("before", ODD)
def test_preferences_of_another_shape_are_written_over(tmp_path: Path, before: object) -> None:
    found = prepared(tmp_path, before)
    assert found["profile"]["default_content_setting_values"]["usb_guard"] == BLOCK
    assert found["profile"]["content_settings"]["exceptions"]["usb_guard"] == {}
    assert found["plugins"] == {"always_open_pdf_externally": True}


def test_a_download_that_a_killed_chromium_had_begun_goes_and_a_file_of_the_owners_stays(tmp_path: Path) -> None:
    downloads = tmp_path / DOWNLOADS
    downloads.mkdir()
    (downloads / ".org.chromium.Chromium.AbCdEf").write_text("half a file")
    (downloads / "invoice.pdf").write_text("kept")
    Profile(tmp_path, None, None).prepare()
    assert [path.name for path in downloads.iterdir()] == ["invoice.pdf"]


def test_downloads_that_are_a_link_are_left_alone(tmp_path: Path) -> None:
    profile, elsewhere = tmp_path / "profile", tmp_path / "elsewhere"
    profile.mkdir()
    elsewhere.mkdir()
    (elsewhere / ".org.chromium.Chromium.AbCdEf").write_text("not ours")
    (profile / DOWNLOADS).symlink_to(elsewhere)
    Profile(profile, None, None).prepare()
    assert [path.name for path in elsewhere.iterdir()] == [".org.chromium.Chromium.AbCdEf"]
    assert (profile / "Default" / "Preferences").exists()
