"""POST /api/calls/{call_id}/undo: what a call did is taken back by whoever made it."""

from __future__ import annotations

import pytest

from handrail import Policy, Rule, tool
from tests.unit.doors.http.rest_app import ApiClient, door, key

OPEN = Policy(approval_mode="policy")
pytestmark = pytest.mark.req("BY-14")


@tool("shelf.move", level="write", undo=lambda args, data: ("shelf.move", {"to": data, "ask": args.ask}))
async def move(to: int, ask: bool = False) -> int:
    """Move a book, and say where it was."""
    return 1


async def made(http: ApiClient, name: str = "shelf.move", **args: int) -> str:
    answer = await http.post(f"/api/tools/{name}/call", json={"arguments": args})
    assert answer.status_code == 200, answer.text
    call_id: str = answer.json()["call_id"]
    return call_id


async def test_a_preview_then_an_undo_then_a_conflict() -> None:
    async with door(move, policy=OPEN) as http:
        call_id = await made(http, to=7)
        url = f"/api/calls/{call_id}/undo"
        shown = await http.post(url, params={"preview": True})
        assert (shown.status_code, shown.json()["outcome"]) == (200, None)
        assert (shown.json()["tool"], shown.json()["arguments"]) == ("shelf.move", {"to": 1, "ask": False})
        done = await http.post(url)
        assert (done.status_code, done.json()["outcome"]["status"]) == (200, "completed")
        again = await http.post(url)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "ALREADY_UNDONE")


async def test_what_is_not_ones_own_is_not_there_and_what_cannot_be_undone_is_a_conflict() -> None:
    async with door(move, policy=OPEN) as http:
        call_id = await made(http, to=7)
        for other in ("bea", "eve", "bot", "service"):
            answer = await http.post(f"/api/calls/{call_id}/undo", headers=key(other))
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "CALL_NOT_FOUND")
        answer = await http.post(f"/api/calls/{await made(http, 'sum.add', a=1)}/undo")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "NOT_UNDOABLE")


async def test_an_undo_that_waits_for_a_person_is_accepted_and_one_that_is_refused_is_an_error() -> None:
    rules = [
        Rule("shelf.move", {"to": 1, "ask": True}, "ask", name="first place"),
        Rule("shelf.move", {"to": 1, "ask": False}, "deny", name="never"),
    ]
    async with door(move, policy=Policy(approval_mode="policy", rules=rules)) as http:
        asked = await http.post(f"/api/calls/{await made(http, to=7, ask=True)}/undo")
        assert (asked.status_code, asked.json()["outcome"]["status"]) == (202, "pending")
        denied = await http.post(f"/api/calls/{await made(http, to=7)}/undo")
        assert (denied.status_code, denied.json()["error"]["code"]) == (403, "NOT_PERMITTED")
