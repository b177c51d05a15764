"""Every route × role × foreign tenant, made from the app itself: nobody learns what another tenant has."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from handrail.core.find.visibility import ToolRow
from handrail.doors.http.api import build_api
from handrail.doors.http.router import Route
from handrail.identity.permissions import BUILT_IN_ROLES, console_principal
from tests.contract.http.two_tenants import (
    ACME,
    MARK,
    OTHER,
    ROLES,
    TwoTenantApi,
    add,
    chorus,
    two_tenant_api,
)

BODIES: dict[str, Any] = {
    "make_key": {"name": "ci", "kind": "service", "permissions": []},
    "add_member": {"email": "new@acme.example", "roles": ["viewer"]},
    "save_role": {"permissions": []},
    "respond": {"data": "sent"},
    "override_tool": {"enabled": True},
    "call_tool": {"arguments": {}},
    "begin_tool_session": {"tool": "sing.together"},
    "submit_to_session": {"arguments": {}},
    "publish_embed": {"title": "Sum", "tools": ["sum.add"]},
}
"""What a route must be sent; any other takes an empty object."""
QUERIES = {"search_tools": {"q": "only"}, "purge_dead_letters": {"before": "1"}}


@dataclass(frozen=True)
class SampleItems:
    """One of everything that a path can name."""

    slug: str
    call_id: str
    run_id: str
    session: str
    approval_id: str
    letter_id: str
    key_id: str
    user_id: str
    name: str
    tool_session_id: str
    embed_id: str


UNKNOWN = SampleItems(
    "no-such",
    "call_x",
    "run_x",
    "nowhere",
    "approval_x",
    "letter_x",
    "0123456789abcdef",
    "user_x",
    "no-role",
    "tool_session_x",
    "0123456789abcdef",
)


async def things_of(rest_api: TwoTenantApi, tenant: str) -> SampleItems:
    """One of everything of a tenant, each with the mark in it."""
    owner, boss = await rest_api.person("owner", tenant), await rest_api.principal("owner", tenant)
    body = {"arguments": {"text": MARK}, "session": MARK}
    failed = (await rest_api.ask("POST", "/api/tools/note.fail/call", owner, json=body)).json()
    letters = (await rest_api.ask("GET", "/api/dead-letters", owner)).json()["dead_letters"]
    agent = await rest_api.key("owner", tenant, kind="agent")
    waits = await rest_api.ask("POST", "/api/tools/mail.send/call", agent, json={"arguments": {"to": MARK}})
    text, _ = await rest_api.services.keys.make(boss, MARK, "service")
    await rest_api.services.people.save_role(boss, MARK, ["runs.read"])
    row = ToolRow(
        tenant, f"{MARK}-tool", "tenant_custom", name=MARK, description=MARK, input_schema={"type": "object"}
    )
    await rest_api.services.tool_admin.save_own(console_principal(tenant), row)
    together = await rest_api.services.tool_sessions.create(boss, chorus, MARK)
    _, embed = await rest_api.services.embeds.publish(boss, MARK, [add], [])
    return SampleItems(
        "other-only",
        failed["call_id"],
        failed["run_id"],
        MARK,
        waits.json()["approval"]["id"],
        letters[0]["id"],
        text.id,
        boss.user or "",
        MARK,
        together.id,
        embed.id,
    )


def requests() -> list[tuple[Route, str]]:
    from handrail import Handrail
    from handrail.platform import platform_of

    api = build_api(platform_of(Handrail()))
    routes = [route for route in api.routes if isinstance(route, Route)]
    return [(route, method) for route in routes for method in sorted(route.methods or ())]


async def send(
    rest_api: TwoTenantApi, route: Route, method: str, things: SampleItems, who: dict[str, str]
) -> httpx.Response:
    name = route.operation_id or ""
    if name == "save_role":  # makes what it names
        things = replace(things, name="made-here")
    path = re.sub(r"{(\w+)}", lambda found: getattr(things, found[1]), route.path)
    body = {"json": BODIES.get(name, {})} if method in ("POST", "PUT", "PATCH") else {}
    return await rest_api.ask(method, path, who, params=QUERIES.get(name), **body)


def told(answer: httpx.Response, things: SampleItems) -> tuple[int, str]:
    """What an answer says, whatever was asked for by name."""
    return answer.status_code, answer.text.replace(things.slug, "…").replace(things.call_id, "…")


@pytest.mark.req("RA-12")
@pytest.mark.fault("F26")
@pytest.mark.timeout(180)
async def test_what_is_another_tenants_is_like_what_is_not_there_for_every_role(database_url: str) -> None:
    async with two_tenant_api(database_url) as rest_api:
        theirs = await things_of(rest_api, OTHER)
        for role in ROLES:
            who = await rest_api.person(role)
            for route, method in requests():
                where = f"{role}: {method} {route.path}"
                answer = await send(rest_api, route, method, theirs, who)
                needed = route.need.permission
                allowed = needed is None or {needed, "*"} & BUILT_IN_ROLES[role] or route.need.own
                assert (answer.status_code == 403) == (not allowed), f"{where}: {answer.text}"
                assert answer.status_code < 500, f"{where}: {answer.text}"
                if "{" in route.path:
                    unknown = await send(rest_api, route, method, UNKNOWN, who)
                    assert told(answer, theirs) == told(unknown, UNKNOWN), where
                    assert not allowed or answer.status_code == 404 or route.operation_id == "save_role", (
                        where
                    )
                else:
                    assert MARK not in answer.text, where
        owner = await rest_api.person("owner", OTHER)
        kept = await rest_api.ask("GET", f"/api/approvals/{theirs.approval_id}", owner)
        assert kept.json()["status"] == "pending"
        assert (await rest_api.ask("GET", f"/api/dead-letters/{theirs.letter_id}", owner)).status_code == 200


@pytest.mark.req("RA-12")
@pytest.mark.timeout(180)
async def test_the_owner_of_a_thing_finds_it_at_every_route(sqlite_url: str) -> None:
    """So that the test above does not pass because nothing is ever found."""
    async with two_tenant_api(sqlite_url) as rest_api:
        ours = await things_of(rest_api, ACME)
        owner = await rest_api.person("owner")
        last = {"purge_dead_letter", "remove_member", "revoke_key", "delete_role", "reset_tool"}
        last |= {"cancel_tool_session", "revoke_embed"}
        ordered = sorted(requests(), key=lambda one: one[0].operation_id in last)
        for route, method in ordered:
            things = ours if "{slug}" not in route.path else SampleItems(**{**vars(ours), "slug": "sum-add"})
            answer = await send(rest_api, route, method, things, owner)
            where = f"{method} {route.path}: {answer.text}"
            if route.operation_id in ("respond", "reject", "replay_dead_letter", "undo_call"):
                assert answer.status_code in (200, 409), where
            elif route.operation_id == "remove_member":
                assert answer.status_code == 403 and "last owner" in answer.text
            elif route.operation_id in ("call_tool", "stream_call"):
                assert answer.status_code == 422, where
            else:
                assert answer.status_code in (200, 201, 204), where


async def test_nobody_is_let_in_anywhere(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url) as rest_api:
        for route, method in requests():
            answer = await send(rest_api, route, method, UNKNOWN, {})
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "NOT_SIGNED_IN"), route.path
