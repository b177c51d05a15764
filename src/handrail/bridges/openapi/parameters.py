"""Parameters and body of an operation as fields: where each argument goes in the request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, Literal

from handrail.bridges.openapi.document import OpenAPIDocument, UnsupportedOperation
from handrail.bridges.openapi.schemas import SchemaTranslator
from handrail.bridges.openapi.security import credential_locations

Location = Literal["path", "query", "header", "cookie", "body", "whole"]
"""`whole`: the argument is the body; `body`: it is one property of the body."""
_ODD = re.compile(r"[^A-Za-z0-9_.\-]+")
_LONGEST = 64
_ROOM = 48


@dataclass(frozen=True, slots=True)
class RequestField:
    """One argument, and its place."""

    where: Location
    name: str
    """As the service calls it."""
    schema: Any
    required: bool = False
    style: str = "form"
    explode: bool = True
    is_json: bool = False
    """Whether its value goes as JSON text, whatever it is."""
    reserved: bool = False
    """Whether a query may hold characters that have a meaning in addresses."""
    key: str = ""
    """As the tool calls it."""


def with_unique_keys(fields: Iterable[RequestField]) -> tuple[RequestField, ...]:
    """The same with keys that providers accept and no two share: `id`, or `id_path` and `id_query`."""
    listed = list(fields)
    plain = [_plain_key(field.name) for field in listed]
    times = Counter(plain)
    taken = {key for key in plain if times[key] == 1}
    keyed = []
    for field, key in zip(listed, plain, strict=True):
        if times[key] > 1:
            key = _free_key(f"{key[:_ROOM]}_{'body' if field.where == 'whole' else field.where}", taken)
        keyed.append(replace(field, key=key))
    return tuple(keyed)


def _plain_key(name: str) -> str:
    return _ODD.sub("_", name)[:_LONGEST] or "_"


def _free_key(key: str, taken: set[str]) -> str:
    spellings = chain([key], (f"{key}_{number}" for number in count(2)))
    free = next(text for text in spellings if text not in taken)
    taken.add(free)
    return free


_STYLES: Mapping[Location, str] = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}

_NOT_GIVEN = frozenset(
    "accept authorization connection content-length content-type cookie host proxy-authorization te trailer "
    "transfer-encoding upgrade".split()
)
"""Headers that are not for callers to set."""
_FORM = "application/x-www-form-urlencoded"


def read_parameters(
    document: OpenAPIDocument, item: Mapping[str, Any], spec: Mapping[str, Any], schemas: SchemaTranslator
) -> tuple[list[RequestField], str | None]:
    """The parameters of an operation and of its path; credentials are none, nor is what we fill in."""
    parameters: dict[tuple[Location, str], Mapping[str, Any]] = {}
    for node in (*_list(item.get("parameters")), *_list(spec.get("parameters"))):
        parameter = document.part(node)
        where, name = (
            next((place for place in _STYLES if place == parameter.get("in")), None),
            parameter.get("name"),
        )
        if where is not None and isinstance(name, str) and name:
            parameters[where, name.lower() if where == "header" else name] = parameter
    secret = credential_locations(document)
    fields: list[RequestField] = []
    key_header: str | None = None
    for (where, name), parameter in parameters.items():
        if (where, name.lower()) in secret or (where == "header" and name in _NOT_GIVEN):
            continue
        if (where, name) == ("header", "idempotency-key"):
            key_header = str(parameter["name"])
            continue
        fields.append(_parameter(where, parameter, schemas))
    return fields, key_header


def _parameter(where: Location, spec: Mapping[str, Any], schemas: SchemaTranslator) -> RequestField:
    content = spec.get("content")
    schema = spec.get("schema", True)
    if isinstance(content, Mapping) and content:
        [media, *_] = content.values()
        schema = _media_schema(media)
    style = str(spec.get("style") or _STYLES[where])
    explode = spec.get("explode")
    described = schemas.translate(schema)
    if isinstance(spec.get("description"), str) and isinstance(described, dict):
        described = {"description": spec["description"], **described}
    return RequestField(
        where,
        str(spec["name"]),
        described,
        spec.get("required") is True or where == "path",
        style,
        explode if isinstance(explode, bool) else style == "form",
        bool(content),
        spec.get("allowReserved") is True,
    )


def read_body(
    document: OpenAPIDocument, spec: Mapping[str, Any], schemas: SchemaTranslator
) -> tuple[str | None, list[RequestField]]:
    """The type of the body, and its properties as fields where it is an object that lists them."""
    body = document.part(spec.get("requestBody"))
    required, content = body.get("required") is True, body.get("content")
    if not isinstance(content, Mapping) or not content:
        return None, []
    media = next((name for name in content if is_json(name)), None)
    media = media or next((name for name in content if _bare(name) == _FORM), None)
    if media is None:
        if required:
            raise UnsupportedOperation(
                f"its body is {' or '.join(sorted(content))}, and only JSON and forms are sent"
            )
        return None, []
    schema = _media_schema(content[media])
    parts, needed = _listed_properties(document, schema), _required_names(document, schema)
    if parts is None or (not required and needed):
        if _bare(media) == _FORM:
            raise UnsupportedOperation("its form is not an object that lists its fields")
        return media, [RequestField("whole", "body", schemas.translate(schema), required)]
    fields = [
        RequestField("body", name, schemas.translate(part), name in needed)
        for name, part in parts.items()
        if not schemas.is_hidden(part)
    ]
    return media, fields


def _media_schema(media: Any) -> Any:
    return media.get("schema", True) if isinstance(media, Mapping) else True


def _listed_properties(document: OpenAPIDocument, schema: Any) -> Mapping[str, Any] | None:
    """The properties of a schema that is nothing but an object with these, or None."""
    if isinstance(schema, Mapping) and "$ref" in schema and len(schema) > 1 and not document.is_3_0:
        return None
    node = document.part(schema)
    more = node.get("additionalProperties", False)
    plain = node.get("type", "object") in ("object", ["object"]) and node.get("nullable") is not True
    joined = any(key in node for key in ("allOf", "anyOf", "oneOf", "not", "if", "patternProperties", "enum"))
    parts = node.get("properties")
    if not plain or joined or more is not False or not isinstance(parts, Mapping) or not parts:
        return None
    return parts


def _required_names(document: OpenAPIDocument, schema: Any) -> set[str]:
    required = document.part(schema).get("required")
    return set(map(str, required)) if isinstance(required, list) else set()


def is_json(media: str) -> bool:
    bare = _bare(media)
    return bare == "application/json" or bare.endswith("+json")


def _bare(media: str) -> str:
    return media.partition(";")[0].strip().lower()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
