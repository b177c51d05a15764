"""When a field is shown, for the server and for the script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from handrail.core.define.schema import JsonSchema
from handrail.core.define.validation import InvalidValue, schema_checker
from handrail.core.errors import DefinitionError
from handrail.doors.web.forms.control_names import VALUE, encode_value, escape_step
from handrail.doors.web.forms.fields import MISSING, VisibilityCondition
from handrail.platform.display_text import visible_json

_TESTS = ("is", "is_not", "in", "given")


def condition_from_hint(hint: Any, path: str) -> VisibilityCondition:
    """The condition of a hint: `{"field": "kind", "is": "other"}`, or a list of such, which must all hold."""
    terms = [_Term(term, path) for term in (hint if isinstance(hint, (list, tuple)) else [hint])]
    return VisibilityCondition(
        lambda value, root: all(term.holds(value, root) for term in terms),
        tuple(term.for_script for term in terms),
    )


def condition_for_script(condition: VisibilityCondition, pointer: str) -> str | None:
    """A condition for the script, with the names of the controls as they are in an object at a pointer."""
    if not condition.terms:
        return None
    terms = [{**term, "name": term["name"].replace("\0", pointer)} for term in condition.terms]
    return json.dumps(terms, ensure_ascii=False)


class _Term:
    """One comparison of another field."""

    def __init__(self, hint: Any, path: str) -> None:
        test = next((name for name in _TESTS if isinstance(hint, Mapping) and name in hint), None)
        if test is None or not isinstance(hint.get("field"), str):
            raise ValueError(
                f'{path}: visible_when says {{"field": name, "is": value}} or is_not, in, given; not {hint!r}'
            )
        self._test, self._expected = test, hint[test]
        path_or_name: str = hint["field"]
        self._steps = path_or_name.strip("/").split("/") if path_or_name.startswith("/") else None
        self._name = "" if self._steps else path_or_name
        # Where a field of the same object stands is known while drawing: \0 is filled in there.
        control = VALUE + (path_or_name if self._steps else f"\0/{escape_step(path_or_name)}")
        if test == "given":
            negated, spellings = bool(self._expected), [""]
        else:
            negated, spellings = (
                test == "is_not",
                _spellings(self._expected if test == "in" else [self._expected]),
            )
        self.for_script = {"name": control, "not": negated, "any": spellings}

    def holds(self, value: Mapping[str, Any], root: Any) -> bool:
        own = value.get(self._name, MISSING) if self._steps is None else _at(root, self._steps)
        if self._test == "given":
            return (own is not MISSING and own is not None and own != "") is bool(self._expected)
        if self._test == "in":
            return any(_same(own, expected) for expected in self._expected)
        return _same(own, self._expected) is (self._test == "is")


def _spellings(values: Iterable[Any]) -> list[str]:
    """Every way in which a control may send one of the values."""
    texts: list[str] = []
    for value in values:
        texts += [encode_value(value), "=" + visible_json(value)]
        texts += [] if isinstance(value, str) or value is None else [visible_json(value)]
    return list(dict.fromkeys(texts))


def _same(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _at(root: Any, steps: list[str]) -> Any:
    for step in steps:
        root = root.get(step, MISSING) if isinstance(root, Mapping) else MISSING
    return root


def condition_from_schemas(tests: list[Any], root: JsonSchema) -> VisibilityCondition:
    """The condition that an object fits one of some schemas; only the server can tell."""
    checks: list[Callable[[Any], list[Any]]] = []

    def show(value: Mapping[str, Any], _: Any) -> bool:
        if not checks:
            checks.extend(_check(test, root) for test in tests)
        return any(_fits(check, value) for check in checks)

    return VisibilityCondition(show)


def _check(test: Any, root: JsonSchema) -> Callable[[Any], list[Any]]:
    shared: JsonSchema = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
    try:
        return schema_checker({**shared, "allOf": [test]})
    except DefinitionError:
        return lambda value: []  # shown, since nobody can tell


def _fits(check: Callable[[Any], list[Any]], value: Mapping[str, Any]) -> bool:
    try:
        return not check(dict(value))
    except InvalidValue:
        return False
