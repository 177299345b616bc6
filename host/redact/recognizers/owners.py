"""Recognizers that an owner wrote, in Presidio's own YAML: read with every mistake named by key and line."""

from __future__ import annotations

from typing import Any

import regex  # type: ignore[import-untyped]  # what Presidio runs patterns with; comes without types
import yaml  # type: ignore[import-untyped]  # comes without types
from presidio_analyzer import Pattern, PatternRecognizer

from host.redact.recognizers.base import LANGUAGE

_KEYS = {
    "name", "supported_entity", "supported_entities", "supported_language", "supported_languages", "patterns",
    "deny_list", "deny_list_score", "context", "type", "enabled", "global_regex_flags", "version", "country_code",
}  # fmt: skip
_MOST_RECOGNIZERS = 200


class Mistake(ValueError):
    """What is wrong with the YAML, where, and what to write instead."""

    def __init__(self, node: yaml.Node | None, key: str, why: str) -> None:
        line = node.start_mark.line + 1 if node is not None else 1
        super().__init__(f"line {line}, {key}: {why}")


def read(text: str) -> list[PatternRecognizer]:
    """The recognizers in `text`; raises ValueError naming the line and the key."""
    if not text.strip():
        return []
    root = _composed(text)
    items = _child(root, "recognizers")
    if not isinstance(items, yaml.SequenceNode):
        raise Mistake(items or root, "recognizers", "must be a list of recognizers; begin the file with `recognizers:`")
    if len(items.value) > _MOST_RECOGNIZERS:
        raise Mistake(
            items, "recognizers", f"{len(items.value)} recognizers, the limit is {_MOST_RECOGNIZERS}; join some"
        )
    return [one for item in items.value for one in _recognizer(item)]


def _composed(text: str) -> yaml.MappingNode:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark is not None else 1
        raise ValueError(f"line {line}, YAML: {error.problem or 'not YAML'}; mend the line") from None
    except yaml.YAMLError as error:
        raise ValueError(f"line 1, YAML: {str(error).splitlines()[0]}; mend the file") from None
    if not isinstance(root, yaml.MappingNode):
        raise Mistake(root, "recognizers", "is missing; begin the file with `recognizers:`")
    return root


def _child(node: yaml.Node, key: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                found: yaml.Node = value
                return found
    return None


def _plain(node: yaml.Node | None) -> Any:
    if node is None:
        return None
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node, deep=True)
    except yaml.YAMLError as error:
        raise Mistake(node, "YAML", f"{str(error).splitlines()[0]}; write a plain value") from None
    finally:
        loader.dispose()


def _text(node: yaml.Node, key: str, default: str | None = None) -> str:
    found = _child(node, key)
    value = _plain(found)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not value.strip():
        raise Mistake(found or node, key, "must be a text; add it")
    return value


def _texts(node: yaml.Node, key: str) -> list[str]:
    found = _child(node, key)
    value = _plain(found)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise Mistake(found, key, "must be a list of texts; write one a line with `- `")
    return value


def _score(node: yaml.Node, key: str, default: float) -> float:
    found = _child(node, key)
    value = _plain(found)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Mistake(found, key, "must be a number from 0 to 1; change it")
    return float(value)


def _recognizer(node: yaml.Node) -> list[PatternRecognizer]:
    if not isinstance(node, yaml.MappingNode):
        raise Mistake(node, "recognizers", "each must have keys such as name and supported_entity; add them")
    for name, _value in node.value:
        if name.value not in _KEYS:
            raise Mistake(name, str(name.value), f"is no key of a recognizer; known are {', '.join(sorted(_KEYS))}")
    if _plain(_child(node, "enabled")) is False:
        return []
    if _plain(_child(node, "type")) not in (None, "custom"):
        raise Mistake(_child(node, "type"), "type", "only `custom` may be added; leave the key out")
    entity = _entity(node)
    name = _text(node, "name", entity)
    patterns = _patterns(node)
    deny_list = _texts(node, "deny_list")
    if not patterns and not deny_list:
        raise Mistake(node, "patterns", "neither patterns nor deny_list is there; add one of them")
    deny_score = _score(node, "deny_list_score", 1.0)
    # Words of context for several languages are one list here: every recognizer looks at every text.
    context = _texts(node, "context") + _contexts(_child(node, "supported_languages"))
    parts: dict[str, Any] = {"patterns": patterns, "deny_list": deny_list, "context": context}
    given = {key: value for key, value in parts.items() if value}
    return [PatternRecognizer(entity, name, LANGUAGE, deny_list_score=deny_score, **given)]


def _entity(node: yaml.Node) -> str:
    if _child(node, "supported_entity") is not None:
        return _text(node, "supported_entity").upper().replace(" ", "_")
    several = _texts(node, "supported_entities")
    if len(several) != 1:
        raise Mistake(node, "supported_entity", "must be one name such as EMPLOYEE_ID; add it")
    return several[0].upper().replace(" ", "_")


def _contexts(node: yaml.Node | None) -> list[str]:
    if not isinstance(node, yaml.SequenceNode):
        return []
    return [word for one in node.value if isinstance(one, yaml.MappingNode) for word in _texts(one, "context")]


def _patterns(node: yaml.Node) -> list[Pattern]:
    found = _child(node, "patterns")
    if found is None:
        return []
    if not isinstance(found, yaml.SequenceNode):
        raise Mistake(
            found, "patterns", "must be a list of patterns with name, regex and score; write one a line with `- `"
        )
    return [_pattern(one) for one in found.value]


def _pattern(node: yaml.Node) -> Pattern:
    expression = _text(node, "regex")
    try:
        compiled = regex.compile(expression)
    except regex.error as error:
        raise Mistake(_child(node, "regex"), "regex", f"{error}; mend the expression") from None
    if compiled.match("") is not None and compiled.fullmatch("") is not None and compiled.search("abc 123") is None:
        raise Mistake(_child(node, "regex"), "regex", "finds nothing but emptiness; mend the expression")
    return Pattern(_text(node, "name", "pattern"), expression, _score(node, "score", 0.5))
