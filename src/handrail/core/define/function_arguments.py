"""Function arguments: the parameters of a function become a pydantic model, and its body takes them by name.

A module of its own, loaded with the first tool: to build models loads much of pydantic.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from handrail.core.define.context import Context
from handrail.core.define.introspection import (
    CONTEXT_NAMES,
    doc_of,
    docstring_parameters,
    error_summary,
    is_async,
    type_hints,
)
from handrail.core.define.tool import Body
from handrail.core.errors import DefinitionError

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


class FunctionArguments(BaseModel):
    """Validated arguments of a function tool: attributes, and the parameters' own names in brackets."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), arbitrary_types_allowed=True)

    _fields_of: ClassVar[Mapping[str, str]] = {}
    """Parameter to field."""

    def __getitem__(self, name: str) -> Any:
        return getattr(self, self._fields_of[name])


def signature_body(
    fn: Callable[..., Any], tool: str, local_names: Mapping[str, Any]
) -> tuple[type[BaseModel], Any, Body]:
    """Input model, return annotation and body of a function whose parameters are the tool's."""
    hints = type_hints(fn, local_names)
    documented = docstring_parameters(doc_of(fn))
    ctx_name: str | None = None
    taken: list[tuple[inspect.Parameter, Any]] = []
    for parameter in _parameters(fn):
        annotation = hints.get(parameter.name, parameter.empty)
        if parameter.kind in _BY_NAME and _is_context(parameter.name, annotation):
            ctx_name = parameter.name
            continue
        _check_parameter(parameter, annotation)
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
            remedy="use types pydantic can validate",
        ) from error
    model._fields_of = names
    return model, hints.get("return", inspect.Signature.empty), _by_name(fn, names, ctx_name)


def _parameters(fn: Callable[..., Any]) -> Iterable[inspect.Parameter]:
    """The parameters that are left to the caller: what a partial fixes is nobody else's business."""
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError) as error:
        raise DefinitionError(
            f"its parameters cannot be read ({error})",
            remedy="wrap it in a function with annotated parameters",
        ) from None
    fixed = fn.keywords if isinstance(fn, partial) else {}
    return [parameter for name, parameter in parameters.items() if name not in fixed]


def _check_parameter(parameter: inspect.Parameter, annotation: Any) -> None:
    if parameter.kind not in _BY_NAME:
        stars = _STARS.get(parameter.kind, "")
        raise DefinitionError(
            f"parameter '{stars}{parameter.name}' cannot be given by name",
            remedy="name every parameter; for open-ended input declare one dict or list parameter",
        )
    if annotation is parameter.empty:
        raise DefinitionError(
            f"parameter {parameter.name!r} has no type",
            remedy=f"annotate it, such as `{parameter.name}: str`",
        )


def _is_context(name: str, annotation: Any) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return Context in get_args(annotation)
    if annotation is Context:
        return True
    return name in CONTEXT_NAMES and (annotation is inspect.Parameter.empty or annotation is Any)


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
    options = {
        key: value for key, value in (("description", description), ("alias", alias)) if value is not None
    }
    if options:
        own = annotation.__metadata__ if get_origin(annotation) is Annotated else ()
        kind = annotation.__origin__ if own else annotation
        annotation = Annotated[(kind, Field(**options), *own)]  # type: ignore[call-overload]
    return annotation if parameter.default is parameter.empty else (annotation, parameter.default)


def _by_name(fn: Callable[..., Any], names: Mapping[str, str], ctx_name: str | None) -> Body:
    renamed = {field: parameter for parameter, field in names.items() if field != parameter}
    call: Callable[[Any, Any], Any]
    if renamed:

        def call(values: Any, ctx: Any) -> Any:
            arguments = {renamed.get(name, name): value for name, value in values.__dict__.items()}
            return fn(**arguments) if ctx_name is None else fn(**arguments, **{ctx_name: ctx})

        return Body(fn, call, is_async(fn))
    if ctx_name is None:

        def call(values: Any, ctx: Any) -> Any:
            return fn(**(values if values.__class__ is dict else values.__dict__))
    else:

        def call(values: Any, ctx: Any) -> Any:
            return fn(**(values if values.__class__ is dict else values.__dict__), **{ctx_name: ctx})

    awaited = is_async(fn)
    return Body(fn, call, awaited, by_name=True, bare=awaited and ctx_name is None)
