"""spawn_agent: a piece of work for another agent."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from handrail import Context, Result, Tool, tool
from handrail.toolsets.spawning.port import Spawned, Spawner, SpawnRequest

NO_SPAWNER = "LLM_ASSIST_REQUIRED"
"""Nobody here can start an agent: whoever runs the calling one has to."""


class Spawning:
    """Where a spawner is attached, be it after the tool was made."""

    def __init__(self, spawner: Spawner | None = None) -> None:
        self.spawner = spawner
        self.tool = _spawn_agent(self)

    def attach(self, spawner: Spawner | None) -> None:
        """Take this one from the next call on."""
        self.spawner = spawner


def spawning(spawner: Spawner | None = None) -> Spawning:
    """The tool spawn_agent, with a spawner or until one is attached without."""
    return Spawning(spawner)


def _spawn_agent(place: Spawning) -> Tool:
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
        if place.spawner is None:
            return _nobody(request)
        return await place.spawner.spawn(request, ctx)

    return spawn_agent


def _nobody(request: SpawnRequest) -> Result:
    return Result.fail(
        "No agent can be started from here. Nothing was done. Do this work yourself with the tools you have, "
        "or let the program that runs you start an agent with this prompt.",
        code=NO_SPAWNER,
        summary="No agent could be started",
        title=request.description or "Start an agent",
        metadata={
            "error": NO_SPAWNER,
            "request": {
                "prompt": request.prompt,
                "description": request.description,
                "agent": request.agent,
                "tools": None if request.tools is None else list(request.tools),
            },
        },
    )
