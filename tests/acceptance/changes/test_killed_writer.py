"""What a killed program began is settled when the workspace is opened, before anybody changes its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail import Handrail
from handrail.toolsets.workspace import WorkspaceToolset
from tests.acceptance.changes.killed_writer import ANA
from tests.acceptance.forked_cli import fork_server


@pytest.mark.req("FC-03")
async def test_a_change_that_never_happened_is_no_conflict_later(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    assert fork_server().run("tests.acceptance.changes.killed_writer:write", root=str(tmp_path)) == 9
    assert (tmp_path / "a.txt").read_text() == "one"
    async with Handrail([WorkspaceToolset(tmp_path)]) as hr:
        await hr.tools(ANA)
        (tmp_path / "a.txt").write_text("somebody else")
        undone = await hr.call("undo_file", {"path": "a.txt"}, principal=ANA, source="web")
    assert undone.code == "NOTHING_TO_UNDO", undone.to_model()
