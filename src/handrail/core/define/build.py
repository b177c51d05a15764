"""build: the options of a definition, in any spelling, become one frozen Tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from handrail.core.define import description_files as texts
from handrail.core.define.check import check
from handrail.core.define.introspection import error_summary
from handrail.core.define.levels import (
    CAPABILITIES,
    DANGERS,
    DEFAULT_LEVEL,
    LEVELS,
    Capability,
    danger_of,
    level_for,
    level_of,
)
from handrail.core.define.names import category_of, humanize_field_name, slug_of, words
from handrail.core.define.output_validation import (
    data_checker,
    output_checker,
    plain_outputs,
    takes_any_object,
)
from handrail.core.define.redaction import secret_paths
from handrail.core.define.result import Result, ToolResponse
from handrail.core.define.retry import retry_of
from handrail.core.define.schema import JsonSchema, schema_of
from handrail.core.define.tool import Body, Tool, redefine
from handrail.core.define.ui_specs import FormSpec, ViewSpec, section_of
from handrail.core.define.validation import (
    FlatValidator,
    Validator,
    flat_validator,
    model_validator,
    schema_validator,
)
from handrail.core.errors import DefinitionError, SourceLocation

_NO_SCHEMA = (inspect.Signature.empty, Any, None, type(None), Result, ToolResponse)


def build(tool_id: str, options: Mapping[str, Any], body: Body, location: SourceLocation | None) -> Tool:
    """One Tool from normalised options, checked; a bad definition raises `DefinitionError`."""
    tool = _make_tool(tool_id, dict(options), body, location)
    check(tool)
    return redefine(tool)


def _make_tool(tool_id: str, options: dict[str, Any], body: Body, location: SourceLocation | None) -> Tool:
    if not isinstance(tool_id, str):
        raise DefinitionError(f"{tool_id!r} is not a name a tool can have", remedy="give its id as text")
    input_schema, validate, flat = _input(options)
    declared_output = _without_envelopes(options.pop("output", None))
    output_schema, check_output = _output(declared_output)
    description, guidance = _description_and_guidance(tool_id, options, location)
    sections = _read_option("sections", options, lambda value: tuple(map(section_of, value)), _SECTIONS) or ()
    view = _read_option(
        "view", options, lambda value: value if isinstance(value, ViewSpec) else ViewSpec(**value), _VIEW
    )
    axes = _axes(options)
    varying = [axes["level_of_call"], axes["danger_of_call"]]
    varying += [options.get(name) for name in ("reads", "writes", "preview")]
    if not body.by_name or any(option is not None for option in varying):
        flat = None
    return Tool(
        id=tool_id,
        description=description,
        guidance=guidance,
        aliases=_read_option("aliases", options, aliases_of, _ALIASES) or {},
        param_aliases=_read_option("param_aliases", options, _param_aliases, _PARAM_ALIASES) or {},
        slug=options.pop("slug", None) or slug_of(tool_id),
        name=options.pop("name", None) or humanize_field_name(tool_id.rpartition(".")[2]),
        category=options.pop("category", None) or category_of(tool_id),
        input_schema=input_schema,
        output_schema=output_schema,
        tenants=_read_option("tenants", options, lambda value: frozenset(as_tuple(value)), _TENANTS)
        or frozenset(),
        retry=_read_option("retry", options, retry_of, _RETRY),
        sections=sections,
        form=_read_option(
            "form",
            options,
            lambda value: value if isinstance(value, FormSpec) else FormSpec(dict(value)),
            _FORM,
        ),
        view=view or (ViewSpec(sections) if sections else None),
        secrets=secret_paths(input_schema),
        body=body,
        validate=validate,
        flat_validate=None if flat is None else flat.validate,
        flat_converts=flat is not None and flat.converts,
        quiet=axes["level"] in ("read", "draft") and not (axes["level_of_call"] or axes["danger_of_call"]),
        check_output=check_output,
        plain_outputs=plain_outputs(None if check_output is None else declared_output),
        any_object=takes_any_object(None if check_output is None else declared_output),
        location=location,
        **axes,
        **{name: value for name, value in options.items() if value is not None},
    )


_SECTIONS = 'write [{"key": "rows", "label": "Rows", "type": "table"}]'
_VIEW = "give a ViewSpec"
_FORM = "give a FormSpec, or hints by field name"
_ALIASES = 'write ["other.name"], or {"other.name": {"their_parameter": "parameter"}}'
_PARAM_ALIASES = 'write {"parameter": ["other_name"]}'
_RETRY = "give a Retry, or the number of attempts"
_TENANTS = "give the slugs of tenants"
_PERMISSIONS = 'write {"required": ["read"], "optional": ["network"]}'


def _read_option(name: str, options: dict[str, Any], reader: Callable[[Any], Any], remedy: str) -> Any:
    """An option in the form a Tool keeps it; None when it is not given."""
    value = options.pop(name, None)
    if value is None:
        return None
    try:
        return reader(value)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise DefinitionError(f"its {name} cannot be read: {error}", remedy=remedy) from error


def _input(options: dict[str, Any]) -> tuple[JsonSchema, Validator, FlatValidator | None]:
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
        return schema, schema_validator(schema, resources, formats), None
    is_model = isinstance(declared, type) and issubclass(declared, BaseModel)
    if is_model and declared.__pydantic_root_model__:
        raise DefinitionError(
            "its input is not an object with properties, so no model could see its parameters",
            remedy="make it one flat model: an `action` enum and every other field optional",
        )
    if is_model:
        schema = _input_schema(declared)
        return schema, model_validator(declared, schema), _flat_validator(declared)
    raise DefinitionError(
        f"its input is {declared!r}, which is neither a pydantic model nor a JSON Schema",
        remedy="give a BaseModel class, a JSON Schema object, or paramSchema",
    )


def _flat_validator(model: type[BaseModel]) -> FlatValidator | None:
    """The short way for arguments, where there is one."""
    if model.model_config.get("extra") != "forbid":
        return None
    try:
        return flat_validator(model)
    except TypeError:  # an annotation carries something that cannot be looked up
        return None


def _input_schema(model: type[BaseModel]) -> JsonSchema:
    try:
        return schema_of(model, "validation")
    except (PydanticUserError, NameError) as error:
        raise DefinitionError(
            f"its input cannot become a schema: {error_summary(error)}",
            remedy="use types that JSON can carry, and define every type before the tool",
        ) from error


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
    names = list(as_tuple(required))
    if unknown := [name for name in names if name not in params]:
        raise DefinitionError(
            f"requiredParams names {unknown[0]!r}, which paramSchema does not declare",
            remedy=f"declare it, or require one of: {', '.join(params) or 'nothing'}",
        )
    if names:
        schema["required"] = names
    return schema


def _without_envelopes(declared: Any) -> Any:
    """The type of the data: a body may say that it also returns a Result."""
    if get_origin(declared) in (Union, UnionType):
        kinds = tuple(kind for kind in get_args(declared) if kind not in (Result, ToolResponse))
        return Union[kinds] if kinds else None  # noqa: UP007
    return declared


def _output(declared: Any) -> tuple[JsonSchema | None, Validator | None]:
    if isinstance(declared, Mapping):
        schema = dict(declared)
        return schema, data_checker(schema_validator(schema))
    if declared in _NO_SCHEMA:
        return None, None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(declared)
        emitted = schema_of(adapter, "serialization", getattr(declared, "__name__", None))
        return emitted, output_checker(adapter, declared, emitted)
    except (PydanticUserError, SchemaError, TypeError, NameError) as error:
        raise DefinitionError(
            f"its output type cannot become a schema: {error_summary(error)}",
            remedy="return a pydantic model, a TypedDict, a plain type, or a Result",
        ) from error


def _description_and_guidance(
    tool_id: str, options: dict[str, Any], location: SourceLocation | None
) -> tuple[str, str]:
    inline = str(options.pop("description", None) or "")
    guidance = str(options.pop("guidance", None) or "")
    text = texts.read_description(tool_id, options.pop("description_path", None), location)
    if text is None or not text.strip():
        return " ".join(inline.split()), guidance.strip()
    first, rest = texts.split_description(text)
    return first, rest or guidance.strip()


def _axes(options: dict[str, Any]) -> dict[str, Any]:
    """Level, danger and capabilities, each derived from the others where it is missing."""
    level, level_fn = _value_or_function(options, "level")
    danger, danger_fn = _value_or_function(options, "danger")
    required, optional = _read_option("permissions", options, capabilities_of, _PERMISSIONS) or (None, None)
    required_names: frozenset[Capability] = frozenset(
        as_tuple(options.pop("capabilities", None) or required or ())
    )
    optional_names: frozenset[Capability] = frozenset(
        as_tuple(options.pop("optional_capabilities", None) or optional or ())
    )
    if danger is None and danger_fn is not None:
        danger = "dangerous"
    if level is None and level_fn is not None:
        level = "destructive"
    try:
        if level is None:
            level = level_of(danger) if danger is not None else level_for(required_names) or DEFAULT_LEVEL
        if danger is None:
            danger = danger_of(level)
    except (KeyError, TypeError):
        unknown = next(axis for axis in (level, danger, *required_names) if not _is_axis(axis))
        raise DefinitionError(
            f"{unknown!r} is not a level, danger or capability",
            remedy="levels: read, draft, write, destructive; dangers: safe, moderate, dangerous; "
            "capabilities: read, write, execute, network",
        ) from None
    return {
        "level": level,
        "danger": danger,
        "level_of_call": level_fn,
        "danger_of_call": danger_fn,
        "capabilities": required_names,
        "optional_capabilities": optional_names,
    }


def _is_axis(value: Any) -> bool:
    return value is None or value in (*LEVELS, *DANGERS, *CAPABILITIES)


def capabilities_of(permissions: Mapping[str, Any]) -> tuple[frozenset[Capability], frozenset[Capability]]:
    """Required and optional capabilities of `{required: [...], optional: [...]}`."""
    if unknown := [name for name in permissions if name not in ("required", "optional")]:
        raise ValueError(f"{unknown[0]!r} is neither required nor optional")
    return (
        frozenset(as_tuple(permissions.get("required") or ())),
        frozenset(as_tuple(permissions.get("optional") or ())),
    )


def _value_or_function(options: dict[str, Any], name: str) -> tuple[Any, Callable[[Any], Any] | None]:
    value = options.pop(name, None)
    function = options.pop(f"{name}_fn", None)
    return (None, value) if callable(value) else (value, function)


def as_tuple(names: Any) -> tuple[Any, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def aliases_of(aliases: Any) -> dict[str, Mapping[str, str]]:
    """Aliases with the names each gives to parameters."""
    if isinstance(aliases, Mapping):
        return {name: dict(params or {}) for name, params in aliases.items()}
    return {name: {} for name in as_tuple(aliases)}


def _param_aliases(aliases: Any) -> dict[str, tuple[str, ...]]:
    return {name: as_tuple(others) for name, others in aliases.items()}


_OPTION_ALIASES = {
    "permission_level": "level",
    "danger_level": "danger",
    "get_danger_level": "danger_fn",
    "required_permission": "requires",
    "permission_policy": "policy",
    "tenant_slugs": "tenants",
    "output_sections": "sections",
    "parameters": "input",
    "input_schema": "input",
    "param_schema": "params",
    "required_params": "required",
    "output_schema": "output",
    "output_schema_zod": "output",
    "long_description": "guidance",
    "when_to_use": "guidance",
    "title": "name",
    "form_spec": "form",
    "view_spec": "view",
}

OPTIONS = frozenset(
    "description guidance description_path aliases param_aliases slug name category icon input output params "
    "required level danger level_fn danger_fn capabilities optional_capabilities permissions requires policy "
    "approvals four_eyes tenants reads writes concurrency timeout retry idempotent repeatable isolation "
    "collaborative aggregate undo preview sections form view origin execute resources formats".split()
)


def option_name(key: Any) -> str | None:
    """The option a key stands for, in whatever style it is written, or None."""
    if not isinstance(key, str):
        return None
    snake = "_".join(word.lower() for word in words(key))
    name = _OPTION_ALIASES.get(snake, snake)
    return name if name in OPTIONS else None


def _nearest_option(key: object) -> str:
    """The remedy for an option that is not known: the one that is nearly it, or all there are."""
    import difflib  # only for mistakes

    near = difflib.get_close_matches(str(key), sorted({*OPTIONS, *_OPTION_ALIASES}), 1, 0.7)
    return f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(sorted(OPTIONS))}"


def normalise_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options under their own names, whatever style they were written in: `permissionLevel` is level."""
    options: dict[str, Any] = {}
    for key, value in given.items():
        name = option_name(key)
        if name is None:
            raise DefinitionError(f"{key!r} is not an option of a tool", remedy=_nearest_option(key))
        if name in options:
            raise DefinitionError(f"{key!r} is given twice, under two spellings", remedy="keep one")
        options[name] = value
    return options
