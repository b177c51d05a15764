"""Every route × role × foreign id, taken from the app itself: a new route cannot be forgotten."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from handrail.identity.permissions import BUILT_IN_ROLES
from tests.contract.http_attacks.attacked_server import HERE, ROLES, THERE, AttackedServer
from tests.contract.http_attacks.routes import UNKNOWN, asked, ways

NEEDS = {
    "GET /api/me": None,
    "GET /api/tools": None,
    "GET /api/tools/search": None,
    "GET /api/tools/{slug}": None,
    "PATCH /api/tools/{slug}": "tools.tenant.update",
    "DELETE /api/tools/{slug}": "tools.tenant.delete",
    "GET /api/tools/{slug}/versions": "tools.tenant.read",
    "POST /api/tools/{slug}/call": None,
    "POST /api/tools/{slug}/stream": None,
    "POST /api/tools/{slug}/explain": None,
    "GET /api/calls/{call_id}": "events.read or own",
    "GET /api/calls/{call_id}/events": "events.read or own",
    "POST /api/calls/{call_id}/cancel": "jobs.cancel or own",
    "POST /api/calls/{call_id}/undo": None,
    "GET /api/runs": "runs.read",
    "GET /api/runs/{run_id}": "runs.read",
    "GET /api/events": "events.read",
    "GET /api/sessions": "events.read",
    "GET /api/sessions/{session}/events": "events.read",
    "GET /api/approvals": "approvals.read or own",
    "GET /api/approvals/{approval_id}": "approvals.read or own",
    "POST /api/approvals/{approval_id}/approve": "approvals.decide or own",
    "POST /api/approvals/{approval_id}/reject": "approvals.decide or own",
    "POST /api/approvals/{approval_id}/respond": "approvals.decide or own",
    "GET /api/dead-letters": "dead_letters.read",
    "GET /api/dead-letters/{letter_id}": "dead_letters.read",
    "POST /api/dead-letters/{letter_id}/replay": "dead_letters.replay",
    "DELETE /api/dead-letters/{letter_id}": "dead_letters.purge",
    "DELETE /api/dead-letters": "dead_letters.purge",
    "GET /api/plan": None,
    "POST /api/plan/run": "plans.run",
    "DELETE /api/plan": None,
    "GET /api/keys": "keys.manage",
    "POST /api/keys": "keys.manage",
    "DELETE /api/keys/{key_id}": "keys.manage",
    "GET /api/members": "members.manage",
    "POST /api/members": "members.manage",
    "DELETE /api/members/{user_id}": "members.manage",
    "GET /api/roles": "members.manage",
    "PUT /api/roles/{name}": "roles.manage",
    "DELETE /api/roles/{name}": "roles.manage",
    "GET /api/usage": "usage.read",
    "GET /api/tool-sessions": "tool_sessions.read",
    "POST /api/tool-sessions": "tool_sessions.create",
    "GET /api/tool-sessions/{tool_session_id}": "tool_sessions.read",
    "GET /api/tool-sessions/{tool_session_id}/submissions": "tool_sessions.read",
    "POST /api/tool-sessions/{tool_session_id}/submissions": "tool_sessions.read",
    "GET /api/tool-sessions/{tool_session_id}/aggregate": "tool_sessions.read",
    "GET /api/tool-sessions/{tool_session_id}/export": "tool_sessions.read",
    "POST /api/tool-sessions/{tool_session_id}/close": "tool_sessions.manage or own",
    "POST /api/tool-sessions/{tool_session_id}/reopen": "tool_sessions.manage or own",
    "POST /api/tool-sessions/{tool_session_id}/cancel": "tool_sessions.manage or own",
    "POST /api/tool-sessions/{tool_session_id}/share": "tool_sessions.manage or own",
    "DELETE /api/tool-sessions/{tool_session_id}/share": "tool_sessions.manage or own",
    "GET /api/embeds": "embeds.manage",
    "POST /api/embeds": "embeds.manage",
    "GET /api/embeds/{embed_id}": "embeds.manage",
    "PATCH /api/embeds/{embed_id}": "embeds.manage",
    "DELETE /api/embeds/{embed_id}": "embeds.manage",
}
"""Who may use what, written down a second time: to loosen a route takes two changes."""
VALUES = [
    ("call_id", "call_id"),
    ("session", "session"),
    ("tool", "slug"),
    ("after", "run_id"),
    ("after", "approval_id"),
    ("user", "user_id"),
]

OTHERWISE = str.maketrans("0123456789", "1234567890")
"""Makes of an id another one of the same shape."""


def said(answer: httpx.Response, asked_for: str) -> tuple[int, str, list[tuple[str, str]]]:
    """All of an answer but what is of this one request: its time, its number, and the id that it names."""
    ours = ("date", "x-request-id", "x-call-id", "location", "content-length")
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in ours)
    return answer.status_code, _NEW.sub("<new>", answer.text.replace(asked_for, "<id>")), headers


_NEW = re.compile(r'call_[0-9a-f]+_\d+|"(?:at|duration_ms|position)":[0-9.]+')


@pytest.mark.fault("F26")
def test_every_route_says_what_it_needs(attacked: AttackedServer) -> None:
    declared = {
        way.name: f"{way.need.permission} or own" if way.need.own else way.need.permission
        for way in ways(attacked)
    }
    assert declared == NEEDS


@pytest.mark.req("RA-12")
@pytest.mark.fault("F26")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("by", ["cookie", "key"])
def test_a_role_is_let_in_exactly_where_it_holds_what_is_needed(
    attacked: AttackedServer, role: str, by: str
) -> None:
    holds = BUILT_IN_ROLES.get(role, frozenset())
    with attacked.client(role, by=by) as client:
        for way in ways(attacked):
            given = dict.fromkeys(way.places, UNKNOWN)
            answer = asked(client, way.method, way.path(given))
            needed = NEEDS[way.name]
            if role == "nobody":
                assert (answer.status_code, code_of(answer)) == (401, "NOT_SIGNED_IN"), way.name
            elif needed is None or needed.endswith(" or own") or holds & {needed, "*"}:
                assert answer.status_code not in (401, 403), (way.name, answer.text)
            else:
                assert (answer.status_code, code_of(answer)) == (403, "NOT_PERMITTED"), way.name
                assert needed in answer.text


@pytest.mark.fault("F26")
@pytest.mark.parametrize("role", ROLES)
def test_the_id_of_another_tenant_is_answered_like_one_that_nobody_has(
    attacked: AttackedServer, role: str
) -> None:
    seen = 0
    with attacked.client(role) as client:
        for way in ways(attacked):
            for at in way.places:
                rest = dict.fromkeys(set(way.places) - {at}, UNKNOWN)
                for foreign in attacked.there.ids[at]:
                    strange = foreign.translate(OTHERWISE)
                    unknown = way.go(client, {**rest, at: strange})
                    answer = way.go(client, {**rest, at: foreign})
                    assert said(answer, foreign) == said(unknown, strange), (way.name, answer.text)
                    seen += 1
                if role == "owner" and "/roles/" not in way.name:  # a role is made by being named
                    assert unknown.status_code in (404, 200), (way.name, unknown.text)
    assert seen > 30


@pytest.mark.fault("F26")
@pytest.mark.parametrize("role", ["owner", "viewer"])
def test_no_filter_finds_anything_of_another_tenant(attacked: AttackedServer, role: str) -> None:
    with attacked.client(role) as client:
        for way in ways(attacked):
            if way.places or way.method != "GET":
                continue
            named = {one.alias for one in way.route.dependant.query_params}
            for filter, kind in VALUES:
                if filter not in named:
                    continue
                for foreign in attacked.there.ids[kind]:
                    strange = foreign.translate(OTHERWISE)
                    unknown = way.go(client, {}, params={filter: strange})
                    answer = way.go(client, {}, params={filter: foreign})
                    assert said(answer, foreign) == said(unknown, strange), (way.name, filter)


@pytest.mark.fault("F26")
def test_each_way_does_find_what_is_ones_own(attacked: AttackedServer) -> None:
    """What would be a leak if it were another's: the ids that are tried above are real ones."""
    with attacked.client("owner", tenant=THERE) as client:
        for way in ways(attacked):
            if way.places and way.method == "GET":
                (at,) = way.places
                for own in attacked.there.ids[at]:
                    answer = way.go(client, {at: own})
                    assert answer.status_code == 200, (way.name, own, answer.text)
    with attacked.client("owner", tenant=HERE) as client:
        assert client.get("/api/me").json()["tenant"] == HERE


def code_of(answer: httpx.Response) -> Any:
    return answer.json()["error"]["code"]
