"""Operations: what an OpenAPI document says that can be done, read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handrail.bridges.openapi.document import OpenAPIDocument, OpenAPIError, UnsupportedOperation
from handrail.bridges.openapi.parameters import (
    RequestField,
    is_json,
    read_body,
    read_parameters,
    with_unique_keys,
)
from handrail.bridges.openapi.schemas import SchemaTranslator, TranslatedRefs
from handrail.bridges.openapi.security import SecurityScheme, security_alternatives

_MOST_DEFS = 50
"""Definitions of an output. Where everything refers to everything, each tool would carry all of it."""
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation, ready to be made a tool."""

    method: str
    path: str
    operation_id: str | None
    summary: str
    description: str
    tags: tuple[str, ...]
    fields: tuple[RequestField, ...]
    body_type: str | None
    body_required: bool
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    security: tuple[tuple[SecurityScheme, ...], ...]
    """Alternatives; each is what a request must carry."""
    key_header: str | None = None
    """The header for a key that makes a repeated request count once."""

    @property
    def spelled(self) -> str:
        return f"{self.method} {self.path}"


def read_operations(document: OpenAPIDocument) -> Iterator[ApiOperation | tuple[str, str]]:
    """Each operation, or how it is called and why it cannot be."""
    paths = document.data.get("paths") or {}
    if not isinstance(paths, Mapping):
        raise OpenAPIError("its paths are not an object", remedy="correct the document")
    translated: tuple[TranslatedRefs, TranslatedRefs] = ({}, {})
    for path, node in paths.items():
        item = document.part(node)
        for method in METHODS:
            if method not in item:
                continue
            spec, spelled = item[method], f"{method} {path}"
            if not isinstance(spec, Mapping):
                yield spelled, "it is not an object"
                continue
            try:
                if not path.startswith("/"):
                    raise UnsupportedOperation("its path does not begin with a slash")
                yield _operation(document, method, path, item, spec, translated)
            except UnsupportedOperation as why:
                yield spelled, str(why)
            except RecursionError:
                yield spelled, "its schemas are nested too deeply"
            except OpenAPIError as error:
                raise OpenAPIError(f"{spelled}: {error.problem}", remedy=error.remedy) from error


def _operation(
    document: OpenAPIDocument,
    method: str,
    path: str,
    item: Mapping[str, Any],
    spec: Mapping[str, Any],
    translated: tuple[TranslatedRefs, TranslatedRefs],
) -> ApiOperation:
    schemas = SchemaTranslator(document, "in", translated[0])
    parameters, key_header = read_parameters(document, item, spec, schemas)
    body_type, body = read_body(document, spec, schemas)
    fields = with_unique_keys([*parameters, *body])
    _check_placeholders(path, [field.name for field in fields if field.where == "path"])
    operation_id = spec.get("operationId")
    tags = spec.get("tags")
    return ApiOperation(
        method,
        path,
        operation_id if isinstance(operation_id, str) else None,
        str(spec.get("summary") or item.get("summary") or ""),
        str(spec.get("description") or item.get("description") or ""),
        tuple(map(str, tags)) if isinstance(tags, list) else (),
        fields,
        body_type,
        document.part(spec.get("requestBody")).get("required") is True,
        _input(fields, schemas),
        _output(spec, document, SchemaTranslator(document, "out", translated[1])),
        security_alternatives(document, spec),
        key_header,
    )


def _check_placeholders(path: str, names: list[str]) -> None:
    rest = path
    for name in names:
        if f"{{{name}}}" not in path:
            raise UnsupportedOperation(f"its path has no place for {name!r}")
        rest = rest.replace(f"{{{name}}}", "")
    if "{" in rest or "}" in rest:
        raise UnsupportedOperation("its path has a place that no parameter fills")


def _input(fields: tuple[RequestField, ...], schemas: SchemaTranslator) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {field.key: field.schema for field in fields}}
    required = [field.key for field in fields if field.required]
    if required:
        schema["required"] = required
    return schemas.with_defs({**schema, "additionalProperties": False})


def _output(
    spec: Mapping[str, Any], document: OpenAPIDocument, schemas: SchemaTranslator
) -> dict[str, Any] | None:
    """What a success answers, where every success answers JSON or nothing."""
    responses = spec.get("responses")
    branches: list[Any] = []
    for status, node in responses.items() if isinstance(responses, Mapping) else ():
        if not str(status).startswith("2"):
            continue
        content = document.part(node).get("content")
        if not isinstance(content, Mapping) or not content:
            schema: Any = {"type": "null"}
        else:
            media = next((content[name] for name in content if is_json(name)), None)
            if not isinstance(media, Mapping) or "schema" not in media:
                return None
            schema = schemas.translate(media["schema"])
        if schema not in branches:
            branches.append(schema)
    if not branches or branches == [{"type": "null"}]:
        return None
    output = branches[0] if len(branches) == 1 else {"anyOf": branches}
    full = schemas.with_defs(output) if isinstance(output, dict) else {}
    return full if full and len(full.get("$defs", ())) <= _MOST_DEFS else None
