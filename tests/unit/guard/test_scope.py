"""Who a call is for comes from the session, never from what the caller sends."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Context, Handrail, Principal, tool
from handrail.conformance import check

SCOPE = ("organizationId", "organization_id", "tenantId", "tenant_id", "tenant", "userId", "user_id", "user")


@tool("notes.list", level="read")
async def list_notes(query: str = "", *, ctx: Context) -> dict[str, Any]:
    """List notes."""
    return {"organization": ctx.organization_id, "tenant": ctx.tenant_id, "user": ctx.user_id}


@pytest.mark.req("IV-08")
@pytest.mark.parametrize("name", SCOPE)
async def test_an_identity_among_the_arguments_is_refused(name: str) -> None:
    async with Handrail([list_notes]) as hr:
        out = await hr.call("notes.list", {name: "globex"}, principal=Principal(tenant="acme", user="ana"))

    assert (out.status, out.code) == ("refused", "INVALID_PARAM")


@pytest.mark.req("IV-08")
async def test_a_body_gets_the_identity_of_the_session_whoever_calls() -> None:
    async with Handrail([list_notes]) as hr:
        for source in ("web", "cli", "api", "agent", "mcp", "job"):
            who = Principal(tenant="acme", user="ana")
            out = await hr.call("notes.list", {"query": "x"}, principal=who, source=source)
            assert out.result.data == {"organization": "acme", "tenant": "acme", "user": "ana"}


@pytest.mark.req("IV-08")
async def test_a_tool_with_a_parameter_named_like_scope_still_runs_in_the_callers_own() -> None:
    @tool("notes.move", level="read")
    async def move(tenant_id: str, *, ctx: Context) -> list[str]:
        """Move notes."""
        return [tenant_id, ctx.tenant_id]

    async with Handrail([move]) as hr:
        out = await hr.call("notes.move", {"tenant_id": "globex"}, principal=Principal(tenant="acme"))
        events = list(hr.log.read("acme"))

    assert out.result.data == ["globex", "acme"]
    assert {event.tenant for event in events} == {"acme"} and not list(hr.log.read("globex"))
    assert [one.rule for one in check([move]) if "tenant_id is asked" in one.message] == ["scope-parameter"]


@pytest.mark.req("IV-08")
async def test_a_reviewer_can_edit_arguments_but_not_for_whom_they_are() -> None:
    @tool("notes.add", level="write")
    async def add(title: str, *, ctx: Context) -> list[Any]:
        """Add a note."""
        return [title, ctx.tenant_id, ctx.user_id]

    bo = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
    async with Handrail([add]) as hr:
        out = await hr.call("notes.add", {"title": "a"}, principal=Principal(tenant="acme", user="ana"))
        await hr.approvals.approve(out.approval_id or "", by=bo, edits={"title": "b"})
        done = await hr.wait(out.call_id, 10)

    assert done.result.data == ["b", "acme", "ana"]
