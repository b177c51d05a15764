"""A replay of somebody else's call says how it ended, and nothing of what it yields."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handrail import Context, Handrail, Principal, Result, tool
from handrail.core.define.result import Attachment
from handrail.ext.events import ToolCompleted

ANA = Principal(tenant="acme", user="ana", workspace="w1")
STRANGERS = [replace(ANA, user="bob"), replace(ANA, agent="ops"), replace(ANA, workspace="w2")]
DOWN = {"mail": True}


@tool("mail.read", level="read")
async def read_mail(*, ctx: Context) -> Result:
    """Read the mail of whoever asks."""
    mine = f"mail of {ctx.principal.user}"
    if DOWN["mail"]:
        raise ConnectionError("the server is down")
    return Result(
        data=mine,
        summary=mine,
        title=mine,
        markdown=mine,
        output=mine,
        metadata={"first": mine},
        attachments=(Attachment("text/plain", mine, mine.encode()),),
    )


@pytest.mark.req("RT-06")
@pytest.mark.parametrize("by", STRANGERS, ids=["another user", "an agent", "another workspace"])
@pytest.mark.parametrize("all_of_it", [False, True], ids=["one letter", "a session"])
async def test_only_whoever_made_the_call_is_told_what_it_yields(by: Principal, all_of_it: bool) -> None:
    DOWN["mail"] = True
    async with Handrail([read_mail]) as hr:
        await hr.call("mail.read", principal=ANA, session="s1")
        [letter] = await hr.dead_letters.list(by)
        again = await hr.dead_letters.replay(letter.id, by=by)
        assert (again.status, again.code, again.result.error) == (
            "failed",
            "TOOL_FAILED",
            "the server is down",
        )
        DOWN["mail"] = False
        if all_of_it:
            [out] = await hr.dead_letters.replay_session("s1", by=by)
        else:
            out = await hr.dead_letters.replay(letter.id, by=by)
        logged = [one for one in hr.log.read("acme", call_id=out.call_id) if isinstance(one, ToolCompleted)]

    assert (out.status, out.ok, out.tool) == ("completed", True, "mail.read")
    assert out.run_id is not None and out.result.summary is not None
    assert "mail of ana" not in repr(out) and "mail of ana" not in out.to_model()
    assert [one.result.data for one in logged] == ["mail of ana"]


@pytest.mark.req("RT-06")
async def test_the_owner_with_other_rights_than_then_is_still_the_owner() -> None:
    DOWN["mail"] = True
    async with Handrail([read_mail]) as hr:
        await hr.call("mail.read", principal=ANA)
        [letter] = await hr.dead_letters.list(ANA)
        DOWN["mail"] = False
        out = await hr.dead_letters.replay(letter.id, by=replace(ANA, roles=frozenset({"editor"})))
    assert out.result.data == "mail of ana" and out.result.attachments
