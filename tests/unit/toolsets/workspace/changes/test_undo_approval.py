"""What an undo needs and whom it asks: it is a moderate write, and its preview a read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Policy
from tests.unit.toolsets.workspace.changes.open_workspace import ANA, OpenWorkspace

ARGS: Mapping[str, Mapping[str, Any]] = {"undo_file": {"path": "a.txt"}, "undo_turn": {"turn": 1}}


@pytest.mark.req("BT-03", "BT-04", "BY-14")
@pytest.mark.parametrize("name", ARGS)
async def test_an_undo_is_a_moderate_write_and_its_preview_a_safe_read(tmp_path: Path, name: str) -> None:
    opened = OpenWorkspace(tmp_path)
    opened.put("a.txt", b"ours")
    tool = opened.handrail.registry.get(name)
    assert tool is not None
    assert (tool.level, tool.danger, sorted(tool.capabilities)) == ("write", "moderate", ["read", "write"])
    async with Handrail([tool], policy=Policy(approval_mode="strict")) as hr:
        shown = await hr.explain(name, {**ARGS[name], "preview": True}, principal=ANA, source="agent")
        assert shown.verdict == "allow"
        outcome = await hr.call(name, ARGS[name], principal=ANA, session="s", turn=1, source="agent")
        assert outcome.status == "pending" and opened.read("a.txt") == b"ours"
    async with Handrail([tool], policy=Policy(approval_mode="danger")) as hr:
        message = await hr.explain(name, ARGS[name], principal=ANA, source="agent")
        assert (message.verdict, message.layer) == ("ask", "danger") and "moderately" in message.reason
    for policy in (Policy(capabilities=["read"]), Policy(capabilities=["write"])):
        async with Handrail([tool], policy=policy) as hr:
            refused = await hr.call(name, ARGS[name], principal=ANA, session="s", turn=1, source="web")
            assert refused.code == "NOT_PERMITTED" and opened.read("a.txt") == b"ours"
    opened.close()
