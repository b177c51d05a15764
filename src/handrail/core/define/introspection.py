"""Introspection: what a function's signature and docstring say of the tool made from it."""

from __future__ import annotations

import inspect
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import FrameType, SimpleNamespace, UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from handrail.core.define.context import Context
from handrail.core.define.tool import Body
from handrail.core.errors import DefinitionError, SourceLocation

_CONTEXT_NAMES = ("ctx", "context")
_SECTION = re.compile(r"(\s*)(Args|Arguments|Parameters|Params):\s*$")
_ENTRY = re.compile(r"\s+(\w+)(?:\s*\(.*?\))?:\s*(.*)$")
_OTHER_SECTION = re.compile(r"\s*(Returns?|Raises|Yields?|Examples?|Notes?):\s*$")
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class FunctionArguments(BaseModel):
    """Validated arguments of a function tool: attributes, and the parameters' own names in brackets."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), arbitrary_types_allowed=True)

    _fields_of: ClassVar[Mapping[str, str]] = {}
    """Parameter to field."""

    def __getitem__(self, name: str) -> Any:
        return getattr(self, self._fields_of[name])


def function_of(fn: Any) -> Any:
    """The function inside a partial or behind a callable object: it carries annotations, text and line."""
    while isinstance(fn, partial):
        fn = fn.func
    if isinstance(fn, type):
        return fn.__init__  # type: ignore[misc]
    if inspect.isroutine(fn) or not callable(fn):
        return fn
    return type(fn).__call__


def name_of(fn: Any) -> str:
    """What a function is called, also inside a partial; a callable object goes by its class."""
    while isinstance(fn, partial):
        fn = fn.func
    return str(getattr(fn, "__name__", None) or type(fn).__name__)


def doc_of(fn: Any) -> str:
    """The docstring of a function, or of the class of a callable object."""
    while isinstance(fn, partial):
        fn = fn.func
    if callable(fn) and not inspect.isroutine(fn) and not isinstance(fn, type):
        return inspect.getdoc(type(fn)) or inspect.getdoc(type(fn).__call__) or ""
    return inspect.getdoc(fn) or ""


def location_of(fn: Any) -> SourceLocation | None:
    """Where a function was written."""
    function = function_of(fn)
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return None if code is None else SourceLocation(code.co_filename, code.co_firstlineno)


def caller_location(depth: int) -> SourceLocation:
    """Where the code `depth` frames above this call stands."""
    frame = sys._getframe(depth + 1)
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno)


def outside_location() -> SourceLocation | None:
    """Where the code stands that called into Handrail."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith(
            ("handrail.core.", "handrail.engine.handrail")
        ):
            return SourceLocation(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def args_body(fn: Callable[..., Any], tool: str, location: SourceLocation | None) -> Body:
    """A body declared as `(args)` or `(args, ctx)`."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # some builtins have no signature
        return Body(fn, _with_args(fn), _is_async(fn))
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keyword_ctx = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in _CONTEXT_NAMES]
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    call: Callable[[Any, Any], Any]
    try:
        if keyword_ctx:
            name = keyword_ctx[0]
            signature.bind(None, **{name: None})
            call = _with_named_context(fn, name)
        elif open_ended or (len(positional) >= 2 and _takes_context(positional[1])):
            signature.bind(None, None)
            call = fn
        elif positional:
            signature.bind(None)
            call = _with_args(fn)
        else:
            signature.bind()
            call = _with_nothing(fn)
    except TypeError as error:
        raise DefinitionError(
            f"its execute is declared as {signature} ({error})",
            tool=tool,
            location=location,
            remedy="declare it as (args) or (args, ctx)",
        ) from None
    return Body(fn, call, _is_async(fn))


def _takes_context(parameter: inspect.Parameter) -> bool:
    """Whether a second parameter is the context: a setting with a default of its own is not."""
    if parameter.default is parameter.empty or parameter.name.strip("_") in _CONTEXT_NAMES:
        return True
    return "Context" in str(parameter.annotation)


def _with_args(fn: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda args, ctx: fn(args)


def _with_nothing(fn: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda args, ctx: fn()


def _with_named_context(fn: Callable[..., Any], name: str) -> Callable[[Any, Any], Any]:
    return lambda args, ctx: fn(args, **{name: ctx})


def _is_async(fn: Any) -> bool:
    while isinstance(fn, partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004


def signature_body(
    fn: Callable[..., Any], tool: str, location: SourceLocation | None, local_names: Mapping[str, Any]
) -> tuple[type[BaseModel], Any, Body]:
    """Input model, return annotation and body of a function whose parameters are the tool's."""
    hints = _hints(fn, tool, location, local_names)
    documented = docstring_parameters(doc_of(fn))
    ctx_name: str | None = None
    taken: list[tuple[inspect.Parameter, Any]] = []
    for parameter in _parameters(fn, tool, location):
        annotation = hints.get(parameter.name, parameter.empty)
        if parameter.kind in _BY_NAME and _is_context(parameter.name, annotation):
            ctx_name = parameter.name
            continue
        if trouble := _parameter_problem(parameter, annotation):
            raise DefinitionError(trouble[0], tool=tool, location=location, remedy=trouble[1])
        taken.append((parameter, annotation))
    names = _field_names([parameter.name for parameter, _ in taken])
    fields = {
        names[parameter.name]: _field(parameter, annotation, documented.get(parameter.name), names)
        for parameter, annotation in taken
    }
    try:
        model = create_model(f"{tool} arguments", __base__=FunctionArguments, **fields)
    except (PydanticUserError, SchemaError, TypeError, NameError, ValueError) as error:
        raise DefinitionError(
            f"its parameters have types that cannot be checked: {error_summary(error)}",
            tool=tool,
            location=location,
            remedy="use types pydantic can validate",
        ) from error
    model._fields_of = names
    return model, hints.get("return", inspect.Signature.empty), _by_name(fn, names, ctx_name)


def return_type(
    fn: Callable[..., Any], tool: str, location: SourceLocation | None, local_names: Mapping[str, Any]
) -> Any:
    """What a body declared as `(args)` says that it returns."""
    return _hints(fn, tool, location, local_names, only="return").get("return", inspect.Signature.empty)


def error_summary(error: Exception) -> str:
    """What a nested error of pydantic is about: it says so last, and adds where to read more."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("For further information")]
    first = told[0] if told else type(error).__name__
    return f"{first} … {told[-1]}" if isinstance(error, SchemaError) and len(told) > 1 else first


def _parameters(
    fn: Callable[..., Any], tool: str, location: SourceLocation | None
) -> Iterable[inspect.Parameter]:
    """The parameters that are left to the caller: what a partial fixes is nobody else's business."""
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError) as error:
        raise DefinitionError(
            f"its parameters cannot be read ({error})",
            tool=tool,
            location=location,
            remedy="wrap it in a function with annotated parameters",
        ) from None
    fixed = fn.keywords if isinstance(fn, partial) else {}
    return [parameter for name, parameter in parameters.items() if name not in fixed]


def _parameter_problem(parameter: inspect.Parameter, annotation: Any) -> tuple[str, str] | None:
    if parameter.kind not in _BY_NAME:
        remedy = "name every parameter; for open-ended input declare one dict or list parameter"
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else stars
        return f"parameter '{stars}{parameter.name}' cannot be given by name", remedy
    if annotation is parameter.empty:
        return f"parameter {parameter.name!r} has no type", f"annotate it, such as `{parameter.name}: str`"
    return None


def _is_context(name: str, annotation: Any) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return Context in get_args(annotation)
    if annotation is Context:
        return True
    return name in _CONTEXT_NAMES and (annotation is inspect.Parameter.empty or annotation is Any)


def _field_names(parameters: list[str]) -> dict[str, str]:
    """A field for each parameter. What pydantic keeps for itself (`copy`, `_x`) gets another name inside."""
    names = {name: name for name in parameters if not _is_reserved(name)}
    for parameter in parameters:
        if parameter not in names:
            field = f"{parameter.strip('_') or 'parameter'}_"
            while field in names.values() or _is_reserved(field):
                field += "_"
            names[parameter] = field
    return names


def _is_reserved(name: str) -> bool:
    return name.startswith("_") or hasattr(FunctionArguments, name)


def _field(
    parameter: inspect.Parameter, annotation: Any, description: str | None, names: Mapping[str, str]
) -> Any:
    """The field of a parameter. A `Field` of the author's own stands above the docstring."""
    alias = parameter.name if names[parameter.name] != parameter.name else None
    told = {
        key: value for key, value in (("description", description), ("alias", alias)) if value is not None
    }
    if told:
        own = annotation.__metadata__ if get_origin(annotation) is Annotated else ()
        kind = annotation.__origin__ if own else annotation
        annotation = Annotated[(kind, Field(**told), *own)]  # type: ignore[call-overload]
    return annotation if parameter.default is parameter.empty else (annotation, parameter.default)


def _by_name(fn: Callable[..., Any], names: Mapping[str, str], ctx_name: str | None) -> Body:
    renamed = {field: parameter for parameter, field in names.items() if field != parameter}
    call: Callable[[Any, Any], Any]
    if renamed:

        def call(values: Any, ctx: Any) -> Any:
            given = {renamed.get(name, name): value for name, value in values.__dict__.items()}
            return fn(**given) if ctx_name is None else fn(**given, **{ctx_name: ctx})

        return Body(fn, call, _is_async(fn))
    if ctx_name is None:

        def call(values: Any, ctx: Any) -> Any:
            return fn(**(values if values.__class__ is dict else values.__dict__))
    else:

        def call(values: Any, ctx: Any) -> Any:
            return fn(**(values if values.__class__ is dict else values.__dict__), **{ctx_name: ctx})

    is_async = _is_async(fn)
    return Body(fn, call, is_async, by_name=True, bare=is_async and ctx_name is None)


def _hints(
    fn: Callable[..., Any],
    tool: str,
    location: SourceLocation | None,
    local_names: Mapping[str, Any],
    only: str | None = None,
) -> dict[str, Any]:
    function = inspect.unwrap(function_of(fn))
    function = getattr(function, "__func__", function)
    written = getattr(function, "__annotations__", None) or {}
    if only is not None:
        written = {name: annotation for name, annotation in written.items() if name == only}
    try:
        return get_type_hints(
            SimpleNamespace(__annotations__=written),
            globalns=getattr(function, "__globals__", {}),
            localns=ChainMap(_closure_names(function), local_names),  # type: ignore[arg-type]
            include_extras=True,
        )
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise DefinitionError(
            f"an annotation cannot be read: {error}",
            tool=tool,
            location=location,
            remedy="import the type where the function is defined, outside `if TYPE_CHECKING`",
        ) from error


def _closure_names(function: Any) -> dict[str, Any]:
    """The names a function sees around it: types that are local there, too."""
    found: dict[str, Any] = {}
    for name, cell in zip(
        getattr(getattr(function, "__code__", None), "co_freevars", ()),
        getattr(function, "__closure__", None) or (),
        strict=False,
    ):
        with suppress(ValueError):  # not assigned yet
            found[name] = cell.cell_contents
    return found


def docstring_parameters(doc: str) -> dict[str, str]:
    """Parameter descriptions from the `Args:` section of a docstring."""
    found: dict[str, str] = {}
    outside = entries = -1
    last: str | None = None
    for line in doc.splitlines():
        depth = len(line) - len(line.lstrip())
        if section := _SECTION.match(line):
            outside, entries, last = len(section[1]), sys.maxsize, None
        elif not line.strip() or outside < 0:
            continue
        elif depth <= outside:
            outside = -1
        elif depth <= entries and (entry := _ENTRY.match(line)):
            entries, last = depth, entry[1]
            found[last] = entry[2].strip()
        elif last is not None and depth > entries:
            found[last] = f"{found[last]} {line.strip()}".strip()
    return found


def docstring_description(doc: str) -> str:
    """A docstring without the sections that speak of parameters, returns and errors."""
    kept: list[str] = []
    for line in doc.splitlines():
        if _SECTION.match(line) or _OTHER_SECTION.match(line):
            break
        kept.append(line)
    return "\n".join(kept).strip()
