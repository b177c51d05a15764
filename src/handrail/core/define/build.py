"""build: every source style becomes the same frozen Tool here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, RootModel, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from handrail.core.define import description as texts
from handrail.core.define.check import check
from handrail.core.define.names import category_of, humanize_field_name, slug_of
from handrail.core.define.output import data_checker, output_checker
from handrail.core.define.permission import (
    DEFAULT_LEVEL,
    Capability,
    Danger,
    Level,
    danger_of,
    level_for,
    level_of,
)
from handrail.core.define.result import Result, ToolResponse
from handrail.core.define.schema import JsonSchema, schema_of
from handrail.core.define.secrecy import secret_paths
from handrail.core.define.sections import FormSpec, OutputSection, ViewSpec
from handrail.core.define.tool import Body, Tool, digest
from handrail.core.define.validation import Validator, model_validator, schema_validator
from handrail.core.errors import DefinitionError, Place

_NO_SCHEMA = (inspect.Signature.empty, Any, None, type(None), Result, ToolResponse)


def build(tool_id: str, given: Mapping[str, Any], body: Body, place: Place | None) -> Tool:
    """One Tool from folded options (see `spelling`), checked; a bad definition raises `DefinitionError`."""
    options = dict(given)
    try:
        input_schema, validate = _input(options)
        output_schema, check_output = _output(options.pop("output", None))
    except DefinitionError as error:
        raise DefinitionError(error.problem, tool=tool_id, place=place, remedy=error.remedy) from error
    description, guidance = _texts(tool_id, options, place)
    axes = _axes(options, tool_id, place)
    sections = tuple(map(_section, options.pop("sections", None) or ()))
    tool = Tool(
        id=tool_id,
        description=description,
        guidance=guidance,
        aliases=_aliases(options.pop("aliases", None) or ()),
        param_aliases={
            name: several(others) for name, others in (options.pop("param_aliases", None) or {}).items()
        },
        slug=options.pop("slug", None) or slug_of(tool_id),
        name=options.pop("name", None) or humanize_field_name(tool_id.rpartition(".")[2]),
        category=options.pop("category", None) or category_of(tool_id),
        input_schema=input_schema,
        output_schema=output_schema,
        tenants=frozenset(several(options.pop("tenants", None) or ())),
        sections=sections,
        form=_form(options.pop("form", None)),
        view=options.pop("view", None) or (ViewSpec(sections) if sections else None),
        secrets=secret_paths(input_schema),
        body=body,
        validate=validate,
        check_output=check_output,
        place=place,
        **axes,
        **{name: value for name, value in options.items() if value is not None},
    )
    check(tool)
    return replace(tool, digest=digest(tool))


def _input(options: dict[str, Any]) -> tuple[JsonSchema, Validator]:
    declared = options.pop("input", None)
    params = options.pop("params", None)
    required = options.pop("required", None)
    resources = options.pop("resources", None)
    formats = bool(options.pop("formats", False))
    if params is not None:
        if declared is not None:
            raise DefinitionError("it has both a paramSchema and an input schema", remedy="keep one of them")
        declared = _params_schema(params, required or ())
        formats = True
    elif required is not None:
        raise DefinitionError("requiredParams belongs to a paramSchema", remedy="give paramSchema as well")
    if declared is None:
        declared = {"type": "object", "properties": {}, "additionalProperties": False}
    if isinstance(declared, Mapping):
        schema = dict(declared)
        return schema, schema_validator(schema, resources, formats)
    if isinstance(declared, type) and issubclass(declared, RootModel):
        raise DefinitionError(
            "its input is not an object with properties, so no model could see its parameters",
            remedy="make it one flat model: an `action` enum and every other field optional",
        )
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return schema_of(declared, "validation"), model_validator(declared)
    raise DefinitionError(
        f"its input is {declared!r}, which is neither a pydantic model nor a JSON Schema",
        remedy="give a BaseModel class, a JSON Schema object, or paramSchema",
    )


def _params_schema(params: Mapping[str, Any], required: Iterable[str]) -> JsonSchema:
    if not isinstance(params, Mapping) or not all(isinstance(part, Mapping) for part in params.values()):
        raise DefinitionError(
            "its paramSchema is not a map of parameter to {type, description}",
            remedy='write {"limit": {"type": "number", "description": "..."}}',
        )
    schema: JsonSchema = {
        "type": "object",
        "properties": {name: dict(part) for name, part in params.items()},
        "additionalProperties": False,
    }
    names = list(several(required))
    if unknown := [name for name in names if name not in params]:
        raise DefinitionError(
            f"requiredParams names {unknown[0]!r}, which paramSchema does not declare",
            remedy=f"declare it, or require one of: {', '.join(params) or 'nothing'}",
        )
    if names:
        schema["required"] = names
    return schema


def _output(declared: Any) -> tuple[JsonSchema | None, Validator | None]:
    if declared in _NO_SCHEMA if not isinstance(declared, Mapping) else False:
        return None, None
    if isinstance(declared, Mapping):
        schema = dict(declared)
        return schema, data_checker(schema_validator(schema))
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(declared)
        return schema_of(adapter, "serialization"), output_checker(adapter, declared)
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError) as error:
        raise DefinitionError(
            f"its output type cannot become a schema: {str(error).partition(chr(10))[0]}",
            remedy="return a pydantic model, a TypedDict, a plain type, or a Result",
        ) from error


def _texts(tool_id: str, options: dict[str, Any], place: Place | None) -> tuple[str, str]:
    inline = str(options.pop("description", None) or "")
    guidance = str(options.pop("guidance", None) or "")
    text = texts.external(tool_id, options.pop("description_path", None), place)
    if text is None or not text.strip():
        return " ".join(inline.split()), guidance.strip()
    first, rest = texts.split(text)
    return first, rest or guidance.strip()


def _axes(options: dict[str, Any], tool_id: str, place: Place | None) -> dict[str, Any]:
    """Level, danger and capabilities, each derived from the others where it is missing."""
    level, level_fn = _value_or_function(options, "level")
    danger, danger_fn = _value_or_function(options, "danger")
    permissions = options.pop("permissions", None) or {}
    needed: frozenset[Capability] = frozenset(
        several(options.pop("capabilities", None) or permissions.get("required", ()))
    )
    wished: frozenset[Capability] = frozenset(
        several(options.pop("optional_capabilities", None) or permissions.get("optional", ()))
    )
    if danger is None and danger_fn is not None:
        danger = "dangerous"
    if level is None and level_fn is not None:
        level = "destructive"
    try:
        ceiling: Level = level or (level_of(danger) if danger else level_for(needed)) or DEFAULT_LEVEL
        peril: Danger = danger or danger_of(ceiling)
    except KeyError as error:
        raise DefinitionError(
            f"{error.args[0]!r} is not a level, danger or capability",
            tool=tool_id,
            place=place,
            remedy="levels: read, draft, write, destructive; dangers: safe, moderate, dangerous; "
            "capabilities: read, write, execute, network",
        ) from None
    return {
        "level": ceiling,
        "danger": peril,
        "level_of_call": level_fn,
        "danger_of_call": danger_fn,
        "capabilities": needed,
        "optional_capabilities": wished,
    }


def _value_or_function(options: dict[str, Any], name: str) -> tuple[Any, Callable[[Any], Any] | None]:
    value = options.pop(name, None)
    function = options.pop(f"{name}_fn", None)
    return (None, value) if callable(value) else (value, function)


def several(given: Any) -> tuple[Any, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _aliases(given: Any) -> dict[str, Mapping[str, str]]:
    if isinstance(given, Mapping):
        return {name: dict(params or {}) for name, params in given.items()}
    return {name: {} for name in several(given)}


def _section(given: Any) -> OutputSection:
    return given if isinstance(given, OutputSection) else OutputSection(**given)


def _form(given: Any) -> FormSpec | None:
    return FormSpec(given) if isinstance(given, Mapping) else given
