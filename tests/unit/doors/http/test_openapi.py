"""The document tells of every route, of who may use it, and of all that it can answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from jsonschema_rs import Draft202012Validator

from handrail import Handrail
from handrail.core.tell.counts import Counts
from handrail.doors.http.api import build_api
from handrail.doors.http.router import Route, Router, need
from handrail.identity.permissions import BUILT_IN_ROLES
from handrail.platform import platform_of

API = build_api(platform_of(Handrail()))
DOCUMENT = API.openapi()
OPERATIONS = [
    pytest.param(path, method, told, id=f"{method} {path}")
    for path, methods in DOCUMENT["paths"].items()
    for method, told in methods.items()
]


@pytest.mark.req("RA-12")
@pytest.mark.parametrize(("path", "method", "told"), OPERATIONS)
def test_an_operation_is_told_whole(path: str, method: str, told: dict[str, object]) -> None:
    assert told["summary"] and told["tags"] and told["operationId"]
    responses = told["responses"]
    assert isinstance(responses, dict)
    assert {"401", "403", "404", "413", "422", "429", "500"} <= set(responses)
    refusals = [one for code, one in responses.items() if int(code) >= 400]
    assert {one["content"]["application/json"]["schema"]["$ref"] for one in refusals} == {
        "#/components/schemas/ErrorBody"
    }
    [good] = [one for code, one in responses.items() if code in ("200", "201", "204")]
    assert "204" in responses or good.get("content")
    parameters = told.get("parameters", [])
    assert isinstance(parameters, list)
    named = {one["name"] for one in parameters if one["in"] == "path"}
    assert all(f"{{{name}}}" in path for name in named) and path.count("{") == len(named)


def test_operations_have_names_of_their_own() -> None:
    names = [told.values[2]["operationId"] for told in OPERATIONS]  # type: ignore[index]  # as it was put there
    assert len(set(names)) == len(names)


def test_every_schema_of_the_document_is_one() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    assert set(DOCUMENT["components"]["securitySchemes"]) == {"key", "session"}
    assert DOCUMENT["security"]


@pytest.mark.req("RA-12")
@pytest.mark.parametrize("name", ["KeySummary", "CreatedKey"])
def test_the_document_names_the_door_that_a_key_is_for_and_never_its_digest(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    assert "audience" in schema["required"] and "digest" not in schema["properties"]


@pytest.mark.req("RA-11")
def test_the_document_names_every_measure_of_usage() -> None:
    schema = DOCUMENT["components"]["schemas"]["UsageCounts"]
    assert set(schema["properties"]) == set(schema["required"]) == {"by", *Counts().to_dict()}


@pytest.mark.req("RA-12")
def test_each_permission_that_a_route_needs_is_one_that_a_role_gives() -> None:
    given = frozenset().union(*BUILT_IN_ROLES.values())
    routes = [route for route in API.routes if isinstance(route, APIRoute)]
    assert routes and all(isinstance(route, Route) for route in routes)
    needed = {route.need.permission for route in routes if isinstance(route, Route)}
    assert needed - {None} <= given


def test_the_page_lists_every_route_and_its_permission() -> None:
    page = (Path(__file__).parents[4] / "docs" / "rest.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([A-Z]+ /api/[^`]*)` \| .* \| (.*) \|$", page, re.MULTILINE))
    for route in API.routes:
        if isinstance(route, Route):
            for method in route.methods or ():
                who = rows.pop(f"{method} {route.path}")
                needed = route.need.permission
                assert who.startswith(f"`{needed}`" if needed else "whoever is signed in")
                assert who.endswith("your own") == route.need.own
    assert rows == {}


def test_a_route_that_does_not_say_who_may_use_it_cannot_be_made() -> None:
    routes = Router("x")
    with pytest.raises(TypeError, match="who may use it"):

        @routes.get("/open", "Open")
        async def open_() -> None: ...

    @routes.get("/shut", "Shut", dependencies=[need("keys.manage")])
    async def shut() -> None: ...

    [route] = routes.routes
    assert isinstance(route, Route) and route.need.permission == "keys.manage"
