"""The five ways to write a tool: @tool, define, from_params, from_json_schema, BaseTool."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, overload

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
)
from handrail.core.define.tool import InitContext, Initialiser, Tool, redefine
from handrail.core.errors import DefinitionError, SourceLocation, located

if TYPE_CHECKING:
    import asyncio

Fn = Callable[..., Any]

Names = Mapping[str, Any]
"""What annotations may mean where a tool is written: the local names there."""


@overload
def tool(tool_id: Fn, /) -> Tool: ...


@overload
def tool(tool_id: str | None = None, /, **options: Any) -> Callable[[Fn], Tool]: ...


def tool(tool_id: str | Fn | None = None, /, **options: Any) -> Tool | Callable[[Fn], Tool]:
    """Make a tool of a function: its parameters are the input, its docstring the description.

    With `input=Model` the function is `(args)` or `(args, ctx)` instead.
    """
    local_names = sys._getframe(1).f_locals
    if callable(tool_id):
        return _function_tool(name_of(tool_id), tool_id, options, local_names)

    def decorate(fn: Fn) -> Tool:
        return _function_tool(name_of(fn) if tool_id is None else tool_id, fn, options, local_names)

    return decorate


def _function_tool(tool_id: str, fn: Fn, raw_options: Mapping[str, Any], local_names: Names) -> Tool:
    location = location_of(fn) or outside_location()
    with located(tool_id, location):
        options = normalise_options(raw_options)
        if "execute" in options:
            problem = "it is given an execute beside the function it decorates"
            raise DefinitionError(problem, remedy="leave it out")
        return _build(tool_id, fn, _documented(fn, options), location, local_names)


def _build(
    tool_id: str, fn: Fn, options: dict[str, Any], location: SourceLocation | None, local_names: Names
) -> Tool:
    """The tool of a function: its own signature is the input unless one is declared."""
    if not callable(fn):
        raise DefinitionError("its execute cannot be called", remedy="give a function")
    if options.get("input") is not None or options.get("params") is not None:
        if "output" not in options:
            options["output"] = return_type(fn, local_names)
        return build(tool_id, options, args_body(fn), location)
    # Only now, since it loads much of pydantic, and not with every import of `tool`.
    from handrail.core.define.function_arguments import signature_body

    options["input"], returned, body = signature_body(fn, tool_id, local_names)
    options.setdefault("output", returned)
    return build(tool_id, options, body, location)


def define(tool_id: str, definition: Mapping[str, Any] | Initialiser | Any = None, /, **options: Any) -> Tool:
    """Make a tool of a definition (a mapping or an object), or of a function that will return one.

    The function is called once, at first use, with an `InitContext`; it may be async.
    """
    location = caller_location(1)
    if callable(definition) and not isinstance(definition, (Mapping, type)):
        init = location_of(definition) or location
        with located(tool_id, init):
            aliases = _early_aliases(options)
        waiting = Tool(id=tool_id, init=SharedInitialiser(definition), location=init, aliases=aliases)
        check(waiting)
        return waiting
    local_names = sys._getframe(1).f_locals
    return _defined(tool_id, {**_as_mapping(definition), **options}, location, local_names)


def _early_aliases(raw_options: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """What an uninitialised tool may already say of itself: the other names under which it is found."""
    options = normalise_options(raw_options)
    aliases = options.pop("aliases", ())
    if options:
        raise DefinitionError(
            f"{next(iter(options))!r} is given beside an initialiser",
            remedy="let the initialiser return it; only aliases are known before",
        )
    try:
        return aliases_of(aliases)
    except (TypeError, ValueError, AttributeError) as error:
        problem = f"its aliases cannot be read: {error}"
        raise DefinitionError(problem, remedy='write ["other.name"]') from error


async def initialise(tool: Tool, init: InitContext) -> Tool:
    """The tool after its initialiser ran; one that has none is ready as it is."""
    if tool.init is None:
        return tool
    definition = tool.init(init)
    return initialised(tool, await definition if inspect.isawaitable(definition) else definition)


def initialised(waiting: Tool, definition: Any) -> Tool:
    """The whole tool, once its initialiser has returned the definition. What its registration added stays."""
    if isinstance(definition, (Tool, BaseTool)):
        tool = definition if isinstance(definition, Tool) else definition.as_tool()
    else:
        raw_options = _as_mapping(definition)
        if waiting.description:
            with located(waiting.id, waiting.location):
                options = _without_none(normalise_options(raw_options))
            raw_options = {**options, "description": waiting.description, "guidance": waiting.guidance}
        tool = _defined(waiting.id, raw_options, waiting.location, {})
    if not tool.ready:
        raise DefinitionError(
            "its initialiser returned a tool that waits for an initialiser",
            tool=waiting.id,
            location=waiting.location,
            remedy="return the definition itself",
        )
    tool = redefine(
        tool,
        aliases={**waiting.aliases, **tool.aliases},
        description=waiting.description or tool.description,
        guidance=waiting.guidance or tool.guidance,
        capabilities=waiting.capabilities or tool.capabilities,
        optional_capabilities=waiting.optional_capabilities or tool.optional_capabilities,
    )
    check(tool)
    return tool


def _defined(
    tool_id: str, raw_options: Mapping[str, Any], location: SourceLocation | None, local_names: Names
) -> Tool:
    with located(tool_id, location):
        options = _without_none(normalise_options(raw_options))
        fn = options.pop("execute", None)
        if "params" not in options:
            options.setdefault("input", {"type": "object", "properties": {}, "additionalProperties": False})
        return _build(tool_id, fn, options, location, local_names)


def _without_none(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _as_mapping(definition: Any) -> Mapping[str, Any]:
    if definition is None:
        return {}
    if isinstance(definition, Mapping):
        return definition
    return {name: getattr(definition, name) for name in dir(definition) if not name.startswith("_")}


@overload
def from_params(tool_id: Mapping[str, Any], /, execute: Fn | None = None, **options: Any) -> Tool: ...


@overload
def from_params(tool_id: str, /, execute: Fn, **options: Any) -> Tool: ...


@overload
def from_params(tool_id: str, /, **options: Any) -> Callable[[Fn], Tool]: ...


def from_params(tool_id: str | Mapping[str, Any], /, execute: Fn | None = None, **options: Any) -> Any:
    """Make a tool of a light declaration: `paramSchema` (name to type and description) and `requiredParams`.

    Takes one literal with `name` and `execute` in it, or an id and options; without `execute` it decorates.
    """
    location, names = caller_location(1), sys._getframe(1).f_locals
    return _literal_or_decorator(_params_tool, tool_id, execute, options, location, names)


def _params_tool(
    tool_id: str, fn: Fn, raw_options: Mapping[str, Any], location: SourceLocation, names: Names
) -> Tool:
    with located(tool_id, location):
        options = {"params": {}, **_without_none(normalise_options(raw_options))}
    return _defined(tool_id, {**_documented(fn, options), "execute": fn}, location, names)


@overload
def from_json_schema(tool_id: Mapping[str, Any], /, *, execute: Fn | None = None, **options: Any) -> Tool: ...


@overload
def from_json_schema(
    tool_id: str, schema: Mapping[str, Any] | None, /, execute: Fn, **options: Any
) -> Tool: ...


@overload
def from_json_schema(
    tool_id: str, schema: Mapping[str, Any] | None = None, /, **options: Any
) -> Callable[[Fn], Tool]: ...


def from_json_schema(
    tool_id: str | Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    /,
    execute: Fn | None = None,
    **options: Any,
) -> Any:
    """Make a tool of a raw JSON Schema (2020-12 unless it names another draft) that describes an object.

    Takes an id and a schema, or one literal with `name`, `parameters` and `execute`; without `execute` it
    decorates. `resources` are the schemas its references may reach; `formats=True` checks `format` too.
    """
    location, names = caller_location(1), sys._getframe(1).f_locals
    if schema is not None:
        options["input"] = schema
    return _literal_or_decorator(_schema_tool, tool_id, execute, options, location, names)


def _schema_tool(
    tool_id: str, fn: Fn, raw_options: Mapping[str, Any], location: SourceLocation, names: Names
) -> Tool:
    with located(tool_id, location):
        options = normalise_options(raw_options)
        if not isinstance(options.get("input"), Mapping):
            raise DefinitionError("it has no JSON Schema", remedy="give the schema as a mapping")
    return _defined(tool_id, {**_documented(fn, options), "execute": fn}, location, names)


def _literal_or_decorator(
    make: Callable[[str, Any, dict[str, Any], SourceLocation, Names], Tool],
    tool_id: str | Mapping[str, Any],
    execute: Fn | None,
    options: dict[str, Any],
    location: SourceLocation,
    names: Names,
) -> Any:
    """The tool of a literal, in which a lone `name` is the id, or of a function; or what decorates one."""
    if isinstance(tool_id, Mapping):
        literal = {"execute": execute, **tool_id, **options}
        fn = literal.pop("execute")
        named = literal.pop("id", None) or literal.pop("name", None) or ""
        return make(named, fn, literal, location, names)
    if execute is not None:
        return make(tool_id, execute, options, location, names)
    return lambda fn: make(tool_id, fn, options, location_of(fn) or location, names)


def _documented(source: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options with the docstring of a function or class as description, where they give none."""
    if not options.get("description"):
        options["description"], guidance = split_description(docstring_description(doc_of(source)))
        options.setdefault("guidance", guidance)
    return options


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
            instance = cls()
        except TypeError as error:
            raise DefinitionError(
                f"it cannot be made without arguments ({error})",
                tool=cls._id_of(cls),
                location=location_of(cls.execute),
                remedy="register an instance instead of the class",
            ) from error
        return instance.as_tool()

    def as_tool(self) -> Tool:
        """The Tool of this instance."""
        kind = type(self)
        tool_id = self._id_of(self)
        if kind.execute is BaseTool.execute:
            raise DefinitionError(
                f"the class {kind.__qualname__} has no execute",
                tool=tool_id,
                location=_class_location(kind),
                remedy="define execute(self, ...)",
            )
        location = location_of(kind.execute)
        raw_options = _class_options(self)
        if not getattr(self, "id", None):
            raw_options.pop("name", None)
        names = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
        with located(tool_id, location):
            options = _documented(kind, normalise_options(raw_options))
            return _build(tool_id, self.execute, options, location, {**names, **vars(kind)})

    @staticmethod
    def _id_of(source: Any) -> str:
        kind = source if isinstance(source, type) else type(source)
        return getattr(source, "id", None) or getattr(source, "name", None) or kind.__name__


def _class_location(kind: type) -> SourceLocation | None:
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
        import asyncio  # loaded by whoever awaits, not by everybody who defines a tool

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
    import asyncio

    flight.waiting += 1
    try:
        return await asyncio.shield(flight.task)
    finally:
        flight.waiting -= 1
        if not flight.waiting and not flight.task.done():
            flight.task.cancel()
