"""Bodies: reading a function's signature and adapting how it is called."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import PydanticUndefined

from handrail.core.define.context import Context
from handrail.core.define.tool import Body
from handrail.core.errors import DefinitionError, Place

_CONTEXT_NAMES = ("ctx", "context")
_SECTION = re.compile(r"\s*(Args|Arguments|Parameters|Params):\s*$")
_ENTRY = re.compile(r"\s+(\w+)(?:\s*\([^)]*\))?:\s*(.+)$")
_OTHER_SECTION = re.compile(r"\s*(Returns?|Raises|Yields?|Examples?|Notes?):\s*$")


class Arguments(BaseModel):
    """Validated arguments of a function tool: attributes, and names in brackets."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), arbitrary_types_allowed=True)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, _field_name(name))


def place_of(fn: Any) -> Place | None:
    """Where a function was written."""
    code = getattr(inspect.unwrap(fn) if callable(fn) else fn, "__code__", None)
    return None if code is None else Place(code.co_filename, code.co_firstlineno)


def caller_place(depth: int) -> Place:
    """Where the code `depth` frames above this call stands."""
    frame = sys._getframe(depth + 1)
    return Place(frame.f_code.co_filename, frame.f_lineno)


def args_body(fn: Callable[..., Any]) -> Body:
    """A body declared as `(args)` or `(args, ctx)`."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return Body(fn, lambda args, ctx: fn(args), _is_async(fn))
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keyword_ctx = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in _CONTEXT_NAMES]
    call: Callable[[Any, Any], Any]
    if keyword_ctx:
        name = keyword_ctx[0]
        call = lambda args, ctx: fn(args, **{name: ctx})  # noqa: E731
    elif len(positional) >= 2 or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        call = fn
    elif positional:
        call = lambda args, ctx: fn(args)  # noqa: E731
    else:
        call = lambda args, ctx: fn()  # noqa: E731
    return Body(fn, call, _is_async(fn))


def _is_async(fn: Any) -> bool:
    while isinstance(fn, partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004


def signature_body(
    fn: Callable[..., Any], tool: str, place: Place | None, local_names: Mapping[str, Any]
) -> tuple[type[BaseModel], Any, Body]:
    """Input model, return annotation and body of a function whose parameters are the tool's."""
    hints = _hints(fn, tool, place, local_names)
    documented = documented_parameters(inspect.getdoc(fn) or "")
    fields: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    ctx_name: str | None = None
    for parameter in inspect.signature(fn).parameters.values():
        annotation = hints.get(parameter.name, parameter.empty)
        if annotation is Context or (parameter.name in _CONTEXT_NAMES and _is_context(annotation)):
            ctx_name = parameter.name
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise DefinitionError(
                f"parameter {str(parameter)!r} cannot be given by name",
                tool=tool,
                place=place,
                remedy="name every parameter; for open-ended input declare one dict or list parameter",
            )
        if annotation is parameter.empty:
            raise DefinitionError(
                f"parameter {parameter.name!r} has no type",
                tool=tool,
                place=place,
                remedy=f"annotate it, for example `{parameter.name}: str`",
            )
        name = _field_name(parameter.name)
        if name != parameter.name:
            renamed[name] = parameter.name
        fields[name] = (annotation, _field(parameter, documented.get(parameter.name), name))
    try:
        model = create_model(f"{tool} arguments", __base__=Arguments, **fields)
    except (PydanticUserError, TypeError, NameError) as error:
        raise DefinitionError(
            f"its parameters have types that cannot be checked: {str(error).partition(chr(10))[0]}",
            tool=tool,
            place=place,
            remedy="use types pydantic can validate",
        ) from error
    return model, hints.get("return", inspect.Signature.empty), _by_name(fn, renamed, ctx_name)


def _is_context(annotation: Any) -> bool:
    return annotation is inspect.Parameter.empty or annotation is Any or annotation is Context


def _field_name(parameter: str) -> str:
    """Names that would shadow what every pydantic model has get a trailing underscore inside."""
    if hasattr(BaseModel, parameter) or parameter.startswith("_"):
        return f"{parameter.lstrip('_')}_"
    return parameter


def _field(parameter: inspect.Parameter, description: str | None, name: str) -> Any:
    alias = parameter.name if name != parameter.name else None
    default = PydanticUndefined if parameter.default is parameter.empty else parameter.default
    if isinstance(default, type(Field())):
        return default
    return Field(default, description=description, alias=alias)


def _by_name(fn: Callable[..., Any], renamed: dict[str, str], ctx_name: str | None) -> Body:
    call: Callable[[Any, Any], Any]
    if renamed:

        def call(values: Any, ctx: Any) -> Any:
            given = {renamed.get(name, name): value for name, value in values.__dict__.items()}
            return fn(**given) if ctx_name is None else fn(**given, **{ctx_name: ctx})
    elif ctx_name is None:
        call = lambda values, ctx: fn(**values.__dict__)  # noqa: E731
    elif ctx_name == "ctx":
        call = lambda values, ctx: fn(**values.__dict__, ctx=ctx)  # noqa: E731
    else:
        call = lambda values, ctx: fn(**values.__dict__, **{ctx_name: ctx})  # noqa: E731
    return Body(fn, call, _is_async(fn))


def _hints(
    fn: Callable[..., Any], tool: str, place: Place | None, local_names: Mapping[str, Any]
) -> dict[str, Any]:
    try:
        return get_type_hints(fn, localns=dict(local_names), include_extras=True)
    except (NameError, TypeError, SyntaxError) as error:
        raise DefinitionError(
            f"an annotation cannot be read: {error}",
            tool=tool,
            place=place,
            remedy="import the type where the function is defined, outside `if TYPE_CHECKING`",
        ) from error


def documented_parameters(doc: str) -> dict[str, str]:
    """Parameter descriptions from the `Args:` section of a docstring."""
    found: dict[str, str] = {}
    inside = False
    last: str | None = None
    for line in doc.splitlines():
        if _SECTION.match(line):
            inside = True
        elif inside and (entry := _ENTRY.match(line)):
            last = entry[1]
            found[last] = entry[2].strip()
        elif inside and last is not None and line.startswith("        "):
            found[last] += f" {line.strip()}"
        elif line.strip():
            inside = False
    return found


def documented_purpose(doc: str) -> str:
    """A docstring without the sections that speak of parameters, returns and errors."""
    kept: list[str] = []
    for line in doc.splitlines():
        if _SECTION.match(line) or _OTHER_SECTION.match(line):
            break
        kept.append(line)
    return "\n".join(kept).strip()
