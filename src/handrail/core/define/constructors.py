"""The five ways to write a tool: @tool, define, from_params, from_json_schema, BaseTool."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, overload

from handrail.core.define.build import aliases_of, build, normalise_options, option_name
from handrail.core.define.check import check
from handrail.core.define.description_files import split_description
from handrail.core.define.introspection import (
    args_body,
    caller_location,
    doc_of,
    docstring_description,
    location_of,
    name_of,
    outside_location,
    return_type,
    signature_body,
)
from handrail.core.define.tool import Body, InitContext, Initialiser, Tool, digest
from handrail.core.errors import DefinitionError, SourceLocation

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
    location = location_of(fn) or outside_location()
    folded = normalise_options(given, tool_id, location)
    if "execute" in folded:
        raise DefinitionError(
            "it is given an execute beside the function it decorates",
            tool=tool_id,
            location=location,
            remedy="leave it out",
        )
    return build(
        tool_id, *_read_function(tool_id, fn, _documented(fn, folded), location, local_names), location
    )


def _read_function(
    tool_id: str, fn: Fn, folded: dict[str, Any], location: SourceLocation | None, local_names: Names
) -> tuple[dict[str, Any], Body]:
    """Options and body of a function: its own signature is the input unless one is declared."""
    if not callable(fn):
        raise DefinitionError(
            "its execute cannot be called", tool=tool_id, location=location, remedy="give a function"
        )
    if folded.get("input") is not None or folded.get("params") is not None:
        if "output" not in folded:
            folded["output"] = return_type(fn, tool_id, location, local_names)
        return folded, args_body(fn, tool_id, location)
    model, returned, body = signature_body(fn, tool_id, location, local_names)
    folded["input"] = model
    folded.setdefault("output", returned)
    return folded, body


def define(tool_id: str, definition: Mapping[str, Any] | Initialiser | Any = None, /, **given: Any) -> Tool:
    """Make a tool of a definition (a mapping or an object), or of a function that will return one.

    The function is called once, at first use, with an `InitContext`; it may be async.
    """
    location = caller_location(1)
    if callable(definition) and not isinstance(definition, (Mapping, type)):
        init = location_of(definition) or location
        early = _early(given, tool_id, init)
        waiting = Tool(id=tool_id, init=SharedInitialiser(definition), location=init, aliases=early)
        check(waiting)
        return waiting
    local_names = sys._getframe(1).f_locals
    return _defined(tool_id, {**_as_mapping(definition), **given}, location, local_names)


def _early(given: Mapping[str, Any], tool_id: str, location: SourceLocation) -> dict[str, Mapping[str, str]]:
    """What an uninitialised tool may already say of itself: the other names under which it is found."""
    folded = normalise_options(given, tool_id, location)
    aliases = folded.pop("aliases", ())
    if folded:
        raise DefinitionError(
            f"{next(iter(folded))!r} is given beside an initialiser",
            tool=tool_id,
            location=location,
            remedy="let the initialiser return it; only aliases are known before",
        )
    try:
        return aliases_of(aliases)
    except (TypeError, ValueError, AttributeError) as error:
        raise DefinitionError(
            f"its aliases cannot be read: {error}",
            tool=tool_id,
            location=location,
            remedy='write ["other.name"]',
        ) from error


def initialised(waiting: Tool, definition: Any) -> Tool:
    """The whole tool, once its initialiser has returned the definition. What its registration added stays."""
    if isinstance(definition, (Tool, BaseTool)):
        made = definition if isinstance(definition, Tool) else definition.as_tool()
    else:
        given = dict(_without_none(normalise_options(_as_mapping(definition), waiting.id, waiting.location)))
        if waiting.description:
            given |= {"description": waiting.description, "guidance": waiting.guidance}
        made = _defined(waiting.id, given, waiting.location, {})
    if not made.ready:
        raise DefinitionError(
            "its initialiser returned a tool that waits for an initialiser",
            tool=waiting.id,
            location=waiting.location,
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


def _defined(
    tool_id: str, given: Mapping[str, Any], location: SourceLocation | None, local_names: Names
) -> Tool:
    folded = _without_none(normalise_options(given, tool_id, location))
    fn = folded.pop("execute", None)
    if "params" not in folded:
        folded.setdefault("input", {"type": "object", "properties": {}, "additionalProperties": False})
    return build(tool_id, *_read_function(tool_id, fn, folded, location, local_names), location)


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
    location, names = caller_location(1), sys._getframe(1).f_locals
    if isinstance(tool_id, Mapping):
        named, fn, literal = _literal({"execute": execute, **tool_id, **given})
        return _params_tool(named, fn, literal, location, names)
    if execute is not None:
        return _params_tool(tool_id, execute, given, location, names)
    return lambda fn: _params_tool(tool_id, fn, given, location_of(fn) or location, names)


def _params_tool(
    tool_id: str, fn: Fn, given: Mapping[str, Any], location: SourceLocation, names: Names
) -> Tool:
    folded = _without_none(normalise_options(given, tool_id, location))
    folded.setdefault("params", {})
    return _defined(tool_id, {**_documented(fn, folded), "execute": fn}, location, names)


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
    location, names = caller_location(1), sys._getframe(1).f_locals
    if isinstance(tool_id, Mapping):
        named, fn, literal = _literal({"execute": execute, **tool_id, **given})
        return _schema_tool(named, fn, literal, location, names)
    options_ = given if schema is None else {**given, "input": schema}
    if execute is not None:
        return _schema_tool(tool_id, execute, options_, location, names)
    return lambda fn: _schema_tool(tool_id, fn, options_, location_of(fn) or location, names)


def _schema_tool(
    tool_id: str, fn: Fn, given: Mapping[str, Any], location: SourceLocation, names: Names
) -> Tool:
    folded = normalise_options(given, tool_id, location)
    if not isinstance(folded.get("input"), Mapping):
        raise DefinitionError(
            "it has no JSON Schema", tool=tool_id, location=location, remedy="give the schema as a mapping"
        )
    return _defined(tool_id, {**_documented(fn, folded), "execute": fn}, location, names)


def _literal(given: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Id, function and options of a tool written as one literal; a lone `name` is the id."""
    fn = given.pop("execute", None)
    tool_id = given.pop("id", None) or given.pop("name", None) or ""
    return tool_id, fn, given


def _documented(fn: Fn, folded: dict[str, Any]) -> dict[str, Any]:
    """Options with the docstring as description, where they give none."""
    if not folded.get("description"):
        folded["description"], guidance = split_description(docstring_description(doc_of(fn)))
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
                location=location_of(cls.execute),
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
                location=_class_place(kind),
                remedy="define execute(self, ...)",
            )
        location = location_of(kind.execute)
        given = _class_options(self)
        if not getattr(self, "id", None):
            given.pop("name", None)
        folded = normalise_options(given, tool_id, location)
        if not folded.get("description"):
            folded["description"], guidance = split_description(docstring_description(doc_of(kind)))
            folded.setdefault("guidance", guidance)
        names = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
        return build(
            tool_id,
            *_read_function(tool_id, self.execute, folded, location, {**names, **vars(kind)}),
            location,
        )

    @staticmethod
    def _id_of(given: Any) -> str:
        kind = given if isinstance(given, type) else type(given)
        return getattr(given, "id", None) or getattr(given, "name", None) or kind.__name__


def _class_place(kind: type) -> SourceLocation | None:
    """Where a class without functions of its own stands: its file, if that is known."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    try:
        return None if file is None else SourceLocation(file, inspect.getsourcelines(kind)[1])
    except (OSError, TypeError):
        return SourceLocation(str(file), 1)


def _class_options(instance: BaseTool) -> dict[str, Any]:
    own = [name for name in dir(instance) if not name.startswith("_") and name not in dir(BaseTool)]
    return {name: getattr(instance, name) for name in own if option_name(name) is not None}


class _Flight:
    """An initialisation on its way, and how many wait for it."""

    def __init__(self, task: asyncio.Future[Any]) -> None:
        self.task = task
        self.waiting = 0


class SharedInitialiser:
    """An initialiser shared by all who ask at the same moment, from one loop and for one place.

    It remembers nothing: whoever keeps the tool keeps what came of it, and one that failed is tried again.
    """

    def __init__(self, initialiser: Initialiser) -> None:
        self._initialiser = initialiser
        self._flights: dict[tuple[int, int], _Flight] = {}

    def __call__(self, init: InitContext, /) -> Any:
        loop = asyncio.get_running_loop()
        key = (id(loop), id(init))
        flight = self._flights.get(key)
        if flight is None:
            definition = self._initialiser(init)
            if not inspect.isawaitable(definition):
                return definition
            flight = self._flights[key] = _Flight(asyncio.ensure_future(definition))
            flight.task.add_done_callback(lambda _: self._flights.pop(key, None))
        return _await_shared(flight)


async def _await_shared(flight: _Flight) -> Any:
    """What the initialiser returns. When the last who waits gives up, so does the initialiser."""
    flight.waiting += 1
    try:
        return await asyncio.shield(flight.task)
    finally:
        flight.waiting -= 1
        if not flight.waiting and not flight.task.done():
            flight.task.cancel()
