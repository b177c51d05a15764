"""Graphs of tasks, what their bodies do, and a simple model of how each task must end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

from handrail import Context, Handrail, Outcome, Policy, Principal, Tool, tool
from handrail.ext.tools import Task

ANA = Principal(tenant="acme", user="ana", permissions=["*"])
BO = Principal(tenant="acme", user="bo", permissions=["*"])
EVE = Principal(tenant="other", user="eve", permissions=["*"])
FREE = Policy(approval_mode="danger")
PATIENCE = 60.0
Opener = Callable[..., AbstractAsyncContextManager[Handrail]]


class GraphTools:
    """Tools that note what they do, fail where they are told to, and wait until they may go on."""

    def __init__(self, failing: Iterable[str] = (), held: Iterable[str] = ()) -> None:
        self.ran: list[str] = []
        self.failing = set(failing)
        self.held = {name: asyncio.Event() for name in held}
        self.tools = [self._step(), self._secret(), self._wipe()]

    def _step(self) -> Tool:
        @tool("yard.step", level="read")
        async def step(name: str, *, ctx: Context) -> str:
            """Do one step."""
            self.ran.append(name)
            if name in self.held:
                await self.held[name].wait()
            if name in self.failing:
                raise RuntimeError(f"{name} broke")
            return name

        return step

    def _secret(self) -> Tool:
        @tool("yard.secret", level="read", requires="yard.secrets")
        async def secret() -> str:
            """Give what needs a permission."""
            return "secret"

        return secret

    def _wipe(self) -> Tool:
        @tool("yard.wipe", level="destructive", danger="dangerous")
        async def wipe(name: str) -> str:
            """Remove everything."""
            self.ran.append(name)
            return "gone"

        return wipe


def step(name: str, *after: str) -> Task:
    return Task(name, "yard.step", {"name": name}, after)


async def wait_for_all(hr: Handrail, outs: dict[str, Outcome]) -> dict[str, Outcome]:
    """How each task ended."""
    return {name: await hr.wait(out.call_id, PATIENCE) for name, out in outs.items()}


def statuses(ended: dict[str, Outcome]) -> dict[str, str]:
    return {name: one.code or one.status for name, one in ended.items()}


def event_kinds(hr: Handrail, out: Outcome) -> list[str]:
    return [event.kind for event in hr.log.read("acme", call_id=out.call_id)]


async def job_entry(hr: Handrail, out: Outcome) -> Any:
    entry = await hr._jobs.get(out.call_id, "acme")
    assert entry is not None
    return entry


async def eventually(look: Callable[[], Any]) -> Any:
    """What comes of looking, once it is something."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while asyncio.get_running_loop().time() < deadline:
        found = look()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("it did not come to that")


def can_run(tasks: list[Task]) -> bool:
    """The model: every name is known, and one after the other each finds all before it done."""
    done: set[str] = set()
    for _ in tasks:
        done |= {task.name for task in tasks if set(task.after) <= done}
    return done == {task.name for task in tasks}


def expected(tasks: list[Task], failing: set[str]) -> dict[str, str]:
    """The model: how each task of a graph that can run must end."""
    told: dict[str, str] = {}
    while len(told) < len(tasks):
        for task in tasks:
            if set(task.after) <= told.keys():
                fine = all(told[name] == "completed" for name in task.after)
                told[task.name] = (
                    ("TOOL_FAILED" if task.name in failing else "completed") if fine else "SKIPPED"
                )
    return told
