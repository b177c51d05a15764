"""Errors, named after who must act.

    HandrailError
    ├── DefinitionError        the developer: a tool, rule or policy is written wrongly
    │   ├── DuplicateName      two tools claim one name
    │   └── PolicyError        a rule or policy does not load
    ├── UsageError             the developer: Handrail is called wrongly (closed, no loop, bad port)
    │   └── NoTenant           code ran outside any tenant scope
    └── ToolError              the tool's author: a body says why it failed, with a code

A call never raises these to its caller: the pipeline turns them into an `Outcome`.
The docstring of each class is its message when none is given.
"""

from __future__ import annotations

from dataclasses import dataclass


class HandrailError(Exception):
    """Something in Handrail went wrong."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


@dataclass(frozen=True, slots=True)
class Place:
    """Where a definition was written."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class DefinitionError(HandrailError):
    """A definition cannot be used as it is written."""

    def __init__(
        self,
        problem: str | None = None,
        *,
        tool: str | None = None,
        place: Place | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = problem or (type(self).__doc__ or "").strip()
        self.tool = tool
        self.place = place
        self.remedy = remedy
        lines = [self.problem if tool is None else f"tool {tool!r}: {self.problem}"]
        if place is not None:
            lines.append(f"  defined at {place}")
        if remedy is not None:
            lines.append(f"  remedy: {remedy}")
        super().__init__("\n".join(lines))


class DuplicateName(DefinitionError):
    """Two tools claim the same name."""


class PolicyError(DefinitionError):
    """A policy rule cannot be loaded."""


class UsageError(HandrailError):
    """Handrail was used in a way it cannot serve."""


class NoTenant(UsageError):
    """No tenant is known here. Run this inside a tool call, or wrap it in `with_tool_context`."""


class ToolError(HandrailError):
    """The tool failed."""

    def __init__(self, message: str | None = None, *, code: str = "TOOL_FAILED") -> None:
        super().__init__(message)
        self.code = code
