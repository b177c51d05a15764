"""Operations: what an OpenAPI document says that can be done, read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handrail.bridges.openapi.document import Document, OpenAPIError, Unsupported
from handrail.bridges.openapi.fields import Field, keyed
from handrail.bridges.openapi.inputs import body_of, is_json, parameters
from handrail.bridges.openapi.schemas import Known, Schemas
from handrail.bridges.openapi.security import Scheme, alternatives

_MOST_DEFS = 50
"""Definitions of an output. Where everything refers to everything, each tool would carry all of it."""
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, ready to be made a tool."""

    method: str
    path: str
    operation_id: str | None
    summary: str
    description: str
    tags: tuple[str, ...]
    fields: tuple[Field, ...]
    body_type: str | None
    body_required: bool
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    security: tuple[tuple[Scheme, ...], ...]
    """Alternatives; each is what a request must carry."""
    key_header: str | None = None
    """The header for a key that makes a repeated request count once."""

    @property
    def spelled(self) -> str:
        return f"{self.method} {self.path}"


def operations(document: Document) -> Iterator[Operation | tuple[str, str]]:
    """Each operation, or how it is called and why it cannot be."""
    paths = document.data.get("paths") or {}
    if not isinstance(paths, Mapping):
        raise OpenAPIError("its paths are not an object", remedy="correct the document")
    known: tuple[Known, Known] = ({}, {})
    for path, given in paths.items():
        item = document.part(given)
        for method in METHODS:
            if method not in item:
                continue
            told, spelled = item[method], f"{method} {path}"
            if not isinstance(told, Mapping):
                yield spelled, "it is not an object"
                continue
            try:
                if not path.startswith("/"):
                    raise Unsupported("its path does not begin with a slash")
                yield _operation(document, method, path, item, told, known)
            except Unsupported as why:
                yield spelled, str(why)
            except RecursionError:
                yield spelled, "its schemas are nested too deeply"
            except OpenAPIError as error:
                raise OpenAPIError(f"{spelled}: {error.problem}", remedy=error.remedy) from error


def _operation(
    document: Document,
    method: str,
    path: str,
    item: Mapping[str, Any],
    told: Mapping[str, Any],
    known: tuple[Known, Known],
) -> Operation:
    schemas = Schemas(document, "in", known[0])
    fields, key_header = parameters(document, item, told, schemas)
    body_type, body = body_of(document, told, schemas)
    named = keyed([*fields, *body])
    holes = {one.name for one in named if one.where == "path"}
    for one in holes:
        if f"{{{one}}}" not in path:
            raise Unsupported(f"its path has no place for {one!r}")
    left = path
    for one in holes:
        left = left.replace(f"{{{one}}}", "")
    if "{" in left or "}" in left:
        raise Unsupported("its path has a place that no parameter fills")
    operation_id = told.get("operationId")
    tags = told.get("tags")
    return Operation(
        method,
        path,
        operation_id if isinstance(operation_id, str) else None,
        str(told.get("summary") or item.get("summary") or ""),
        str(told.get("description") or item.get("description") or ""),
        tuple(map(str, tags)) if isinstance(tags, list) else (),
        named,
        body_type,
        document.part(told.get("requestBody")).get("required") is True,
        _input(named, schemas),
        _output(told, document, Schemas(document, "out", known[1])),
        alternatives(document, told),
        key_header,
    )


def _input(fields: tuple[Field, ...], schemas: Schemas) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": {one.key: one.schema for one in fields}}
    needed = [one.key for one in fields if one.required]
    if needed:
        made["required"] = needed
    return schemas.with_defs({**made, "additionalProperties": False})


def _output(told: Mapping[str, Any], document: Document, schemas: Schemas) -> dict[str, Any] | None:
    """What a success answers, where every success answers JSON or nothing."""
    responses = told.get("responses")
    found: list[Any] = []
    for status, given in responses.items() if isinstance(responses, Mapping) else ():
        if not str(status).startswith("2"):
            continue
        content = document.part(given).get("content")
        if not isinstance(content, Mapping) or not content:
            schema: Any = {"type": "null"}
        else:
            media = next((one for one in content if is_json(one)), None)
            if media is None or not isinstance(content[media], Mapping) or "schema" not in content[media]:
                return None
            schema = schemas.translate(content[media]["schema"])
        if schema not in found:
            found.append(schema)
    if not found or found == [{"type": "null"}]:
        return None
    one = found[0] if len(found) == 1 else {"anyOf": found}
    whole = schemas.with_defs(one) if isinstance(one, dict) else {}
    return whole if whole and len(whole.get("$defs", ())) <= _MOST_DEFS else None
