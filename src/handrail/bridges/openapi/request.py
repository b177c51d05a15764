"""build: the request of an operation with given arguments. Pure: nothing is sent here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from handrail.bridges.openapi.operations import ApiOperation
from handrail.bridges.openapi.parameters import RequestField
from handrail.ext import ToolError

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
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
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
    for one in operation.fields:
        if one.key not in args:
            continue
        value = args[one.key]
        if one.where == "path":
            path = path.replace(f"{{{one.name}}}", _in_path(one, value))
        elif one.where == "query":
            query += _in_query(one, value)
        elif one.where == "header":
            headers[one.name] = _in_header(one, value)
        elif one.where == "cookie":
            cookies[one.name] = quote(_joined(one, value), safe="")
        elif one.where == "whole":
            content = _json(value)
        else:
            body[one.name] = value
    _check_path(path)
    if operation.body_type is not None and content is None and (body or operation.body_required):
        content = _encoded(operation.body_type, body)
    if content is not None and operation.body_type is not None:
        headers["Content-Type"] = operation.body_type
    target = path + ("?" + "&".join(query) if query else "")
    return ApiRequest(operation.method.upper(), target, headers, cookies, content)


def _encoded(media: str, body: Mapping[str, Any]) -> bytes:
    if "json" in media.lower():
        return _json(body)
    pairs = [pair for name, value in body.items() for pair in _exploded(name, value)]
    return "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs).encode()


def _exploded(name: str, value: Any) -> Iterator[tuple[str, str]]:
    for one in value if isinstance(value, list) else [value]:
        yield name, _text(one)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _in_path(one: RequestField, value: Any) -> str:
    if isinstance(value, Mapping) and one.explode and not one.is_json:
        pairs = ((_segment(one, str(key)), _segment(one, _text(part))) for key, part in value.items())
        parts = [f"{key}={text}" for key, text in pairs]
    else:
        parts = [_segment(one, text) for text in _parts(one, value)]
    if not parts:
        raise _invalid(one, "is empty")
    if one.style == "label":
        return "." + ("." if one.explode else ",").join(parts)
    if one.style == "matrix":
        name = quote(one.name, safe="")
        return f";{name}=" + (f";{name}=" if one.explode else ",").join(parts)
    return ",".join(parts)


def _segment(one: RequestField, text: str) -> str:
    if not text:
        raise _invalid(one, "is empty")
    if any(part in (".", "..") for part in _SLASHES.split(text)):
        raise _invalid(one, "has '.' or '..' as a part, which leads to another address")
    return _quoted(text)


def _check_path(path: str) -> None:
    if any(part in (".", "..") for part in _SLASHES.split(path)):
        raise ToolError("The arguments make a path that leads to another address.", code="INVALID_PARAM")


def _in_query(one: RequestField, value: Any) -> list[str]:
    name = _quoted(one.name)
    safe = _RESERVED.replace("&", "").replace("#", "").replace("+", "") if one.reserved else ""
    if one.is_json:
        return [f"{name}={_quoted(_json(value).decode())}"]
    if isinstance(value, Mapping):
        if one.style == "deepObject":
            inner = ((_quoted(str(key)), _quoted(_text(part), safe)) for key, part in value.items())
            return [f"{name}%5B{key}%5D={text}" for key, text in inner]
        if one.explode:
            return [f"{_quoted(str(key))}={_quoted(_text(part), safe)}" for key, part in value.items()]
    if isinstance(value, list) and one.explode and one.style == "form":
        return [f"{name}={_quoted(_text(part), safe)}" for part in value]
    between = _BETWEEN.get(one.style, ",")
    return [f"{name}={between.join(_quoted(part, safe) for part in _parts(one, value))}"]


def _in_header(one: RequestField, value: Any) -> str:
    text = _joined(one, value)
    if not _HEADER.match(text):
        raise _invalid(one, "has a line break or another character that no header can hold")
    return text


def _joined(one: RequestField, value: Any) -> str:
    if one.is_json:
        return _json(value).decode()
    return ",".join(_parts(one, value))


def _parts(one: RequestField, value: Any) -> list[str]:
    """The texts of a value: itself, its items, or its names and values."""
    if one.is_json:
        return [_json(value).decode()]
    if isinstance(value, list):
        return [_text(part) for part in value]
    if isinstance(value, Mapping):
        if one.explode and one.where == "header":
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


def _invalid(one: RequestField, why: str) -> ToolError:
    return ToolError(f"{one.key}: {why}.", code="INVALID_PARAM")
