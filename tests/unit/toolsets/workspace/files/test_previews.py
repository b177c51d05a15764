"""Whoever must approve a change of a file sees what it would change, and nothing is changed for that."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Policy
from handrail.testing import ScriptedApprover
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.changes.undo import undo_file, undo_turn
from handrail.toolsets.workspace.files import file_tools
from tests.unit.toolsets.workspace.caller import ANA

pytestmark = pytest.mark.req("AP-02", "BF-03", "BY-14")


class Asking:
    """Calls tools of which each asks, and is answered with no."""

    def __init__(self, hr: Handrail, approver: ScriptedApprover, root: Path) -> None:
        self._hr, self._approver, self._root = hr, approver, root

    async def __call__(self, name: str, /, **args: Any) -> str | None:
        before = _held(self._root)
        out = await self._hr.call(name, args, principal=ANA, source="agent", session="s1", turn=1)
        assert out.code == "REJECTED" and _held(self._root) == before
        return self._approver.requests[-1].preview


def _held(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in os.listdir(root) if (root / name).is_file()}


@asynccontextmanager
async def asking(root: Path) -> AsyncIterator[Asking]:
    workspace = Workspace(root)
    changes = workspace.journal = ChangeJournal(workspace)
    tools = [*file_tools(workspace), undo_file(changes), undo_turn(changes)]
    free = Policy(approval_mode="policy")
    try:
        async with Handrail(tools, policy=free) as hr:
            for content in ("one\n", "two\n"):
                args = {"path": "kept.txt", "content": content}
                assert (await hr.call("write_file", args, principal=ANA, session="s1", turn=1)).ok
        approver = ScriptedApprover(always=False)
        async with Handrail(tools, policy=Policy(approval_mode="strict"), approver=approver) as hr:
            yield Asking(hr, approver, root)
    finally:
        workspace.close()


_EDITED = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two"


async def test_the_diff_of_an_edit_a_write_and_a_deletion_is_shown_before_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    async with asking(tmp_path) as shown:
        assert await shown("edit_file", path="a.txt", search="one", replace="1") == _EDITED
        assert await shown("write_file", path="a.txt", content="1\ntwo\n") == _EDITED
        assert await shown("write_file", path="a.txt", content="one\ntwo\n") == "a.txt would stay as it is."
        assert await shown("write_file", path="b.txt", content="new\n") == "b.txt is new."
        gone = await shown("file_delete", path="a.txt")
        assert gone is not None and "-one\n-two" in gone


async def test_what_could_not_be_done_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with asking(tmp_path) as shown:
        for name, args, text in (
            (
                "edit_file",
                {"path": "a.txt", "search": "ono", "replace": "1"},
                "the search text is not in a.txt",
            ),
            ("file_delete", {"path": "b.txt"}, "There is no b.txt"),
            ("write_file", {"path": "../b.txt", "content": ""}, "leads out of the workspace"),
            ("undo_file", {"path": "a.txt"}, "There is no change of a.txt to undo"),
        ):
            message = await shown(name, **args)
            assert (
                message is not None
                and message.startswith("As things are, it would fail: ")
                and text in message
            )


async def test_what_an_undo_would_bring_back_is_shown_before_it_is_made(tmp_path: Path) -> None:
    async with asking(tmp_path) as shown:
        back = await shown("undo_file", path="kept.txt")
        assert back is not None and "This would undo the last change: kept.txt" in back
        assert "-two\n+one" in back
        turn = await shown("undo_turn")
        assert turn is not None and "This would undo 2 changes: kept.txt (removed)" in turn
