"""Arguments at the door: what is missing, unknown or wrong is said so that the caller can correct it."""

from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from handrail import Context, Handrail, Principal, from_json_schema, from_params, tool
from handrail.ext.tools import action_error

ANA = Principal(tenant="acme", user="ana")


class Sort(Enum):
    NAME = "name"
    DATE = "date"


class Window(BaseModel):
    start: int
    end: int = Field(le=100)


@tool("rows.find", level="read")
async def find(
    query: str, limit: int = 10, sort: Sort = Sort.NAME, window: Window | None = None
) -> dict[str, Any]:
    """Find rows."""
    return {"query": query, "limit": limit, "sort": sort.value, "window": window}


SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "default": 10},
        "sort": {"enum": ["name", "date"], "default": "name"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


@from_json_schema("rows.scan", SCHEMA, level="read", description="Scan rows.")
async def scan(args: Any) -> dict[str, Any]:
    return dict(args)


@from_params(
    "rows.list",
    level="read",
    description="List rows.",
    paramSchema={"query": {"type": "string"}, "limit": {"type": "number", "default": 10}},
    requiredParams=["query"],
)
async def listing(args: Any) -> dict[str, Any]:
    return dict(args)


KINDS = ["rows.find", "rows.scan", "rows.list"]


def runtime(**options: Any) -> Handrail:
    return Handrail([find, scan, listing], **options)


@pytest.mark.req("IV-01", "IV-02")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("source", ["agent", "web", "api", "mcp", "cli", "job"])
async def test_an_absent_required_parameter_is_named_whoever_calls(name, source) -> None:
    out = await runtime().call(name, {"limit": 3}, principal=ANA, source=source)
    assert (out.status, out.code) == ("refused", "MISSING_PARAM")
    assert out.result.summary == "Missing required param: query"
    assert out.result.to_worker()["error"] == "MISSING_PARAM"
    assert [field["path"] for field in out.result.metadata["fields"]] == ["query"]


@pytest.mark.req("IV-02")
@pytest.mark.parametrize("name", KINDS)
async def test_null_and_empty_are_present(name) -> None:
    empty = await runtime().call(name, {"query": ""})
    assert empty.status == "completed"
    null = await runtime().call(name, {"query": None})
    assert (null.status, null.code) == ("refused", "INVALID_PARAM")


@pytest.mark.req("IV-03")
@pytest.mark.parametrize("name", KINDS)
async def test_defaults_are_filled_before_the_body_runs(name) -> None:
    out = await runtime().call(name, {"query": "x"})
    assert out.result.data["limit"] == 10


@pytest.mark.req("IV-03")
async def test_the_body_receives_typed_values() -> None:
    seen: list[Any] = []

    @tool("typed.read", level="read")
    async def typed(sort: Sort, window: Window) -> None:
        """Look at what arrives."""
        seen.extend([sort, window])

    out = await Handrail([typed]).call("typed.read", {"sort": "date", "window": {"start": 1, "end": 2}})
    assert out.status == "completed"
    assert seen == [Sort.DATE, Window(start=1, end=2)]


@pytest.mark.req("IV-10")
async def test_every_wrong_field_is_listed_with_its_path_and_what_is_allowed() -> None:
    args = {"query": 5.5, "limit": "many", "sort": "size", "window": {"start": 1, "end": 200}}
    out = await runtime(repair=False).call("rows.find", args)
    reasons = {field["path"]: field["reason"] for field in out.result.metadata["fields"]}
    assert set(reasons) == {"query", "limit", "sort", "window.end"}
    assert "integer" in reasons["limit"] and "'many'" in reasons["limit"]
    assert "'name'" in reasons["sort"] and "'date'" in reasons["sort"]
    assert "100" in reasons["window.end"]
    assert all(path in out.to_model() for path in reasons)


@pytest.mark.req("IV-10")
async def test_the_same_for_a_raw_schema() -> None:
    out = await runtime(repair=False).call("rows.scan", {"query": "x", "limit": "many", "sort": "size"})
    reasons = {field["path"]: field["reason"] for field in out.result.metadata["fields"]}
    assert set(reasons) == {"limit", "sort"}
    assert "integer" in reasons["limit"] and "'name'" in reasons["sort"]


@pytest.mark.req("IV-11")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("source", ["agent", "web", "api"])
async def test_an_unknown_name_is_refused_everywhere_with_the_nearest_known_one(name, source) -> None:
    out = await runtime().call(name, {"query": "x", "limitt": 3}, principal=ANA, source=source)
    assert (out.status, out.code) == ("refused", "INVALID_PARAM")
    assert "did you mean 'limit'?" in (out.result.error or "")


@pytest.mark.req("IV-11")
async def test_a_foreign_schema_decides_for_itself_about_unknown_names() -> None:
    open_schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    foreign = from_json_schema(
        "far.read", open_schema, lambda args: dict(args), description="Far.", level="read"
    )
    out = await Handrail([foreign]).call("far.read", {"query": "x", "more": 1})
    assert out.result.data == {"query": "x", "more": 1}


@pytest.mark.req("IV-08")
async def test_scope_comes_from_the_principal_and_never_from_arguments() -> None:
    @tool("who.read", level="read")
    async def who(*, ctx: Context) -> list[str | None]:
        """Say who asks."""
        return [ctx.organization_id, ctx.user_id]

    hr = Handrail([who])
    out = await hr.call("who.read", principal=ANA)
    assert out.result.data == ["acme", "ana"]
    forged = await hr.call("who.read", {"organizationId": "evil", "userId": "eve"}, principal=ANA)
    assert (forged.status, forged.code) == ("refused", "INVALID_PARAM")


@pytest.mark.req("IV-12")
@pytest.mark.parametrize("value", [{"total": "many"}, {}, "text", 5])
async def test_an_output_that_breaks_its_schema_is_reported(value) -> None:
    schema = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    broken = from_json_schema(
        "sum.read", {"type": "object"}, lambda args: value, output=schema, description="Sum.", level="read"
    )
    out = await Handrail([broken]).call("sum.read", {})
    assert (out.status, out.code) == ("failed", "INVALID_OUTPUT")
    assert "structuredContent" not in out.to_mcp()


@pytest.mark.req("IV-09", "SC-08")
async def test_an_action_tool_says_which_field_its_action_requires() -> None:
    needs = {"create": ["slug", "name"], "delete": ["slug"]}

    @tool("manageTools", level="read")
    async def manage(
        action: Literal["create", "delete", "list"], slug: str | None = None, name: str | None = None
    ) -> Any:
        """Manage tools."""
        given = {"slug": slug, "name": name}
        return action_error("manageTools", action, given, needs) or {"done": action}

    hr = Handrail([manage])
    out = await hr.call("manageTools", {"action": "create", "name": "x"})
    assert (out.status, out.result.error) == ("failed", "manageTools.create requires 'slug'")
    assert (await hr.call("manageTools", {"action": "list"})).result.data == {"done": "list"}
