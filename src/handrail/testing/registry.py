"""mock_tool_registry: real tools whose calls are recorded, some with answers in their bodies' place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.find.discover import discover
from handrail.core.find.registry import Registry, as_tool
from handrail.testing.answers import Recorded, args_of, given


def each_tool(tools: Iterable[Any]) -> Iterator[Tool]:
    """The tools among what `Handrail` takes: tools, classes and instances of `BaseTool`, modules."""
    for one in tools:
        if isinstance(one, ModuleType):
            yield from discover(one)
        else:
            yield as_tool(one)


class MockRegistry(Registry):
    """A registry for `Handrail(registry=...)`. Everything before and after the body is as always."""

    def __init__(self, tools: Iterable[Any], answers: Mapping[str, Any]) -> None:
        self.calls: list[Recorded] = []
        """The calls that reached a body or its canned answer, in order."""
        self._answers: dict[str, Any] = {}
        super().__init__(each_tool(tools))
        for name, answer in answers.items():
            self.answer(name, answer)

    def answer(self, name: str, answer: Any) -> None:
        """Give this answer from now on, instead of running the body."""
        tool = self.get(name)
        if tool is None:
            known = ", ".join(one.id for one in self.list()) or "no tool"
            raise UsageError(f"An answer is given for {name!r}, but this registry has {known}.")
        self._answers[tool.id] = answer

    def calls_of(self, name: str) -> list[Recorded]:
        """The recorded calls of one tool."""
        tool = self.get(name)
        return [call for call in self.calls if tool is not None and call.tool == tool.id]

    def register(self, tool: Any, **options: Any) -> Tool:
        taken = as_tool(tool)
        return super().register(self._recording(taken) if taken.ready else taken, **options)

    def settle(self, waiting: Tool, ready: Tool) -> Tool:
        return super().settle(waiting, self._recording(ready))

    def _recording(self, tool: Tool) -> Tool:
        """The same tool, but its calls are written down; its body runs in this process."""
        body = tool.body
        assert body is not None

        def call(values: Any, ctx: Any) -> Any:
            recorded = Recorded(tool.id, args_of(values), ctx)
            self.calls.append(recorded)
            if tool.id in self._answers:
                return given(self._answers[tool.id], recorded.args)
            return body.call(values, ctx)

        return replace(tool, body=replace(body, call=call, bare=False), isolation=None)


def mock_tool_registry(tools: Iterable[Any] = (), answers: Mapping[str, Any] | None = None) -> MockRegistry:
    """A registry of these tools that records calls; those with an answer do not run their body.

    Arguments are still validated, the guard still decides, and an answer that the tool's output schema does
    not allow fails as it would if the body had returned it. An answer is a value, an exception to raise, a
    function of the arguments, or `in_turn(...)`.
    """
    return MockRegistry(tools, answers or {})
