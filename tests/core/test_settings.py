"""Limits and settings: defaults as designed, later words over earlier ones, a ceiling that only sinks."""

from __future__ import annotations

import re
from typing import Any

import pytest

from host.core.grants import Level
from host.core.limits import Limits
from host.core.settings import Settings, SettingsError, from_environment, from_project, from_table

KIB, MIB = 1024, 1024 * 1024

DEFAULTS = (
    ("sessions_per_client", 8),
    ("sessions_per_host", 16),
    ("command_timeout_s", 20.0),
    ("open_timeout_s", 20.0),
    ("params_bytes", 64 * KIB),
    ("params_depth", 100),
    ("result_bytes", MIB),
    ("line_bytes", MIB),
    ("events_kept", 500),
    ("events_bytes", MIB),
    ("event_bytes", 64 * KIB),
    ("poll_events", 100),
    ("poll_bytes", 128 * KIB),
    ("poll_wait_s", 20.0),
    ("pipe_held_s", 5.0),
    ("pipe_held_window_s", 60.0),
    ("dialog_answer_s", 5.0),
    ("dialog_answer_chat_s", 60.0),
    ("idle_expiry_s", 120.0),
    ("log_message_bytes", 8 * KIB),
    ("screenshot_timeout_s", 60.0),
    ("screenshot_bytes", 4096 * KIB),
)


@pytest.mark.parametrize(("name", "value"), DEFAULTS)
def test_a_limit_has_the_default_of_the_design(name: str, value: float) -> None:
    assert Limits().public()[name] == value


def test_every_limit_has_its_unit_or_what_it_counts_in_its_name() -> None:
    unit = re.compile(r"(_s|_bytes|_depth|_chars|_mb|_lines|_in_flight|_kept|_pixels)$|^(sessions_per|poll_events)")
    assert [name for name in Limits().public() if not unit.search(name)] == []


def test_later_words_hold_over_earlier_ones() -> None:
    user = from_table(Settings(), {"browser": "/opt/a", "limits": {"params_bytes": 1000, "poll_wait_s": 5}}, "user")
    project = from_table(user, {"limits": {"params_bytes": 2000}, "browser_sandbox": False}, "project")
    final = from_environment(project, {"CAPSDK_BROWSER": "/opt/b", "CAPSDK_LIMIT_PARAMS_BYTES": "3000", "HOME": "/x"})
    assert (user.limits.params_bytes, project.limits.params_bytes, final.limits.params_bytes) == (1000, 2000, 3000)
    assert (final.limits.poll_wait_s, final.browser, final.browser_sandbox) == (5.0, "/opt/b", False)
    assert user.browser == "/opt/a"


def test_types_of_private_details_are_switched_off_by_a_list_or_a_variable() -> None:
    user = from_table(Settings(), {"pii": {"off": ["IP_ADDRESS", "HANDLE"], "recognizers": "own.yaml"}}, "user")
    assert (user.pii_off, user.pii_recognizers) == (frozenset(("IP_ADDRESS", "HANDLE")), "own.yaml")
    assert from_environment(user, {"CAPSDK_PII_OFF": "PHONE,CARD"}).pii_off == frozenset(("PHONE", "CARD"))
    with pytest.raises(SettingsError):  # a folder that may be somebody else's unmasks nothing
        from_project(user, {"pii": {"off": ["EMAIL"]}}, "capsdk.toml")


CEILINGS = (  # user file, project file, environment, what holds
    pytest.param("ask", None, None, Level.ASK, id="user-alone"),
    pytest.param("ask", "allow", "allow", Level.ASK, id="never-raised-again"),
    pytest.param("allow", "ask", "allow", Level.ASK, id="lowered-by-the-project"),
    pytest.param("ask", "ask", "off", Level.OFF, id="lowered-by-the-environment"),
    pytest.param("off", "allow", "allow", Level.OFF, id="off-stays-off"),
)


@pytest.mark.parametrize(("user", "project", "environment", "level"), CEILINGS)
def test_a_ceiling_only_ever_gets_lower(user: str, project: str | None, environment: str | None, level: Level) -> None:
    made = from_table(Settings(), {"ceiling": {"browser.debug": user}}, "user")
    if project is not None:
        made = from_table(made, {"ceiling": {"browser.debug": project, "browser.view": "ask"}}, "project")
    if environment is not None:
        made = from_environment(made, {"CAPSDK_CEILING": f"browser.debug={environment}"})
    assert made.ceiling["browser.debug"] is level


BAD_TABLES = (
    pytest.param({"browsr": "x"}, "browsr", id="unknown-key"),
    pytest.param({"browser": 7}, "browser", id="text-is-a-number"),
    pytest.param({"browser": ""}, "browser", id="text-is-empty"),
    pytest.param({"browser_sandbox": "yes"}, "browser_sandbox", id="switch-is-another-word"),
    pytest.param({"browser_sandbox": 1}, "browser_sandbox", id="switch-is-a-number"),
    pytest.param({"browser_sandbox": [True]}, "browser_sandbox", id="switch-is-a-list"),
    pytest.param({"egress": "x"}, "egress", id="egress-is-a-text"),
    pytest.param({"egress": {"proxy": "http://p:3128"}}, "proxy", id="egress-unknown-key"),
    pytest.param({"egress": {"upstream_proxy": 3128}}, "upstream_proxy", id="upstream-is-a-number"),
    pytest.param({"egress": {"upstream_proxy": "p:3128"}}, "upstream_proxy", id="upstream-without-scheme"),
    pytest.param({"egress": {"upstream_proxy": "https://p:3128"}}, "upstream_proxy", id="upstream-https"),
    pytest.param({"egress": {"upstream_proxy": "socks5://p:1080"}}, "upstream_proxy", id="upstream-socks"),
    pytest.param({"egress": {"upstream_proxy": "http://p"}}, "upstream_proxy", id="upstream-without-port"),
    pytest.param({"egress": {"upstream_proxy": "http://p:0"}}, "upstream_proxy", id="upstream-port-zero"),
    pytest.param({"egress": {"upstream_proxy": "http://p:70000"}}, "upstream_proxy", id="upstream-port-absurd"),
    pytest.param({"egress": {"upstream_proxy": "http://p:3128/path"}}, "upstream_proxy", id="upstream-with-path"),
    pytest.param({"egress": {"upstream_proxy": "http://p:3128\nx"}}, "upstream_proxy", id="upstream-with-newline"),
    pytest.param({"pii": ["PHONE"]}, "pii", id="pii-is-a-list"),
    pytest.param({"pii": {"on": []}}, "on", id="pii-unknown-key"),
    pytest.param({"pii": {"off": [1]}}, "off", id="pii-type-is-a-number"),
    pytest.param({"pii": {"off": ["phone number"]}}, "off", id="pii-type-is-two-words"),
    pytest.param({"pii": {"recognizers": ""}}, "recognizers", id="pii-file-without-a-name"),
    pytest.param({"ceiling": "ask"}, "ceiling", id="ceiling-is-a-text"),
    pytest.param({"ceiling": {"browser.x": "ask"}}, "browser.x", id="ceiling-unknown-capability"),
    pytest.param({"ceiling": {"browser.debug": "maybe"}}, "maybe", id="ceiling-unknown-level"),
    pytest.param({"ceiling": {"browser.debug": True}}, "ceiling", id="ceiling-is-a-switch"),
    pytest.param({"limits": 5}, "limits", id="limits-is-a-number"),
    pytest.param({"limits": {"params": 5}}, "params", id="unknown-limit"),
    pytest.param({"limits": {"params_bytes": "many"}}, "params_bytes", id="limit-is-a-word"),
    pytest.param({"limits": {"params_bytes": [1]}}, "params_bytes", id="limit-is-a-list"),
    pytest.param({"limits": {"params_bytes": True}}, "params_bytes", id="limit-is-a-switch"),
    pytest.param({"limits": {"params_bytes": 0}}, "params_bytes", id="limit-zero"),
    pytest.param({"limits": {"params_bytes": -1}}, "params_bytes", id="limit-negative"),
    pytest.param({"limits": {"params_bytes": 1.5}}, "params_bytes", id="limit-fraction"),
    pytest.param({"limits": {"params_bytes": float("inf")}}, "params_bytes", id="limit-infinite"),
    pytest.param({"limits": {"poll_wait_s": float("nan")}}, "poll_wait_s", id="limit-nan"),
    pytest.param({"limits": {"poll_wait_s": float("inf")}}, "poll_wait_s", id="limit-infinite-seconds"),
    pytest.param({"limits": {"params_bytes": 2**80}}, "params_bytes", id="limit-absurd"),
    pytest.param({"limits": {"params_bytes": "9" * 5000}}, "params_bytes", id="limit-endless"),
)


@pytest.mark.parametrize(("table", "named"), BAD_TABLES)
def test_a_bad_setting_ends_with_status_78_and_names_key_and_place(table: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        from_table(Settings(), table, "config.toml")
    assert (caught.value.exit_code, caught.value.category) == (78, "invalid_argument")
    assert named in caught.value.message
    assert "config.toml" in caught.value.message


BAD_VARIABLES = (
    pytest.param({"CAPSDK_BROWSR": "x"}, id="unknown"),
    pytest.param({"CAPSDK_BROWSER_SANDBOX": "yes"}, id="switch"),
    pytest.param({"CAPSDK_LIMITS": "5"}, id="limits-at-once"),
    pytest.param({"CAPSDK_EGRESS_PROXY": "http://p:3128"}, id="unknown-of-egress"),
    pytest.param({"CAPSDK_EGRESS": "http://p:3128"}, id="egress-at-once"),
    pytest.param({"CAPSDK_LIMIT_NONE": "5"}, id="unknown-limit"),
    pytest.param({"CAPSDK_LIMIT_PARAMS_BYTES": ""}, id="limit-empty"),
    pytest.param({"CAPSDK_CEILING": "browser.debug"}, id="ceiling-without-a-level"),
    pytest.param({"CAPSDK_CEILING": "browser.x=off"}, id="ceiling-unknown-capability"),
)


@pytest.mark.parametrize("environment", BAD_VARIABLES)
def test_a_bad_variable_ends_with_status_78(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        from_environment(Settings(), environment)
    assert caught.value.exit_code == 78


UPSTREAMS = (  # as it is written, as it is used
    pytest.param("http://proxy.corp.example:3128", "http://proxy.corp.example:3128", id="name"),
    pytest.param("http://10.0.0.1:8080/", "http://10.0.0.1:8080", id="address-and-slash"),
    pytest.param("http://[fd00::1]:8080", "http://[fd00::1]:8080", id="six"),
)


@pytest.mark.parametrize(("written", "used"), UPSTREAMS)
def test_an_upstream_proxy_is_set_by_the_users_file_or_the_environment(written: str, used: str) -> None:
    assert from_table(Settings(), {"egress": {"upstream_proxy": written}}, "user").upstream_proxy == used
    assert from_environment(Settings(), {"CAPSDK_EGRESS_UPSTREAM_PROXY": written}).upstream_proxy == used
    assert Settings().upstream_proxy is None


def test_a_password_in_the_upstream_proxy_is_refused_and_not_repeated() -> None:
    given = "http://me:pass-word@p:3128"
    with pytest.raises(SettingsError) as from_file:
        from_table(Settings(), {"egress": {"upstream_proxy": given}}, "config.toml")
    with pytest.raises(SettingsError) as from_variable:
        from_environment(Settings(), {"CAPSDK_EGRESS_UPSTREAM_PROXY": given})
    for refused in (from_file.value, from_variable.value):
        assert "upstream_proxy" in refused.message
        assert "pass-word" not in refused.message


def test_variables_of_others_and_empty_ones_change_nothing() -> None:
    assert from_environment(Settings(), {"PATH": "/bin", "CAPSDK_BROWSER": "", "capsdk_browser": "x"}) == Settings()


def test_the_sandbox_of_the_browser_is_switched_by_a_word() -> None:
    assert from_environment(Settings(), {"CAPSDK_BROWSER_SANDBOX": "off"}).browser_sandbox is False
    assert from_environment(Settings(), {"CAPSDK_BROWSER_SANDBOX": "on"}).browser_sandbox is True


FOREIGN = (
    pytest.param({"browser": "./evil"}, id="a-program"),
    pytest.param({"browser_sandbox": "off"}, id="the-sandbox"),
    pytest.param({"profile_dir": "/x"}, id="the-logins"),
    pytest.param({"state_dir": "/x"}, id="the-grants"),
    pytest.param({"egress": {"upstream_proxy": "http://p:3128"}}, id="the-way-out"),
)


@pytest.mark.parametrize("table", FOREIGN)
def test_a_file_in_somebody_elses_folder_sets_no_program_and_no_place(table: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as refused:
        from_project(Settings(), table, "capsdk.toml")
    assert refused.value.exit_code == 78


def test_a_project_may_lower_the_ceiling_and_set_limits() -> None:
    made = from_project(Settings(), {"ceiling": {"browser.debug": "ask"}, "limits": {"poll_events": 5}}, "capsdk.toml")
    assert (made.ceiling["browser.debug"], made.limits.poll_events) == (Level.ASK, 5)
