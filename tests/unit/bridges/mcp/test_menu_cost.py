"""What a model is given of a thousand foreign tools."""

from __future__ import annotations

import json

import pytest

from benchmarks.rows.foreign_menu import far, prompts
from handrail import Handrail, Policy, Principal
from handrail.toolsets.search import describe_tool, search_tools

ANA = Principal(tenant="acme", user="ana")


@pytest.mark.req("BY-17", "MC-04", "MC-06")
async def test_a_thousand_tools_cost_a_prompt_three_hundredths_of_their_schemas_at_most() -> None:
    eager, lazy = await prompts()
    assert len(json.loads(eager)) == 1_000
    assert len(lazy.encode()) <= 0.03 * len(eager.encode())
    assert '"owner"' in eager and '"owner"' not in lazy


@pytest.mark.req("BY-17", "MC-04", "MC-08")
async def test_every_one_of_them_is_found_and_described_without_a_server() -> None:
    policy = Policy(deny=["far.delete_*"])
    async with Handrail([search_tools, describe_tool, await far("lazy")], policy=policy) as hr:
        assert len(await hr.tools(ANA)) == 2
        assert len(await hr.tools(ANA, on_demand=True)) == 902
        found = await hr.search("archive a branch in area 7", ANA, limit=3)
        assert found[0].tool.id == "far.archive_branch_7"
        assert not await hr.search("far.delete_branch_7", ANA, limit=1) or all(
            "delete" not in one.tool.id for one in await hr.search("delete branch", ANA, limit=50)
        )
