"""pydantic-ai: an agent with a scripted model that makes one call, and goes on once it was deferred."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext
from pydantic_ai.toolsets import ToolsetTool

from handrail import Outcome
from handrail.bridges.pydantic_ai import GuardedToolset
from tests.harness.bridge_calls import model_that_calls, tool_returns
from tests.parity.cases import Case
from tests.parity.compare import as_json
from tests.parity.doors.bridge_driver import ID, Bridge
from tests.parity.people import PEOPLE
from tests.parity.recorded_handrail import decide

Answer = tuple[Any, Any, Any]


class PydanticAI(Bridge):
    name = "pydantic-ai"

    async def call(self, case: Case, args: Any) -> Any:
        self._agent = self._made(case, args)
        return await self._run("go")

    async def decided(self, case: Case, answer: Any) -> Any:
        assert isinstance(self._asked, DeferredToolRequests)
        told = self._asked.metadata[ID]
        assert case.decide is not None
        await decide(self.world.hr, told["approval_id"], case.decide, PEOPLE[case.who])
        results = DeferredToolResults(approvals={ID: True}, metadata=self._asked.metadata)
        return await self._run(None, message_history=self._messages, deferred_tool_results=results)

    def told(self, outcome: Outcome) -> Any:
        if outcome.status == "pending":
            assert outcome.decision is not None
            return {
                "deferred": {
                    "approval_id": outcome.approval_id,
                    "call_id": outcome.call_id,
                    "tool": outcome.tool,
                    "reason": outcome.decision.reason,
                }
            }
        if not outcome.result.success:
            return {"outcome": "failed", "text": outcome.to_model(), "metadata": None}
        ended = {"status": outcome.status, "call_id": outcome.call_id, "approval_id": outcome.approval_id}
        metadata = as_json({**outcome.result.to_dict(), **ended})
        return {"outcome": "success", "text": outcome.to_model(), "metadata": metadata}

    def _made(self, case: Case, args: Any) -> Agent[None, Any]:
        known = self.world.hr.registry.get(case.tool)
        name = self.spelled(known.id if known is not None else case.tool)
        toolset = _Seen(self.world.hr, PEOPLE[case.who], digest=case.digest)
        return Agent(
            model_that_calls(name, args), toolsets=[toolset], output_type=[str, DeferredToolRequests]
        )

    async def _run(self, prompt: str | None, **more: Any) -> Any:
        done = await self._agent.run(prompt, **more)
        self._messages = done.all_messages()
        if isinstance(done.output, DeferredToolRequests):
            self._asked = done.output
            return {"deferred": done.output.metadata[ID]}
        part = tool_returns(self._messages)[-1]
        content = part.content
        text = content[0] if isinstance(content, list) else content
        return {"outcome": part.outcome, "text": text, "metadata": as_json(part.metadata)}


class _Seen(GuardedToolset):
    """A toolset of which the agent may have seen another definition."""

    def __init__(self, *given: Any, digest: str | None) -> None:
        super().__init__(*given)
        self._digest = digest

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        found = await super().get_tools(ctx)
        if self._digest is None:
            return found
        older = {"digest": self._digest}
        return {
            name: replace(tool, tool_def=replace(tool.tool_def, metadata=older))
            for name, tool in found.items()
        }
