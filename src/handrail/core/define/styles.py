"""The five ways to write a tool. Each is a constructor of the same frozen Tool."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, overload

from handrail.core.define.body import (
    args_body,
    caller_place,
    doc_of,
    documented_purpose,
    name_of,
    outside_place,
    place_of,
    returned_type,
    signature_body,
)
from handrail.core.define.build import aliases_of, build
from handrail.core.define.check import check
from handrail.core.define.description import split
from handrail.core.define.once import Once
from handrail.core.define.spelling import option_name, options
from handrail.core.define.tool import Body, Initialiser, Tool, digest
from handrail.core.errors import DefinitionError, Place

Fn = Callable[..., Any]
Names = Mapping[str, Any]
"""What annotations may mean where a tool is written: the local names there."""


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
        return _function_tool(name_of(tool_id), tool_id, given, local_names)

    def decorate(fn: Fn) -> Tool:
        return _function_tool(name_of(fn) if tool_id is None else tool_id, fn, given, local_names)

    return decorate


def _function_tool(tool_id: str, fn: Fn, given: Mapping[str, Any], local_names: Names) -> Tool:
    place = place_of(fn) or outside_place()
    folded = options(given, tool_id, place)
    if "execute" in folded:
        raise DefinitionError(
            "it is given an execute beside the function it decorates",
            tool=tool_id,
            place=place,
            remedy="leave it out",
        )
    return build(tool_id, *_read_function(tool_id, fn, _documented(fn, folded), place, local_names), place)


def _read_function(
    tool_id: str, fn: Fn, folded: dict[str, Any], place: Place | None, local_names: Names
) -> tuple[dict[str, Any], Body]:
    """Options and body of a function: its own signature is the input unless one is declared."""
    if not callable(fn):
        raise DefinitionError(
            "its execute cannot be called", tool=tool_id, place=place, remedy="give a function"
        )
    if folded.get("input") is not None or folded.get("params") is not None:
        if "output" not in folded:
            folded["output"] = returned_type(fn, tool_id, place, local_names)
        return folded, args_body(fn, tool_id, place)
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
        early = _early(given, tool_id, init)
        waiting = Tool(id=tool_id, init=Once(definition), place=init, aliases=early)
        check(waiting)
        return waiting
    local_names = sys._getframe(1).f_locals
    return _defined(tool_id, {**_as_mapping(definition), **given}, place, local_names)


def _early(given: Mapping[str, Any], tool_id: str, place: Place) -> dict[str, Mapping[str, str]]:
    """What an uninitialised tool may already say of itself: the other names under which it is found."""
    folded = options(given, tool_id, place)
    aliases = folded.pop("aliases", ())
    if folded:
        raise DefinitionError(
            f"{next(iter(folded))!r} is given beside an initialiser",
            tool=tool_id,
            place=place,
            remedy="let the initialiser return it; only aliases are known before",
        )
    try:
        return aliases_of(aliases)
    except (TypeError, ValueError, AttributeError) as error:
        raise DefinitionError(
            f"its aliases cannot be read: {error}", tool=tool_id, place=place, remedy='write ["other.name"]'
        ) from error


def initialised(waiting: Tool, definition: Any) -> Tool:
    """The whole tool, once its initialiser has returned the definition. What its registration added stays."""
    if isinstance(definition, (Tool, BaseTool)):
        made = definition if isinstance(definition, Tool) else definition.as_tool()
    else:
        given = dict(_without_none(options(_as_mapping(definition), waiting.id, waiting.place)))
        if waiting.description:
            given |= {"description": waiting.description, "guidance": waiting.guidance}
        made = _defined(waiting.id, given, waiting.place, {})
    if not made.ready:
        raise DefinitionError(
            "its initialiser returned a tool that waits for an initialiser",
            tool=waiting.id,
            place=waiting.place,
            remedy="return the definition itself",
        )
    made = replace(
        made,
        aliases={**waiting.aliases, **made.aliases},
        description=waiting.description or made.description,
        guidance=waiting.guidance or made.guidance,
        capabilities=waiting.capabilities or made.capabilities,
        optional_capabilities=waiting.optional_capabilities or made.optional_capabilities,
    )
    check(made)
    return replace(made, digest=digest(made))


def _defined(tool_id: str, given: Mapping[str, Any], place: Place | None, local_names: Names) -> Tool:
    folded = _without_none(options(given, tool_id, place))
    fn = folded.pop("execute", None)
    if "params" not in folded:
        folded.setdefault("input", {"type": "object", "properties": {}, "additionalProperties": False})
    return build(tool_id, *_read_function(tool_id, fn, folded, place, local_names), place)


def _without_none(folded: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in folded.items() if value is not None}


def _as_mapping(definition: Any) -> Mapping[str, Any]:
    if definition is None:
        return {}
    if isinstance(definition, Mapping):
        return definition
    return {name: getattr(definition, name) for name in dir(definition) if not name.startswith("_")}


@overload
def from_params(tool_id: Mapping[str, Any], /, execute: Fn | None = None, **given: Any) -> Tool: ...
@overload
def from_params(tool_id: str, /, execute: Fn, **given: Any) -> Tool: ...
@overload
def from_params(tool_id: str, /, **given: Any) -> Callable[[Fn], Tool]: ...
def from_params(tool_id: str | Mapping[str, Any], /, execute: Fn | None = None, **given: Any) -> Any:
    """Make a tool of a light declaration: `paramSchema` (name to type and description) and `requiredParams`.

    Takes one literal with `name` and `execute` in it, or an id and options; without `execute` it decorates.
    """
    place, names = caller_place(1), sys._getframe(1).f_locals
    if isinstance(tool_id, Mapping):
        named, fn, literal = _literal({"execute": execute, **tool_id, **given})
        return _params_tool(named, fn, literal, place, names)
    if execute is not None:
        return _params_tool(tool_id, execute, given, place, names)
    return lambda fn: _params_tool(tool_id, fn, given, place_of(fn) or place, names)


def _params_tool(tool_id: str, fn: Fn, given: Mapping[str, Any], place: Place, names: Names) -> Tool:
    folded = _without_none(options(given, tool_id, place))
    folded.setdefault("params", {})
    return _defined(tool_id, {**_documented(fn, folded), "execute": fn}, place, names)


@overload
def from_json_schema(tool_id: Mapping[str, Any], /, *, execute: Fn | None = None, **given: Any) -> Tool: ...
@overload
def from_json_schema(
    tool_id: str, schema: Mapping[str, Any] | None, /, execute: Fn, **given: Any
) -> Tool: ...
@overload
def from_json_schema(
    tool_id: str, schema: Mapping[str, Any] | None = None, /, **given: Any
) -> Callable[[Fn], Tool]: ...
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
    place, names = caller_place(1), sys._getframe(1).f_locals
    if isinstance(tool_id, Mapping):
        named, fn, literal = _literal({"execute": execute, **tool_id, **given})
        return _schema_tool(named, fn, literal, place, names)
    options_ = given if schema is None else {**given, "input": schema}
    if execute is not None:
        return _schema_tool(tool_id, execute, options_, place, names)
    return lambda fn: _schema_tool(tool_id, fn, options_, place_of(fn) or place, names)


def _schema_tool(tool_id: str, fn: Fn, given: Mapping[str, Any], place: Place, names: Names) -> Tool:
    folded = options(given, tool_id, place)
    if not isinstance(folded.get("input"), Mapping):
        raise DefinitionError(
            "it has no JSON Schema", tool=tool_id, place=place, remedy="give the schema as a mapping"
        )
    return _defined(tool_id, {**_documented(fn, folded), "execute": fn}, place, names)


def _literal(given: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Id, function and options of a tool written as one literal; a lone `name` is the id."""
    fn = given.pop("execute", None)
    tool_id = given.pop("id", None) or given.pop("name", None) or ""
    return tool_id, fn, given


def _documented(fn: Fn, folded: dict[str, Any]) -> dict[str, Any]:
    """Options with the docstring as description, where they give none."""
    if not folded.get("description"):
        folded["description"], guidance = split(documented_purpose(doc_of(fn)))
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
        try:
            made = cls()
        except TypeError as error:
            raise DefinitionError(
                f"it cannot be made without arguments ({error})",
                tool=cls._id_of(cls),
                place=place_of(cls.execute),
                remedy="register an instance instead of the class",
            ) from error
        return made.as_tool()

    def as_tool(self) -> Tool:
        """The Tool of this instance."""
        kind = type(self)
        tool_id = self._id_of(self)
        if kind.execute is BaseTool.execute:
            raise DefinitionError(
                f"the class {kind.__qualname__} has no execute",
                tool=tool_id,
                place=_class_place(kind),
                remedy="define execute(self, ...)",
            )
        place = place_of(kind.execute)
        given = _class_options(self)
        if not getattr(self, "id", None):
            given.pop("name", None)
        folded = options(given, tool_id, place)
        if not folded.get("description"):
            folded["description"], guidance = split(documented_purpose(doc_of(kind)))
            folded.setdefault("guidance", guidance)
        names = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
        return build(
            tool_id, *_read_function(tool_id, self.execute, folded, place, {**names, **vars(kind)}), place
        )

    @staticmethod
    def _id_of(given: Any) -> str:
        kind = given if isinstance(given, type) else type(given)
        return getattr(given, "id", None) or getattr(given, "name", None) or kind.__name__


def _class_place(kind: type) -> Place | None:
    """Where a class without functions of its own stands: its file, if that is known."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    try:
        return None if file is None else Place(file, inspect.getsourcelines(kind)[1])
    except (OSError, TypeError):
        return Place(str(file), 1)


def _class_options(instance: BaseTool) -> dict[str, Any]:
    own = [name for name in dir(instance) if not name.startswith("_") and name not in dir(BaseTool)]
    return {name: getattr(instance, name) for name in own if option_name(name) is not None}
