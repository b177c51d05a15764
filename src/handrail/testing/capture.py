"""capture_tool: a tool that remembers what it was called with, and answers what it is told."""

from __future__ import annotations

from typing import Any

from handrail.core.define.context import Context
from handrail.core.define.spelling import options as folded
from handrail.core.define.styles import BaseTool
from handrail.testing.answers import Recorded, args_of, given


class Captured(BaseTool):
    """The tool, and what it was called with. `answer` may be changed at any time."""

    def __init__(self, tool_id: str, answer: Any, options: dict[str, Any]) -> None:
        self.id = tool_id  # type: ignore[misc]
        self.answer = answer
        self.calls: list[Recorded] = []
        for name, value in options.items():
            setattr(self, name, value)

    @property
    def last(self) -> Recorded:
        """The newest call."""
        if not self.calls:
            raise AssertionError(f"{self.id} was not called")
        return self.calls[-1]

    async def execute(self, args: Any, ctx: Context) -> Any:
        recorded = Recorded(self.id, args_of(args), ctx)
        self.calls.append(recorded)
        return await given(self.answer, recorded.args)


def capture_tool(tool_id: str = "capture", answer: Any = None, **options: Any) -> Captured:
    """A tool for tests of whatever calls tools: it takes any arguments unless `input` or `params` says which.

    The answer is a value, an exception to raise, a function of the arguments, or `in_turn(...)`. Options are
    those of every tool; without them it only reads.
    """
    named = folded(options, tool_id, None)
    named.setdefault("description", "Remember what it was called with, and answer as told.")
    named.setdefault("level", "read")
    if "params" not in named:
        named.setdefault("input", {"type": "object"})
    return Captured(tool_id, answer, named)
