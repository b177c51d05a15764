"""check: what makes a definition unusable, told at registration."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from handrail.core.define.introspection import function_of
from handrail.core.define.levels import CAPABILITIES, CONCURRENCIES, DANGERS, LEVELS, POLICIES
from handrail.core.define.names import MAX_NAME, SLUG, is_name
from handrail.core.define.schema import JsonSchema, branches, resolve
from handrail.core.define.tool import Isolation, Origin, Tool
from handrail.core.errors import DefinitionError


def check(tool: Tool) -> None:
    """Raise `DefinitionError` with file, line, tool and remedy if the definition cannot be used."""
    for problem, remedy in _problems(tool):
        raise DefinitionError(problem, tool=tool.id, location=tool.location, remedy=remedy)


def _problems(tool: Tool) -> Iterator[tuple[str, str]]:
    for name in tool.names:
        if not isinstance(name, str) or not is_name(name):
            yield (
                f"{name!r} is not a name a tool can have",
                f"use letters, digits, `_`, `-` and dots between words, at most {MAX_NAME} characters",
            )
    yield from _capability_problems(tool)
    if tool.init is not None:
        return
    if not SLUG.match(tool.slug):
        yield f"its slug {tool.slug!r} is not URL-safe", "use lower-case words joined by `-`"
    if not tool.description.strip():
        yield "it has no description", "say in one sentence what it does; a docstring will do"
    if tool.body is None or not callable(tool.body.fn):
        yield "its execute cannot be called", "give a function `(args)` or `(args, ctx)`"
        return
    if _yields(tool.body.fn):
        yield (
            "its body yields, so calling it returns no result",
            "return the result; send pieces on the way with ctx.append_output()",
        )
    yield from _axis_problems(tool)
    yield from _kind_problems(tool)
    yield from _schema_problems(tool)
    if tool.timeout is not None and not _is_duration(tool.timeout):
        yield f"its timeout {tool.timeout!r} is not a positive number of seconds", "give seconds, such as 30"
    if tool.retry is not None and tool.retry.attempts > 1 and _happens_once(tool):
        yield (
            f"it has a retry, but its level is {tool.level}: a second attempt may be a second effect",
            "say idempotent=True if twice does no harm, or leave retry out",
        )
    if tool.isolation is not None and (trouble := _not_importable(tool.body.fn)):
        yield f"it is to run in a process of its own, but {trouble}", "define the body at the top of a module"


def _yields(fn: Any) -> bool:
    function = function_of(fn)
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def _happens_once(tool: Tool) -> bool:
    """Whether every call of it changes something that a second run would change again."""
    varies = tool.level_of_call is not None or tool.danger_of_call is not None
    return tool.level in ("write", "destructive") and not varies and not tool.idempotent


def _axis_problems(tool: Tool) -> Iterator[tuple[str, str]]:
    for what, value, choices in (
        ("level", tool.level, LEVELS),
        ("danger", tool.danger, DANGERS),
        ("policy", tool.policy, POLICIES),
        ("origin", tool.origin, get_args(Origin)),
        ("concurrency", tool.concurrency, (None, *CONCURRENCIES)),
        ("isolation", tool.isolation, (None, *get_args(Isolation))),
    ):
        if value not in choices:
            yield f"{value!r} is not a {what}", f"use one of: {', '.join(filter(None, choices))}"


def _capability_problems(tool: Tool) -> Iterator[tuple[str, str]]:
    for name in tool.capabilities | tool.optional_capabilities:
        if name not in CAPABILITIES:
            yield f"{name!r} is not a capability", f"use: {', '.join(CAPABILITIES)}"


def _kind_problems(tool: Tool) -> Iterator[tuple[str, str]]:
    for what, fn in (
        ("level function", tool.level_of_call),
        ("danger function", tool.danger_of_call),
        ("reads", tool.reads),
        ("writes", tool.writes),
        ("aggregate", tool.aggregate),
        ("undo", tool.undo),
        ("preview", tool.preview),
    ):
        if fn is not None and not callable(fn):
            yield f"its {what} is {fn!r}, which cannot be called", "give a function"
    for what, text in (("name", tool.name), ("icon", tool.icon), ("requires", tool.requires)):
        if text is not None and not isinstance(text, str):
            yield f"its {what} is {text!r}, which is not text", "give text"
    if type(tool.approvals) is not int or tool.approvals < 1:
        yield (
            f"its approvals are {tool.approvals!r}, which is not a number of persons",
            "give a whole number from 1 on",
        )
    for what, switch in (("four_eyes", tool.four_eyes), ("repeatable", tool.repeatable)):
        if type(switch) is not bool:
            yield f"its {what} is {switch!r}, which is neither True nor False", "give True or False"
    for slug in tool.tenants:
        if not isinstance(slug, str):
            yield f"its tenants name {slug!r}, which is not a slug", "give the slugs of tenants"


def _is_duration(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def _schema_problems(tool: Tool) -> Iterator[tuple[str, str]]:
    top = resolve(tool.input_schema, tool.input_schema)
    if not _describes_object(tool.input_schema):
        yield "its input schema does not describe an object", 'give it `"type": "object"` with properties'
    properties = top.get("properties") or {}
    if tool.input_schema.get("additionalProperties") is False and "patternProperties" not in top:
        for name in top.get("required") or ():
            if name not in properties:
                yield (
                    f"its input schema requires {name!r} and forbids it: it is no property",
                    "declare the property, or do not require it",
                )
    for parameter in tool.param_aliases:
        if parameter not in properties:
            yield f"param_aliases names {parameter!r}, which is no parameter", "use a parameter's own name"
    for alias, renamed in tool.aliases.items():
        for target in renamed.values():
            if target not in properties:
                yield (
                    f"alias {alias!r} maps to {target!r}, which is no parameter",
                    "use a parameter's own name",
                )


def _describes_object(schema: JsonSchema) -> bool:
    """Whether a schema, or where it names no type some part of its combinators, speaks of an object."""
    top, *parts = branches(schema, schema)
    if "type" in top:
        return _is_object(top)
    conditional = [part for key in ("if", "then", "else") if isinstance(part := top.get(key), Mapping)]
    outside = isinstance(top.get("$ref"), str) and not str(top["$ref"]).startswith("#")
    return outside or any(map(_is_object, [top, *parts, *conditional]))


_OBJECT_KEYWORDS = frozenset(
    "properties required patternProperties additionalProperties propertyNames dependentRequired "
    "dependentSchemas unevaluatedProperties minProperties maxProperties".split()
)


def _is_object(node: Mapping[str, Any]) -> bool:
    kind = node.get("type")
    if kind is not None:
        return bool(kind == "object" or (isinstance(kind, list) and "object" in kind))
    return not _OBJECT_KEYWORDS.isdisjoint(node)


def _not_importable(fn: Callable[..., Any]) -> str | None:
    module, name = getattr(fn, "__module__", None), getattr(fn, "__qualname__", "<unknown>")
    if module is None or "<" in name:
        return f"{name} has no import path"
    if module == "__main__":
        return f"{name} lives in the program's main module, which another process cannot import by name"
    try:
        importlib.import_module(module)
    except ImportError as error:
        return f"{module} cannot be imported ({error})"
    return None
