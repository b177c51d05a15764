"""Holds every answer of REST against the OpenAPI document: what is sent is described, field by field."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from fastapi import FastAPI
from jsonschema_rs import Draft202012Validator
from starlette.routing import Match


def check_documented(api: FastAPI) -> Callable[[httpx.Response], Awaitable[None]]:
    """A hook for a client: each success in JSON has exactly the fields that the document names."""
    document = api.openapi()
    components = {"schemas": {name: _strict(s) for name, s in document["components"]["schemas"].items()}}
    validators: dict[str, Draft202012Validator] = {}

    async def check(response: httpx.Response) -> None:
        if not response.is_success or response.headers.get("content-type") != "application/json":
            return
        path = _route_path(api, response.request)
        if path is None:
            return
        operation = document["paths"][path][response.request.method.lower()]
        described = operation["responses"].get(str(response.status_code), {}).get("content", {})
        assert "application/json" in described, f"{response.request.method} {path} is not described"
        name = f"{response.request.method} {path} {response.status_code}"
        if name not in validators:
            schema = described["application/json"]["schema"]
            validators[name] = Draft202012Validator({**schema, "components": components})
        await response.aread()
        errors = [
            f"{error.instance_path}: {error.message}"
            for error in validators[name].iter_errors(response.json())
        ]
        assert errors == [], (name, errors)

    return check


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    return {"additionalProperties": False, **schema} if "properties" in schema else schema


def _route_path(api: FastAPI, request: httpx.Request) -> str | None:
    scope = {"type": "http", "method": request.method, "path": request.url.path, "headers": []}
    for route in api.routes:
        if route.matches(scope)[0] is Match.FULL:
            path: str = getattr(route, "path", "")
            return path if path in api.openapi()["paths"] else None
    return None
