"""Inputs: the parameters and the body of an operation as fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.bridges.openapi.document import Document, Unsupported
from handrail.bridges.openapi.fields import Field, Where
from handrail.bridges.openapi.schemas import Schemas
from handrail.bridges.openapi.security import carriers

_STYLES: Mapping[Where, str] = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}
_NOT_GIVEN = frozenset(
    "accept authorization connection content-length content-type cookie host proxy-authorization te trailer "
    "transfer-encoding upgrade".split()
)
"""Headers that are not for callers to set."""
_FORM = "application/x-www-form-urlencoded"


def parameters(
    document: Document,
    item: Mapping[str, Any],
    told: Mapping[str, Any],
    schemas: Schemas,
) -> tuple[list[Field], str | None]:
    """The parameters of an operation and of its path; credentials are none, nor is what we fill in."""
    found: dict[tuple[Where, str], Mapping[str, Any]] = {}
    for given in (*_list(item.get("parameters")), *_list(told.get("parameters"))):
        one = document.part(given)
        where, name = next((place for place in _STYLES if place == one.get("in")), None), one.get("name")
        if where is not None and isinstance(name, str) and name:
            found[where, name.lower() if where == "header" else name] = one
    secret = carriers(document)
    fields: list[Field] = []
    key_header: str | None = None
    for (where, name), one in found.items():
        if (where, name.lower()) in secret or (where == "header" and name in _NOT_GIVEN):
            continue
        if (where, name) == ("header", "idempotency-key"):
            key_header = str(one["name"])
            continue
        fields.append(_parameter(where, one, schemas))
    return fields, key_header


def _parameter(where: Where, told: Mapping[str, Any], schemas: Schemas) -> Field:
    content = told.get("content")
    schema = told.get("schema", True)
    if isinstance(content, Mapping) and content:
        [media, *_] = content.values()
        schema = media.get("schema", True) if isinstance(media, Mapping) else True
    style = str(told.get("style") or _STYLES[where])
    explode = told.get("explode")
    described = schemas.translate(schema)
    if isinstance(told.get("description"), str) and isinstance(described, dict):
        described = {"description": told["description"], **described}
    return Field(
        where,
        str(told["name"]),
        described,
        told.get("required") is True or where == "path",
        style,
        explode if isinstance(explode, bool) else style == "form",
        bool(content),
        told.get("allowReserved") is True,
    )


def body_of(document: Document, told: Mapping[str, Any], schemas: Schemas) -> tuple[str | None, list[Field]]:
    """The type of the body, and its properties as fields where it is an object that lists them."""
    body = document.part(told.get("requestBody"))
    if not body:
        return None, []
    required = body.get("required") is True
    content = body.get("content")
    if not isinstance(content, Mapping) or not content:
        return None, []
    media = next((one for one in content if is_json(one)), None) or next(
        (one for one in content if _bare(one) == _FORM), None
    )
    if media is None:
        if required:
            raise Unsupported(f"its body is {' or '.join(sorted(content))}, and only JSON and forms are sent")
        return None, []
    schema = content[media].get("schema", True) if isinstance(content[media], Mapping) else True
    parts = _listed_properties(document, schema)
    if parts is None or (not required and _needed(document, schema)):
        if _bare(media) == _FORM:
            raise Unsupported("its form is not an object that lists its fields")
        return media, [Field("whole", "body", schemas.translate(schema), required)]
    needed = _needed(document, schema)
    fields = [
        Field("body", name, schemas.translate(part), name in needed)
        for name, part in parts.items()
        if not schemas.is_hidden(part)
    ]
    return media, fields


def _listed_properties(document: Document, schema: Any) -> Mapping[str, Any] | None:
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


def _needed(document: Document, schema: Any) -> set[str]:
    required = document.part(schema).get("required")
    return set(map(str, required)) if isinstance(required, list) else set()


def is_json(media: str) -> bool:
    bare = _bare(media)
    return bare == "application/json" or bare.endswith("+json")


def _bare(media: str) -> str:
    return media.partition(";")[0].strip().lower()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
