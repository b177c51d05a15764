"""When a field is shown, for the server and for the script."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from handrail.core.define.schema import JsonSchema
from handrail.core.define.validation import InvalidValue, schema_checker
from handrail.core.errors import DefinitionError
from handrail.doors.web.forms.control_names import VALUE, compact_json, encode_value, escape_step
from handrail.doors.web.forms.fields import MISSING, VisibilityCondition

_TESTS = ("is", "is_not", "in", "given")


def condition_from_hint(hint: Any, path: str) -> VisibilityCondition:
    """The condition of a hint: `{"field": "kind", "is": "other"}`, or a list of such, which must all hold."""
    terms = [_Term(one, path) for one in (hint if isinstance(hint, (list, tuple)) else [hint])]
    return VisibilityCondition(
        lambda value, root: all(term.holds(value, root) for term in terms), tuple(term.told for term in terms)
    )


def condition_for_script(condition: VisibilityCondition, pointer: str) -> str | None:
    """A condition for the script, with the names of the controls as they are in an object at a pointer."""
    if not condition.told:
        return None
    terms = [{**term, "name": term["name"].replace("\0", pointer)} for term in condition.told]
    return json.dumps(terms, ensure_ascii=False)


class _Term:
    """One comparison of another field."""

    def __init__(self, hint: Any, path: str) -> None:
        test = next((one for one in _TESTS if isinstance(hint, Mapping) and one in hint), None)
        if test is None or not isinstance(hint.get("field"), str):
            raise ValueError(
                f'{path}: visible_when says {{"field": name, "is": value}} or is_not, in, given; not {hint!r}'
            )
        self._test, self._wanted = test, hint[test]
        where: str = hint["field"]
        self._steps = where.strip("/").split("/") if where.startswith("/") else None
        self.name = "" if self._steps else where
        # A field of the same object stands at a place that is known while drawing: \0 is filled in there.
        control = VALUE + (where if self._steps else f"\0/{escape_step(where)}")
        self.told = {"name": control, "not": test == "is_not", "any": self._spellings()}
        if test == "given":
            self.told = {"name": control, "not": bool(self._wanted), "any": [""]}

    def _spellings(self) -> list[str]:
        wanted = self._wanted if self._test == "in" else [self._wanted]
        found: list[str] = []
        for one in wanted if self._test != "given" else ():
            found += [encode_value(one), "=" + compact_json(one)]
            found += [] if isinstance(one, str) or one is None else [compact_json(one)]
        return list(dict.fromkeys(found))

    def holds(self, value: Mapping[str, Any], root: Any) -> bool:
        own = value.get(self.name, MISSING) if self._steps is None else _at(root, self._steps)
        if self._test == "given":
            return (own is not MISSING and own is not None and own != "") is bool(self._wanted)
        if self._test == "in":
            return any(_same(own, one) for one in self._wanted)
        return _same(own, self._wanted) is (self._test == "is")


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


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
    known: JsonSchema = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
    try:
        return schema_checker({**known, "allOf": [test]})
    except DefinitionError:
        return lambda value: []  # shown, since nobody can tell


def _fits(check: Callable[[Any], list[Any]], value: Mapping[str, Any]) -> bool:
    try:
        return not check(dict(value))
    except InvalidValue:
        return False
