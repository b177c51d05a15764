"""spawn_agent: a piece of work for another agent, and the port for whoever can start one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Protocol

from pydantic import BaseModel, Field, StringConstraints

from handrail import Context, Result, Tool, tool

__all__ = ["NO_SPAWNER", "SpawnRequest", "Spawned", "Spawner", "SpawnAgentTool", "spawn_agent_tool"]


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """What another agent is to do."""

    prompt: str
    description: str = ""
    """The same in a few words, for people who watch."""
    agent: str | None = None
    """Which kind of agent; the spawner knows which there are."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; None for all that the caller may."""


class Spawned(BaseModel):
    """What another agent came to."""

    answer: str
    agent: str | None = None
    """The kind of agent that answered."""


class Spawner(Protocol):
    """Starts agents.

    An agent never gets more than its caller has. It acts as `ctx.principal` or as somebody with less, and
    each of its calls goes through `ctx.call`, where the guard sees it like any nested call. It stops when
    `ctx.signal` is set.
    """

    async def spawn(self, request: SpawnRequest, ctx: Context, /) -> Result:
        """What the agent came to, once it is done: in words as `output`, with a `Spawned` as data."""
        ...


NO_SPAWNER = "LLM_ASSIST_REQUIRED"
"""Nobody here can start an agent: whoever runs the calling one has to."""


class SpawnAgentTool:
    """Where a spawner is attached, be it after the tool was made."""

    def __init__(self, spawner: Spawner | None = None) -> None:
        self.spawner = spawner
        self.tool = _make_tool(self)

    def attach(self, spawner: Spawner | None) -> None:
        """Take this one from the next call on."""
        self.spawner = spawner


def spawn_agent_tool(spawner: Spawner | None = None) -> SpawnAgentTool:
    """The tool spawn_agent, with a spawner or until one is attached without."""
    return SpawnAgentTool(spawner)


def _make_tool(holder: SpawnAgentTool) -> Tool:
    @tool(
        "spawn_agent",
        level="write",
        capabilities=["execute"],
        concurrency="sequential",
        aliases={"task": {"subagent_type": "agent"}},
        param_aliases={"prompt": ["instructions"], "agent": ["agent_type"]},
        category="tasks",
        icon="bot",
        origin="system",
        output=Spawned,
    )
    async def spawn_agent(
        prompt: Annotated[
            str,
            StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000),
            Field(description="All that the agent has to know; it sees nothing else of this conversation"),
        ],
        description: Annotated[
            str, Field(description="The same in three to five words, for people", max_length=200)
        ] = "",
        agent: Annotated[str | None, Field(description="The kind of agent, if there are several")] = None,
        tools: Annotated[
            list[str] | None,
            Field(
                description="Names of the only tools it may use; without, all that you may", max_length=200
            ),
        ] = None,
        *,
        ctx: Context,
    ) -> Result:
        request = SpawnRequest(prompt, description, agent, None if tools is None else tuple(tools))
        if holder.spawner is None:
            return _no_spawner(request)
        return await holder.spawner.spawn(request, ctx)

    return spawn_agent


def _no_spawner(request: SpawnRequest) -> Result:
    return Result.fail(
        "No agent can be started from here. Nothing was done. Do this work yourself with the tools you have, "
        "or let the program that runs you start an agent with this prompt.",
        code=NO_SPAWNER,
        summary="No agent could be started",
        title=request.description or "Start an agent",
        metadata={
            "error": NO_SPAWNER,
            "request": {
                **asdict(request),
                "tools": None if request.tools is None else list(request.tools),
            },
        },
    )
