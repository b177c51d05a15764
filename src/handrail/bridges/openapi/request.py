"""build: the request of an operation with given arguments. Pure: nothing is sent here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any
from urllib.parse import quote

from handrail import ToolError
from handrail.bridges.openapi.operations import ApiOperation
from handrail.bridges.openapi.parameters import RequestField

_SLASHES = re.compile(r"[/\\]")
_HEADER = re.compile(r"[\t\x20-\x7e]*\Z")
_RESERVED = ":/?#[]@!$&'()*+,;="
_BETWEEN = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """What is sent, without credentials."""

    method: str
    target: str
    """Path and query, encoded, to be put behind the base address."""
    headers: dict[str, str] = dataclass_field(default_factory=dict)
    cookies: dict[str, str] = dataclass_field(default_factory=dict)
    content: bytes | None = None

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing."""
        return self.method.lower() in ("get", "head")


def build_request(operation: ApiOperation, args: Mapping[str, Any]) -> ApiRequest:
    """Every argument in its place. What could lead the request elsewhere raises `ToolError`."""
    path = operation.path
    query: list[str] = []
    headers: dict[str, str] = {}
    cookies: dict[str, str] = {}
    body: dict[str, Any] = {}
    content: bytes | None = None
    for field in operation.fields:
        if field.key not in args:
            continue
        value = args[field.key]
        if field.where == "path":
            path = path.replace(f"{{{field.name}}}", _in_path(field, value))
        elif field.where == "query":
            query += _in_query(field, value)
        elif field.where == "header":
            headers[field.name] = _in_header(field, value)
        elif field.where == "cookie":
            cookies[field.name] = _quoted(",".join(_parts(field, value)))
        elif field.where == "whole":
            content = _json(value).encode()
        else:
            body[field.name] = value
    if _leads_elsewhere(path):
        raise ToolError("The arguments make a path that leads to another address.", code="INVALID_PARAM")
    if operation.body_type is not None and content is None and (body or operation.body_required):
        content = _encoded(operation.body_type, body)
    if content is not None and operation.body_type is not None:
        headers["Content-Type"] = operation.body_type
    target = path + ("?" + "&".join(query) if query else "")
    return ApiRequest(operation.method.upper(), target, headers, cookies, content)


def _encoded(media: str, body: Mapping[str, Any]) -> bytes:
    if "json" in media.lower():
        return _json(body).encode()
    return "&".join(
        f"{_quoted(name)}={_quoted(_text(item))}"
        for name, value in body.items()
        for item in (value if isinstance(value, list) else [value])
    ).encode()


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _in_path(field: RequestField, value: Any) -> str:
    if isinstance(value, Mapping) and field.explode and not field.is_json:
        pairs = ((_segment(field, str(key)), _segment(field, _text(part))) for key, part in value.items())
        parts = [f"{key}={text}" for key, text in pairs]
    else:
        parts = [_segment(field, text) for text in _parts(field, value)]
    if not parts:
        raise _invalid(field, "is empty")
    if field.style == "label":
        return "." + ("." if field.explode else ",").join(parts)
    if field.style == "matrix":
        name = _quoted(field.name)
        return f";{name}=" + (f";{name}=" if field.explode else ",").join(parts)
    return ",".join(parts)


def _segment(field: RequestField, text: str) -> str:
    if not text:
        raise _invalid(field, "is empty")
    if _leads_elsewhere(text):
        raise _invalid(field, "has '.' or '..' as a part, which leads to another address")
    return _quoted(text)


def _leads_elsewhere(path: str) -> bool:
    return any(part in (".", "..") for part in _SLASHES.split(path))


def _in_query(field: RequestField, value: Any) -> list[str]:
    name = _quoted(field.name)
    safe = _RESERVED.replace("&", "").replace("#", "").replace("+", "") if field.reserved else ""
    if field.is_json:
        return [f"{name}={_quoted(_json(value))}"]
    if isinstance(value, Mapping):
        if field.style == "deepObject":
            inner = ((_quoted(str(key)), _quoted(_text(part), safe)) for key, part in value.items())
            return [f"{name}%5B{key}%5D={text}" for key, text in inner]
        if field.explode:
            return [f"{_quoted(str(key))}={_quoted(_text(part), safe)}" for key, part in value.items()]
    if isinstance(value, list) and field.explode and field.style == "form":
        return [f"{name}={_quoted(_text(part), safe)}" for part in value]
    between = _BETWEEN.get(field.style, ",")
    return [f"{name}={between.join(_quoted(part, safe) for part in _parts(field, value))}"]


def _in_header(field: RequestField, value: Any) -> str:
    text = ",".join(_parts(field, value))
    if not _HEADER.match(text):
        raise _invalid(field, "has a line break or another character that no header can hold")
    return text


def _parts(field: RequestField, value: Any) -> list[str]:
    """The texts of a value: itself, its items, or its names and values."""
    if field.is_json:
        return [_json(value)]
    if isinstance(value, list):
        return [_text(part) for part in value]
    if isinstance(value, Mapping):
        if field.explode and field.where == "header":
            return [f"{key}={_text(part)}" for key, part in value.items()]
        return [text for key, part in value.items() for text in (str(key), _text(part))]
    return [_text(value)]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _quoted(text: str, safe: str = "") -> str:
    return quote(text, safe=safe, errors="replace")


def _invalid(field: RequestField, why: str) -> ToolError:
    return ToolError(f"{field.key}: {why}.", code="INVALID_PARAM")
