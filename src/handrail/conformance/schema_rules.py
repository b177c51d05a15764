"""Rules about schemas: a model sees the parameters, a client can check the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from handrail.conformance.rule import Problem, RuleContext, context_rule, rule
from handrail.conformance.schema_parts import SchemaPart, schema_parts
from handrail.core.define.schema import JsonSchema, provider_schema, resolve
from handrail.core.define.tool import Tool
from handrail.core.define.validation import InvalidValue, schema_validator
from handrail.core.errors import DefinitionError

_MAX_NAMED = 8
_SCOPE = frozenset({"organization_id", "organizationId", "tenant_id", "tenantId", "userId", "user_id"})

_SHAPING = frozenset(
    "properties patternProperties additionalProperties $ref $dynamicRef allOf anyOf oneOf enum const".split()
)
_OPEN: tuple[Any, ...] = (True, {})


@rule("output-schema", "CF-01", "error")
def output_schema(tool: Tool) -> Iterator[Problem]:
    """A tool written in code has an output schema.

    A tool from elsewhere cannot be held to it; one written in code can.
    """
    if tool.output_schema is None and tool.origin in ("system", "custom"):
        yield (
            "it has no output schema, so no client can check what it answers",
            "annotate what it returns, as `-> Found` or `-> Found | Result`; "
            'if that is nothing, give `output={"type": "null"}`',
        )


@rule("open-output", "TD-08", "warning")
def open_output(tool: Tool) -> Iterator[Problem]:
    """Its output schema says something of its data."""
    schema = tool.output_schema
    if schema is not None and tool.origin in ("system", "custom") and _says_nothing(schema):
        yield (
            "its output schema allows anything, so it promises nothing",
            "return a model, a TypedDict or a plain type instead of `dict` or `Any`",
        )


def _says_nothing(schema: Mapping[str, Any]) -> bool:
    keywords = {key: value for key, value in schema.items() if key not in ("description", "title", "$schema")}
    if keywords.pop("additionalProperties", True) not in _OPEN:
        return False
    return keywords in ({}, {"type": "object"})


@context_rule("input-schema", "CF-01", "error")
def input_schema(tool: Tool, context: RuleContext) -> Iterator[Problem]:
    """Its parameters can be read from its input schema, unless it takes none on purpose."""
    if not context.input_less.isdisjoint(tool.names) or provider_schema(tool.input_schema)["properties"]:
        return
    if "$ref" in resolve(tool.input_schema, tool.input_schema):
        yield (
            "its parameters stand in another document, where no model can see them",
            "copy the schema that it refers to into `$defs`",
        )
    else:
        yield (
            "its input schema declares no properties, so a model sees a tool without parameters",
            "declare the parameters; if it takes none on purpose, name it in `input_less`",
        )


@rule("top-level-union", "CF-03", "error")
def top_level_union(tool: Tool) -> Iterator[Problem]:
    """Its input is one object, not a choice of several.

    Branches that only require some of the declared properties are no union: every model sees them all.
    """
    schema = tool.input_schema
    top = resolve(schema, schema)
    branches = [resolve(branch, schema) for key in ("anyOf", "oneOf") for branch in top.get(key) or ()]
    if branches and (not top.get("properties") or any(branch.get("properties") for branch in branches)):
        yield (
            "its input is a union at the top; clients that take only objects see a tool without parameters",
            "make it one flat object: an `action` enum, every other field optional, and `action_error` "
            "in the body for what each action requires",
        )


@rule("open-record", "CF-03", "error")
def open_record(tool: Tool) -> Iterator[Problem]:
    """No part of its input takes any value under any name."""
    for part in schema_parts(tool.input_schema):
        if _is_open(part):
            yield (
                f"{part.name} takes any value under any name; strict providers refuse that",
                "declare the known keys as a typed object, or the type of all values; "
                "for a few free pairs take a list of {name, value}",
            )


def _is_open(part: SchemaPart) -> bool:
    node = part.node
    patterns = node.get("patternProperties")
    if isinstance(patterns, Mapping) and any(value in _OPEN for value in patterns.values()):
        return True
    if "additionalProperties" in node:
        # An input without any properties is one finding, and another rule's.
        return node["additionalProperties"] in _OPEN and (part.path != "" or bool(node.get("properties")))
    return part.path != "" and node.get("type") == "object" and _SHAPING.isdisjoint(node)


@rule("parameter-description", "DS-03", "warning")
def undocumented_parameter(tool: Tool) -> Iterator[Problem]:
    """Every parameter is described at its field, nested ones too.

    A constant explains itself; a definition may carry the words for the field that refers to it.
    """
    schema = tool.input_schema
    missing: list[str] = []
    for part in schema_parts(schema):
        declared = part.node.get("properties")
        for name, inner in declared.items() if isinstance(declared, Mapping) else ():
            if name not in part.declared and not _is_documented(inner, schema):
                missing.append(f"{part.path}.{name}" if part.path else name)
    if missing:
        names = ", ".join(missing[:_MAX_NAMED])
        more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
        yield (
            f"no description at the field of {names}{more}",
            "say under `Args:` of the docstring, in `Field(description=...)` or in the schema what belongs "
            "there: meaning, unit, an example",
        )


def _is_documented(node: Any, root: Mapping[str, Any]) -> bool:
    resolved = resolve(node, root)
    inner = [resolve(part, root) for key in ("allOf", "anyOf", "oneOf") for part in resolved.get(key) or ()]
    described = any(str(part.get("description") or "").strip() for part in (resolved, *inner))
    return described or "const" in resolved


@rule("scope-parameter", "IV-08", "warning")
def scope_parameter(tool: Tool) -> Iterator[Problem]:
    """It asks no caller for a tenant, an organisation or a user."""
    for name in sorted(_SCOPE & provider_schema(tool.input_schema)["properties"].keys()):
        yield (
            f"{name} is asked of the caller, who must not choose it",
            f"leave it out and take `ctx.{'user_id' if 'user' in name else 'tenant_id'}`",
        )


_ROOT = "urn:handrail:schema"


@rule("default", "IV-03", "error")
def bad_default(tool: Tool) -> Iterator[Problem]:
    """The defaults in its input schema are values that the schema takes.

    Defaults are filled in as they are, without being validated themselves.
    """
    for part, value in _values_in(tool, lambda node: [node["default"]] if "default" in node else []):
        if why := _misfit(value, part, tool.input_schema):
            yield (
                f"the default of {part.name} does not fit its own schema: {why}",
                "give a default that a caller might send, or none and make it optional",
            )


@rule("example", "CF-01", "error")
def bad_example(tool: Tool) -> Iterator[Problem]:
    """The examples in its input schema are values that the schema takes."""
    for part, value in _values_in(tool, _examples):
        if why := _misfit(value, part, tool.input_schema):
            yield (
                f"an example of {part.name} does not fit its own schema: {why}",
                "show an example that would be taken",
            )


def _values_in(tool: Tool, of: Callable[[Mapping[str, Any]], list[Any]]) -> Iterator[tuple[SchemaPart, Any]]:
    for part in schema_parts(tool.input_schema):
        for value in of(part.node):
            yield part, value


def _examples(node: Mapping[str, Any]) -> list[Any]:
    several = node.get("examples")
    single = [node["example"]] if "example" in node else []
    return [*(several if isinstance(several, list) else ()), *single]


def _misfit(value: Any, part: SchemaPart, root: Mapping[str, Any]) -> str | None:
    """Why a value does not fit the part of the schema that carries it; None when it fits.

    The formats of texts are not looked at: whether they count is a setting of the tool.
    """
    try:
        schema_validator({"$ref": f"{_ROOT}{part.pointer}"}, _documents(root))(value)
    except DefinitionError:  # it needs more of another document than that there is one
        return None
    except InvalidValue as error:
        return "; ".join(map(str, error.errors))
    return None


def _documents(root: Mapping[str, Any]) -> dict[str, JsonSchema]:
    """The schema under an address of ours and its own; of all others it is only known that they exist."""
    refs = (part.node.get("$ref") for part in schema_parts(root))
    documents: dict[str, JsonSchema] = {
        ref.partition("#")[0]: {} for ref in refs if isinstance(ref, str) and not ref.startswith("#")
    }
    schema = {key: inner for key, inner in root.items() if key != "$id"}
    if isinstance(root.get("$id"), str):
        documents[root["$id"].partition("#")[0]] = schema
    return {**documents, _ROOT: schema}
