"""What reached a body, and what is answered in its place."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from handrail.core.define.body import Arguments
from handrail.core.define.context import Context
from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call that reached a body."""

    tool: str
    """The tool's id."""
    args: Mapping[str, Any]
    """The arguments as the body gets them: validated, typed, defaults filled in."""
    ctx: Context

    @property
    def principal(self) -> Principal:
        return self.ctx.principal


class InTurn:
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
    return InTurn(answers)


async def given(answer: Any, args: Mapping[str, Any]) -> Any:
    """What an answer comes to: a value, an exception to raise, a function of the arguments, or `in_turn`."""
    if isinstance(answer, InTurn):
        answer = answer.next()
    if isinstance(answer, BaseException):
        raise answer
    if callable(answer):
        answer = answer(args)
    return await answer if inspect.isawaitable(answer) else answer


def args_of(values: Any) -> dict[str, Any]:
    """Validated arguments by the names of the parameters, whatever style the tool is written in."""
    if isinstance(values, Arguments):
        return {name: values[name] for name in values._fields_of}
    if isinstance(values, BaseModel):
        return {
            **{name: getattr(values, name) for name in type(values).model_fields},
            **(values.model_extra or {}),
        }
    return dict(values)
