"""The five ways to write a tool. Each is a constructor of the same frozen Tool."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, overload

from handrail.core.define.body import (
    args_body,
    caller_place,
    documented_purpose,
    place_of,
    signature_body,
)
from handrail.core.define.build import build
from handrail.core.define.check import check
from handrail.core.define.description import split
from handrail.core.define.spelling import option_name, options
from handrail.core.define.tool import Body, Initialiser, Tool
from handrail.core.errors import DefinitionError, Place

Fn = Callable[..., Any]


@overload
def tool(tool_id: Fn, /) -> Tool: ...
@overload
def tool(tool_id: str | None = None, /, **given: Any) -> Callable[[Fn], Tool]: ...
def tool(tool_id: str | Fn | None = None, /, **given: Any) -> Tool | Callable[[Fn], Tool]:
    """Make a tool of a function: its parameters are the input, its docstring the description.

    With `input=Model` the function is `(args)` or `(args, ctx)` instead.
    """
    local_names = sys._getframe(1).f_locals
    if callable(tool_id):
        return _function_tool(tool_id.__name__, tool_id, given, local_names)

    def decorate(fn: Fn) -> Tool:
        return _function_tool(tool_id or fn.__name__, fn, given, local_names)

    return decorate


def _function_tool(tool_id: str, fn: Fn, given: Mapping[str, Any], local_names: Mapping[str, Any]) -> Tool:
    place = place_of(fn)
    folded = options(given, tool_id, place)
    description, guidance = split(documented_purpose(inspect.getdoc(fn) or ""))
    if not folded.get("description"):
        folded["description"] = description
        folded.setdefault("guidance", guidance)
    return build(tool_id, *_read_function(tool_id, fn, folded, place, local_names), place)


def _read_function(
    tool_id: str, fn: Fn, folded: dict[str, Any], place: Place | None, local_names: Mapping[str, Any]
) -> tuple[dict[str, Any], Body]:
    """Options and body of a function: its own signature is the input unless one is declared."""
    if not callable(fn):
        raise DefinitionError(
            "its execute cannot be called", tool=tool_id, place=place, remedy="give a function"
        )
    if "input" in folded or "params" in folded:
        if "output" not in folded:
            try:
                folded["output"] = inspect.signature(fn, eval_str=True).return_annotation
            except (NameError, TypeError, ValueError):
                folded["output"] = None
        return folded, args_body(fn)
    model, returned, body = signature_body(fn, tool_id, place, local_names)
    folded["input"] = model
    folded.setdefault("output", returned)
    return folded, body


def define(tool_id: str, definition: Mapping[str, Any] | Initialiser | Any = None, /, **given: Any) -> Tool:
    """Make a tool of a definition (a mapping or an object), or of a function that will return one.

    The function is called once, at first use, with an `InitContext`; it may be async.
    """
    place = caller_place(1)
    if callable(definition) and not isinstance(definition, (Mapping, type)):
        init = place_of(definition) or place
        waiting = Tool(id=tool_id, init=definition, place=init, **_early(given, tool_id, init))
        check(waiting)
        return waiting
    return _defined(tool_id, {**_as_mapping(definition), **given}, place)


def _early(given: Mapping[str, Any], tool_id: str, place: Place) -> dict[str, Any]:
    """What an uninitialised tool may already say of itself: the names under which it is found."""
    folded = options(given, tool_id, place)
    aliases = folded.pop("aliases", ())
    if folded:
        raise DefinitionError(
            f"{next(iter(folded))!r} is given beside an initialiser",
            tool=tool_id,
            place=place,
            remedy="let the initialiser return it; only aliases are known before",
        )
    return {"aliases": {name: {} for name in aliases}}


def initialised(waiting: Tool, definition: Any) -> Tool:
    """The whole tool, once its initialiser has returned the definition."""
    if isinstance(definition, Tool):
        return definition
    given = {"aliases": waiting.aliases, **_as_mapping(definition)}
    return _defined(waiting.id, given, waiting.place)


def _defined(tool_id: str, given: Mapping[str, Any], place: Place | None) -> Tool:
    folded = options(given, tool_id, place)
    fn = folded.pop("execute", None)
    folded.setdefault("input", None if "params" in folded else {"type": "object", "properties": {}})
    return build(tool_id, *_read_function(tool_id, fn, _without_none(folded), place, {}), place)


def _without_none(folded: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in folded.items() if value is not None}


def _as_mapping(definition: Any) -> Mapping[str, Any]:
    if definition is None:
        return {}
    if isinstance(definition, Mapping):
        return definition
    return {name: getattr(definition, name) for name in dir(definition) if not name.startswith("_")}


def from_params(tool_id: str | Mapping[str, Any], /, execute: Fn | None = None, **given: Any) -> Any:
    """Make a tool of a light declaration: `paramSchema` (name to type and description) and `requiredParams`.

    Takes one literal with `name` and `execute` in it, or an id and options; without `execute` it decorates.
    """
    place = caller_place(1)
    if isinstance(tool_id, Mapping):
        literal = {**tool_id, **given}
        tool_id, fn = str(literal.pop("name", "") or literal.pop("id", "")), literal.pop("execute", execute)
        literal.pop("id", None)
        return _params_tool(tool_id, fn, literal, place)
    if execute is not None:
        return _params_tool(tool_id, execute, given, place)
    return lambda fn: _params_tool(tool_id, fn, given, place_of(fn) or place)


def _params_tool(tool_id: str, fn: Fn, given: Mapping[str, Any], place: Place) -> Tool:
    folded = options(given, tool_id, place)
    folded.setdefault("params", {})
    return _defined(tool_id, {**_documented(fn, folded), "execute": fn}, place)


def from_json_schema(
    tool_id: str | Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    /,
    execute: Fn | None = None,
    **given: Any,
) -> Any:
    """Make a tool of a raw JSON Schema (2020-12 unless it names another draft) that describes an object.

    Takes an id and a schema, or one literal with `name`, `parameters` and `execute`; without `execute` it
    decorates. `resources` are the schemas its references may reach; `formats=True` checks `format` too.
    """
    place = caller_place(1)
    if isinstance(tool_id, Mapping):
        literal = {**tool_id, **given}
        tool_id, fn = str(literal.pop("name", "") or literal.pop("id", "")), literal.pop("execute", execute)
        literal.pop("id", None)
        return _schema_tool(tool_id, fn, literal, place)
    options_ = given if schema is None else {**given, "input": schema}
    if execute is not None:
        return _schema_tool(tool_id, execute, options_, place)
    return lambda fn: _schema_tool(tool_id, fn, options_, place_of(fn) or place)


def _schema_tool(tool_id: str, fn: Fn, given: Mapping[str, Any], place: Place) -> Tool:
    folded = options(given, tool_id, place)
    if not isinstance(folded.get("input"), Mapping):
        raise DefinitionError(
            "it has no JSON Schema", tool=tool_id, place=place, remedy="give the schema as a mapping"
        )
    return _defined(tool_id, {**_documented(fn, folded), "execute": fn}, place)


def _documented(fn: Fn, folded: dict[str, Any]) -> dict[str, Any]:
    if not folded.get("description") and inspect.isfunction(fn):
        folded["description"], guidance = split(documented_purpose(inspect.getdoc(fn) or ""))
        folded.setdefault("guidance", guidance)
    return folded


class BaseTool:
    """A tool as a class: options as attributes, the work in `execute`.

    With `input` (or `parameters`, `paramSchema`) execute is `(args)` or `(args, ctx)`; without, its own
    parameters are the input.
    """

    id: ClassVar[str]

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def tool(cls) -> Tool:
        """The Tool of this class, made with no constructor arguments."""
        return cls().as_tool()

    def as_tool(self) -> Tool:
        """The Tool of this instance."""
        kind = type(self)
        place = place_of(kind.execute)
        tool_id = getattr(self, "id", None) or getattr(self, "name", None) or kind.__name__
        given = _class_options(self)
        if "id" not in dir(self):
            given.pop("name", None)
        folded = options(given, tool_id, place)
        if not folded.get("description"):
            folded["description"], guidance = split(documented_purpose(inspect.getdoc(kind) or ""))
            folded.setdefault("guidance", guidance)
        names = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
        return build(
            tool_id, *_read_function(tool_id, self.execute, folded, place, {**names, **vars(kind)}), place
        )


def _class_options(instance: BaseTool) -> dict[str, Any]:
    own = [name for name in dir(instance) if not name.startswith("_") and name not in dir(BaseTool)]
    return {name: getattr(instance, name) for name in own if option_name(name) is not None}
