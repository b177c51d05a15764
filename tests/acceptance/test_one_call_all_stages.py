"""One call through every stage, as a user would make it."""

import pytest

from handrail import Context, Handrail, Principal, tool
from handrail.testing import ScriptedApprover


@tool("notes.add", level="write", writes=lambda args: [f"note:{args.title}"])
async def add_note(title: str, stars: int = 1, *, ctx: Context) -> str:
    """Add a note."""
    ctx.metadata(title=f"Adding {title}")
    return f"{title} for {ctx.tenant_id} with {stars}"


@pytest.mark.req("EX-01", "EX-09", "EX-12", "EX-18", "IV-05", "PM-03")
async def test_a_call_is_found_repaired_approved_claimed_run_and_told() -> None:
    reviewer = ScriptedApprover(True)
    heard = []
    async with Handrail(tools=[add_note], approver=reviewer) as hr:
        hr.subscribe(lambda event: heard.append(event.kind))
        principal = Principal(tenant="acme", user="u1")
        out = await hr.call("notes.add", {"title": "Milk", "stars": "3"}, principal=principal, session="s1")

    assert out.status == "completed"
    assert out.result.data == "Milk for acme with 3"
    assert [request.args for request in reviewer.requests] == [{"title": "Milk", "stars": 3}]
    assert [repair.path for repair in out.repairs] == ["stars"]
    assert heard == ["needs_approval", "approved", "started", "progress", "completed"]
    assert [event.seq for event in hr.log.read("acme", session="s1")] == [1, 2, 3, 4]
    assert out.duration_ms > 0
