"""capture_tool and mock_tool_registry: tools whose calls are recorded and answers given."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from handrail.core.define.build import normalise_options
from handrail.core.define.constructors import BaseTool
from handrail.core.define.context import Context
from handrail.core.define.function_arguments import FunctionArguments
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError, located
from handrail.core.find.registry import Registry, as_tool, discover


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call that reached a body."""

    tool: str
    """The tool's id."""
    args: Mapping[str, Any]
    """The arguments as the body gets them: validated, typed, defaults filled in."""
    ctx: Context

    @property
    def principal(self) -> Principal:
        return self.ctx.principal


class AnswerSequence:
    """Several answers, one for each call."""

    def __init__(self, answers: tuple[Any, ...]) -> None:
        self._left = list(answers)
        self._given = 0

    def next(self) -> Any:
        if not self._left:
            raise UsageError(f"It was called again after all its answers were given ({self._given}).")
        self._given += 1
        return self._left.pop(0)


def in_turn(*answers: Any) -> Any:
    """These answers, the first for the first call: `in_turn(ToolError("busy"), "done")`."""
    return AnswerSequence(answers)


async def resolve_answer(answer: Any, args: Mapping[str, Any]) -> Any:
    """What an answer comes to: a value, an exception to raise, a function of the arguments, or `in_turn`."""
    if isinstance(answer, AnswerSequence):
        answer = answer.next()
    if isinstance(answer, BaseException):
        raise answer
    if callable(answer):
        answer = answer(args)
    return await answer if inspect.isawaitable(answer) else answer


def arguments_by_name(values: Any) -> dict[str, Any]:
    """Validated arguments by the names of the parameters, whatever style the tool is written in."""
    if isinstance(values, FunctionArguments):
        return {name: values[name] for name in values._fields_of}
    if isinstance(values, BaseModel):
        return {
            **{name: getattr(values, name) for name in type(values).model_fields},
            **(values.model_extra or {}),
        }
    return dict(values)


class CapturedTool(BaseTool):
    """The tool, and what it was called with. `answer` may be changed at any time."""

    def __init__(self, tool_id: str, answer: Any, options: dict[str, Any]) -> None:
        self.id = tool_id  # type: ignore[misc]
        self.answer = answer
        self.calls: list[RecordedCall] = []
        for name, value in options.items():
            setattr(self, name, value)

    @property
    def last(self) -> RecordedCall:
        """The newest call."""
        if not self.calls:
            raise AssertionError(f"{self.id} was not called")
        return self.calls[-1]

    async def execute(self, args: Any, ctx: Context) -> Any:
        recorded = RecordedCall(self.id, arguments_by_name(args), ctx)
        self.calls.append(recorded)
        return await resolve_answer(self.answer, recorded.args)


def capture_tool(tool_id: str = "capture", answer: Any = None, **options: Any) -> CapturedTool:
    """A tool for tests of whatever calls tools: it takes any arguments unless `input` or `params` says which.

    The answer is a value, an exception to raise, a function of the arguments, or `in_turn(...)`. Options are
    those of every tool; without them it only reads.
    """
    with located(tool_id, None):
        named = normalise_options(options)
    named.setdefault("description", "Remember what it was called with, and answer as told.")
    named.setdefault("level", "read")
    if "params" not in named:
        named.setdefault("input", {"type": "object"})
    return CapturedTool(tool_id, answer, named)


def each_tool(tools: Iterable[Any]) -> Iterator[Tool]:
    """The tools among what `Handrail` takes: tools, classes and instances of `BaseTool`, modules."""
    for item in tools:
        if isinstance(item, ModuleType):
            yield from discover(item)
        else:
            yield as_tool(item)


class MockRegistry(Registry):
    """A registry for `Handrail(registry=...)`. Everything before and after the body is as always."""

    def __init__(self, tools: Iterable[Any], answers: Mapping[str, Any]) -> None:
        self.calls: list[RecordedCall] = []
        """The calls that reached a body or its canned answer, in order."""
        self._answers: dict[str, Any] = {}
        super().__init__(each_tool(tools))
        for name, answer in answers.items():
            self.answer(name, answer)

    def answer(self, name: str, answer: Any) -> None:
        """Give this answer from now on, instead of running the body."""
        tool = self.get(name)
        if tool is None:
            names = ", ".join(registered.id for registered in self.list()) or "no tool"
            raise UsageError(f"An answer is given for {name!r}, but this registry has {names}.")
        self._answers[tool.id] = answer

    def calls_of(self, name: str) -> list[RecordedCall]:
        """The recorded calls of one tool."""
        tool = self.get(name)
        return [call for call in self.calls if tool is not None and call.tool == tool.id]

    def register(self, tool: Any, **options: Any) -> Tool:
        ready = as_tool(tool)
        return super().register(self._recording(ready) if ready.ready else ready, **options)

    def settle(self, waiting: Tool, ready: Tool) -> Tool:
        return super().settle(waiting, self._recording(ready))

    def _recording(self, tool: Tool) -> Tool:
        """The same tool, but its calls are written down; its body runs in this process."""
        body = tool.body
        if body is None:
            return tool

        def call(values: Any, ctx: Any) -> Any:
            recorded = RecordedCall(tool.id, arguments_by_name(values), ctx)
            self.calls.append(recorded)
            if tool.id in self._answers:
                return resolve_answer(self._answers[tool.id], recorded.args)
            return body.call(values, ctx)

        return replace(tool, body=replace(body, call=call, bare=False), isolation=None)


def mock_tool_registry(tools: Iterable[Any] = (), answers: Mapping[str, Any] | None = None) -> MockRegistry:
    """A registry of these tools that records calls; those with an answer do not run their body.

    Arguments are still validated, the guard still decides, and an answer that the tool's output schema does
    not allow fails as it would if the body had returned it. An answer is a value, an exception to raise, a
    function of the arguments, or `in_turn(...)`.
    """
    return MockRegistry(tools, answers or {})
