"""The owner's settings: what may be set, and how a user file, a project file, the environment and flags combine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from capsdk.errors import InvalidArgumentError
from host.core.grants import CAPABILITIES, Level, parse_level, strictest
from host.core.limits import Limits


class SettingsError(InvalidArgumentError):
    """A setting that cannot be used; the command ends with status 78."""

    exit_code = 78

    def __init__(self, message: str) -> None:
        super().__init__("BAD_ARGUMENTS", message)


@dataclass(frozen=True, slots=True)
class Settings:
    """All that the owner can set. Folders None: the platform's usual places."""

    state_dir: str | None = None
    cache_dir: str | None = None
    profile_dir: str | None = None
    browser: str | None = None
    browser_sandbox: bool = True
    upstream_proxy: str | None = None  # http://HOST:PORT
    pii_off: frozenset[str] = frozenset()  # types of private details that are not looked for
    pii_recognizers: str | None = None  # a file of the owner's own, in Presidio's YAML
    ceiling: Mapping[str, Level] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


TEXTS = ("state_dir", "cache_dir", "profile_dir", "browser")
PROJECT_KEYS = frozenset(("ceiling", "limits"))
"""What a file in the working folder may set: such a folder may be somebody else's, and programs and places are not."""
LIMIT_TYPES = {one.name: one.type for one in fields(Limits)}
ENV_PREFIX = "CAPSDK_"
ENV_LIMIT = "CAPSDK_LIMIT_"
ENV_EGRESS = "CAPSDK_EGRESS_"
ENV_PII = "CAPSDK_PII_"
ENV_CEILING = "CAPSDK_CEILING"
TYPE = re.compile(r"[A-Z][A-Z0-9_]{1,60}", re.ASCII)
PROXY = re.compile(r"http://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})/?", re.ASCII)


def from_table(base: Settings, table: Mapping[str, Any], where: str) -> Settings:
    """Settings of a TOML table over `base`. A ceiling only ever gets lower. Raises SettingsError naming the key."""
    made = base
    for key, value in table.items():
        if key in TEXTS:
            changes: dict[str, Any] = {key: _text(value, f"{where}: {key}")}
            made = replace(made, **changes)
        elif key == "browser_sandbox":
            made = replace(made, browser_sandbox=_switch(value, f"{where}: {key}"))
        elif key == "egress" and isinstance(value, Mapping):
            made = _egress(made, value, f"{where}: egress")
        elif key == "pii" and isinstance(value, Mapping):
            made = _pii(made, value, f"{where}: pii")
        elif key == "ceiling" and isinstance(value, Mapping):
            made = replace(made, ceiling=_lower(made.ceiling, value, where))
        elif key == "limits" and isinstance(value, Mapping):
            made = replace(made, limits=_limits(made.limits, value, where))
        else:
            raise SettingsError(f"{where}: {key!r} is not a setting, or not of its type; see references/settings.md")
    return made


def from_project(base: Settings, table: Mapping[str, Any], where: str) -> Settings:
    """Settings of a project file over `base`. Raises SettingsError for what only the owner's own places may set."""
    for key in table:
        if key not in PROJECT_KEYS:
            raise SettingsError(f"{where}: a project may not set {key!r}; set it in your own config.toml")
    return from_table(base, table, where)


def from_environment(base: Settings, environment: Mapping[str, str]) -> Settings:
    """Settings of `CAPSDK_*` variables over `base`. Raises SettingsError naming the variable."""
    table: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    egress: dict[str, Any] = {}
    pii: dict[str, Any] = {}
    for name, value in environment.items():
        if name.startswith(ENV_LIMIT):
            limits[name[len(ENV_LIMIT) :].lower()] = value
        elif name.startswith(ENV_EGRESS) and value:
            egress[name[len(ENV_EGRESS) :].lower()] = value
        elif name.startswith(ENV_PII) and value:
            pii[name[len(ENV_PII) :].lower()] = value
        elif name == ENV_CEILING:
            table["ceiling"] = dict(pair.partition("=")[::2] for pair in value.split(",") if pair)
        elif name.startswith(ENV_PREFIX) and value:
            table[name[len(ENV_PREFIX) :].lower()] = value
    if egress:
        table["egress"] = egress
    if pii:
        table["pii"] = pii
    if limits:
        table["limits"] = limits
    return from_table(base, table, "environment")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{where} is a text")
    return value


def _switch(value: Any, where: str) -> bool:
    words = {"on": True, "off": False, True: True, False: False}
    if not isinstance(value, str | bool) or value not in words:
        raise SettingsError(f"{where} is on or off")
    return words[value]


def _egress(base: Settings, table: Mapping[str, Any], where: str) -> Settings:
    for name in table:
        if name != "upstream_proxy":
            raise SettingsError(f"{where}: {name!r} is not a setting; see references/settings.md")
    given = _text(table.get("upstream_proxy"), f"{where}.upstream_proxy")
    match = PROXY.fullmatch(given)
    if match is None or not 0 < int(match[2]) < 65536:
        # It is not quoted: somebody may have put a password into it.
        raise SettingsError(f"{where}.upstream_proxy is http://HOST:PORT; no other scheme, path or password is taken")
    return replace(base, upstream_proxy=given.removesuffix("/"))


def _pii(base: Settings, table: Mapping[str, Any], where: str) -> Settings:
    made = base
    for name, value in table.items():
        if name == "recognizers":
            made = replace(made, pii_recognizers=_text(value, f"{where}.recognizers"))
        elif name == "off":
            types = value.split(",") if isinstance(value, str) else value
            if not isinstance(types, list) or not all(isinstance(one, str) and TYPE.fullmatch(one) for one in types):
                raise SettingsError(f"{where}.off is a list of types, such as ['IP_ADDRESS']")
            made = replace(made, pii_off=frozenset(types))
        else:
            raise SettingsError(f"{where}: {name!r} is not a setting; see references/settings.md")
    return made


def _lower(base: Mapping[str, Level], table: Mapping[str, Any], where: str) -> dict[str, Level]:
    made = dict(base)
    for capability, text in table.items():
        if capability not in CAPABILITIES:
            raise SettingsError(f"{where}: ceiling: {capability!r} is not a capability")
        try:
            level = parse_level(str(text))
        except InvalidArgumentError as problem:
            raise SettingsError(f"{where}: ceiling: {problem.message}") from None
        made[capability] = strictest(level, made.get(capability, Level.ALLOW))
    return made


def _limits(base: Limits, table: Mapping[str, Any], where: str) -> Limits:
    changes: dict[str, Any] = {}
    for name, value in table.items():
        if name not in LIMIT_TYPES:
            raise SettingsError(f"{where}: limits: {name!r} is not a limit")
        whole = LIMIT_TYPES[name] in (int, "int")
        try:
            number = int(value) if whole else float(value)
        except (TypeError, ValueError, OverflowError):
            raise SettingsError(f"{where}: limits: {name} is a number") from None
        cut = whole and isinstance(value, float) and value != number
        if isinstance(value, bool) or cut or not 0 < number < 2**40:
            raise SettingsError(f"{where}: limits: {name} is a {'whole ' if whole else ''}number above 0")
        changes[name] = number
    return replace(base, **changes)
