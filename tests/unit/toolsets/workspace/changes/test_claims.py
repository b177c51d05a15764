"""Claims: of two siblings that change one file, the second is told who has it, until the first is done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail import ApprovalRequest, Handrail, Outcome, Policy, Principal
from handrail.ext.guard import Reply, approve
from handrail.ext.ports import MemoryClaims
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.changes.undo import undo_file, undo_turn
from handrail.toolsets.workspace.files import file_tools

ADA = Principal(tenant="acme", user="ana", agent="ada")
BOB = Principal(tenant="acme", user="ana", agent="bob")


async def agree(request: ApprovalRequest) -> Reply:
    return approve()


class ObservedClaims(MemoryClaims):
    """Claims that tell when one is released."""

    def __init__(self) -> None:
        super().__init__()
        self.freed = asyncio.Event()

    def release(self, keys: Iterable[str], tenant: str, holder: str, /) -> None:
        super().release(keys, tenant, holder)
        self.freed.set()


class HeldFileTools:
    """File tools whose change of held.txt stands still until it is let go."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.workspace = Workspace(root)
        changes = ChangeJournal(self.workspace)
        self.workspace.journal = changes
        self.workspace.listen(self._hold)
        self.loop = asyncio.get_running_loop()
        self.entered, self.go_on = asyncio.Event(), threading.Event()
        self.claims = ObservedClaims()
        tools = [*file_tools(self.workspace), undo_file(changes), undo_turn(changes)]
        self.handrail = Handrail(
            [replace(one, timeout=None) for one in tools],
            policy=Policy(approval_mode="policy"),
            claims=self.claims,
            approver=agree,
            **options,
        )

    def _hold(self, path: str | None) -> None:
        if path == "held.txt" and not self.go_on.is_set():
            self.loop.call_soon_threadsafe(self.entered.set)
            assert self.go_on.wait(30)

    async def call(self, who: Principal, tool: str, **args: Any) -> Outcome:
        return await self.handrail.call(
            tool, args, principal=who, source="web", session=f"of {who.agent}", turn=1
        )


@pytest.mark.req("EX-10", "EX-21", "AG-12")
async def test_the_second_of_two_siblings_is_told_who_holds_the_file(tmp_path: Path) -> None:
    held = HeldFileTools(tmp_path)
    (tmp_path / "other.txt").write_text("x")
    async with held.handrail:
        first = asyncio.create_task(held.call(ADA, "write_file", path="held.txt", content="ada"))
        await held.entered.wait()
        for tool, args in (
            ("write_file", {"path": "./held.txt", "content": "bob"}),
            ("edit_file", {"path": "held.txt", "search": "a", "replace": "b"}),
            ("file_delete", {"path": "held.txt"}),
            ("undo_file", {"path": "held.txt"}),
            ("undo_turn", {}),
        ):
            out = await held.call(BOB, tool, **args)
            assert (out.status, out.result.code) == ("refused", "RESOURCE_BUSY"), tool
            named = args.get("path", "held.txt")
            assert f"ada in session of ada is changing {named} right now" in out.to_model()
            assert str(tmp_path).casefold() not in f"{out.result}", "nobody is told where it lies"
        other = await held.call(BOB, "edit_file", path="other.txt", search="x", replace="y")
        assert other.ok, "another file is free"
        held.go_on.set()
        assert (await first).ok
        assert len(held.claims) == 0
        assert (await held.call(BOB, "write_file", path="held.txt", content="bob")).ok


async def _succeeds(held: HeldFileTools, first: asyncio.Task[Outcome]) -> None:
    held.go_on.set()
    assert (await first).ok


async def _is_cancelled(held: HeldFileTools, first: asyncio.Task[Outcome]) -> None:
    first.cancel()
    await _stays_claimed(held)
    with pytest.raises(asyncio.CancelledError):
        await first


async def _times_out(held: HeldFileTools, first: asyncio.Task[Outcome]) -> None:
    [running] = held.handrail._runtime.running.values()
    running.interrupt("timeout", "it took too long")
    assert (await first).code == "TIMEOUT"
    await _stays_claimed(held)


async def _stays_claimed(held: HeldFileTools) -> None:
    """A thread that was told to stop may still write."""
    out = await held.call(BOB, "write_file", path="held.txt", content="bob")
    assert out.result.code == "RESOURCE_BUSY"
    held.go_on.set()


@pytest.mark.req("EX-21")
@pytest.mark.parametrize("ends", [_succeeds, _is_cancelled, _times_out])
async def test_a_claim_is_released_when_the_call_is_over(
    tmp_path: Path, ends: Callable[[HeldFileTools, asyncio.Task[Outcome]], Awaitable[None]]
) -> None:
    held = HeldFileTools(tmp_path, cancel_grace=0.05)
    async with held.handrail:
        first = asyncio.create_task(held.call(ADA, "write_file", path="held.txt", content="ada"))
        await held.entered.wait()
        assert len(held.claims) == 1
        await ends(held, first)
        await asyncio.wait_for(held.claims.freed.wait(), 30)
        assert len(held.claims) == 0
        assert (await held.call(BOB, "write_file", path="held.txt", content="bob")).ok


@pytest.mark.req("EX-21")
async def test_a_claim_is_released_when_the_tool_fails(tmp_path: Path) -> None:
    held = HeldFileTools(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    async with held.handrail:
        out = await held.call(ADA, "edit_file", path="a.txt", search="nothing", replace="y")
        assert out.status == "failed" and len(held.claims) == 0
        out = await held.call(ADA, "undo_file", path="a.txt")
        assert out.status == "failed" and len(held.claims) == 0
        assert (await held.call(BOB, "edit_file", path="a.txt", search="x", replace="y")).ok


@pytest.mark.req("EX-10", "BY-14")
async def test_a_preview_holds_nothing_up(tmp_path: Path) -> None:
    held = HeldFileTools(tmp_path)
    async with held.handrail:
        first = asyncio.create_task(held.call(ADA, "write_file", path="held.txt", content="ada"))
        await held.entered.wait()
        out = await held.call(BOB, "undo_file", path="held.txt", preview=True)
        held.go_on.set()
        assert out.ok and out.result.data["preview"] is True
        assert (await first).ok and (tmp_path / "held.txt").read_text() == "ada"
